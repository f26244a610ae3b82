// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of the types that everybody knows, and of the words that types are made of.
#include "profile/header/type.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    enum declared_result result;
} usual_types[] = {
    {"gboolean", DECLARED_TRUTH},
    {"gchar", DECLARED_NUMBER},
    {"gint", DECLARED_NUMBER},
    {"gint16", DECLARED_NUMBER},
    {"gint32", DECLARED_NUMBER},
    {"gint64", DECLARED_LONG},
    {"glong", DECLARED_LONG},
    {"goffset", DECLARED_LONG},
    {"gpointer", DECLARED_POINTER},
    {"gsize", DECLARED_LONG},
    {"gssize", DECLARED_LONG},
    {"gdouble", DECLARED_OTHER},
    {"gfloat", DECLARED_OTHER},
    {"guchar", DECLARED_NUMBER},
    {"guint", DECLARED_NUMBER},
    {"guint16", DECLARED_NUMBER},
    {"guint32", DECLARED_NUMBER},
    {"guint64", DECLARED_LONG},
    {"guint8", DECLARED_NUMBER},
    {"gulong", DECLARED_LONG},
    {"gconstpointer", DECLARED_POINTER},
    {"int16_t", DECLARED_NUMBER},
    {"int32_t", DECLARED_NUMBER},
    {"int64_t", DECLARED_LONG},
    {"int8_t", DECLARED_NUMBER},
    {"intptr_t", DECLARED_LONG},
    {"off_t", DECLARED_LONG},
    {"pid_t", DECLARED_NUMBER},
    {"ptrdiff_t", DECLARED_LONG},
    {"size_t", DECLARED_LONG},
    {"ssize_t", DECLARED_LONG},
    {"time_t", DECLARED_LONG},
    {"uint16_t", DECLARED_NUMBER},
    {"uint32_t", DECLARED_NUMBER},
    {"uint64_t", DECLARED_LONG},
    {"uint8_t", DECLARED_NUMBER},
    {"uintptr_t", DECLARED_LONG},
    {"GType", DECLARED_OTHER},
    {"GQuark", DECLARED_OTHER},
};

enum declared_result type_usual(const struct word *word)
{
    if (word_ends_with(word, "bool") || word_ends_with(word, "boolean"))
        return DECLARED_TRUTH;
    if (word_ends_with(word, "void"))
        return DECLARED_VOID;
    if (word_ends_with(word, "long")) // slong of another library
        return DECLARED_LONG;
    for (size_t i = 0; i < sizeof usual_types / sizeof *usual_types; i++)
        if (word_is(word, usual_types[i].name))
            return usual_types[i].result;
    return DECLARED_UNKNOWN;
}

enum keyword keyword_of(const struct word *word)
{
    static const struct {
        const char *name;
        enum keyword keyword;
    } rows[] = {
        {"const", KEYWORD_QUALIFIER},
        {"extern", KEYWORD_QUALIFIER},
        {"inline", KEYWORD_QUALIFIER},
        {"static", KEYWORD_QUALIFIER},
        {"volatile", KEYWORD_QUALIFIER},
        {"register", KEYWORD_QUALIFIER},
        {"restrict", KEYWORD_QUALIFIER},
        {"__inline", KEYWORD_QUALIFIER},
        {"__inline__", KEYWORD_QUALIFIER},
        {"__extension__", KEYWORD_QUALIFIER},
        {"void", KEYWORD_VOID},
        {"char", KEYWORD_NUMBER},
        {"int", KEYWORD_NUMBER},
        {"short", KEYWORD_NUMBER},
        {"signed", KEYWORD_NUMBER},
        {"unsigned", KEYWORD_NUMBER},
        {"long", KEYWORD_LONG},
        {"float", KEYWORD_FLOAT},
        {"double", KEYWORD_FLOAT},
        {"struct", KEYWORD_TAGGED},
        {"union", KEYWORD_TAGGED},
        {"enum", KEYWORD_ENUM},
        {"__attribute__", KEYWORD_ATTRIBUTE},
        {"__attribute", KEYWORD_ATTRIBUTE},
        {"__declspec", KEYWORD_ATTRIBUTE},
        {"__asm__", KEYWORD_ATTRIBUTE},
        {"__asm", KEYWORD_ATTRIBUTE},
        {"asm", KEYWORD_ATTRIBUTE},
        {"return", KEYWORD_OTHER},
        {"if", KEYWORD_OTHER},
        {"while", KEYWORD_OTHER},
        {"for", KEYWORD_OTHER},
        {"switch", KEYWORD_OTHER},
        {"sizeof", KEYWORD_OTHER},
        {"class", KEYWORD_OTHER},
        {"template", KEYWORD_OTHER},
        {"operator", KEYWORD_OTHER},
        {"using", KEYWORD_OTHER},
        {"typedef", KEYWORD_OTHER},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (word_is(word, rows[i].name))
            return rows[i].keyword;
    return NO_KEYWORD;
}

void type_add_word(struct type *type, const struct word *word)
{
    enum keyword keyword = keyword_of(word);
    type->seen[keyword] = true;
    if (keyword == KEYWORD_TAGGED || keyword == KEYWORD_ENUM) {
        type->after_tag = true;
        type->after_enum = keyword == KEYWORD_ENUM;
    } else if (keyword == NO_KEYWORD && type->after_tag) {
        type->after_tag = false;
        if (type->after_enum)
            type->tag = *word;
    } else if (keyword == NO_KEYWORD && !isdigit((unsigned char)word->text[0])) {
        if (type->word_count < MOST_WORDS)
            type->word_count++;
        memmove(type->words + 1, type->words, (type->word_count - 1) * sizeof *type->words);
        type->words[0] = *word;
    }
}

enum declared_result type_result(const struct type *type)
{
    if (type->pointer)
        return DECLARED_POINTER;
    if (type->seen[KEYWORD_TAGGED])
        return DECLARED_STRUCTURE;
    if (type->seen[KEYWORD_FLOAT])
        return DECLARED_OTHER;
    if (type->seen[KEYWORD_LONG])
        return DECLARED_LONG;
    if (type->seen[KEYWORD_NUMBER] || type->seen[KEYWORD_ENUM])
        return DECLARED_NUMBER;
    return type->seen[KEYWORD_VOID] ? DECLARED_VOID : DECLARED_UNKNOWN;
}

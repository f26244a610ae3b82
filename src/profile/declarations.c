// SPDX-License-Identifier: GPL-3.0-or-later
// Reads declarations from C headers without a preprocessor: words that are not known, such as the
// macros of export lists, are passed over, and both branches of conditions are read. Only the types
// of results are of interest. What is declared twice with different types counts as unknown.
#include "profile/declarations.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/documented.h"

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <strings.h>

#define MOST_TOKENS  512         // of one declaration; the rest is left out
#define MOST_WORDS   6           // of the type of a result
#define LONGEST_WORD 256         // bytes
#define MOST_BYTES   (16u << 20) // of a header
#define MOST_STEPS   16          // from a type to the type that it stands for

struct word {
    const char *text;
    size_t size;
};

struct declaration {
    struct word name;
    uint16_t documented; // enum documented
    bool many;           // an enumeration with other members than two for yes and no
    uint8_t result;      // enum declared_result, or
    uint8_t word_count;  // if that is not known: one of these words may be the type, last first
    struct word words[MOST_WORDS];
};

void declarations_deinit(struct declarations *declarations)
{
    arena_deinit(&declarations->texts);
    ARRAY_DEINIT(&declarations->items);
    map_deinit(&declarations->functions);
    map_deinit(&declarations->types);
}

// ---- tokens ----

struct token {
    struct word word; // or
    char sign;        // if the word is empty; '\0' at the end of the text
};

struct reader {
    const char *at, *end;
    bool line_start;     // nothing but spaces since the beginning of the line
    struct word comment; // the last one at the beginning of a line, if no token followed
};

static bool continues_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Passes over the rest of a line; a backslash at its end continues it.
static void skip_line(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->end - reader->at > 1)
            reader->at++;
        reader->at++;
    }
}

static void skip_quoted(struct reader *reader)
{
    char quote = *reader->at++;
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->end - reader->at > 1)
            reader->at++;
        reader->at++;
    }
    if (reader->at < reader->end)
        reader->at++;
}

static void skip_comment(struct reader *reader)
{
    reader->at += 2;
    while (reader->end - reader->at > 1 && (reader->at[0] != '*' || reader->at[1] != '/'))
        reader->at++;
    reader->at = reader->end - reader->at > 1 ? reader->at + 2 : reader->end;
}

// Keeps a comment that ended just now. Those in lines that follow each other are one.
static void note_comment(struct reader *reader, const char *start)
{
    struct word *comment = &reader->comment;
    const char *gap = comment->size != 0 ? comment->text + comment->size : start;
    while (gap < start && isspace((unsigned char)*gap))
        gap++;
    if (comment->size == 0 || gap != start || comment->text[1] != '/' || start[1] != '/')
        comment->text = start;
    comment->size = (size_t)(reader->at - comment->text);
}

static bool starts_word(const struct reader *reader, const char *word)
{
    const char *at = reader->at + 1;
    while (at < reader->end && (*at == ' ' || *at == '\t'))
        at++;
    return (size_t)(reader->end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

// Passes over a comment, or a line for the preprocessor. A comment in front of a macro is about it.
static void skip_text(struct reader *reader)
{
    const char *start = reader->at;
    if (*start == '#' && !starts_word(reader, "if") && !starts_word(reader, "e"))
        reader->comment.size = 0;
    if (start[0] == '/' && start[1] == '*')
        skip_comment(reader);
    else
        skip_line(reader);
    if (*start == '/' && reader->line_start)
        note_comment(reader, start);
}

// Passes over what is no token: space, comments, lines for the preprocessor, texts.
static bool skip_one(struct reader *reader)
{
    char c = *reader->at;
    char next = '\0';
    if (reader->end - reader->at > 1)
        next = reader->at[1];
    if (isspace((unsigned char)c)) {
        reader->line_start |= c == '\n';
        reader->at++;
    } else if ((c == '/' && (next == '*' || next == '/')) || (c == '#' && reader->line_start)) {
        skip_text(reader);
    } else if (c == '"' || c == '\'') {
        skip_quoted(reader);
    } else {
        return false;
    }
    return true;
}

static struct token next_token(struct reader *reader)
{
    while (reader->at < reader->end && skip_one(reader))
        ;
    if (reader->at >= reader->end)
        return (struct token){.sign = '\0'};
    reader->line_start = false;
    const char *start = reader->at++;
    if (!continues_word(*start))
        return (struct token){.sign = *start != '\0' ? *start : ' '};
    while (reader->at < reader->end && continues_word(*reader->at))
        reader->at++;
    return (struct token){.word = {start, (size_t)(reader->at - start)}};
}

static bool is_sign(const struct token *token, char sign)
{
    return token->word.size == 0 && token->sign == sign;
}

static bool is_word(const struct word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(word->text, text, word->size) == 0;
}

static bool ends_with(const struct word *word, const char *end)
{
    size_t size = strlen(end);
    return word->size >= size && strncasecmp(word->text + word->size - size, end, size) == 0;
}

// ---- types ----

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

// What the name of a type says without its declaration.
static enum declared_result usual_type(const struct word *word)
{
    if (ends_with(word, "bool") || ends_with(word, "boolean"))
        return DECLARED_TRUTH;
    if (ends_with(word, "void"))
        return DECLARED_VOID;
    for (size_t i = 0; i < sizeof usual_types / sizeof *usual_types; i++)
        if (is_word(word, usual_types[i].name))
            return usual_types[i].result;
    return DECLARED_UNKNOWN;
}

enum keyword {
    NO_KEYWORD,
    KEYWORD_QUALIFIER, // says nothing about the type
    KEYWORD_VOID,
    KEYWORD_NUMBER,
    KEYWORD_LONG,
    KEYWORD_FLOAT,
    KEYWORD_TAGGED, // struct or union; its name follows
    KEYWORD_ENUM,
    KEYWORD_ATTRIBUTE, // parentheses follow
    KEYWORD_OTHER,     // what is not in the declaration of a function
};

static enum keyword keyword_of(const struct word *word)
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
        if (is_word(word, rows[i].name))
            return rows[i].keyword;
    return NO_KEYWORD;
}

struct type {
    bool seen[KEYWORD_OTHER + 1];
    bool pointer;
    bool after_tag; // the next word is the name of a structure or enumeration
    unsigned word_count;
    struct word words[MOST_WORDS]; // the last ones, the first of them is the last
};

static void type_add_word(struct type *type, const struct word *word)
{
    enum keyword keyword = keyword_of(word);
    type->seen[keyword] = true;
    if (keyword == KEYWORD_TAGGED || keyword == KEYWORD_ENUM) {
        type->after_tag = true;
    } else if (keyword == NO_KEYWORD && type->after_tag) {
        type->after_tag = false;
    } else if (keyword == NO_KEYWORD && !isdigit((unsigned char)word->text[0])) {
        if (type->word_count < MOST_WORDS)
            type->word_count++;
        memmove(type->words + 1, type->words, (type->word_count - 1) * sizeof *type->words);
        type->words[0] = *word;
    }
}

static enum declared_result type_result(const struct type *type)
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

// ---- declarations ----

struct parser {
    struct declarations *declarations;
    struct reader reader;
    struct token tokens[MOST_TOKENS]; // of the declaration that is read
    size_t count, depth;              // depth: open parentheses
    struct word comment;              // in front of it
    bool many;                        // its braces have a minus, or more than two parts
};

static bool has_name(const void *sought, uint32_t value)
{
    const void *const *pair = sought;
    const struct declarations *declarations = pair[0];
    const struct word *name = pair[1];
    const struct word *known = &declarations->items.items[value]->name;
    return known->size == name->size && memcmp(known->text, name->text, name->size) == 0;
}

static struct declaration *find(const struct declarations *declarations, const struct map *map,
                                const struct word *name)
{
    const void *pair[] = {declarations, name};
    uint32_t found = map_find_equal(map, hash_bytes(name->text, name->size), has_name, pair);
    return found != MAP_NONE ? declarations->items.items[found] : NULL;
}

static bool same_type(const struct declaration *known, const struct type *type)
{
    if (known->result != (uint8_t)type_result(type))
        return false;
    return known->result != DECLARED_UNKNOWN || known->word_count == 0 || type->word_count == 0 ||
           (known->words[0].size == type->words[0].size &&
            memcmp(known->words[0].text, type->words[0].text, known->words[0].size) == 0);
}

static struct error *copy_word(struct declarations *declarations, struct word *word)
{
    const char *copy = arena_copy(&declarations->texts, word->text, word->size);
    if (copy == NULL)
        return error_no_memory();
    word->text = copy;
    return NULL;
}

static struct error *add(struct declarations *declarations, struct map *map,
                         const struct word *name, const struct type *type)
{
    if (name->size > LONGEST_WORD)
        return NULL;
    struct declaration *known = find(declarations, map, name);
    if (known != NULL && !same_type(known, type)) {
        known->result = DECLARED_UNKNOWN;
        known->word_count = 0;
    }
    if (known != NULL)
        return NULL;
    struct declaration *made = arena_alloc(&declarations->texts, sizeof *made);
    struct declaration **slot = made != NULL ? ARRAY_ADD(&declarations->items) : NULL;
    if (slot == NULL)
        return error_no_memory();
    *made = (struct declaration){.name = *name, .result = (uint8_t)type_result(type)};
    *slot = made;
    TRY(copy_word(declarations, &made->name));
    for (unsigned i = 0; i < type->word_count && made->result == DECLARED_UNKNOWN; i++) {
        struct word *word = &made->words[made->word_count];
        *word = type->words[i];
        word->size = word->size > LONGEST_WORD ? LONGEST_WORD : word->size;
        TRY(copy_word(declarations, word));
        made->word_count++;
    }
    return map_put(map, hash_bytes(name->text, name->size),
                   (uint32_t)declarations->items.count - 1);
}

// The index behind the parenthesis that closes the one at an index.
static size_t behind_parentheses(const struct parser *parser, size_t index)
{
    size_t depth = 0;
    for (; index < parser->count; index++) {
        depth += is_sign(&parser->tokens[index], '(');
        if (is_sign(&parser->tokens[index], ')') && --depth == 0)
            return index + 1;
    }
    return index;
}

// Collects the type from the tokens in front of a name. `inside`: also those in parentheses, for
// which a macro stands: API(int) f(void). False if it is no type.
static bool type_of(const struct parser *parser, size_t from, size_t to, bool inside,
                    struct type *ret_type)
{
    struct type type = {0};
    for (size_t i = from; i < to;) {
        const struct token *token = &parser->tokens[i];
        bool attribute = token->word.size != 0 && keyword_of(&token->word) == KEYWORD_ATTRIBUTE;
        if (attribute || (is_sign(token, '(') && !inside)) {
            i = behind_parentheses(parser, i + attribute);
            continue;
        }
        if (token->word.size != 0)
            type_add_word(&type, &token->word);
        else if (token->sign == '*')
            type.pointer = true;
        else if (token->sign != '(' && token->sign != ')')
            return false;
        i++;
    }
    *ret_type = type;
    return !type.seen[KEYWORD_OTHER];
}

static struct error *add_function(struct parser *parser, const struct word *name, size_t index)
{
    struct type type;
    bool found = keyword_of(name) == NO_KEYWORD && type_of(parser, 0, index, false, &type);
    if (found && type_result(&type) == DECLARED_UNKNOWN && is_sign(&parser->tokens[index - 1], ')'))
        found = type_of(parser, 0, index, true, &type);
    if (!found)
        return NULL;
    struct declarations *declarations = parser->declarations;
    TRY(add(declarations, &declarations->functions, name, &type));
    struct declaration *added = find(declarations, &declarations->functions, name);
    if (added != NULL && parser->comment.size != 0)
        added->documented |=
            (uint16_t)documented_results(parser->comment.text, parser->comment.size);
    return NULL;
}

// Whether a name in parentheses is at an index, and parentheses follow: int (f)(void).
static bool is_shielded(const struct parser *parser, size_t index)
{
    const struct token *token = &parser->tokens[index];
    return index + 3 < parser->count && is_sign(token, '(') && token[1].word.size != 0 &&
           is_sign(token + 2, ')') && is_sign(token + 3, '(');
}

// Every word at the top that parentheses follow may be the function. Macros behind the declaration
// are taken for functions, too, but nobody asks for these.
static struct error *add_functions(struct parser *parser)
{
    for (size_t i = 0; i + 1 < parser->count;) {
        const struct token *token = &parser->tokens[i];
        if (i > 0 && is_shielded(parser, i))
            TRY(add_function(parser, &token[1].word, i));
        if (is_sign(token, '(')) {
            i = behind_parentheses(parser, i);
            continue;
        }
        if (i > 0 && token->word.size != 0 && is_sign(token + 1, '('))
            TRY(add_function(parser, &token->word, i));
        i++;
    }
    return NULL;
}

// typedef TYPE A, *B, (*C)(…);
static struct error *add_types(struct parser *parser, size_t from)
{
    size_t start = from;
    bool first = true;
    struct type base = {0};
    for (size_t i = from; i <= parser->count; i++) {
        if (i < parser->count && is_sign(&parser->tokens[i], '(')) {
            const struct type pointer = {.pointer = true};
            bool function = i + 2 < parser->count && is_sign(&parser->tokens[i + 1], '*') &&
                            parser->tokens[i + 2].word.size != 0;
            return function ? add(parser->declarations, &parser->declarations->types,
                                  &parser->tokens[i + 2].word, &pointer)
                            : NULL;
        }
        if (i < parser->count && !is_sign(&parser->tokens[i], ','))
            continue;
        struct type type = {0};
        if (i == start || parser->tokens[i - 1].word.size == 0 ||
            !type_of(parser, start, i - 1, false, &type))
            return NULL;
        if (first) {
            base = type;
            base.pointer = false;
        } else {
            bool pointer = type.pointer;
            type = base;
            type.pointer = pointer;
        }
        first = false;
        const struct word *name = &parser->tokens[i - 1].word;
        TRY(add(parser->declarations, &parser->declarations->types, name, &type));
        struct declaration *added = find(parser->declarations, &parser->declarations->types, name);
        if (added != NULL && type.seen[KEYWORD_ENUM])
            added->many |= parser->many;
        start = i + 1;
    }
    return NULL;
}

static struct error *end_declaration(struct parser *parser)
{
    struct error *error = NULL;
    size_t index = 0;
    while (index < parser->count && !(parser->tokens[index].word.size != 0 &&
                                      is_word(&parser->tokens[index].word, "typedef")))
        index++;
    error = index < parser->count ? add_types(parser, index + 1) : add_functions(parser);
    parser->count = parser->depth = 0;
    parser->many = false;
    parser->comment.size = parser->reader.comment.size = 0;
    return error;
}

// Whether a comment is about what follows: it is marked as documentation, or no blank line is
// between them.
static bool is_about(const struct word *comment, const char *next)
{
    char mark = '\0', after = '\0';
    if (comment->size > 4) {
        mark = comment->text[2];
        after = comment->text[3];
    }
    unsigned lines = 0;
    for (const char *at = comment->text + comment->size; at < next; at++)
        lines += *at == '\n';
    bool marked = mark == '*' || mark == '!' || mark == '/';
    return marked ? after != '<' : lines < 2;
}

static void add_token(struct parser *parser, const struct token *token)
{
    struct word *comment = &parser->reader.comment;
    if (comment->size != 0 && parser->depth == 0 && is_about(comment, parser->reader.at))
        parser->comment = *comment;
    comment->size = 0;
    parser->depth += is_sign(token, '(');
    parser->depth -= is_sign(token, ')') && parser->depth != 0;
    if (parser->count < MOST_TOKENS)
        parser->tokens[parser->count++] = *token;
}

// *ret_many is as in struct parser.
static void skip_braces(struct reader *reader, bool *ret_many)
{
    unsigned parts = 0;
    bool begins = true, minus = false;
    for (size_t depth = 1; depth != 0;) {
        struct token token = next_token(reader);
        if (token.word.size != 0) {
            parts += begins;
            begins = false;
            continue;
        }
        if (token.sign == '\0')
            return;
        begins |= token.sign == ',';
        minus |= token.sign == '-';
        depth += token.sign == '{';
        depth -= token.sign == '}';
    }
    *ret_many = minus || parts > 2;
}

// What is in braces is a body of something. That of `extern "C"` is read like the rest, and that of
// a namespace, which C does not see.
static struct error *enter_braces(struct parser *parser)
{
    bool many = false;
    if (parser->count == 0) {
        skip_braces(&parser->reader, &many);
        return NULL;
    }
    const struct token *last = &parser->tokens[parser->count - 1];
    const struct token *before = parser->count > 1 ? last - 1 : last;
    if (last->word.size != 0 &&
        (is_word(&last->word, "extern") || is_word(&last->word, "namespace") ||
         (before->word.size != 0 && is_word(&before->word, "namespace")))) {
        parser->count = 0;
        return NULL;
    }
    skip_braces(&parser->reader, &parser->many);
    for (size_t i = 0; i < parser->count; i++)
        if (parser->tokens[i].word.size != 0 && is_word(&parser->tokens[i].word, "typedef"))
            return NULL; // the name follows
    return is_sign(last, ')') ? end_declaration(parser) : NULL;
}

struct error *declarations_parse(struct declarations *declarations, const char *text, size_t size)
{
    _cleanup_free_ struct parser *parser = calloc(1, sizeof *parser);
    if (parser == NULL)
        return error_no_memory();
    parser->declarations = declarations;
    parser->reader = (struct reader){.at = text, .end = text + size, .line_start = true};
    for (;;) {
        struct token token = next_token(&parser->reader);
        if (is_sign(&token, '\0'))
            return NULL;
        if (is_sign(&token, ';'))
            TRY(end_declaration(parser));
        else if (is_sign(&token, '{'))
            TRY(enter_braces(parser));
        else if (is_sign(&token, '}'))
            parser->count = parser->depth = 0;
        else
            add_token(parser, &token);
    }
}

static enum declared_result resolve(const struct declarations *declarations,
                                    const struct declaration *declaration, unsigned steps)
{
    if (declaration->result != DECLARED_UNKNOWN || steps == MOST_STEPS)
        return (enum declared_result)declaration->result;
    for (unsigned i = 0; i < declaration->word_count; i++) {
        const struct word *word = &declaration->words[i];
        enum declared_result result = usual_type(word);
        const struct declaration *type = find(declarations, &declarations->types, word);
        bool more = result == DECLARED_TRUTH && type != NULL && type->many;
        if (type != NULL && (result == DECLARED_UNKNOWN || more))
            result = resolve(declarations, type, steps + 1);
        if (result != DECLARED_UNKNOWN || type != NULL)
            return result;
    }
    return DECLARED_UNKNOWN;
}

enum declared_result declarations_find(const struct declarations *declarations, const char *name,
                                       size_t size)
{
    const struct word word = {name, size};
    const struct declaration *found = find(declarations, &declarations->functions, &word);
    return found != NULL ? resolve(declarations, found, 0) : DECLARED_UNKNOWN;
}

unsigned declarations_documented(const struct declarations *declarations, const char *name,
                                 size_t size)
{
    const struct word word = {name, size};
    const struct declaration *found = find(declarations, &declarations->functions, &word);
    return found != NULL ? found->documented : 0;
}

// ---- files ----

static struct error *read_file(struct declarations *declarations, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_regular(path, MOST_BYTES, &text));
    return declarations_parse(declarations, text.data, text.size);
}

static bool is_header(const char *path)
{
    size_t size = strlen(path);
    return size > 2 && strcmp(path + size - 2, ".h") == 0;
}

static void close_tree(FTS **tree)
{
    if (*tree != NULL)
        fts_close(*tree);
}

struct error *declarations_read(struct declarations *declarations, const char *path)
{
    char *paths[] = {(char *)path, NULL};
    _cleanup_(close_tree) FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (tree == NULL)
        return error_from_errno(errno, "cannot read %s", path);
    for (;;) {
        errno = 0;
        const FTSENT *entry = fts_read(tree);
        if (entry == NULL)
            return errno == 0 ? NULL : error_from_errno(errno, "cannot read %s", path);
        bool top = entry->fts_level == FTS_ROOTLEVEL;
        if (top && (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR))
            return error_from_errno(entry->fts_errno, "cannot read %s", path);
        if (entry->fts_info == FTS_F && (top || is_header(entry->fts_path)))
            TRY(read_file(declarations, entry->fts_path));
    }
}

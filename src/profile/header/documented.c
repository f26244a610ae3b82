// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what comments say about results. The texts are in English and free, so this is no grammar:
// a text is cut into clauses, and a clause that names a value (NULL, -1, "non-zero") and says what
// it means ("on error", "if successful") tells about it.
#include "profile/header/documented.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LONGEST 4096 // bytes of a comment; the rest is left out

enum value {
    ZERO = 1,
    NEGATIVE = 2,
    POSITIVE = 4,
};

enum meaning {
    NOTHING,
    FAILURE,
    SUCCESS,
    END,       // no failure, either
    AMBIGUOUS, // two of these
};

struct text {
    const char *at, *end;
};

struct term {
    const char *word; // or
    size_t size;
    char sign; // if the size is 0; '\0' at the end
    bool tag;  // behind @ or a backslash
    bool line; // the first in its line
};

struct clause {
    unsigned values; // enum value
    unsigned behind; // those behind the condition
    bool condition;  // there is one
    bool first;      // it comes first
    bool code;       // an error code
    bool rest;       // any other value
    bool other;      // it stands for what is not said before: otherwise
    bool unless;     // its condition is the opposite
    unsigned words;  // that were read
    enum meaning meaning;
};

struct reading {
    unsigned fails, succeeds; // enum value
    unsigned named;           // all values that are named
    bool yes;                 // a positive one tells of success
    bool counts;              // a number of things or a size is returned
    bool codes, any, meant;   // meant: something is said about success or failure
    struct clause clause;
    unsigned given;       // values that the last clause told about
    unsigned waiting;     // values of the last clause, if it did not say what they mean
    enum meaning pending; // of a condition that came without a value
    enum meaning last;    // that was said of a value
    bool defines;         // a colon or such ended the last clause
    bool answered;        // the last clause was an answer under a condition, and no value
    bool negated;         // the last word was "no" or "not"
    bool error, others;   // the last word was "error"; "other"
    bool passes;          // what is checked may pass
};

// ---- terms ----

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '\'';
}

// Whether a hyphen at `at` belongs to a word or a number: non-zero, -1, -EINVAL.
static bool joins(const struct text *text, const char *at)
{
    return *at == '-' && text->end - at > 1 && isalnum((unsigned char)at[1]);
}

static struct term next_term(struct text *text)
{
    struct term term = {0};
    while (text->at < text->end && (isspace((unsigned char)*text->at) || *text->at == '*'))
        term.line |= *text->at++ == '\n';
    if (text->at == text->end)
        return term;
    const char *start = text->at;
    if (*start == '@' || *start == '\\') {
        term.tag = true;
        start = ++text->at;
    } else if (joins(text, start)) {
        text->at++;
    }
    while (text->at < text->end &&
           (in_word(*text->at) || (text->at > start && joins(text, text->at))))
        text->at++;
    term.word = start;
    term.size = (size_t)(text->at - start);
    if (term.size == 0 && text->at < text->end)
        term.sign = *text->at++;
    else if (term.size == 0)
        term.sign = ' ';
    return term;
}

static bool is(const struct term *term, const char *word)
{
    return strlen(word) == term->size && strncasecmp(term->word, word, term->size) == 0;
}

static bool begins(const struct term *term, const char *word)
{
    size_t size = strlen(word);
    return term->size >= size && strncasecmp(term->word, word, size) == 0;
}

static bool ends(const struct term *term, const char *word)
{
    size_t size = strlen(word);
    return term->size >= size && strncasecmp(term->word + term->size - size, word, size) == 0;
}

static bool is_any(const struct term *term, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is(term, words[i]))
            return true;
    return false;
}
#define IS_ANY(term, words) is_any(term, words, sizeof(words) / sizeof *(words))

// ---- what terms mean ----

static bool is_number(const struct term *term)
{
    for (size_t i = term->word[0] == '-'; i < term->size; i++)
        if (!isdigit((unsigned char)term->word[i]))
            return false;
    return term->size > (term->word[0] == '-');
}

// NAME_OF_A_CONSTANT
static bool is_constant(const struct term *term)
{
    bool underscore = false;
    for (size_t i = 0; i < term->size; i++) {
        if (islower((unsigned char)term->word[i]) || term->word[i] == '-')
            return false;
        underscore |= term->word[i] == '_';
    }
    return underscore;
}

static unsigned value_of(const struct term *term)
{
    static const char *const zeros[] = {"null", "nullptr", "zero", "false", "nil", "nought"};
    static const char *const others[] = {"nonzero", "non-zero", "non-0", "non-null"};
    static const char *const not_negative[] = {"nonnegative", "non-negative"};
    if (is_number(term))
        return term->word[0] == '-' ? NEGATIVE : term->word[0] == '0' ? ZERO : POSITIVE;
    if (IS_ANY(term, others))
        return NEGATIVE | POSITIVE;
    if (IS_ANY(term, not_negative))
        return ZERO | POSITIVE;
    if (IS_ANY(term, zeros) || ends(term, "_false") || ends(term, "_null"))
        return ZERO;
    if (is(term, "true") || ends(term, "_true") || is(term, "positive"))
        return POSITIVE;
    bool number = term->size > 2 && term->word[0] == '-' && term->word[1] == 'E' &&
                  isupper((unsigned char)term->word[2]);
    if (is(term, "negative") || number || is(term, "-errno") || begins(term, "averror"))
        return NEGATIVE;
    return 0;
}

static enum meaning opposite(enum meaning meaning)
{
    return meaning == FAILURE ? SUCCESS : meaning == SUCCESS ? FAILURE : NOTHING;
}

static enum meaning meaning_of(const struct term *term, bool negated)
{
    static const char *const wrong[] = {"invalid", "cannot",      "can't", "couldn't",
                                        "unable",  "bad",         "wrong", "erroneous",
                                        "illegal", "unsupported", "nomem"};
    static const char *const absent[] = {"found", "exist",     "such",    "enough",  "memory",
                                         "valid", "supported", "support", "possible"};
    static const char *const good[] = {"ok", "okay", "well"};
    static const char *const end[] = {"end", "eof", "finished", "empty", "nothing", "done"};
    if (begins(term, "fail") || begins(term, "error") || begins(term, "averror"))
        return negated ? SUCCESS : FAILURE;
    if (is(term, "successfully")) // what was done, not what the result means
        return NOTHING;
    if (begins(term, "success") || begins(term, "succeed") || IS_ANY(term, good))
        return negated ? FAILURE : SUCCESS;
    if (begins(term, "unsuccessful") || IS_ANY(term, wrong))
        return FAILURE;
    if (negated && IS_ANY(term, absent))
        return FAILURE;
    if (IS_ANY(term, end) || is(term, "ran") || (negated && is(term, "more")))
        return END;
    return NOTHING;
}

// ---- clauses ----

static void add_meaning(struct reading *reading, unsigned values, enum meaning meaning)
{
    if (values == 0 || meaning == NOTHING || meaning == AMBIGUOUS)
        return;
    *(meaning == FAILURE ? &reading->fails : &reading->succeeds) |= values;
    reading->yes |= meaning == SUCCESS && values == POSITIVE;
    reading->last = meaning;
}

static void end_clause(struct reading *reading)
{
    struct clause *clause = &reading->clause;
    unsigned values = clause->values != 0 ? clause->values : clause->behind;
    if (values == 0 && clause->rest && (reading->succeeds & ZERO) != 0)
        values = NEGATIVE | POSITIVE;
    enum meaning meaning = clause->meaning;
    if (clause->words == 0)
        return;
    if (clause->unless)
        meaning = opposite(meaning);
    // If it succeeds, 0 is returned and the text describes the error.
    if (reading->pending != NOTHING && values != 0 && !clause->condition)
        meaning = reading->pending;
    if (meaning == NOTHING && clause->other)
        meaning = reading->answered ? FAILURE : opposite(reading->last);
    if (meaning == NOTHING && values != 0)
        meaning = clause->rest ? FAILURE : reading->pending;
    if (values == 0 && (clause->first || reading->defines) && reading->waiting != 0)
        values = reading->waiting;
    // NULL if it failed or there are no more
    bool again = values == 0 && !clause->first && meaning == END;
    add_meaning(reading, again ? reading->given : values, meaning);
    reading->given = meaning != NOTHING ? values : 0;
    reading->pending = values == 0 && clause->first && reading->waiting == 0 ? meaning : NOTHING;
    reading->waiting = meaning == NOTHING ? values : 0;
    if (values == 0 && !clause->first && (meaning == FAILURE || meaning == SUCCESS))
        reading->last = meaning;
    reading->answered = values == 0 && clause->condition && !clause->first && meaning == NOTHING;
    reading->codes |= clause->code && meaning == FAILURE && values == 0;
    reading->meant |= meaning != NOTHING;
    reading->named |= values;
    reading->any = true;
    reading->defines = false;
    reading->clause = (struct clause){0};
}

static void end_sentence(struct reading *reading)
{
    end_clause(reading);
    reading->pending = NOTHING;
    reading->waiting = 0;
    reading->answered = false;
}

static void add_value(struct clause *clause, unsigned values)
{
    if (!clause->condition)
        clause->values |= values;
    else if (clause->first)
        clause->behind = values; // if n is 0, -1 is returned: the last one
}

static void read_word(struct reading *reading, const struct term *term)
{
    static const char *const no[] = {"no",    "not",    "without", "never",  "didn't",
                                     "isn't", "wasn't", "doesn't", "hasn't", "neither"};
    static const char *const conditions[] = {"if", "when", "on", "upon", "in", "for", "unless"};
    static const char *const others[] = {"otherwise", "else"};
    static const char *const counts[] = {"number", "count", "amount", "size", "length", "bytes"};
    static const char *const codes[] = {"code", "codes", "number", "status"};
    struct clause *clause = &reading->clause;
    unsigned values = value_of(term);
    enum meaning meaning = meaning_of(term, reading->negated);
    if (is(term, "or") || (is(term, "and") && clause->values != 0 && clause->meaning != NOTHING)) {
        end_clause(reading);
        return;
    }
    // 1 if it was found
    if (is(term, "found") && !reading->negated && clause->values == POSITIVE &&
        clause->meaning == NOTHING)
        meaning = SUCCESS;
    if (IS_ANY(term, others)) {
        if (clause->values == 0 || clause->meaning != NOTHING || clause->condition)
            end_clause(reading);
        clause->other = true;
        clause->words++;
        return;
    }
    if (IS_ANY(term, conditions)) {
        // On success - 0 [a line] On error - 1
        bool complete = (clause->meaning != NOTHING || reading->pending != NOTHING) &&
                        (clause->values | clause->behind) != 0;
        if (term->line && isupper((unsigned char)*term->word) && complete)
            end_sentence(reading);
        clause->first |= clause->words == 0;
        clause->unless |= is(term, "unless");
        clause->condition = true;
    } else if (values != 0) {
        add_value(clause, values);
    }
    if (meaning != NOTHING && clause->meaning != meaning)
        clause->meaning = clause->meaning == NOTHING ? meaning : AMBIGUOUS;
    clause->code |= reading->error && IS_ANY(term, codes);
    clause->rest |= reading->others && (is(term, "value") || is(term, "number"));
    reading->others = is(term, "other");
    reading->passes |= is(term, "pass") || is(term, "passes") || is(term, "passed");
    reading->meant |= values == 0 && is_constant(term);
    reading->counts |= IS_ANY(term, counts) && !reading->error;
    reading->error = begins(term, "error");
    reading->negated =
        IS_ANY(term, no) ||
        (reading->negated && (is(term, "be") || is(term, "a") || is(term, "any") ||
                              is(term, "an") || is(term, "large") || is(term, "big")));
    clause->words++;
}

// "< 0", ">= 0", "!= 0". Anything else is passed over.
static void read_relation(struct reading *reading, struct text *text, char sign)
{
    struct text ahead = *text;
    struct term term = next_term(&ahead);
    bool equal = term.sign == '=';
    if (equal)
        term = next_term(&ahead);
    if (term.size != 1 || term.word[0] != '0')
        return;
    unsigned values = sign == '<' ? NEGATIVE : sign == '>' ? POSITIVE : NEGATIVE | POSITIVE;
    if (sign == '!' && !equal)
        return;
    add_value(&reading->clause, values | (equal && sign != '!' ? ZERO : 0u));
    reading->clause.words++;
    *text = ahead;
}

static bool is_style(const struct term *term)
{
    static const char *const styles[] = {"c",    "p",    "a",       "e",  "b", "ref",
                                         "link", "code", "endcode", "em", "n", "li"};
    return IS_ANY(term, styles);
}

static bool is_return(const struct term *term)
{
    static const char *const words[] = {"return", "returns", "returned", "returning", "result"};
    return IS_ANY(term, words);
}

// Whether a value begins a line of a list: "0: success", "-1 on error".
static bool begins_item(const struct text *text, const struct term *term)
{
    static const char *const words[] = {"if", "on", "when", "upon", "for", "in"};
    struct text ahead = *text;
    if (!term->line || value_of(term) == 0)
        return false;
    struct term next = next_term(&ahead);
    return next.size != 0 ? IS_ANY(&next, words) : strchr(":=-(", next.sign) != NULL;
}

static void read_term(struct reading *reading, struct text *text, const struct term *term)
{
    if (begins_item(text, term))
        end_sentence(reading);
    if (term->size != 0)
        read_word(reading, term);
    else if (strchr("<>!", term->sign) != NULL)
        read_relation(reading, text, term->sign);
    else if (term->sign == '.' || term->sign == ';')
        end_sentence(reading);
    else if (strchr(",:/-|", term->sign) != NULL && term->sign != '\0') {
        end_clause(reading);
        reading->defines = term->sign == ':' || term->sign == '-';
    }
}

// ---- where results are described ----

// Whether a blank line begins at `at`: one without a word.
static bool at_blank_line(const struct text *text, const char *at)
{
    if (at >= text->end || *at != '\n')
        return false;
    for (at++; at < text->end && *at != '\n'; at++)
        if (!isspace((unsigned char)*at) && *at != '*' && *at != '/')
            return false;
    return true;
}

// The end of what a tag describes: the next tag, a blank line, or the end of the comment.
static const char *end_of_tag(const struct text *text)
{
    bool words = false;
    for (const char *at = text->at; at < text->end; at++) {
        struct text ahead = {at, text->end};
        if (words && at_blank_line(text, at))
            return at;
        words |= isalnum((unsigned char)*at);
        if (*at != '@' && *at != '\\')
            continue;
        struct term term = next_term(&ahead);
        if (term.size != 0 && !is_style(&term))
            return at;
    }
    return text->end;
}

static const char *end_of_sentence(const struct text *text)
{
    for (const char *at = text->at; at < text->end; at++)
        if ((*at == '.' && (at + 1 == text->end || isspace((unsigned char)at[1]))) ||
            at_blank_line(text, at))
            return at;
    return text->end;
}

static void read_part(struct reading *reading, const char *from, const char *to)
{
    struct text part = {from, to};
    while (part.at < part.end) {
        struct term term = next_term(&part);
        if (term.tag && is_style(&term))
            continue;
        if (term.size != 0 || term.sign != '\0')
            read_term(reading, &part, &term);
    }
    end_sentence(reading);
}

// @retval VALUE text
static void read_retval(struct reading *reading, const char *from, const char *to)
{
    struct text part = {from, to};
    struct term term = next_term(&part);
    while (term.tag && is_style(&term))
        term = next_term(&part);
    if (term.size != 0)
        read_word(reading, &term);
    reading->clause.condition = true; // numbers behind it are no results
    read_part(reading, part.at, to);
}

// Whether a term begins a description: @return, or Returns: at the beginning of a line.
static bool begins_description(const struct text *text, const struct term *term)
{
    struct text ahead = *text;
    if (!is_return(term) || is(term, "returning") || is(term, "returned"))
        return false;
    if (term->tag)
        return true;
    struct term next = next_term(&ahead);
    if (is(&next, "value") || is(&next, "values"))
        next = next_term(&ahead);
    return next.sign == ':';
}

// Sentences that say what is returned.
static void read_sentences(struct reading *reading, struct text text)
{
    while (text.at < text.end) {
        const char *end = end_of_sentence(&text);
        struct text sentence = {text.at, end};
        bool told = false;
        bool first = true;
        while (sentence.at < sentence.end && !told) {
            struct term term = next_term(&sentence);
            told = is_return(&term) || (first && reading->any && is(&term, "otherwise"));
            first &= term.size == 0;
        }
        if (told)
            read_part(reading, text.at, end);
        text.at = end < text.end ? end + 1 : end;
    }
}

static bool read_descriptions(struct reading *reading, struct text text)
{
    bool found = false;
    while (text.at < text.end) {
        struct term term = next_term(&text);
        bool value = term.tag && is(&term, "retval");
        if (!value && !begins_description(&text, &term))
            continue;
        const char *end = end_of_tag(&text);
        (value ? read_retval : read_part)(reading, text.at, end);
        found = true;
        text.at = end;
    }
    return found;
}

unsigned documented_results(const char *comment, size_t size)
{
    struct reading reading = {0};
    const struct text text = {comment, comment + (size < LONGEST ? size : LONGEST)};
    bool described = read_descriptions(&reading, text);
    if (!described)
        read_sentences(&reading, text);
    if (reading.yes && reading.succeeds == POSITIVE && reading.fails == 0)
        reading.fails = ZERO; // that need not be said
    if (reading.passes && (reading.fails & NEGATIVE) != 0)
        reading.fails &= ~(unsigned)ZERO; // 1 on pass, 0 on fail, -1 on error
    unsigned unclear = reading.fails & reading.succeeds;
    unsigned fails = reading.fails & ~unclear, succeeds = reading.succeeds & ~unclear;
    unsigned found = 0;
    static const struct {
        enum value value;
        enum documented fails, succeeds;
    } rows[] = {{ZERO, DOCUMENTED_ZERO_FAILS, DOCUMENTED_ZERO_SUCCEEDS},
                {NEGATIVE, DOCUMENTED_NEGATIVE_FAILS, DOCUMENTED_NEGATIVE_SUCCEEDS},
                {POSITIVE, DOCUMENTED_POSITIVE_FAILS, DOCUMENTED_POSITIVE_SUCCEEDS}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        found |= (fails & rows[i].value) != 0 ? (unsigned)rows[i].fails : 0;
        found |= (succeeds & rows[i].value) != 0 ? (unsigned)rows[i].succeeds : 0;
    }
    if (reading.codes && (succeeds & ZERO) != 0)
        found |= DOCUMENTED_CODES;
    if (described && !reading.meant && reading.named == 0)
        found |= DOCUMENTED_ANSWER | (reading.counts ? DOCUMENTED_COUNT : 0u);
    if (described && !reading.meant && (reading.named & POSITIVE) != 0)
        found |= DOCUMENTED_TRUTH;
    return found;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Regular expressions for names of functions: /^(read|write)/. Controller and target match them
// with the same code. The syntax is that of POSIX extended ones without {m,n}, [:class:] and back
// references.
//
// A part of an expression turns the set of positions of the name that it may start at into the set
// that it may end at. So nothing is tried twice, and no memory is needed.
#ifndef ORDEAL_WIRE_NAME_REGEX_H
#define ORDEAL_WIRE_NAME_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_REGEX_LENGTH 256 // of names that can match
#define WIRE_REGEX_DEPTH  8   // of parentheses
#define WIRE_REGEX_SIZE   128 // of an expression

struct wire_regex_set {
    uint64_t words[WIRE_REGEX_LENGTH / 64];
};
struct wire_regex {
    const char *at; // what is parsed next
    const char *name;
    size_t length; // of the name, < WIRE_REGEX_LENGTH
    unsigned depth;
    bool failed; // the expression is not well formed
};

// Paths of modules do not end with a slash.
static inline bool wire_is_regex(const char *pattern)
{
    size_t size = 0;
    while (pattern[size] != '\0')
        size++;
    return size > 2 && pattern[0] == '/' && pattern[size - 1] == '/';
}

static inline bool wire_regex_has(const struct wire_regex_set *set, size_t position)
{
    return (set->words[position / 64] >> position % 64 & 1) != 0;
}

static inline void wire_regex_put(struct wire_regex_set *set, size_t position)
{
    set->words[position / 64] |= (uint64_t)1 << position % 64;
}

// Adds `more` to `set`; true if that changes it.
static inline bool wire_regex_join(struct wire_regex_set *set, const struct wire_regex_set *more)
{
    bool changed = false;
    for (size_t i = 0; i < WIRE_REGEX_LENGTH / 64; i++) {
        changed |= (more->words[i] & ~set->words[i]) != 0;
        set->words[i] |= more->words[i];
    }
    return changed;
}

// Whether one character is in the set whose first character *at is. Moves *at behind its ']'.
static inline bool wire_regex_in_brackets(const char **at, char c, bool *ret_closed)
{
    const char *p = *at;
    bool inverted = *p == '^', found = false;
    p += inverted;
    for (bool first = true; *p != '\0' && (first || *p != ']'); first = false) {
        unsigned char low = (unsigned char)*p++, high = low;
        if (p[0] == '-' && p[1] != '\0' && p[1] != ']') {
            high = (unsigned char)p[1];
            p += 2;
        }
        found |= low <= (unsigned char)c && (unsigned char)c <= high;
    }
    *ret_closed = *p == ']';
    *at = p + (*p == ']');
    return found != inverted;
}

static struct wire_regex_set wire_regex_branches(struct wire_regex *regex,
                                                 struct wire_regex_set from);

// One character of the name: a letter, '.', or a set in brackets.
static inline struct wire_regex_set wire_regex_character(struct wire_regex *regex,
                                                         const struct wire_regex_set *from)
{
    struct wire_regex_set to = {{0}};
    const char *start = regex->at;
    bool any = *start == '.', brackets = *start == '[', closed = true;
    if (*start == '\\')
        start++;
    regex->failed |= *start == '\0';
    const char *end = *start != '\0' ? start + 1 : start;
    if (brackets) { // also where nothing is left to compare
        end = start + 1;
        wire_regex_in_brackets(&end, '\0', &closed);
        regex->failed |= !closed;
    }
    for (size_t i = 0; i < regex->length && !regex->failed; i++) {
        const char *set = start + 1;
        bool fits = any || (brackets ? wire_regex_in_brackets(&set, regex->name[i], &closed)
                                     : regex->name[i] == *start);
        if (fits && wire_regex_has(from, i))
            wire_regex_put(&to, i + 1);
    }
    regex->at = end;
    return to;
}

static inline struct wire_regex_set wire_regex_atom(struct wire_regex *regex,
                                                    const struct wire_regex_set *from)
{
    struct wire_regex_set to = {{0}};
    switch (*regex->at) {
    case '^':
    case '$': {
        size_t position = *regex->at++ == '^' ? 0 : regex->length;
        if (wire_regex_has(from, position))
            wire_regex_put(&to, position);
        return to;
    }
    case '(':
        regex->at++;
        regex->failed |= ++regex->depth > WIRE_REGEX_DEPTH;
        if (!regex->failed)
            to = wire_regex_branches(regex, *from);
        regex->depth--;
        regex->failed |= *regex->at != ')';
        regex->at += !regex->failed;
        return to;
    case '*':
    case '+':
    case '?':
    case '{':
        regex->failed = true;
        return to;
    default:
        return wire_regex_character(regex, from);
    }
}

// An atom with what says how often it may be there.
static inline struct wire_regex_set wire_regex_piece(struct wire_regex *regex,
                                                     const struct wire_regex_set *from)
{
    const char *start = regex->at;
    struct wire_regex_set to = wire_regex_atom(regex, from), more = to;
    const char *end = regex->at;
    char often = regex->failed ? '\0' : *end;
    if (often != '*' && often != '+' && often != '?')
        return to;
    for (bool grows = often != '?'; grows && !regex->failed;) {
        regex->at = start;
        more = wire_regex_atom(regex, &more);
        grows = wire_regex_join(&to, &more);
    }
    if (often != '+')
        wire_regex_join(&to, from);
    regex->at = end + 1;
    return to;
}

static struct wire_regex_set wire_regex_branches(struct wire_regex *regex,
                                                 struct wire_regex_set from)
{
    struct wire_regex_set to = {{0}};
    for (;;) {
        struct wire_regex_set branch = from;
        while (!regex->failed && *regex->at != '\0' && *regex->at != '|' && *regex->at != ')' &&
               !(regex->at[0] == '/' && regex->at[1] == '\0'))
            branch = wire_regex_piece(regex, &branch);
        wire_regex_join(&to, &branch);
        if (regex->failed || *regex->at != '|')
            return to;
        regex->at++;
    }
}

// Matches a pattern with its slashes anywhere in the name. False for a pattern that is not well
// formed, and then *ret_bad is set.
static inline bool wire_regex_match(const char *pattern, const char *name, bool *ret_bad)
{
    struct wire_regex regex = {.at = pattern + 1, .name = name};
    struct wire_regex_set from = {{0}}, to;
    size_t size = 0;
    while (size <= WIRE_REGEX_SIZE && pattern[size] != '\0')
        size++;
    *ret_bad = size > WIRE_REGEX_SIZE || size < 3 || pattern[size - 1] != '/';
    while (regex.length < WIRE_REGEX_LENGTH - 1 && name[regex.length] != '\0')
        wire_regex_put(&from, regex.length++);
    if (*ret_bad || name[regex.length] != '\0')
        return false;
    wire_regex_put(&from, regex.length);
    to = wire_regex_branches(&regex, from);
    *ret_bad = regex.failed || regex.at != pattern + size - 1;
    bool found = false;
    for (size_t i = 0; i < WIRE_REGEX_LENGTH / 64; i++)
        found |= to.words[i] != 0;
    return found && !*ret_bad;
}

static inline bool wire_regex_fits(const char *pattern, const char *name)
{
    bool bad;
    return wire_regex_match(pattern, name, &bad);
}

#endif

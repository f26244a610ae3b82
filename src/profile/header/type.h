// SPDX-License-Identifier: GPL-3.0-or-later
// What the words in front of a function's name say about its type.
#ifndef ORDEAL_PROFILE_HEADER_TYPE_H
#define ORDEAL_PROFILE_HEADER_TYPE_H

#include "profile/header/declared.h"
#include "profile/header/token.h"

#define MOST_WORDS 6 // of the type of a result

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

enum keyword keyword_of(const struct word *word);

struct type {
    bool seen[KEYWORD_OTHER + 1];
    bool pointer;
    bool after_tag; // the next word is the name of a structure or enumeration
    bool after_enum;
    struct word tag; // of an enumeration
    unsigned word_count;
    struct word words[MOST_WORDS]; // the last ones, the first of them is the last
};

void type_add_word(struct type *type, const struct word *word);
// DECLARED_UNKNOWN if the words are not known.
enum declared_result type_result(const struct type *type);

// What the name of a type says without its declaration.
enum declared_result type_usual(const struct word *word);

#endif

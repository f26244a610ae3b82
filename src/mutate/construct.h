// SPDX-License-Identifier: GPL-3.0-or-later
// What a line of a source has that machine code shows in another way, or cannot tell from something
// else. When levels are compared, it is the cause of differences there.
#ifndef ORDEAL_MUTATE_CONSTRUCT_H
#define ORDEAL_MUTATE_CONSTRUCT_H

#include <stdint.h>

enum construct {
    CONSTRUCT_MACRO,   // code of a macro: written once, compiled wherever it is used
    CONSTRUCT_INLINED, // a call whose function was copied there, since the programmer asked for it
    CONSTRUCT_CHOSEN,  // the same, since the compiler chose it
    CONSTRUCT_BUILTIN, // a call that the compiler may turn into instructions: memcpy(), memset()
    CONSTRUCT_SWITCH,  // cases are told apart by comparisons and jumps
    CONSTRUCT_GOTO,    // one, what it leads to, or the `if` that guards it
    CONSTRUCT_LEAVES,  // an `if` whose part ends with break, continue or return, or that has an
                       // `else` behind such a part: an `else` makes no difference there
    CONSTRUCT_NESTED,  // an `if` that guards nothing but another one: && would be the same
    CONSTRUCT_HEADING, // the heading of a loop
    CONSTRUCT_VALUE,   // ?:, or && and || as a value: jumps and a temporary
    CONSTRUCT_CHANGE,  // an assignment, ++ or -- within an expression
    CONSTRUCT_ADDRESS, // sizeof, [] or ->: arithmetic that nobody wrote
    CONSTRUCTS,
};
extern const char *const construct_words[CONSTRUCTS];

struct construct_line {
    enum construct kind;
    const char *file;
    unsigned line;
};

#endif

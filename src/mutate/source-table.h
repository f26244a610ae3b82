// SPDX-License-Identifier: GPL-3.0-or-later
// What the look at the source hands to the compiler pass: one row per fault, with the places in the
// source by which the pass finds the instructions. Plain data: a struct source_header, then
// struct source_row[], then strings.
#ifndef ORDEAL_MUTATE_SOURCE_TABLE_H
#define ORDEAL_MUTATE_SOURCE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SOURCE_MAGIC   0x5344524fu // "ORDS"
#define SOURCE_VERSION 2u

enum source_how {    // what happens instead
    SOURCE_SKIP,     // the statements in the range do not run
    SOURCE_THEN,     // the range is a condition; what it guards runs
    SOURCE_PAST,     // the same; what it guards does not run
    SOURCE_ELSE,     // the same; what stands after else runs
    SOURCE_CLAUSE,   // the range is an operand of && or || that does not count
    SOURCE_NO_STORE, // the range declares `name`, which gets no value
    SOURCE_WRONG,    // in the range `name` gets another value
    SOURCE_VARIABLE, // the range reads `name`; it reads `other` instead
    SOURCE_OPERATOR, // the range has the operator, which is another one
    SOURCE_HOWS,
};

// Why a fault that the source has is none in the compiled program.
enum source_reason {
    SOURCE_FOUND,     // it is one
    SOURCE_MACRO,     // several things have the same place, for they come out of one macro
    SOURCE_NO_CODE,   // the compiler made no code for it
    SOURCE_AMBIGUOUS, // the code at its place is not its alone
    SOURCE_NO_RETURN, // nothing runs after it
    SOURCE_TEMPORARY, // its temporary objects outlive it
    SOURCE_VALUE,     // its condition is computed as a value across blocks
    SOURCE_ROOM,      // its variable cannot be told from others
    SOURCE_REASONS,
};

enum source_flag {
    SOURCE_OR = 1 << 0,       // of a clause: its operator is ||
    SOURCE_NEGATED = 1 << 1,  // of a clause: its last test is the opposite of its own value
    SOURCE_TRUTH = 1 << 2,    // of a wrong value: the variable is a truth value
    SOURCE_TYPELESS = 1 << 3, // of a wrong value: the variable's type is a template's parameter
};

struct source_position {
    uint32_t line, column;
};

struct source_header {
    uint32_t magic, version, rows, strings; // how many; bytes of strings
};

struct source_row {
    uint32_t kind, how, reason, flags;
    uint32_t source;                   // string: the file that is compiled, as it was named
    uint32_t file;                     // string: the file the fault is in
    uint32_t function;                 // line that the function begins at
    uint32_t function_name;            // string
    struct source_position at;         // of the fault, for people
    struct source_position begin, end; // `end` is behind the last character
    uint32_t name, other;              // strings
    uint32_t detail;                   // string: what is affected, as it is written
};

// Whether the user wants a file as it is: `skip` has parts of names, separated by commas, or is
// NULL. The look and the pass must agree on it.
static inline bool source_is_skipped(const char *source, const char *skip)
{
    for (const char *at = skip; at != NULL && *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length > 0 && memmem(source, strlen(source), at, length) != NULL)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

#endif

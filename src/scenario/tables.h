// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of facts: named numbers, and the arguments of common library functions.
#ifndef ORDEAL_SCENARIO_TABLES_H
#define ORDEAL_SCENARIO_TABLES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum constant_kind {
    CONSTANT_ERRNO,
    CONSTANT_SIGNAL,
    CONSTANT_OTHER,
};
struct constant {
    const char *name;
    int64_t value;
    enum constant_kind kind;
};
size_t constant_count(void);
const struct constant *constant_at(size_t index);
const struct constant *constant_find(const char *name, size_t size);
// The usual name of an errno or signal, or NULL.
const char *constant_name(enum constant_kind kind, int64_t value);

// A letter per argument in an integer register.
enum prototype_kind {
    PROTOTYPE_INT = 'i',
    PROTOTYPE_UNSIGNED = 'u',
    PROTOTYPE_LONG = 'l',   // also off_t, time_t, ssize_t
    PROTOTYPE_SIZE = 'z',   // size_t and other unsigned 64-bit numbers
    PROTOTYPE_FD = 'f',     // a descriptor
    PROTOTYPE_PATH = 'p',   // a C string that names a file
    PROTOTYPE_STRING = 's', // another C string
    PROTOTYPE_POINTER = '*',
};
struct prototype {
    const char *name;
    const char *arguments; // enum prototype_kind letters
    unsigned count;        // 1-based argument that `short` reduces; 0 = none
    const char *failure; // what it returns when it fails: a number, a constant, PROTOTYPE_ERRNO if
                         // it is the errno itself, or NULL if it does not fail with an errno
};
extern const char PROTOTYPE_ERRNO[];
size_t prototype_count(void);
const struct prototype *prototype_at(size_t index);
const struct prototype *prototype_find(const char *name);
// What the functions of a name or glob return when they fail, as in struct prototype; NULL if that
// is not known for any of them. False if they return different things.
bool prototype_failure(const char *pattern, const char **ret_failure);
// The number that a failure stands for when the errno is `error`.
int64_t prototype_failure_value(const char *failure, int error);
// If a function certainly never returns the value: what it returns when it fails, as "NULL" or "an
// errno". NULL if the value is possible or nothing is known.
const char *prototype_impossible_result(const char *function, uint64_t value);
// The kind of argument `number` (1-based), or 0 when unknown.
char prototype_argument(const struct prototype *prototype, unsigned number);
// "a size", "a descriptor", …
const char *prototype_kind_text(char kind);

// Classes of functions: a word such as %file stands for all functions of that kind, of the C
// library or, with `calls`, of the kernel.
#define FUNCTION_NAME_SIZE 32
size_t function_class_count(void);
const char *function_class_name(size_t index);
// Whether the word is written as a class; function_class_check() fails if there is no such class.
bool is_function_class(const char *word);
_must_check_ struct error *function_class_check(const char *word);
// The members, one after the other: *at starts at 0. False after the last, and for other words.
bool function_class_next(const char *word, bool calls, size_t *at, char name[FUNCTION_NAME_SIZE]);
// Whether the function is one of those that a glob, a regular expression (/^read/) or a class
// means.
bool function_pattern_fits(const char *pattern, bool calls, const char *function);
bool function_class_has(const char *word, bool calls, const char *function);

#endif

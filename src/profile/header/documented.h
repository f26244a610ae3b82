// SPDX-License-Identifier: GPL-3.0-or-later
// What headers say about the results of a function: a comment in front of a declaration, and the
// names of an enumeration's members, such as FOO_OK, FOO_ERROR_MEMORY, or kinds of things.
#ifndef ORDEAL_PROFILE_HEADER_DOCUMENTED_H
#define ORDEAL_PROFILE_HEADER_DOCUMENTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum documented {
    DOCUMENTED_ZERO_FAILS = 1 << 0,
    DOCUMENTED_ZERO_SUCCEEDS = 1 << 1, // or tells of an ordinary end
    DOCUMENTED_NEGATIVE_FAILS = 1 << 2,
    DOCUMENTED_NEGATIVE_SUCCEEDS = 1 << 3,
    DOCUMENTED_POSITIVE_FAILS = 1 << 4,
    DOCUMENTED_POSITIVE_SUCCEEDS = 1 << 5,
    DOCUMENTED_CODES = 1 << 6,  // zero succeeds, and codes of errors are returned
    DOCUMENTED_ANSWER = 1 << 7, // the result is described, and nothing is said about failures
    DOCUMENTED_TRUTH = 1 << 8,  // likewise, but for yes and no
    DOCUMENTED_COUNT = 1 << 9,  // an answer that is a number of things or a size
};
#define DOCUMENTED_FAILS                                                                           \
    (DOCUMENTED_ZERO_FAILS | DOCUMENTED_NEGATIVE_FAILS | DOCUMENTED_POSITIVE_FAILS)

// Reads a comment: @return, @retval, \return, "Returns: …", and sentences that say what is
// returned. What is said in two ways counts as not said.
unsigned documented_results(const char *comment, size_t size);

#define ENUMERATION_WORDS 2 // of 64 numbers each: from 0 on, and from -1 down

struct enumeration {
    uint64_t members[ENUMERATION_WORDS];
    uint64_t known[ENUMERATION_WORDS], wrong[ENUMERATION_WORDS], fine[ENUMERATION_WORDS];
    unsigned count; // of members
    bool errors;    // some member is named like an error
    bool open;      // the number of some member is not known
};
enum enumeration_meaning { ENUMERATION_SILENT, ENUMERATION_FAILURE, ENUMERATION_ANSWER };

// Adds a member. `name` need not end in NUL.
void enumeration_add(struct enumeration *enumeration, const char *name, size_t size,
                     int64_t number);
// What a number means. Nothing is said of numbers that are no members, and if there are hardly any.
enum enumeration_meaning enumeration_tells(const struct enumeration *enumeration, int64_t number);
// Whether the members are 1, 2, 3 and others, none is an error, and none has this number: it stands
// for no member at all.
bool enumeration_lacks(const struct enumeration *enumeration, int64_t number);

#endif

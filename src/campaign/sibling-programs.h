// SPDX-License-Identifier: GPL-3.0-or-later
// Programs of one project: some of their functions are the same.
#ifndef ORDEAL_CAMPAIGN_SIBLING_PROGRAMS_H
#define ORDEAL_CAMPAIGN_SIBLING_PROGRAMS_H

#include "base/array.h"
#include "base/map.h"
#include "base/words.h"

#include <stdbool.h>

struct sibling_programs { // starts zeroed
    struct words names;
    ARRAY(uint32_t) same; // for each name another one that it is a sibling of, or itself
    struct map functions; // from the hash of a function's code to the first program that has it
};
void sibling_programs_deinit(struct sibling_programs *siblings);
// Notes the functions on a call stack of the program.
_must_check_ struct error *sibling_programs_add(struct sibling_programs *siblings,
                                                const char *program, const char *stack);
// Notes which of the programs so far come from one source, by dpkg's lists in this directory. Names
// of shared libraries are looked for, too. What cannot be read tells nothing.
_must_check_ struct error *sibling_programs_add_packages(struct sibling_programs *siblings,
                                                         const char *directory);
#define SIBLING_PACKAGES "/var/lib/dpkg"
// Whether two programs have functions in common or come from one source, directly or through
// others.
bool sibling_programs_are(const struct sibling_programs *siblings, const char *left,
                          const char *right);

#endif

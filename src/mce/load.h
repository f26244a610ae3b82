// SPDX-License-Identifier: GPL-3.0-or-later
// Fault loads: sets of machine-check errors, by a rule. A load has axes: the codes, the categories
// and single bits; all combinations of them are numbered, and a load that is smaller than that is a
// seeded draw.
#ifndef ORDEAL_MCE_LOAD_H
#define ORDEAL_MCE_LOAD_H

#include "mce/code.h"
#include "mce/error.h"

#include <stddef.h>

#define MCE_LOADS "all|codes|flags|xen-codes|xen-flags"

#define MCE_ADDRESS 0x8000000ull // the middle of a guest's memory, if it has 256 MiB
#define MCE_PAGE    0x8cull      // MCi_MISC: the address is physical, and exact to the page

struct mce_wanted {
    const char *load;                // a name
    bool units[MCE_UNITS];           // only these; all of the load if none is set
    bool categories[MCE_CATEGORIES]; // likewise
    unsigned processor, bank;
    uint64_t address, misc; // where their bits in the status are set
    bool alone;
    uint64_t seed;   // of draws
    uint64_t sample; // draws so many of what is left; 0: all
};

_must_check_ struct error *mce_generate(const struct mce_wanted *wanted,
                                        struct mce_errors *ret_errors);

// Marks the name that a word is, in any case; false if it is none of them.
bool mce_mark_name(const char *const *names, size_t count, const char *word, bool *marks);
// Leaves only errors of the wanted units and categories.
void mce_keep(struct mce_errors *errors, const struct mce_wanted *wanted);

#endif

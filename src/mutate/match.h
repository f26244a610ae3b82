// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the faults that two levels found in one program, by type and place (§3.3.1 of the thesis
// on accuracy). If a place has N faults of a type at one level and M at the other, the smaller
// number of them are the same ones.
#ifndef ORDEAL_MUTATE_MATCH_H
#define ORDEAL_MUTATE_MATCH_H

#include "base/error.h"
#include "mutate/model.h"

#include <stdbool.h>
#include <stddef.h>

struct match_fault {
    enum model_kind kind;
    const char *file, *function; // of the file only the last part of its path counts
    unsigned line;
    unsigned parameter;      // WPFV, WAEP: which argument of the call; 0 for other types
    const char *replacement; // WAEP: the operator that stands there instead; "" for other types
    bool macro;              // in the definition of a macro: no line of compiled code is there
};
struct match_use { // a line whose code comes out of a macro
    const char *file;
    unsigned line;
};
struct match_list {
    const struct match_fault *items;
    size_t count;
    const struct match_use *uses; // of a reference
    size_t use_count;
};

enum match_cause { // why a fault has no partner, as far as places tell
    MATCH_OTHER,
    MATCH_MACRO,  // it is in the definition of a macro, or where one is used
    MATCH_INLINE, // the same type and line, in another function: code was copied there
    MATCH_CAUSES,
};

struct match_counts {           // of one type
    size_t reference, compared; // faults in the two lists
    size_t correct;
    size_t same; // of them, those that also change the same thing, as far as argument and operator
                 // tell
    size_t omitted[MATCH_CAUSES];  // of the reference
    size_t spurious[MATCH_CAUSES]; // of what is compared with it
};

// Compares a list with a reference, which is the source level in the thesis. Only files that the
// reference names are compared.
_must_check_ struct error *match_compare(struct match_list reference, struct match_list compared,
                                         struct match_counts ret_counts[MODEL_KINDS]);

#endif

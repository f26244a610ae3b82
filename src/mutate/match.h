// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the faults that two levels found in one program, by type and place (§3.3.1 of the thesis
// on accuracy). If a place has N faults of a type at one level and M at the other, the smaller
// number of them are the same ones.
#ifndef ORDEAL_MUTATE_MATCH_H
#define ORDEAL_MUTATE_MATCH_H

#include "base/error.h"
#include "mutate/construct.h"
#include "mutate/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_fault {
    enum model_kind kind;
    const char *file, *function; // of the file only the last part of its path counts
    unsigned line;
    unsigned parameter;      // WPFV, WAEP: which argument of the call; 0 for other types
    const char *replacement; // WAEP: the operator that stands there instead; "" for other types
    bool macro;              // in the definition of a macro: no line of compiled code is there
    const char *inlined;     // the function whose code was copied there; NULL or "": none
    bool inline_asked;       // by the programmer
    bool checked;            // its mutant was compiled
    bool differs;            // ... and its object code is not that of the original
};
struct match_list {
    const struct match_fault *items;
    size_t count;
    const struct construct_line *constructs; // of the source, and calls that were inlined
    size_t construct_count;
};

// Why a fault has no partner, as far as places and what is written there tell.
enum match_cause {
    MATCH_OTHER,
    MATCH_MACRO,         // it is in the definition of a macro, or where one is used
    MATCH_INLINE,        // code was copied there, or from there, because the programmer wanted it
    MATCH_INLINE_CHOSEN, // the compiler wanted it
    // The other causes are constructs that machine code shows in another way.
    MATCH_BUILTIN,
    MATCH_SWITCH,
    MATCH_GOTO,
    MATCH_LEAVES,
    MATCH_NESTED,
    MATCH_HEADING,
    MATCH_VALUE,
    MATCH_CHANGE,
    MATCH_ADDRESS,
    MATCH_CAUSES,
};
struct match_reason {
    const char *word, *description;
    enum construct construct; // from MATCH_BUILTIN on
    uint32_t kinds;           // types that it explains: a set of 1 << enum model_kind
};
extern const struct match_reason match_reasons[MATCH_CAUSES];

// What became of one fault: a cause, or one of these.
#define MATCH_CORRECT      MATCH_CAUSES
#define MATCH_NOT_COMPARED (MATCH_CAUSES + 1)

struct match_counts {           // of one type
    size_t reference, compared; // faults in the two lists
    size_t correct;
    size_t same; // of them, those that also change the same thing, as far as argument and operator
                 // tell
    // Of the reference, faults whose mutants were compiled: all, those that make other object code
    // and whose code was not copied, and how many of them are correct. And how many are correct
    // although they make no difference.
    size_t checked, differ, differ_correct, alike_correct;
    size_t omitted[MATCH_CAUSES];  // of the reference
    size_t spurious[MATCH_CAUSES]; // of what is compared with it
};
struct match_result {
    struct match_counts counts[MODEL_KINDS];
    uint8_t *reference, *compared; // by fault of the two lists: what became of it
};

// Whether a cause is that code was copied: by a macro, or because it was inlined.
bool match_is_copied(int cause);

// Compares a list with a reference, which is the source level in the thesis. Only files that the
// reference names are compared.
_must_check_ struct error *match_compare(struct match_list reference, struct match_list compared,
                                         struct match_result *ret_result);
void match_result_deinit(struct match_result *result);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Levels at which a program can get faults of the model: its sources, its binary. Each level is one
// descriptor, `find` and `apply`. The command `ordeal mutate` and the comparison of levels use
// nothing else of it.
//
// A new level: a file with a const struct mutate_level, and a line in cli/mutate/levels.c.
#ifndef ORDEAL_MUTATE_LEVEL_H
#define ORDEAL_MUTATE_LEVEL_H

#include "base/arena.h"
#include "base/array.h"
#include "mutate/construct.h"
#include "mutate/model.h"

#include <stdbool.h>
#include <stdint.h>

// Why a candidate cannot be applied, or is not worth it.
enum mutate_state {
    MUTATE_APPLICABLE,
    MUTATE_NO_TEXT,    // nothing that could be changed has this fault alone
    MUTATE_NO_ROOM,    // the code has no room for it
    MUTATE_BROKEN,     // the changed file does not compile
    MUTATE_EQUIVALENT, // its object code is that of the original
    MUTATE_DUPLICATE,  // its object code is that of an earlier candidate
    MUTATE_STATES,
};

struct mutate_candidate { // a place that can have a fault; the set owns the texts
    const char *id;       // by type and place: stays the same whatever else is found
    enum model_kind kind;
    const char *function;          // "" if it is not known
    const char *file;              // the source; "" if it is not known
    unsigned line, column;         // 0 if they are not known
    unsigned end_line, end_column; // behind what is affected; 0 if that is not known
    uint64_t address;              // in a binary, as linked; 0 in sources
    const char *changed;           // the file that is changed
    const char *detail;            // what is affected, as it is written; "" if it is not known
    unsigned parameter;      // WPFV, WAEP: which argument of the call, from 1; 0 for other types
    const char *replacement; // WPFV, WAEP, WVAV: what stands there instead; "" for other types
    uint32_t constraints;    // those that hold here: set of enum model_constraint
    bool macro;              // in the definition of a macro: wherever it is used
    bool argument;           // in an argument of a macro
    const char *inlined;     // of a binary: the function whose code was copied here; "" if none
    bool inline_asked;       // the programmer wanted that, not the compiler alone
    enum mutate_state state;
    bool checked; // it was compiled: `state` tells what became of it
    size_t same;  // of a duplicate: the number of the earlier candidate
};

struct mutate_request {
    char *const *operands; // files and, for sources, a compiler's arguments; ends with NULL
    const char *database;  // compile_commands.json; or NULL
    bool constructs;       // also those, as far as the level knows them
};

struct mutate_set {
    struct arena arena;
    ARRAY(struct construct_line) constructs;
    ARRAY(struct mutate_candidate) items; // in the order they were found in
    // Of a binary: how many there are, how many were reconstructed, and in how many others calls
    // and conditions were looked for.
    size_t functions, understood, optimised;
    const struct mutate_level *level;
    void *own; // the level's
};

struct mutate_level {
    const char *name;
    bool compiled; // its files are programs; otherwise sources
    // Fills an empty set. Candidates need neither `id` nor constraints: mutate_find() adds them.
    struct error *(*find)(const struct mutate_request *request, struct mutate_set *set);
    // The content of the candidate's file with the fault in it.
    struct error *(*apply)(const struct mutate_set *set, size_t number, struct buffer *ret_text);
    // Sets the state of candidates that cannot be applied or are not worth it; `wanted` says by
    // candidate which to check. NULL: all that are found can be applied.
    struct error *(*check)(struct mutate_set *set, const bool *wanted);
    void (*free)(void *own);
};

_must_check_ struct error *mutate_find(const struct mutate_level *level,
                                       const struct mutate_request *request,
                                       struct mutate_set *ret_set);
void mutate_set_deinit(struct mutate_set *set);
const char *mutate_state_word(enum mutate_state state);

#endif

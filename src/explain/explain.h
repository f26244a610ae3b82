// SPDX-License-Identifier: GPL-3.0-or-later
// Explains what happened between a call that failed and the damage: where the result went, who
// tested it, where it was used. It reads the code of the modules, follows the failure forward from
// the call, and a bad pointer back from a crash. Nothing is run.
#ifndef ORDEAL_EXPLAIN_EXPLAIN_H
#define ORDEAL_EXPLAIN_EXPLAIN_H

#include "base/arena.h"
#include "base/code-place.h"
#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// Keeps the modules that it has read, for many explanations.
struct explainer;
_must_check_ struct error *explainer_new(struct explainer **ret_explainer);
void explainer_free(struct explainer *explainer);

// The call that failed.
struct explain_call {
    const char *function;
    bool returned; // `value`; otherwise it failed in another way, and is not followed
    int64_t value;
    const char *result;               // what it does, as in rules: "NULL/ENOMEM"; or NULL
    const struct code_places *frames; // the first one is where it returns to
    bool below_stream;                // it writes what a stream has buffered
};
struct explain_crash {
    const struct code_places *frames; // the first one is the instruction
    const char *stack;                // the same as text (base/frame-text.h), or NULL
    int signal;
    bool fault; // by an access to `address`
    uint64_t address;
    bool by_itself; // it ended itself
};

// Consequences in their order. They start zeroed.
struct explanation {
    ARRAY(struct store_consequence) items;
    struct arena arena; // has their texts
};
void explanation_deinit(struct explanation *explanation);
// A new one at the end, for the caller to fill in; NULL when memory is short.
struct store_consequence *explanation_add(struct explanation *explanation,
                                          enum consequence_kind kind);

// These add what is known. Code that cannot be read only means that less is. An error means that
// memory is short, or Zydis missing.
//
// What comes of the failed call, up to the crash; `crash` may be NULL.
_must_check_ struct error *explain_failure(struct explainer *explainer,
                                           const struct explain_call *call,
                                           const struct explain_crash *crash,
                                           struct explanation *explanation);
// How the crash happens, if it does.
_must_check_ struct error *explain_crash(struct explainer *explainer,
                                         const struct explain_crash *crash,
                                         struct explanation *explanation);
// What a program that never ends waits for, by its stack as text (base/frame-text.h).
_must_check_ struct error *explain_hang(const char *stack, struct explanation *explanation);
// Whether a function only waits for something that others do.
bool explain_waits(const char *function, size_t size);

#endif

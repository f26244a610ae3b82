// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a test suite against mutants: which faults does it notice? Every run has a private view of
// the file system. A fault of a source is in a file there, which the tests build; one that `ordeal
// cc` has built in is switched on in processes, and only if the tests reach it. The user's files
// are not touched.
#ifndef ORDEAL_MUTATE_SCORE_SCORE_H
#define ORDEAL_MUTATE_SCORE_SCORE_H

#include "base/array.h"
#include "mutate/level.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stdint.h>

enum score_outcome {
    SCORE_NONE,      // not wanted
    SCORE_KILLED,    // the tests failed
    SCORE_TIMEOUT,   // they came to no end
    SCORE_SURVIVED,  // they passed
    SCORE_UNREACHED, // they do not execute it
    SCORE_IGNORED,   // it makes no difference, does not compile or cannot be written
    SCORE_ERROR,     // the run itself failed
    SCORE_OUTCOMES,
};
const char *score_outcome_word(enum score_outcome outcome);

struct score_options {
    // Commands, each ends with NULL: they build what has changed and run tests. A candidate is run
    // against those that reach it, until one fails.
    char *const *const *tests;
    size_t test_count;
    bool named;                // each is a shell's, and its third word is what the user wrote
    unsigned jobs;             // runs at a time; 0: as many as there are processors
    uint64_t timeout_ns;       // of a run; 0: from the time that the tests take without a fault
    enum sandbox_kind sandbox; // NONE: for faults that are built in
};

struct score {
    enum score_outcome *outcomes; // by candidate
    uint64_t *ns;                 // what each run took; 0: none
    uint64_t plain_ns;            // the tests without a fault
    size_t counts[SCORE_OUTCOMES];
};

// Tests that fail without a fault are an error. `wanted` is by candidate.
_must_check_ struct error *score_run(const struct mutate_set *set, const bool *wanted,
                                     const struct score_options *options, struct score *ret_score);
void score_deinit(struct score *score);
// Killed, timeouts among them, of all that were run or not reached; 1 if there were none.
double score_share(const struct score *score);
// The same of those that were run.
double score_share_reached(const struct score *score);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Puts a tool that injects faults under test with generated programs. The tool is a level of
// Ordeal's own, or any command (an adapter).
#ifndef ORDEAL_MUTATE_GENERATE_EXAMINE_H
#define ORDEAL_MUTATE_GENERATE_EXAMINE_H

#include "mutate/generate/generate.h"
#include "mutate/level.h"

struct examine_options {
    const struct mutate_level *level; // under test; NULL: the adapter is
    // A command for the shell. "$1" is the program's source, "$2" the compiled program, "$3" a
    // directory for mutants. It writes a line for each fault: "MFC 73", type and line, and behind
    // them the mutant's path, if it has made one.
    const char *adapter;
    const struct mutate_level *oracle; // of sources; makes the mutants to compare with
    const char *compiler, *flags;      // words for the shell
    bool execute;                      // run the mutants and compare checksums
    uint64_t seed;
    size_t every; // only every so many programs; 0: all
};

enum examine_verdict {
    EXAMINE_CORRECT,
    EXAMINE_OMITTED,   // fewer faults than there are
    EXAMINE_SPURIOUS,  // more faults than there are
    EXAMINE_INCORRECT, // as many, but a mutant does something else
    EXAMINE_VERDICTS,
};

struct examine_result { // of one program
    struct generate_parameters parameters;
    unsigned expected, found;
    unsigned different; // mutants that behave in another way than the oracle's, or do not run
    enum examine_verdict verdict;
    bool failed; // the tool could not be run
};

struct examine_results {
    ARRAY(struct examine_result) items;
};

// Goes through the combinations of parameters whose type `wanted` has, as many at a time as there
// are processors.
_must_check_ struct error *examine_all(const struct examine_options *options,
                                       const bool wanted[MODEL_KINDS],
                                       struct examine_results *ret_results);
void examine_results_deinit(struct examine_results *results);

#endif

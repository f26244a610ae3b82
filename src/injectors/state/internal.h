// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injectors `register` and `memory`, shared by their parts: descriptors and shots
// (state.c), candidates (candidates.c).
#ifndef ORDEAL_INJECTORS_STATE_INTERNAL_H
#define ORDEAL_INJECTORS_STATE_INTERNAL_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "isa/operands.h"
#include "state/file.h"
#include "trial/runtime-session.h"

struct upset_trace { // of one input's run: as in wire/state.h
    uint32_t *items;
    size_t count;
};

// Faults that are drawn over the whole run; the fields are those of store_upsets.
struct upset_draw {
    uint64_t points; // wanted; 0: none are drawn
    uint64_t instructions, bits, unread, classes, all_classes;
    double read;
};

struct upsets {
    struct injector_setup setup;
    bool memory;    // the injector `memory`
    bool data;      // faults: data, not control
    bool all_paths; // paths: all, also what no reference run has executed
    enum state_change change;
    struct state_program program;
    char *tracer;
    uint32_t *hits;     // by input and block of the image: reference runs that executed it
    uint32_t *runs;     // by input: reference runs
    uint32_t inputs;    // at least 1
    bool random_inputs; // pair: random, faults belong to no input
    uint32_t input;     // of this shot
    struct upset_draw drawn;
    bool each_point;            // each: point, no classes
    uint64_t steps;             // the longest trace
    struct upset_trace *traces; // by input
    bool surveying;             // the next reference runs are traced

    struct runtime_session *session;
    struct scenario *no_rules; // empty: the runtime only reports crashes
    struct journal_reader *reader;
    bool has_runtime; // in this shot
    const char *visible[3];
    struct words command; // with the tracer before it
    // This shot's.
    struct state_file file;
    struct state_fault fault;
    struct wire_state_fault plan;
    bool is_reference;
    uint64_t start_ns;
};

// In how many of an input's reference runs a block was executed.
uint32_t upsets_hits(const struct upsets *self, uint32_t input, uint32_t block);
// The first input from `first` on, and then from the start, all of whose reference runs executed
// it; `inputs` if there is none.
uint32_t upsets_find_input(const struct upsets *self, uint32_t block, uint32_t first);
// Whether candidates are made from a block.
bool upsets_uses_block(const struct upsets *self, uint32_t block);
_must_check_ struct error *upsets_candidates(void *data, candidate_add *add, void *add_data);
// Whether a command's first word is the program that faults are in.
bool upsets_runs_program(const struct upsets *self, const char *name);
// As of struct injector_debugger.
_must_check_ struct error *upsets_debug(void *data, const struct shot *shot, const char *input,
                                        bool batch, char ***ret_arguments, char ***ret_environment);
// Adds a flip of the bits that are set in the fault, at an instruction.
_must_check_ struct error *upsets_add(struct upsets *self, struct state_fault *fault, uint64_t stop,
                                      double weight, candidate_add *add, void *add_data);
#define UPSET_STREAM (UINT64_MAX - 3) // of random numbers
// Draws faults over the traces, and adds their classes.
_must_check_ struct error *upsets_draw(struct upsets *self, candidate_add *add, void *add_data);
// How many basic blocks each input executes, and all together.
_must_check_ struct error *upsets_remarks(void *data, remark_add *add, void *add_data);

#endif

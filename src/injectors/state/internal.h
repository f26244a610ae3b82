// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injectors `register` and `memory`, shared by their parts: descriptors and shots
// (state.c), candidates (candidates.c), words (texts.c).
#ifndef ORDEAL_INJECTORS_STATE_INTERNAL_H
#define ORDEAL_INJECTORS_STATE_INTERNAL_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "isa/operands.h"
#include "state/file.h"
#include "trial/cover-file.h"
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

struct upset_place { // a stop address in the words of specs and reports: the same for all its bits
    bool known;
    uint64_t stop;
    struct state_fault named; // only its place
    struct journal_reader_place source;
    const char *kind; // of instruction
};

struct upset_branch { // of a workload that forks
    size_t shot;
    struct state_fault fault;
    struct wire_state_fault plan;
};

struct upsets {
    struct injector_setup setup;
    bool memory;    // the injector `memory`
    bool data;      // faults: data, not control
    bool all_paths; // paths: all, also what no reference run has executed
    enum state_change change;
    const struct state_program *analysed;
    struct state_program program; // the same
    char *tracer;
    bool *chosen;             // by function of the image: candidates are made from its blocks
    uint32_t *hits;           // by input and block of the image: reference runs that executed it
    uint32_t *runs;           // by input: reference runs
    uint32_t inputs;          // at least 1
    bool random_inputs;       // pair: random, faults belong to no input
    uint32_t input;           // of this shot
    struct upset_place place; // of the last candidate
    struct upset_draw drawn;
    bool each_point;            // each: point, no classes
    uint64_t steps;             // the longest trace
    struct upset_trace *traces; // by input
    bool surveying;             // the next reference runs are traced, or measured
    uint64_t moments;           // wanted, of processor time; 0: none are drawn
    uint64_t *used_ns;          // by input: the processor time of its run

    struct runtime_session *session;
    struct scenario *no_rules; // empty: the runtime only reports crashes
    struct journal_reader *reader;
    bool has_runtime; // in this shot
    const char *visible[4];
    // Without a tracer (inside.c).
    bool seen, missed; // reference runs that had the runtime in the program; that had not
    bool inside;       // this shot
    bool forking;      // this shot only forks: it has no fault of its own
    struct cover_file stops;
    size_t module_count;           // names of the program there
    struct upset_branch *branches; // in the order of their stops
    size_t branch_count;
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
// Whether candidates are made from a block; upsets_choose_functions() decides it once.
_must_check_ struct error *upsets_choose_functions(struct upsets *self);
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
// What upsets that are drawn may hit: 16 general registers, and the flags that programs can change.
#define UPSET_GENERAL_BITS (16 * 64)
#define UPSET_FLAGS        7
#define UPSET_BITS         (UPSET_GENERAL_BITS + UPSET_FLAGS)
extern const uint8_t upset_flags[UPSET_FLAGS]; // their bits
// Draws faults over the traces, and adds their classes.
_must_check_ struct error *upsets_draw(struct upsets *self, candidate_add *add, void *add_data);
// Draws faults over the processor time, and adds them.
_must_check_ struct error *upsets_draw_moments(struct upsets *self, candidate_add *add,
                                               void *add_data);
_must_check_ struct error *upsets_remark_moments(const struct upsets *self, remark_add *add,
                                                 void *add_data);
// How many basic blocks each input executes, and all together.
_must_check_ struct error *upsets_remarks(void *data, remark_add *add, void *add_data);

// What came of a fault.
_must_check_ struct error *upsets_observe(const struct upsets *self,
                                          const struct state_fault *fault,
                                          const struct wire_state_fault *plan,
                                          const struct wire_state_result *result,
                                          struct observation *observation);
// Makes the region and the environment of a shot. A program that cannot load the runtime runs
// without it, and only its crash has no stack then, unless it is `needed`.
_must_check_ struct error *upsets_prepare_runtime(struct upsets *self, struct shot *shot,
                                                  bool needed);

// ---- texts.c ----

// As of struct injector: `input`, `describe`, `reproduce`.
uint32_t upsets_input_of(const char *spec);
_must_check_ struct error *upsets_describe(void *data, const char *fault,
                                           const struct injection *injection, struct buffer *text);
_must_check_ struct error *upsets_reproduce(void *data, const char *spec, uint64_t seed,
                                            uint64_t timeout_ns, char **ret_command);

// ---- analysed.c ----

// The program at a path, analysed once for all instances of this process and of job slots, which
// are forked from it. What is released stays until another one is asked for.
_must_check_ struct error *analysed_get(const char *path, const struct state_program **ret_program);
void analysed_release(const struct state_program *program);

// ---- inside.c ----

static inline bool upsets_works_inside(const struct upsets *self)
{
    return self->seen && !self->missed;
}
bool upsets_fits_inside(const struct upsets *self, const struct wire_state_fault *fault);
// Makes the coverage file with these faults, sorted by stop address and count.
_must_check_ struct error *upsets_make_stops(struct upsets *self,
                                             const struct upset_branch *branches, size_t count);
// After a reference run: whether the runtime was in the program. NULL: it was not loaded.
void upsets_note_runtime(struct upsets *self, const struct wire_view *view);
// False: the target has written over it.
bool upsets_read_stop(const struct upsets *self, const struct wire_view *view, size_t stop,
                      struct wire_state_result *ret_result);
void upsets_forget_branches(struct upsets *self);
extern const struct injector_forks upsets_forks;

#endif

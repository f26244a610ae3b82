// SPDX-License-Identifier: GPL-3.0-or-later
// What injectors share that make faults of the model (mutate/model.h) by giving a file another
// content: the faults of a level (mutate/level.h) as candidates, their specs, and breakpoints that
// tell which of them are executed. An injector adds where the breakpoints are and which file a shot
// changes.
#ifndef ORDEAL_INJECTOR_MUTANT_MUTANTS_H
#define ORDEAL_INJECTOR_MUTANT_MUTANTS_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "mutate/level.h"
#include "scenario/scenario.h"
#include "trial/cover-file.h"
#include "trial/runtime-session.h"

#define MUTANTS_NONE SIZE_MAX // no candidate

// Whether the place of a fault is executed.
enum mutant_execution {
    MUTANT_UNKNOWN, // nothing tells
    MUTANT_NOT_EXECUTED,
    MUTANT_EXECUTED,
    MUTANT_NOT_LOADED, // its file was not loaded
};

struct mutant_watch { // a breakpoint
    size_t module;    // of `watched`
    uint64_t address;
    uint32_t code; // the bytes there
    size_t candidate;
    size_t block; // of the coverage file
};

struct mutants {
    struct injector_setup setup;
    const struct mutate_level *level;
    struct mutate_set set; // in the order of candidates
    bool found, profiled;
    bool *wanted;                    // by candidate
    enum mutant_execution *executed; // by candidate; known after the first reference run
    size_t counts[MUTATE_STATES];    // of candidates that were left out, by their state
    size_t unknown, not_executed, not_loaded;

    struct runtime_session *session;
    struct scenario *no_rules; // empty: the runtime only reports crashes
    struct journal_reader *reader;
    const char *visible[3];
    // This shot's.
    ARRAY(char *) watched; // files
    ARRAY(struct mutant_watch) watches;
    struct cover_file file;
    bool has_file, profiles;
    size_t candidate;            // MUTANTS_NONE: a reference run
    enum mutant_execution known; // from the spec
    struct shot_file change;
    struct buffer content;
    char *changed;       // the path in `change`
    const char *program; // that has the faults; NULL: not known
};

// The injector's parameters of these names, if it has them: types, functions, blocks.
_must_check_ struct error *mutants_open(const struct injector_setup *setup, struct mutants *self);
void mutants_close(struct mutants *self);

// Finds the faults, once. Paths of the request are relative to the campaign's directory.
_must_check_ struct error *mutants_find(struct mutants *self, const struct mutate_level *level,
                                        const struct mutate_request *request);
// Sets the state of those that are wanted and make no difference or cannot be made.
_must_check_ struct error *mutants_check(struct mutants *self);
// Forgets the last shot and finds the candidate of the next one's spec.
_must_check_ struct error *mutants_begin_shot(struct mutants *self, const struct shot *shot);
// The content of the candidate's file, and its path, in shot->files.
_must_check_ struct error *mutants_change_file(struct mutants *self, struct shot *shot);
// Adds a breakpoint. `code` are four bytes.
_must_check_ struct error *mutants_watch(struct mutants *self, const char *file, uint64_t address,
                                         const unsigned char *code, size_t candidate);
// After all breakpoints: puts the runtime into the shot.
_must_check_ struct error *mutants_prepare(struct mutants *self, struct shot *shot);

// Functions of the descriptor, for a `self` that begins with struct mutants.
_must_check_ struct error *mutants_moved(void *self, const char *from, const char *to);
_must_check_ struct error *mutants_begin(void *self, const char *root);
_must_check_ struct error *mutants_observe(void *self, const char *root,
                                           struct observation *observation);
_must_check_ struct error *mutants_candidates(void *self, candidate_add *add, void *data);
_must_check_ struct error *mutants_remarks(void *self, remark_add *add, void *data);
extern const struct injector_stored mutants_stored;

// Files, without links: those that a parameter names, the program of the command, or all programs
// and libraries below the campaign's directory. They add to `ret_paths`, also before an error.
_must_check_ struct error *mutants_programs(const struct mutants *self, const char *parameter,
                                            struct words *ret_paths);
_must_check_ struct error *mutants_command(const struct mutants *self, struct words *ret_paths);
_must_check_ struct error *mutants_below(const struct mutants *self, struct words *ret_paths);

// ---- specs: spec.c ----

// A path for people: from the working directory on, where it is below that. Levels and compilers
// name the same file in different ways.
const char *mutants_name(const struct mutants *self, const char *path);
// "missing-call@sum.c:6:5 in sum": type, place, and function or module. If it is not certain that
// the place is executed, the spec says so.
_must_check_ struct error *mutant_put_spec(const struct mutants *self, size_t candidate,
                                           enum mutant_execution executed, struct buffer *text);
_must_check_ struct error *mutant_find_spec(const struct mutants *self, const char *spec,
                                            size_t *ret_candidate,
                                            enum mutant_execution *ret_executed);

#endif

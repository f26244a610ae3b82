// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injector `ir`, shared by its parts: descriptor and shots (ir.c), what a shot
// puts into programs and reads back (shot.c), specs (faults.c), candidates (candidates.c).
#ifndef ORDEAL_INJECTORS_IR_INTERNAL_H
#define ORDEAL_INJECTORS_IR_INTERNAL_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "mutate/run/programs.h"
#include "scenario/scenario.h"
#include "trial/cover-file.h"
#include "trial/runtime-session.h"

#define IR_MOST_FAULTS 16 // in one trial

struct ir_fault { // indexes of a program and of a candidate in its map
    size_t program, candidate;
};
struct ir_faults { // of one trial
    ARRAY(struct ir_fault) items;
};

struct ir {
    struct injector_setup setup;
    struct ir_programs programs; // found for the first shot
    bool found, profiled, surveying;
    size_t faults_per_trial;         // from the parameter `faults`
    size_t not_executed, not_loaded; // candidates that were left out

    struct runtime_session *session;
    struct scenario *no_rules; // empty: the runtime only reports crashes
    struct journal_reader *reader;
    const char *visible[3];
    // This shot's.
    struct cover_file file;
    bool has_file, profiles;
    struct ir_blocks *blocks; // by program; empty where nothing is patched
    struct ir_faults faults;
};

// ---- faults.c ----

const struct image_function *ir_function(const struct image *image, size_t candidate);
bool ir_can_be_enabled(const struct image *image, size_t candidate);
// "TYPE@FILE:LINE:COLUMN in PROGRAM#NUMBER".
_must_check_ struct error *ir_put_spec(const struct ir_program *program, size_t candidate,
                                       struct buffer *text);
// Finds the faults of a spec, one or several. `ret_faults` must be empty.
_must_check_ struct error *ir_find_spec(const struct ir *self, const char *spec,
                                        struct ir_faults *ret_faults);
// Whether two faults cannot be on at the same time.
bool ir_exclude(const struct ir *self, const struct ir_fault *one, const struct ir_fault *other);

// ---- shot.c ----

// Makes the file that tells the runtime what to patch: the faults of a spec or, in the run that
// profiles, all markers, to see which blocks are executed.
_must_check_ struct error *ir_shot_prepare(struct ir *self, const char *spec);
void ir_shot_forget(struct ir *self);
// After a shot without faults: notes which blocks were executed.
void ir_shot_take_profile(struct ir *self);
// After a shot with faults: adds how often each was hit.
_must_check_ struct error *ir_shot_take_hits(const struct ir *self,
                                             struct observation *observation);

// ---- candidates.c ----

_must_check_ struct error *ir_candidates(void *self, candidate_add *add, void *add_data);
_must_check_ struct error *ir_remarks(void *self, remark_add *add, void *add_data);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the injector `ir`: its shots (injector-ir.c), what they put into programs and read
// back (ir-shot.c), specs (ir-faults.c) and candidates (ir-candidates.c).
#ifndef ORDEAL_INJECTORS_IR_INTERNAL_H
#define ORDEAL_INJECTORS_IR_INTERNAL_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "mutate/run/programs.h"
#include "scenario/scenario.h"
#include "trial/cover-file.h"
#include "trial/runtime-session.h"

#define IR_MOST_FAULTS 16 // in one trial

struct ir_fault { // one of a program's candidates
    size_t program, candidate;
};
struct ir_faults { // of one trial
    ARRAY(struct ir_fault) items;
};

struct ir {
    struct injector_setup setup;
    struct ir_programs programs; // found for the first shot
    bool found, profiled;
    size_t together;                 // faults of one trial
    size_t not_executed, not_loaded; // candidates that were left out

    struct runtime_session *session;
    struct scenario *nothing;
    struct journal_reader *reader;
    const char *visible[3];
    // This shot's.
    struct cover_file file;
    bool has_file, profiles;
    struct ir_blocks *blocks; // by program; empty where nothing is put in
    struct ir_faults faults;
};

// ---- ir-faults.c ----

const struct image_function *ir_function(const struct image *image, size_t candidate);
bool ir_can_be_enabled(const struct image *image, size_t candidate);
// "TYPE@FILE:LINE:COLUMN in PROGRAM#NUMBER".
_must_check_ struct error *ir_put_spec(const struct ir_program *program, size_t candidate,
                                       struct buffer *text);
// The faults of a spec, one or several. `ret_faults` must be empty.
_must_check_ struct error *ir_find_spec(const struct ir *self, const char *spec,
                                        struct ir_faults *ret_faults);
// Two faults that cannot both be on.
bool ir_exclude(const struct ir *self, const struct ir_fault *one, const struct ir_fault *other);

// ---- ir-shot.c ----

// The file that tells the runtime what to put where: the faults of a spec, or, NULL, what shows
// which blocks are executed.
_must_check_ struct error *ir_shot_prepare(struct ir *self, const char *spec);
void ir_shot_forget(struct ir *self);
// After a shot without faults: what was executed.
void ir_shot_take_profile(struct ir *self);
// After a shot with faults: how often each was hit.
_must_check_ struct error *ir_shot_take_hits(const struct ir *self,
                                             struct observation *observation);

// ---- ir-candidates.c ----

_must_check_ struct error *ir_candidates(void *self, candidate_add *add, void *add_data);
_must_check_ struct error *ir_remarks(void *self, remark_say *say, void *say_data);

#endif

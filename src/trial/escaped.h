// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that processes of a trial started and that were never intercepted.
#ifndef ORDEAL_TRIAL_ESCAPED_H
#define ORDEAL_TRIAL_ESCAPED_H

#include "base/array.h"
#include "base/error.h"
#include "wire/view.h"

struct escaped_program {
    const struct wire_record *record; // of its start, in the view
    char path[WIRE_NOTE_TEXT];
    char *why; // a sentence's end: "it is statically linked, ..."
};
struct escaped_programs {
    ARRAY(struct escaped_program) items; // each program once
};

// With `read_files` the files of all started programs are read, too: the region has room for a
// limited number of processes. Fails only when memory is short. The caller ends it with
// escaped_programs_deinit().
_must_check_ struct error *escaped_programs_find(const struct wire_view *view, bool read_files,
                                                 struct escaped_programs *ret_programs);
void escaped_programs_deinit(struct escaped_programs *programs);

// "PROGRAM, started by NAME (pid N), was not intercepted: WHY", to be freed.
_must_check_ struct error *escaped_program_text(const struct escaped_program *program,
                                                char **ret_text);

#endif

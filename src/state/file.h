// SPDX-License-Identifier: GPL-3.0-or-later
// The state file (wire/state.h), as the controller makes and reads it.
#ifndef ORDEAL_STATE_FILE_H
#define ORDEAL_STATE_FILE_H

#include "state/program.h"

#include <sys/types.h>

struct state_file {
    int file;
    char *path, *directory; // NULL: there is none
    pid_t owner;            // a forked child must leave its parent's file alone
    struct wire_state *map;
    size_t size;
    uint64_t steps_at, step_room; // as in the map, which the target might write to
};

// Makes the file, or uses the one that this process has made before. `fault` may be NULL; `blocks`
// are those whose first execution is noted, by address.
_must_check_ struct error *state_file_write(struct state_file *file,
                                            const struct state_program *program,
                                            const struct wire_state_fault *fault,
                                            const struct wire_state_block *blocks,
                                            size_t block_count);
// Likewise for a trace of the program's code, with room for so many instructions. `entries` are the
// places where control may come into the code, by address.
_must_check_ struct error *state_file_write_trace(struct state_file *file,
                                                  const struct state_program *program,
                                                  const struct wire_state_block *entries,
                                                  size_t entry_count, uint64_t room);
// The trace, after a run; result.traced numbers.
const uint32_t *state_file_trace(const struct state_file *file);
void state_file_close(struct state_file *file);

// What came of the fault. A write to memory that also reads it counts as activation. Of a register
// at a moment it follows from the instructions that came after it, if these are enough.
struct wire_state_result state_file_result(const struct state_file *file,
                                           const struct state_program *program);

#endif

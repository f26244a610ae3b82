// SPDX-License-Identifier: GPL-3.0-or-later
// Which code of a traced process makes a call: the program's, or that of a library which is no part
// of it, like Ordeal's runtime.
#ifndef ORDEAL_OBSERVE_CODE_OWNER_H
#define ORDEAL_OBSERVE_CODE_OWNER_H

#include "base/array.h"
#include "observe/tracer.h"

// The executable memory of a process as far as calls came from it. Starts zeroed. Must be emptied
// when the process executes another program.
struct code_range {
    uint64_t start, end;
    bool foreign;
};
struct code_owners {
    ARRAY(struct code_range) ranges;
};
void code_owners_deinit(struct code_owners *owners);

// Whether the code at `place` comes from a file with this name. False also if that is not known.
bool code_is_of(struct code_owners *owners, const struct tracer_task *task, uint64_t place,
                const char *name);

#endif

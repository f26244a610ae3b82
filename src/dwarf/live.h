// SPDX-License-Identifier: GPL-3.0-or-later
// The call stack of a thread of a running process, taken from outside.
#ifndef ORDEAL_DWARF_LIVE_H
#define ORDEAL_DWARF_LIVE_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

#define DWARF_LIVE_FRAMES 64

struct dwarf_live_frame {
    char *module;    // path as the process sees it; NULL if the address is in none
    uint64_t offset; // link-time address in it, or the address itself
    char *symbol;    // or NULL
    char *file;      // or NULL
    unsigned line;
};
struct dwarf_live_stack {
    ARRAY(struct dwarf_live_frame) frames; // innermost first, at most DWARF_LIVE_FRAMES
};

// Stops the thread while its stack is unwound, and lets it go on. Does this `samples` times (0 is
// 1), a few milliseconds apart. The result is the last stack, without the innermost functions that
// the other stacks do not have. `root` is put before the paths of its modules ("" if they are valid
// here). An error if it takes longer than `timeout_ns`, or if this process may not trace that one.
_must_check_ struct error *dwarf_live_stack(pid_t process, pid_t thread, const char *root,
                                            unsigned samples, uint64_t timeout_ns,
                                            struct dwarf_live_stack *ret_stack);
void dwarf_live_stack_deinit(struct dwarf_live_stack *stack);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Counting calls into the region.
#ifndef ORDEAL_RUNTIME_RECORD_H
#define ORDEAL_RUNTIME_RECORD_H

#include "runtime/call.h"

// A process that records has its first table of calls behind struct process, emptied with it.
#define RECORD_FIRST_ENTRIES 512
#define RECORD_FIRST_SIZE                                                                          \
    (ASM_TABLE_ENTRIES + (RECORD_FIRST_ENTRIES + RECORD_NEIGHBOURS) * ASM_ENTRY_SIZE)

void record_prepare(void);
void record_call(const struct call *call);
void record_after_fork(void);
void record_forget(void); // addresses mean something else from now on
// Whether calls are counted by site alone, so that stubs may do it.
bool record_by_site(void);
// Whether recording is all there is to do about calls of a function, after its first call.
bool record_is_all(const struct function *function);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Which code of a guest was executed: QEMU's own log of the code that it translates. TCG translates
// code when it is about to execute it, so each place is in the log once, at no cost after that.
#ifndef ORDEAL_GUEST_TRACE_H
#define ORDEAL_GUEST_TRACE_H

#include "base/error.h"

#include <stdint.h>

// Calls `take` for every instruction in the log, in the log's order, with its address and where in
// the file it is. The file may hold anything.
typedef void guest_trace_take(void *data, uint64_t address, uint64_t at);
_must_check_ struct error *guest_trace_read(const char *path, guest_trace_take *take, void *data);

#endif

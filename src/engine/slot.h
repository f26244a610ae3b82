// SPDX-License-Identifier: GPL-3.0-or-later
// A job slot, seen from the controller: a process that runs shots and judges them.
#ifndef ORDEAL_ENGINE_SLOT_H
#define ORDEAL_ENGINE_SLOT_H

#include "engine/engine.h"

#include <sys/types.h>

// Forks a job slot. *ret_socket is the controller's end of its socket; the caller closes it. The
// slot ends when it is closed. *running is in shared memory: the slot keeps there the tag of the
// job that it is running, plus 1, or 0 for none.
_must_check_ struct error *slot_start(const struct engine_task *task, uint64_t *running,
                                      pid_t *ret_pid, int *ret_socket);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// A process between us and a command that may leave processes behind. It adopts them, so that they
// are not taken for processes of a later step.
#ifndef ORDEAL_SANDBOX_KEEPER_H
#define ORDEAL_SANDBOX_KEEPER_H

#include "base/error.h"
#include "sandbox/internal.h"

// Starts a keeper and its command. *ret_socket receives a MESSAGE_COMMAND when the command ends;
// the caller closes it. *ret_command is the command's PID. *ret_keeper is set even if there is an
// error after the fork.
_must_check_ struct error *keeper_start(const struct spawn *spawn, pid_t *ret_keeper,
                                        int *ret_socket, pid_t *ret_command);
// Reads that message into `progress`.
_must_check_ struct error *keeper_news(int socket, struct progress *progress);
// Adds the resources of a process, as of wait4().
struct rusage;
void progress_count(struct progress *progress, const struct rusage *usage);
// For a process that is not the command: sets `orphan` if a signal that means a defect killed it.
void progress_note_orphan_signal(struct progress *progress, int status);

#endif

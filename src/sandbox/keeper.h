// SPDX-License-Identifier: GPL-3.0-or-later
// A process between us and a command that may leave processes behind: it adopts them, so that they
// are not taken for processes of a later step.
#ifndef ORDEAL_SANDBOX_KEEPER_H
#define ORDEAL_SANDBOX_KEEPER_H

#include "base/error.h"
#include "sandbox/internal.h"

// *ret_socket tells a MESSAGE_COMMAND when the command ended; *ret_command is its pid.
_must_check_ struct error *keeper_start(const struct spawn *spawn, pid_t *ret_keeper,
                                        int *ret_socket, pid_t *ret_command);
// Reads that message.
_must_check_ struct error *keeper_news(int socket, struct progress *progress);
// What wait4() said about a process.
struct rusage;
void progress_count(struct progress *progress, const struct rusage *usage);
// Of one that is not the command: sets `orphan`.
void progress_note_orphan_signal(struct progress *progress, int status);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Sockets of traced tasks.
#ifndef ORDEAL_OBSERVE_SOCKETS_H
#define ORDEAL_OBSERVE_SOCKETS_H

#include "observe/tracer.h"

// Whether the other end of a socket, if there is one, may be an unrelated process. Fills in a text
// that is the same in every run.
bool socket_describe(const struct tracer_task *task, int number, char *text, size_t size);

#endif

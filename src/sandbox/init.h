// SPDX-License-Identifier: GPL-3.0-or-later
// The first process of a sandbox run's PID namespace.
#ifndef ORDEAL_SANDBOX_INIT_H
#define ORDEAL_SANDBOX_INIT_H

// Does what the messages on `socket` (message.h) ask for, until it is closed.
__attribute__((noreturn)) void init_serve(int socket);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The first process of a life's process namespace.
#ifndef ORDEAL_SANDBOX_INIT_H
#define ORDEAL_SANDBOX_INIT_H

// Does what the messages on `socket` ask until it is closed.
__attribute__((noreturn)) void init_serve(int socket);

#endif

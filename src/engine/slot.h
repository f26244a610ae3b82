// SPDX-License-Identifier: GPL-3.0-or-later
// A job slot seen from inside: the process that leads shots and judges them.
#ifndef ORDEAL_ENGINE_SLOT_H
#define ORDEAL_ENGINE_SLOT_H

#include "definition/definition.h"
#include "injector/injector.h"
#include "oracle/reference.h"

#include <sys/types.h>

struct slot_task { // what a slot inherits
    const struct definition *definition;
    const struct injector *injector;
    const void *leader; // the controller's own injector, as it was when the slot was started
    const struct reference *reference;
    // Of a long-lived server: specs that can be tried in one life, in the order in which they are.
    // NULL: none.
    const struct words *switchable;
};

// Starts one. *ret_socket is the controller's end of its socket.
struct error *slot_start(const struct slot_task *task, pid_t *ret_pid, int *ret_socket);

#endif

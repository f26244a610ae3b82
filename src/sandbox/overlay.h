// SPDX-License-Identifier: GPL-3.0-or-later
// Lives in namespaces of their own, as the sandbox's process leads them.
#ifndef ORDEAL_SANDBOX_OVERLAY_H
#define ORDEAL_SANDBOX_OVERLAY_H

#include "sandbox/internal.h"

struct overlay {
    pid_t zygote;
    int socket; // to the zygote
    bool own_users;
    ARRAY(char *) layers; // number → path
    // One life.
    pid_t init;             // 0: none
    int init_socket;        // socket to init
    int root, upper_layers; // its root; the directory of upper layers
    bool show_tmp, show_shm;
};

_must_check_ struct error *
overlay_each_change(struct sandbox *sandbox, const char *const *ignored,
                    struct error *(*change)(void *, const struct sandbox_change *), void *data);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The overlay backend: runs in namespaces of their own, controlled by the sandbox's process.
#ifndef ORDEAL_SANDBOX_OVERLAY_H
#define ORDEAL_SANDBOX_OVERLAY_H

#include "sandbox/internal.h"

struct overlay {
    pid_t zygote;
    int socket; // to the zygote
    bool own_users;
    bool lacks_directory;
    ARRAY(char *) layers; // number → path
    // Of one run.
    pid_t init;             // 0: none
    int init_socket;        // socket to init
    int root, upper_layers; // descriptors of its root and of the directory of upper layers
    bool show_tmp, show_shm;
};

// As sandbox_each_change().
_must_check_ struct error *
overlay_each_change(struct sandbox *sandbox, const char *const *ignored,
                    struct error *(*change)(void *, const struct sandbox_change *), void *data);

#endif

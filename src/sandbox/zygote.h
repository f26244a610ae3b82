// SPDX-License-Identifier: GPL-3.0-or-later
// The process of a slot that keeps the stage and forks the lives' inits.
#ifndef ORDEAL_SANDBOX_ZYGOTE_H
#define ORDEAL_SANDBOX_ZYGOTE_H

#include <stdbool.h>

struct zygote_options {
    const char *directory;
    bool network;
    const int *groups; // to enter, as of groups_descriptors()
};
// In a child of the sandbox's process. Inits become children of that process.
__attribute__((noreturn)) void zygote_serve(const struct zygote_options *options, int socket);

#endif

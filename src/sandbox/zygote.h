// SPDX-License-Identifier: GPL-3.0-or-later
// The process of a slot that keeps the stage and forks an init for each run.
#ifndef ORDEAL_SANDBOX_ZYGOTE_H
#define ORDEAL_SANDBOX_ZYGOTE_H

#include <stdbool.h>

struct zygote_options {
    const char *directory;
    const char *copy; // to be shown in place of the directory, or NULL
    bool network;
    const int *groups; // control groups to enter, as of groups_descriptors()
};
// Serves the messages on `socket`, in a child of the sandbox's process. The inits become children
// of that process.
__attribute__((noreturn)) void zygote_serve(const struct zygote_options *options, int socket);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What is mounted where, as /proc/self/mountinfo tells.
#ifndef ORDEAL_SANDBOX_MOUNTS_H
#define ORDEAL_SANDBOX_MOUNTS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

struct mount_entry {
    char *path; // without the prefix; "" is the root
    char *root; // what of the file system is mounted
    char *type;
    char *options; // of the file system
    bool readonly;
    unsigned long flags; // MS_NOSUID, MS_NOEXEC
};
struct mounts {
    ARRAY(struct mount_entry) entries; // outer ones first
};
void mounts_deinit(struct mounts *mounts);

// The text of a mountinfo file: what is below `prefix`.
_must_check_ struct error *mounts_parse(const char *text, const char *prefix,
                                        struct mounts *ret_mounts);
// The mounts below `prefix` that can be reached; what lies below others is left out.
_must_check_ struct error *mounts_read(const char *file, const char *prefix,
                                       struct mounts *ret_mounts);
const struct mount_entry *mounts_at(const struct mounts *mounts, const char *path); // or NULL
bool mounts_below(const struct mounts *mounts, const char *path);                   // strictly
bool mounts_option(const char *options, const char *name); // "rw,pids", "pids"
bool mount_is_virtual(const struct mount_entry *entry);    // no files of a user's

#endif

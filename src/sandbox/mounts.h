// SPDX-License-Identifier: GPL-3.0-or-later
// What is mounted where, as /proc/self/mountinfo says.
#ifndef ORDEAL_SANDBOX_MOUNTS_H
#define ORDEAL_SANDBOX_MOUNTS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

struct mount_entry {
    char *path; // without the prefix; "" is the root
    char *root; // which directory of the file system is mounted
    char *type;
    char *options; // of the file system
    bool readonly;
    unsigned long flags; // MS_NOSUID, MS_NOEXEC
};
struct mounts {
    ARRAY(struct mount_entry) entries; // outer ones first
};
void mounts_deinit(struct mounts *mounts);

// Parses the text of a mountinfo file: the mounts below `prefix`. The caller frees the mounts, also
// after an error.
_must_check_ struct error *mounts_parse(const char *text, const char *prefix,
                                        struct mounts *ret_mounts);
// Reads the mounts below `prefix` that can be reached. Mounts that are hidden by others are left
// out.
_must_check_ struct error *mounts_read(const char *file, const char *prefix,
                                       struct mounts *ret_mounts);
const struct mount_entry *mounts_at(const struct mounts *mounts, const char *path); // or NULL
bool mounts_below(const struct mounts *mounts, const char *path); // not `path` itself
bool mounts_option(const char *options, const char *name);        // "rw,pids" has "pids"
bool mount_is_virtual(const struct mount_entry *entry);           // it has no files of users

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The private view of the file system. What can be prepared once for a slot is prepared in a mount
// namespace of the slot's, the *stage*:
//   /old     everything as it is outside
//   /dev     a small /dev, read-only       /sys  read-only
//   /ro/N    what can only be shown read-only
//   /layer   place for the tmpfs that takes the changes of one run
//   /new     place for the root of one run
// A run has a copy of that namespace and builds its root there.
#ifndef ORDEAL_SANDBOX_VIEW_H
#define ORDEAL_SANDBOX_VIEW_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

enum view_part_kind {
    VIEW_DIRECTORY, // to mount other parts on
    VIEW_LINK,
    VIEW_OVERLAY, // `number` is its layer's
    VIEW_BIND,    // `number` is its name below /ro
    VIEW_COPY,    // the copy of the working directory
};
struct view_part {
    enum view_part_kind kind;
    char *path;   // "" is the root
    char *target; // of the link
    unsigned number;
    mode_t mode;
    uid_t uid;
    gid_t gid;
    unsigned long flags; // of the mount
    bool refused;        // VIEW_BIND: it should be writable, but the kernel refuses an overlay
};
// Directories of other users on the way to places that we may write to. An overlay cannot copy them
// up without the right to give files away, so they are made in the upper layer beforehand.
struct view_path {
    unsigned layer;
    char *path; // below the layer
    mode_t mode;
};
struct view {
    bool own_users; // in a user namespace of its own
    uid_t uid;      // who runs the trials
    gid_t gid;
    const char *options; // of overlays, begins with a comma
    ARRAY(struct view_part) parts;
    ARRAY(struct view_path) paths;
    ARRAY(char *) layers; // number → path
    ARRAY(char *) warnings;
    unsigned binds;
    const char *copy; // path of the copy that is shown in place of the working directory, or NULL
    size_t early;     // so many parts, the first, are built before /tmp, /dev, /proc and /sys
    bool lacks_directory; // the working directory is read-only, for want of an overlay
};                        // never freed: the process that prepares it keeps it

// Enters namespaces of our own and prepares the stage. `directory` is where the trials work. If
// `copy` is not NULL, it is shown in place of the directory, and kept. An error says why the kernel
// refuses.
_must_check_ struct error *view_prepare(struct view *ret_view, const char *directory,
                                        const char *copy);

struct view_request {
    bool show_tmp, show_shm; // show the outside's /tmp, /dev/shm
    char *const *visible;    // files, ends with NULL; or NULL
};
// In a fresh copy of the stage: builds the root and enters it. *ret_root is a descriptor of the
// root, *ret_layers one of the directory that holds u0, u1, … the upper layers. The caller closes
// both.
_must_check_ struct error *view_build(const struct view *view, const struct view_request *request,
                                      int *ret_root, int *ret_layers);

// For view*.c alone. view_mount_overlay() returns 0 or errno.
int view_mount_overlay(const struct view *view, const struct view_part *part, const char *target);
bool view_owns(const struct view *view, const char *path);
mode_t view_mode(const struct view *view, const char *path, mode_t mode);
_must_check_ struct error *view_plan(struct view *view, const char *directory);
__attribute__((format(printf, 2, 3))) _must_check_ struct error *view_warn(struct view *view,
                                                                           const char *format, ...);
// Makes all mounts at and below `path` read-only; -1 and errno. Devices there can be used, and thus
// written, only if `devices` is set.
int view_readonly(const char *path, bool devices);

#endif

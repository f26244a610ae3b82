// SPDX-License-Identifier: GPL-3.0-or-later
// What both ways to list changes share: which paths are ignored, and what kind a change is.
#ifndef ORDEAL_SANDBOX_CHANGES_H
#define ORDEAL_SANDBOX_CHANGES_H

#include "sandbox/sandbox.h"

// Whether a pattern of `ignored` (ends with NULL, may be NULL) matches the absolute `path` or a
// directory above it. A pattern without a leading slash is about paths below `directory`. If it has
// no slash at all, it may also match a single component.
bool change_ignored(const char *path, const char *directory, const char *const *ignored);
bool path_below(const char *path, const char *directory); // or is the directory itself
enum sandbox_change_kind change_kind(uint32_t mode);      // st_mode

#endif

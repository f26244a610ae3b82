// SPDX-License-Identifier: GPL-3.0-or-later
// What both kinds of change lists share.
#ifndef ORDEAL_SANDBOX_CHANGES_H
#define ORDEAL_SANDBOX_CHANGES_H

#include "sandbox/sandbox.h"

// Whether the absolute `path` is, or lies below, something a pattern of `ignored` matches. A
// pattern without a leading slash is about paths below `directory`, or about the last component
// alone.
bool change_ignored(const char *path, const char *directory, const char *const *ignored);
bool path_below(const char *path, const char *directory); // or the directory itself
enum sandbox_change_kind change_kind(uint32_t mode);

#endif

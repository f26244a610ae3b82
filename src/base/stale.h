// SPDX-License-Identifier: GPL-3.0-or-later
// What processes left behind that were killed: directories with the number of their owner in the
// name.
#ifndef ORDEAL_BASE_STALE_H
#define ORDEAL_BASE_STALE_H

// Calls `remove` for every entry PREFIX<number>-<anything> of `directory` whose process is no more.
// `parent` is the open directory.
void stale_each(const char *directory, const char *prefix,
                void (*remove)(int parent, const char *name));

#endif

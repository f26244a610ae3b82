// SPDX-License-Identifier: GPL-3.0-or-later
// Finds what killed processes left behind: directories with their owner in the name. The owner is a
// process number, the time when the process was started, since numbers are reused, and its process
// namespace, since a number means nothing in another one.
#ifndef ORDEAL_BASE_STALE_H
#define ORDEAL_BASE_STALE_H

#include <stdbool.h>

// "NUMBER.START.NAMESPACE" of this process, or "NUMBER" if the start is not known. The text is
// static; it changes when a forked child calls this.
const char *stale_owner(void);

// Calls `remove` for every entry PREFIX<owner>-<anything> of `directory` whose owner does not live
// any more. Whether an owner in another namespace lives is not known: it counts as dead when its
// entry was not changed for a week. With `locked`, remove() itself spares entries whose owner holds
// a lock; then a minute is enough. `parent` is the open directory.
void stale_each(const char *directory, const char *prefix, bool locked,
                void (*remove)(int parent, const char *name));

#endif

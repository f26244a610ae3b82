// SPDX-License-Identifier: GPL-3.0-or-later
// What processes left behind that were killed: directories with their owner in the name. A number
// alone may be another process's by now, so that the time it was started goes with it; and it means
// nothing in another process namespace, so that the namespace does.
#ifndef ORDEAL_BASE_STALE_H
#define ORDEAL_BASE_STALE_H

#include <stdbool.h>

// "NUMBER.START.NAMESPACE" of this process, or "NUMBER" where the start cannot be told. Valid until
// called by another process that was forked from this one.
const char *stale_owner(void);

// Calls `remove` for every entry PREFIX<owner>-<anything> of `directory` whose owner is no more. Of
// an owner in another namespace that is not known: after a week in which the entry was not changed
// it is taken for gone. `locked`: remove() looks for a lock that owners hold, and spares what they
// have; then a minute is enough. `parent` is the open directory.
void stale_each(const char *directory, const char *prefix, bool locked,
                void (*remove)(int parent, const char *name));

#endif

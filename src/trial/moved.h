// SPDX-License-Identifier: GPL-3.0-or-later
// A directory that targets know by another name than the user: a copy of it.
#ifndef ORDEAL_TRIAL_MOVED_H
#define ORDEAL_TRIAL_MOVED_H

#include <stddef.h>
#include <string.h>

struct moved {
    char *from; // as targets know it; NULL: nothing was moved
    char *to;   // as the user does
};

// Gives a path that is below `from` its name below `to`, if there is room for that.
static inline void moved_rename(const struct moved *moved, char *path, size_t room)
{
    size_t old = moved->from != NULL ? strlen(moved->from) : 0;
    if (old == 0 || strncmp(path, moved->from, old) != 0 || path[old] != '/')
        return;
    size_t new = strlen(moved->to), rest = strlen(path + old) + 1;
    if (new + rest > room)
        return;
    memmove(path + new, path + old, rest);
    memcpy(path, moved->to, new);
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// A directory that targets see under another path than the user, because they run in a copy of it.
#ifndef ORDEAL_TRIAL_PATH_MAPPING_H
#define ORDEAL_TRIAL_PATH_MAPPING_H

#include <stddef.h>
#include <string.h>

struct path_mapping {
    char *from; // as targets see it; NULL: there is no such directory
    char *to;   // as the user sees it
};

// Turns a path below `from` into one below `to`, in place. Leaves other paths as they are, and
// those whose new path does not fit into `room` bytes.
static inline void path_mapping_apply(const struct path_mapping *mapping, char *path, size_t room)
{
    size_t old = mapping->from != NULL ? strlen(mapping->from) : 0;
    if (old == 0 || strncmp(path, mapping->from, old) != 0 || path[old] != '/')
        return;
    size_t new = strlen(mapping->to), rest = strlen(path + old) + 1;
    if (new + rest > room)
        return;
    memmove(path + new, path + old, rest);
    memcpy(path, mapping->to, new);
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// See stale.h.
#include "base/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_stale(const char *name, const char *prefix)
{
    const char *number = name + strlen(prefix);
    char *end;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || !isdigit((unsigned char)*number))
        return false;
    long pid = strtol(number, &end, 10);
    return pid > 0 && pid <= INT_MAX && *end == '-' && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void stale_each(const char *directory, const char *prefix,
                void (*remove)(int parent, const char *name))
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_stale(entry->d_name, prefix))
            remove(dirfd(stream), entry->d_name);
    closedir(stream);
}

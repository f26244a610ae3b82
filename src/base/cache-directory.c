// SPDX-License-Identifier: GPL-3.0-or-later
// The directory of caches.
#include "base/cache-directory.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct error *cache_directory_find(char **ret_directory)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    *ret_directory = NULL;
    int size = 0;
    if (cache != NULL && *cache == '/')
        size = asprintf(ret_directory, "%s/ordeal", cache);
    else if (home != NULL && *home == '/')
        size = asprintf(ret_directory, "%s/.cache/ordeal", home);
    if (size >= 0)
        return NULL;
    *ret_directory = NULL;
    return error_no_memory();
}

struct error *cache_directory_make(const char *directory)
{
    _cleanup_free_ char *parent = strdup(directory);
    if (parent == NULL)
        return error_no_memory();
    char *slash = strrchr(parent, '/');
    if (slash != NULL && slash != parent) {
        *slash = '\0';
        mkdir(parent, 0700);
    }
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make %s", directory);
    return NULL;
}

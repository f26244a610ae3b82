// SPDX-License-Identifier: GPL-3.0-or-later
// Matches paths against the patterns of files to ignore.
#include "sandbox/changes.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

bool path_below(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    while (size > 0 && directory[size - 1] == '/')
        size--;
    return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

// Whether the pattern matches a component of `path`.
static bool component_matches(const char *pattern, const char *path)
{
    for (; *path != '\0'; path++)
        if (path[0] == '/' && fnmatch(pattern, path + 1, FNM_LEADING_DIR | FNM_PATHNAME) == 0)
            return true;
    return false;
}

bool change_ignored(const char *path, const char *directory, const char *const *ignored)
{
    for (; ignored != NULL && *ignored != NULL; ignored++) {
        const char *pattern = *ignored;
        if (pattern[0] == '/') {
            if (fnmatch(pattern, path, FNM_LEADING_DIR) == 0)
                return true;
            continue;
        }
        if (!path_below(path, directory))
            continue;
        const char *rest = path + strlen(directory);
        if (fnmatch(pattern, rest + (*rest == '/'), FNM_LEADING_DIR) == 0 ||
            (strchr(pattern, '/') == NULL && component_matches(pattern, rest)))
            return true;
    }
    return false;
}

enum sandbox_change_kind change_kind(uint32_t mode)
{
    return S_ISREG(mode)   ? SANDBOX_FILE
           : S_ISDIR(mode) ? SANDBOX_DIRECTORY
           : S_ISLNK(mode) ? SANDBOX_LINK
                           : SANDBOX_OTHER;
}

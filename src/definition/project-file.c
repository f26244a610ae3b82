// SPDX-License-Identifier: GPL-3.0-or-later
#include "definition/project-file.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The size of the path of the directory above; 0: there is none.
static size_t above(const char *path, size_t size)
{
    while (size > 0 && path[--size] != '/')
        ;
    return size;
}

static struct error *has(const char *path, size_t size, const char *name, bool *ret_has)
{
    _cleanup_(buffer_deinit) struct buffer file = {0};
    struct stat facts;
    TRY(buffer_printf(&file, "%.*s/%s", (int)size, path, name));
    *ret_has = lstat(file.data, &facts) == 0;
    return NULL;
}

// The size of the path of the repository's top; of the working directory if it is in none.
static struct error *find_top(const char *here, size_t *ret_size)
{
    size_t size = strlen(here);
    *ret_size = size;
    for (; size > 1; size = above(here, size)) {
        bool top;
        TRY(has(here, size, ".git", &top));
        if (top) {
            *ret_size = size;
            break;
        }
    }
    return NULL;
}

// Whoever may write to the directory could put another file in the place of the one that was looked
// at.
static struct error *check_directory(const char *path)
{
    struct stat facts;
    _cleanup_free_ char *directory = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
    if (directory == NULL)
        return error_no_memory();
    if (stat(directory, &facts) < 0)
        return error_from_errno(errno, "cannot read %s", directory);
    if ((facts.st_uid != geteuid() && facts.st_uid != 0) ||
        ((facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) == 0))
        return error_new(
            "%s lies in a directory that other users may change, and names commands to "
            "run; --no-project-file leaves it alone",
            path);
    return NULL;
}

static struct error *check(const char *path)
{
    struct stat facts;
    // A link could lead to another file by the time it is read.
    if (lstat(path, &facts) < 0)
        return error_from_errno(errno, "cannot read %s", path);
    if (!S_ISREG(facts.st_mode))
        return error_new("%s is not a file; --no-project-file leaves it alone", path);
    if (facts.st_uid != geteuid())
        return error_new("%s belongs to another user, and names commands to run; "
                         "--no-project-file leaves it alone",
                         path);
    if ((facts.st_mode & S_IWOTH) != 0)
        return error_new("%s may be written by everybody, and names commands to run: chmod o-w, or "
                         "--no-project-file",
                         path);
    return check_directory(path);
}

struct error *project_file_find(char **ret_path)
{
    _cleanup_free_ char *here = getcwd(NULL, 0);
    size_t top;
    *ret_path = NULL;
    if (here == NULL)
        return NULL; // whoever needs the directory says so
    TRY(find_top(here, &top));
    for (size_t size = strlen(here); size >= top && size > 0; size = above(here, size)) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        bool found;
        TRY(has(here, size, PROJECT_FILE, &found));
        if (!found)
            continue;
        TRY(buffer_printf(&path, "%.*s/%s", (int)size, here, PROJECT_FILE));
        TRY(check(path.data));
        *ret_path = TAKE(path.data);
        return NULL;
    }
    return NULL;
}

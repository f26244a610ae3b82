// SPDX-License-Identifier: GPL-3.0-or-later
// Finds a library by name where the loader would find it.
#include "base/cleanup.h"
#include "elf/cache.h"
#include "elf/object.h"

#include <string.h>
#include <unistd.h>

static struct error *try_directory(const char *directory, size_t size, const char *name,
                                   char **ret_path)
{
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%.*s/%s", size == 0 ? 1 : (int)size, size == 0 ? "." : directory, name) <
        0) {
        path = NULL;
        return error_no_memory();
    }
    if (access(path, R_OK) == 0)
        *ret_path = TAKE(path);
    return NULL;
}

static struct error *try_list(const char *list, const char *name, char **ret_path)
{
    for (const char *at = list; *ret_path == NULL; at++) {
        size_t size = strcspn(at, ":;");
        TRY(try_directory(at, size, name, ret_path));
        at += size;
        if (*at == '\0')
            break;
    }
    return NULL;
}

struct error *elf_find_library(const char *name, char **ret_path)
{
    static const char defaults[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
                                   "/usr/lib64:/lib:/usr/lib";
    const char *environment = getenv("LD_LIBRARY_PATH");
    _cleanup_(elf_cache_deinit) struct elf_cache cache = {0};
    _cleanup_free_ char *path = NULL;
    if (*name == '\0')
        return error_new("the name of a library is empty");
    if (environment != NULL && *environment != '\0')
        TRY(try_list(environment, name, &path));
    if (path == NULL) {
        TRY(elf_cache_load("/etc/ld.so.cache", &cache));
        const char *found = elf_cache_find(&cache, name);
        if (found != NULL && (path = strdup(found)) == NULL)
            return error_no_memory();
    }
    if (path == NULL)
        TRY(try_list(defaults, name, &path));
    if (path == NULL)
        return error_new("cannot find the library %s: it is no file here, and none of the "
                         "loader's; give its path",
                         name);
    *ret_path = TAKE(path);
    return NULL;
}

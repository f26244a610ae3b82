// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a sandbox of the best kind that works here, with its limits, and answers what does not
// depend on the kind.
#include "sandbox/groups.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "sandbox/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define OVERHEAD 4 // our own processes in an overlay sandbox: zygote, init, keepers

struct error *sandbox_warn(struct sandbox *sandbox, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int size = vasprintf(&text, format, args);
    va_end(args);
    char **place = size < 0 ? NULL : ARRAY_ADD(&sandbox->warnings);
    if (place == NULL) {
        if (size >= 0)
            free(text);
        return error_no_memory();
    }
    *place = text;
    return NULL;
}

size_t sandbox_warning_count(const struct sandbox *sandbox)
{
    return sandbox->warnings.count;
}

const char *sandbox_warning(const struct sandbox *sandbox, size_t index)
{
    return sandbox->warnings.items[index];
}

enum sandbox_kind sandbox_kind(const struct sandbox *sandbox)
{
    return sandbox->kind;
}

const char *sandbox_root(const struct sandbox *sandbox)
{
    return sandbox->root;
}

const char *sandbox_directory(const struct sandbox *sandbox)
{
    return sandbox->direct.copy != NULL && sandbox->in_use ? sandbox->direct.copy
                                                           : sandbox->directory;
}

void sandbox_set_network(struct sandbox *sandbox, bool network)
{
    if (sandbox->overlay == NULL || sandbox->network == network)
        return;
    sandbox->network = network;
    overlay_renew(sandbox->overlay);
}

struct error *sandbox_each_change(struct sandbox *sandbox, const char *const *ignored,
                                  struct error *(*change)(void *, const struct sandbox_change *),
                                  void *data)
{
    if (!sandbox->in_use)
        return error_new("changes can be told only while the sandbox is in use");
    return sandbox->backend->each_change(sandbox, ignored, change, data);
}

static struct error *open_overlay(struct sandbox *sandbox)
{
    sandbox->kind = SANDBOX_OVERLAY;
    sandbox->backend = &overlay_backend;
    return overlay_new(sandbox);
}

static struct error *open_direct(struct sandbox *sandbox, enum sandbox_kind kind)
{
    sandbox->kind = kind;
    sandbox->backend = &direct_backend;
    TRY(direct_open(sandbox));
    if (kind == SANDBOX_COPY)
        TRY(sandbox_warn(sandbox,
                         "trials run in a copy of %s; the rest of the file system is not "
                         "protected from them",
                         sandbox->directory));
    if (sandbox->network)
        TRY(sandbox_warn(sandbox, "there is no private network without the overlay sandbox"));
    return NULL;
}

// Whether an entry belongs to another user or group, and we may change it outside. Without root an
// overlay knows one user and one group. It cannot copy up what belongs to others, such as the group
// of a team (EOVERFLOW).
static bool is_foreign(int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISLNK(status.st_mode) && (status.st_uid != geteuid() || status.st_gid != getegid()) &&
           faccessat(directory, name, W_OK, AT_EACCESS) == 0;
}

#define LOOKED_AT 10000 // entries of the working directory at most

// The first such thing: the working directory itself or an entry of it; NULL: none. The caller
// frees it.
static char *find_foreign(const char *path)
{
    DIR *directory = geteuid() != 0 ? opendir(path) : NULL;
    char *found = NULL;
    const struct dirent *entry;
    if (directory == NULL)
        return NULL;
    if (is_foreign(dirfd(directory), "."))
        found = strdup(path);
    for (int i = 0; found == NULL && i < LOOKED_AT && (entry = readdir(directory)) != NULL; i++)
        if (strcmp(entry->d_name, "..") != 0 && is_foreign(dirfd(directory), entry->d_name) &&
            asprintf(&found, "%s/%s", path, entry->d_name) < 0)
            found = NULL;
    closedir(directory);
    return found;
}

static struct error *open_best(struct sandbox *sandbox)
{
    _cleanup_free_ char *foreign = find_foreign(sandbox->directory);
    if (foreign != NULL) {
        TRY(sandbox_warn(
            sandbox,
            "%s belongs to another user or group than yours: without root, trials could "
            "not change it in a private view (--sandbox overlay)",
            foreign));
        return open_direct(sandbox, SANDBOX_COPY);
    }
    struct error *error = open_overlay(sandbox);
    if (error == NULL)
        return NULL;
    struct error *warned =
        sandbox_warn(sandbox, "no private file system can be had here: %s", error_message(error));
    error_free(error);
    TRY(warned);
    return open_direct(sandbox, SANDBOX_COPY);
}

static struct error *find_directory(struct sandbox *sandbox, const char *directory)
{
    struct stat status;
    sandbox->directory = realpath(directory == NULL ? "." : directory, NULL);
    if (sandbox->directory == NULL || stat(sandbox->directory, &status) < 0)
        return error_from_errno(errno, "cannot use the working directory %s", directory);
    if (!S_ISDIR(status.st_mode))
        return error_new("%s is not a directory", directory);
    return NULL;
}

static struct error *open_kind(struct sandbox *sandbox, enum sandbox_kind kind)
{
    switch (kind) {
    case SANDBOX_AUTO:
        return open_best(sandbox);
    case SANDBOX_OVERLAY:
        return open_overlay(sandbox);
    case SANDBOX_COPY:
    case SANDBOX_NONE:
        break;
    }
    return open_direct(sandbox, kind);
}

// Sets the limits for which there is no control group in another way, or warns.
static struct error *limit_otherwise(struct sandbox *sandbox, bool asked, bool processes,
                                     bool memory)
{
    // The kernel exempts root from RLIMIT_NPROC, in user namespaces, too.
    bool own_users =
        sandbox->kind == SANDBOX_OVERLAY && overlay_owns_users(sandbox->overlay) && geteuid() != 0;
    if (processes)
        sandbox->limits.processes = 0;
    else if (sandbox->limits.processes != 0 && own_users)
        sandbox->limits.processes += OVERHEAD; // RLIMIT_NPROC counts in the user namespace alone
    else if (sandbox->limits.processes != 0) {
        sandbox->limits.processes = 0;
        if (asked)
            TRY(sandbox_warn(sandbox, "the number of processes cannot be limited here: there is "
                                      "no control group for it"));
    }
    if (memory)
        sandbox->limits.memory_bytes = 0;
    else if (sandbox->limits.memory_bytes != 0)
        TRY(sandbox_warn(sandbox, "memory can be limited only for each process alone, without a "
                                  "control group; programs with sanitizers may fail"));
    return NULL;
}

static struct error *enter_groups(struct sandbox *sandbox, enum sandbox_kind kind, bool asked,
                                  bool *ret_processes, bool *ret_memory)
{
    *ret_processes = *ret_memory = false;
    if (sandbox->limits.processes == 0 && sandbox->limits.memory_bytes == 0)
        return NULL;
    return groups_new(&sandbox->limits, kind <= SANDBOX_OVERLAY ? OVERHEAD : 0, asked,
                      ret_processes, ret_memory, &sandbox->groups);
}

// A limit on processes that nobody asked for must cost nothing. Runs of an overlay start inside the
// group. Elsewhere every command would have to enter it, so there the limit is dropped.
static struct error *open_sandbox(struct sandbox *sandbox, enum sandbox_kind kind)
{
    bool processes, memory, asked = sandbox->limits.processes != 0;
    if (!asked && kind <= SANDBOX_OVERLAY)
        sandbox->limits.processes = PROCESS_LIMIT_KERNEL;
    TRY(enter_groups(sandbox, kind, asked, &processes, &memory));
    TRY(open_kind(sandbox, kind));
    if (!asked && sandbox->kind != SANDBOX_OVERLAY) {
        groups_free(sandbox->groups, true);
        sandbox->groups = NULL;
        sandbox->limits.processes = 0;
        TRY(enter_groups(sandbox, sandbox->kind, asked, &processes, &memory));
    }
    return limit_otherwise(sandbox, asked, processes, memory);
}

struct error *sandbox_new(const struct sandbox_options *options, struct sandbox **ret_sandbox)
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);
    if (sandbox == NULL)
        return error_no_memory();
    sandbox->owner = getpid();
    sandbox->network = options->network;
    sandbox->limits = options->limits;
    sandbox->process_limit.limit = options->limits.processes == 0 ? PROCESS_LIMIT : 0;
    sandbox->capture_limit = options->capture_limit;
    sandbox->ignored = spawn_ignored_signals();
    struct error *error = find_directory(sandbox, options->directory);
    if (error == NULL)
        error = open_sandbox(sandbox, options->kind);
    if (error != NULL) {
        sandbox_free(sandbox);
        return error;
    }
    *ret_sandbox = sandbox;
    return NULL;
}

void sandbox_free(struct sandbox *sandbox)
{
    if (sandbox == NULL)
        return;
    if (sandbox->overlay != NULL && sandbox->owner != getpid())
        overlay_disown(sandbox->overlay);
    overlay_free(sandbox->overlay);
    direct_close(sandbox);
    groups_free(sandbox->groups, sandbox->owner == getpid());
    for (size_t i = 0; i < sandbox->warnings.count; i++)
        free(sandbox->warnings.items[i]);
    ARRAY_DEINIT(&sandbox->warnings);
    free(sandbox->directory);
    free(sandbox);
}

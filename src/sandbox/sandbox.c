// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a sandbox of the best kind that works here, with its limits, and answers what does not
// depend on the kind.
#include "sandbox/groups.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "base/tree.h"
#include "sandbox/spawn.h"
#include "sandbox/working-copy.h"

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

const char *sandbox_kind_word(enum sandbox_kind kind)
{
    static const char *const words[] = {[SANDBOX_AUTO] = "auto",
                                        [SANDBOX_OVERLAY] = "overlay",
                                        [SANDBOX_COPY] = "copy",
                                        [SANDBOX_NONE] = "none"};
    return words[kind];
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
    return sandbox->kind == SANDBOX_COPY && sandbox->in_use ? sandbox->copy.path
                                                            : sandbox->directory;
}

void sandbox_set_network(struct sandbox *sandbox, bool network)
{
    if (sandbox->kind != SANDBOX_OVERLAY || sandbox->network == network)
        return;
    sandbox->network = network;
    overlay_renew(sandbox->overlay);
}

struct error *sandbox_usage(struct sandbox *sandbox, struct sandbox_usage *ret_usage)
{
    if (!sandbox->in_use || sandbox->kind != SANDBOX_OVERLAY)
        return error_new("the sandbox has no private view");
    return overlay_usage(sandbox, ret_usage);
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

static struct error *open_overlay_alone(struct sandbox *sandbox)
{
    TRY(open_overlay(sandbox));
    return overlay_has_layers(sandbox->overlay) ? NULL
                                                : error_new("the kernel refuses overlays here");
}

// Gives the trials of COPY a PID namespace, where that changes nothing else for them.
static struct error *separate_processes(struct sandbox *sandbox)
{
    struct error *error = overlay_new(sandbox);
    if (error == NULL) {
        sandbox->backend = &exposed_backend;
        return NULL;
    }
    struct error *warned = sandbox_warn(
        sandbox,
        "trials have no process namespace (%s): one that signals every process kills Ordeal and "
        "your other processes, unless it does so by kill() of the C library",
        error_message(error));
    error_free(error);
    return warned;
}

static struct error *open_direct(struct sandbox *sandbox, enum sandbox_kind kind)
{
    sandbox->kind = kind;
    sandbox->backend = &direct_backend;
    if (kind == SANDBOX_COPY) {
        TRY(working_copy_open(sandbox));
        TRY(sandbox_warn(sandbox,
                         "trials run in a copy of %s; nothing else is protected from them: "
                         "absolute paths lead to the real files, also into %s",
                         sandbox->directory, sandbox->directory));
        TRY(separate_processes(sandbox));
    }
    if (sandbox->network)
        TRY(sandbox_warn(sandbox, "there is no private network without the overlay sandbox"));
    return NULL;
}

// Whether an entry belongs to another user or group, and we may change it outside. Without root an
// overlay knows one user and one group. It cannot copy up what belongs to others, such as the group
// of a team (EOVERFLOW).
static bool is_foreign(int directory, const char *name, const struct stat *status)
{
    return !S_ISLNK(status->st_mode) &&
           (status->st_uid != geteuid() || status->st_gid != getegid()) &&
           faccessat(directory, name, W_OK, AT_EACCESS) == 0;
}

#define LOOKED_AT 10000 // entries of the working directory at most

struct foreign_search {
    dev_t device;
    unsigned seen;
    struct buffer found;
};

static struct error *look_for_foreign(void *data, const struct tree_directory *directory,
                                      const char *name, struct tree_directory *below)
{
    struct foreign_search *search = data;
    struct stat status;
    if (search->found.size != 0 || search->seen++ >= LOOKED_AT ||
        fstatat(directory->sides[0], name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        status.st_dev != search->device) // a copy would not have that either
        return NULL;
    if (is_foreign(directory->sides[0], name, &status))
        return buffer_printf(&search->found, "/%s%s%s", directory->path,
                             directory->path[0] == '\0' ? "" : "/", name);
    if (S_ISDIR(status.st_mode))
        below->sides[0] =
            openat(directory->sides[0], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return NULL;
}

// The first such thing: the working directory itself or something in it; NULL: none. The caller
// frees it.
static struct error *find_foreign(const char *path, char **ret_found)
{
    static const struct tree_visitor visitor = {.entry = look_for_foreign};
    _cleanup_(buffer_deinit) struct buffer found = {0};
    struct foreign_search search = {0};
    struct stat status;
    *ret_found = NULL;
    _cleanup_close_ int directory =
        geteuid() == 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fstat(directory, &status) < 0)
        return NULL;
    search.device = status.st_dev;
    struct error *error = NULL;
    if (is_foreign(directory, ".", &status))
        error = buffer_append(&search.found, "", 1);
    else
        error = tree_walk(&(struct tree_directory){.sides = {directory, -1}}, &visitor, &search);
    if (error == NULL && search.found.size != 0)
        error = buffer_printf(&found, "%s%s", path, search.found.data);
    buffer_deinit(&search.found);
    *ret_found = TAKE(found.data);
    return error;
}

static void forget_warnings(struct sandbox *sandbox)
{
    for (size_t i = 0; i < sandbox->warnings.count; i++)
        free(sandbox->warnings.items[i]);
    sandbox->warnings.count = 0;
}

// A private view in which a copy of the working directory lies over the original.
static struct error *open_bound_copy(struct sandbox *sandbox, const char *foreign)
{
    if (foreign != NULL)
        TRY(sandbox_warn(sandbox,
                         "%s belongs to another user or group than yours: without root, no overlay "
                         "can show changes of it, so each trial gets a copy of %s in its place",
                         foreign, sandbox->directory));
    else
        TRY(sandbox_warn(sandbox,
                         "the kernel refuses an overlay over %s: each trial gets a copy of it in "
                         "its place",
                         sandbox->directory));
    TRY(working_copy_open(sandbox));
    return open_overlay(sandbox);
}

// Some containers refuse what only a run needs, such as a /proc of its own. So one is tried.
static struct error *try_run(struct sandbox *sandbox)
{
    struct error *error = sandbox->backend->begin(sandbox, NULL, 0, NULL);
    sandbox->backend->end(sandbox);
    sandbox->root[0] = '\0';
    return error;
}

static void start_again(struct sandbox *sandbox)
{
    overlay_free(TAKE(sandbox->overlay));
    working_copy_close(sandbox);
    forget_warnings(sandbox);
}

// A directory may be too large to be copied for every trial. An overlay protects it as well; but
// trials cannot change what belongs to others.
static struct error *open_around_foreign(struct sandbox *sandbox, const char *foreign)
{
    struct error *error = open_bound_copy(sandbox, foreign);
    if (error == NULL)
        error = try_run(sandbox);
    if (error == NULL)
        return NULL;
    start_again(sandbox);
    struct error *warned = sandbox_warn(
        sandbox, "%s belongs to another user or group than yours: trials cannot change it (%s)",
        foreign, error_message(error));
    error_free(error);
    TRY(warned);
    TRY(open_overlay(sandbox));
    return try_run(sandbox);
}

static struct error *open_private(struct sandbox *sandbox)
{
    _cleanup_free_ char *foreign = NULL;
    TRY(find_foreign(sandbox->directory, &foreign));
    if (foreign != NULL)
        return open_around_foreign(sandbox, foreign);
    TRY(open_overlay(sandbox));
    if (overlay_lacks_directory(sandbox->overlay)) {
        start_again(sandbox);
        TRY(open_bound_copy(sandbox, NULL));
    }
    return try_run(sandbox);
}

// Without namespaces nothing keeps a trial from the real files. So a copy of the directory is for
// those who ask for it.
static struct error *open_best(struct sandbox *sandbox)
{
    struct error *error = open_private(sandbox);
    if (error == NULL)
        return NULL;
    struct error *refusal = error_new(
        "your files cannot be protected from the trials here: %s; run where user and mount "
        "namespaces are allowed, or use --sandbox copy: trials then run in a copy of %s, and what "
        "they change by absolute paths is really changed",
        error_message(error), sandbox->directory);
    error_free(error);
    return refusal;
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
        return open_overlay_alone(sandbox);
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
    return groups_new(&sandbox->limits, kind != SANDBOX_NONE ? OVERHEAD : 0, asked, ret_processes,
                      ret_memory, &sandbox->groups);
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
    sandbox->attached = options->attached;
    sandbox->signals = spawn_signals(options->attached);
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
    ARRAY_DEINIT(&sandbox->direct.spared);
    working_copy_close(sandbox);
    groups_free(sandbox->groups, sandbox->owner == getpid());
    for (size_t i = 0; i < sandbox->warnings.count; i++)
        free(sandbox->warnings.items[i]);
    ARRAY_DEINIT(&sandbox->warnings);
    free(sandbox->directory);
    free(sandbox);
}

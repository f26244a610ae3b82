// SPDX-License-Identifier: GPL-3.0-or-later
// Makes control groups as deep in the hierarchy as allowed: below our own group, else below one
// that contains it.
#include "sandbox/groups.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/stale.h"
#include "base/timeouts.h"
#include "sandbox/changes.h"
#include "sandbox/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define GROUPS 2 // processes and memory may have different hierarchies
#define PREFIX "ordeal-"

struct groups {
    char *paths[GROUPS];
    int descriptors[GROUPS + 1]; // of cgroup.procs; ends with -1
    size_t count;
};

struct controller {
    const char *name;    // "pids"
    const char *file[2]; // that holds the limit: cgroup version 1, version 2
    uint64_t limit;
    bool asked; // by the user: a group further up will do, though limits of ours do not hold there
};

// A hierarchy that may have a controller.
struct hierarchy {
    char *mount; // where it is mounted
    char *own;   // our group there, "" is the top
    bool unified;
};

static void hierarchy_deinit(struct hierarchy *hierarchy)
{
    free(hierarchy->mount);
    free(hierarchy->own);
}

// Our group, from a line of /proc/self/cgroup: "/a/b" of "4:memory:/a/b", or of "0::/a/b" for the
// unified hierarchy. The caller frees it.
static char *own_group(char *text, const char *controller)
{
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        char *names = strchr(line, ':'), *path = names == NULL ? NULL : strchr(names + 1, ':');
        if (path == NULL)
            continue;
        *path++ = '\0';
        if (mounts_option(names + 1, controller) ||
            (controller[0] == '\0' && strcmp(names + 1, "") == 0))
            return strdup(strcmp(path, "/") == 0 ? "" : path);
    }
    return NULL;
}

// Takes version 1 if it has the controller, else the unified hierarchy.
static struct error *find_hierarchy(const char *controller, struct hierarchy *ret_hierarchy,
                                    bool *ret_found)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(mounts_deinit) struct mounts mounts = {0};
    *ret_found = false;
    if (access("/proc/self/cgroup", R_OK) < 0)
        return NULL; // a kernel without them
    TRY(buffer_read_file("/proc/self/cgroup", 1 << 20, &text));
    TRY(mounts_read("/proc/self/mountinfo", "", &mounts));
    const struct mount_entry *found = NULL;
    for (size_t i = 0; i < mounts.entries.count; i++) {
        const struct mount_entry *entry = &mounts.entries.items[i];
        if (strcmp(entry->type, "cgroup") == 0 && mounts_option(entry->options, controller))
            found = entry;
        if (strcmp(entry->type, "cgroup2") == 0 && found == NULL)
            found = entry;
    }
    if (found == NULL)
        return NULL;
    bool unified = strcmp(found->type, "cgroup2") == 0;
    char *own = own_group(text.data, unified ? "" : controller);
    char *mount = own == NULL ? NULL : strdup(found->path);
    if (mount == NULL) {
        free(own);
        return NULL;
    }
    // Perhaps only a part of the hierarchy is mounted.
    size_t shown = strcmp(found->root, "/") == 0 ? 0 : strlen(found->root);
    if (shown != 0 && path_below(own, found->root))
        memmove(own, own + shown, strlen(own + shown) + 1);
    *ret_hierarchy = (struct hierarchy){mount, own, unified};
    *ret_found = true;
    return NULL;
}

static bool write_text(const char *directory, const char *file, const char *text)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, file) >= sizeof path)
        return false;
    _cleanup_close_ int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);
}

// Groups with processes in them stay: the kernel refuses.
static void remove_group(int parent, const char *name)
{
    unlinkat(parent, name, AT_REMOVEDIR);
}

// Whether a process can really enter the group: tries it in a child.
static bool can_enter(int descriptor)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(pwrite(descriptor, "0", 1, 0) != 1);
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

static bool set_limit(const char *path, const struct controller *controller, bool unified)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)controller->limit);
    return write_text(path, controller->file[unified], text);
}

static int try_group(const char *path, const char *parent, const struct controller *controller,
                     bool unified)
{
    char procs[4096], enable[32];
    if (mkdir(path, 0755) < 0)
        return -1;
    snprintf(enable, sizeof enable, "+%s", controller->name);
    bool limited = set_limit(path, controller, unified);
    if (!limited && unified && write_text(parent, "cgroup.subtree_control", enable))
        limited = set_limit(path, controller, unified);
    snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
    int descriptor = limited ? open(procs, O_WRONLY | O_CLOEXEC) : -1;
    if (descriptor >= 0 && can_enter(descriptor))
        return descriptor;
    if (descriptor >= 0)
        close(descriptor);
    rmdir(path);
    return -1;
}

// Sets the limit in a group that was made already, if it has the controller, too.
static bool share_group(struct groups *groups, const struct controller *controller)
{
    for (size_t i = 0; i < groups->count; i++)
        if (set_limit(groups->paths[i], controller, true))
            return true;
    return false;
}

static struct error *make_group(struct groups *groups, const struct controller *controller,
                                bool *ret_made)
{
    static unsigned number;
    _cleanup_(hierarchy_deinit) struct hierarchy hierarchy = {0};
    bool found;
    *ret_made = share_group(groups, controller);
    if (*ret_made)
        return NULL;
    TRY(find_hierarchy(controller->name, &hierarchy, &found));
    while (found) {
        _cleanup_(buffer_deinit) struct buffer parent = {0}, path = {0};
        TRY(buffer_printf(&parent, "%s%s", hierarchy.mount, hierarchy.own));
        TRY(buffer_printf(&path, "%s/" PREFIX "%s-%u", parent.data, stale_owner(), ++number));
        stale_each(parent.data, PREFIX, false, remove_group);
        int descriptor = try_group(path.data, parent.data, controller, hierarchy.unified);
        if (descriptor >= 0) {
            groups->paths[groups->count] = TAKE(path.data);
            groups->descriptors[groups->count++] = descriptor;
            *ret_made = true;
            return NULL;
        }
        char *slash = strrchr(hierarchy.own, '/');
        if (slash == NULL || !controller->asked)
            return NULL;
        *slash = '\0';
    }
    return NULL;
}

struct error *groups_new(const struct sandbox_limits *limits, uint64_t extra, bool asked,
                         bool *ret_processes, bool *ret_memory, struct groups **ret_groups)
{
    struct controller processes = {
        "pids", {"pids.max", "pids.max"}, limits->processes + extra, asked};
    struct controller memory = {
        "memory", {"memory.limit_in_bytes", "memory.max"}, limits->memory_bytes, true};
    struct groups *groups = calloc(1, sizeof *groups);
    if (groups == NULL)
        return error_no_memory();
    bool made[2] = {false, false};
    struct error *error = NULL;
    if (limits->processes != 0)
        error = make_group(groups, &processes, &made[0]);
    if (error == NULL && limits->memory_bytes != 0)
        error = make_group(groups, &memory, &made[1]);
    if (error != NULL) {
        groups_free(groups, true);
        return error;
    }
    groups->descriptors[groups->count] = -1;
    for (size_t i = 0; made[1] && i < groups->count; i++)
        write_text(groups->paths[i], "memory.swap.max",
                   "0"); // swap would lift the limit
    *ret_processes = made[0];
    *ret_memory = made[1];
    *ret_groups = groups;
    return NULL;
}

void groups_free(struct groups *groups, bool removing)
{
    if (groups == NULL)
        return;
    for (size_t i = 0; i < groups->count; i++) {
        close(groups->descriptors[i]);
        // The last process was waited for, but may not have left the group yet.
        for (int j = 0; removing && rmdir(groups->paths[i]) < 0 && errno == EBUSY && j < 200; j++)
            clock_sleep(GROUP_REMOVAL_PAUSE_NS);
        free(groups->paths[i]);
    }
    free(groups);
}

const int *groups_descriptors(const struct groups *groups)
{
    return groups == NULL || groups->count == 0 ? NULL : groups->descriptors;
}

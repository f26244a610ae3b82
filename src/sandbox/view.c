// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the root of one run, in a copy of the stage. See view.h.
#include "sandbox/view.h"

#include "base/cleanup.h"
#include "sandbox/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// The changes of a run are in memory. More than this would endanger the machine, so the trial sees
// a full disk then.
#define LAYER_OPTIONS "mode=755,size=25%"

static struct error *mount_error(const char *what)
{
    return error_from_errno(errno, "cannot mount %s for a trial", what);
}

static int make_paths(const struct view *view, unsigned layer)
{
    for (size_t i = 0; i < view->paths.count; i++) {
        const struct view_path *way = &view->paths.items[i];
        char path[PATH_MAX];
        if (way->layer != layer)
            continue;
        snprintf(path, sizeof path, "/layer/u%u%s", layer, way->path);
        if ((mkdir(path, 0700) < 0 && errno != EEXIST) || chmod(path, way->mode & 07777) < 0)
            return errno;
    }
    return 0;
}

int view_mount_overlay(const struct view *view, const struct view_part *part, const char *target)
{
    char upper[32], work[32], options[256], lower[PATH_MAX];
    snprintf(upper, sizeof upper, "/layer/u%u", part->number);
    snprintf(work, sizeof work, "/layer/w%u", part->number);
    if (mkdir(upper, 0755) < 0 || mkdir(work, 0755) < 0)
        return errno;
    if (!view->own_users && chown(upper, part->uid, part->gid) < 0)
        return errno;
    if (chmod(upper, part->mode & 07777) < 0)
        return errno;
    int code = make_paths(view, part->number);
    if (code != 0)
        return code;
    // The lower directory is named "." because its path may contain what mount options cannot.
    if ((size_t)snprintf(lower, sizeof lower, "/old%s", part->path) >= sizeof lower)
        return ENAMETOOLONG;
    if (chdir(lower) < 0)
        return errno;
    snprintf(options, sizeof options, "lowerdir=.,upperdir=%s,workdir=%s%s", upper, work,
             view->options);
    int result = mount("ordeal", target, "overlay", MS_NODEV | part->flags, options);
    code = result < 0 ? errno : 0;
    return chdir("/") < 0 && code == 0 ? errno : code;
}

// Whether this part is shown in this run.
static bool is_shown(const struct view_part *part, const struct view_request *request)
{
    bool is_tmp = strcmp(part->path, "/tmp") == 0;
    if (path_below(part->path, "/tmp") && !(is_tmp && part->kind == VIEW_LINK))
        return request->show_tmp;
    if (path_below(part->path, "/dev/shm"))
        return false; // build_devices() shows it
    return true;
}

// Shows what has taken the place of a file or directory since it was planned: compilers and editors
// write a new file and give it the name of the old one. A link does not count.
static int bind_successor(const struct view_part *part, const char *place)
{
    char path[PATH_MAX];
    struct stat status;
    if ((size_t)snprintf(path, sizeof path, "/old%s", part->path) >= sizeof path)
        return -1;
    _cleanup_close_ int tree = (int)syscall(SYS_open_tree, AT_FDCWD, path,
                                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
                                                AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
    if (tree < 0 || fstat(tree, &status) < 0 ||
        (status.st_mode & S_IFMT) != (part->mode & S_IFMT) ||
        syscall(SYS_move_mount, tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -1;
    return view_readonly(place, false);
}

static struct error *build_part(const struct view *view, const struct view_part *part)
{
    char place[PATH_MAX], copy[PATH_MAX], source[32];
    if ((size_t)snprintf(place, sizeof place, "/new%s", part->path) >= sizeof place)
        return error_new("%s is too long a name", part->path);
    int result = 0;
    bool root = part->path[0] == '\0';
    switch (part->kind) {
    case VIEW_LINK:
        result = symlink(part->target, place);
        break;
    case VIEW_DIRECTORY:
        if (root && (mkdir("/layer/skeleton", part->mode) < 0 ||
                     mount("/layer/skeleton", "/new", NULL, MS_BIND, NULL) < 0))
            return mount_error("/");
        result = root ? 0 : mkdir(place, part->mode);
        break;
    case VIEW_BIND:
        snprintf(source, sizeof source, "/ro/%u", part->number);
        result = mount(source, place, NULL, MS_BIND | MS_REC, NULL);
        if (result < 0 && errno == ENOENT)
            result = bind_successor(part, place);
        break;
    case VIEW_OVERLAY:
        errno = view_mount_overlay(view, part, place);
        result = errno == 0 ? 0 : -1;
        break;
    case VIEW_COPY:
        if ((size_t)snprintf(copy, sizeof copy, "/old%s", view->copy) >= sizeof copy)
            return error_new("%s is too long a name", view->copy);
        result = mount(copy, place, NULL, MS_BIND, NULL);
        break;
    }
    return result < 0 ? mount_error(root ? "/" : part->path) : NULL;
}

// Makes something to mount a part on, in a root that is built from parts.
static struct error *make_place(const struct view_part *part)
{
    char place[PATH_MAX];
    snprintf(place, sizeof place, "/new%s", part->path);
    if (part->kind == VIEW_LINK || part->kind == VIEW_DIRECTORY || part->path[0] == '\0')
        return NULL;
    int result = S_ISDIR(part->mode) ? mkdir(place, 0755) : mknod(place, S_IFREG | 0444, 0);
    return result < 0 && errno != EEXIST ? mount_error(part->path) : NULL;
}

// Whether a part that could not be built has been removed outside since it was planned, such as a
// file in /tmp. Then it has no place inside either.
static bool is_gone(const struct view_part *part)
{
    char path[PATH_MAX];
    struct stat status;
    if ((size_t)snprintf(path, sizeof path, "/old%s", part->path) >= sizeof path ||
        lstat(path, &status) == 0 || errno != ENOENT)
        return false;
    snprintf(path, sizeof path, "/new%s", part->path);
    if (S_ISDIR(part->mode))
        rmdir(path);
    else
        unlink(path);
    return true;
}

static struct error *build_parts(const struct view *view, const struct view_request *request)
{
    bool skeleton = view->parts.items[0].kind == VIEW_DIRECTORY;
    for (size_t i = 0; i < view->early; i++) {
        const struct view_part *part = &view->parts.items[i];
        if (!is_shown(part, request)) {
            if (skeleton && strcmp(part->path, "/tmp") == 0 && mkdir("/new/tmp", 01777) < 0)
                return mount_error("/tmp");
            continue;
        }
        if (skeleton)
            TRY(make_place(part));
        struct error *error = build_part(view, part);
        if (error != NULL && !is_gone(part))
            return error;
        error_free(error);
    }
    return NULL;
}

static struct error *private_directory(const char *layer, const char *place)
{
    if (mkdir(layer, 01777) < 0)
        return mount_error(place);
    if (mount(layer, place, NULL, MS_BIND | MS_NOSUID | MS_NODEV, NULL) < 0)
        return mount_error(place + strlen("/new"));
    return NULL;
}

static struct error *build_devices(const struct view *view, const struct view_request *request)
{
    if (mount("/dev", "/new/dev", NULL, MS_BIND | MS_REC, NULL) < 0)
        return mount_error("/dev");
    if (mount("devpts", "/new/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") < 0)
        return mount_error("/dev/pts");
    for (size_t i = 0; request->show_shm && i < view->parts.count; i++)
        if (strcmp(view->parts.items[i].path, "/dev/shm") == 0)
            return build_part(view, &view->parts.items[i]);
    return private_directory("/layer/shm", "/new/dev/shm");
}

// Mounts /proc, with the kernel's switches read-only: writing them takes user id 0 and no
// capability. The kernel refuses a proc that a trial mounts itself, since that would show what
// these mounts cover.
static struct error *build_processes(const struct view *view)
{
    static const char *const switches[] = {"/new/proc/sys", "/new/proc/sysrq-trigger",
                                           "/new/proc/irq", "/new/proc/bus", "/new/proc/fs"};
    if (mount("proc", "/new/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return mount_error("/proc");
    if (view->uid != 0)
        return NULL;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (mount(switches[i], switches[i], NULL, MS_BIND, NULL) < 0) {
            if (errno == ENOENT)
                continue;
            return mount_error(switches[i] + strlen("/new"));
        }
        if (mount(NULL, switches[i], NULL,
                  MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
            return mount_error(switches[i] + strlen("/new"));
    }
    return NULL;
}

// Makes the place for a file or directory of ours that only the outside has, and the directories on
// the way.
static struct error *make_place_for(char *place, bool directory)
{
    for (char *at = place + strlen("/new/"); (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        int result = mkdir(place, 0755);
        *at = '/';
        if (result < 0 && errno != EEXIST)
            return error_from_errno(errno, "cannot make a place for %s", place + strlen("/new"));
    }
    int file = directory ? mkdir(place, 0755)
                         : open(place, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file < 0)
        return error_from_errno(errno, "cannot make a place for %s", place + strlen("/new"));
    if (!directory)
        close(file);
    return NULL;
}

// Builds the copy of the working directory and what is mounted in it.
static struct error *build_copy(const struct view *view)
{
    for (size_t i = view->early; i < view->parts.count; i++) {
        const struct view_part *part = &view->parts.items[i];
        char place[PATH_MAX];
        struct stat status;
        if ((size_t)snprintf(place, sizeof place, "/new%s", part->path) < sizeof place &&
            part->kind != VIEW_LINK && lstat(place, &status) < 0)
            TRY(make_place_for(place, S_ISDIR(part->mode)));
        TRY(build_part(view, part));
    }
    return NULL;
}

static struct error *show_file(const char *path)
{
    char place[PATH_MAX], source[PATH_MAX];
    struct stat status;
    if ((size_t)snprintf(place, sizeof place, "/new%s", path) >= sizeof place ||
        (size_t)snprintf(source, sizeof source, "/old%s", path) >= sizeof source)
        return error_new("%s is too long a name", path);
    if (stat(source, &status) < 0)
        return error_from_errno(errno, "cannot show %s to a trial", path);
    bool directory = S_ISDIR(status.st_mode);
    bool readable_only = (status.st_mode & 0222) == 0;
    if (lstat(place, &status) < 0)
        TRY(make_place_for(place, directory));
    if (mount(source, place, NULL, MS_BIND, NULL) < 0 ||
        (readable_only && view_readonly(place, false) < 0))
        return error_from_errno(errno, "cannot show %s to a trial", path);
    return NULL;
}

// Enters the root. Afterwards nothing leads back to the stage.
static struct error *enter_root(void)
{
    if (chdir("/new") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return error_from_errno(errno, "cannot enter the private file system");
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return error_from_errno(errno, "cannot leave the file system");
    return NULL;
}

static struct error *open_root(int *ret_root)
{
    *ret_root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_root < 0 ? error_from_errno(errno, "cannot open the private root") : NULL;
}

struct error *view_expose(int *ret_root)
{
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        return mount_error("/proc");
    return open_root(ret_root);
}

struct error *view_build(const struct view *view, const struct view_request *request, int *ret_root,
                         int *ret_layers)
{
    if (mount("ordeal", "/layer", "tmpfs", MS_NOSUID | MS_NODEV, LAYER_OPTIONS) < 0)
        return mount_error("a tmpfs");
    TRY(build_parts(view, request));
    if (!request->show_tmp)
        TRY(private_directory("/layer/tmp", "/new/tmp"));
    TRY(build_devices(view, request));
    if (mount("/sys", "/new/sys", NULL, MS_BIND | MS_REC, NULL) < 0)
        return mount_error("/sys");
    TRY(build_processes(view));
    TRY(build_copy(view));
    for (char *const *visible = request->visible; visible != NULL && *visible != NULL; visible++)
        TRY(show_file(*visible));
    _cleanup_close_ int layers = open("/layer", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (layers < 0)
        return error_from_errno(errno, "cannot open the layers");
    TRY(enter_root());
    TRY(open_root(ret_root));
    *ret_layers = layers;
    layers = -1;
    return NULL;
}

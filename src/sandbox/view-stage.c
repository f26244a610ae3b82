// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares the stage: the namespaces and mounts that are made once for all runs of a slot. See
// view.h.
#include "sandbox/view.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

struct error *view_warn(struct view *view, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int size = vasprintf(&text, format, args);
    va_end(args);
    char **place = size < 0 ? NULL : ARRAY_ADD(&view->warnings);
    if (place == NULL)
        return error_no_memory();
    *place = text;
    return NULL;
}

int view_readonly(const char *path, bool devices)
{
    struct mount_attr attributes = {.attr_set =
                                        MOUNT_ATTR_RDONLY | (devices ? 0 : MOUNT_ATTR_NODEV)};
    return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes,
                        sizeof attributes);
}

// Whether a file is ours. Owners that are not in our user namespace all look the same, and may look
// like us. Only the owner may open a file with O_NOATIME, so that is tried.
bool view_owns(const struct view *view, const char *path)
{
    if (!view->own_users)
        return true;
    int file = open(path, O_RDONLY | O_NOATIME | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0)
        close(file);
    return file >= 0;
}

// In a user namespace, directories of other users are ours in the upper layer. There we must be
// allowed what we are allowed outside, and no more.
mode_t view_mode(const struct view *view, const char *path, mode_t mode)
{
    if (view_owns(view, path))
        return mode;
    mode_t allowed = (access(path, R_OK) == 0 ? 4 : 0) | (access(path, W_OK) == 0 ? 2 : 0) |
                     (access(path, X_OK) == 0 ? 1 : 0);
    return (mode & ~(mode_t)0777) | allowed << 6 | allowed << 3 | allowed;
}

static struct error *write_file(const char *path, const char *format, unsigned a, unsigned b)
{
    char text[64];
    int size = snprintf(text, sizeof text, format, a, b);
    _cleanup_close_ int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, (size_t)size) != size)
        return error_from_errno(errno, "cannot write %s", path);
    return NULL;
}

static struct error *enter_namespaces(struct view *view)
{
    view->uid = geteuid();
    view->gid = getegid();
    view->options = ",redirect_dir=on";
    if (view->uid == 0 && unshare(CLONE_NEWNS) == 0)
        return NULL;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return errno == ENOSPC ? error_new("this user may not have namespaces: see "
                                           "/proc/sys/user/max_user_namespaces")
                               : error_from_errno(errno, "this user may not have namespaces");
    view->own_users = true;
    view->options = ",userxattr";
    TRY(write_file("/proc/self/setgroups", "deny", 0, 0));
    TRY(write_file("/proc/self/uid_map", "%u %u 1", view->uid, view->uid));
    return write_file("/proc/self/gid_map", "%u %u 1", view->gid, view->gid);
}

// Goes from a chroot to the root of our mount namespace. Otherwise a trial could leave the sandbox
// as one leaves a chroot: its root would lie inside that of the machine. If "/" is the namespace's
// root already, *ret_chroot stays -1; else it is the chroot's root, the caller's to close.
static struct error *leave_chroot(int *ret_chroot)
{
    struct statx before, now;
    _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (root < 0 || self < 0 ||
        statx(root, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &before) < 0)
        return error_from_errno(errno, "cannot look at /");
    if (setns(self, CLONE_NEWNS) < 0)
        return error_from_errno(errno, "cannot find the root of a mount namespace");
    if (statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &now) < 0)
        return error_from_errno(errno, "cannot look at /");
    if (before.stx_mnt_id == now.stx_mnt_id && before.stx_ino == now.stx_ino)
        return NULL;
    *ret_chroot = root;
    root = -1;
    return NULL;
}

// Shows the chroot's tree, with its mounts, in place of the machine's root.
static struct error *show_chroot(int chroot)
{
    _cleanup_close_ int tree =
        (int)syscall(SYS_open_tree, chroot, "",
                     AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 || umount2("/old", MNT_DETACH) < 0 ||
        syscall(SYS_move_mount, tree, "", AT_FDCWD, "/old", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return error_from_errno(errno, "cannot take the changed root along");
    return NULL;
}

static struct error *enter_stage(void)
{
    static const char *const places[] = {"/tmp", "/mnt", "/run", "/var"};
    _cleanup_close_ int chroot = -1;
    TRY(leave_chroot(&chroot));
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return error_from_errno(errno, "cannot make mounts private");
    size_t i = 0, count = sizeof places / sizeof *places;
    while (i < count && mount("ordeal", places[i], "tmpfs", MS_NOSUID, "mode=755") < 0)
        i++;
    if (i == count || chdir(places[i]) < 0)
        return error_from_errno(errno, "cannot mount a tmpfs");
    static const char *const directories[] = {"old", "new", "layer", "dev", "sys", "ro"};
    for (i = 0; i < sizeof directories / sizeof *directories; i++)
        if (mkdir(directories[i], 0755) < 0)
            return error_from_errno(errno, "cannot prepare a private root");
    if (syscall(SYS_pivot_root, ".", "old") < 0 || chdir("/") < 0)
        return error_from_errno(errno, "cannot enter a private root");
    return chroot < 0 ? NULL : show_chroot(chroot);
}

static struct error *make_device(const struct view *view, const char *name, unsigned major_number,
                                 unsigned minor_number)
{
    char path[32], outside[32];
    snprintf(path, sizeof path, "/dev/%s", name);
    snprintf(outside, sizeof outside, "/old/dev/%s", name);
    if (!view->own_users && mknod(path, S_IFCHR | 0666, makedev(major_number, minor_number)) == 0)
        return NULL;
    if (mknod(path, S_IFREG | 0666, 0) < 0 || mount(outside, path, NULL, MS_BIND, NULL) < 0)
        return error_from_errno(errno, "cannot make /dev/%s", name);
    return NULL;
}

static struct error *prepare_devices(const struct view *view)
{
    static const struct {
        const char *name;
        unsigned major_number, minor_number;
    } devices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                   {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
    static const char *const links[][2] = {{"/dev/fd", "/proc/self/fd"},
                                           {"/dev/stdin", "/proc/self/fd/0"},
                                           {"/dev/stdout", "/proc/self/fd/1"},
                                           {"/dev/stderr", "/proc/self/fd/2"},
                                           {"/dev/ptmx", "pts/ptmx"}};
    if (mount("ordeal", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755") < 0)
        return error_from_errno(errno, "cannot mount /dev");
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        TRY(make_device(view, devices[i].name, devices[i].major_number, devices[i].minor_number));
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlink(links[i][1], links[i][0]) < 0)
            return error_from_errno(errno, "cannot make %s", links[i][0]);
    if (mkdir("/dev/pts", 0755) < 0 || mkdir("/dev/shm", 0755) < 0)
        return error_from_errno(errno, "cannot prepare /dev");
    if (view_readonly("/dev", true) < 0)
        return error_from_errno(errno, "cannot make /dev read-only");
    return NULL;
}

static struct error *prepare_sysfs(void)
{
    if (mount("/old/sys", "/sys", NULL, MS_BIND | MS_REC, NULL) < 0 ||
        view_readonly("/sys", false) < 0)
        return error_from_errno(errno, "cannot make /sys read-only");
    return NULL;
}

// Warns of what a user namespace with one user and one group cannot do.
static struct error *warn_of_gaps(struct view *view, const char *directory)
{
    char path[4096];
    struct stat status;
    if (!view->own_users)
        return NULL;
    // Directories that replace others are marked by an attribute, which tmpfs has since Linux 6.6.
    if (setxattr("/layer", "user.ordeal", "y", 1, 0) < 0 && errno == EOPNOTSUPP)
        TRY(view_warn(view, "with this kernel and without root, a trial cannot make a directory "
                            "where it removed one"));
    if (view->copy == NULL &&
        (size_t)snprintf(path, sizeof path, "/old%s", directory) < sizeof path &&
        stat(path, &status) == 0 && status.st_gid != view->gid)
        TRY(view_warn(view,
                      "%s belongs to another group than yours: trials cannot change what is "
                      "there, unless it has your group",
                      directory));
    return NULL;
}

struct error *view_prepare(struct view *view, const char *directory, const char *copy)
{
    view->copy = copy;
    TRY(enter_namespaces(view));
    TRY(enter_stage());
    TRY(prepare_devices(view));
    TRY(prepare_sysfs());
    TRY(warn_of_gaps(view, directory));
    return view_plan(view, directory);
}

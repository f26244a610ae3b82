// SPDX-License-Identifier: GPL-3.0-or-later
// The table of function classes: %file and so on, with the names that strace gives them. A member
// of the C library has a row with a failure in prototypes.c; a test checks that, and that %file
// has all functions that take a path.
#include "scenario/tables.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "wire/name-regex.h"

#include <fnmatch.h>
#include <string.h>

// Names between blanks, sorted within a class.
struct function_class {
    const char *name;
    const char *functions; // of the C library
    const char *calls;     // of the kernel, x86-64 and i386
};

// clang-format off
static const struct function_class classes[] = {
    {"%file",
     "__open64_2 __open_2 access acct chdir chmod chown chroot creat creat64 dlopen execl execlp "
     "execv execve execvp faccessat fchmodat fchownat fopen fopen64 freopen freopen64 fstatat "
     "fstatat64 getcwd getxattr inotify_add_watch lchown link linkat listxattr lstat lstat64 mkdir "
     "mkdirat mkdtemp mkfifo mknod mkostemp mkstemp mkstemp64 mount open open64 openat openat64 "
     "opendir pathconf posix_spawn posix_spawnp readlink readlinkat realpath remove rename "
     "renameat renameat2 rmdir scandir setxattr stat stat64 statfs statvfs statx symlink symlinkat "
     "truncate truncate64 umount umount2 unlink unlinkat utime utimensat utimes",
     "access acct chdir chmod chown chroot creat execve execveat faccessat faccessat2 fchmodat "
     "fchownat fstatat64 futimesat getcwd getxattr inotify_add_watch lchown lgetxattr "
     "link linkat listxattr llistxattr lremovexattr lsetxattr lstat lstat64 mkdir mkdirat mknod "
     "mknodat mount name_to_handle_at newfstatat open openat openat2 pivot_root quotactl readlink "
     "readlinkat removexattr rename renameat renameat2 rmdir setxattr stat stat64 statfs statfs64 "
     "statx swapoff swapon symlink symlinkat truncate truncate64 umount umount2 unlink unlinkat "
     "uselib utime utimensat utimes"},
    {"%network",
     "__recv_chk __recvfrom_chk accept accept4 bind connect getaddrinfo gethostbyname getnameinfo "
     "getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmsg send sendmmsg "
     "sendmsg sendto setsockopt shutdown socket socketpair",
     "accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg "
     "recvmsg sendmmsg sendmsg sendto setsockopt shutdown socket socketpair"},
    {"%memory",
     "aligned_alloc asprintf calloc madvise malloc memalign mlock mmap mmap64 mprotect mremap msync "
     "munmap posix_memalign realloc reallocarray shmat strdup strndup valloc vasprintf",
     "brk madvise mbind mincore mlock mlock2 mlockall mmap mmap2 move_pages mprotect mremap msync "
     "munlock munlockall munmap pkey_mprotect remap_file_pages shmat shmdt"},
    {"%process",
     "execl execlp execv execve execvp fork kill pclose popen posix_spawn posix_spawnp "
     "pthread_create system vfork wait wait3 wait4 waitid waitpid",
     "clone clone3 execve execveat fork kill pidfd_open pidfd_send_signal rt_sigqueueinfo tgkill "
     "tkill vfork wait4 waitid waitpid"},
};
// clang-format on

size_t function_class_count(void)
{
    return sizeof classes / sizeof *classes;
}

const char *function_class_name(size_t index)
{
    return classes[index].name;
}

bool is_function_class(const char *word)
{
    return word[0] == '%';
}

static const struct function_class *find_class(const char *word)
{
    for (size_t i = 0; i < function_class_count(); i++)
        if (strcmp(classes[i].name, word) == 0)
            return &classes[i];
    return NULL;
}

struct error *function_class_check(const char *word)
{
    if (!is_function_class(word) || find_class(word) != NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer known = {0};
    for (size_t i = 0; i < function_class_count(); i++)
        TRY(buffer_printf(&known, "%s%s", i == 0 ? "" : ", ", classes[i].name));
    return error_new("there is no class of functions '%.60s'; there are %s", word, known.data);
}

bool function_class_next(const char *word, bool calls, size_t *at, char name[FUNCTION_NAME_SIZE])
{
    const struct function_class *class = find_class(word);
    const char *list = class == NULL ? "" : calls ? class->calls : class->functions;
    size_t size = strcspn(list + *at, " ");
    if (size == 0 || size >= FUNCTION_NAME_SIZE)
        return false;
    memcpy(name, list + *at, size);
    name[size] = '\0';
    *at += size + (list[*at + size] == ' ');
    return true;
}

bool function_class_has(const char *word, bool calls, const char *function)
{
    char name[FUNCTION_NAME_SIZE];
    for (size_t at = 0; function_class_next(word, calls, &at, name);)
        if (strcmp(name, function) == 0)
            return true;
    return false;
}

bool function_pattern_fits(const char *pattern, bool calls, const char *function)
{
    if (wire_is_regex(pattern))
        return wire_regex_fits(pattern, function);
    return fnmatch(pattern, function, 0) == 0 || function_class_has(pattern, calls, function);
}

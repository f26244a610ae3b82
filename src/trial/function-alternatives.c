// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the names of two functions without their decorations, then looks them up in a table of
// functions that do each other's work.
#include "trial/function-alternatives.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 64

static void cut_suffix(char *name, const char *suffix)
{
    size_t size = strlen(name), cut = strlen(suffix);
    if (size > cut && strcmp(name + size - cut, suffix) == 0)
        name[size - cut] = '\0';
}

// The name without what compilers and C libraries add to it, as in __open64_2, __isoc99_sscanf,
// __printf_chk, pwrite64. False if it is too long for such a name.
static bool core_name(const char *name, char core[NAME_SIZE])
{
    static const char *const prefixes[] = {"__isoc99_", "__isoc23_", "__"};
    bool decorated = false;
    for (size_t i = 0; !decorated && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            name += strlen(prefixes[i]);
            decorated = true;
        }
    if (strlen(name) >= NAME_SIZE)
        return false;
    strcpy(core, name);
    if (decorated) {
        cut_suffix(core, "_chk");
        cut_suffix(core, "_2");
    }
    cut_suffix(core, "64");
    return *core != '\0';
}

// `name` can do the work of `instead_of`.
static const struct {
    const char *name, *instead_of;
} alternatives[] = {
    {"openat", "open"},
    {"creat", "open"},
    {"fopen", "open"},
    {"fstatat", "stat"},
    {"fstatat", "lstat"},
    {"statx", "stat"},
    {"xstat", "stat"},
    {"fxstat", "fstat"},
    {"lxstat", "lstat"},
    {"faccessat", "access"},
    {"fchmodat", "chmod"},
    {"fchownat", "chown"},
    {"linkat", "link"},
    {"mkdirat", "mkdir"},
    {"mknodat", "mknod"},
    {"readlinkat", "readlink"},
    {"renameat", "rename"},
    {"renameat2", "rename"},
    {"symlinkat", "symlink"},
    {"unlinkat", "unlink"},
    {"unlinkat", "rmdir"},
    {"utimensat", "utimes"},
    {"pread", "read"},
    {"readv", "read"},
    {"preadv", "read"},
    {"fread", "read"},
    {"fread_unlocked", "read"},
    {"fread_unlocked", "fread"},
    {"copy_file_range", "read"},
    {"sendfile", "read"},
    {"splice", "read"},
    {"pwrite", "write"},
    {"writev", "write"},
    {"pwritev", "write"},
    {"fwrite", "write"},
    {"fwrite_unlocked", "write"},
    {"fwrite_unlocked", "fwrite"},
    {"copy_file_range", "write"},
    {"sendfile", "write"},
    {"splice", "write"},
    {"recvfrom", "recv"},
    {"recvmsg", "recv"},
    {"sendto", "send"},
    {"sendmsg", "send"},
    {"accept4", "accept"},
    {"dup2", "dup"},
    {"dup3", "dup2"},
    {"pipe2", "pipe"},
    {"epoll_create1", "epoll_create"},
    {"ppoll", "poll"},
    {"pselect", "select"},
    {"fdatasync", "fsync"},
    {"calloc", "malloc"},
    {"realloc", "malloc"},
    {"aligned_alloc", "malloc"},
    {"posix_memalign", "malloc"},
};

bool function_alternatives(const char *function, const char *other)
{
    char one[NAME_SIZE], two[NAME_SIZE];
    if (strcmp(function, other) == 0 || !core_name(function, one) || !core_name(other, two))
        return false;
    if (strcmp(one, two) == 0)
        return true;
    for (size_t i = 0; i < sizeof alternatives / sizeof *alternatives; i++)
        if ((strcmp(alternatives[i].name, one) == 0 &&
             strcmp(alternatives[i].instead_of, two) == 0) ||
            (strcmp(alternatives[i].name, two) == 0 &&
             strcmp(alternatives[i].instead_of, one) == 0))
            return true;
    return false;
}

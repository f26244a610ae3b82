// SPDX-License-Identifier: GPL-3.0-or-later
// Finds directories whose owner, a process named in the directory's name, does not live any more.
#include "base/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// How long an entry of another process namespace must be unchanged before its owner counts as dead:
// we cannot see those processes. A lock shows that the owner lives, but it is taken a moment after
// the entry is made.
#define LOCK_S    60
#define FOREIGN_S (7 * 24 * 3600)

// When a process was started, in clock ticks since boot; 0: not known.
static unsigned long long start_of(long pid)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *at = strrchr(text, ')'); // ends the name, which may hold any character
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

// Processes in containers and sandboxes see the same directories, but not the same process numbers.
static unsigned long long own_namespace(void)
{
    static pid_t known; // each process asks only once, since the answer is slow
    static unsigned long long number;
    struct stat facts;
    if (known != getpid())
        number = stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
    known = getpid();
    return number;
}

const char *stale_owner(void)
{
    static char owner[80];
    static pid_t known;
    if (known == getpid())
        return owner;
    known = getpid();
    unsigned long long start = start_of(known);
    int size = snprintf(owner, sizeof owner, "%ld", (long)known);
    if (start != 0)
        snprintf(owner + size, sizeof owner - (size_t)size, ".%llu.%llu", start, own_namespace());
    return owner;
}

static bool is_older(int parent, const char *name, time_t seconds)
{
    struct stat facts;
    return fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           facts.st_mtim.tv_sec < time(NULL) - seconds;
}

static bool is_stale(int parent, const char *name, const char *prefix, bool locked)
{
    const char *number = name + strlen(prefix);
    char *end;
    if (strncmp(name, prefix, strlen(prefix)) != 0 || !isdigit((unsigned char)*number))
        return false;
    size_t size = strlen(stale_owner());
    if (strncmp(number, stale_owner(), size) == 0 && number[size] == '-')
        return false; // our own
    long pid = strtol(number, &end, 10);
    unsigned long long start = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
    unsigned long long space = *end == '.' ? strtoull(end + 1, &end, 10) : 0;
    if (pid <= 0 || pid > INT_MAX || *end != '-')
        return false;
    if (space != 0 && space != own_namespace())
        return is_older(parent, name, locked ? LOCK_S : FOREIGN_S);
    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
        return true;
    unsigned long long other = start != 0 ? start_of(pid) : 0;
    return other != 0 && other != start;
}

void stale_each(const char *directory, const char *prefix, bool locked,
                void (*remove)(int parent, const char *name))
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (is_stale(dirfd(stream), entry->d_name, prefix, locked))
            remove(dirfd(stream), entry->d_name);
    closedir(stream);
}

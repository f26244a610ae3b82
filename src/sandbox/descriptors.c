// SPDX-License-Identifier: GPL-3.0-or-later
// Closes the gaps between the descriptors to keep, with one system call each.
#include "sandbox/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

void descriptors_close_but(int *kept, size_t count)
{
    if (count != 0)
        qsort(kept, count, sizeof *kept, by_number);
    unsigned next = 3;
    for (size_t i = 0; i < count; i++) {
        if (kept[i] < 0 || (unsigned)kept[i] < next)
            continue;
        if ((unsigned)kept[i] > next)
            syscall(SYS_close_range, next, (unsigned)kept[i] - 1, 0u);
        next = (unsigned)kept[i] + 1;
    }
    syscall(SYS_close_range, next, ~0u, 0u);
}

struct error *descriptors_close_own(int kept)
{
    DIR *stream = opendir("/proc/self/fd");
    if (stream == NULL)
        return error_from_errno(errno, "cannot look at the open files");
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        int descriptor = atoi(entry->d_name); // "." and ".." give 0
        if (descriptor > 2 && descriptor != kept && descriptor != dirfd(stream) &&
            (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0)
            close(descriptor);
    }
    closedir(stream);
    return NULL;
}

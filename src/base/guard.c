// SPDX-License-Identifier: GPL-3.0-or-later
// A few files at a time, known by their inodes: they are met under other names and through
// directories.
#include "base/guard.h"

#include <stddef.h>

#define GUARDED 64

static struct {
    dev_t device;
    ino_t inode;
} files[GUARDED];
static size_t count;

static size_t find(const struct stat *file)
{
    size_t i = 0;
    while (i < count && (files[i].device != file->st_dev || files[i].inode != file->st_ino))
        i++;
    return i;
}

void guard_add(const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0 || find(&file) < count || count == GUARDED)
        return;
    files[count].device = file.st_dev;
    files[count++].inode = file.st_ino;
}

void guard_remove(const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0)
        return;
    size_t i = find(&file);
    if (i < count)
        files[i] = files[--count];
}

bool guard_has(const struct stat *file)
{
    return find(file) < count;
}

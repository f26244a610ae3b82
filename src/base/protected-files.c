// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps a few files by their inodes, since code that walks directories meets them under other
// names.
#include "base/protected-files.h"

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

void protected_files_add(const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0 || find(&file) < count || count == GUARDED)
        return;
    files[count].device = file.st_dev;
    files[count++].inode = file.st_ino;
}

void protected_files_remove(const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0)
        return;
    size_t i = find(&file);
    if (i < count)
        files[i] = files[--count];
}

bool protected_files_has(const struct stat *file)
{
    return find(file) < count;
}

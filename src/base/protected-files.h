// SPDX-License-Identifier: GPL-3.0-or-later
// A list of files that other code in this process must not open and close: closing any descriptor
// of a file ends all record locks that the process has on it, and an open database relies on such
// locks. Children inherit the list.
#ifndef ORDEAL_BASE_PROTECTED_FILES_H
#define ORDEAL_BASE_PROTECTED_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

// Adds a file. Does nothing if it does not exist, or if there are 64 files already.
void protected_files_add(const char *path);
void protected_files_remove(const char *path);
bool protected_files_has(const struct stat *file);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Files of this process that nobody in it may open and close behind the back of who works with
// them: closing any descriptor of a file ends all record locks that the process has on it, and with
// those of a database goes its protection. Children inherit the list.
#ifndef ORDEAL_BASE_GUARD_H
#define ORDEAL_BASE_GUARD_H

#include <stdbool.h>
#include <sys/stat.h>

// A file that is there; nothing happens if it is not.
void guard_add(const char *path);
void guard_remove(const char *path);
bool guard_has(const struct stat *file);

#endif

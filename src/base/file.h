// SPDX-License-Identifier: GPL-3.0-or-later
// Writing files, and what goes with it.
#ifndef ORDEAL_BASE_FILE_H
#define ORDEAL_BASE_FILE_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>

// Last component of a path; the path itself if it ends with a slash.
const char *file_base_name(const char *path);

// The length of a library's file name without its ending: 4 of "libc.so.6". All of it if it has
// none.
size_t file_library_stem(const char *name);

// Writes everything; `name` is for the error.
_must_check_ struct error *file_write(int descriptor, const char *name, const struct buffer *text);

// A new file beside `path` under a name nobody can foresee, to be renamed to `path`. It did not
// exist before, and is no link.
_must_check_ struct error *file_beside(const char *path, int *ret_descriptor, char **ret_temporary);

// Gives a file new content: readers see the old or the new, never a part.
_must_check_ struct error *file_replace(const char *path, const struct buffer *text);

_must_check_ struct error *random_word(uint64_t *ret_word);

#endif

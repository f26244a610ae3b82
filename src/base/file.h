// SPDX-License-Identifier: GPL-3.0-or-later
// Writes files and takes their names apart.
#ifndef ORDEAL_BASE_FILE_H
#define ORDEAL_BASE_FILE_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>

// The last component of a path, within it; the path itself if it ends with a slash.
const char *file_base_name(const char *path);

// The length of a library's file name without ".so" and what follows: 4 for "libc.so.6". The whole
// length if there is no ".so".
size_t file_library_stem(const char *name);

// Writes the whole text; `name` is for the error.
_must_check_ struct error *file_write(int descriptor, const char *name, const struct buffer *text);

// Makes a new file beside `path`, which the caller renames to `path`. Its name cannot be guessed,
// it did not exist before, and it is no link. The caller closes the descriptor and frees the name.
_must_check_ struct error *file_beside(const char *path, int *ret_descriptor, char **ret_temporary);

// Replaces the content of a file. Readers see the old or the new content, never a part.
_must_check_ struct error *file_replace(const char *path, const struct buffer *text);

_must_check_ struct error *random_word(uint64_t *ret_word);

#endif

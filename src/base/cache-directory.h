// SPDX-License-Identifier: GPL-3.0-or-later
// Where Ordeal keeps what it can find out again: $XDG_CACHE_HOME/ordeal, or ~/.cache/ordeal.
#ifndef ORDEAL_BASE_CACHE_DIRECTORY_H
#define ORDEAL_BASE_CACHE_DIRECTORY_H

#include "base/error.h"

// The caller frees the path. NULL without a home directory.
_must_check_ struct error *cache_directory_find(char **ret_directory);
// Makes a directory, and the one above it.
_must_check_ struct error *cache_directory_make(const char *directory);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Where a region's file lives: a private directory in shared memory, or the user's journal file.
#ifndef ORDEAL_TRIAL_PLACE_H
#define ORDEAL_TRIAL_PLACE_H

#include "base/error.h"

#include <stdbool.h>

// A new empty file with an unguessable name, in a directory of its own that nobody else can list:
// programs of the trial that run as another user can open it, strangers cannot find it.
// `sweep`: what controllers that were killed left there is removed first.
_must_check_ struct error *place_shared(bool sweep, int *ret_file, char **ret_path,
                                        char **ret_directory);

// A new empty file beside `path` under a temporary name, to be renamed when it is complete: an
// older journal there stays whole for whoever still reads or maps it. *ret_path is absolute.
_must_check_ struct error *place_journal(const char *path, int *ret_file, char **ret_path,
                                         char **ret_temporary);

#endif

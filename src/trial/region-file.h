// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the file of a region: in a private directory in shared memory, or beside the journal that
// the user asked for. The caller gets the descriptor and the names, and frees both.
#ifndef ORDEAL_TRIAL_REGION_FILE_H
#define ORDEAL_TRIAL_REGION_FILE_H

#include "base/error.h"

#include <stdbool.h>

// Makes an empty file in a directory of its own, which only this user can enter. Programs of the
// trial that run as another user need a descriptor of it, or a place where it is mounted. With
// `sweep`, first removes what killed controllers left there. *place says where to begin, 0 at
// first, and is set to where to go on if there turns out to be too little room; the last place is
// REGION_FILE_PLACES - 1.
#define REGION_FILE_PLACES 3
_must_check_ struct error *region_file_make_shared(bool sweep, unsigned *place, int *ret_file,
                                                   char **ret_path, char **ret_directory);

// Makes an empty file beside `path` under a temporary name, which the caller renames when the file
// is complete. So an older journal stays whole for whoever still reads or maps it. *ret_path is
// `path` made absolute. Fails if `path` is no regular file.
_must_check_ struct error *region_file_make_journal(const char *path, int *ret_file,
                                                    char **ret_path, char **ret_temporary);

#endif

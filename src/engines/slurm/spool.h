// SPDX-License-Identifier: GPL-3.0-or-later
// The directory that the controller and the nodes share. Only its user may enter it. Files appear
// whole or not at all, and none is ever changed.
//   setup, campaign.db   what all trials have in common
//   run                  the script of a job
//   work/PIECE           trials that are one task of a job array
//   done/PIECE.WHO.N     results
//   nodes/NODE           what was found out about a node
//   output/JOB_TASK      what a task has printed
//   withdrawn            number: pieces up to it are to end early
#ifndef ORDEAL_ENGINES_SLURM_SPOOL_H
#define ORDEAL_ENGINES_SLURM_SPOOL_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_FILE_MOST (256u << 20)

struct spool {
    char *path;
};

// Makes the directory if it is not there. An error if it belongs to another user, or if others may
// enter it.
_must_check_ struct error *spool_make(const char *path, struct spool *ret_spool);
// One that is there.
_must_check_ struct error *spool_open(const char *path, struct spool *ret_spool);
void spool_deinit(struct spool *spool);

// "PATH/NAME", for the caller to free. NULL: no memory.
char *spool_file(const struct spool *spool, const char *name);
// Writes a file. When this returns, it is on disk.
_must_check_ struct error *spool_write(const struct spool *spool, const char *name,
                                       const struct buffer *content);
_must_check_ struct error *spool_read(const struct spool *spool, const char *name,
                                      struct buffer *ret_content);
bool spool_has(const struct spool *spool, const char *name);
void spool_remove(const struct spool *spool, const char *name);
// Names in a folder of the directory, without those that are being written.
_must_check_ struct error *spool_list(const struct spool *spool, const char *folder,
                                      struct words *names);
// The number that a name begins with, which ends with a dot or the name; 0: it does not.
uint64_t spool_number(const char *name);

#endif

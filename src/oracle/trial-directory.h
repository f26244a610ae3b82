// SPDX-License-Identifier: GPL-3.0-or-later
// The trial directory: what the user's oracle command sees of a run. It holds the files
//   stdout, stderr  of the workload, the first mebibyte of each
//   status          lines KEY=VALUE: outcome (exit, signal, timeout), status (exit status or signal
//                   number), seconds, stdout_bytes and stderr_bytes (of all that was written),
//                   reference (yes: a run without fault), spec (of the fault), seed
//   changes         what the run changed in the file system, a line "KIND PATH" each; KIND is
//                   file, directory, link, deleted or other; a newline in a path is written \n
#ifndef ORDEAL_ORACLE_TRIAL_DIRECTORY_H
#define ORDEAL_ORACLE_TRIAL_DIRECTORY_H

#include "base/error.h"
#include "oracle/outcome.h"

#define TRIAL_DIRECTORY_FILES 4

struct trial_directory;
// Makes the directory and its empty files. trial_directory_free() removes them, unless it is called
// in a forked process, which does not own them.
_must_check_ struct error *trial_directory_new(struct trial_directory **ret_directory);
void trial_directory_free(struct trial_directory *trial_directory);
const char *trial_directory_path(const struct trial_directory *trial_directory);
const char *trial_directory_file(const struct trial_directory *trial_directory,
                                 unsigned index); // absolute path

// Replaces the content of all files. The workload's result is a parameter of its own because the
// run does not have it yet. The run's artifacts are its changes. `spec` is NULL in a reference run.
_must_check_ struct error *trial_directory_write(struct trial_directory *trial_directory,
                                                 const struct sandbox_result *workload,
                                                 const struct outcome_run *run, const char *spec,
                                                 uint64_t seed);

#endif

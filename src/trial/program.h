// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a trial: whether it can be intercepted at all, and the environment it needs.
#ifndef ORDEAL_TRIAL_PROGRAM_H
#define ORDEAL_TRIAL_PROGRAM_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "trial/region.h"

// An error says why calls of this command cannot be intercepted: it does not exist, is not ELF, is
// for another machine, statically linked, made by Go, or gains privileges.
_must_check_ struct error *program_check(const char *command);

// Same for a program that ran: why the runtime was not in it; NULL if it could be, or cannot be
// told. The caller frees it.
char *program_obstacle(const char *path);

// What is executed under the name of a command; empty where that cannot be told, or not for sure.
struct region_program program_foresee(const char *command);
// Both in one look, for a command that is about to run: what the headers of an ordinary program
// say is believed, so that damage further inside is left to the loader to find.
_must_check_ struct error *program_look(const char *command, struct region_program *ret_program);
void program_forget(struct region_program *program);

// DIRECTORY-OF-THIS-EXECUTABLE/RELATIVE if it is there; *ret_path is left alone otherwise.
_must_check_ struct error *program_beside_executable(const char *relative, char **ret_path);
// The runtime that belongs to this executable.
_must_check_ struct error *program_runtime(char **ret_path);

// LD_PRELOAD of every process: the runtime, the scenario's plug-ins, and what `environment` has.
_must_check_ struct error *program_preload(const struct scenario *scenario, const char *runtime,
                                           char *const *environment, char **ret_preload);

// `environment` with what the runtime needs; its texts must outlive the list.
_must_check_ struct error *program_environment(char *const *environment, const char *preload,
                                               const char *region, char ***ret_environment);
void program_environment_free(char ***environment);

#endif

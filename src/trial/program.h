// SPDX-License-Identifier: GPL-3.0-or-later
// The program of a trial: whether it can be intercepted, which file it is, and the environment that
// it needs.
#ifndef ORDEAL_TRIAL_PROGRAM_H
#define ORDEAL_TRIAL_PROGRAM_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "trial/region.h"

// Fails if calls of this command cannot be intercepted. The error says why: it does not exist, is
// not ELF, is for another machine, statically linked, made by Go, or gains privileges.
_must_check_ struct error *program_check(const char *command);

// The same for a program that has run: why the runtime could not be loaded into it. NULL if it
// could be, or if nothing is known. The caller frees the text.
char *program_obstacle(const char *path);

// Whether system calls of a command can be made to fail: it is for this processor and gains no
// privileges.
bool program_can_be_traced(const char *command);

// Whether it is a program in Go.
bool program_is_go(const char *command);

// The file that is executed under the name of a command; empty if that is not certain. The caller
// releases it with region_program_deinit().
struct region_program program_identify(const char *command);
// program_check() and program_identify() at once, for a command that is about to run. It reads only
// the headers of an ordinary program, so the loader will find damage further inside.
_must_check_ struct error *program_check_and_identify(const char *command,
                                                      struct region_program *ret_program);
void region_program_deinit(struct region_program *program);

// DIRECTORY-OF-THIS-EXECUTABLE/RELATIVE, to be freed; *ret_path stays as it is if there is no such
// file. Fails only when memory is short.
_must_check_ struct error *program_beside_executable(const char *relative, char **ret_path);
// The path of the runtime that belongs to this executable, to be freed. Fails if it is not found.
_must_check_ struct error *program_runtime(char **ret_path);

// The same for the tracer of system calls (src/tracer).
_must_check_ struct error *program_tracer(char **ret_path);
// The same for the tool of Valgrind (src/interface/tool).
_must_check_ struct error *program_interface_tool(char **ret_path);

// The value of LD_PRELOAD for every process, to be freed: the runtime, the scenario's plug-ins, and
// what `environment` has. Fails if a plug-in cannot be loaded or a path does not fit into
// LD_PRELOAD.
_must_check_ struct error *program_preload(const struct scenario *scenario, const char *runtime,
                                           char *const *environment, char **ret_preload);

// `environment` with the variables that the runtime needs. The list points to the texts of
// `environment`, which must outlive it.
_must_check_ struct error *program_environment(char *const *environment, const char *preload,
                                               const char *region, char ***ret_environment);
void program_environment_free(char ***environment);

#endif

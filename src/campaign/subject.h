// SPDX-License-Identifier: GPL-3.0-or-later
// Facts about a campaign's command, environment, machine and program, as texts for the store. The
// caller frees the texts.
#ifndef ORDEAL_CAMPAIGN_SUBJECT_H
#define ORDEAL_CAMPAIGN_SUBJECT_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"

// Parses a definition written by definition_write(), and adds to the ignored files those of the
// store and those that stdout and stderr go to. They may be in the working directory and change all
// the time.
_must_check_ struct error *subject_definition(const char *text, const char *store_path,
                                              struct definition *ret_definition);

// The workload's command, quoted for a shell.
_must_check_ struct error *subject_command(const struct definition *definition, char **ret_text);
// The workload's environment as a JSON array.
_must_check_ struct error *subject_environment(const struct definition *definition,
                                               char **ret_text);
// "Linux 6.1.0, 2 processors".
_must_check_ struct error *subject_machine(char **ret_text);
// The program that the command runs: "SIZE MTIME BUILD-ID PATH". NULL if it cannot be found.
_must_check_ struct error *subject_program(const struct definition *definition, char **ret_text);
// A sentence about how the program has changed, or NULL if it is the same. `then` and `now` may be
// NULL.
_must_check_ struct error *subject_program_changed(const char *then, const char *now,
                                                   char **ret_sentence);

#endif

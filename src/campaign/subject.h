// SPDX-License-Identifier: GPL-3.0-or-later
// Facts about what a campaign is run on, as texts for the store.
#ifndef ORDEAL_CAMPAIGN_SUBJECT_H
#define ORDEAL_CAMPAIGN_SUBJECT_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"

// A copy for runs of ours: the store's own files, which may lie in the working directory and change
// all the time, are not compared. `text` is the definition as definition_write() gives it.
_must_check_ struct error *subject_definition(const char *text, const char *store_path,
                                              struct definition *ret_definition);

// The workload's command as a shell would show it.
_must_check_ struct error *subject_command(const struct definition *definition, char **ret_text);
// Its environment as a JSON array.
_must_check_ struct error *subject_environment(const struct definition *definition,
                                               char **ret_text);
// "Linux 6.1.0, 2 processors".
_must_check_ struct error *subject_machine(char **ret_text);
// The program the command runs: "SIZE MTIME BUILD-ID PATH". NULL if it cannot be found.
_must_check_ struct error *subject_program(const struct definition *definition, char **ret_text);
// What has become of the program: a sentence, or NULL if it is the same. Either may be NULL.
_must_check_ struct error *subject_program_changed(const char *then, const char *now,
                                                   char **ret_sentence);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Facts about a campaign's command, machine and program, as texts for the store. The
// caller frees the texts.
#ifndef ORDEAL_CAMPAIGN_SUBJECT_H
#define ORDEAL_CAMPAIGN_SUBJECT_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/campaign.h"
#include "definition/definition.h"

// Parses a definition of a store or written by definition_write(), puts in the secrets that it
// refers to, and adds to the ignored files those of the store and those that stdout and stderr go
// to. They may be in the working directory and change all the time. An error names a secret that
// is not in the environment.
_must_check_ struct error *subject_definition(const char *text, const char *store_path,
                                              struct definition *ret_definition);

// The workload's command, quoted for a shell, with "$NAME" in place of secrets.
_must_check_ struct error *subject_command(const struct definition *definition, char **ret_text);
// "Linux 6.1.0, 2 processors".
_must_check_ struct error *subject_machine(char **ret_text);
// The program that the command runs: "SIZE MTIME BUILD-ID PATH". NULL if it cannot be found.
_must_check_ struct error *subject_program(const struct definition *definition, char **ret_text);

// Whether the program is the one that it was. A program that was rebuilt to the same bytes is the
// same. Without a build ID, only its size and time can tell.
struct subject_change {
    enum build_state build;
    char *build_id_before, *build_id_now; // NULL: it has none, or is not known
    char *sentence;                       // what has changed, or NULL
};
// `then` and `now` are of subject_program(), and may be NULL.
_must_check_ struct error *subject_program_compare(const char *then, const char *now,
                                                   struct subject_change *ret_change);
void subject_change_deinit(struct subject_change *change);

#endif

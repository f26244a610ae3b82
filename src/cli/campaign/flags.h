// SPDX-License-Identifier: GPL-3.0-or-later
// From the command lines of `ordeal campaign` and `ordeal test` to a definition. Errors are for the
// user.
#ifndef ORDEAL_CLI_CAMPAIGN_FLAGS_H
#define ORDEAL_CLI_CAMPAIGN_FLAGS_H

#include "base/error.h"
#include "cli/campaign/options.h"
#include "definition/definition.h"

#include <stdbool.h>

struct campaign_arguments {          // the command line without the options of the command itself
    const struct option_list *flags; // as in struct campaign_settings
    bool sweep;
    bool test; // the command is `ordeal test`, which has other defaults
    bool no_project_file;
    const char *file; // or NULL
    char **command;   // after "--", ends with NULL; or NULL
};

// Reads the project's file and the given one, then applies the flags. *ret_seeded: the seed was
// given. The caller frees the definition.
_must_check_ struct error *campaign_define(const struct campaign_arguments *words,
                                           struct definition *ret_definition, bool *ret_seeded);
// Applies the flags to an existing definition.
_must_check_ struct error *campaign_redefine(const struct campaign_arguments *words,
                                             struct definition *definition);
// The last value of an option that is given, or NULL.
const char *campaign_given(const struct campaign_arguments *words, const char *option);
// Whether anything besides limits is given.
bool campaign_is_defined(const struct campaign_arguments *words);
// Applies only the limits among the flags.
_must_check_ struct error *campaign_set_limits(const struct campaign_arguments *words,
                                               struct definition *definition);
// Why `ordeal test` uses another injector than it usually does; NULL: it does not. The caller frees
// the text.
char *campaign_replaced_injector(const struct campaign_arguments *words,
                                 const struct definition *definition);
// Splits "FILE -- COMMAND". The results point into `operands`.
_must_check_ struct error *campaign_operands(char **operands, const char **ret_file,
                                             char ***ret_command);

#endif

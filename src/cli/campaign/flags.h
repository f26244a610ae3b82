// SPDX-License-Identifier: GPL-3.0-or-later
// From the command lines of `ordeal campaign` and `ordeal test` to a definition.
#ifndef ORDEAL_CLI_CAMPAIGN_FLAGS_H
#define ORDEAL_CLI_CAMPAIGN_FLAGS_H

#include "base/error.h"
#include "cli/campaign/options.h"
#include "definition/definition.h"

#include <stdbool.h>

struct campaign_words { // what stands on the command line besides options of the command itself
    const struct option_list *flags; // as of struct campaign_settings
    bool sweep;
    bool test;        // the command is `ordeal test`, which has defaults of its own
    const char *file; // or NULL
    char **command;   // after "--", ends with NULL; or NULL
};

// File first, flags over it. *ret_seeded: the seed was given.
_must_check_ struct error *campaign_define(const struct campaign_words *words,
                                           struct definition *ret_definition, bool *ret_seeded);
// Flags over a definition that is there already.
_must_check_ struct error *campaign_redefine(const struct campaign_words *words,
                                             struct definition *definition);
// Whether anything but limits is given.
bool campaign_is_defined(const struct campaign_words *words);
// The limits among the flags.
_must_check_ struct error *campaign_set_limits(const struct campaign_words *words,
                                               struct definition *definition);
// Splits "FILE -- COMMAND".
_must_check_ struct error *campaign_operands(char **operands, const char **ret_file,
                                             char ***ret_command);

#endif

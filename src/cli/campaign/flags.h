// SPDX-License-Identifier: GPL-3.0-or-later
// From the command lines of `ordeal campaign` and `ordeal test` to a definition.
#ifndef ORDEAL_CLI_CAMPAIGN_FLAGS_H
#define ORDEAL_CLI_CAMPAIGN_FLAGS_H

#include "base/error.h"
#include "cli/command.h"
#include "definition/definition.h"

#include <stdbool.h>

struct campaign_words { // what stands on the command line besides options of the command itself
    const struct option_list *flags; // that say something about the definition, in order
    bool sweep, persistent, private_network, long_lived;
    bool automatic;   // faults are chosen, and other things that a test wants by default
    bool paranoid;    // among all errors there are
    bool coverage;    // measure how much recovery code is executed
    const char *file; // or NULL
    char **command;   // after "--", ends with NULL; or NULL
};

// The option that sets a key; so that a table of options and this one cannot drift apart.
struct campaign_flag {
    const char *option;
    const char *key;      // as definition_set() takes it; NULL: "KEY=VALUE" is the value
    const char *injector; // the key is a parameter of this injector, which it chooses
    bool limit;           // says how long or how many at once: may change when a campaign goes on
};
extern const struct campaign_flag campaign_flags[]; // ends with a NULL option

// File first, flags over it. *ret_seeded: the seed was given.
struct error *campaign_define(const struct campaign_words *words, struct definition *ret_definition,
                              bool *ret_seeded);
// Flags over a definition that is there already.
struct error *campaign_redefine(const struct campaign_words *words, struct definition *definition);
// Whether anything but limits is given.
bool campaign_is_defined(const struct campaign_words *words);
// The limits among the flags.
struct error *campaign_set_limits(const struct campaign_words *words,
                                  struct definition *definition);
// Splits "FILE -- COMMAND".
struct error *campaign_operands(char **operands, const char **ret_file, char ***ret_command);

#endif

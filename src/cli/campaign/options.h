// SPDX-License-Identifier: GPL-3.0-or-later
// Options of `ordeal campaign` and `ordeal test`. Each command has a list of rows: its own options,
// options that both have (one table, campaign_options), and the options of the injectors.
#ifndef ORDEAL_CLI_CAMPAIGN_OPTIONS_H
#define ORDEAL_CLI_CAMPAIGN_OPTIONS_H

#include "cli/command.h"
#include "injector/injector.h"

#include <stdbool.h>
#include <stddef.h>

struct campaign_settings {    // the first member of both commands' settings
    struct option_list flags; // options that set keys of the definition, in the given order
    const char *store, *fail_on, *proof;
    bool resume, quiet, verbose, no_project_file;
};

struct campaign_option {
    struct option option; // its field is one of struct campaign_settings
    // The key it sets, for definition_set(); NULL: none, or the argument names it
    const char *key;
    const char *value;               // the value to set, for an option without argument
    bool limit;                      // may change when a campaign is resumed
    const struct injector *injector; // the option chooses this injector, and `key` is its parameter
};
extern const struct campaign_option campaign_options[]; // ends with a NULL name

// A row has exactly one of the first three members.
struct campaign_row {
    struct option own;
    const char *shared; // the name of one of campaign_options
    bool of_injectors;  // all options that injectors have for this command
    const char *help;   // for a shared option, replaces the help of the table; or NULL
};

// Like command_option() for such a list. `test`: the list is that of `ordeal test`.
bool campaign_option_at(const struct campaign_row *rows, size_t count, bool test, size_t index,
                        struct option *ret_option);
// What an option in `flags` means. `name` is that of a shared option or of an injector's.
struct campaign_option campaign_option_named(bool test, const char *name);

#endif

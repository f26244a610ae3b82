// SPDX-License-Identifier: GPL-3.0-or-later
// Options of `ordeal campaign` and `ordeal test`. Each command has a list of rows: options of its
// own, options that both know (one table, campaign_options), and the injectors' options.
#ifndef ORDEAL_CLI_CAMPAIGN_OPTIONS_H
#define ORDEAL_CLI_CAMPAIGN_OPTIONS_H

#include "cli/command.h"
#include "injector/injector.h"

#include <stdbool.h>
#include <stddef.h>

struct campaign_settings {    // the first member of both commands' settings
    struct option_list flags; // options that set keys of the definition, in the order given
    const char *store, *fail_on;
    bool resume, quiet;
};

struct campaign_option {
    struct option option; // its field is one of struct campaign_settings
    const char *key;   // that it sets, as definition_set() takes it; NULL: none, or the argument's
    const char *value; // to set it to, of an option without argument
    bool limit;        // may change when a campaign goes on
    const struct injector *injector; // the key is a parameter of this one, which it chooses
};
extern const struct campaign_option campaign_options[]; // ends with a NULL name

// A row of a command's list has one of the first three members.
struct campaign_row {
    struct option own;
    const char *shared; // the name of one of campaign_options
    bool of_injectors;  // all options that the injectors have for this command
    const char *help;   // of a shared one, instead of the table's; or NULL
};

// As command_option(), of such a list; `test` says that it is the one of `ordeal test`.
bool campaign_option_at(const struct campaign_row *rows, size_t count, bool test, size_t index,
                        struct option *ret_option);
// What an option in `flags` means; `name` is a shared one's or an injector's.
struct campaign_option campaign_option_named(bool test, const char *name);

#endif

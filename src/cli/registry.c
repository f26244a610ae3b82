// SPDX-License-Identifier: GPL-3.0-or-later
// The list of commands. A new one needs its cmd-VERB.c, a line here, one in registry.h and one in
// meson.build.
#include "cli/registry.h"

#include "base/suggestion.h"

#include <string.h>

const struct command *const commands[] = {
    &cmd_test,       &cmd_run,     &cmd_campaign,  &cmd_replay,   &cmd_report, &cmd_show,
    &cmd_list,       &cmd_profile, &cmd_callsites, &cmd_cc,       &cmd_cxx,    &cmd_faults,
    &cmd_fidelity,   &cmd_mutate,  &cmd_generate,  &cmd_accuracy, &cmd_trace,  &cmd_propagate,
    &cmd_guest,      &cmd_mce,     &cmd_load,      &cmd_stress,   &cmd_doctor, &cmd_coordinate,
    &cmd_completion, &cmd_help,    NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    // Not for people: no list has it.
    return strcmp(name, cmd_engine.name) == 0 ? &cmd_engine : NULL;
}

struct error *unknown_command(const char *name)
{
    struct suggestion meant = suggestion_start(name, strlen(name));
    for (size_t i = 0; commands[i] != NULL; i++)
        suggestion_offer(&meant, commands[i]->name);
    if (meant.best != NULL)
        return error_new("there is no command '%s'; did you mean '%s'?", name, meant.best);
    return error_new("there is no command '%s'; 'ordeal --help' lists them", name);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal help [COMMAND]: prints the overview, or the help of one command.
#include "cli/registry.h"

#include "base/cleanup.h"

static struct error *run(const void *settings, char **operands, int *ret_status)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (operands[0] == NULL) {
        TRY(help_overview(&text));
    } else {
        const struct command *command = command_find(operands[0]);
        if (command == NULL)
            return unknown_command(operands[0]);
        TRY(help_command(command, &text));
    }
    return output_print(&text);
}

const struct command cmd_help = {
    .name = "help",
    .summary = "Say what the commands do and which options they take.",
    .operands = "[COMMAND]",
    .most = 1,
    .run = run,
};

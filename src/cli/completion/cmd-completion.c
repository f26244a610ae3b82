// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal completion SHELL: prints a completion script, made from the commands' tables.
#include "cli/completion/completion.h"
#include "cli/registry.h"

#include "base/cleanup.h"

#include <string.h>

static const struct {
    const char *shell;
    struct error *(*write)(struct buffer *text);
} shells[] = {
    {"bash", completion_bash},
    {"zsh", completion_zsh},
    {"fish", completion_fish},
};

static struct error *run(const void *settings, char **operands, int *ret_status)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(operands[0], shells[i].shell) != 0)
            continue;
        TRY(shells[i].write(&text));
        return output_print(&text);
    }
    return error_new("there is no completion for '%s'; there is one for bash, zsh and fish",
                     operands[0]);
}

static const char *const words[] = {"bash", "zsh", "fish", NULL};

const struct command cmd_completion = {
    .name = "completion",
    .summary = "Print a script that lets the shell complete commands, options and values.",
    .operands = "bash|zsh|fish",
    .details = "  source <(ordeal completion bash)\n"
               "  ordeal completion zsh >~/.zfunc/_ordeal       # a directory of $fpath\n"
               "  ordeal completion fish >~/.config/fish/completions/ordeal.fish\n",
    .least = 1,
    .most = 1,
    .words = words,
    .run = run,
};

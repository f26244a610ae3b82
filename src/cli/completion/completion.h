// SPDX-License-Identifier: GPL-3.0-or-later
// Scripts that let a shell complete ordeal's commands, options and their values. One file for each
// shell; all are made from the commands' tables and from completion_values().
#ifndef ORDEAL_CLI_COMPLETION_COMPLETION_H
#define ORDEAL_CLI_COMPLETION_COMPLETION_H

#include "cli/command.h"

// What may stand behind an option, where that is a few words.
struct completion_values {
    struct buffer words; // with blanks between them; empty if they are not known
    bool list;           // several may be given, with commas between them
};
_must_check_ struct error *completion_values(const struct option *option,
                                             struct completion_values *ret_values);
static inline void completion_values_deinit(struct completion_values *values)
{
    buffer_deinit(&values->words);
}
bool completion_takes_file(const struct option *option);
// Whether an operand of the command is a finding of the store: F1, F2, ...
bool completion_takes_finding(const struct command *command);

// The shell commands that print the findings of a store, whose number and title sed leaves.
#define COMPLETION_FINDINGS "report --lines"

_must_check_ struct error *completion_bash(struct buffer *text);
_must_check_ struct error *completion_zsh(struct buffer *text);
_must_check_ struct error *completion_fish(struct buffer *text);

#endif

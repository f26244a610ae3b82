// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of a campaign: its workload is run with each of them, and a fault is tried with one.
#ifndef ORDEAL_INJECTOR_INPUTS_H
#define ORDEAL_INJECTOR_INPUTS_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"

#include <stdint.h>

#define INPUTS_MOST 10000u

struct command_list {
    ARRAY(struct words) items;
};
_must_check_ struct error *command_list_add(struct command_list *list, struct words **ret_command);
void command_list_clear(struct command_list *list);
void command_list_deinit(struct command_list *list);

struct inputs { // at most one of both is used
    struct command_list commands;
    struct words files; // each takes the place of "{}" in the command, or is its standard input
};
// 0: there are none, and the workload is run as it is.
uint32_t inputs_count(const struct inputs *inputs);
// The command of input `index`, counted from 0. *ret_input is the file for its standard input, or
// what it was. The command's words are copied.
_must_check_ struct error *inputs_get(const struct inputs *inputs, const struct words *command,
                                      uint32_t index, struct words *ret_command,
                                      const char **ret_input);
// Adds the regular files of a directory, by name.
_must_check_ struct error *inputs_list_files(const char *directory, struct words *files);

#endif

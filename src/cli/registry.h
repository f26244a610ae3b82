// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of all commands.
#ifndef ORDEAL_CLI_REGISTRY_H
#define ORDEAL_CLI_REGISTRY_H

#include "cli/command.h"

extern const struct command cmd_test, cmd_run, cmd_campaign, cmd_replay, cmd_report, cmd_show,
    cmd_list, cmd_profile, cmd_callsites, cmd_cc, cmd_cxx, cmd_faults, cmd_fidelity, cmd_mutate,
    cmd_generate, cmd_accuracy, cmd_trace, cmd_propagate, cmd_guest, cmd_mce, cmd_load, cmd_stress,
    cmd_doctor, cmd_coordinate, cmd_completion, cmd_help, cmd_engine;

#endif

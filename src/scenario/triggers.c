// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of stock triggers: one line each, in the order of `ordeal list triggers`.
#include "scenario/trigger-kind.h"

static const struct trigger_kind *const triggers[] = {
    &trigger_count,  &trigger_match,   &trigger_once,          &trigger_random, &trigger_time,
    &trigger_caller, &trigger_stack,   &trigger_new_stack,     &trigger_arg,    &trigger_fd,
    &trigger_path,   &trigger_var,     &trigger_holding_mutex, &trigger_after,  &trigger_inside,
    &trigger_thread, &trigger_process, &trigger_ancestry,      &trigger_remote, &trigger_plugin,
};
#define TRIGGERS (sizeof triggers / sizeof *triggers)

const struct vocabulary trigger_vocabulary = {triggers, TRIGGERS, "'ordeal list triggers'"};

size_t scenario_trigger_count(void)
{
    return TRIGGERS;
}

const struct scenario_trigger *scenario_trigger(size_t index)
{
    return &triggers[index]->about;
}

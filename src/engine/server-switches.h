// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of a server that lives long, switched on and off while it runs: in the region, which the
// server has mapped as well.
#ifndef ORDEAL_ENGINE_SERVER_SWITCHES_H
#define ORDEAL_ENGINE_SERVER_SWITCHES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct switches { // all 0: there are none
    uint8_t *map;
    size_t size, first, journal;
    uint64_t count, journal_capacity;
};
// Before the server starts. `file` as of server_orders; "": there are none. All are off then.
struct error *switches_open(struct switches *switches, const char *file, uint64_t first,
                            uint64_t count);
void switches_set(const struct switches *switches, uint32_t rule, bool on);
uint64_t switches_fired(const struct switches *switches, uint32_t rule); // how often, so far
// Processes that died of a signal so far, also those that the server replaces without a word.
uint32_t switches_crashes(const struct switches *switches);

#endif

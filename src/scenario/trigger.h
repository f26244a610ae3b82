// SPDX-License-Identifier: GPL-3.0-or-later
// The stock triggers: one descriptor each, in trigger-*.c, and one line in the registry.
#ifndef ORDEAL_SCENARIO_TRIGGER_H
#define ORDEAL_SCENARIO_TRIGGER_H

#include <stddef.h>

struct scenario_trigger {
    const char *name;
    const char *syntax;  // "random(P)"
    const char *summary; // one line
    const char *description;
    const char *example; // a whole --inject argument that compiles
};
size_t scenario_trigger_count(void);
const struct scenario_trigger *scenario_trigger(size_t index);

#endif

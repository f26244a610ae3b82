// SPDX-License-Identifier: GPL-3.0-or-later
// Which faults of the injector `library` can be switched on and off in a long-lived server: those
// that fire at any call from a place. Other faults fire at one call in a process's life, and need a
// life of their own.
#include "injector/rule-switches.h"
#include "injectors/library/internal.h"
#include "store/spec.h"

#include <string.h>

static bool fits(const char *spec)
{
    static const char once[] = " and once";
    size_t size = strlen(spec), part;
    return size >= strlen(once) && strcmp(spec + size - strlen(once), once) == 0 &&
           spec_part(spec, 1, &part) == NULL;
}

const struct injector_switches library_switches = {
    .fits = fits,
    .open = rule_switches_open,
    .close = rule_switches_close,
    .set = rule_switches_set,
    .fired = rule_switches_fired,
    .crashes = rule_switches_crashes,
};

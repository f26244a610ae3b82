// SPDX-License-Identifier: GPL-3.0-or-later
// Describes faults of the injector `syscall`, and the command lines that repeat them.
#include "base/cleanup.h"
#include "injector/fault-text.h"
#include "injector/reproduce.h"
#include "injectors/syscall/internal.h"

#include <string.h>

struct error *system_calls_describe(void *self, const char *fault,
                                    const struct injection *injection, struct buffer *text)
{
    (void)self;
    (void)injection;
    // A spec has the library that a fault lacks.
    static const char prefix[] = WIRE_SYSTEM_CALLS ":";
    TRY(buffer_printf(text, "the system call "));
    return fault_text_put(
        strncmp(fault, prefix, sizeof prefix - 1) == 0 ? fault + sizeof prefix - 1 : fault, text);
}

struct error *system_calls_reproduce(void *data, const char *spec, uint64_t seed,
                                     uint64_t timeout_ns, char **ret_command)
{
    const struct system_calls *self = data;
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(system_calls_scenario(spec, &scenario));
    TRY(reproduce_put_run(&text, &self->setup, timeout_ns));
    if (scenario_uses_seed(scenario))
        TRY(buffer_printf(&text, "--seed %llu ", (unsigned long long)seed));
    TRY(reproduce_put_rules(&text, spec));
    TRY(buffer_printf(&text, " -- "));
    TRY(reproduce_put_command(&text, &self->setup));
    *ret_command = TAKE(text.data);
    return NULL;
}

const struct injector_stored system_calls_stored = {.split = fault_text_split};

// SPDX-License-Identifier: GPL-3.0-or-later
// Frees observations, and selects single injections from them.
#include "injector/observation.h"

#include <stdlib.h>

static void injection_deinit(struct injection *injection)
{
    char *const texts[] = {injection->fault,       injection->function, injection->module,
                           injection->file,        injection->symbol,   injection->program,
                           injection->stack,       injection->library,  injection->stream,
                           injection->read_stream, injection->parent};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    code_places_deinit(&injection->frames);
}

static void observed_call_deinit(struct observed_call *observed)
{
    for (size_t i = 0; i < observed->calls.count; i++) {
        free(observed->calls.items[i].function);
        free(observed->calls.items[i].module);
        free(observed->calls.items[i].symbol);
    }
    ARRAY_DEINIT(&observed->calls);
    ARRAY_DEINIT(&observed->results);
}

void observation_deinit(struct observation *observation)
{
    observed_call_deinit(&observation->observed);
    for (size_t i = 0; i < observation->injections.count; i++)
        injection_deinit(&observation->injections.items[i]);
    ARRAY_DEINIT(&observation->injections);
    free(observation->crash);
    free(observation->crash_stack);
    free(observation->crash_key);
    free(observation->system_libraries);
    code_places_deinit(&observation->crash_frames);
    free(observation->system_reason);
    free(observation->system_cause);
    free(observation->note);
    *observation = (struct observation){0};
}

void observation_keep_rule(struct observation *observation, uint32_t rule, uint64_t fired)
{
    size_t kept = 0;
    for (size_t i = 0; i < observation->injections.count; i++) {
        struct injection *injection = &observation->injections.items[i];
        if (injection->rule == rule)
            observation->injections.items[kept++] = *injection;
        else
            injection_deinit(injection);
    }
    observation->injections.count = kept;
    observation->activations = fired;
}

const struct injection *injection_second(const struct observation *observation)
{
    if (observation->injections.count != 0 && observation->injections.items[0].observed)
        return NULL;
    for (size_t i = 1; i < observation->injections.count; i++)
        if (observation->injections.items[i].rule != observation->injections.items[0].rule)
            return &observation->injections.items[i];
    return NULL;
}

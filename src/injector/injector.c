// SPDX-License-Identifier: GPL-3.0-or-later
// See injector.h: what all injectors share.
#include "injector/injector.h"

#include <stdlib.h>
#include <string.h>

const struct injector *injector_find(const char *name)
{
    for (size_t i = 0; injectors[i] != NULL; i++)
        if (strcmp(injectors[i]->name, name) == 0)
            return injectors[i];
    return NULL;
}

void candidate_deinit(struct candidate *candidate)
{
    char *const texts[] = {candidate->spec,   candidate->type, candidate->function,
                           candidate->module, candidate->file, candidate->component,
                           candidate->series};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    *candidate = (struct candidate){0};
}

struct store_candidate candidate_row(const struct candidate *candidate, int64_t campaign,
                                     uint64_t number, bool selected)
{
    return (struct store_candidate){
        .campaign = campaign,
        .number = number,
        .spec = candidate->spec,
        .type = candidate->type,
        .function = candidate->function,
        .module = candidate->module,
        .file = candidate->file,
        .line = candidate->line,
        .component = candidate->component,
        .series = candidate->series,
        .position = candidate->position,
        .weight = candidate->weight,
        .selected = selected,
        .content = candidate->content,
    };
}

static void injection_deinit(struct injection *injection)
{
    char *const texts[] = {injection->fault, injection->function, injection->module,
                           injection->file,  injection->symbol,   injection->program,
                           injection->stack};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

void observation_deinit(struct observation *observation)
{
    for (size_t i = 0; i < observation->injections.count; i++)
        injection_deinit(&observation->injections.items[i]);
    ARRAY_DEINIT(&observation->injections);
    free(observation->crash);
    free(observation->crash_stack);
    free(observation->crash_key);
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
    for (size_t i = 1; i < observation->injections.count; i++)
        if (observation->injections.items[i].rule != observation->injections.items[0].rule)
            return &observation->injections.items[i];
    return NULL;
}

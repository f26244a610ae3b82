// SPDX-License-Identifier: GPL-3.0-or-later
// The list of engines. A new one needs its descriptor, a line here, and its word in the schema's
// row `engine`.
#include "engine/engine.h"

#include "engine/pool.h"

#include <stdlib.h>
#include <string.h>

const struct engine *const engines[] = {
    &engine_local,
    NULL,
};

const struct engine *engine_find(const char *name)
{
    for (size_t i = 0; engines[i] != NULL; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

void engine_result_deinit(struct engine_result *result)
{
    judgement_deinit(&result->judgement);
    observation_deinit(&result->observation);
    free(result->stack);
    free(result->output);
    buffer_deinit(&result->trace);
    *result = (struct engine_result){0};
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Frees results.
#include "engine/engine.h"

#include <stdlib.h>

void engine_result_deinit(struct engine_result *result)
{
    judgement_deinit(&result->judgement);
    observation_deinit(&result->observation);
    free(result->stack);
    free(result->output);
    *result = (struct engine_result){0};
}

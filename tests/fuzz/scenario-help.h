// SPDX-License-Identifier: GPL-3.0-or-later
// What the fuzz targets of scenario readers share: whatever the bytes, an error or a plan that
// checks.
#ifndef ORDEAL_FUZZ_SCENARIO_HELP_H
#define ORDEAL_FUZZ_SCENARIO_HELP_H

#include "base/cleanup.h"
#include "scenario/scenario.h"
#include "wire/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct scenario *fuzz_scenario_new(void)
{
    struct scenario *scenario = NULL;
    if (scenario_new(&scenario) != NULL)
        abort();
    return scenario;
}

// What was read compiles, unless a plug-in's file is missing. Takes both over.
static inline void fuzz_scenario_end(struct scenario *scenario, struct error *error)
{
    if (error == NULL) {
        struct buffer plan = {0};
        error = scenario_compile(scenario, 1, &plan);
        if (error == NULL && wire_plan_check(plan.data, plan.size) != 0)
            abort();
        if (error != NULL && strstr(error_message(error), "ORDEAL_PLUGIN_PATH") == NULL)
            abort();
        buffer_deinit(&plan);
    }
    error_free(error);
    scenario_free(scenario);
}

#endif

// Fuzzes the reader of scenario files in XML: whatever the bytes, an error or a plan that checks.
#include "base/cleanup.h"
#include "scenario/scenario.h"
#include "wire/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = NULL;
    if (scenario_new(&scenario) != NULL)
        abort();
    struct error *error = scenario_add_xml(scenario, "fuzz.xml", (const char *)data, size);
    if (error == NULL) {
        struct buffer plan = {0};
        error = scenario_compile(scenario, 1, &plan);
        if (error == NULL && wire_plan_check(plan.data, plan.size) != 0)
            abort();
        if (error != NULL && strstr(error_message(error), "no file for plug-in") == NULL)
            abort();
        buffer_deinit(&plan);
    }
    error_free(error);
    scenario_free(scenario);
    return 0;
}

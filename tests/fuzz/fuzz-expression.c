// Fuzzes rules as written on the command line: whatever the text, an error or a plan that checks.
#include "base/cleanup.h"
#include "scenario/scenario.h"
#include "wire/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Every line is a rule of the same scenario.
static void add_lines(struct scenario *scenario, char *text)
{
    for (char *line = text, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        error_free(scenario_add_spec(scenario, line));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = NULL;
    char *text = strndup((const char *)data, size);
    if (text == NULL || scenario_new(&scenario) != NULL)
        abort();
    add_lines(scenario, text);
    struct buffer plan = {0};
    struct error *error = scenario_compile(scenario, 1, &plan);
    if (error == NULL && wire_plan_check(plan.data, plan.size) != 0)
        abort();
    if (error != NULL && strstr(error_message(error), "no file for plug-in") == NULL)
        abort();
    error_free(error);
    buffer_deinit(&plan);
    scenario_free(scenario);
    free(text);
    return 0;
}

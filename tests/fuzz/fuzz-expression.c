// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes rules as written on the command line.
#include "scenario-help.h"

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
    struct scenario *scenario = fuzz_scenario_new();
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        abort();
    add_lines(scenario, text);
    fuzz_scenario_end(scenario, NULL);
    free(text);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of scenario files in XML.
#include "scenario-help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = fuzz_scenario_new();
    fuzz_scenario_end(scenario, scenario_add_xml(scenario, "fuzz.xml", (const char *)data, size));
    return 0;
}

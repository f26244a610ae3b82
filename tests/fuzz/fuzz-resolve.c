// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a module with debugging information: queries, variables, and the symbolizer.
#include "base/cleanup.h"
#include "dwarf/symbolizer.h"
#include "scenario/resolve.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// One rule of each kind, on the names in the seeds.
static struct scenario *make_scenario(void)
{
    static const char *const specs[] = {
        "read=-1 when caller(leaf) and stack(inlined, \"mid*\", ..., ns::C::m)",
        "read=-1 when caller(seed.c:4) or caller(seed.c:12) or caller(\"fuzz-resolve\"+0x1010)",
        "read=-1 when var(list->next->in[2].c) == 1 and var(kept) == 1",
        "read=-1 when var(matrix[1][2]) == 2 and var(*node) == 1 and var(leaf::given) == 2",
        "read=-1 when var(local.value) == 1 and var(per_thread) == 1 and var(r) == 1",
    };
    struct scenario *scenario = NULL;
    error_free(scenario_new(&scenario));
    for (size_t i = 0; scenario != NULL && i < sizeof specs / sizeof specs[0]; i++)
        error_free(scenario_add_spec(scenario, specs[i]));
    return scenario;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scenario *scenario;
    if (scenario == NULL)
        scenario = make_scenario();
    _cleanup_close_ int file = memfd_create("fuzz-resolve", MFD_CLOEXEC);
    char path[64];
    if (scenario == NULL || file < 0 || write(file, data, size) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    error_free(resolve_module(scenario, path, path, &bytes));
    struct dwarf_symbolizer *symbolizer = NULL;
    error_free(dwarf_symbolizer_new(&symbolizer));
    for (uint64_t address = 0x1000; symbolizer != NULL && address < 0x1400; address += 64)
        dwarf_symbolizer_find(symbolizer, path, address);
    dwarf_symbolizer_free(symbolizer);
    return 0;
}

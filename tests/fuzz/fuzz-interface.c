// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of traces of library interfaces, and what works on them: the input is two
// traces without packing, or one that is compared with itself.
#include "interface/compare.h"
#include "report/interface/interface.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop(struct error *error)
{
    error_free(error);
}

static void compare(const struct trace_source *good, const struct trace_source *bad,
                    bool must_be_same)
{
    struct program_list programs[2] = {0};
    struct interface_comparison comparison = {0};
    struct buffer text = {0};
    drop(programs_find(good, &programs[0]));
    drop(programs_find(bad, &programs[1]));
    if (programs[0].programs.count > 0 && programs[1].programs.count > 0) {
        struct error *error = interface_compare(good, programs[0].programs.items[0], bad,
                                                programs[1].programs.items[0], &comparison);
        if (error == NULL && must_be_same && comparison.outcome != INTERFACE_SAME)
            abort();
        if (error == NULL) {
            drop(report_interface_comparison(&comparison, false, &text));
            drop(report_interface_comparison_json(&comparison, &text));
            interface_comparison_deinit(&comparison);
        }
        drop(error);
    }
    programs_deinit(&programs[0]);
    programs_deinit(&programs[1]);
    buffer_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t half = size / 2;
    struct trace_source whole = {.blocks = data, .size = size};
    struct trace_source good = {.blocks = data, .size = half};
    struct trace_source bad = {.blocks = data + half, .size = size - half};
    compare(&whole, &whole, true);
    compare(&good, &bad, false);
    return 0;
}

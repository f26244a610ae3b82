// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of trace files. What it accepts is printed, read again and compared.
#include "observe/trace.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace, again;
    struct error *error = trace_parse("fuzz", (const char *)data, size, &trace);
    if (error != NULL) {
        error_free(error);
        return 0;
    }
    struct buffer text = {0};
    struct trace_differences differences;
    if (trace_print(&trace, &text) != NULL || trace_parse("again", text.data, text.size, &again) ||
        trace_compare(&trace, &again, &differences) || differences.list.count != 0)
        abort();
    trace_differences_deinit(&differences);
    trace_deinit(&again);
    buffer_deinit(&text);
    trace_deinit(&trace);
    return 0;
}

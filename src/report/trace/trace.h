// SPDX-License-Identifier: GPL-3.0-or-later
// What traces say, and how two of them differ.
#ifndef ORDEAL_REPORT_TRACE_TRACE_H
#define ORDEAL_REPORT_TRACE_TRACE_H

#include "base/array.h"
#include "observe/trace.h"

// Appends one sentence for each difference.
_must_check_ struct error *report_trace_differences(const struct trace_differences *differences,
                                                    struct buffer *text);
// Appends JSON lines: an object for each call.
_must_check_ struct error *report_trace_json(const struct trace *trace, struct buffer *text);
// Appends JSON lines: an object for each difference.
_must_check_ struct error *
report_trace_differences_json(const struct trace_differences *differences, struct buffer *text);

#endif

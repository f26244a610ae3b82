// SPDX-License-Identifier: GPL-3.0-or-later
// The arguments of a visible call as a trace shows them.
#ifndef ORDEAL_OBSERVE_ARGUMENTS_H
#define ORDEAL_OBSERVE_ARGUMENTS_H

#include "base/array.h"
#include "observe/descriptors.h"
#include "observe/tracer.h"

// What is known of a call when it begins. The rest is known at its end.
struct call_start {
    struct tracer_call call;
    ARRAY(struct buffer) pieces; // one for each letter; empty: not shown, or not known yet
};
void call_start_deinit(struct call_start *start);

_must_check_ struct error *call_start_take(const struct surroundings *surroundings,
                                           const struct tracer_task *task,
                                           const struct tracer_call *call,
                                           struct call_start *ret_start);
// Appends the line of a call that has ended.
_must_check_ struct error *call_print(const struct tracer_task *task,
                                      const struct call_start *start, int64_t result,
                                      struct buffer *line);
// The line of a call that wrote these bytes.
_must_check_ struct error *call_print_recorded(const struct tracer_call *call,
                                               const char *descriptor, const void *data,
                                               size_t size, struct buffer *line);

#endif

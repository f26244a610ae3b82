// SPDX-License-Identifier: GPL-3.0-or-later
// The events of one program of a trace, in order.
#ifndef ORDEAL_INTERFACE_STREAM_H
#define ORDEAL_INTERFACE_STREAM_H

#include "base/map.h"
#include "interface/event.h"
#include "interface/trace-file.h"

// How to open a trace, again for each pass: a file, its content, or blocks in memory.
struct trace_source {
    const char *path;             // or NULL
    const void *content, *blocks; // one of them, or NULL
    size_t size;
};

// Which programs of a trace mapped a target library: their places in the order of starts.
struct program_list {
    ARRAY(uint32_t) programs;
};
_must_check_ struct error *programs_find(const struct trace_source *source,
                                         struct program_list *ret_list);
void programs_deinit(struct program_list *list);

struct stream;
_must_check_ struct error *stream_open(const struct trace_source *source, uint32_t program,
                                       struct stream **ret_stream);
// *ret_more is false at the end; then there is no event.
_must_check_ struct error *stream_next(struct stream *stream, struct event *ret_event,
                                       bool *ret_more);
void stream_close(struct stream *stream);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Trace files: a first line, then blocks packed with zstd. They are written and read block by
// block, so that their length costs no memory.
#ifndef ORDEAL_INTERFACE_TRACE_FILE_H
#define ORDEAL_INTERFACE_TRACE_FILE_H

#include "base/error.h"
#include "interface/format.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_writer;
// Writes to the descriptor, which stays the caller's. `name` is for errors.
_must_check_ struct error *trace_writer_new(int descriptor, const char *name,
                                            struct trace_writer **ret_writer);
_must_check_ struct error *trace_writer_add(struct trace_writer *writer,
                                            const struct interface_block *block);
_must_check_ struct error *trace_writer_finish(struct trace_writer *writer);
// Bytes that were written so far.
uint64_t trace_writer_size(const struct trace_writer *writer);
void trace_writer_free(struct trace_writer *writer);

struct trace_reader;
_must_check_ struct error *trace_reader_open(const char *path, struct trace_reader **ret_reader);
// Of unpacked blocks in memory, which stay the caller's.
_must_check_ struct error *trace_reader_of(const void *blocks, size_t size,
                                           struct trace_reader **ret_reader);
// Of the content of a file, which stays the caller's.
_must_check_ struct error *trace_reader_of_file(const void *content, size_t size,
                                                struct trace_reader **ret_reader);
// The next block, or NULL at the end. It is valid until the next call.
_must_check_ struct error *trace_reader_next(struct trace_reader *reader,
                                             const struct interface_block **ret_block);
const char *trace_reader_name(const struct trace_reader *reader);
void trace_reader_close(struct trace_reader *reader);

#endif

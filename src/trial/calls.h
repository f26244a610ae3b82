// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of a trial with record_calls: who called what from where, and how often. Only functions
// that have a rule are recorded ("read watch" is a rule). It owns its strings and may outlive the
// view.
#ifndef ORDEAL_TRIAL_CALLS_H
#define ORDEAL_TRIAL_CALLS_H

#include "base/array.h"
#include "base/error.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

// A process while it runs one program. After exec it is another entry with the same number, and its
// calls are counted from 1 again. A forked child continues its parent's counts.
struct calls_process {
    uint32_t number; // process(n) in conditions
    uint32_t pid;
    uint64_t ancestry;   // as ancestry() in conditions; 0: not known
    uint32_t image;      // 1 for its first program that made a call, 2 for the next, ...
    const char *program; // process("name") in conditions
};

struct calls_function {
    const char *name;
    const char *library; // path of the file that defines it; "" if unknown
};

// All calls of a function by one process from one site; with record_stacks, those with one stack.
struct calls_row {
    uint32_t process;   // index into processes
    uint32_t function;  // index into functions
    const char *module; // path of the caller's file; "" if unknown
    uint64_t offset;    // link-time address the call returns to; absolute without a module
    uint64_t stack;     // hash, the same for the same path through the same builds; 0: not recorded
    uint64_t count;
    uint64_t first; // occurrence number of the first call: `count` in conditions
    uint32_t kinds; // of descriptors, as in struct wire_call
    // Of writes below a stream: the occurrence number of the last one, and the descriptor. The
    // row's module and offset are then those of the stream.
    uint64_t last;
    uint32_t descriptor;
    // Where the stream (FILE) of the calls was opened. With offset 0 it is not known; without a
    // module it is a standard stream, and its descriptor the offset.
    const char *stream_module;
    uint64_t stream_offset;
};

// All calls of a function by one process: occurrences first, first + 1, … first + count - 1.
struct calls_total {
    uint32_t process, function;
    uint64_t count, first;
};

struct calls {
    ARRAY(struct calls_process) processes; // by number and image
    ARRAY(struct calls_function) functions;
    ARRAY(struct calls_row) rows;     // by process, then by first occurrence
    ARRAY(struct calls_total) totals; // by process, then by function
    uint64_t lost;                    // calls that found no room: rows and totals lack them
    ARRAY(char *) strings;
};

// Reads what targets wrote, which may be any bytes. Empty if the trial recorded no calls. Fails
// only when memory is short.
_must_check_ struct error *calls_read(const struct wire_view *view, struct calls *ret_calls);
void calls_deinit(struct calls *calls);

#endif

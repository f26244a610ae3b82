// SPDX-License-Identifier: GPL-3.0-or-later
// Traces: what a command did that unrelated processes can notice, process by process. They are
// recorded, kept in files and compared.
#ifndef ORDEAL_OBSERVE_TRACE_H
#define ORDEAL_OBSERVE_TRACE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_ARGUMENTS  8
#define TRACE_MOST_BYTES (256u << 20) // of a trace file

// How a process ended, in place of a call's name.
#define TRACE_EXITED "exited" // (STATUS)
#define TRACE_KILLED "killed" // (SIGNAL)

// A visible call. Arguments are as they stand in the file: "path", <descriptor>, 12 bytes HASH,
// flags, numbers.
struct trace_line {
    const char *text; // the whole line
    const char *call;
    const char *arguments[TRACE_ARGUMENTS];
    size_t argument_count;
};

struct trace_process {
    const char *name;    // r, r.1, r.1.2
    const char *program; // file name of the last one that it executed, as it stands in the file
    ARRAY(struct trace_line) lines;
};

struct trace {
    struct arena arena;
    ARRAY(struct trace_process) processes; // by name; those without a line are left out
};
void trace_deinit(struct trace *trace);

struct trace_options {
    char *const *command;
    char *const *environment;
    bool real; // clocks, process numbers, random numbers and addresses of the system
    // File name of a library whose calls are no part of what the program does; or NULL.
    const char *foreign;
};
// Runs the command to its end, and that of all it started. `ret_status` as waitpid() gives it.
_must_check_ struct error *trace_record(const struct trace_options *options,
                                        struct trace *ret_trace, int *ret_status);

// A start of the watched program with all that it starts, or the command.
struct trace_invocation {
    unsigned number; // in the order of starts, from 1
    struct trace trace;
    uint64_t ns;    // from exec to the end of its first process
    int status;     // of that, as waitpid() gives it; -1: not known
    bool activated; // see below
};
struct trace_watch {
    const char *program; // a path, relative to where the tracer is; NULL: the command is watched
    // Whether a fault was activated since this was called last. Which of several invocations that
    // run at the same time it was in is not known: then it was in all of them. May be NULL.
    bool (*activated)(void *data);
    struct error *(*begins)(void *data, unsigned number); // or NULL
    // The last process of an invocation has ended. The trace may be taken.
    struct error *(*ended)(void *data, struct trace_invocation *invocation);
    void *data;
};
// Runs a command that starts the watched program, by path or through a link, any number of times.
// Each start is a root r, with clocks and numbers of its own; whatever else the command does is not
// recorded, and is unrelated to it.
_must_check_ struct error *trace_record_each(const struct trace_options *options,
                                             const struct trace_watch *watch, int *ret_status);

// The text of a trace file.
_must_check_ struct error *trace_print(const struct trace *trace, struct buffer *text);
// Reads one; `name` is for errors, which name the line.
_must_check_ struct error *trace_parse(const char *name, const char *text, size_t size,
                                       struct trace *ret_trace);
_must_check_ struct error *trace_read(const char *path, struct trace *ret_trace);

// The size of the first of several texts that stand one behind the other.
size_t trace_text_size(const char *text);
// For keeping texts of traces.
_must_check_ struct error *trace_pack(const char *text, size_t size, struct buffer *packed);
_must_check_ struct error *trace_unpack(const void *packed, size_t size, struct buffer *text);

enum trace_change {
    TRACE_PROCESS_GONE, // only the first trace has it
    TRACE_PROCESS_NEW,
    TRACE_LINE_GONE,
    TRACE_LINE_NEW,
    TRACE_LINE_CHANGED, // the same call on the same thing, but not the same otherwise
};
struct trace_difference {
    enum trace_change change;
    const struct trace_process *process; // of the first trace, unless it is new
    const struct trace_line *old, *new;  // or NULL
};
struct trace_differences {
    ARRAY(struct trace_difference) list; // by process, then in the order of calls
};
// The differences point into both traces.
_must_check_ struct error *trace_compare(const struct trace *first, const struct trace *second,
                                         struct trace_differences *ret_differences);
void trace_differences_deinit(struct trace_differences *differences);

// For this room only.
_must_check_ struct error *trace_add_process(struct trace *trace, const char *name,
                                             const char *program, size_t *ret_index);
// Splits and keeps a line; *ret_problem says what is wrong with it, or is NULL.
_must_check_ struct error *trace_add_line(struct trace *trace, size_t process, const char *text,
                                          size_t size, const char **ret_problem);
// Puts processes in order and drops empty ones.
void trace_sort(struct trace *trace);
int trace_name_compare(const char *a, const char *b);

#endif

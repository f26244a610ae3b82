// SPDX-License-Identifier: GPL-3.0-or-later
// Traces in memory and in files. A file is text: one line per call below the line of its process.
// Its last line says how many there are, so that a file that was cut is noticed.
#include "observe/trace.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "ordeal trace 1"
#define BLANKS     "  " // before the line of a call

void trace_deinit(struct trace *trace)
{
    for (size_t i = 0; i < trace->processes.count; i++)
        ARRAY_DEINIT(&trace->processes.items[i].lines);
    ARRAY_DEINIT(&trace->processes);
    arena_deinit(&trace->arena);
}

struct error *trace_add_process(struct trace *trace, const char *name, const char *program,
                                size_t *ret_index)
{
    struct trace_process *process = ARRAY_ADD(&trace->processes);
    if (process == NULL)
        return error_no_memory();
    process->name = arena_copy(&trace->arena, name, strlen(name));
    process->program = arena_copy(&trace->arena, program, strlen(program));
    if (process->name == NULL || process->program == NULL)
        return error_no_memory();
    *ret_index = trace->processes.count - 1;
    return NULL;
}

// The end of an argument: a text and a descriptor end with their quote, all else before a comma.
static char *argument_end(char *at, char *last)
{
    char quote = *at == '"' ? '"' : *at == '<' ? '>' : '\0';
    if (quote == '\0')
        return at + strcspn(at, ",)");
    for (at++; at < last && *at != quote; at++)
        if (*at == '\\')
            at++;
    return at < last ? at + 1 : NULL;
}

// Cuts a copy of the line into its parts.
static const char *split(char *copy, size_t size, struct trace_line *line)
{
    char *last = copy + size - 1;
    size_t name = strspn(copy, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (name == 0 || copy[name] != '(' || *last != ')')
        return "expected a call, as in 'unlink(\"x\")'";
    copy[name] = '\0';
    line->call = copy;
    for (char *at = copy + name + 1; at < last;) {
        char *end = argument_end(at, last);
        if (end == NULL || end == at || (end < last && strncmp(end, ", ", 2) != 0))
            return "this argument does not end where it should";
        if (line->argument_count == TRACE_ARGUMENTS)
            return "no call has so many arguments";
        line->arguments[line->argument_count++] = at;
        bool more = end < last;
        if (more && end + 2 >= last)
            return "an argument is missing behind the last comma";
        *end = '\0';
        at = more ? end + 2 : last;
    }
    *last = '\0';
    return NULL;
}

struct error *trace_add_line(struct trace *trace, size_t process, const char *text, size_t size,
                             const char **ret_problem)
{
    struct trace_line line = {0};
    line.text = arena_copy(&trace->arena, text, size);
    char *copy = arena_copy(&trace->arena, text, size);
    if (line.text == NULL || copy == NULL)
        return error_no_memory();
    *ret_problem = size == 0 ? "expected a call" : split(copy, size, &line);
    if (*ret_problem != NULL)
        return NULL;
    struct trace_line *added = ARRAY_ADD(&trace->processes.items[process].lines);
    if (added == NULL)
        return error_no_memory();
    *added = line;
    return NULL;
}

int trace_name_compare(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        char *end_a, *end_b;
        if (*a < '0' || *a > '9' || *b < '0' || *b > '9') {
            if (*a != *b)
                return *a < *b ? -1 : 1;
            a++, b++;
            continue;
        }
        unsigned long long left = strtoull(a, &end_a, 10), right = strtoull(b, &end_b, 10);
        if (left != right)
            return left < right ? -1 : 1;
        a = end_a, b = end_b;
    }
    return *a != '\0' ? 1 : *b != '\0' ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
    return trace_name_compare(((const struct trace_process *)a)->name,
                              ((const struct trace_process *)b)->name);
}

void trace_sort(struct trace *trace)
{
    size_t kept = 0;
    for (size_t i = 0; i < trace->processes.count; i++)
        if (trace->processes.items[i].lines.count != 0)
            trace->processes.items[kept++] = trace->processes.items[i];
        else
            ARRAY_DEINIT(&trace->processes.items[i].lines);
    trace->processes.count = kept;
    if (kept != 0)
        qsort(trace->processes.items, kept, sizeof *trace->processes.items, by_name);
}

struct error *trace_print(const struct trace *trace, struct buffer *text)
{
    size_t calls = 0;
    TRY(buffer_printf(text, FIRST_LINE "\n"));
    for (size_t i = 0; i < trace->processes.count; i++) {
        const struct trace_process *process = &trace->processes.items[i];
        TRY(buffer_printf(text, "process %s \"%s\"\n", process->name, process->program));
        for (size_t j = 0; j < process->lines.count; j++)
            TRY(buffer_printf(text, BLANKS "%s\n", process->lines.items[j].text));
        calls += process->lines.count;
    }
    return buffer_printf(text, "end %zu\n", calls);
}

struct reading {
    const char *name; // of the file
    const char *text;
    size_t size, at;
    const char *line;
    size_t length;
};

static struct error *problem(const struct reading *reading, const char *what)
{
    return error_at(reading->name, reading->text, reading->size,
                    (size_t)(reading->line - reading->text), 1, "%s", what);
}

static bool next_line(struct reading *reading)
{
    if (reading->at >= reading->size)
        return false;
    reading->line = reading->text + reading->at;
    const char *end = memchr(reading->line, '\n', reading->size - reading->at);
    reading->length = end != NULL ? (size_t)(end - reading->line) : reading->size - reading->at;
    reading->at += reading->length + 1;
    return true;
}

static bool is_name(const char *text, size_t size)
{
    if (size == 0 || text[0] != 'r')
        return false;
    for (size_t i = 1; i < size;) {
        if (text[i++] != '.')
            return false;
        size_t digits = i;
        while (i < size && text[i] >= '0' && text[i] <= '9')
            i++;
        if (i == digits || i - digits > 9 || text[digits] == '0')
            return false;
    }
    return true;
}

static struct error *read_process(const struct reading *reading, struct trace *trace)
{
    const char *start = reading->line + 8, *end = reading->line + reading->length;
    const char *space = memchr(start, ' ', (size_t)(end - start));
    if (space == NULL || !is_name(start, (size_t)(space - start)) || end - space < 3 ||
        space[1] != '"' || end[-1] != '"')
        return problem(reading, "expected a process, as in 'process r.1 \"gzip\"'");
    const char *name = arena_copy(&trace->arena, start, (size_t)(space - start));
    const char *program = arena_copy(&trace->arena, space + 2, (size_t)(end - space) - 3);
    if (name == NULL || program == NULL)
        return error_no_memory();
    size_t count = trace->processes.count;
    if (count != 0 && trace_name_compare(trace->processes.items[count - 1].name, name) >= 0)
        return problem(reading, "this process should stand before the one above it");
    return trace_add_process(trace, name, program, &count);
}

static struct error *read_call(const struct reading *reading, struct trace *trace)
{
    const char *wrong;
    if (trace->processes.count == 0)
        return problem(reading, "a call before the first process");
    TRY(trace_add_line(trace, trace->processes.count - 1, reading->line + 2, reading->length - 2,
                       &wrong));
    return wrong != NULL ? problem(reading, wrong) : NULL;
}

static struct error *read_end(const struct reading *reading, const struct trace *trace)
{
    size_t calls = 0;
    char expected[64];
    for (size_t i = 0; i < trace->processes.count; i++)
        calls += trace->processes.items[i].lines.count;
    int size = snprintf(expected, sizeof expected, "end %zu", calls);
    if (reading->length != (size_t)size || memcmp(reading->line, expected, (size_t)size) != 0)
        return problem(reading, "the number of calls is not the one that the file has");
    return reading->at < reading->size ? problem(reading, "something stands behind this last line")
                                       : NULL;
}

struct error *trace_parse(const char *name, const char *text, size_t size, struct trace *ret_trace)
{
    _cleanup_(trace_deinit) struct trace trace = {0};
    struct reading reading = {.name = name, .text = text, .size = size, .line = text};
    if (!next_line(&reading) || reading.length != strlen(FIRST_LINE) ||
        memcmp(reading.line, FIRST_LINE, reading.length) != 0)
        return error_new("%s: this is no trace: it does not begin with '" FIRST_LINE "'", name);
    if (memchr(text, '\0', size) != NULL)
        return error_new("%s: a trace has no zero bytes", name);
    while (next_line(&reading)) {
        if (reading.length > 8 && memcmp(reading.line, "process ", 8) == 0)
            TRY(read_process(&reading, &trace));
        else if (reading.length > 2 && memcmp(reading.line, BLANKS, 2) == 0)
            TRY(read_call(&reading, &trace));
        else if (reading.length >= 3 && memcmp(reading.line, "end", 3) == 0) {
            TRY(read_end(&reading, &trace));
            *ret_trace = trace;
            trace = (struct trace){0};
            return NULL;
        } else
            return problem(&reading, "expected a process, a call or the end");
    }
    return error_new("%s: the trace is not complete: its last line, 'end N', is missing", name);
}

// No line within a text begins like the first one.
size_t trace_text_size(const char *text)
{
    const char *next = *text != '\0' ? strstr(text + 1, "\n" FIRST_LINE "\n") : NULL;
    return next != NULL ? (size_t)(next - text) + 1 : strlen(text);
}

struct error *trace_read(const char *path, struct trace *ret_trace)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_regular(path, TRACE_MOST_BYTES, &text));
    return trace_parse(path, text.data != NULL ? text.data : "", text.size, ret_trace);
}

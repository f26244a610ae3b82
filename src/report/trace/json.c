// SPDX-License-Identifier: GPL-3.0-or-later
// Traces and their differences as JSON lines.
#include "report/trace/trace.h"

#include "base/cleanup.h"
#include "report/json.h"

static struct error *finish(const struct json_builder *builder, const json_t *object,
                            struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(json_write_line(builder, object, &line));
    return buffer_append(text, line.data, line.size);
}

static void add_line(struct json_builder *builder, json_t *object, const struct trace_line *line)
{
    json_add_string(builder, object, "call", line->call);
    json_t *arguments = json_add_array(builder, object, "arguments");
    for (size_t i = 0; i < line->argument_count; i++)
        json_add_string(builder, arguments, NULL, line->arguments[i]);
}

static void add_process(struct json_builder *builder, json_t *object,
                        const struct trace_process *process)
{
    json_add_string(builder, object, "process", process->name);
    json_add_string(builder, object, "program", process->program);
}

struct error *report_trace_json(const struct trace *trace, struct buffer *text)
{
    for (size_t i = 0; i < trace->processes.count; i++) {
        const struct trace_process *process = &trace->processes.items[i];
        for (size_t j = 0; j < process->lines.count; j++) {
            struct json_builder builder = {0};
            _cleanup_(json_release) json_t *object = json_object();
            add_process(&builder, object, process);
            add_line(&builder, object, &process->lines.items[j]);
            TRY(finish(&builder, object, text));
        }
    }
    return NULL;
}

struct error *report_trace_differences_json(const struct trace_differences *differences,
                                            struct buffer *text)
{
    static const char *const words[] = {[TRACE_PROCESS_GONE] = "process-gone",
                                        [TRACE_PROCESS_NEW] = "process-new",
                                        [TRACE_LINE_GONE] = "gone",
                                        [TRACE_LINE_NEW] = "new",
                                        [TRACE_LINE_CHANGED] = "changed"};
    for (size_t i = 0; i < differences->list.count; i++) {
        const struct trace_difference *difference = &differences->list.items[i];
        struct json_builder builder = {0};
        _cleanup_(json_release) json_t *object = json_object();
        json_add_string(&builder, object, "change", words[difference->change]);
        add_process(&builder, object, difference->process);
        if (difference->old != NULL)
            add_line(&builder, json_add_object(&builder, object, "old"), difference->old);
        if (difference->new != NULL)
            add_line(&builder, json_add_object(&builder, object, "new"), difference->new);
        TRY(finish(&builder, object, text));
    }
    return NULL;
}

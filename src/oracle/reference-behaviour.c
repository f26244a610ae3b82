// SPDX-License-Identifier: GPL-3.0-or-later
// Visible behaviour: what of it is the same in all reference runs, and how a run differs in that.
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "observe/contents.h"
#include "oracle/reference-model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REMARKS   5
#define LINE_SHOWN     160 // bytes of a call in sentences
#define MOST_DEVIATION 4.0 // standard deviations from the mean time that nobody notices

void deviation_deinit(struct deviation *deviation)
{
    free(deviation->sentence);
    free(deviation->call);
    *deviation = (struct deviation){0};
}

static bool is_varying(const struct reference *reference, const struct trace_process *process,
                       const struct trace_line *line)
{
    for (size_t i = 0; i < reference->varying.count; i++) {
        const struct varying_call *varying = &reference->varying.items[i];
        if (strcmp(varying->process, process->name) != 0)
            continue;
        if (varying->call == NULL)
            return true;
        if (line == NULL || strcmp(varying->call, line->call) != 0)
            continue;
        const char *about = line->argument_count != 0 ? line->arguments[0] : "";
        if (strcmp(varying->about, about) == 0)
            return true;
    }
    return false;
}

// The call and what it is about; the rest of the line is what varies.
static struct error *add_varying(struct reference *reference, const struct trace_process *process,
                                 const struct trace_line *line)
{
    if (is_varying(reference, process, line))
        return NULL;
    struct varying_call *added = ARRAY_ADD(&reference->varying);
    if (added == NULL)
        return error_no_memory();
    *added = (struct varying_call){.process = process->name};
    if (line != NULL) {
        added->call = line->call;
        added->about = line->argument_count != 0 ? line->arguments[0] : "";
    }
    if (reference->varying.count > MOST_REMARKS)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "behaviour of %s (%s) ", process->name, process->program));
    if (line == NULL)
        TRY(buffer_printf(&text, "is not always there; nothing of it is compared"));
    else {
        TRY(buffer_printf(&text, "varies: "));
        TRY(quote_put(&text, line->text, strlen(line->text), LINE_SHOWN));
        TRY(buffer_printf(&text, "; such calls are not compared"));
    }
    return reference_remark_add(reference, REMARK_NOTE, NULL, &text);
}

static struct error *learn_from(struct reference *reference, const struct trace *first,
                                const struct trace *other)
{
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    TRY(trace_compare(first, other, &differences));
    for (size_t i = 0; i < differences.list.count; i++) {
        const struct trace_difference *difference = &differences.list.items[i];
        if (difference->old == NULL && difference->new == NULL)
            TRY(add_varying(reference, difference->process, NULL));
        if (difference->old != NULL)
            TRY(add_varying(reference, difference->process, difference->old));
        if (difference->new != NULL)
            TRY(add_varying(reference, difference->process, difference->new));
    }
    return NULL;
}

static struct error *refuse(const struct reference_run *run, size_t number)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "the behaviour of reference run %zu could not be recorded", number));
    const struct artifact *err = reference_run_find(run, "<stderr>");
    if (err != NULL)
        TRY(quote_put_last_line(&text, "; stderr: ", err->content.data, err->content.size));
    return error_new("%s", text.data);
}

struct error *reference_learn_behaviour(struct reference *reference)
{
    reference->traced_seconds = (struct stats_moments){0};
    reference->varying.count = 0;
    if (!reference->oracle->behaviour)
        return NULL;
    for (size_t i = 0; i < reference->runs.count; i++) {
        struct reference_run *run = &reference->runs.items[i];
        if (run->trace_text == NULL)
            return refuse(run, i + 1);
        trace_deinit(&run->trace);
        run->trace = (struct trace){0};
        TRY(trace_parse("the trace of a reference run", run->trace_text, strlen(run->trace_text),
                        &run->trace));
        stats_add(&reference->traced_seconds, run->traced_seconds);
    }
    for (size_t i = 1; i < reference->runs.count; i++)
        TRY(learn_from(reference, &reference->runs.items[0].trace,
                       &reference->runs.items[i].trace));
    return NULL;
}

static struct error *put_line(struct buffer *text, const struct trace_line *line)
{
    return quote_put(text, line->text, strlen(line->text), LINE_SHOWN);
}

static struct error *describe(const struct trace_difference *difference, struct buffer *text)
{
    const struct trace_process *process = difference->process;
    TRY(buffer_printf(text, "process %s (%s) ", process->name, process->program));
    switch (difference->change) {
    case TRACE_PROCESS_GONE:
        return buffer_printf(text, "is missing");
    case TRACE_PROCESS_NEW:
        return buffer_printf(text, "is there, which the reference does not have");
    case TRACE_LINE_GONE:
        TRY(buffer_printf(text, "does not do "));
        return put_line(text, difference->old);
    case TRACE_LINE_NEW:
        TRY(buffer_printf(text, "does "));
        TRY(put_line(text, difference->new));
        return buffer_printf(text, ", which the reference does not");
    default:
        TRY(buffer_printf(text, "does "));
        TRY(put_line(text, difference->new));
        TRY(buffer_printf(text, " instead of "));
        return put_line(text, difference->old);
    }
}

// What a call has moved; false if it moves nothing.
static bool read_contents(const struct trace_line *line, struct contents *ret_contents)
{
    unsigned long long size, hash;
    if (line->argument_count < 2 ||
        sscanf(line->arguments[1], "%llu bytes %16llx", &size, &hash) != 2)
        return false;
    *ret_contents = (struct contents){hash, size};
    return true;
}

static bool is_alike(const struct trace_line *a, const struct trace_line *b)
{
    return strcmp(a->call, b->call) == 0 && a->argument_count == b->argument_count &&
           a->argument_count >= 2 && strcmp(a->arguments[0], b->arguments[0]) == 0;
}

// All that such calls of a process have moved, one behind the other.
static bool gather(const struct trace *trace, const char *process, const struct trace_line *like,
                   struct contents *ret_contents)
{
    struct contents sum = {0}, one;
    for (size_t i = 0; i < trace->processes.count; i++) {
        const struct trace_process *found = &trace->processes.items[i];
        for (size_t j = 0; strcmp(found->name, process) == 0 && j < found->lines.count; j++) {
            if (!is_alike(&found->lines.items[j], like))
                continue;
            if (!read_contents(&found->lines.items[j], &one))
                return false;
            contents_append(&sum, &one);
        }
    }
    *ret_contents = sum;
    return true;
}

// Whether the same calls of one process on one thing only move the same data in other portions, as
// they do after a call that did a part. Calls that say where must then be more or fewer.
static bool is_about_portions(const struct trace *traces[2],
                              const struct trace_differences *differences)
{
    const struct trace_process *process = NULL;
    const struct trace_line *first = NULL;
    struct contents contents[2];
    size_t calls[2] = {0};
    for (size_t i = 0; i < differences->list.count; i++) {
        const struct trace_difference *difference = &differences->list.items[i];
        const struct trace_line *const lines[2] = {difference->old, difference->new};
        process = i == 0 ? difference->process : process;
        if (difference->process != process || (lines[0] == NULL && lines[1] == NULL))
            return false;
        for (size_t j = 0; j < 2; j++) {
            if (lines[j] == NULL)
                continue;
            first = first != NULL ? first : lines[j];
            if (!is_alike(first, lines[j]))
                return false;
            calls[j]++;
        }
    }
    return first != NULL && (first->argument_count == 2 || calls[0] != calls[1]) &&
           gather(traces[0], process->name, first, &contents[0]) &&
           gather(traces[1], process->name, first, &contents[1]) &&
           contents[0].size == contents[1].size && contents[0].hash == contents[1].hash;
}

static struct error *find_deviation(const struct reference *reference, const struct trace *trace,
                                    struct deviation *deviation)
{
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct trace *traces[2] = {&reference->runs.items[0].trace, trace};
    TRY(trace_compare(traces[0], traces[1], &differences));
    if (is_about_portions(traces, &differences))
        return NULL;
    for (size_t i = 0; i < differences.list.count; i++) {
        const struct trace_difference *difference = &differences.list.items[i];
        const struct trace_line *line = difference->old != NULL ? difference->old : difference->new;
        if (is_varying(reference, difference->process, line) || deviation->count++ != 0)
            continue;
        TRY(describe(difference, &text));
        deviation->call = strdup(line != NULL ? line->call : "process");
        if (deviation->call == NULL)
            return error_no_memory();
    }
    if (deviation->count > 1)
        TRY(buffer_printf(&text, ", and %zu more calls differ", deviation->count - 1));
    deviation->sentence = TAKE(text.data);
    return NULL;
}

static bool is_usual_time(const struct reference *reference, uint64_t ns)
{
    const struct stats_moments *usual = &reference->traced_seconds;
    return fabs(clock_seconds(ns) - usual->mean) <= MOST_DEVIATION * usual->deviation;
}

struct error *reference_find_deviation(const struct reference *reference,
                                       const struct outcome_run *run,
                                       struct deviation *ret_deviation)
{
    _cleanup_(deviation_deinit) struct deviation deviation = {0};
    _cleanup_(trace_deinit) struct trace trace = {0};
    if (!reference->oracle->behaviour)
        return NULL;
    bool timed_out = run->workload.end == SANDBOX_TIMEOUT;
    if (run->trace == NULL && !timed_out)
        return NULL;
    deviation.known = true;
    deviation.same_status =
        run->workload.end == SANDBOX_EXIT && run->workload.status == reference_status(reference);
    deviation.same_time = !timed_out && is_usual_time(reference, run->traced_ns);
    bool same = false;
    for (size_t i = 0; run->trace != NULL && i < reference->runs.count; i++)
        same |= strcmp(run->trace, reference->runs.items[i].trace_text) == 0;
    if (run->trace == NULL)
        deviation.count = 1;
    else if (!same) {
        TRY(trace_parse("the trace of a trial", run->trace, strlen(run->trace), &trace));
        TRY(find_deviation(reference, &trace, &deviation));
    }
    *ret_deviation = deviation;
    deviation = (struct deviation){0};
    return NULL;
}

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

static void deviation_deinit(struct deviation *deviation)
{
    free(deviation->sentence);
    free(deviation->call);
    free(deviation->calls);
    buffer_deinit(&deviation->trace);
}

void deviations_deinit(struct deviations *deviations)
{
    for (size_t i = 0; i < deviations->list.count; i++)
        deviation_deinit(&deviations->list.items[i]);
    ARRAY_DEINIT(&deviations->list);
}

const struct deviation *deviations_first(const struct deviations *deviations)
{
    for (size_t i = 0; i < deviations->list.count; i++)
        if (deviations->list.items[i].count != 0)
            return &deviations->list.items[i];
    return NULL;
}

static bool is_varying(const struct reference *reference, size_t invocation,
                       const struct trace_process *process, const struct trace_line *line)
{
    for (size_t i = 0; i < reference->varying.count; i++) {
        const struct varying_call *varying = &reference->varying.items[i];
        if (varying->invocation != invocation || strcmp(varying->process, process->name) != 0)
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
static struct error *add_varying(struct reference *reference, size_t invocation,
                                 const struct trace_process *process, const struct trace_line *line)
{
    if (is_varying(reference, invocation, process, line))
        return NULL;
    struct varying_call *added = ARRAY_ADD(&reference->varying);
    if (added == NULL)
        return error_no_memory();
    *added = (struct varying_call){.invocation = invocation, .process = process->name};
    if (line != NULL) {
        added->call = line->call;
        added->about = line->argument_count != 0 ? line->arguments[0] : "";
    }
    if (reference->varying.count > MOST_REMARKS)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "behaviour of %s (%s)", process->name, process->program));
    if (reference->oracle->invocations != NULL)
        TRY(buffer_printf(&text, " in invocation %zu", invocation + 1));
    TRY(buffer_printf(&text, " "));
    if (line == NULL)
        TRY(buffer_printf(&text, "is not always there; nothing of it is compared"));
    else {
        TRY(buffer_printf(&text, "varies: "));
        TRY(quote_put(&text, line->text, strlen(line->text), LINE_SHOWN));
        TRY(buffer_printf(&text, "; such calls are not compared"));
    }
    return reference_remark_add(reference, REMARK_NOTE, NULL, &text);
}

static struct error *learn_from(struct reference *reference, size_t invocation,
                                const struct trace *first, const struct trace *other)
{
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    TRY(trace_compare(first, other, &differences));
    for (size_t i = 0; i < differences.list.count; i++) {
        const struct trace_difference *difference = &differences.list.items[i];
        if (difference->old == NULL && difference->new == NULL)
            TRY(add_varying(reference, invocation, difference->process, NULL));
        if (difference->old != NULL)
            TRY(add_varying(reference, invocation, difference->process, difference->old));
        if (difference->new != NULL)
            TRY(add_varying(reference, invocation, difference->process, difference->new));
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

static struct error *read_traces(struct reference_run *run, size_t number)
{
    for (size_t i = 0; i < run->invocations.count; i++) {
        struct reference_invocation *invocation = &run->invocations.items[i];
        if (invocation->text == NULL)
            return refuse(run, number);
        trace_deinit(&invocation->trace);
        invocation->trace = (struct trace){0};
        TRY(trace_parse("the trace of a reference run", invocation->text, strlen(invocation->text),
                        &invocation->trace));
    }
    return NULL;
}

static struct error *check_count(const struct reference *reference, size_t number)
{
    const struct reference_run *runs = reference->runs.items;
    const char *program = reference->oracle->invocations;
    size_t count = runs[number].invocations.count;
    if (program == NULL)
        return count == 0 ? refuse(&runs[number], number + 1) : NULL;
    if (count == 0)
        return error_new("reference run %zu did not start %s (oracle.invocations); it must be a "
                         "program, not a script",
                         number + 1, program);
    if (count != runs[0].invocations.count)
        return error_new("reference run %zu started %s %zu times, and the first one %zu times: "
                         "invocations can only be compared if they are always as many",
                         number + 1, program, count, runs[0].invocations.count);
    return NULL;
}

static struct error *learn_invocation(struct reference *reference, size_t index)
{
    const struct reference_run *runs = reference->runs.items;
    struct stats_moments *seconds = ARRAY_ADD(&reference->traced_seconds);
    if (seconds == NULL)
        return error_no_memory();
    *seconds = (struct stats_moments){0};
    for (size_t i = 0; i < reference->runs.count; i++) {
        const struct reference_invocation *invocation = &runs[i].invocations.items[index];
        stats_add(seconds, invocation->seconds);
        if (i != 0 && strcmp(invocation->text, runs[0].invocations.items[index].text) != 0)
            TRY(learn_from(reference, index, &runs[0].invocations.items[index].trace,
                           &invocation->trace));
    }
    return NULL;
}

struct error *reference_learn_behaviour(struct reference *reference)
{
    reference->traced_seconds.count = 0;
    reference->varying.count = 0;
    if (!oracle_has_behaviour(reference->oracle))
        return NULL;
    for (size_t i = 0; i < reference->runs.count; i++) {
        TRY(read_traces(&reference->runs.items[i], i + 1));
        TRY(check_count(reference, i));
    }
    for (size_t i = 0; i < reference->runs.items[0].invocations.count; i++)
        TRY(learn_invocation(reference, i));
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

// The names of calls that differ, each once.
struct names {
    ARRAY(const char *) list;
};

static int by_alphabet(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct error *add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->list.count; i++)
        if (strcmp(names->list.items[i], name) == 0)
            return NULL;
    const char **slot = ARRAY_ADD(&names->list);
    if (slot == NULL)
        return error_no_memory();
    *slot = name;
    return NULL;
}

static struct error *put_names(struct names *names, char **ret_text)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (names->list.count == 0)
        return NULL;
    qsort(names->list.items, names->list.count, sizeof *names->list.items, by_alphabet);
    for (size_t i = 0; i < names->list.count; i++)
        TRY(buffer_printf(&text, "%s%s", i != 0 ? " " : "", names->list.items[i]));
    *ret_text = TAKE(text.data);
    return NULL;
}

static struct error *note_differences(const struct reference *reference, size_t invocation,
                                      const struct trace_differences *differences,
                                      struct names *names, struct deviation *deviation)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    for (size_t i = 0; i < differences->list.count; i++) {
        const struct trace_difference *difference = &differences->list.items[i];
        const struct trace_line *line = difference->old != NULL ? difference->old : difference->new;
        const char *name = line != NULL ? line->call : "process";
        if (is_varying(reference, invocation, difference->process, line))
            continue;
        TRY(add_name(names, name));
        if (deviation->count++ != 0)
            continue;
        if (reference->oracle->invocations != NULL)
            TRY(buffer_printf(&text, "invocation %zu: ", invocation + 1));
        TRY(describe(difference, &text));
        deviation->call = strdup(name);
        if (deviation->call == NULL)
            return error_no_memory();
    }
    if (deviation->count > 1)
        TRY(buffer_printf(&text, ", and %zu more calls differ", deviation->count - 1));
    deviation->sentence = TAKE(text.data);
    return put_names(names, &deviation->calls);
}

static struct error *find_deviation(const struct reference *reference, size_t invocation,
                                    const struct trace *trace, struct deviation *deviation)
{
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    const struct trace *traces[2] = {&reference->runs.items[0].invocations.items[invocation].trace,
                                     trace};
    struct names names = {0};
    TRY(trace_compare(traces[0], traces[1], &differences));
    if (is_about_portions(traces, &differences))
        return NULL;
    struct error *error = note_differences(reference, invocation, &differences, &names, deviation);
    ARRAY_DEINIT(&names.list);
    return error;
}

// Of an invocation that has ended and that the reference has.
static struct error *compare_invocation(const struct reference *reference, size_t index,
                                        const struct outcome_invocation *invocation,
                                        struct deviation *deviation)
{
    _cleanup_(trace_deinit) struct trace trace = {0};
    const struct stats_moments *usual = &reference->traced_seconds.items[index];
    bool same = false;
    deviation->seconds = clock_seconds(invocation->ns);
    deviation->same_time =
        fabs(deviation->seconds - usual->mean) <= MOST_DEVIATION * usual->deviation;
    for (size_t i = 0; i < reference->runs.count; i++) {
        const struct reference_invocation *known =
            &reference->runs.items[i].invocations.items[index];
        deviation->same_status |= known->status == invocation->status;
        same |= strcmp(known->text, invocation->trace) == 0;
    }
    if (same)
        return NULL;
    TRY(trace_parse("the trace of a trial", invocation->trace, strlen(invocation->trace), &trace));
    return find_deviation(reference, index, &trace, deviation);
}

static struct error *add_other(struct deviations *deviations, size_t number, bool activated,
                               const char *what)
{
    struct deviation *added = ARRAY_ADD(&deviations->list);
    if (added == NULL)
        return error_no_memory();
    *added = (struct deviation){.number = (unsigned)number, .activated = activated, .count = 1};
    return asprintf(&added->sentence, "invocation %zu %s", number, what) < 0 ? error_no_memory()
                                                                             : NULL;
}

static struct error *add_deviation(const struct reference *reference, size_t index,
                                   const struct outcome_invocation *invocation,
                                   struct deviations *deviations)
{
    struct deviation deviation = {.number = (unsigned)index + 1,
                                  .activated = invocation->activated};
    struct error *error = compare_invocation(reference, index, invocation, &deviation);
    struct deviation *added = NULL;
    if (error == NULL && (deviation.activated || deviation.count != 0)) {
        added = ARRAY_ADD(&deviations->list);
        error = added == NULL ? error_no_memory() : NULL;
    }
    if (added != NULL)
        *added = deviation;
    else
        deviation_deinit(&deviation);
    return error;
}

struct error *reference_find_deviations(const struct reference *reference,
                                        const struct outcome_run *run,
                                        struct deviations *ret_deviations)
{
    _cleanup_(deviations_deinit) struct deviations deviations = {0};
    bool timed_out = run->workload.end == SANDBOX_TIMEOUT;
    size_t known = reference->traced_seconds.count;
    if (!oracle_has_behaviour(reference->oracle) || (run->invocations.count == 0 && !timed_out))
        return NULL;
    for (size_t i = 0; i < run->invocations.count; i++) {
        const struct outcome_invocation *invocation = &run->invocations.items[i];
        if (i >= known)
            TRY(add_other(&deviations, i + 1, false,
                          "is there, which the reference does not have"));
        else if (invocation->trace == NULL)
            TRY(add_other(&deviations, i + 1, true, "does not end"));
        else
            TRY(add_deviation(reference, i, invocation, &deviations));
    }
    if (run->invocations.count < known && !timed_out)
        TRY(add_other(&deviations, run->invocations.count + 1, false, "is missing"));
    *ret_deviations = deviations;
    deviations = (struct deviations){0};
    return NULL;
}

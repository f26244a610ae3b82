// SPDX-License-Identifier: GPL-3.0-or-later
// Makes candidates of the faults that the user named. A series is the beginning of a rule; its
// candidates differ only in the rule's end, "and count == N".
#include "injector/call-candidates.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "injector/realism.h"
#include "injector/spec.h"

#include <stdlib.h>
#include <string.h>

struct candidate_builder {
    struct call_plan *plan;
    size_t fault;
    struct scenario_rule_view rule;
    candidate_add *add;
    void *data;
    struct map done; // places or stacks of this fault that have a candidate
};

static struct error *copy(const char *text, char **ret_copy)
{
    *ret_copy = text != NULL ? strdup(text) : NULL;
    return text != NULL && *ret_copy == NULL ? error_no_memory() : NULL;
}

static struct error *take(struct buffer *text, char **ret_text)
{
    *ret_text = TAKE(text->data);
    *text = (struct buffer){0};
    return NULL;
}

// Fills in the place: with file and line if it is the only one (`exact`), else only the module.
static struct error *put_place(const struct recorded_site *site, bool exact,
                               struct candidate *candidate)
{
    if (site == NULL || site->module[0] == '\0')
        return NULL;
    TRY(copy(site->module, &candidate->module));
    TRY(copy(file_base_name(site->module), &candidate->component));
    if (!exact)
        return NULL;
    candidate->line = site->line;
    return copy(site->file, &candidate->file);
}

static struct error *start(const struct candidate_builder *builder,
                           const struct recorded_call *call, struct candidate *candidate)
{
    _cleanup_(buffer_deinit) struct buffer type = {0};
    candidate->weight = 1;
    TRY(spec_put_type(&type, &builder->rule, call->function));
    TRY(take(&type, &candidate->type));
    return copy(call->function, &candidate->function);
}

static struct error *finish(const struct candidate_builder *builder, struct error *error,
                            struct candidate *candidate)
{
    if (builder->plan->made != NULL)
        builder->plan->made[builder->fault]++;
    if (error == NULL)
        error = builder->add(builder->data, candidate);
    candidate_deinit(candidate);
    return error;
}

// "read=-1/EIO when process(1)"
static struct error *put_series(const struct candidate_builder *builder,
                                const struct recorded_call *call, struct buffer *text)
{
    TRY(spec_put_head(text, &builder->rule, call->function));
    if (call->process == 0)
        return spec_put_program(text, call->program);
    TRY(spec_put_process(text, call->process));
    if (call->only_program)
        return NULL;
    TRY(buffer_printf(text, " and "));
    return spec_put_program(text, call->program);
}

#define ONCE " and once"

static struct error *put_occurrence(const struct call_plan *plan, const char *series,
                                    uint64_t occurrence, bool once, char **ret_spec)
{
    if (asprintf(ret_spec, "%s and count %s %llu%s", series, plan->persistent ? ">=" : "==",
                 (unsigned long long)occurrence, once ? ONCE : "") < 0) {
        *ret_spec = NULL;
        return error_no_memory();
    }
    return NULL;
}

static struct error *add_occurrence(const struct candidate_builder *builder,
                                    const struct recorded_call *call,
                                    const struct recorded_site *site, bool exact,
                                    uint64_t occurrence)
{
    struct candidate candidate = {.position = occurrence};
    _cleanup_(buffer_deinit) struct buffer series = {0};
    struct error *error = start(builder, call, &candidate);
    if (error == NULL)
        error = put_series(builder, call, &series);
    if (error == NULL)
        error = put_occurrence(builder->plan, series.data, occurrence,
                               call->again && !builder->plan->persistent, &candidate.spec);
    if (error == NULL)
        error = take(&series, &candidate.series);
    if (error == NULL)
        error = put_place(site, exact, &candidate);
    // Nobody opens a standard stream: it belongs to the program.
    if (error == NULL && candidate.component == NULL && call->stream != 0)
        error = copy(call->program, &candidate.component);
    return finish(builder, error, &candidate);
}

// The first site of calls[0..count) if all sites are in one module, else NULL.
static const struct recorded_site *common_site(const struct recording *recording,
                                               const struct recorded_call *calls, size_t count)
{
    const struct recorded_site *first = &recording->sites.items[calls[0].site];
    for (size_t i = 1; i < count; i++) {
        const struct recorded_site *site = &recording->sites.items[calls[i].site];
        if (strcmp(site->module, first->module) != 0)
            return NULL;
    }
    return first;
}

// calls[0..count) are all calls of one counter, sorted by their first occurrence.
static struct error *add_occurrences(const struct candidate_builder *builder,
                                     const struct recorded_call *calls, size_t count)
{
    const struct recording *recording = &builder->plan->recording;
    const struct recorded_site *common = common_site(recording, calls, count);
    size_t next = 0; // the first call that has not come yet
    // A sweep finds the end of a series by itself, so it leaves out only series without a start.
    if (!builder->plan->sweep || calls[0].from > calls[0].last)
        builder->plan->uncertain += calls[0].uncertain;
    for (uint64_t n = calls[0].from; n <= calls[0].last; n++) {
        const struct recorded_site *site = common;
        bool exact = calls[0].only_site;
        // The place of an occurrence is known if it is the first one of that place.
        for (; next < count && calls[next].first <= n; next++)
            if (calls[next].first == n && !exact) {
                site = &recording->sites.items[calls[next].site];
                exact = true;
            }
        TRY(add_occurrence(builder, &calls[0], site, exact, n));
        if (builder->plan->sweep)
            break;
    }
    return NULL;
}

static struct error *is_new(struct candidate_builder *builder, const struct recorded_call *call,
                            uint64_t key, bool *ret_new)
{
    return map_add(&builder->done, hash_mix(key, hash_text(call->function)), ret_new);
}

static struct error *make_site(const struct candidate_builder *builder,
                               const struct recorded_call *call, const struct recorded_site *site)
{
    struct candidate candidate = {0};
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    struct error *error = start(builder, call, &candidate);
    if (error == NULL)
        error = spec_put_head(&spec, &builder->rule, call->function);
    if (error == NULL)
        error = spec_put_site(&spec, site->module, site->offset);
    if (error == NULL && !builder->plan->persistent)
        error = buffer_printf(&spec, ONCE);
    if (error == NULL)
        error = take(&spec, &candidate.spec);
    if (error == NULL)
        error = put_place(site, true, &candidate);
    return finish(builder, error, &candidate);
}

// Adds the first occurrence of these calls.
static struct error *add_first(const struct candidate_builder *builder,
                               const struct recorded_call *call)
{
    if (!call->in_all_runs) {
        builder->plan->uncertain++;
        return NULL;
    }
    return add_occurrence(builder, call, &builder->plan->recording.sites.items[call->site], true,
                          call->first);
}

static bool is_stream_write(const struct recorded_call *call)
{
    return strcmp(call->function, REALISM_STREAM_WRITE) == 0;
}

// The site of a write below a stream is where the stream was opened, and no caller: its candidate
// is the first write of that stream.
static struct error *add_site(struct candidate_builder *builder, const struct recorded_call *call)
{
    const struct recorded_site *site = &builder->plan->recording.sites.items[call->site];
    bool fresh;
    TRY(is_new(builder, call, call->site, &fresh));
    if (fresh && is_stream_write(call))
        return add_first(builder, call);
    if (!fresh ||
        site->module[0] == '\0') // an address without a module means nothing to another run
        return NULL;
    return make_site(builder, call, site);
}

// A stack is known only by its hash, so its candidate is the first occurrence that had it.
static struct error *add_stack(struct candidate_builder *builder, const struct recorded_call *call)
{
    bool fresh = true;
    if (call->in_all_runs)
        TRY(is_new(builder, call, call->stack, &fresh));
    return fresh ? add_first(builder, call) : NULL;
}

bool call_plan_is_called(const struct call_plan *plan, size_t fault)
{
    for (size_t i = 0; i < plan->recording.calls.count; i++)
        if (scenario_rule_covers(plan->faults, fault, plan->recording.calls.items[i].library,
                                 plan->recording.calls.items[i].function))
            return true;
    return false;
}

// Rules of one class stand next to each other.
static bool is_same_class(const struct call_plan *plan, size_t a, size_t b)
{
    const char *left = scenario_rule(plan->faults, a).class_text;
    const char *right = scenario_rule(plan->faults, b).class_text;
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

bool call_plan_is_idle_member(const struct call_plan *plan, size_t fault,
                              bool *ret_stands_for_class)
{
    size_t start = fault, count = scenario_rule_count(plan->faults);
    *ret_stands_for_class = false;
    if (scenario_rule(plan->faults, fault).class_text == NULL)
        return false;
    while (start > 0 && is_same_class(plan, start - 1, fault))
        start--;
    for (size_t i = start; i < count && is_same_class(plan, i, fault); i++)
        if (plan->made != NULL && plan->made[i] != 0)
            return true;
    *ret_stands_for_class = start == fault;
    return start != fault;
}

bool call_plan_leaves_out(const struct call_plan *plan, size_t fault, const char *function)
{
    const char *pattern = scenario_rule(plan->faults, fault).function;
    return strpbrk(pattern, "*?[") != NULL &&
           scenario_rule_impossible_result(plan->faults, fault, function) != NULL;
}

static struct error *add_fault(struct candidate_builder *builder)
{
    const struct recording *recording = &builder->plan->recording;
    const struct recorded_call *calls = recording->calls.items;
    for (size_t start = 0, end; start < recording->calls.count; start = end) {
        for (end = start + 1; end < recording->calls.count; end++)
            if (!recording_same_counter(&calls[start], &calls[end]))
                break;
        if (!scenario_rule_covers(builder->plan->faults, builder->fault, calls[start].library,
                                  calls[start].function) ||
            call_plan_leaves_out(builder->plan, builder->fault, calls[start].function))
            continue;
        if (builder->plan->at == CALL_AT_OCCURRENCE)
            TRY(add_occurrences(builder, calls + start, end - start));
        for (size_t i = start; builder->plan->at != CALL_AT_OCCURRENCE && i < end; i++)
            TRY(builder->plan->at == CALL_AT_SITE ? add_site(builder, &calls[i])
                                                  : add_stack(builder, &calls[i]));
    }
    return NULL;
}

struct error *call_candidates(struct call_plan *plan, candidate_add *add, void *data)
{
    size_t count = scenario_rule_count(plan->faults);
    TRY(recording_settle(&plan->recording, NULL));
    free(plan->made);
    plan->uncertain = 0;
    plan->made = calloc(count + 1, sizeof *plan->made);
    if (plan->made == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        struct candidate_builder builder = {.plan = plan,
                                            .fault = i,
                                            .rule = scenario_rule(plan->faults, i),
                                            .add = add,
                                            .data = data};
        struct error *error = add_fault(&builder);
        map_deinit(&builder.done);
        if (error != NULL)
            return error;
    }
    return NULL;
}

struct error *call_candidates_one(struct call_plan *plan, const struct scenario_rule_view *rule,
                                  const struct recording *recording,
                                  const struct recorded_call *call, enum call_at at,
                                  candidate_add *add, void *data)
{
    const struct candidate_builder builder = {
        .plan = plan, .rule = *rule, .add = add, .data = data};
    const struct recorded_site *site = &recording->sites.items[call->site];
    return at == CALL_AT_SITE ? make_site(&builder, call, site)
                              : add_occurrence(&builder, call, site, true, call->first);
}

struct error *call_candidates_next(const struct call_plan *plan, const struct candidate *last,
                                   struct candidate *ret_next)
{
    struct candidate candidate = {
        .position = last->position + 1, .weight = last->weight, .line = last->line};
    struct error *error =
        last->series != NULL ? NULL : error_new("'%s' belongs to no series", last->spec);
    size_t size = strlen(last->spec), once = strlen(ONCE);
    if (error == NULL)
        error = put_occurrence(plan, last->series, candidate.position,
                               size > once && strcmp(last->spec + size - once, ONCE) == 0,
                               &candidate.spec);
    if (error == NULL)
        error = copy(last->series, &candidate.series);
    if (error == NULL)
        error = copy(last->type, &candidate.type);
    if (error == NULL)
        error = copy(last->function, &candidate.function);
    if (error != NULL)
        candidate_deinit(&candidate);
    else
        *ret_next = candidate;
    return error;
}

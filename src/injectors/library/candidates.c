// SPDX-License-Identifier: GPL-3.0-or-later
// See library-candidates.h. A series is the beginning of a rule: its candidates differ in the end
// of it, "and count == N".
#include "injectors/library/candidates.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "injectors/library/spec.h"

#include <stdlib.h>
#include <string.h>

struct making {
    struct library_plan *plan;
    size_t fault;
    struct scenario_rule_view rule;
    candidate_add *add;
    void *data;
    struct map done; // places or stacks of this fault that have their candidate
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

// What is known of the place: all of it where there is only one, else the module if all agree.
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

static struct error *start(const struct making *making, const struct recorded_call *call,
                           struct candidate *candidate)
{
    _cleanup_(buffer_deinit) struct buffer type = {0};
    candidate->weight = 1;
    TRY(spec_put_type(&type, &making->rule, call->function));
    TRY(take(&type, &candidate->type));
    return copy(call->function, &candidate->function);
}

static struct error *finish(const struct making *making, struct error *error,
                            struct candidate *candidate)
{
    if (making->plan->made != NULL)
        making->plan->made[making->fault]++;
    if (error == NULL)
        error = making->add(making->data, candidate);
    candidate_deinit(candidate);
    return error;
}

// "read=-1/EIO when process(1)"
static struct error *put_series(const struct making *making, const struct recorded_call *call,
                                struct buffer *text)
{
    TRY(spec_put_head(text, &making->rule, call->function));
    if (call->process == 0)
        return spec_put_program(text, call->program);
    TRY(buffer_printf(text, "process(%u)", call->process));
    if (call->only_program)
        return NULL;
    TRY(buffer_printf(text, " and "));
    return spec_put_program(text, call->program);
}

#define ONCE " and once"

static struct error *put_occurrence(const struct library_plan *plan, const char *series,
                                    uint64_t occurrence, bool once, char **ret_spec)
{
    if (asprintf(ret_spec, "%s and count %s %llu%s", series, plan->persistent ? ">=" : "==",
                 (unsigned long long)occurrence, once ? ONCE : "") < 0) {
        *ret_spec = NULL;
        return error_no_memory();
    }
    return NULL;
}

static struct error *add_occurrence(const struct making *making, const struct recorded_call *call,
                                    const struct recorded_site *site, bool exact,
                                    uint64_t occurrence)
{
    struct candidate candidate = {.position = occurrence};
    _cleanup_(buffer_deinit) struct buffer series = {0};
    struct error *error = start(making, call, &candidate);
    if (error == NULL)
        error = put_series(making, call, &series);
    if (error == NULL)
        error = put_occurrence(making->plan, series.data, occurrence,
                               call->again && !making->plan->persistent, &candidate.spec);
    if (error == NULL)
        error = take(&series, &candidate.series);
    if (error == NULL)
        error = put_place(site, exact, &candidate);
    return finish(making, error, &candidate);
}

// A site that stands for all of calls[0..count): the one there is, or any in the module they share.
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

// All calls of one counter: calls[0..count), by their first occurrence.
static struct error *add_occurrences(const struct making *making, const struct recorded_call *calls,
                                     size_t count)
{
    const struct recording *recording = &making->plan->recording;
    const struct recorded_site *common = common_site(recording, calls, count);
    size_t next = 0; // the first call that has not come yet
    // A sweep finds the end of a series by itself.
    if (!making->plan->sweep || calls[0].from > calls[0].last)
        making->plan->uncertain += calls[0].uncertain;
    for (uint64_t n = calls[0].from; n <= calls[0].last; n++) {
        const struct recorded_site *site = common;
        bool exact = calls[0].only_site;
        // The first occurrence at a place is known to be there.
        for (; next < count && calls[next].first <= n; next++)
            if (calls[next].first == n && !exact) {
                site = &recording->sites.items[calls[next].site];
                exact = true;
            }
        TRY(add_occurrence(making, &calls[0], site, exact, n));
        if (making->plan->sweep)
            break;
    }
    return NULL;
}

static struct error *is_new(struct making *making, const struct recorded_call *call, uint64_t key,
                            bool *ret_new)
{
    return map_add(&making->done, hash_mix(key, hash_text(call->function)), ret_new);
}

static struct error *make_site(const struct making *making, const struct recorded_call *call,
                               const struct recorded_site *site)
{
    struct candidate candidate = {0};
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    struct error *error = start(making, call, &candidate);
    if (error == NULL)
        error = spec_put_head(&spec, &making->rule, call->function);
    if (error == NULL)
        error = spec_put_site(&spec, site->module, site->offset);
    if (error == NULL && !making->plan->persistent)
        error = buffer_printf(&spec, ONCE);
    if (error == NULL)
        error = take(&spec, &candidate.spec);
    if (error == NULL)
        error = put_place(site, true, &candidate);
    return finish(making, error, &candidate);
}

static struct error *add_site(struct making *making, const struct recorded_call *call)
{
    const struct recorded_site *site = &making->plan->recording.sites.items[call->site];
    bool fresh;
    TRY(is_new(making, call, call->site, &fresh));
    if (!fresh ||
        site->module[0] == '\0') // an address without a module means nothing to another run
        return NULL;
    return make_site(making, call, site);
}

// A stack is known by its hash alone, and so goes by the first occurrence that had it.
static struct error *add_stack(struct making *making, const struct recorded_call *call)
{
    bool fresh;
    if (!call->everywhere) {
        making->plan->uncertain++;
        return NULL;
    }
    TRY(is_new(making, call, call->stack, &fresh));
    if (!fresh)
        return NULL;
    return add_occurrence(making, call, &making->plan->recording.sites.items[call->site], true,
                          call->first);
}

bool library_is_called(const struct library_plan *plan, size_t fault)
{
    for (size_t i = 0; i < plan->recording.calls.count; i++)
        if (scenario_rule_covers(plan->faults, fault, plan->recording.calls.items[i].library,
                                 plan->recording.calls.items[i].function))
            return true;
    return false;
}

bool library_leaves_out(const struct library_plan *plan, size_t fault, const char *function)
{
    const char *pattern = scenario_rule(plan->faults, fault).function;
    return strpbrk(pattern, "*?[") != NULL &&
           scenario_rule_impossible_result(plan->faults, fault, function) != NULL;
}

static struct error *add_fault(struct making *making)
{
    const struct recording *recording = &making->plan->recording;
    const struct recorded_call *calls = recording->calls.items;
    for (size_t start = 0, end; start < recording->calls.count; start = end) {
        for (end = start + 1; end < recording->calls.count; end++)
            if (!recording_same_counter(&calls[start], &calls[end]))
                break;
        if (!scenario_rule_covers(making->plan->faults, making->fault, calls[start].library,
                                  calls[start].function) ||
            library_leaves_out(making->plan, making->fault, calls[start].function))
            continue;
        if (making->plan->at == LIBRARY_OCCURRENCE)
            TRY(add_occurrences(making, calls + start, end - start));
        for (size_t i = start; making->plan->at != LIBRARY_OCCURRENCE && i < end; i++)
            TRY(making->plan->at == LIBRARY_SITE ? add_site(making, &calls[i])
                                                 : add_stack(making, &calls[i]));
    }
    return NULL;
}

struct error *library_candidates(struct library_plan *plan, candidate_add *add, void *data)
{
    size_t count = scenario_rule_count(plan->faults);
    TRY(recording_settle(&plan->recording, NULL));
    free(plan->made);
    plan->uncertain = 0;
    plan->made = calloc(count + 1, sizeof *plan->made);
    if (plan->made == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        struct making making = {.plan = plan,
                                .fault = i,
                                .rule = scenario_rule(plan->faults, i),
                                .add = add,
                                .data = data};
        struct error *error = add_fault(&making);
        map_deinit(&making.done);
        if (error != NULL)
            return error;
    }
    return NULL;
}

struct error *library_one(struct library_plan *plan, const struct scenario_rule_view *rule,
                          const struct recording *recording, const struct recorded_call *call,
                          enum library_at at, candidate_add *add, void *data)
{
    const struct making making = {.plan = plan, .rule = *rule, .add = add, .data = data};
    const struct recorded_site *site = &recording->sites.items[call->site];
    return at == LIBRARY_SITE ? make_site(&making, call, site)
                              : add_occurrence(&making, call, site, true, call->first);
}

struct error *library_next(const struct library_plan *plan, const struct candidate *last,
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

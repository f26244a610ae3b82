// SPDX-License-Identifier: GPL-3.0-or-later
// Explains which of the user's faults are not tested: never called, cannot apply, or return what
// the function never returns.
#include "injectors/library/untested.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "trial/diagnose.h"

#include <stdlib.h>
#include <string.h>

void untested_faults_deinit(struct untested_faults *untested)
{
    for (size_t i = 0; i < untested->count; i++)
        free(untested->whys[i]);
    free(untested->whys);
    *untested = (struct untested_faults){0};
}

struct error *untested_faults_diagnose(struct untested_faults *untested,
                                       const struct call_plan *plan, const struct wire_view *view)
{
    size_t count = scenario_rule_count(plan->faults), called = 0;
    while (called < count && call_plan_is_called(plan, called))
        called++;
    if (called == count)
        return NULL;
    _cleanup_(diagnosis_deinit) struct diagnosis diagnosis = {0};
    TRY(diagnosis_make(view, &diagnosis));
    untested_faults_deinit(untested);
    untested->whys = TAKE(diagnosis.whys);
    untested->count = diagnosis.why_count;
    diagnosis.why_count = 0;
    return NULL;
}

// Names similar functions that the command imports: most likely it calls those instead.
static struct error *put_relatives(const struct injector_setup *setup, const char *function,
                                   struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer path = {0}, names = {0};
    const char *name = setup->command->items[0];
    if (strchr(name, '/') != NULL && name[0] != '/')
        TRY(buffer_printf(&path, "%s/", setup->directory));
    TRY(buffer_printf(&path, "%s", name));
    TRY(diagnosis_alternatives(path.data, function, &names));
    if (names.size == 0)
        return NULL;
    return buffer_printf(text, "; %s imports %s", file_base_name(name), names.data);
}

static struct error *put_why(const struct untested_faults *untested, const struct call_plan *plan,
                             const struct injector_setup *setup, size_t fault, struct buffer *text)
{
    const struct scenario_rule_view rule = scenario_rule(plan->faults, fault);
    if (call_plan_is_called(plan, fault))
        return buffer_printf(text, "the reference runs agree on none of its calls");
    if (fault < untested->count && untested->whys[fault] != NULL)
        return buffer_printf(text, "%s", untested->whys[fault]);
    if (strpbrk(rule.function, "*?[") != NULL)
        return buffer_printf(text, "no such function is ever called");
    TRY(buffer_printf(text, "%s is never called", rule.function));
    return put_relatives(setup, rule.function, text);
}

// Adds a remark for each called function that cannot return the fault's value.
static struct error *tell_misfits(const struct call_plan *plan, size_t fault, remark_add *add,
                                  void *data)
{
    const struct scenario_rule_view rule = scenario_rule(plan->faults, fault);
    const char *told = "";
    for (size_t i = 0; i < plan->recording.calls.count; i++) {
        const struct recorded_call *call = &plan->recording.calls.items[i];
        const char *failure = scenario_rule_impossible_result(plan->faults, fault, call->function);
        if (failure == NULL || strcmp(told, call->function) == 0 ||
            !scenario_rule_covers(plan->faults, fault, call->library, call->function))
            continue;
        told = call->function; // calls are sorted by function
        _cleanup_(buffer_deinit) struct buffer text = {0};
        bool left_out = call_plan_leaves_out(plan, fault, call->function);
        if (!left_out)
            TRY(buffer_printf(&text, "%s: ", rule.text));
        TRY(buffer_printf(&text, "this is not how %s fails, it returns %s%s", call->function,
                          failure, left_out ? "" : "; verdicts on it say little"));
        const struct store_remark remark = {.kind = left_out ? REMARK_UNTESTED : REMARK_NOTE,
                                            .about = left_out ? rule.text : NULL,
                                            .text = text.data};
        TRY(add(data, &remark));
    }
    return NULL;
}

// Whether all called functions of the fault are left out for that reason.
static bool is_misfit(const struct call_plan *plan, size_t fault)
{
    bool called = false;
    for (size_t i = 0; i < plan->recording.calls.count; i++) {
        const struct recorded_call *call = &plan->recording.calls.items[i];
        if (!scenario_rule_covers(plan->faults, fault, call->library, call->function))
            continue;
        called = true;
        if (!call_plan_leaves_out(plan, fault, call->function))
            return false;
    }
    return called;
}

struct error *untested_faults_remark(const struct untested_faults *untested,
                                     const struct call_plan *plan,
                                     const struct injector_setup *setup, remark_add *add,
                                     void *data)
{
    for (size_t i = 0; i < scenario_rule_count(plan->faults); i++) {
        TRY(tell_misfits(plan, i, add, data));
        const struct scenario_rule_view rule = scenario_rule(plan->faults, i);
        bool stands_for_class;
        if ((plan->made != NULL && plan->made[i] != 0) || is_misfit(plan, i) ||
            call_plan_is_idle_member(plan, i, &stands_for_class))
            continue;
        _cleanup_(buffer_deinit) struct buffer why = {0};
        TRY(stands_for_class ? buffer_printf(&why, "no function of this class is ever called")
                             : put_why(untested, plan, setup, i, &why));
        const struct store_remark remark = {.kind = REMARK_UNTESTED,
                                            .about = stands_for_class ? rule.class_text : rule.text,
                                            .text = why.data};
        TRY(add(data, &remark));
    }
    if (plan->uncertain == 0)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text,
                      "%llu calls were left out: not every reference run makes them, or not in the "
                      "same process",
                      (unsigned long long)plan->uncertain));
    return add(data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
}

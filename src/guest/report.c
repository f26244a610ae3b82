// SPDX-License-Identifier: GPL-3.0-or-later
// The report on a guest's run as JSON.
#include "guest/report.h"

#include "base/cleanup.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const guest_phase_names[GUEST_PHASES] = {"boot", "pretest", "workload", "posttest",
                                                     "shutdown"};
const char *const guest_end_names[GUEST_ENDS] = {"stable", "not-run", "pretest-failed", "crashed",
                                                 "unfinished"};
const char *const guest_crash_names[GUEST_CRASHES] = {"none",  "panic", "oops",  "triple-fault",
                                                      "reset", "hang",  "broken"};

const char *const guest_action_names[GUEST_ACTIONS] = {"none", "offline", "kill", "panic"};

void guest_report_deinit(struct guest_report *report)
{
    free(report->reason);
    free(report->console);
    free(report->stack);
    free(report->rule);
    *report = (struct guest_report){0};
}

static void release(json_t **value)
{
    json_decref(*value);
}

static json_t *text_or_null(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    return value != NULL ? value : json_null();
}

// A severity's name, or its number if it is no level.
static json_t *severity_json(int severity)
{
    return severity >= 0 && severity < MCE_SEVERITIES ? json_string(mce_severity_names[severity])
                                                      : json_integer((json_int_t)severity);
}

static json_t *grades_json(const struct guest_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->grade_count; i++) {
        const struct guest_grade *grade = &report->grades[i];
        char status[24], global[24];
        snprintf(status, sizeof status, "%#llx", (unsigned long long)grade->status);
        snprintf(global, sizeof global, "%#llx", (unsigned long long)grade->global);
        if (json_array_append_new(list,
                                  json_pack("{s:s, s:s, s:i, s:s, s:o, s:s}", "status", status,
                                            "mcgstatus", global, "bank", (int)grade->bank, "in",
                                            grade->in_user ? "user" : "kernel", "severity",
                                            severity_json(grade->severity), "rules",
                                            mce_severity_names[grade->wanted])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

struct error *guest_report_write(const struct guest_report *report, struct buffer *text)
{
    _cleanup_(release) json_t *phases = json_object();
    for (int i = 0; i < GUEST_PHASES; i++)
        if (json_object_set_new(phases, guest_phase_names[i],
                                json_integer((json_int_t)report->phase_ns[i])) != 0)
            return error_no_memory();
    _cleanup_(release) json_t *object = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:b, s:o, s:I, s:o, s:o, s:i, s:O, s:s, s:b, s:o}",
        "end", guest_end_names[report->end], "crash", guest_crash_names[report->crash], "phase",
        guest_phase_names[report->phase], "reason", text_or_null(report->reason), "console",
        text_or_null(report->console), "stack", text_or_null(report->stack), "activations",
        (json_int_t)report->activations, "more", report->more, "activated_in",
        report->activations != 0 ? json_string(guest_phase_names[report->activated_in])
                                 : json_null(),
        "activated_ns", (json_int_t)report->activated_ns, "action",
        report->machine_checks ? json_string(guest_action_names[report->action]) : json_null(),
        "rule", text_or_null(report->rule), "status", report->status, "phase_ns", phases,
        "accelerator", report->accelerator, "snapshot", report->snapshot, "grades",
        grades_json(report));
    _cleanup_free_ char *line = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    return line != NULL ? buffer_printf(text, "%s\n", line) : error_no_memory();
}

static bool find(const json_t *value, const char *const *names, size_t count, size_t *ret_index)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < count; i++)
        if (strcmp(names[i], text) == 0) {
            *ret_index = i;
            return true;
        }
    return false;
}

static struct error *take_text(const json_t *object, const char *key, char **ret_text)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL)
        return NULL;
    *ret_text = strdup(text);
    return *ret_text != NULL ? NULL : error_no_memory();
}

static uint64_t number(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

struct error *guest_report_read(const char *text, size_t size, struct guest_report *ret_report)
{
    _cleanup_(guest_report_deinit) struct guest_report report = {0};
    _cleanup_(release) json_t *object = json_loadb(text, size, 0, NULL);
    size_t end, crash, phase, activated_in = 0, action = 0;
    if (!find(json_object_get(object, "end"), guest_end_names, GUEST_ENDS, &end) ||
        !find(json_object_get(object, "crash"), guest_crash_names, GUEST_CRASHES, &crash) ||
        !find(json_object_get(object, "phase"), guest_phase_names, GUEST_PHASES, &phase))
        return error_new("this is no report on a guest");
    report.end = (enum guest_end)end;
    report.crash = (enum guest_crash)crash;
    report.phase = (enum guest_phase)phase;
    TRY(take_text(object, "reason", &report.reason));
    TRY(take_text(object, "console", &report.console));
    TRY(take_text(object, "stack", &report.stack));
    TRY(take_text(object, "rule", &report.rule));
    report.snapshot = json_is_true(json_object_get(object, "snapshot"));
    report.machine_checks =
        find(json_object_get(object, "action"), guest_action_names, GUEST_ACTIONS, &action);
    report.action = (enum guest_action)action;
    report.activations = number(object, "activations");
    report.more = json_is_true(json_object_get(object, "more"));
    if (find(json_object_get(object, "activated_in"), guest_phase_names, GUEST_PHASES,
             &activated_in))
        report.activated_in = (enum guest_phase)activated_in;
    report.activated_ns = number(object, "activated_ns");
    report.status = (int)json_integer_value(json_object_get(object, "status"));
    const json_t *phases = json_object_get(object, "phase_ns");
    for (int i = 0; i < GUEST_PHASES; i++)
        report.phase_ns[i] = number(phases, guest_phase_names[i]);
    const char *accelerator = json_string_value(json_object_get(object, "accelerator"));
    if (accelerator != NULL)
        strncat(report.accelerator, accelerator, sizeof report.accelerator - 1);
    *ret_report = report;
    report = (struct guest_report){0};
    return NULL;
}

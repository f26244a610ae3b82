// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a trial as JSON. A key whose value is unknown is left out.
#include "report/run/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/json.h"
#include "report/run/facts.h"
#include "report/text.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

struct page {
    struct json_builder builder;
    json_t *root;
    struct facts facts;
    const struct report_run *run;
};

static const struct {
    uint32_t bit;
    const char *name;
} actions[] = {
    {WIRE_RETURN, "return"},         {WIRE_ERRNO, "errno"},
    {WIRE_DELAY, "delay"},           {WIRE_SIGNAL, "signal"},
    {WIRE_SHORT, "short"},           {WIRE_OUT, "out"},
    {WIRE_PERFORMED, "performed"},   {WIRE_STREAM_ERROR, "stream-error"},
    {WIRE_STREAM_END, "stream-end"}, {WIRE_OBSERVE, "observe"},
    {WIRE_AFTER, "after"},
};

static void add_signal(struct page *page, json_t *object, int number)
{
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;
    if (name != NULL)
        json_add_format(&page->builder, object, "signal", "SIG%s", name);
    else
        json_add_format(&page->builder, object, "signal", "%d", number);
}

static void add_outcome(struct page *page)
{
    static const char *const kinds[] = {"unfinished", "exit", "signal", "timeout"};
    const struct wire_region *region = page->facts.view->region;
    uint32_t kind = region->outcome <= WIRE_OUTCOME_TIMEOUT ? region->outcome : 0;
    json_t *outcome = json_add_object(&page->builder, page->root, "outcome");
    json_add_string(&page->builder, outcome, "kind", kinds[kind]);
    if (kind == WIRE_OUTCOME_EXIT)
        json_add_signed(&page->builder, outcome, "status", region->outcome_status);
    if (kind == WIRE_OUTCOME_SIGNAL)
        add_signal(page, outcome, region->outcome_status);
    json_add_real(&page->builder, outcome, "seconds", clock_seconds(region->outcome_ns));
}

static void add_command(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    json_t *words = json_add_array(&page->builder, page->root, "command");
    const char *word = view->command;
    for (uint32_t i = 0; i < view->region->command_words && !page->builder.failed; i++) {
        json_add_string(&page->builder, words, NULL, word);
        word += strlen(word) + 1;
    }
}

static void add_rules(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    json_t *rules = json_add_array(&page->builder, page->root, "rules");
    for (uint32_t i = 0; i < view->rule_count && !page->builder.failed; i++) {
        enum rule_state state = page->facts.rule_states[i];
        const char *why = page->run->reasons != NULL ? page->run->reasons[i] : NULL;
        json_t *rule = json_add_object(&page->builder, rules, NULL);
        json_add_string(&page->builder, rule, "rule", wire_view_string(view, view->rules[i].text));
        if (view->rules[i].class_text != 0)
            json_add_string(&page->builder, rule, "class_rule",
                            wire_view_string(view, view->rules[i].class_text));
        json_add_string(&page->builder, rule, "state", facts_rule_state_name(state));
        if (state == RULE_CANNOT_APPLY && !page->facts.idle_members[i])
            json_add_string(&page->builder, rule, "why",
                            why != NULL ? why : "no process imports such a function");
        if (state == RULE_UNKNOWN)
            continue;
        json_add_integer(&page->builder, rule, "reached", view->rule_states[i].reached);
        json_add_integer(&page->builder, rule, "fired", view->rule_states[i].fired);
        json_add_integer(&page->builder, rule, "unfinished_stacks",
                         view->rule_states[i].unfinished);
        json_add_bool(&page->builder, rule, "exact", view->rule_states[i].uncounted == 0);
    }
}

static void add_frame(struct page *page, json_t *parent, const char *key,
                      const struct wire_record *record, unsigned index)
{
    struct frame found =
        facts_frame(&page->facts, record->frames[index], facts_frame_exact(record, index));
    json_t *frame = json_add_object(&page->builder, parent, key);
    if (found.module[0] != '\0')
        json_add_text(&page->builder, frame, "module", found.module, WIRE_MODULE_PATH);
    json_add_format(&page->builder, frame, "offset", "0x%llx", (unsigned long long)found.offset);
    if (found.position.symbol != NULL) {
        json_add_string(&page->builder, frame, "symbol", found.position.symbol);
        json_add_format(&page->builder, frame, "symbol_offset", "0x%llx",
                        (unsigned long long)found.position.symbol_offset);
    }
    if (found.position.file != NULL) {
        json_add_string(&page->builder, frame, "file", found.position.file);
        json_add_integer(&page->builder, frame, "line", found.position.line);
    }
}

static void add_rendered(struct page *page, json_t *parent, const char *key, struct error *error,
                         struct buffer *text)
{
    if (error != NULL)
        page->builder.failed = true;
    else
        json_add_string(&page->builder, parent, key, text->size != 0 ? text->data : "");
    error_free(error);
    buffer_deinit(text);
}

static void add_outs(struct page *page, json_t *injection, const struct wire_rule *rule)
{
    const struct wire_out *outs = facts_outs(&page->facts, rule);
    json_t *list = json_add_array(&page->builder, injection, "outs");
    for (uint32_t i = 0; i < rule->outs.count && !page->builder.failed; i++) {
        json_t *out = json_add_object(&page->builder, list, NULL);
        if (outs[i].argument != WIRE_OUT_RESULT)
            json_add_integer(&page->builder, out, "argument", outs[i].argument + 1);
        if (outs[i].steps != 0) {
            json_t *steps = json_add_array(&page->builder, out, "steps");
            for (uint32_t j = 0; j < outs[i].steps; j++)
                json_add_signed(&page->builder, steps, NULL, (int64_t)outs[i].before[j]);
        }
        if (outs[i].kind != WIRE_OUT_SET)
            json_add_string(&page->builder, out, "change",
                            outs[i].kind == WIRE_OUT_KEPT ? "kept" : "xor");
        json_add_integer(&page->builder, out, "offset", outs[i].offset);
        json_add_integer(&page->builder, out, "width", outs[i].width);
        json_add_signed(&page->builder, out, "value", (int64_t)outs[i].value);
    }
}

static void add_actions(struct page *page, json_t *injection, const struct wire_record *record)
{
    json_t *list = json_add_array(&page->builder, injection, "actions");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (record->actions & actions[i].bit)
            json_add_string(&page->builder, list, NULL, actions[i].name);
    const struct wire_rule *rule = facts_rule(&page->facts, record);
    struct buffer text = {0};
    if (record->actions & WIRE_RETURN)
        add_rendered(page, injection, "value", facts_put_value(&page->facts, record, &text), &text);
    if (record->actions & WIRE_ERRNO) {
        const char *name = strerrorname_np(record->error);
        if (name != NULL && record->error != 0)
            json_add_string(&page->builder, injection, "errno", name);
        else
            json_add_format(&page->builder, injection, "errno", "%d", record->error);
    }
    if (record->actions & WIRE_DELAY && rule != NULL)
        json_add_real(&page->builder, injection, "delay_seconds", clock_seconds(rule->delay_ns));
    if (record->actions & WIRE_SIGNAL && rule != NULL)
        add_signal(page, injection, rule->signal);
    if (record->actions & WIRE_SHORT && rule != NULL) {
        json_add_integer(&page->builder, injection, "short_argument", rule->short_argument + 1);
        json_add_integer(&page->builder, injection, "short_to", record->value[0]);
    }
    if (record->actions & WIRE_OUT && rule != NULL)
        add_outs(page, injection, rule);
    const struct wire_record *result =
        record->actions & WIRE_OBSERVE ? facts_result(&page->facts, record) : NULL;
    if (result == NULL)
        return;
    json_t *returned = json_add_object(&page->builder, injection, "returned");
    json_add_format(&page->builder, returned, "value", "0x%llx",
                    (unsigned long long)result->value[0]);
    json_add_signed(&page->builder, returned, "errno", result->error);
    json_t *changed = json_add_array(&page->builder, returned, "changed");
    for (unsigned i = 0; i < WIRE_ARGUMENTS; i++)
        if ((result->actions >> i & 1) != 0)
            json_add_integer(&page->builder, changed, NULL, i + 1);
}

static void add_stack(struct page *page, json_t *parent, const struct wire_record *record)
{
    unsigned frames = facts_frame_count(record);
    json_t *stack = json_add_array(&page->builder, parent, "stack");
    for (unsigned i = 0; i < frames && !page->builder.failed; i++)
        add_frame(page, stack, NULL, record, i);
    json_add_bool(&page->builder, parent, "stack_cut", record->frames_cut != WIRE_CUT_NOT);
    json_add_bool(&page->builder, parent, "stack_unfinished",
                  record->frames_cut == WIRE_CUT_UNFINISHED);
}

static void add_caller(struct page *page, json_t *parent, const struct wire_record *record)
{
    struct json_builder *builder = &page->builder;
    json_add_integer(builder, parent, "pid", record->pid);
    json_add_integer(builder, parent, "tid", record->tid);
    json_add_integer(builder, parent, "process", record->process_number);
    json_add_integer(builder, parent, "thread", record->thread_number);
    json_add_text(builder, parent, "program", record->process_name, sizeof record->process_name);
}

static void add_injection(struct page *page, json_t *list, const struct wire_record *record)
{
    struct json_builder *builder = &page->builder;
    json_t *injection = json_add_object(builder, list, NULL);
    json_add_integer(builder, injection, "rule", record->rule);
    json_add_text(builder, injection, "function", record->function, WIRE_FUNCTION_NAME);
    char library[WIRE_MODULE_PATH + 1] = "";
    strncpy(library, facts_module(&page->facts, record->library), WIRE_MODULE_PATH);
    if (library[0] != '\0')
        json_add_string(builder, injection, "library", file_base_name(library));
    add_actions(page, injection, record);
    json_add_string(builder, injection, "trigger", facts_condition(&page->facts, record));
    add_caller(page, injection, record);
    json_add_integer(builder, injection, "occurrence", record->occurrence);
    json_add_real(builder, injection, "seconds", clock_seconds(record->time_ns));
    json_t *arguments = json_add_array(builder, injection, "arguments");
    const struct call_arguments found = facts_arguments(&page->facts, record);
    for (unsigned i = 0; i < found.count; i++) {
        struct buffer text = {0};
        struct error *error = facts_put_argument(&found, record, i, &text);
        add_rendered(page, arguments, NULL, error, &text);
    }
    json_add_bool(builder, injection, "arguments_known", found.kinds != NULL);
    if (facts_frame_count(record) != 0)
        add_frame(page, injection, "site", record, 0);
    add_stack(page, injection, record);
}

static void add_injections(struct page *page)
{
    json_t *list = json_add_array(&page->builder, page->root, "injections");
    for (uint32_t i = 0; i < page->facts.view->record_count && !page->builder.failed; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_INJECTION);
        if (record != NULL)
            add_injection(page, list, record);
    }
}

static void add_crashes(struct page *page)
{
    json_t *list = json_add_array(&page->builder, page->root, "crashes");
    for (uint32_t i = 0; i < page->facts.view->record_count && !page->builder.failed; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_CRASH);
        if (record == NULL)
            continue;
        json_t *crash = json_add_object(&page->builder, list, NULL);
        add_signal(page, crash, record->error);
        if (record->actions & WIRE_CRASH_FAULT)
            json_add_format(&page->builder, crash, "address", "0x%llx",
                            (unsigned long long)record->value[0]);
        json_add_bool(&page->builder, crash, "sent", (record->actions & WIRE_CRASH_SENT) != 0);
        if (record->actions & WIRE_CRASH_SENT && record->value[1] != 0)
            json_add_integer(&page->builder, crash, "sender", record->value[1]);
        add_caller(page, crash, record);
        json_add_real(&page->builder, crash, "seconds", clock_seconds(record->time_ns));
        add_stack(page, crash, record);
    }
}

static void add_notes(struct page *page)
{
    json_t *list = json_add_array(&page->builder, page->root, "notes");
    for (uint32_t i = 0; i < page->facts.view->record_count && !page->builder.failed; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_NOTE);
        if (record == NULL)
            continue;
        json_t *note = json_add_object(&page->builder, list, NULL);
        json_add_string(&page->builder, note, "note", facts_note_name(record->note));
        json_add_text(&page->builder, note, "text", record->text, sizeof record->text);
        json_add_integer(&page->builder, note, "pid", record->pid);
        json_add_text(&page->builder, note, "program", record->process_name,
                      sizeof record->process_name);
    }
    json_t *warnings = json_add_array(&page->builder, page->root, "warnings");
    for (size_t i = 0; i < page->run->warning_count; i++)
        json_add_string(&page->builder, warnings, NULL, page->run->warnings[i]);
}

static void add_sandbox(struct page *page)
{
    const struct report_run *run = page->run;
    if (run->sandbox == NULL)
        return;
    json_t *sandbox = json_add_object(&page->builder, page->root, "sandbox");
    json_add_string(&page->builder, sandbox, "kind", run->sandbox);
    json_add_integer(&page->builder, sandbox, "changed", run->changed);
    json_t *list = json_add_array(&page->builder, sandbox, "changes");
    for (size_t i = 0; i < run->change_count; i++) {
        json_t *change = json_add_object(&page->builder, list, NULL);
        json_add_string(&page->builder, change, "path", run->changes[i].path);
        json_add_string(&page->builder, change, "kind", facts_change_name(run->changes[i].kind));
        if (run->changes[i].kind == SANDBOX_FILE)
            json_add_integer(&page->builder, change, "size", run->changes[i].size);
    }
}

static void add_journal(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    if (view->damage != WIRE_DAMAGE_NONE) {
        json_add_string(&page->builder, page->root, "damage", wire_damage_text(view->damage).name);
        return;
    }
    json_t *journal = json_add_object(&page->builder, page->root, "journal");
    json_add_integer(&page->builder, journal, "capacity", view->region->journal_capacity);
    json_add_integer(&page->builder, journal, "records", view->record_count);
    json_add_integer(&page->builder, journal, "lost", page->facts.lost);
    json_add_integer(&page->builder, journal, "torn", page->facts.torn);
    json_add_integer(&page->builder, page->root, "processes", view->region->processes);
    json_add_integer(&page->builder, page->root, "forks", view->region->forks);
}

struct error *report_run_json(const struct report_run *run, struct buffer *ret_text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct page page = {.run = run, .root = root, .builder = {.failed = root == NULL}};
    struct error *error = facts_init(&page.facts, run->view, run->symbolize);
    if (error == NULL) {
        json_add_string(&page.builder, root, "ordeal", ORDEAL_VERSION);
        add_command(&page);
        json_add_integer(&page.builder, root, "seed", run->view->plan->seed);
        add_outcome(&page);
        add_rules(&page);
        add_injections(&page);
        add_crashes(&page);
        add_notes(&page);
        if (run->state != NULL)
            report_state_json(run->state, &page.builder, root);
        add_sandbox(&page);
        add_journal(&page);
        error = json_write(&page.builder, root, ret_text);
    }
    facts_deinit(&page.facts);
    return error;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a trial for people: first what happened, then every injection, then the rules.
#include "report/run/page.h"

#include "base/cleanup.h"
#include "base/shell.h"
#include "report/text.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#define SHOWN_INJECTIONS 20
#define SHOWN_CRASHES    5
#define SHOWN_CHANGES    20

struct error *page_paint(struct page *page, enum colour colour)
{
    static const char *const codes[] = {"\33[0m",    "\33[1m",    "\33[2m", "\33[1;31m",
                                        "\33[1;32m", "\33[1;33m", "\33[36m"};
    if (!page->run->colour)
        return NULL;
    return buffer_append(&page->text, codes[colour], strlen(codes[colour]));
}

static struct error *put_command(struct page *page)
{
    const struct wire_view *view = page->facts.view;
    const char *word = view->command;
    for (uint32_t i = 0; i < view->region->command_words; i++) {
        if (i != 0)
            PUT(page, " ");
        if (page->text.size > 4096) {
            PUT(page, "...");
            return NULL;
        }
        TRY(shell_put_word(&page->text, word));
        word += strlen(word) + 1;
    }
    return NULL;
}

static struct error *put_signal(struct page *page, int number)
{
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;
    if (name == NULL)
        return buffer_printf(&page->text, "signal %d", number);
    return buffer_printf(&page->text, "SIG%s", name);
}

static struct error *put_outcome(struct page *page)
{
    const struct wire_region *region = page->facts.view->region;
    PUT(page, "ordeal: ");
    TRY(page_paint(page, BOLD));
    TRY(put_command(page));
    TRY(page_paint(page, PLAIN));
    PUT(page, "\n  ");
    switch (region->outcome) {
    case WIRE_OUTCOME_EXIT:
        PAINTED(page, region->outcome_status == 0 ? GREEN : YELLOW, "exit status %d",
                region->outcome_status);
        break;
    case WIRE_OUTCOME_SIGNAL:
        TRY(page_paint(page, RED));
        PUT(page, "killed by ");
        TRY(put_signal(page, region->outcome_status));
        TRY(page_paint(page, PLAIN));
        break;
    case WIRE_OUTCOME_TIMEOUT:
        PAINTED(page, RED, "timed out and was killed");
        break;
    default:
        PAINTED(page, YELLOW, "unfinished");
        break;
    }
    if (region->outcome != WIRE_OUTCOME_NONE) {
        PUT(page, " after ");
        TRY(text_put_duration(&page->text, region->outcome_ns));
    }
    // More faults may have been injected than the journal has room for. If a process died before it
    // could take a record, nobody felt its fault.
    uint64_t injected = page->facts.injections;
    if (page->facts.lost != 0 && page->facts.fired > injected)
        injected = page->facts.fired;
    if (page->run->state != NULL)
        injected += page->run->state->result->injected;
    if (page->facts.view->damage == WIRE_DAMAGE_NONE)
        PUT(page, ", %llu %s injected", (unsigned long long)injected,
            injected == 1 ? "fault" : "faults");
    PUT(page, ", seed %llu\n", (unsigned long long)page->facts.view->plan->seed);
    return NULL;
}

static struct error *put_call(struct page *page, const struct wire_record *record)
{
    TRY(page_paint(page, BOLD));
    TRY(text_put(&page->text, record->function, WIRE_FUNCTION_NAME, 0));
    PUT(page, "(");
    static const char *const registers[WIRE_ARGUMENTS] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    const struct call_arguments arguments = facts_arguments(&page->facts, record);
    for (unsigned i = 0; i < arguments.count; i++) {
        PUT(page, "%s", i != 0 ? ", " : "");
        if (arguments.kinds == NULL)
            PUT(page, "%s=", registers[i]);
        TRY(facts_put_argument(&arguments, record, i, &page->text));
    }
    PUT(page, ")");
    return page_paint(page, PLAIN);
}

static struct error *put_errno(struct page *page, int code)
{
    const char *name = strerrorname_np(code);
    if (name == NULL || code == 0)
        return buffer_printf(&page->text, "errno %d", code);
    return buffer_printf(&page->text, "%s", name);
}

static struct error *put_outs(struct page *page, const struct wire_rule *rule)
{
    const struct wire_out *outs = facts_outs(&page->facts, rule);
    for (uint32_t i = 0; i < rule->outs.count; i++) {
        if (outs[i].argument == WIRE_OUT_RESULT)
            PUT(page, ", out(result");
        else
            PUT(page, ", out(%u", outs[i].argument + 1);
        for (uint32_t j = 0; j < outs[i].steps; j++)
            PUT(page, "%+lld>", (long long)outs[i].before[j]);
        if (outs[i].offset != 0)
            PUT(page, "%+lld", (long long)outs[i].offset);
        if (outs[i].kind == WIRE_OUT_KEPT)
            PUT(page, ") = kept");
        else
            PUT(page, ") = %s%lld", outs[i].kind == WIRE_OUT_XOR ? "xor " : "",
                (long long)outs[i].value);
    }
    return NULL;
}

// Nobody knows the type of the result: small numbers are shown as such.
static struct error *put_observed(struct page *page, const struct wire_record *record)
{
    const struct wire_record *result = facts_result(&page->facts, record);
    PUT(page, ", observed");
    if (result == NULL) {
        PUT(page, "; it did not return");
        return NULL;
    }
    int64_t value = (int64_t)result->value[0];
    if (value >= INT32_MIN && value <= UINT32_MAX)
        PUT(page, "; it returned %d", (int32_t)value);
    else
        PUT(page, "; it returned 0x%llx", (unsigned long long)value);
    if (result->error != 0) {
        PUT(page, ", with errno ");
        return put_errno(page, result->error);
    }
    return NULL;
}

// Writes " = -1 EIO, delayed 50.0 ms, …".
static struct error *put_actions(struct page *page, const struct wire_record *record)
{
    const struct wire_rule *rule = facts_rule(&page->facts, record);
    TRY(page_paint(page, RED));
    if (record->actions & WIRE_RETURN) {
        PUT(page, " = ");
        TRY(facts_put_value(&page->facts, record, &page->text));
        if (record->actions & WIRE_ERRNO) {
            PUT(page, " ");
            TRY(put_errno(page, record->error));
        }
    } else if (record->actions & WIRE_ERRNO) {
        PUT(page, ", errno set to ");
        TRY(put_errno(page, record->error));
    }
    if (record->actions & WIRE_DELAY && rule != NULL) {
        PUT(page, ", delayed ");
        TRY(text_put_duration(&page->text, rule->delay_ns));
    }
    if (record->actions & WIRE_SIGNAL && rule != NULL) {
        PUT(page, ", raised ");
        TRY(put_signal(page, rule->signal));
    }
    if (record->actions & WIRE_SHORT)
        PUT(page, ", shortened to %llu", (unsigned long long)record->value[0]);
    if (record->actions & WIRE_OUT && rule != NULL)
        TRY(put_outs(page, rule));
    if (record->actions & WIRE_PERFORMED)
        PUT(page, ", but performed");
    if (record->actions & WIRE_OBSERVE)
        TRY(put_observed(page, record));
    if (record->actions & WIRE_STREAM_ERROR)
        PUT(page, ", stream marked as in error");
    if (record->actions & WIRE_STREAM_END)
        PUT(page, ", stream marked as at its end");
    return page_paint(page, PLAIN);
}

static struct error *put_frame(struct page *page, const struct wire_record *record, unsigned number)
{
    struct frame frame =
        facts_frame(&page->facts, record->frames[number], facts_frame_exact(record, number));
    PAINTED(page, DIM, "     #%-2u ", number);
    if (frame.module[0] == '\0') {
        PUT(page, "0x%llx\n", (unsigned long long)frame.offset);
        return NULL;
    }
    char path[WIRE_MODULE_PATH + 1];
    memcpy(path, frame.module, WIRE_MODULE_PATH);
    path[WIRE_MODULE_PATH] = '\0';
    if (frame.position.symbol != NULL) {
        TRY(page_paint(page, CYAN));
        TRY(text_put(&page->text, frame.position.symbol, SIZE_MAX, 0));
        TRY(page_paint(page, PLAIN));
        PUT(page, "+0x%llx  ", (unsigned long long)frame.position.symbol_offset);
    }
    if (frame.position.file != NULL) {
        TRY(text_put(&page->text, file_base_name(frame.position.file), SIZE_MAX, 0));
        PUT(page, ":%u  ", frame.position.line);
    }
    TRY(page_paint(page, DIM));
    TRY(text_put(&page->text, number == 0 ? path : file_base_name(path), SIZE_MAX, 0));
    PUT(page, "+0x%llx", (unsigned long long)frame.offset);
    TRY(page_paint(page, PLAIN));
    PUT(page, "\n");
    return NULL;
}

static struct error *put_frames(struct page *page, const struct wire_record *record)
{
    for (unsigned i = 0; i < facts_frame_count(record); i++)
        TRY(put_frame(page, record, i));
    if (record->frames_cut == WIRE_CUT_UNFINISHED)
        PAINTED(page, DIM,
                "     ... and frames that cannot be found: this code has no unwind table\n");
    else if (record->frames_cut == WIRE_CUT_FULL)
        PAINTED(page, DIM, "     ... and further frames\n");
    return NULL;
}

// Returns the number of an earlier injection with the same stack, or 0. Remembers this one.
static uint64_t same_stack(struct page *page, uint64_t number, const struct wire_record *record)
{
    unsigned frames = facts_frame_count(record);
    for (size_t i = 0; i < page->stack_count; i++) {
        const struct wire_record *other = page->stacks[i].record;
        if (facts_frame_count(other) == frames && other->frames_cut == record->frames_cut &&
            memcmp(other->frames, record->frames, frames * sizeof *record->frames) == 0)
            return page->stacks[i].number;
    }
    if (page->stack_count < KNOWN_STACKS)
        page->stacks[page->stack_count++] =
            (struct known_stack){.record = record, .number = number};
    return 0;
}

static struct error *put_stack(struct page *page, uint64_t number, const struct wire_record *record)
{
    unsigned frames = facts_frame_count(record);
    uint64_t same = frames > 1 ? same_stack(page, number, record) : 0;
    if (same != 0) {
        PAINTED(page, DIM, "     same stack as %llu.\n", (unsigned long long)same);
        return NULL;
    }
    return put_frames(page, record);
}

static const char *ordinal(uint64_t number)
{
    if (number / 10 % 10 == 1)
        return "th";
    return number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

static struct error *put_injection(struct page *page, uint64_t number,
                                   const struct wire_record *record)
{
    PUT(page, "\n%3llu. ", (unsigned long long)number);
    TRY(put_call(page, record));
    TRY(put_actions(page, record));
    PUT(page, "\n     ");
    const char *condition = facts_condition(&page->facts, record);
    if (*condition != '\0') {
        PUT(page, "when ");
        TRY(text_put(&page->text, condition, SIZE_MAX, 0));
    } else {
        PUT(page, "always");
    }
    PUT(page, "\n     %llu%s call in ", (unsigned long long)record->occurrence,
        ordinal(record->occurrence));
    TRY(text_put(&page->text, record->process_name, sizeof record->process_name, 0));
    PUT(page, ", pid %u", record->pid);
    if (record->tid != record->pid)
        PUT(page, ", thread %u (tid %u)", record->thread_number, record->tid);
    PUT(page, ", ");
    TRY(text_put_duration(&page->text, record->time_ns));
    PUT(page, " after the start\n");
    return put_stack(page, number, record);
}

static struct error *put_injections(struct page *page)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < page->facts.view->record_count; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_INJECTION);
        if (record == NULL)
            continue;
        if (++number <= SHOWN_INJECTIONS || page->run->all)
            TRY(put_injection(page, number, record));
    }
    if (number > SHOWN_INJECTIONS && !page->run->all)
        PUT(page, "\n     ... and %llu more; --all or --json shows them\n",
            (unsigned long long)(number - SHOWN_INJECTIONS));
    return NULL;
}

static struct error *put_crash(struct page *page, const struct wire_record *record)
{
    PUT(page, "\n  ");
    TRY(page_paint(page, RED));
    TRY(text_put(&page->text, record->process_name, sizeof record->process_name, 0));
    PUT(page, " crashed: ");
    TRY(put_signal(page, record->error));
    if (record->actions & WIRE_CRASH_FAULT)
        PUT(page, " at address 0x%llx", (unsigned long long)record->value[0]);
    TRY(page_paint(page, PLAIN));
    if (record->actions & WIRE_CRASH_SENT && record->value[1] == record->pid)
        PUT(page, ", raised by itself");
    else if (record->actions & WIRE_CRASH_SENT)
        PUT(page, ", sent by pid %llu", (unsigned long long)record->value[1]);
    PUT(page, ", pid %u", record->pid);
    if (record->tid != record->pid)
        PUT(page, ", thread %u (tid %u)", record->thread_number, record->tid);
    PUT(page, ", ");
    TRY(text_put_duration(&page->text, record->time_ns));
    PUT(page, " after the start\n");
    return put_frames(page, record);
}

static struct error *put_crashes(struct page *page)
{
    uint64_t shown = 0;
    for (uint32_t i = 0; i < page->facts.view->record_count; i++) {
        const struct wire_record *record = facts_record(&page->facts, i, WIRE_RECORD_CRASH);
        if (record != NULL && (shown++ < SHOWN_CRASHES || page->run->all))
            TRY(put_crash(page, record));
    }
    if (shown > SHOWN_CRASHES && !page->run->all)
        PUT(page, "\n  ... and %llu more processes crashed; --all or --json shows them\n",
            (unsigned long long)(shown - SHOWN_CRASHES));
    return NULL;
}

const char *page_rule_text(const struct page *page, uint32_t index)
{
    const struct wire_rule *rule = &page->facts.view->rules[index];
    bool whole =
        rule->class_text != 0 && page->facts.rule_states[index] < RULE_REACHED && !page->run->all;
    return wire_view_string(page->facts.view, whole ? rule->class_text : rule->text);
}

static struct error *put_rule(struct page *page, uint32_t index)
{
    static const enum colour colours[] = {YELLOW, DIM, PLAIN, RED, YELLOW};
    const struct wire_view *view = page->facts.view;
    enum rule_state state = page->facts.rule_states[index];
    const struct wire_rule_state *counts = &view->rule_states[index];
    TRY(page_paint(page, colours[state]));
    switch (state) {
    case RULE_CANNOT_APPLY:
        PUT(page, "  CANNOT APPLY  ");
        break;
    case RULE_NOT_REACHED:
        PUT(page, "  not reached   ");
        break;
    case RULE_REACHED:
        PUT(page, view->rules[index].actions == 0 ? "  watched       " : "  not fired     ");
        break;
    case RULE_FIRED:
        PUT(page, "  fired         ");
        break;
    case RULE_UNKNOWN:
        PUT(page, "  unknown       ");
        break;
    }
    TRY(page_paint(page, PLAIN));
    TRY(text_put(&page->text, page_rule_text(page, index), SIZE_MAX, 0));
    const char *at_least = counts->uncounted != 0 ? "at least " : "";
    if (state == RULE_FIRED)
        PUT(page, "  (%llu of %s%llu %s)", (unsigned long long)counts->fired, at_least,
            (unsigned long long)counts->reached, counts->reached == 1 ? "call" : "calls");
    if (state == RULE_REACHED)
        PUT(page, "  (%s%llu %s)", at_least, (unsigned long long)counts->reached,
            counts->reached == 1 ? "call" : "calls");
    PUT(page, "\n");
    return NULL;
}

static struct error *put_rules(struct page *page)
{
    // A scenario may have thousands of rules: show those that did something, and count the others.
    const struct wire_view *view = page->facts.view;
    uint64_t hidden[RULE_UNKNOWN + 1] = {0};
    uint32_t shown = 0;
    for (uint32_t i = 0; i < view->rule_count; i++)
        shown += !page->facts.idle_members[i];
    bool all = page->run->all || shown <= 50;
    if (view->rule_count != 0)
        PUT(page, "\n");
    for (uint32_t i = 0; i < view->rule_count; i++) {
        enum rule_state state = page->facts.rule_states[i];
        if (page->facts.idle_members[i] && !page->run->all)
            continue;
        if (all || state == RULE_FIRED)
            TRY(put_rule(page, i));
        else
            hidden[state]++;
    }
    for (int state = 0; state <= RULE_FIRED; state++)
        if (hidden[state] != 0)
            PUT(page, "  ... and %llu rules %s; --all shows them\n",
                (unsigned long long)hidden[state], facts_rule_state_name((enum rule_state)state));
    return NULL;
}

static struct error *put_change(struct page *page, const struct sandbox_change *change)
{
    PUT(page, "  %-12s  ", facts_change_name(change->kind));
    TRY(text_put(&page->text, change->path, SIZE_MAX, 0));
    if (change->kind == SANDBOX_FILE && change->size == 0)
        PUT(page, "  (empty)");
    else if (change->kind == SANDBOX_FILE)
        PUT(page, "  (%llu %s)", (unsigned long long)change->size,
            change->size == 1 ? "byte" : "bytes");
    PUT(page, "\n");
    return NULL;
}

static struct error *put_changes(struct page *page)
{
    const struct report_run *run = page->run;
    if (run->sandbox == NULL)
        return NULL;
    if (run->changed == 0) {
        PUT(page, "\n  no file was changed in the sandbox\n");
        return NULL;
    }
    size_t shown =
        run->all || run->change_count < SHOWN_CHANGES ? run->change_count : SHOWN_CHANGES;
    PUT(page, "\n  changed in the sandbox, and discarded:\n");
    for (size_t i = 0; i < shown; i++)
        TRY(put_change(page, &run->changes[i]));
    if (run->changed > shown)
        PUT(page, "  ... and %zu more%s\n", run->changed - shown,
            shown < run->change_count ? "; --all or --json shows them" : "");
    return NULL;
}

static struct error *put_page(struct page *page)
{
    TRY(put_outcome(page));
    TRY(put_injections(page));
    TRY(put_crashes(page));
    TRY(put_rules(page));
    if (page->run->state != NULL)
        TRY(report_state_text(page->run->state, &page->text));
    TRY(put_changes(page));
    return page_put_warnings(page);
}

struct error *report_run_text(const struct report_run *run, struct buffer *ret_text)
{
    struct page page = {.run = run};
    struct error *error = facts_init(&page.facts, run->view, run->symbolize);
    if (error == NULL)
        error = put_page(&page);
    facts_deinit(&page.facts);
    if (error != NULL)
        buffer_deinit(&page.text);
    else
        *ret_text = page.text;
    return error;
}

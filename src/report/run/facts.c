// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what the records and counters of a region mean. A target may have written anything into
// them, so every number is checked here before it is used as an index.
#include "report/run/facts.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error *find_rule_states(struct facts *facts)
{
    const struct wire_view *view = facts->view;
    facts->rule_states = calloc(view->rule_count + 1, sizeof *facts->rule_states);
    if (facts->rule_states == NULL)
        return error_no_memory();
    for (uint32_t i = 0; view->damage != WIRE_DAMAGE_NONE && i < view->rule_count; i++)
        facts->rule_states[i] = RULE_UNKNOWN;
    if (view->damage != WIRE_DAMAGE_NONE)
        return NULL;
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        const uint32_t *refs = wire_view_rule_refs(view, &view->patterns[i]);
        for (uint32_t j = 0; j < view->patterns[i].rule_refs.count; j++)
            if (view->pattern_states[i].bound != 0)
                facts->rule_states[refs[j]] = RULE_NOT_REACHED;
    }
    for (uint32_t i = 0; i < view->rule_count; i++) {
        if (view->rule_states[i].fired != 0)
            facts->rule_states[i] = RULE_FIRED;
        else if (view->rule_states[i].reached != 0)
            facts->rule_states[i] = RULE_REACHED;
    }
    return NULL;
}

// Of a class of functions, programs use a few: the others say nothing. If none was used, the first
// stands for all.
static struct error *find_idle_members(struct facts *facts)
{
    const struct wire_view *view = facts->view;
    facts->idle_members = calloc(view->rule_count + 1, sizeof *facts->idle_members);
    if (facts->idle_members == NULL)
        return error_no_memory();
    for (uint32_t start = 0, end; start < view->rule_count; start = end) {
        uint32_t best = start, class_text = view->rules[start].class_text;
        for (end = start + 1;
             class_text != 0 && end < view->rule_count && view->rules[end].class_text == class_text;
             end++)
            if (facts->rule_states[end] > facts->rule_states[best])
                best = end;
        for (uint32_t i = start; i < end; i++)
            facts->idle_members[i] = i != best && facts->rule_states[i] < RULE_REACHED;
        for (uint32_t i = start; facts->rule_states[best] == RULE_FIRED && i < end; i++)
            facts->idle_members[i] = facts->rule_states[i] != RULE_FIRED;
    }
    return NULL;
}

struct error *facts_init(struct facts *facts, const struct wire_view *view, bool symbolize)
{
    *facts = (struct facts){.view = view, .symbolize = symbolize};
    for (uint32_t i = 0; i < view->record_count; i++) {
        const struct wire_record *record = &view->journal[i];
        facts->torn += record->state != WIRE_RECORD_COMPLETE;
        facts->injections += facts_record(facts, i, WIRE_RECORD_INJECTION) != NULL;
        facts->notes += facts_record(facts, i, WIRE_RECORD_NOTE) != NULL;
    }
    if (view->damage == WIRE_DAMAGE_NONE) {
        for (uint32_t i = 0; i < view->rule_count; i++)
            facts->fired += view->rule_states[i].fired;
        facts->lost = view->region->journal_head - view->record_count;
    }
    TRY(find_rule_states(facts));
    return find_idle_members(facts);
}

void facts_deinit(struct facts *facts)
{
    free(facts->rule_states);
    free(facts->idle_members);
    if (facts->symbolizer != NULL)
        dwarf_symbolizer_free(facts->symbolizer);
    *facts = (struct facts){0};
}

const char *facts_rule_state_name(enum rule_state state)
{
    static const char *const names[] = {"cannot-apply", "not-reached", "reached", "fired",
                                        "unknown"};
    return names[state];
}

static const struct {
    const char *name, *meaning;
} notes[] = {
    [WIRE_NOTE_NONE] = {"none", "said"},
    [WIRE_NOTE_UNRESOLVED_SYMBOL] = {"unresolved-symbol", "could not resolve the import"},
    [WIRE_NOTE_NO_SLOTS] = {"no-slots", "has no stub left to intercept"},
    [WIRE_NOTE_NO_ANSWER] = {"no-answer", "got no answer in time about the module"},
    [WIRE_NOTE_RESOLUTION_FAILED] = {"resolution-failed",
                                     "could not look up the scenario's places in the module"},
    [WIRE_NOTE_REMOTE_UNREACHABLE] = {"remote-unreachable",
                                      "let the call through, the coordinator was not reachable "
                                      "for remote"},
    [WIRE_NOTE_PLUGIN_MISSING] = {"plugin-missing",
                                  "ran without this plug-in, whose rules never fire there:"},
    [WIRE_NOTE_PLUGIN_VERSION] =
        {"plugin-version",
         "cannot use this plug-in, which was compiled for another version of ordeal.h:"},
    [WIRE_NOTE_PLUGIN_INIT] = {"plugin-init",
                               "ran without this plug-in, whose init function reported a failure:"},
    [WIRE_NOTE_MODULES_FULL] = {"modules-full", "has no room in the module table for"},
    [WIRE_NOTE_DISARMED] = {"disarmed", "took the injection out of itself:"},
    [WIRE_NOTE_OUT_FAULT] = {"out-fault", "gave an output pointer that cannot be written to"},
    [WIRE_NOTE_MEMORY] = {"memory", "could not allocate"},
    [WIRE_NOTE_NOT_ATTACHED] = {"not-attached",
                                "changed its user and has no descriptor of Ordeal's, so that "
                                "Ordeal was not attached to"},
    [WIRE_NOTE_SIGNAL_LIMITED] = {"signal-limited",
                                  "signalled only the processes of this run, where others would "
                                  "have got the signal, too:"},
    [WIRE_NOTE_SIGNAL_REFUSED] = {"signal-refused",
                                  "was refused a signal that would also go to processes outside "
                                  "of this run (they cannot be told apart without /proc):"},
    [WIRE_NOTE_NAMESPACE] = {"namespace", "loaded into a namespace of its own (dlmopen), in which "
                                          "calls are not intercepted,"},
    [WIRE_NOTE_KEPT] = {"kept-memory",
                        "kept the memory of Ordeal's runtime, which it tried to unmap, "
                        "replace or protect with"},
    [WIRE_NOTE_NOT_COVERED] = {"not-covered", "runs another file, whose coverage is not known, as"},
};

const char *facts_change_name(enum sandbox_change_kind kind)
{
    static const char *const kinds[] = {[SANDBOX_FILE] = "file",
                                        [SANDBOX_DIRECTORY] = "directory",
                                        [SANDBOX_LINK] = "link",
                                        [SANDBOX_OTHER] = "other",
                                        [SANDBOX_DELETED] = "deleted"};
    return kinds[kind];
}

const char *facts_note_name(uint32_t note)
{
    bool known = note < sizeof notes / sizeof *notes && notes[note].name != NULL;
    return known ? notes[note].name : "unknown";
}

const char *facts_note_meaning(uint32_t note)
{
    bool known = note < sizeof notes / sizeof *notes && notes[note].name != NULL;
    return known ? notes[note].meaning : "said";
}

const struct wire_record *facts_record(const struct facts *facts, uint32_t index,
                                       enum wire_record_kind kind)
{
    const struct wire_record *record = &facts->view->journal[index];
    return record->state == WIRE_RECORD_COMPLETE && record->kind == kind ? record : NULL;
}

const struct wire_record *facts_result(const struct facts *facts,
                                       const struct wire_record *injection)
{
    uint32_t from = (uint32_t)(injection - facts->view->journal);
    for (uint32_t i = from; i < facts->view->record_count; i++) {
        const struct wire_record *record = facts_record(facts, i, WIRE_RECORD_RESULT);
        // A call that was left by longjmp() has no result, and a later one must not lend it its
        // own.
        if (record != NULL && record->rule == injection->rule && record->pid == injection->pid &&
            record->tid == injection->tid && record->occurrence == injection->occurrence &&
            strncmp(record->function, injection->function, sizeof record->function) == 0)
            return record;
    }
    return NULL;
}

const struct wire_rule *facts_rule(const struct facts *facts, const struct wire_record *record)
{
    return record->rule < facts->view->rule_count ? &facts->view->rules[record->rule] : NULL;
}

const struct wire_out *facts_outs(const struct facts *facts, const struct wire_rule *rule)
{
    const struct wire_plan *plan = facts->view->plan;
    return (const struct wire_out *)((const char *)plan + plan->outs.offset) + rule->outs.offset;
}

const char *facts_condition(const struct facts *facts, const struct wire_record *record)
{
    const struct wire_rule *rule = facts_rule(facts, record);
    return rule != NULL ? wire_view_string(facts->view, rule->condition) : "";
}

const char *facts_module(const struct facts *facts, uint32_t index)
{
    if (index >= WIRE_MODULES || facts->view->modules[index].state < WIRE_MODULE_REGISTERED)
        return "";
    return facts->view->modules[index].path;
}

static struct error *put_floating(struct buffer *text, const struct wire_record *record,
                                  uint32_t kind)
{
    if (kind == WIRE_VALUE_FLOAT) {
        float value;
        memcpy(&value, record->value, sizeof value);
        return buffer_printf(text, "%.9g", (double)value);
    }
    if (kind == WIRE_VALUE_DOUBLE) {
        double value;
        memcpy(&value, record->value, sizeof value);
        return buffer_printf(text, "%.17g", value);
    }
    // An 80-bit number. Not every bit pattern is one that printf may be given.
    uint64_t mantissa = record->value[0], top = record->value[1] & 0xffff;
    if ((top & 0x7fff) != 0 && mantissa >> 63 == 0)
        return buffer_printf(text, "0x%04llx%016llx", (unsigned long long)top,
                             (unsigned long long)mantissa);
    long double value = 0;
    memcpy(&value, record->value, 10);
    return buffer_printf(text, "%.21Lg", value);
}

// Small numbers in decimal, all others in hexadecimal. A register may hold a negative int whose
// upper half is zero.
static struct error *put_integer(struct buffer *text, uint64_t bits)
{
    int64_t value = (int64_t)bits;
    if (bits <= UINT32_MAX && (int32_t)(uint32_t)bits < 0 && (int32_t)(uint32_t)bits >= -4096)
        return buffer_printf(text, "%d", (int32_t)(uint32_t)bits);
    if (value >= INT32_MIN && value <= UINT32_MAX)
        return buffer_printf(text, "%lld", (long long)value);
    return buffer_printf(text, "0x%llx", (unsigned long long)bits);
}

struct error *facts_put_value(const struct facts *facts, const struct wire_record *record,
                              struct buffer *text)
{
    const struct wire_rule *rule = facts_rule(facts, record);
    if (rule != NULL && rule->value_kind != WIRE_VALUE_INTEGER)
        return put_floating(text, record, rule->value_kind);
    return put_integer(text, record->value[0]);
}

unsigned facts_frame_count(const struct wire_record *record)
{
    return record->frame_count < WIRE_FRAMES ? record->frame_count : WIRE_FRAMES;
}

bool facts_frame_exact(const struct wire_record *record, unsigned index)
{
    return record->kind == WIRE_RECORD_CRASH && (index == 0 || index == record->occurrence);
}

struct frame facts_frame(struct facts *facts, uint64_t packed, bool exact)
{
    struct frame frame = {.module = facts_module(facts, WIRE_FRAME_MODULE(packed)),
                          .offset = WIRE_FRAME_OFFSET(packed)};
    if (!facts->symbolize || frame.module[0] == '\0')
        return frame;
    if (facts->symbolizer == NULL) {
        struct error *error = dwarf_symbolizer_new(&facts->symbolizer);
        if (error != NULL) { // the report works without names
            error_free(error);
            facts->symbolize = false;
            return frame;
        }
    }
    char path[WIRE_MODULE_PATH + 1];
    snprintf(path, sizeof path, "%.*s", WIRE_MODULE_PATH, frame.module);
    // A return address belongs to the instruction after the call, which may be in the next
    // function.
    frame.position = dwarf_symbolizer_find(facts->symbolizer, path, frame.offset - !exact);
    frame.position.symbol_offset += !exact;
    return frame;
}

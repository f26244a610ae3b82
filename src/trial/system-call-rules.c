// SPDX-License-Identifier: GPL-3.0-or-later
// What rules about system calls may say. The tracer looks at a call from outside: it knows its
// arguments, descriptors, process and stack, but no variable and no lock of the program.
#include "trial/system-call-rules.h"

#include "base/cleanup.h"
#include "base/suggestion.h"
#include "observe/linux-calls.h"
#include "scenario/tables.h"

#include <string.h>

bool system_call_is_named(const char *glob)
{
    for (size_t i = 0; i < linux_call_count(); i++)
        if (function_pattern_fits(glob, true, linux_call_at(i)->name))
            return true;
    return false;
}

static struct error *unknown(const char *name)
{
    struct suggestion meant = suggestion_start(name, strlen(name));
    for (size_t i = 0; i < linux_call_count(); i++)
        suggestion_offer(&meant, linux_call_at(i)->name);
    char storage[SUGGESTION_SIZE];
    return error_new("there is no system call '%s'%s", name, suggestion_text(&meant, storage));
}

// The trigger that an instruction comes from and that cannot be asked; NULL: it can.
static const char *out_of_reach(uint16_t op)
{
    switch (op) {
    case WIRE_OP_NEW_STACK:
        return "new_stack";
    case WIRE_OP_VARIABLE:
        return "var()";
    case WIRE_OP_HOLDING_MUTEX:
        return "holding_mutex";
    case WIRE_OP_AFTER:
        return "after()";
    case WIRE_OP_REMOTE:
        return "remote()";
    case WIRE_OP_PLUGIN:
        return "plugin()";
    case WIRE_OP_INSIDE:
        return "inside";
    case WIRE_OP_STREAM:
        return "a FILE";
    default:
        return NULL;
    }
}

static const char *text_of(const struct wire_plan *plan, uint32_t offset)
{
    return (const char *)plan + plan->strings.offset + offset;
}

static struct error *check_rule(const struct wire_plan *plan, const struct wire_rule *rule)
{
    const struct wire_instruction *code =
        (const struct wire_instruction *)((const char *)plan + plan->code.offset);
    const char *text = text_of(plan, rule->text);
    const char *beyond = NULL;
    for (uint32_t i = 0; beyond == NULL && i < rule->code.count; i++)
        beyond = out_of_reach(code[rule->code.offset + i].op);
    if (beyond != NULL)
        return error_new("the rule '%s' asks %s, which cannot be told of a system call", text,
                         beyond);
    if (rule->actions & WIRE_OBSERVE)
        return error_new("the rule '%s': system calls cannot be observed", text);
    if (rule->actions & WIRE_AFTER)
        return error_new("the rule '%s': nothing can come after a system call; leave out 'after'",
                         text);
    if (rule->actions & WIRE_ERRNO && !(rule->actions & WIRE_RETURN))
        return error_new("the rule '%s': a system call that goes through has no errno of its own",
                         text);
    if (!(rule->actions & WIRE_RETURN))
        return NULL;
    if (rule->value_kind != WIRE_VALUE_INTEGER)
        return error_new("the rule '%s': a system call returns an integer", text);
    if (!(rule->actions & WIRE_ERRNO) && (int64_t)rule->value[0] == -1)
        return error_new("the rule '%s': say which error, as in -1/EIO; the kernel has no -1 "
                         "without one",
                         text);
    return NULL;
}

struct error *system_call_rules_check(const struct wire_plan *plan)
{
    const char *bytes = (const char *)plan;
    const struct wire_pattern *patterns = (const void *)(bytes + plan->patterns.offset);
    const struct wire_rule *rules = (const void *)(bytes + plan->rules.offset);
    const uint32_t *refs = (const void *)(bytes + plan->rule_refs.offset);
    for (uint32_t i = 0; i < plan->patterns.count; i++) {
        const struct wire_pattern *pattern = &patterns[i];
        const char *library = text_of(plan, pattern->library);
        if (strcmp(library, WIRE_SYSTEM_CALLS) != 0 && strcmp(library, WIRE_GO_CALLS) != 0)
            continue;
        if (!system_call_is_named(text_of(plan, pattern->name)))
            return unknown(text_of(plan, pattern->name));
        for (uint32_t j = 0; j < pattern->rule_refs.count; j++)
            TRY(check_rule(plan, &rules[refs[pattern->rule_refs.offset + j]]));
    }
    return NULL;
}

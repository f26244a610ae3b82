// SPDX-License-Identifier: GPL-3.0-or-later
// Adds a rule that was read to the scenario: checks its actions, composes its texts and compiles
// its condition.
#include "scenario/rule.h"

#include "base/cleanup.h"
#include "scenario/codegen.h"

#include <stdio.h>
#include <string.h>

static bool is_about_calls(const struct draft *draft)
{
    return draft->library.size != 0 && (strcmp(draft->library.chars, WIRE_SYSTEM_CALLS) == 0 ||
                                        strcmp(draft->library.chars, WIRE_GO_CALLS) == 0);
}

// What a function returns with an errno, or instead of it, depends on the function.
static struct error *fill_failure(struct scenario *scenario, struct draft *draft)
{
    struct actions *actions = &draft->actions;
    const char *failure = NULL, *function = draft->function.chars;
    if (!actions->is_failure)
        return NULL;
    if (is_about_calls(draft))
        failure = "-1";
    else if (!prototype_failure(function, &failure))
        return source_error(draft->action_source, draft->function_start,
                            "the functions that '%s' stands for fail with different values; write "
                            "%s=VALUE/ERRNO for one of them",
                            function, function);
    if (failure == NULL)
        failure = "-1";
    draft->action_text = (struct text){0}; // composed, with the value
    actions->value[0] = (uint64_t)prototype_failure_value(failure, actions->error);
    if (failure != PROTOTYPE_ERRNO)
        return scenario_text(scenario, failure, strlen(failure), &actions->value_text);
    const char *name = constant_name(CONSTANT_ERRNO, actions->error);
    char digits[16];
    snprintf(digits, sizeof digits, "%d", actions->error);
    name = name != NULL ? name : digits;
    actions->set &= ~(uint32_t)WIRE_ERRNO;
    actions->error = 0;
    return scenario_text(scenario, name, strlen(name), &actions->value_text);
}

static struct error *compose_texts(struct scenario *scenario, struct draft *draft)
{
    _cleanup_(buffer_deinit) struct buffer buffer = {0};
    if (draft->action_text.size == 0) {
        TRY(action_print(&draft->actions, &buffer));
        TRY(scenario_text_of(scenario, &buffer, &draft->action_text));
    }
    if (draft->text.size != 0)
        return NULL;
    buffer.size = 0;
    if (draft->library.size != 0)
        TRY(buffer_printf(&buffer, "%s:", draft->library.chars));
    TRY(buffer_printf(&buffer, "%s=%s", draft->function.chars, draft->action_text.chars));
    if (draft->condition_text.size != 0)
        TRY(buffer_printf(&buffer, " when %s", draft->condition_text.chars));
    return scenario_text_of(scenario, &buffer, &draft->text);
}

static struct error *copy_outs(struct scenario *scenario, const struct actions *actions,
                               struct wire_span *ret_span)
{
    ret_span->offset = (uint32_t)scenario->outs.count;
    for (unsigned i = 0; i < actions->out_count; i++) {
        struct wire_out *out = ARRAY_ADD(&scenario->outs);
        if (out == NULL)
            return error_no_memory();
        *out = actions->outs[i];
    }
    ret_span->count = actions->out_count;
    return NULL;
}

static void fill_actions(struct wire_rule *wire, const struct actions *actions)
{
    wire->actions = actions->set;
    wire->value_kind = actions->value_kind;
    memcpy(wire->value, actions->value, sizeof wire->value);
    wire->error = actions->error;
    wire->signal = actions->signal;
    wire->delay_ns = actions->delay_ns;
    wire->short_limit = actions->short_limit;
    wire->short_argument = actions->short_argument != 0 ? actions->short_argument - 1 : 0;
}

static struct error *add_one(struct scenario *scenario, struct draft *draft)
{
    if (scenario->rules.count >= SCENARIO_RULE_LIMIT)
        return error_new("a scenario can have at most %u rules", SCENARIO_RULE_LIMIT);
    struct rule rule = {0};
    TRY(fill_failure(scenario, draft));
    TRY(scenario_intern_pattern(scenario, draft->library, draft->function, &rule.pattern));
    struct pattern *pattern = &scenario->patterns.items[rule.pattern];
    TRY(action_check(&draft->actions, draft->action_source, draft->action_start, pattern));
    if (draft->arguments > pattern->arguments)
        pattern->arguments = draft->arguments;
    TRY(compose_texts(scenario, draft));
    rule.text = draft->text;
    rule.action = draft->action_text;
    rule.condition = draft->condition_text;
    rule.name = draft->name;
    rule.class_text = draft->class_text;
    fill_actions(&rule.wire, &draft->actions);
    rule.wire.text = draft->text.offset;
    rule.wire.condition = draft->condition_text.offset;
    rule.wire.class_text = draft->class_text.offset;
    TRY(copy_outs(scenario, &draft->actions, &rule.wire.outs));
    TRY(codegen_rule(scenario, (uint32_t)scenario->rules.count, rule.pattern,
                     draft->condition_source, draft->condition, &rule.wire));
    struct rule *slot = ARRAY_ADD(&scenario->rules);
    if (slot == NULL)
        return error_no_memory();
    *slot = rule;
    scenario->patterns.items[rule.pattern].rule_count++;
    return NULL;
}

// One value suits all members of a class only if they fail alike.
static struct error *check_class_value(const struct draft *draft, const char *class,
                                       const char *member)
{
    const struct actions *actions = &draft->actions;
    if (!(actions->set & WIRE_RETURN) || actions->is_failure || is_about_calls(draft) ||
        actions->value_kind != WIRE_VALUE_INTEGER)
        return NULL;
    const char *failure = prototype_impossible_result(member, actions->value[0]);
    if (failure == NULL)
        return NULL;
    return source_error(draft->action_source, actions->value_start,
                        "the functions of %s fail with different values, %s with %s; write "
                        "%s=error/ERRNO",
                        class, member, failure, class);
}

// A rule about a class is one rule for each of its members.
static struct error *add_class(struct scenario *scenario, struct draft *draft)
{
    char member[FUNCTION_NAME_SIZE];
    bool calls = is_about_calls(draft);
    const char *class = draft->function.chars;
    struct draft whole = *draft;
    TRY(compose_texts(scenario, &whole));
    for (size_t at = 0; function_class_next(class, calls, &at, member);)
        TRY(check_class_value(draft, class, member));
    for (size_t at = 0; function_class_next(class, calls, &at, member);) {
        struct draft part = *draft;
        part.class_text = whole.text;
        part.text = (struct text){0};
        TRY(scenario_text(scenario, member, strlen(member), &part.function));
        TRY(add_one(scenario, &part));
    }
    return NULL;
}

struct error *rule_add(struct scenario *scenario, struct draft *draft)
{
    if (draft->actions.is_failure && !(draft->actions.set & WIRE_ERRNO))
        return source_error(draft->action_source, draft->actions.value_start,
                            "say which error: %s=error/EIO", draft->function.chars);
    return is_function_class(draft->function.chars) ? add_class(scenario, draft)
                                                    : add_one(scenario, draft);
}

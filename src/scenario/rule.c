// SPDX-License-Identifier: GPL-3.0-or-later
// Adds a rule that was read to the scenario: checks its actions, composes its texts and compiles
// its condition.
#include "scenario/rule.h"

#include "base/cleanup.h"
#include "scenario/codegen.h"

#include <string.h>

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

struct error *rule_add(struct scenario *scenario, struct draft *draft)
{
    if (scenario->rules.count >= SCENARIO_RULE_LIMIT)
        return error_new("a scenario can have at most %u rules", SCENARIO_RULE_LIMIT);
    struct rule rule = {0};
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
    fill_actions(&rule.wire, &draft->actions);
    rule.wire.text = draft->text.offset;
    rule.wire.condition = draft->condition_text.offset;
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

// SPDX-License-Identifier: GPL-3.0-or-later
// Proves that a plan is safe to interpret: every offset, index and operand is in bounds, and every
// condition's stack use is known. Uses no library, so that the runtime can include it, too. Linear
// in the size of the plan.
#ifndef ORDEAL_WIRE_CHECK_H
#define ORDEAL_WIRE_CHECK_H

#include "wire/plan.h"

#include <stdint.h>

#define WIRE_CHECK_NEST      128 // nested jumps in one condition
#define WIRE_CHECK_ARGUMENTS 64  // arguments a condition may read, registers and stack
#define WIRE_CHECK_ERRNO     4095
#define WIRE_CHECK_SIGNAL    64

enum wire_check_code {
    WIRE_CHECK_OK,
    WIRE_CHECK_BAD_SIZE,
    WIRE_CHECK_BAD_ALIGNMENT,
    WIRE_CHECK_BAD_MAGIC,
    WIRE_CHECK_BAD_VERSION,
    WIRE_CHECK_BAD_SPAN,
    WIRE_CHECK_BAD_STRINGS,
    WIRE_CHECK_BAD_PATTERN,
    WIRE_CHECK_BAD_HASH,
    WIRE_CHECK_BAD_GLOBS,
    WIRE_CHECK_BAD_RULE_REFS,
    WIRE_CHECK_BAD_RULE,
    WIRE_CHECK_BAD_OUT,
    WIRE_CHECK_BAD_STACK,
    WIRE_CHECK_BAD_AFTER,
    WIRE_CHECK_BAD_PLUGIN,
    WIRE_CHECK_BAD_OPERAND,
    WIRE_CHECK_BAD_JUMP,
    WIRE_CHECK_BAD_DEPTH,
    WIRE_CHECK_BAD_USES,
};

// A plan under examination.
struct wire_checked {
    const unsigned char *bytes;
    const struct wire_plan *plan;
};

#define WIRE_CHECK_ARRAY(checked, type, member)                                                    \
    ((const type *)(const void *)((checked)->bytes + (checked)->plan->member.offset))

static inline int wire_check_span(const struct wire_plan *plan, struct wire_span span,
                                  uint64_t item_size, uint64_t alignment)
{
    uint64_t bytes = (uint64_t)span.count * item_size; // both below 2^32
    return span.offset % alignment == 0 && span.offset >= sizeof *plan &&
           span.offset <= plan->size && bytes <= plan->size - span.offset;
}

static inline int wire_check_spans(const struct wire_plan *plan)
{
    return wire_check_span(plan, plan->patterns, sizeof(struct wire_pattern), 4) &&
           wire_check_span(plan, plan->exact_hash, 4, 4) &&
           wire_check_span(plan, plan->globs, 4, 4) &&
           wire_check_span(plan, plan->rule_refs, 4, 4) &&
           wire_check_span(plan, plan->rules, sizeof(struct wire_rule), 8) &&
           wire_check_span(plan, plan->code, sizeof(struct wire_instruction), 8) &&
           wire_check_span(plan, plan->stacks, sizeof(struct wire_stack), 4) &&
           wire_check_span(plan, plan->stack_items, 4, 4) &&
           wire_check_span(plan, plan->outs, sizeof(struct wire_out), 8) &&
           wire_check_span(plan, plan->plugins, sizeof(struct wire_plugin), 4) &&
           wire_check_span(plan, plan->parameters, sizeof(struct wire_parameter), 4) &&
           wire_check_span(plan, plan->afters, sizeof(struct wire_after), 4) &&
           wire_check_span(plan, plan->stackless, 8, 8) &&
           (plan->stackless.count & (plan->stackless.count - 1)) == 0 &&
           wire_check_span(plan, plan->strings, 1, 1);
}

// Whether a slice of an array of `count` elements is inside it.
static inline int wire_check_slice(struct wire_span slice, uint32_t count)
{
    return slice.offset <= count && slice.count <= count - slice.offset;
}

static inline int wire_check_patterns(const struct wire_checked *checked)
{
    const struct wire_plan *plan = checked->plan;
    const struct wire_pattern *patterns = WIRE_CHECK_ARRAY(checked, struct wire_pattern, patterns);
    const uint32_t *refs = WIRE_CHECK_ARRAY(checked, uint32_t, rule_refs);
    uint32_t used = 0;
    for (uint32_t i = 0; i < plan->patterns.count; i++) {
        const struct wire_pattern *pattern = &patterns[i];
        if (pattern->name >= plan->strings.count || pattern->library >= plan->strings.count ||
            (pattern->flags & ~(uint32_t)(WIRE_GLOB | WIRE_VARIANTS | WIRE_OUTSIDE)) != 0 ||
            pattern->arguments > WIRE_ARGUMENTS || pattern->string_arguments >> WIRE_ARGUMENTS != 0)
            return WIRE_CHECK_BAD_PATTERN;
        if (pattern->rule_refs.offset != used ||
            !wire_check_slice(pattern->rule_refs, plan->rule_refs.count))
            return WIRE_CHECK_BAD_RULE_REFS;
        for (uint32_t j = 0; j < pattern->rule_refs.count; j++)
            if (refs[used + j] >= plan->rules.count ||
                (j > 0 && refs[used + j] <= refs[used + j - 1]))
                return WIRE_CHECK_BAD_RULE_REFS;
        used += pattern->rule_refs.count;
    }
    return used == plan->rule_refs.count ? WIRE_CHECK_OK : WIRE_CHECK_BAD_RULE_REFS;
}

static inline int wire_check_hash(const struct wire_checked *checked)
{
    const struct wire_plan *plan = checked->plan;
    const struct wire_pattern *patterns = WIRE_CHECK_ARRAY(checked, struct wire_pattern, patterns);
    const uint32_t *table = WIRE_CHECK_ARRAY(checked, uint32_t, exact_hash);
    const uint32_t *globs = WIRE_CHECK_ARRAY(checked, uint32_t, globs);
    uint32_t room = plan->exact_hash.count, exact = 0, entries = 0;
    for (uint32_t i = 0; i < plan->patterns.count; i++)
        exact += (patterns[i].flags & WIRE_GLOB) == 0;
    if (room == 0 || (room & (room - 1)) != 0 || exact >= room)
        return WIRE_CHECK_BAD_HASH;
    for (uint32_t i = 0; i < room; i++) {
        if (table[i] == 0)
            continue;
        if (table[i] > plan->patterns.count || (patterns[table[i] - 1].flags & WIRE_GLOB) != 0)
            return WIRE_CHECK_BAD_HASH;
        entries++;
    }
    if (entries != exact)
        return WIRE_CHECK_BAD_HASH;
    if (plan->globs.count != plan->patterns.count - exact)
        return WIRE_CHECK_BAD_GLOBS;
    for (uint32_t i = 0; i < plan->globs.count; i++)
        if (globs[i] >= plan->patterns.count || (patterns[globs[i]].flags & WIRE_GLOB) == 0)
            return WIRE_CHECK_BAD_GLOBS;
    return WIRE_CHECK_OK;
}

// How many values an operation pops; -1 for an unknown one. Jumps are handled elsewhere.
static inline int wire_check_pops(unsigned op)
{
    if (op <= WIRE_OP_NEW_STACK || op == WIRE_OP_ARGUMENT || op == WIRE_OP_VARIABLE ||
        (op >= WIRE_OP_HOLDING_MUTEX && op <= WIRE_OP_PLUGIN) || op == WIRE_OP_MATCH ||
        op == WIRE_OP_INSIDE)
        return 0;
    if ((op >= WIRE_OP_ARGUMENT_TEXT && op <= WIRE_OP_PATH) ||
        (op >= WIRE_OP_NOT && op <= WIRE_OP_COMPLEMENT) || op == WIRE_OP_BOOLEAN ||
        op == WIRE_OP_STREAM)
        return 1;
    if (op >= WIRE_OP_ADD && op <= WIRE_OP_GREATER_EQUAL)
        return 2;
    return -1;
}

static inline int wire_check_operands(const struct wire_plan *plan,
                                      const struct wire_instruction *instruction)
{
    switch (instruction->op) {
    case WIRE_OP_STACK:
        return instruction->b < plan->stacks.count;
    case WIRE_OP_ARGUMENT:
        return instruction->a < WIRE_CHECK_ARGUMENTS && instruction->b <= WIRE_ARG_U64;
    case WIRE_OP_ARGUMENT_TEXT:
    case WIRE_OP_FD_PATH:
    case WIRE_OP_PATH:
    case WIRE_OP_THREAD_NAME:
    case WIRE_OP_PROCESS_NAME:
        return instruction->a <= WIRE_MATCH_GLOB && instruction->b < plan->strings.count;
    case WIRE_OP_FD:
        return instruction->a <= WIRE_FD_CONNECTION;
    case WIRE_OP_VARIABLE:
        return instruction->b < plan->variable_count;
    case WIRE_OP_AFTER:
        return instruction->b < plan->afters.count;
    case WIRE_OP_REMOTE:
        return instruction->b < plan->strings.count;
    case WIRE_OP_PLUGIN:
        return instruction->b < plan->plugins.count;
    default:
        return 1;
    }
}

// Jumps whose targets lie ahead, innermost last. Targets never increase, so that one pass is a
// proof.
struct wire_check_jumps {
    struct {
        uint32_t target, depth;
    } list[WIRE_CHECK_NEST];
    uint32_t count;
};

static inline int wire_check_land(struct wire_check_jumps *jumps, uint32_t here, uint32_t depth)
{
    while (jumps->count != 0 && jumps->list[jumps->count - 1].target == here)
        if (jumps->list[--jumps->count].depth != depth)
            return 0;
    return 1;
}

static inline int wire_check_jump(struct wire_check_jumps *jumps, uint32_t target, uint32_t depth)
{
    if (jumps->count != 0) {
        uint32_t top = jumps->list[jumps->count - 1].target;
        if (target > top)
            return 0;
        if (target == top)
            return jumps->list[jumps->count - 1].depth == depth;
    }
    if (jumps->count == WIRE_CHECK_NEST)
        return 0;
    jumps->list[jumps->count].target = target;
    jumps->list[jumps->count].depth = depth;
    jumps->count++;
    return 1;
}

static inline int wire_check_code(const struct wire_checked *checked, struct wire_span code)
{
    const struct wire_instruction *all = WIRE_CHECK_ARRAY(checked, struct wire_instruction, code);
    struct wire_check_jumps jumps;
    jumps.count = 0;
    uint32_t depth = 0, end = code.offset + code.count;
    for (uint32_t i = code.offset; i < end; i++) {
        const struct wire_instruction *instruction = &all[i];
        if (!wire_check_land(&jumps, i, depth))
            return WIRE_CHECK_BAD_DEPTH;
        if (instruction->op == WIRE_OP_JUMP_IF_FALSE || instruction->op == WIRE_OP_JUMP_IF_TRUE) {
            if (instruction->b <= i || instruction->b > end)
                return WIRE_CHECK_BAD_JUMP;
            if (depth == 0)
                return WIRE_CHECK_BAD_DEPTH;
            if (!wire_check_jump(&jumps, instruction->b, depth))
                return WIRE_CHECK_BAD_JUMP;
            depth--;
            continue;
        }
        int pops = wire_check_pops(instruction->op);
        if (pops < 0 || !wire_check_operands(checked->plan, instruction))
            return WIRE_CHECK_BAD_OPERAND;
        if (depth < (uint32_t)pops)
            return WIRE_CHECK_BAD_DEPTH;
        depth = depth - (uint32_t)pops + 1;
        if (depth > WIRE_STACK_DEPTH)
            return WIRE_CHECK_BAD_DEPTH;
    }
    if (!wire_check_land(&jumps, end, depth) || depth != 1)
        return WIRE_CHECK_BAD_DEPTH;
    return WIRE_CHECK_OK;
}

static inline int wire_check_rule(const struct wire_plan *plan, const struct wire_rule *rule)
{
    const uint32_t known = WIRE_RETURN | WIRE_ERRNO | WIRE_DELAY | WIRE_SIGNAL | WIRE_SHORT |
                           WIRE_OUT | WIRE_PERFORMED | WIRE_SKIPPED | WIRE_OBSERVE | WIRE_AFTER;
    const uint32_t returning = WIRE_PERFORMED | WIRE_SKIPPED;
    if (rule->text >= plan->strings.count || rule->class_text >= plan->strings.count ||
        rule->condition >= plan->strings.count || (rule->actions & ~known) != 0 ||
        rule->value_kind > WIRE_VALUE_LONG_DOUBLE || rule->error < 0 ||
        rule->error > WIRE_CHECK_ERRNO || rule->signal < 0 || rule->signal > WIRE_CHECK_SIGNAL ||
        rule->short_argument >= WIRE_ARGUMENTS || rule->descriptor > WIRE_ARGUMENTS ||
        rule->stackless > 1)
        return 0;
    if ((rule->actions & WIRE_SIGNAL) != 0 && rule->signal == 0)
        return 0;
    if ((rule->actions & WIRE_SHORT) != 0 && (rule->actions & WIRE_RETURN) != 0)
        return 0;
    if ((rule->actions & WIRE_OBSERVE) != 0 && rule->actions != WIRE_OBSERVE)
        return 0;
    if ((rule->actions & WIRE_AFTER) != 0 && (rule->actions & (WIRE_DELAY | WIRE_OUT)) == 0)
        return 0;
    if ((rule->actions & returning) == returning ||
        ((rule->actions & returning) != 0 && (rule->actions & WIRE_RETURN) == 0))
        return 0;
    if (rule->site != WIRE_NONE && rule->site >= plan->query_count)
        return 0;
    if (rule->once > 1 || rule->new_stack > 1 || rule->site_exact > 1 || rule->count_step == 0 ||
        rule->count_first == 0)
        return 0;
    return rule->outs.count <= WIRE_OUT_MAX && wire_check_slice(rule->outs, plan->outs.count) &&
           wire_check_slice(rule->code, plan->code.count);
}

static inline int wire_check_rules(const struct wire_checked *checked)
{
    const struct wire_plan *plan = checked->plan;
    const struct wire_rule *rules = WIRE_CHECK_ARRAY(checked, struct wire_rule, rules);
    // The code of a rule follows that of the rule before, or is the same, so that checking is
    // linear.
    struct wire_span last = {0, 0};
    for (uint32_t i = 0; i < plan->rules.count; i++) {
        if (!wire_check_rule(plan, &rules[i]))
            return WIRE_CHECK_BAD_RULE;
        if (rules[i].code.count == 0 ||
            (rules[i].code.offset == last.offset && rules[i].code.count == last.count))
            continue;
        if (rules[i].code.offset < last.offset + last.count)
            return WIRE_CHECK_BAD_RULE;
        last = rules[i].code;
        int problem = wire_check_code(checked, rules[i].code);
        if (problem != WIRE_CHECK_OK)
            return problem;
    }
    return WIRE_CHECK_OK;
}

static inline int wire_check_stacks(const struct wire_checked *checked)
{
    const struct wire_plan *plan = checked->plan;
    const struct wire_stack *stacks = WIRE_CHECK_ARRAY(checked, struct wire_stack, stacks);
    const uint32_t *items = WIRE_CHECK_ARRAY(checked, uint32_t, stack_items);
    for (uint32_t i = 0; i < plan->stacks.count; i++)
        if (stacks[i].anchored > 1 || stacks[i].items.count == 0 ||
            stacks[i].items.count > WIRE_STACK_ITEMS ||
            !wire_check_slice(stacks[i].items, plan->stack_items.count) ||
            items[stacks[i].items.offset] == WIRE_STACK_GAP ||
            items[stacks[i].items.offset + stacks[i].items.count - 1] == WIRE_STACK_GAP)
            return WIRE_CHECK_BAD_STACK;
    for (uint32_t i = 0; i < plan->stack_items.count; i++)
        if (items[i] != WIRE_STACK_GAP && items[i] >= plan->query_count)
            return WIRE_CHECK_BAD_STACK;
    return WIRE_CHECK_OK;
}

static inline int wire_check_small_tables(const struct wire_checked *checked)
{
    const struct wire_plan *plan = checked->plan;
    const struct wire_out *outs = WIRE_CHECK_ARRAY(checked, struct wire_out, outs);
    const struct wire_after *afters = WIRE_CHECK_ARRAY(checked, struct wire_after, afters);
    const struct wire_plugin *plugins = WIRE_CHECK_ARRAY(checked, struct wire_plugin, plugins);
    const struct wire_parameter *parameters =
        WIRE_CHECK_ARRAY(checked, struct wire_parameter, parameters);
    for (uint32_t i = 0; i < plan->outs.count; i++)
        if (outs[i].argument > WIRE_OUT_RESULT || outs[i].kind >= WIRE_OUT_KINDS ||
            outs[i].steps > WIRE_OUT_STEPS || outs[i].width == 0 || outs[i].width > 8 ||
            (outs[i].width & (outs[i].width - 1)) != 0)
            return WIRE_CHECK_BAD_OUT;
    if (plan->afters.count > WIRE_AFTER_MAX)
        return WIRE_CHECK_BAD_AFTER;
    for (uint32_t i = 0; i < plan->afters.count; i++)
        if (afters[i].pattern >= plan->patterns.count || afters[i].rule >= plan->rules.count)
            return WIRE_CHECK_BAD_AFTER;
    for (uint32_t i = 0; i < plan->plugins.count; i++)
        if (plugins[i].name >= plan->strings.count || plugins[i].file >= plan->strings.count ||
            !wire_check_slice(plugins[i].parameters, plan->parameters.count))
            return WIRE_CHECK_BAD_PLUGIN;
    for (uint32_t i = 0; i < plan->parameters.count; i++)
        if (parameters[i].name >= plan->strings.count || parameters[i].value >= plan->strings.count)
            return WIRE_CHECK_BAD_PLUGIN;
    return WIRE_CHECK_OK;
}

static inline int wire_check_strings(const struct wire_checked *checked)
{
    struct wire_span strings = checked->plan->strings;
    const unsigned char *text = checked->bytes + strings.offset;
    return strings.count != 0 && text[0] == 0 && text[strings.count - 1] == 0;
}

// 0 if `size` bytes at `bytes` are a plan that can be interpreted without further checks, otherwise
// an enum wire_check_code that says what is wrong. `bytes` must be aligned to 8.
static inline int wire_plan_check(const void *bytes, uint64_t size)
{
    struct wire_checked checked;
    checked.bytes = (const unsigned char *)bytes;
    checked.plan = (const struct wire_plan *)bytes;
    if ((uintptr_t)bytes % 8 != 0)
        return WIRE_CHECK_BAD_ALIGNMENT;
    if (size < sizeof *checked.plan)
        return WIRE_CHECK_BAD_SIZE;
    if (checked.plan->magic != WIRE_PLAN_MAGIC)
        return WIRE_CHECK_BAD_MAGIC;
    if (checked.plan->version != WIRE_VERSION)
        return WIRE_CHECK_BAD_VERSION;
    if (checked.plan->size < sizeof *checked.plan || checked.plan->size > size)
        return WIRE_CHECK_BAD_SIZE;
    if (checked.plan->uses >> 6 != 0)
        return WIRE_CHECK_BAD_USES;
    if (!wire_check_spans(checked.plan))
        return WIRE_CHECK_BAD_SPAN;
    if (!wire_check_strings(&checked))
        return WIRE_CHECK_BAD_STRINGS;
    int problem = wire_check_patterns(&checked);
    if (problem == WIRE_CHECK_OK)
        problem = wire_check_hash(&checked);
    if (problem == WIRE_CHECK_OK)
        problem = wire_check_rules(&checked);
    if (problem == WIRE_CHECK_OK)
        problem = wire_check_stacks(&checked);
    if (problem == WIRE_CHECK_OK)
        problem = wire_check_small_tables(&checked);
    return problem;
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the scenario room share: reading a rule, expecting an error's exact text, and a
// small interpreter of the plan's code that stands in for the runtime.
#ifndef ORDEAL_TESTS_SCENARIO_HELP_H
#define ORDEAL_TESTS_SCENARIO_HELP_H

#include "base/cleanup.h"
#include "scenario/scenario.h"
#include "wire/check.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline void must(struct error *error)
{
    if (error != NULL)
        fail_msg("unexpected error: %s", error_message(error));
}

static inline struct scenario *new_scenario(void)
{
    struct scenario *scenario = NULL;
    must(scenario_new(&scenario));
    return scenario;
}

static inline void expect_error(struct error *error, const char *message)
{
    if (error == NULL)
        fail_msg("no error, expected: %s", message);
    assert_string_equal(error_message(error), message);
    error_free(error);
}

// A file that passes for a plug-in: a copy of some shared object.
static inline void write_plugin(const char *path)
{
    struct buffer bytes = {0};
    must(buffer_read_file("/bin/true", 1 << 24, &bytes));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
    buffer_deinit(&bytes);
}

// A compiled scenario with everything in reach.
struct plan {
    struct buffer bytes;
    const struct wire_plan *header;
    const struct wire_rule *rules;
    const struct wire_instruction *code;
    const struct wire_pattern *patterns;
    const char *strings;
};

static inline void plan_deinit(struct plan *plan)
{
    buffer_deinit(&plan->bytes);
}

static inline const void *plan_at(const struct plan *plan, struct wire_span span)
{
    return plan->bytes.data + span.offset;
}

static inline struct plan compile_plan(const struct scenario *scenario)
{
    struct plan plan = {0};
    must(scenario_compile(scenario, 42, &plan.bytes));
    assert_int_equal(wire_plan_check(plan.bytes.data, plan.bytes.size), 0);
    plan.header = (const void *)plan.bytes.data;
    plan.rules = plan_at(&plan, plan.header->rules);
    plan.code = plan_at(&plan, plan.header->code);
    plan.patterns = plan_at(&plan, plan.header->patterns);
    plan.strings = plan_at(&plan, plan.header->strings);
    return plan;
}

static inline struct plan compile_spec(const char *spec)
{
    struct scenario *scenario = new_scenario();
    struct error *error = scenario_add_spec(scenario, spec);
    if (error != NULL)
        fail_msg("'%s': %s", spec, error_message(error));
    struct plan plan = compile_plan(scenario);
    scenario_free(scenario);
    return plan;
}

// What a call looks like to the interpreter.
struct call {
    uint64_t count, arguments[8], time_ns, thread, process, mutexes;
    const char *thread_name, *process_name, *fd_path;
    unsigned fd_tests; // bit per enum wire_fd_test
    unsigned stacks;   // bit per stack that matches
    bool fired, random, is_new_stack, remote, after;
    int64_t variables[4];
    unsigned plugin_answers; // bit per plug-in
    unsigned plugin_calls;   // how often any was asked
    int64_t matches;         // how often `match` was
};

static inline bool text_matches(unsigned match, const char *pattern, const char *text)
{
    return text != NULL &&
           (match == WIRE_MATCH_GLOB ? fnmatch(pattern, text, 0) == 0 : strcmp(pattern, text) == 0);
}

static inline int64_t read_argument(uint64_t raw, uint32_t type)
{
    switch (type) {
    case WIRE_ARG_I32:
        return (int32_t)raw;
    case WIRE_ARG_U32:
        return (uint32_t)raw;
    case WIRE_ARG_I16:
        return (int16_t)raw;
    case WIRE_ARG_U16:
        return (uint16_t)raw;
    case WIRE_ARG_I8:
        return (int8_t)raw;
    case WIRE_ARG_U8:
        return (uint8_t)raw;
    default:
        return (int64_t)raw;
    }
}

static inline int64_t leaf(const struct plan *plan, const struct wire_instruction *at,
                           struct call *call)
{
    const char *text = plan->strings + at->b;
    switch (at->op) {
    case WIRE_OP_CONSTANT:
        return (int64_t)at->c;
    case WIRE_OP_COUNT:
        return (int64_t)call->count;
    case WIRE_OP_MATCH:
        return ++call->matches;
    case WIRE_OP_ONCE:
        return !call->fired;
    case WIRE_OP_RANDOM:
        return call->random;
    case WIRE_OP_STACK:
        return call->stacks >> at->b & 1;
    case WIRE_OP_NEW_STACK:
        return call->is_new_stack;
    case WIRE_OP_ARGUMENT:
        return read_argument(call->arguments[at->a], at->b);
    case WIRE_OP_VARIABLE:
        return call->variables[at->b];
    case WIRE_OP_HOLDING_MUTEX:
        return (int64_t)call->mutexes;
    case WIRE_OP_AFTER:
        return call->after;
    case WIRE_OP_THREAD_NUMBER:
        return (int64_t)call->thread;
    case WIRE_OP_THREAD_NAME:
        return text_matches(at->a, text, call->thread_name);
    case WIRE_OP_PROCESS_NUMBER:
        return (int64_t)call->process;
    case WIRE_OP_PROCESS_NAME:
        return text_matches(at->a, text, call->process_name);
    case WIRE_OP_TIME:
        return (int64_t)call->time_ns;
    case WIRE_OP_REMOTE:
        return call->remote;
    case WIRE_OP_PLUGIN:
        call->plugin_calls++;
        return call->plugin_answers >> at->b & 1;
    default:
        fail_msg("unknown operation %u", at->op);
        return 0;
    }
}

static inline int64_t unary(const struct plan *plan, const struct wire_instruction *at,
                            int64_t value, const struct call *call)
{
    const char *text = plan->strings + at->b;
    switch (at->op) {
    case WIRE_OP_ARGUMENT_TEXT:
    case WIRE_OP_PATH:
        return text_matches(at->a, text, (const char *)(uintptr_t)value);
    case WIRE_OP_FD:
        return call->fd_tests >> at->a & 1;
    case WIRE_OP_FD_PATH:
        return text_matches(at->a, text, call->fd_path);
    case WIRE_OP_NOT:
        return value == 0;
    case WIRE_OP_NEGATE:
        return (int64_t)(0 - (uint64_t)value);
    case WIRE_OP_COMPLEMENT:
        return ~value;
    default:
        return value != 0; // WIRE_OP_BOOLEAN
    }
}

static inline int64_t binary(unsigned op, int64_t left, int64_t right, bool *broken)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    if ((op == WIRE_OP_DIVIDE || op == WIRE_OP_REMAINDER) && right == 0) {
        *broken = true;
        return 0;
    }
    switch (op) {
    case WIRE_OP_ADD:
        return (int64_t)(a + b);
    case WIRE_OP_SUBTRACT:
        return (int64_t)(a - b);
    case WIRE_OP_MULTIPLY:
        return (int64_t)(a * b);
    case WIRE_OP_DIVIDE:
        return right == -1 ? (int64_t)(0 - a) : left / right;
    case WIRE_OP_REMAINDER:
        return right == -1 ? 0 : left % right;
    case WIRE_OP_AND:
        return (int64_t)(a & b);
    case WIRE_OP_OR:
        return (int64_t)(a | b);
    case WIRE_OP_XOR:
        return (int64_t)(a ^ b);
    case WIRE_OP_SHIFT_LEFT:
        return (int64_t)(a << (b & 63));
    case WIRE_OP_SHIFT_RIGHT:
        return left >> (b & 63);
    case WIRE_OP_EQUAL:
        return left == right;
    case WIRE_OP_NOT_EQUAL:
        return left != right;
    case WIRE_OP_LESS:
        return left < right;
    case WIRE_OP_LESS_EQUAL:
        return left <= right;
    case WIRE_OP_GREATER:
        return left > right;
    case WIRE_OP_GREATER_EQUAL:
        return left >= right;
    default:
        fail_msg("unknown operation %u", op);
        return 0;
    }
}

static inline bool gate_is_open(const struct wire_rule *rule, const struct call *call)
{
    return call->count >= rule->count_first && call->count <= rule->count_last &&
           (call->count - rule->count_first) % rule->count_step == 0;
}

// The value that a rule's condition leaves; 1 if it has none.
static inline int64_t evaluate(const struct plan *plan, size_t rule_index, struct call *call)
{
    const struct wire_rule *rule = &plan->rules[rule_index];
    int64_t stack[WIRE_STACK_DEPTH];
    unsigned depth = 0;
    bool broken = false;
    uint32_t end = rule->code.offset + rule->code.count;
    for (uint32_t i = rule->code.offset; i < end && !broken; i++) {
        const struct wire_instruction *at = &plan->code[i];
        if (at->op == WIRE_OP_JUMP_IF_FALSE || at->op == WIRE_OP_JUMP_IF_TRUE) {
            if ((stack[depth - 1] != 0) == (at->op == WIRE_OP_JUMP_IF_TRUE))
                i = at->b - 1;
            else
                depth--;
        } else if (wire_check_pops(at->op) == 0) {
            assert_true(depth < WIRE_STACK_DEPTH);
            stack[depth++] = leaf(plan, at, call);
        } else if (wire_check_pops(at->op) == 1) {
            stack[depth - 1] = unary(plan, at, stack[depth - 1], call);
        } else {
            depth--;
            stack[depth - 1] = binary(at->op, stack[depth - 1], stack[depth], &broken);
        }
    }
    if (rule->code.count == 0)
        return 1;
    if (broken)
        return 0;
    assert_int_equal(depth, 1);
    // A gate is never narrower than the condition.
    if (stack[0] != 0)
        assert_true(gate_is_open(rule, call));
    return stack[0];
}

static inline int64_t evaluate_text(const char *condition, struct call *call)
{
    char spec[8192];
    int size = snprintf(spec, sizeof spec, "f=0 when %s", condition);
    assert_true(size > 0 && (size_t)size < sizeof spec);
    _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
    return evaluate(&plan, 0, call);
}

#endif

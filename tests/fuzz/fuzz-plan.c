// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the plan's validator: it never reads outside of its bytes, and what it accepts can be
// interpreted blindly, which this does with every bound asserted. The input is a rule on a line of
// its own, whose plan is then damaged by what follows: two bytes say where, the third how. An input
// that starts with '!' is itself the plan.
#include "base/cleanup.h"
#include "scenario/scenario.h"
#include "wire/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

// Walks one condition with every conditional jump taken or not, as `choices` says.
static void walk(const struct wire_plan *plan, const struct wire_instruction *code,
                 struct wire_span span, uint64_t choices)
{
    unsigned depth = 0;
    uint32_t end = span.offset + span.count;
    for (uint32_t i = span.offset; i < end; i++) {
        unsigned op = code[i].op;
        require(op < WIRE_OP_COUNT_OF_OPS);
        if (op == WIRE_OP_JUMP_IF_FALSE || op == WIRE_OP_JUMP_IF_TRUE) {
            require(depth >= 1 && code[i].b > i && code[i].b <= end);
            if (choices & 1)
                i = code[i].b - 1;
            else
                depth--;
            choices = choices >> 1 | choices << 63;
            continue;
        }
        require(depth >= (unsigned)wire_check_pops(op));
        depth = depth - (unsigned)wire_check_pops(op) + 1;
        require(depth <= WIRE_STACK_DEPTH);
        require(wire_check_operands(plan, &code[i]));
    }
    require(depth == 1);
}

static void use_strings(const char *strings, uint32_t count, uint32_t offset)
{
    require(offset < count && strnlen(strings + offset, count - offset) < count - offset);
}

static void use_plan(const char *bytes)
{
    const struct wire_plan *plan = (const void *)bytes;
    const struct wire_rule *rules = (const void *)(bytes + plan->rules.offset);
    const struct wire_pattern *patterns = (const void *)(bytes + plan->patterns.offset);
    const uint32_t *table = (const void *)(bytes + plan->exact_hash.offset);
    const char *strings = bytes + plan->strings.offset;
    for (uint32_t i = 0; i < plan->rules.count; i++) {
        use_strings(strings, plan->strings.count, rules[i].text);
        if (rules[i].code.count == 0)
            continue;
        static const uint64_t choices[] = {0, UINT64_MAX, 0x5555555555555555, 0x123456789abcdef};
        for (unsigned k = 0; k < 4; k++)
            walk(plan, (const void *)(bytes + plan->code.offset), rules[i].code, choices[k]);
    }
    for (uint32_t i = 0; i < plan->patterns.count; i++) {
        use_strings(strings, plan->strings.count, patterns[i].name);
        // A search must come to an end.
        uint32_t mask = plan->exact_hash.count - 1, slot = wire_hash(strings + patterns[i].name);
        uint32_t steps = 0;
        for (slot &= mask; table[slot] != 0; slot = (slot + 1) & mask)
            require(++steps <= plan->exact_hash.count && table[slot] <= plan->patterns.count);
    }
}

// Compiles the rule on the first line; NULL if it is none.
static char *compile(const char *line, size_t size, size_t *ret_size)
{
    struct scenario *scenario = NULL;
    char *spec = strndup(line, size);
    require(spec != NULL && scenario_new(&scenario) == NULL);
    struct buffer plan = {0};
    struct error *error = scenario_add_spec(scenario, spec);
    if (error == NULL)
        error = scenario_compile(scenario, 1, &plan);
    error_free(error);
    scenario_free(scenario);
    free(spec);
    // A copy of the exact size, so that reading past the end is noticed.
    char *bytes = plan.size != 0 ? malloc(plan.size) : NULL;
    if (bytes != NULL)
        memcpy(bytes, plan.data, plan.size);
    *ret_size = plan.size;
    buffer_deinit(&plan);
    return bytes;
}

static char *damaged_plan(const uint8_t *data, size_t size, size_t *ret_size)
{
    const uint8_t *end = memchr(data, '\n', size);
    size_t line = end != NULL ? (size_t)(end - data) : size;
    char *bytes = compile((const char *)data, line, ret_size);
    for (size_t i = line + 1; bytes != NULL && i + 2 < size; i += 3)
        bytes[(data[i] | (size_t)data[i + 1] << 8) % *ret_size] ^= (char)data[i + 2];
    return bytes;
}

static char *raw_plan(const uint8_t *data, size_t size, size_t *ret_size)
{
    char *bytes = malloc(size);
    require(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    *ret_size = size - 1;
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t plan_size = 0;
    if (size == 0)
        return 0;
    char *bytes =
        data[0] == '!' ? raw_plan(data, size, &plan_size) : damaged_plan(data, size, &plan_size);
    if (bytes != NULL && wire_plan_check(bytes, plan_size) == 0)
        use_plan(bytes);
    free(bytes);
    return 0;
}

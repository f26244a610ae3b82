// SPDX-License-Identifier: GPL-3.0-or-later
// wire_plan_check(): accepts what the compiler makes, refuses every way of breaking it, and never
// reads outside of the bytes it was given.
#include "scenario-help.h"

#include <sys/mman.h>

static struct scenario *sample(void)
{
    static const char *const specs[] = {
        "libc:read=-1/EIO when count in 3..9+2 and caller(main, ..., start) and arg(3) > 5",
        "*alloc=NULL/ENOMEM when random(0.5) and once",
        "waitpid=out(2)=0, out(1:8)=1, -1",
        "write short when path(1) ~ \"/etc/*\" and not fd(1).pipe and holding_mutex",
        "close=-1 when after(open, within: 3) and thread(\"w*\") and process(1) and time > 1s",
        "kill signal TERM when var(a->b) == 3 and remote(x) and new_stack",
        "getpid=1 when count == 2",
    };
    struct scenario *scenario = new_scenario();
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        must(scenario_add_spec(scenario, specs[i]));
    must(scenario_add_stackless(scenario, "/bin/true", 0x1234));
    must(scenario_add_stackless(scenario, "/bin/true", 0x1238));
    return scenario;
}

// A copy of the sample's plan that may be broken.
struct victim {
    struct plan plan;
    struct wire_plan *header;
    char *bytes;
};

static struct victim make_victim(void)
{
    struct scenario *scenario = sample();
    struct victim victim = {.plan = compile_plan(scenario)};
    victim.bytes = victim.plan.bytes.data;
    victim.header = (void *)victim.bytes;
    scenario_free(scenario);
    return victim;
}

static int check(const struct victim *victim)
{
    return wire_plan_check(victim->bytes, victim->plan.bytes.size);
}

static void *array(const struct victim *victim, struct wire_span span)
{
    return victim->bytes + span.offset;
}

#define BREAK(statement, expected)                                                                 \
    do {                                                                                           \
        struct victim victim = make_victim();                                                      \
        struct wire_plan *plan = victim.header;                                                    \
        struct wire_pattern *patterns = array(&victim, plan->patterns);                            \
        struct wire_rule *rules = array(&victim, plan->rules);                                     \
        struct wire_instruction *code_ = array(&victim, plan->code);                               \
        uint32_t *hash = array(&victim, plan->exact_hash),                                         \
                 *refs = array(&victim, plan->rule_refs);                                          \
        uint32_t *globs = array(&victim, plan->globs), *items = array(&victim, plan->stack_items); \
        struct wire_stack *stacks = array(&victim, plan->stacks);                                  \
        struct wire_out *outs = array(&victim, plan->outs);                                        \
        struct wire_after *afters = array(&victim, plan->afters);                                  \
        char *strings = array(&victim, plan->strings);                                             \
        (void)patterns, (void)rules, (void)code_, (void)hash, (void)refs, (void)globs;             \
        (void)items, (void)stacks, (void)outs, (void)afters, (void)strings;                        \
        assert_int_equal(check(&victim), 0);                                                       \
        statement;                                                                                 \
        if (check(&victim) != (expected))                                                          \
            fail_msg("%s: %d, expected %s", #statement, check(&victim), #expected);                \
        plan_deinit(&victim.plan);                                                                 \
    } while (0)

static void test_header(void **state)
{
    BREAK(plan->magic++, WIRE_CHECK_BAD_MAGIC);
    BREAK(plan->version++, WIRE_CHECK_BAD_VERSION);
    BREAK(plan->size += 8, WIRE_CHECK_BAD_SIZE);
    BREAK(plan->size = 16, WIRE_CHECK_BAD_SIZE);
    BREAK(plan->uses = 1u << 6, WIRE_CHECK_BAD_USES);
    struct victim victim = make_victim();
    assert_int_equal(wire_plan_check(victim.bytes, 0), WIRE_CHECK_BAD_SIZE);
    assert_int_equal(wire_plan_check(victim.bytes, sizeof(struct wire_plan) - 1),
                     WIRE_CHECK_BAD_SIZE);
    assert_int_equal(wire_plan_check(victim.bytes + 4, victim.plan.bytes.size - 4),
                     WIRE_CHECK_BAD_ALIGNMENT);
    plan_deinit(&victim.plan);
}

static void test_spans(void **state)
{
    BREAK(plan->rules.offset += 4, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->rules.offset = 0, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->rules.offset = 0xfffffff8, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->rules.count = 0xffffffff, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->code.count = 0x10000000, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->patterns.count = 0x80000000, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->strings.count = (uint32_t)plan->size, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->exact_hash.offset += 2, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->afters.offset = (uint32_t)plan->size + 8, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->stackless.offset = (uint32_t)plan->size + 8, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->stackless.count = (uint32_t)plan->size, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->stackless.count--, WIRE_CHECK_BAD_SPAN);
    BREAK(plan->strings.count = 0, WIRE_CHECK_BAD_STRINGS);
    BREAK(strings[0] = 'x', WIRE_CHECK_BAD_STRINGS);
    BREAK(strings[plan->strings.count - 1] = 'x', WIRE_CHECK_BAD_STRINGS);
}

static void test_patterns(void **state)
{
    BREAK(patterns[0].name = plan->strings.count, WIRE_CHECK_BAD_PATTERN);
    BREAK(patterns[0].library = UINT32_MAX, WIRE_CHECK_BAD_PATTERN);
    BREAK(patterns[0].flags = 1u << 3, WIRE_CHECK_BAD_PATTERN);
    BREAK(patterns[0].arguments = 7, WIRE_CHECK_BAD_PATTERN);
    BREAK(patterns[0].string_arguments = 1u << 6, WIRE_CHECK_BAD_PATTERN);
    BREAK(patterns[0].rule_refs.offset++, WIRE_CHECK_BAD_RULE_REFS);
    BREAK(patterns[0].rule_refs.count = UINT32_MAX, WIRE_CHECK_BAD_RULE_REFS);
    BREAK(patterns[0].rule_refs.count = 0, WIRE_CHECK_BAD_RULE_REFS);
    BREAK(refs[0] = plan->rules.count, WIRE_CHECK_BAD_RULE_REFS);
    BREAK(plan->exact_hash.count = 0, WIRE_CHECK_BAD_HASH);
    BREAK(plan->exact_hash.count--, WIRE_CHECK_BAD_HASH);
    BREAK(for (uint32_t i = 0; i < plan->exact_hash.count; i++) hash[i] = 1, WIRE_CHECK_BAD_HASH);
    BREAK(for (uint32_t i = 0; i < plan->exact_hash.count; i++) hash[i] = 0, WIRE_CHECK_BAD_HASH);
    BREAK(hash[0] = plan->patterns.count + 1, WIRE_CHECK_BAD_HASH);
    BREAK(globs[0] = plan->patterns.count, WIRE_CHECK_BAD_GLOBS);
    BREAK(globs[0] = 0, WIRE_CHECK_BAD_GLOBS);
    BREAK(plan->globs.count = 0, WIRE_CHECK_BAD_GLOBS);
}

static void test_rules(void **state)
{
    BREAK(rules[0].text = plan->strings.count, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].condition = plan->strings.count, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].actions |= WIRE_STREAM_ERROR, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].actions |= WIRE_PERFORMED | WIRE_SKIPPED, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].actions = WIRE_ERRNO | WIRE_PERFORMED, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].actions |= WIRE_SHORT, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].actions |= WIRE_SIGNAL, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].value_kind = 4, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].error = -1, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].error = 4096, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].signal = 65, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].short_argument = 6, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].descriptor = 7, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].stackless = 2, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].site = plan->query_count, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].site_exact = 2, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].once = 2, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].new_stack = 2, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].count_step = 0, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].count_first = 0, WIRE_CHECK_BAD_RULE);
    BREAK(rules[2].outs.count = 9, WIRE_CHECK_BAD_RULE);
    BREAK(rules[2].outs.offset = UINT32_MAX, WIRE_CHECK_BAD_RULE);
    BREAK(rules[0].code.count = UINT32_MAX, WIRE_CHECK_BAD_RULE);
    BREAK(rules[1].code = rules[0].code; rules[1].code.count--, WIRE_CHECK_BAD_RULE); // overlaps
    BREAK(rules[2].code = rules[0].code, WIRE_CHECK_BAD_RULE); // shared, but not with a neighbour
    BREAK(outs[0].argument = WIRE_OUT_RESULT + 1, WIRE_CHECK_BAD_OUT);
    BREAK(outs[0].kind = WIRE_OUT_KINDS, WIRE_CHECK_BAD_OUT);
    BREAK(outs[0].steps = WIRE_OUT_STEPS + 1, WIRE_CHECK_BAD_OUT);
    BREAK(outs[0].width = 3, WIRE_CHECK_BAD_OUT);
    BREAK(outs[0].width = 0, WIRE_CHECK_BAD_OUT);
    BREAK(outs[0].width = 16, WIRE_CHECK_BAD_OUT);
    BREAK(stacks[0].anchored = 2, WIRE_CHECK_BAD_STACK);
    BREAK(stacks[0].items.count = 0, WIRE_CHECK_BAD_STACK);
    BREAK(stacks[0].items.count++, WIRE_CHECK_BAD_STACK);
    BREAK(items[0] = WIRE_STACK_GAP, WIRE_CHECK_BAD_STACK);
    BREAK(items[1] = plan->query_count, WIRE_CHECK_BAD_STACK);
    BREAK(afters[0].pattern = plan->patterns.count, WIRE_CHECK_BAD_AFTER);
    BREAK(afters[0].rule = plan->rules.count, WIRE_CHECK_BAD_AFTER);
}

// The first instruction with an operation, in the whole plan.
static struct wire_instruction *find_op(const struct wire_plan *plan, struct wire_instruction *code,
                                        unsigned op)
{
    for (uint32_t i = 0; i < plan->code.count; i++)
        if (code[i].op == op)
            return &code[i];
    fail_msg("no instruction %u", op);
    return NULL;
}

static void test_code(void **state)
{
    BREAK(code_[0].op = WIRE_OP_COUNT_OF_OPS, WIRE_CHECK_BAD_OPERAND);
    BREAK(code_[0].op = 0xffff, WIRE_CHECK_BAD_OPERAND);
    BREAK(code_[0].op = WIRE_OP_ADD, WIRE_CHECK_BAD_DEPTH);
    BREAK(code_[0].op = WIRE_OP_NOT, WIRE_CHECK_BAD_DEPTH);
    BREAK(code_[0].op = WIRE_OP_JUMP_IF_FALSE; code_[0].b = 1, WIRE_CHECK_BAD_DEPTH);
    BREAK(rules[0].code.count--, WIRE_CHECK_BAD_JUMP); // its target lies beyond the end now
    BREAK(code_[plan->code.count - 1].op = WIRE_OP_CONSTANT, WIRE_CHECK_BAD_DEPTH);
    BREAK(find_op(plan, code_, WIRE_OP_STACK)->b = 99, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_ARGUMENT)->a = 64, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_ARGUMENT)->b = 8, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_FD_PATH)->a = 2, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_FD_PATH)->b = plan->strings.count, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_FD)->a = WIRE_FD_CONNECTION + 1, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_THREAD_NAME)->b = UINT32_MAX, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_AFTER)->b = 1, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_VARIABLE)->b = 1, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_REMOTE)->b = plan->strings.count, WIRE_CHECK_BAD_OPERAND);
    BREAK(find_op(plan, code_, WIRE_OP_TIME)->op = WIRE_OP_PLUGIN, WIRE_CHECK_BAD_OPERAND);
}

static void test_jumps(void **state)
{
    BREAK(find_op(plan, code_, WIRE_OP_JUMP_IF_FALSE)->b = 0, WIRE_CHECK_BAD_JUMP);
    BREAK(find_op(plan, code_, WIRE_OP_JUMP_IF_FALSE)->b = UINT32_MAX, WIRE_CHECK_BAD_JUMP);
    BREAK(find_op(plan, code_, WIRE_OP_JUMP_IF_FALSE)->b = rules[0].code.count + 1,
          WIRE_CHECK_BAD_JUMP);
    BREAK(struct wire_instruction *jump = find_op(plan, code_, WIRE_OP_JUMP_IF_FALSE);
          jump->b = (uint32_t)(jump - code_) + 1, WIRE_CHECK_BAD_DEPTH);
}

// Deep enough for the limit of values and not deeper.
static void test_depth(void **state)
{
    for (unsigned extra = 0; extra < 2; extra++) {
        _cleanup_(buffer_deinit) struct buffer spec = {0};
        must(buffer_printf(&spec, "f=0 when "));
        for (unsigned i = 1; i < WIRE_STACK_DEPTH; i++)
            must(buffer_printf(&spec, "count + ("));
        must(buffer_printf(&spec, "count"));
        for (unsigned i = 1; i < WIRE_STACK_DEPTH; i++)
            must(buffer_printf(&spec, ")"));
        _cleanup_(plan_deinit) struct plan plan = compile_spec(spec.data);
        if (extra == 0)
            continue;
        // One more push somewhere in the middle is one too many.
        struct wire_instruction *code = (void *)(plan.bytes.data + plan.header->code.offset);
        code[WIRE_STACK_DEPTH].op = WIRE_OP_COUNT;
        assert_int_equal(wire_plan_check(plan.bytes.data, plan.bytes.size), WIRE_CHECK_BAD_DEPTH);
    }
}

// Flipping any byte is either refused or harmless; the bytes end where the page ends.
static void test_flipped_bytes(void **state)
{
    struct victim victim = make_victim();
    size_t size = victim.plan.bytes.size, page = 4096, room = (size + page - 1) / page * page;
    char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
    char *bytes = memory + room - size;
    size_t refused = 0;
    memcpy(bytes, victim.bytes, size);
    assert_int_equal(wire_plan_check(bytes, size), 0);
    for (size_t i = 0; i < size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (char)(1u << bit);
            refused += wire_plan_check(bytes, size) != 0;
            bytes[i] ^= (char)(1u << bit);
        }
    assert_true(refused > size); // more than one bit of every eight
    for (size_t cut = 0; cut < size; cut += 8)
        assert_int_not_equal(wire_plan_check(bytes + cut, size - cut - 1), 0);
    munmap(memory, room + page);
    plan_deinit(&victim.plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),   cmocka_unit_test(test_spans),
        cmocka_unit_test(test_patterns), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_code),     cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_depth),    cmocka_unit_test(test_flipped_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

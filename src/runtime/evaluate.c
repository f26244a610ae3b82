// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions: the stack machine of wire/plan.h, and what its instructions ask about the call. The
// plan was checked when it was mapped, so stack depth and operands need no checks here.
#include "runtime/evaluate.h"

#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/descriptors.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/stack.h"
#include "runtime/streams.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

static bool text_matches(uint16_t mode, uint32_t string, const char *text)
{
    const char *wanted = plan_string(string);
    return mode == WIRE_MATCH_GLOB ? text_glob(wanted, text) : text_equal(wanted, text);
}

static bool argument_on_stack(const struct call *call, uint32_t number, uint64_t *ret_value)
{
    return system_peek(&call->frame->stack[number - WIRE_ARGUMENTS], ret_value, 8);
}

static inline int64_t argument(const struct call *call, const struct wire_instruction *instruction)
{
    uint64_t value = 0;
    if (instruction->b == WIRE_ARG_I64 && instruction->a < WIRE_ARGUMENTS)
        return (int64_t)call->frame->arguments[instruction->a];
    unsigned cut = argument_excess(instruction->b);
    if (instruction->a < WIRE_ARGUMENTS)
        value = call->frame->arguments[instruction->a];
    else if (!argument_on_stack(call, instruction->a, &value))
        return 0;
    value <<= cut;
    return (instruction->b & 1) != 0 ? (int64_t)value >> cut : (int64_t)(value >> cut);
}

__attribute__((noinline)) static bool argument_text(const struct wire_instruction *instruction,
                                                    int64_t pointer)
{
    char text[512];
    return system_peek_text((const char *)pointer, text, sizeof text) &&
           text_matches(instruction->a, instruction->b, text);
}

// One buffer for both forms of the path: signal handlers may run on very small stacks.
__attribute__((noinline)) static bool path_matches(const struct wire_instruction *instruction,
                                                   int64_t pointer)
{
    char buffer[1024];
    char *path = buffer + sizeof buffer / 2;
    if (!system_peek_text((const char *)pointer, path, sizeof buffer / 2))
        return false;
    if (text_matches(instruction->a, instruction->b, path))
        return true;
    long size = path[0] == '/' ? -1 : SYSTEM_2(__NR_getcwd, buffer, sizeof buffer / 2);
    if (system_failed(size))
        return false;
    const char *rest = text_starts(path, "./") ? path + 2 : path;
    char *at = buffer + size - 1;
    *at++ = '/';
    while ((*at++ = *rest++) != '\0') // moves down, so it may overlap
        ;
    return text_matches(instruction->a, instruction->b, buffer);
}

__attribute__((noinline)) static bool thread_is_named(const struct wire_instruction *instruction)
{
    char name[16];
    const int get_name = 16;
    if (system_failed(SYSTEM_2(__NR_prctl, get_name, name)))
        return false;
    return text_matches(instruction->a, instruction->b, name);
}

// xorshift64*: a stream per thread, started from its lineage.
static bool chance(struct thread *thread, uint64_t threshold)
{
    uint64_t x = thread->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    thread->random = x;
    return threshold == UINT64_MAX || x * 0x2545f4914f6cdd1dull < threshold;
}

static bool within_window(const struct call *call, const struct wire_instruction *instruction)
{
    uint32_t since = call->thread->since[instruction->b % WIRE_AFTER_MAX];
    return since > 1 && (instruction->c == 0 || since - 1 <= instruction->c);
}

// How often the evaluation of each rule has come to its `match`, per process.
static uint64_t *matches;

void evaluate_prepare(void)
{
    matches = arena_new((runtime.plan->rules.count + 1) * sizeof *matches);
}

static int64_t match_count(uint32_t rule)
{
    return matches != NULL ? (int64_t)atomic_add(&matches[rule], 1) + 1 : 0;
}

// The set of stacks, shared by all processes of the trial.

static bool stack_set_find(uint64_t hash, bool add)
{
    if (runtime.region->stack_set == 0)
        return false;
    uint64_t *set = region_at(runtime.region->stack_set);
    for (uint32_t i = 0; i < 64; i++) {
        uint64_t *entry = &set[(hash + i) % WIRE_STACK_SET];
        uint64_t seen = atomic_load(entry);
        if (seen == 0 && !add)
            return false;
        if (seen == 0 && atomic_swap_if(entry, 0, hash))
            return false;
        if (atomic_load(entry) == hash)
            return true;
    }
    if (add)
        atomic_add(&runtime.region->stack_set_lost, 1);
    return false;
}

static bool stack_set_has(uint64_t hash)
{
    return stack_set_find(hash, false);
}

// True if it was not there before.
bool stack_set_add(uint64_t hash)
{
    return !stack_set_find(hash, true);
}

// Pushes facts about the call and its surroundings. False: the rule does not hold. Not inlined into
// the loop, like everything with buffers: signal handlers may run on small stacks.
__attribute__((noinline)) static bool ask(const struct call *call, uint32_t rule,
                                          const struct wire_instruction *instruction,
                                          int64_t *ret_value)
{
    switch (instruction->op) {
    case WIRE_OP_ONCE:
        *ret_value = atomic_load(&runtime.rule_states[rule].once) == 0;
        return true;
    case WIRE_OP_RANDOM:
        *ret_value = chance(call->thread, instruction->c);
        return true;
    case WIRE_OP_NEW_STACK:
        *ret_value = !stack_set_has(stack_hash(call));
        return true;
    case WIRE_OP_AFTER:
        *ret_value = within_window(call, instruction);
        return true;
    case WIRE_OP_INSIDE:
        *ret_value = call_is_inside(call);
        return true;
    case WIRE_OP_THREAD_NUMBER:
        *ret_value = call->thread->number;
        return true;
    case WIRE_OP_THREAD_NAME:
        *ret_value = thread_is_named(instruction);
        return true;
    case WIRE_OP_PROCESS_NUMBER:
        *ret_value = runtime.process->number;
        return true;
    case WIRE_OP_ANCESTRY:
        *ret_value = (int64_t)runtime.ancestry;
        return true;
    case WIRE_OP_PROCESS_NAME:
        *ret_value = text_matches(instruction->a, instruction->b, text_base(program_path())) ||
                     text_matches(instruction->a, instruction->b, runtime.invoked);
        return true;
    case WIRE_OP_TIME:
        *ret_value = (int64_t)(clock_now() - runtime.region->start_ns);
        return true;
    case WIRE_OP_REMOTE:
        call_path_leave(call);
        *ret_value = remote_ask(call, rule, instruction->b);
        return true;
    case WIRE_OP_PLUGIN:
        call_path_leave(call);
        *ret_value = plugin_evaluate(call, instruction->b);
        return true;
    case WIRE_OP_MATCH:
        *ret_value = match_count(rule);
        return true;
    default:
        return false;
    }
}

// Operations on the top value. False: the instruction is not one of them.
__attribute__((noinline)) static bool unary(const struct wire_instruction *instruction,
                                            int64_t *top)
{
    switch (instruction->op) {
    case WIRE_OP_ARGUMENT_TEXT:
        *top = argument_text(instruction, *top);
        return true;
    case WIRE_OP_FD:
        *top = descriptor_is(instruction->a, *top);
        return true;
    case WIRE_OP_FD_PATH:
        *top = descriptor_has_path(instruction, *top);
        return true;
    case WIRE_OP_STREAM:
        *top = stream_descriptor((uint64_t)*top);
        return true;
    case WIRE_OP_PATH:
        *top = path_matches(instruction, *top);
        return true;
    case WIRE_OP_NOT:
        *top = *top == 0;
        return true;
    case WIRE_OP_NEGATE:
        *top = (int64_t)(0 - (uint64_t)*top);
        return true;
    case WIRE_OP_COMPLEMENT:
        *top = ~*top;
        return true;
    default:
        return false;
    }
}

// Arithmetic with the two top values. False: it has no result.
__attribute__((noinline)) static bool binary(uint16_t op, int64_t a, int64_t b, int64_t *ret_value)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    switch (op) {
    case WIRE_OP_ADD:
        *ret_value = (int64_t)(x + y);
        return true;
    case WIRE_OP_SUBTRACT:
        *ret_value = (int64_t)(x - y);
        return true;
    case WIRE_OP_MULTIPLY:
        *ret_value = (int64_t)(x * y);
        return true;
    case WIRE_OP_DIVIDE:
        *ret_value = divides ? a / b : 0;
        return divides;
    case WIRE_OP_REMAINDER:
        *ret_value = divides ? a % b : 0;
        return divides;
    case WIRE_OP_AND:
        *ret_value = a & b;
        return true;
    case WIRE_OP_OR:
        *ret_value = a | b;
        return true;
    case WIRE_OP_XOR:
        *ret_value = a ^ b;
        return true;
    case WIRE_OP_SHIFT_LEFT:
        *ret_value = y < 64 ? (int64_t)(x << y) : 0;
        return true;
    case WIRE_OP_SHIFT_RIGHT:
        *ret_value = a >> (y < 64 ? y : 63);
        return true;
    default:
        return false;
    }
}

// Instructions that are not in the loop below. At `top` is the topmost value, behind it room for
// one more.
static bool less_common(const struct call *call, uint32_t rule,
                        const struct wire_instruction *instruction, int64_t **top)
{
    if (instruction->op >= WIRE_OP_ADD && instruction->op <= WIRE_OP_SHIFT_RIGHT) {
        --*top;
        return binary(instruction->op, (*top)[0], (*top)[1], *top);
    }
    return unary(instruction, *top) || ask(call, rule, instruction, ++*top);
}

static bool run(const struct call *call, uint32_t rule, const struct wire_instruction *at,
                const struct wire_instruction *end)
{
    int64_t values[1 + WIRE_STACK_DEPTH];
    int64_t *top = values; // values[0] is never read: where nothing is pushed yet
    if (at == end)
        return true;
    for (; at < end; at++) {
        switch (at->op) {
        case WIRE_OP_CONSTANT:
            if (at + 1 < end && at[1].op == WIRE_OP_EQUAL) {
                *top = *top == (int64_t)at->c; // as if pushed first
                at++;
            } else {
                *++top = (int64_t)at->c;
            }
            continue;
        case WIRE_OP_COUNT:
            *++top = (int64_t)call->occurrence;
            continue;
        case WIRE_OP_ARGUMENT:
            *++top = argument(call, at);
            continue;
        case WIRE_OP_STACK:
            *++top = stack_matches(call, at->b, rule);
            continue;
        case WIRE_OP_VARIABLE:
            if (!variable_read(at->b, call, rule, ++top))
                return false;
            continue;
        case WIRE_OP_HOLDING_MUTEX:
            *++top = call->thread->mutexes;
            continue;
        case WIRE_OP_BOOLEAN:
            *top = *top != 0;
            continue;
        case WIRE_OP_JUMP_IF_FALSE:
            if (*top == 0)
                at = runtime.code + at->b - 1;
            else
                top--;
            continue;
        case WIRE_OP_JUMP_IF_TRUE:
            if (*top != 0)
                at = runtime.code + at->b - 1;
            else
                top--;
            continue;
        case WIRE_OP_EQUAL:
            top--;
            top[0] = top[0] == top[1];
            continue;
        case WIRE_OP_NOT_EQUAL:
            top--;
            top[0] = top[0] != top[1];
            continue;
        case WIRE_OP_LESS:
            top--;
            top[0] = top[0] < top[1];
            continue;
        case WIRE_OP_LESS_EQUAL:
            top--;
            top[0] = top[0] <= top[1];
            continue;
        case WIRE_OP_GREATER:
            top--;
            top[0] = top[0] > top[1];
            continue;
        case WIRE_OP_GREATER_EQUAL:
            top--;
            top[0] = top[0] >= top[1];
            continue;
        default:
            if (!less_common(call, rule, at, &top))
                return false;
        }
    }
    return values[1] != 0;
}

bool evaluate(const struct call *call, uint32_t rule, struct wire_span code)
{
    const struct wire_instruction *first = runtime.code + code.offset;
    return run(call, rule, first, first + code.count);
}

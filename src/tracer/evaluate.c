// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions of rules about system calls: the stack machine of wire/plan.h, asked from outside of
// the target. trial/system-call-rules.c refuses what cannot be asked here.
#include "tracer/tracer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOWEST_TEXT 65536u // the kernel maps nothing below

const char *plan_text(const struct trial_state *state, uint32_t offset)
{
    return (const char *)state->plan + state->plan->strings.offset + offset;
}

static bool matches(const struct evaluation *evaluation, const struct wire_instruction *instruction,
                    const char *text)
{
    const char *wanted = plan_text(evaluation->state, instruction->b);
    return instruction->a == WIRE_MATCH_GLOB ? fnmatch(wanted, text, 0) == 0
                                             : strcmp(wanted, text) == 0;
}

static int64_t argument(const struct evaluation *evaluation,
                        const struct wire_instruction *instruction)
{
    uint64_t value =
        instruction->a < TRACER_ARGUMENTS ? evaluation->call->arguments[instruction->a] : 0;
    switch ((enum wire_argument_type)instruction->b) {
    case WIRE_ARG_I32:
        return (int32_t)value;
    case WIRE_ARG_U32:
        return (uint32_t)value;
    case WIRE_ARG_I16:
        return (int16_t)value;
    case WIRE_ARG_U16:
        return (uint16_t)value;
    case WIRE_ARG_I8:
        return (int8_t)value;
    case WIRE_ARG_U8:
        return (uint8_t)value;
    default:
        return (int64_t)value;
    }
}

static bool read_link(const struct evaluation *evaluation, const char *what, char *path)
{
    char name[96];
    snprintf(name, sizeof name, "/proc/%d/%s", evaluation->task->tid, what);
    ssize_t size = readlink(name, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

static bool text_matches(const struct evaluation *evaluation,
                         const struct wire_instruction *instruction, uint64_t pointer)
{
    char text[PATH_MAX];
    return tracer_read_text(evaluation->task, pointer, text, sizeof text) &&
           matches(evaluation, instruction, text);
}

static bool descriptor_matches(const struct evaluation *evaluation,
                               const struct wire_instruction *instruction, int64_t number)
{
    char what[32], path[PATH_MAX];
    snprintf(what, sizeof what, "fd/%d", (int)number);
    return read_link(evaluation, what, path) && matches(evaluation, instruction, path);
}

// As it stands, and made absolute. Of calls that the scenario knows nothing about, or that a glob
// names, it may be a descriptor: no text lies that low in memory.
static bool path_matches(const struct evaluation *evaluation,
                         const struct wire_instruction *instruction, uint64_t pointer)
{
    char path[PATH_MAX], base[PATH_MAX], whole[2 * PATH_MAX];
    if (pointer < LOWEST_TEXT)
        return descriptor_matches(evaluation, instruction, (int64_t)pointer);
    if (!tracer_read_text(evaluation->task, pointer, path, sizeof path))
        return false;
    if (matches(evaluation, instruction, path))
        return true;
    if (path[0] == '/' || !read_link(evaluation, "cwd", base))
        return false;
    snprintf(whole, sizeof whole, "%s/%s", base, strncmp(path, "./", 2) == 0 ? path + 2 : path);
    return matches(evaluation, instruction, whole);
}

static bool is_nonblocking(const struct evaluation *evaluation, int64_t number)
{
    char name[64], line[128];
    unsigned flags = 0;
    snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", evaluation->task->tid, (int)number);
    FILE *file = fopen(name, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "flags: %o", &flags) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (flags & O_NONBLOCK) != 0;
}

static bool is_connection(const struct evaluation *evaluation, int64_t number)
{
    _cleanup_close_ int process = (int)syscall(SYS_pidfd_open, evaluation->task->pid, 0);
    _cleanup_close_ int copy =
        process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, (int)number, 0) : -1;
    int type;
    socklen_t size = sizeof type;
    return copy >= 0 && getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

static bool descriptor_is(const struct evaluation *evaluation, uint16_t test, int64_t number)
{
    char name[64], path[PATH_MAX];
    struct stat status;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", evaluation->task->tid, (int)number);
    if (number < 0 || stat(name, &status) < 0)
        return false;
    switch ((enum wire_fd_test)test) {
    case WIRE_FD_PIPE:
        return S_ISFIFO(status.st_mode);
    case WIRE_FD_SOCKET:
        return S_ISSOCK(status.st_mode);
    case WIRE_FD_FILE:
        return S_ISREG(status.st_mode);
    case WIRE_FD_DIRECTORY:
        return S_ISDIR(status.st_mode);
    case WIRE_FD_TTY:
        snprintf(name, sizeof name, "fd/%d", (int)number);
        return S_ISCHR(status.st_mode) && read_link(evaluation, name, path) &&
               (strncmp(path, "/dev/pts/", 9) == 0 || strncmp(path, "/dev/tty", 8) == 0);
    case WIRE_FD_CONNECTION:
        return S_ISSOCK(status.st_mode) && is_connection(evaluation, number);
    default:
        return is_nonblocking(evaluation, number);
    }
}

static bool thread_is_named(const struct evaluation *evaluation,
                            const struct wire_instruction *instruction)
{
    char name[64], text[64] = "";
    snprintf(name, sizeof name, "/proc/%d/comm", evaluation->task->tid);
    FILE *file = fopen(name, "re");
    bool known = file != NULL && fgets(text, sizeof text, file) != NULL;
    if (file != NULL)
        fclose(file);
    text[strcspn(text, "\n")] = '\0';
    return known && matches(evaluation, instruction, text);
}

static bool program_is_named(const struct evaluation *evaluation,
                             const struct wire_instruction *instruction)
{
    char path[PATH_MAX];
    return read_link(evaluation, "exe", path) &&
           matches(evaluation, instruction, file_base_name(path));
}

// The same stream as in the runtime: one per thread.
static bool chance(struct thread *thread, uint64_t threshold)
{
    uint64_t x = thread->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    thread->random = x;
    return threshold == UINT64_MAX || x * 0x2545f4914f6cdd1dull < threshold;
}

const struct stack *evaluation_stack(const struct evaluation *evaluation)
{
    struct call_stack *stack = evaluation->stack;
    if (!stack->known)
        stack_read(&evaluation->thread->process->space, evaluation->task, &stack->stack);
    stack->known = true;
    return &stack->stack;
}

static bool frame_matches(const struct evaluation *evaluation, unsigned frame, uint32_t query)
{
    const struct stack *stack = evaluation_stack(evaluation);
    return frame < stack->count &&
           code_matches(&evaluation->state->files, stack->frames[frame].code,
                        stack->frames[frame].offset, query);
}

bool evaluation_is_site(const struct evaluation *evaluation, uint32_t query)
{
    return frame_matches(evaluation, evaluation_stack(evaluation)->site, query);
}

// Bit i: the items before the i-th one have matched the frames so far. A gap matches any number of
// frames.
static uint64_t after_gaps(const uint32_t *items, uint32_t count, uint64_t positions)
{
    for (uint32_t i = 0; i < count; i++)
        if ((positions >> i & 1) != 0 && items[i] == WIRE_STACK_GAP)
            positions |= 2ull << i;
    return positions;
}

static bool stack_matches(const struct evaluation *evaluation, uint32_t index)
{
    const struct trial_state *state = evaluation->state;
    const char *plan = (const char *)state->plan;
    const struct wire_stack *wanted =
        (const struct wire_stack *)(plan + state->plan->stacks.offset) + index;
    const uint32_t *items =
        (const uint32_t *)(plan + state->plan->stack_items.offset) + wanted->items.offset;
    uint32_t count = wanted->items.count;
    const struct stack *stack = evaluation_stack(evaluation);
    uint64_t positions = after_gaps(items, count, 1), all = 1ull << count;
    for (unsigned frame = stack->site; frame < stack->count; frame++) {
        uint64_t after = 0;
        for (uint32_t i = 0; i < count; i++) {
            if ((positions >> i & 1) == 0)
                continue;
            if (items[i] == WIRE_STACK_GAP)
                after |= 1ull << i;
            else if (frame_matches(evaluation, frame, items[i]))
                after |= 2ull << i;
        }
        positions = after_gaps(items, count, after);
        if ((positions & all) != 0)
            return true;
        if (!wanted->anchored)
            positions |= 1;
    }
    if (!stack->finished)
        __atomic_fetch_add(&state->states[evaluation->rule].unfinished, 1, __ATOMIC_RELAXED);
    return false;
}

uint32_t evaluation_descriptor_kinds(const struct evaluation *evaluation, int64_t number)
{
    uint32_t kinds = 0;
    for (uint16_t test = WIRE_FD_PIPE; test <= WIRE_FD_CONNECTION; test++)
        if (descriptor_is(evaluation, test, number))
            kinds |= 1u << test;
    return kinds;
}

void evaluation_put_program(const struct evaluation *evaluation, char *name, size_t size)
{
    char path[PATH_MAX];
    snprintf(name, size, "%s", read_link(evaluation, "exe", path) ? file_base_name(path) : "");
}

// Pushes facts. False: the rule does not hold.
static bool ask(const struct evaluation *evaluation, const struct wire_instruction *instruction,
                int64_t *ret_value)
{
    const struct process *process = evaluation->thread->process;
    switch (instruction->op) {
    case WIRE_OP_CONSTANT:
        *ret_value = (int64_t)instruction->c;
        return true;
    case WIRE_OP_COUNT:
        *ret_value = (int64_t)evaluation->occurrence;
        return true;
    case WIRE_OP_ARGUMENT:
        *ret_value = argument(evaluation, instruction);
        return true;
    case WIRE_OP_ONCE:
        *ret_value = evaluation->state->states[evaluation->rule].once == 0;
        return true;
    case WIRE_OP_RANDOM:
        *ret_value = chance(evaluation->thread, instruction->c);
        return true;
    case WIRE_OP_THREAD_NUMBER:
        *ret_value = evaluation->thread->number;
        return true;
    case WIRE_OP_THREAD_NAME:
        *ret_value = thread_is_named(evaluation, instruction);
        return true;
    case WIRE_OP_PROCESS_NUMBER:
        *ret_value = process->number;
        return true;
    case WIRE_OP_PROCESS_NAME:
        *ret_value = program_is_named(evaluation, instruction);
        return true;
    case WIRE_OP_ANCESTRY:
        *ret_value = (int64_t)process->ancestry;
        return true;
    case WIRE_OP_TIME:
        *ret_value = (int64_t)(clock_ns() - evaluation->state->region->start_ns);
        return true;
    case WIRE_OP_STACK:
        *ret_value = stack_matches(evaluation, instruction->b);
        return true;
    case WIRE_OP_MATCH:
        *ret_value = (int64_t)++process->matches[evaluation->rule];
        return true;
    default:
        return false;
    }
}

// Operations on the top value. False: the instruction is not one of them.
static bool unary(const struct evaluation *evaluation, const struct wire_instruction *instruction,
                  int64_t *top)
{
    switch (instruction->op) {
    case WIRE_OP_ARGUMENT_TEXT:
        *top = text_matches(evaluation, instruction, (uint64_t)*top);
        return true;
    case WIRE_OP_PATH:
        *top = path_matches(evaluation, instruction, (uint64_t)*top);
        return true;
    case WIRE_OP_FD:
        *top = descriptor_is(evaluation, instruction->a, *top);
        return true;
    case WIRE_OP_FD_PATH:
        *top = descriptor_matches(evaluation, instruction, *top);
        return true;
    case WIRE_OP_NOT:
        *top = *top == 0;
        return true;
    case WIRE_OP_BOOLEAN:
        *top = *top != 0;
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

// With the two top values. False: it has no result.
static bool binary(uint16_t op, int64_t a, int64_t b, int64_t *ret_value)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool divides = b != 0 && !(a == INT64_MIN && b == -1);
    const int64_t results[] = {
        [WIRE_OP_ADD] = (int64_t)(x + y),
        [WIRE_OP_SUBTRACT] = (int64_t)(x - y),
        [WIRE_OP_MULTIPLY] = (int64_t)(x * y),
        [WIRE_OP_DIVIDE] = divides ? a / b : 0,
        [WIRE_OP_REMAINDER] = divides ? a % b : 0,
        [WIRE_OP_AND] = a & b,
        [WIRE_OP_OR] = a | b,
        [WIRE_OP_XOR] = a ^ b,
        [WIRE_OP_SHIFT_LEFT] = y < 64 ? (int64_t)(x << y) : 0,
        [WIRE_OP_SHIFT_RIGHT] = a >> (y < 64 ? y : 63),
        [WIRE_OP_EQUAL] = a == b,
        [WIRE_OP_NOT_EQUAL] = a != b,
        [WIRE_OP_LESS] = a<b, [WIRE_OP_LESS_EQUAL] = a <= b, [WIRE_OP_GREATER] = a> b,
        [WIRE_OP_GREATER_EQUAL] = a >= b,
    };
    *ret_value = results[op];
    return divides || (op != WIRE_OP_DIVIDE && op != WIRE_OP_REMAINDER);
}

bool evaluate(const struct evaluation *evaluation)
{
    const struct trial_state *state = evaluation->state;
    struct wire_span code = state->rules[evaluation->rule].code;
    int64_t values[1 + WIRE_STACK_DEPTH] = {0};
    int64_t *top = values;
    for (uint32_t i = code.offset; i < code.offset + code.count; i++) {
        const struct wire_instruction *instruction = &state->code[i];
        uint16_t op = instruction->op;
        if (op == WIRE_OP_JUMP_IF_FALSE || op == WIRE_OP_JUMP_IF_TRUE) {
            if ((*top != 0) == (op == WIRE_OP_JUMP_IF_TRUE))
                i = instruction->b - 1;
            else
                top--;
        } else if (op >= WIRE_OP_ADD && op <= WIRE_OP_GREATER_EQUAL) {
            top--;
            if (!binary(op, top[0], top[1], top))
                return false;
        } else if (!unary(evaluation, instruction, top) && !ask(evaluation, instruction, ++top))
            return false;
    }
    return code.count == 0 || values[1] != 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual sources: the table, random numbers, and what a program finds when it starts.
#include "observe/virtual.h"

#include "observe/filter.h"

#include <elf.h>
#include <errno.h>
#include <linux/random.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define CALLS      1024 // more than the table of system calls has
#define I386_CODE  0x23 // the code segment of programs for i386
#define START_SIZE 65536u
#define GOLDEN     0x9e3779b97f4a7c15ull

static const struct row {
    const char *name;
    unsigned char stop;
    enum virtual_kind kind;
    const char *letters;
} rows[] = {
#define STOP                               FILTER_STOP
#define STOP_IF_VISIBLE(n)                 FILTER_STOP_IF_VISIBLE
#define STOP_IF_PROCESS(n)                 FILTER_ABOUT(FILTER_STOP_IF_PROCESS, n)
#define STOP_IF_POSITIVE(n)                FILTER_ABOUT(FILTER_STOP_IF_POSITIVE, n)
#define STOP_IF_POINTER(n)                 FILTER_ABOUT(FILTER_STOP_IF_POINTER, n)
#define STOP_IF_DEADLINE(n)                FILTER_ABOUT(FILTER_STOP_IF_DEADLINE, n)
#define STOP_IF_PEER(n)                    FILTER_ABOUT(FILTER_STOP_IF_PEER, n)
#define VIRTUAL(name, stop, kind, letters) {#name, stop, VIRTUAL_##kind, letters},
#include "observe/virtual-calls.tab"
#undef VIRTUAL
};

void virtual_add_stops(unsigned char *stops)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct linux_call *call = linux_call_find(rows[i].name);
        if (call != NULL)
            stops[linux_call_index(call)] = rows[i].stop;
    }
}

const struct virtual_call *virtual_call_of(const struct linux_call *call)
{
    static struct virtual_call index[CALLS];
    static bool made;
    for (size_t i = 0; !made && i < sizeof rows / sizeof *rows; i++) {
        const struct linux_call *found = linux_call_find(rows[i].name);
        if (found != NULL && linux_call_index(found) < CALLS)
            index[linux_call_index(found)] =
                (struct virtual_call){rows[i].kind, rows[i].stop >> 4, rows[i].letters};
    }
    made = true;
    size_t place = linux_call_index(call);
    return place < CALLS && index[place].kind != VIRTUAL_NONE ? &index[place] : NULL;
}

// The finaliser of SplitMix64.
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

uint64_t virtual_random(struct virtual_task *state)
{
    state->random += GOLDEN;
    return mix(state->random);
}

uint64_t virtual_read_clock(struct virtual_task *state)
{
    return state->now_ns += VIRTUAL_TICK_NS;
}

// Siblings must not draw the same numbers: they would choose the same names for their files.
void virtual_task_start(struct virtual_task *maker, struct virtual_task *ret_task)
{
    *ret_task = (struct virtual_task){0};
    if (maker == NULL)
        return;
    ret_task->now_ns = maker->now_ns;
    ret_task->waited_ns = maker->waited_ns;
    ret_task->random = mix(maker->random ^ mix(++maker->children));
}

static void fill_random(struct virtual_task *state, unsigned char *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t word = virtual_random(state);
        size_t step = size - done < sizeof word ? size - done : sizeof word;
        memcpy(bytes + done, &word, step);
    }
}

// Fewer bytes than asked for: the rest cannot be written.
static size_t give_random(const struct tracer_task *task, struct virtual_task *state,
                          uint64_t address, size_t size)
{
    unsigned char bytes[4096];
    for (size_t done = 0; done < size;) {
        size_t step = size - done < sizeof bytes ? size - done : sizeof bytes;
        fill_random(state, bytes, step);
        if (!tracer_write(task, address + done, bytes, step))
            return done;
        done += step;
    }
    return size;
}

static void begin_random(const struct tracer_task *task, struct virtual_task *state,
                         const struct tracer_call *call, struct tracer_order *order)
{
    const uint64_t known = GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE;
    size_t size = (size_t)call->arguments[1];
    if ((call->arguments[2] & ~known) != 0 || size > INT32_MAX)
        return;
    size_t given = give_random(task, state, call->arguments[0], size);
    order->skip = true;
    order->result = given == 0 && size != 0 ? -EFAULT : (int64_t)given;
}

// A device, or a file that has another identifier each time it is read.
static void end_random_file(const struct tracer_task *task, struct virtual_task *state,
                            const struct tracer_call *call)
{
    uint64_t left = (uint64_t)call->result;
    bool vector = strcmp(call->call->name, "readv") == 0;
    if (tracer_failed(call->result))
        return;
    if (!vector) {
        give_random(task, state, call->arguments[1], left);
        return;
    }
    size_t word = call->i386 ? 4 : 8;
    for (uint64_t i = 0; i < call->arguments[2] && left != 0; i++) {
        uint64_t base = 0, size = 0, at = call->arguments[1] + 2 * word * i;
        if (tracer_read(task, at, &base, word) != word ||
            tracer_read(task, at + word, &size, word) != word)
            return;
        size = size < left ? size : left;
        give_random(task, state, base, size);
        left -= size;
    }
}

void virtual_patch(const struct tracer_task *task, struct virtual_task *state, uint64_t address,
                   const void *bytes, size_t size)
{
    if (state->patch_count == VIRTUAL_PATCHES)
        return;
    struct virtual_patch *patch = &state->patches[state->patch_count];
    if (size > sizeof patch->bytes || tracer_read(task, address, patch->bytes, size) != size ||
        !tracer_write(task, address, bytes, size))
        return;
    patch->address = address;
    patch->size = size;
    state->patch_count++;
}

static void undo_patches(const struct tracer_task *task, struct virtual_task *state)
{
    while (state->patch_count > 0) {
        const struct virtual_patch *patch = &state->patches[--state->patch_count];
        tracer_write(task, patch->address, patch->bytes, patch->size);
    }
}

void virtual_begin(struct process_numbers *numbers, struct tracer_task *task,
                   struct virtual_task *state, const struct tracer_call *call,
                   struct tracer_order *order)
{
    const struct virtual_call *facts = virtual_call_of(call->call);
    state->patch_count = 0;
    if (facts == NULL)
        return;
    if (facts->kind == VIRTUAL_RANDOM)
        begin_random(task, state, call, order);
    else if (facts->kind == VIRTUAL_RANDOM_FILE)
        order->stop_at_end |= state->random_file;
    else if (facts->kind < VIRTUAL_RANDOM)
        virtual_time_begin(task, state, call, facts, order);
    else
        virtual_processes_begin(numbers, task, state, call, facts, order);
    order->stop_at_end |= state->patch_count != 0;
}

void virtual_end(struct process_numbers *numbers, const struct tracer_task *task,
                 struct virtual_task *state, const struct tracer_call *call,
                 struct tracer_order *order)
{
    const struct virtual_call *facts = virtual_call_of(call->call);
    undo_patches(task, state);
    if (facts == NULL)
        return;
    if (facts->kind == VIRTUAL_RANDOM_FILE && state->random_file)
        end_random_file(task, state, call);
    else if (facts->kind < VIRTUAL_RANDOM)
        virtual_time_end(task, state, call, facts);
    else if (facts->kind > VIRTUAL_RANDOM_FILE)
        virtual_processes_end(numbers, task, state, call, facts, order);
}

// rdtsc and rdtscp.
static bool read_counter(const struct tracer_task *task, struct virtual_task *state)
{
    static const unsigned char rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9};
    struct user_regs_struct registers;
    unsigned char code[3] = {0};
    if (!tracer_get_registers(task, &registers))
        return false;
    size_t got = tracer_read(task, registers.rip, code, sizeof code);
    bool with_processor = got == 3 && memcmp(code, rdtscp, sizeof rdtscp) == 0;
    if (!with_processor && (got < 2 || memcmp(code, rdtsc, sizeof rdtsc) != 0))
        return false;
    uint64_t count = VIRTUAL_UP_S * 1000000000ull + virtual_read_clock(state);
    registers.rax = (uint32_t)count;
    registers.rdx = count >> 32;
    if (with_processor)
        registers.rcx = 0;
    registers.rip += with_processor ? sizeof rdtscp : sizeof rdtsc;
    return tracer_set_registers(task, &registers);
}

void virtual_signal(const struct process_numbers *numbers, const struct tracer_task *task,
                    struct virtual_task *state, int *signal)
{
    if (*signal == SIGSEGV && read_counter(task, state))
        *signal = 0;
    else
        virtual_signal_info(numbers, task);
}

// The words that a program starts with: argc, argv, environment, auxiliary vector.
struct start {
    uint64_t address;
    size_t word, count;
    unsigned char bytes[START_SIZE];
};

static uint64_t start_word(const struct start *start, size_t index)
{
    uint64_t value = 0;
    if (index < start->count)
        memcpy(&value, start->bytes + index * start->word, start->word);
    return value;
}

static bool read_start(const struct tracer_task *task, struct start *start)
{
    struct user_regs_struct registers;
    if (!tracer_get_registers(task, &registers))
        return false;
    start->address = registers.rsp;
    start->word = registers.cs == I386_CODE ? 4 : 8;
    size_t done = 0, step;
    do { // page by page, because the stack ends somewhere
        step = 4096 - (start->address + done) % 4096;
        if (step > START_SIZE - done)
            step = START_SIZE - done;
        size_t got = tracer_read(task, start->address + done, start->bytes + done, step);
        done += got;
        if (got != step)
            break;
    } while (done < START_SIZE);
    start->count = done / start->word;
    return start->count != 0;
}

void virtual_executes(const struct tracer_task *task, struct virtual_task *state)
{
    struct start start;
    if (!read_start(task, &start))
        return;
    uint64_t arguments = start_word(&start, 0);
    if (arguments >= start.count)
        return;
    size_t at = (size_t)arguments + 2;
    while (at < start.count && start_word(&start, at) != 0)
        at++;
    for (at++; at + 1 < start.count && start_word(&start, at) != AT_NULL; at += 2) {
        uint64_t type = start_word(&start, at), ignore = AT_IGNORE;
        if (type == AT_SYSINFO_EHDR)
            tracer_write(task, start.address + at * start.word, &ignore, start.word);
        else if (type == AT_RANDOM)
            give_random(task, state, start_word(&start, at + 1), 16);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Watches faulty memory with debug registers. The processor cannot stop at reads alone, so each
// piece has two registers: one stops at writes, the other at all accesses, and a read is what only
// the second one reports. The kernel does not report its own accesses, so system calls stop, too:
// a call that writes a buffer out reads it, and memory that differs after a call was overwritten.
#include "tracer/state.h"

#include "base/clock.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define DEBUG_STATUS  6
#define DEBUG_CONTROL 7
#define EXECUTION     3 // the register for an instruction that is faulty itself
#define AT_EXECUTION  0ull
#define AT_WRITES     1ull
#define AT_ACCESSES   3ull

static bool set_debug(const struct tracer_task *task, unsigned number, uint64_t value)
{
    size_t offset = offsetof(struct user, u_debugreg) + number * sizeof(uint64_t);
    return ptrace(PTRACE_POKEUSER, task->tid, (void *)offset, (void *)(uintptr_t)value) == 0;
}

static uint64_t control_bits(unsigned number, uint64_t kind, unsigned size)
{
    uint64_t length = size == 8 ? 2 : size - 1;
    return 1ull << (2 * number) | kind << (16 + 4 * number) | length << (18 + 4 * number);
}

void state_watch_task(const struct state_trial *trial, struct tracer_task *task)
{
    uint64_t control = 0;
    bool set = true;
    for (unsigned i = 0; i < trial->unit_count; i++) {
        const struct state_unit *unit = &trial->units[i];
        set &= set_debug(task, 2 * i, unit->address) && set_debug(task, 2 * i + 1, unit->address);
        control |= control_bits(2 * i, AT_WRITES, unit->size) |
                   control_bits(2 * i + 1, AT_ACCESSES, unit->size);
    }
    uint64_t instruction = trial->file->fault.instruction;
    if (instruction != 0 && trial->unit_count == 1) {
        const struct state_process *process = task->data;
        set &= set_debug(task, EXECUTION, process->bias + instruction);
        control |= control_bits(EXECUTION, AT_EXECUTION, 1);
    }
    task->every_call = true;
    if (!set || !set_debug(task, DEBUG_CONTROL, control))
        trial->file->result.activation = WIRE_STATE_UNKNOWN;
}

bool state_watch_place(const struct tracer_task *task, uint64_t address, bool set)
{
    return set_debug(task, DEBUG_CONTROL, 0) && set_debug(task, DEBUG_STATUS, 0) &&
           (!set || (set_debug(task, 0, address) &&
                     set_debug(task, DEBUG_CONTROL, control_bits(0, AT_EXECUTION, 1))));
}

static void release_task(struct tracer_task *task)
{
    set_debug(task, DEBUG_CONTROL, 0);
    task->every_call = false;
}

// The smallest pieces that contain all changed bytes. Of a large fault only the beginning is
// watched.
static void choose_units(struct state_trial *trial)
{
    const struct wire_state_result *result = &trial->file->result;
    uint64_t first = UINT64_MAX, last = 0;
    for (uint32_t i = 0; i < trial->file->fault.size; i++) {
        if (result->before[i] == result->after[i])
            continue;
        first = first == UINT64_MAX ? result->address + i : first;
        last = result->address + i;
    }
    trial->unit_count = 0;
    if (first == UINT64_MAX)
        return;
    for (unsigned size = 1; size <= 8; size *= 2)
        if ((first & ~(uint64_t)(size - 1)) == (last & ~(uint64_t)(size - 1))) {
            trial->units[trial->unit_count++] =
                (struct state_unit){first & ~(uint64_t)(size - 1), size};
            return;
        }
    for (uint64_t at = first & ~7ull; at <= last && trial->unit_count < STATE_UNITS; at += 8)
        trial->units[trial->unit_count++] = (struct state_unit){at, 8};
}

void state_watch(struct state_trial *trial, struct tracer_task *task)
{
    choose_units(trial);
    if (trial->unit_count == 0)
        return;
    trial->watching = true;
    tracer_hold(task);
    for (size_t i = 0; i < trial->tasks.count; i++)
        if (trial->tasks.items[i]->pid == task->pid)
            state_watch_task(trial, trial->tasks.items[i]);
    tracer_release(task);
}

// Other tasks notice when they stop the next time.
static void conclude(struct state_trial *trial, struct tracer_task *task,
                     enum wire_state_activation what, bool by_kernel)
{
    struct wire_state_result *result = &trial->file->result;
    struct user_regs_struct registers;
    trial->watching = false;
    for (size_t i = 0; i < trial->tasks.count; i++)
        trial->tasks.items[i]->every_call = false;
    result->activation = (uint32_t)what;
    result->activated_ns = clock_ns();
    result->by_kernel = by_kernel;
    if (ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) == 0)
        result->access = registers.rip - ((const struct state_process *)task->data)->bias;
    release_task(task);
}

// Whether a byte that the fault changed is another one now.
static bool is_overwritten(const struct state_trial *trial, const struct tracer_task *task)
{
    const struct wire_state_result *result = &trial->file->result;
    unsigned char now[WIRE_STATE_BYTES];
    uint32_t size = trial->file->fault.size;
    if (tracer_read(task, result->address, now, size) != size)
        return true; // it was unmapped
    for (uint32_t i = 0; i < size; i++)
        if (result->before[i] != result->after[i] && now[i] != result->after[i])
            return true;
    return false;
}

void state_watch_hit(struct state_trial *trial, struct tracer_task *task)
{
    size_t offset = offsetof(struct user, u_debugreg) + DEBUG_STATUS * sizeof(uint64_t);
    errno = 0;
    uint64_t status = (uint64_t)ptrace(PTRACE_PEEKUSER, task->tid, (void *)offset, NULL);
    if (errno != 0)
        return;
    set_debug(task, DEBUG_STATUS, 0);
    if (!trial->watching) {
        release_task(task);
        return;
    }
    uint64_t writes = trial->unit_count == 1 ? 1 : 5, accesses = trial->unit_count == 1 ? 2 : 10;
    bool written = (status & writes) != 0, accessed = (status & accesses) != 0;
    if ((status & 1 << EXECUTION) != 0 && trial->file->fault.instruction != 0)
        conclude(trial, task, WIRE_STATE_ACTIVATED, false);
    // A write to a part of what is watched may have left the fault alone.
    else if (written && (trial->units[0].size == 1 || is_overwritten(trial, task)))
        conclude(trial, task, WIRE_STATE_OVERWRITTEN, false);
    else if (accessed && !written)
        conclude(trial, task, WIRE_STATE_ACTIVATED, false);
}

void state_watch_failed(struct state_trial *trial, struct tracer_task *task, uint64_t place)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    const struct state_process *process = task->data;
    if (trial->watching && process->faulty && place == process->bias + fault->stop &&
        fault->read == WIRE_STATE_READ_ALWAYS)
        conclude(trial, task, WIRE_STATE_ACTIVATED, false);
}

static bool reads_buffer(const struct __ptrace_syscall_info *call)
{
    return call->entry.nr == SYS_write || call->entry.nr == SYS_pwrite64 ||
           call->entry.nr == SYS_sendto;
}

void state_watch_call(struct state_trial *trial, struct tracer_task *task)
{
    struct __ptrace_syscall_info call;
    if (!trial->watching ||
        ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof call, &call) < 0)
        return;
    if (call.op == PTRACE_SYSCALL_INFO_EXIT && is_overwritten(trial, task))
        conclude(trial, task, WIRE_STATE_OVERWRITTEN, true);
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY || !reads_buffer(&call))
        return;
    uint64_t start = call.entry.args[1], size = call.entry.args[2];
    for (unsigned i = 0; i < trial->unit_count; i++)
        if (start >= trial->units[i].address
                ? size != 0 && start - trial->units[i].address < trial->units[i].size
                : trial->units[i].address - start < size) {
            conclude(trial, task, WIRE_STATE_ACTIVATED, true);
            return;
        }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Traces the program's own code by single-stepping. While libraries run, nothing is stepped:
// control comes back at the start of a function or where a call returns to, and breakpoints are
// there. They stay, and are stepped over when the program itself comes to them.
#include "tracer/state.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define CODE_LARGEST (256u << 20)

struct stepping {
    struct state_trial *trial;
    struct tracer_task *task;
    uint64_t bias;
};

// Offsets from the start of the code.
static bool is_trapping(const struct state_trial *trial, uint64_t offset)
{
    return (trial->trapping[offset / 8] >> offset % 8 & 1) != 0;
}

static bool set_trap(struct state_trial *trial, const struct tracer_task *task, uint64_t bias,
                     uint64_t offset)
{
    const unsigned char breakpoint = STATE_BREAKPOINT;
    if (is_trapping(trial, offset))
        return true;
    trial->trapping[offset / 8] |= (unsigned char)(1u << offset % 8);
    return state_write(task, bias + trial->file->code_start + offset, &breakpoint, 1);
}

struct error *state_trace_begin(struct state_trial *trial, struct tracer_task *task, uint64_t bias)
{
    const struct wire_state *file = trial->file;
    uint64_t size = file->code_end - file->code_start;
    char path[64];
    if (size > CODE_LARGEST)
        return error_new("the program's code is too large to be traced");
    free(trial->code);
    free(trial->trapping);
    trial->trace = (uint32_t *)((char *)trial->file + file->trace_at);
    trial->traced = NULL;
    trial->code = malloc(size);
    trial->trapping = calloc(size / 8 + 1, 1);
    _cleanup_free_ unsigned char *code = malloc(size);
    if (trial->code == NULL || trial->trapping == NULL || code == NULL)
        return error_no_memory();
    snprintf(path, sizeof path, "/proc/%d/mem", task->tid);
    _cleanup_close_ int memory = open(path, O_RDWR | O_CLOEXEC);
    off_t at = (off_t)(bias + file->code_start);
    if (memory < 0 || pread(memory, code, size, at) != (ssize_t)size)
        return error_from_errno(errno, "cannot read the code of the program");
    memcpy(trial->code, code, size);
    for (uint32_t i = 0; i < file->block_count; i++) {
        uint64_t offset = file->blocks[i].address - file->code_start;
        if (offset >= size)
            return error_new("the table of functions is damaged");
        code[offset] = STATE_BREAKPOINT;
        trial->trapping[offset / 8] |= (unsigned char)(1u << offset % 8);
    }
    return pwrite(memory, code, size, at) == (ssize_t)size
               ? NULL
               : error_from_errno(errno, "cannot change the code of the program");
}

static bool get_place(const struct tracer_task *task, uint64_t *ret_place)
{
    errno = 0;
    *ret_place = (uint64_t)ptrace(PTRACE_PEEKUSER, task->tid,
                                  (void *)offsetof(struct user_regs_struct, rip), NULL);
    return errno == 0;
}

static bool set_place(const struct tracer_task *task, uint64_t place)
{
    return ptrace(PTRACE_POKEUSER, task->tid, (void *)offsetof(struct user_regs_struct, rip),
                  (void *)(uintptr_t)place) == 0;
}

static void note(struct state_trial *trial, uint32_t number)
{
    struct wire_state *file = trial->file;
    if (file->result.traced < file->trace_room)
        trial->trace[file->result.traced++] = number;
    else
        file->result.trace = WIRE_STATE_TRACE_FULL;
}

// The instruction at an offset, whatever breakpoint is there.
static bool step_one(const struct stepping *stepping, uint64_t offset, int *ret_signal)
{
    struct state_trial *trial = stepping->trial;
    const unsigned char breakpoint = STATE_BREAKPOINT;
    uint64_t address = stepping->bias + trial->file->code_start + offset;
    if (!is_trapping(trial, offset))
        return state_step(stepping->task, ret_signal);
    return state_write(stepping->task, address, trial->code + offset, 1) &&
           state_step(stepping->task, ret_signal) &&
           state_write(stepping->task, address, &breakpoint, 1);
}

// Whether a call ends there; other words on the stack are no reason for a breakpoint.
static bool follows_call(const struct state_trial *trial, uint64_t offset)
{
    const unsigned char *code = trial->code;
    if (offset >= 5 && code[offset - 5] == 0xe8)
        return true;
    for (unsigned size = 2; size <= 7 && size <= offset; size++)
        if (code[offset - size] == 0xff && (code[offset - size + 1] >> 3 & 7) == 2)
            return true;
    return false;
}

// Control has left the code, for a library or by its return. It comes back to where a call returns.
static void leave(const struct stepping *stepping)
{
    struct state_trial *trial = stepping->trial;
    const struct wire_state *file = trial->file;
    struct user_regs_struct registers;
    uint64_t back;
    note(trial, WIRE_STATE_AWAY);
    if (!tracer_get_registers(stepping->task, &registers) ||
        tracer_read(stepping->task, registers.rsp, &back, sizeof back) != sizeof back)
        return;
    back -= stepping->bias + file->code_start;
    if (back < file->code_end - file->code_start && follows_call(trial, back))
        set_trap(trial, stepping->task, stepping->bias, back);
}

// Steps until control leaves the code, a signal is to be delivered, or there is no more room.
static void walk(const struct stepping *stepping, uint64_t offset, int *ret_signal)
{
    struct state_trial *trial = stepping->trial;
    struct wire_state *file = trial->file;
    uint64_t size = file->code_end - file->code_start, place;
    for (;;) {
        note(trial, (uint32_t)(file->code_start + offset));
        if (file->result.trace == WIRE_STATE_TRACE_FULL) {
            kill(stepping->task->pid, SIGKILL); // the run is of no more use
            return;
        }
        if (!step_one(stepping, offset, ret_signal) || !get_place(stepping->task, &place))
            return;
        offset = place - stepping->bias - file->code_start;
        if (offset >= size) {
            leave(stepping);
            return;
        }
        if (*ret_signal != 0) { // its handler runs first
            note(trial, WIRE_STATE_AWAY);
            set_trap(trial, stepping->task, stepping->bias, offset);
            return;
        }
    }
}

bool state_trace_at(struct state_trial *trial, struct tracer_task *task, uint64_t address,
                    int *ret_signal)
{
    const struct state_process *process = task->data;
    struct wire_state *file = trial->file;
    const struct stepping stepping = {trial, task, process->bias};
    uint64_t offset = address - process->bias - file->code_start;
    if (offset >= file->code_end - file->code_start || !is_trapping(trial, offset) ||
        !set_place(task, address))
        return false;
    if (trial->traced == NULL && file->result.traced == 0)
        trial->traced = task;
    if (trial->traced != task && file->result.trace == WIRE_STATE_TRACED)
        file->result.trace = WIRE_STATE_TRACE_TASKS;
    if (file->result.trace == WIRE_STATE_TRACED)
        walk(&stepping, offset, ret_signal);
    else
        step_one(&stepping, offset, ret_signal);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a thread after a fault in a register at a moment: notes the instructions that it
// executes, from which the controller learns whether one reads the register. A system call may take
// any time, and a signal's handler may never return, so nobody waits for them here: the thread runs
// on, and a debug register stops it when it comes back.
#include "tracer/state.h"

#include "base/clock.h"

#include <string.h>
#include <sys/ptrace.h>

#define RESUME_FLAG (1ull << 16) // the processor does not stop at the next instruction
#define MOST_STEPS  16           // of one noted instruction, if all repeat

static bool wait_at(struct state_trial *trial, const struct tracer_task *task, uint64_t address)
{
    trial->followed = state_watch_place(task, address, true) ? task : NULL;
    return trial->followed != NULL;
}

void state_follow(struct state_trial *trial, struct tracer_task *task)
{
    struct user_regs_struct registers;
    if (trial->file->step_room == 0 || ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return;
    registers.eflags &= ~RESUME_FLAG;
    trial->follow_left = trial->file->step_room * MOST_STEPS;
    if (wait_at(trial, task, registers.rip))
        ptrace(PTRACE_SETREGS, task->tid, NULL, &registers);
}

static bool enters_kernel(const unsigned char *code)
{
    return (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || code[0] == 0xcd;
}

// False: there is no room for more.
static bool note(struct state_trial *trial, const struct tracer_task *task,
                 const struct user_regs_struct *registers, const unsigned char **ret_code)
{
    uint64_t address = registers->rip;
    struct wire_state *file = trial->file;
    struct wire_state_step *steps = (void *)((char *)file + file->steps_at);
    uint64_t count = file->result.steps;
    bool again = count != 0 && count <= file->step_room && steps[count - 1].address == address;
    if (trial->follow_left == 0 || (!again && count >= file->step_room))
        return false;
    trial->follow_left--;
    if (!again) {
        struct wire_state_step *step = &steps[count];
        *step = (struct wire_state_step){
            .address = address, .time_ns = clock_ns(), .call = registers->rax};
        if (tracer_read(task, address, step->code, sizeof step->code) == 0)
            return false;
        file->result.steps = ++count;
    }
    *ret_code = steps[count - 1].code;
    return true;
}

void state_follow_on(struct state_trial *trial, struct tracer_task *task, int *ret_signal)
{
    struct user_regs_struct registers;
    const unsigned char *code;
    trial->followed = NULL;
    if (!state_watch_place(task, 0, false))
        return;
    while (ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) == 0) {
        if (*ret_signal != 0) { // its handler may come back
            wait_at(trial, task, registers.rip);
            return;
        }
        if (!note(trial, task, &registers, &code))
            return;
        if (enters_kernel(code)) {
            wait_at(trial, task, registers.rip + 2);
            return;
        }
        if (!state_step(task, ret_signal))
            return;
    }
}

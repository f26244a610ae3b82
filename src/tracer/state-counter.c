// SPDX-License-Identifier: GPL-3.0-or-later
// Puts the stub that counts executions into a program that has just been started: the program
// itself is made to map memory near its code. The stub was made by the controller; only distances
// are filled in here.
#include "tracer/state.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define PAGE      4096u
#define STEP      (1u << 20) // between places that are tried
#define TRIES     64
#define JUMP_SIZE 5
#define JUMP      0xe9

// mov eax, SYS_mmap; syscall; int3. The number is set by an instruction because the kernel sets eax
// when it returns from execve().
static const unsigned char map_code[] = {0xb8, SYS_mmap, 0, 0, 0, 0x0f, 0x05, 0xcc};

static uint64_t map_at(struct tracer_task *task, uint64_t address)
{
    struct user_regs_struct saved, registers;
    unsigned char code[sizeof map_code];
    int signal = 0;
    if (ptrace(PTRACE_GETREGS, task->tid, NULL, &saved) < 0 ||
        tracer_read(task, saved.rip, code, sizeof code) != sizeof code ||
        !state_write(task, saved.rip, map_code, sizeof map_code))
        return 0;
    registers = saved;
    registers.rdi = address;
    registers.rsi = 2 * PAGE;
    registers.rdx = PROT_READ | PROT_WRITE | PROT_EXEC;
    registers.r10 = MAP_PRIVATE | MAP_ANONYMOUS | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
    registers.r8 = (unsigned long long)-1;
    registers.r9 = 0;
    bool ran = ptrace(PTRACE_SETREGS, task->tid, NULL, &registers) == 0 &&
               tracer_wait(task, PTRACE_CONT, &signal) && signal == SIGTRAP &&
               ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) == 0;
    saved.orig_rax = (unsigned long long)-1;
    bool restored = state_write(task, saved.rip, code, sizeof code) &&
                    ptrace(PTRACE_SETREGS, task->tid, NULL, &saved) == 0;
    bool mapped = address != 0 ? registers.rax == address : !tracer_failed((int64_t)registers.rax);
    return ran && restored && mapped ? registers.rax : 0;
}

static void put_distance(unsigned char *code, uint32_t at, uint64_t from, uint64_t to)
{
    uint32_t distance = (uint32_t)(to - from);
    memcpy(code + at, &distance, sizeof distance);
}

static bool is_near(uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);
    return distance > INT32_MIN + 2 * (int64_t)PAGE && distance < INT32_MAX - 2 * (int64_t)PAGE;
}

bool state_map_counter(const struct state_trial *trial, struct tracer_task *task,
                       struct state_process *process)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    uint64_t stub = 0, near = (process->bias + fault->counter.start) & ~(uint64_t)(PAGE - 1);
    if (trial->file->library)
        stub = map_at(task, 0);
    for (unsigned i = 1; stub == 0 && i <= TRIES && near > (uint64_t)(i + 1) * STEP; i++)
        stub = map_at(task, near - (uint64_t)i * STEP);
    if (stub == 0 || !state_write(task, stub + PAGE, &fault->count, sizeof fault->count))
        return false;
    process->stub = stub;
    return true;
}

static bool write_stub(const struct tracer_task *task, const struct state_process *process,
                       const struct wire_state_counter *counter, uint64_t stub)
{
    unsigned char code[WIRE_STATE_STUB];
    for (uint32_t i = 0; i < counter->fixup_count; i++)
        if (!is_near(stub, process->bias + counter->fixups[i].target))
            return false;
    memcpy(code, counter->code, sizeof code);
    for (uint32_t i = 0; i < counter->fixup_count; i++) {
        const struct wire_state_fixup *fixup = &counter->fixups[i];
        put_distance(code, fixup->at, stub + fixup->end, process->bias + fixup->target);
    }
    for (uint32_t i = 0; i < counter->use_count; i++)
        put_distance(code, counter->uses[i], stub + counter->use_ends[i], process->stub + PAGE);
    return state_write(task, stub, code, sizeof code);
}

static bool write_jump(const struct tracer_task *task, uint64_t start, uint64_t stub)
{
    unsigned char jump[JUMP_SIZE] = {JUMP};
    put_distance(jump, 1, start + JUMP_SIZE, stub);
    return state_write(task, start, jump, JUMP_SIZE);
}

bool state_place_counter(struct state_trial *trial, struct tracer_task *task,
                         struct state_process *process)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    uint64_t start = process->bias + fault->counter.start, stub = process->stub;
    uint64_t shared = stub + STATE_SHARED_STUB;
    process->placed = start;
    process->placed_byte = JUMP;
    return is_near(start, stub) &&
           tracer_read(task, start, trial->jump_bytes, JUMP_SIZE) == JUMP_SIZE &&
           write_stub(task, process, &fault->counter, stub) &&
           write_stub(task, process, &fault->shared_counter, shared) &&
           write_jump(task, start, process->tasks > 1 ? shared : stub);
}

void state_share_counter(const struct state_trial *trial, const struct tracer_task *task,
                         const struct state_process *process)
{
    uint64_t start = process->bias + trial->file->fault.counter.start;
    unsigned char byte;
    if (process->stub != 0 && process->placed == start && !trial->injected &&
        tracer_read(task, start, &byte, 1) == 1 && byte == JUMP)
        write_jump(task, start, process->stub + STATE_SHARED_STUB);
}

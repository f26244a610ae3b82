// SPDX-License-Identifier: GPL-3.0-or-later
// What code inside traced processes has recorded, and how a task leaves it for a signal handler.
// The memory is the program's as well as ours: nothing in it is believed.
#include "observe/inside.h"

#include "base/cleanup.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define CALL_SIZE 2
#define VECTORS   16u

static bool is_recorded(uint32_t number)
{
    return number == SYS_write || number == SYS_pwrite64 || number == SYS_writev;
}

static struct error *pass_on(const struct inside *inside, const struct inside_record *record,
                             const void *data, inside_take *take, void *taker)
{
    if (!is_recorded(record->number) || record->text == INSIDE_INVISIBLE ||
        record->text > inside->texts.count)
        return NULL;
    struct inside_call call = {.descriptor = inside->texts.items[record->text - 1],
                               .call = {.call = linux_call_by_number((int)record->number, false),
                                        .number = (int)record->number,
                                        .result = record->result},
                               .data = data,
                               .size = record->data};
    memcpy(call.call.arguments, record->arguments, sizeof record->arguments);
    return call.call.call != NULL ? take(taker, &call) : NULL;
}

struct error *inside_drain(const struct inside *inside, struct inside_task *state,
                           inside_take *take, void *data)
{
    if (state->slot == NULL)
        return NULL;
    uint32_t used = __atomic_load_n(&state->slot->used, __ATOMIC_ACQUIRE);
    if (used == 0)
        return NULL;
    const char *records = (const char *)state->slot + INSIDE_RECORDS;
    if (used > INSIDE_RECORD_ROOM)
        used = INSIDE_RECORD_ROOM;
    for (uint32_t at = 0; used - at >= sizeof(struct inside_record);) {
        struct inside_record record;
        memcpy(&record, records + at, sizeof record);
        if (record.size < sizeof record || record.size > used - at || record.size % 8 != 0 ||
            record.data > record.size - sizeof record)
            break;
        TRY(pass_on(inside, &record, records + at + sizeof record, take, data));
        at += record.size;
    }
    __atomic_store_n(&state->slot->used, 0, __ATOMIC_RELEASE);
    return NULL;
}

// The call has been made, but its bytes are not copied yet.
static struct error *finish(const struct inside *inside, const struct tracer_task *task,
                            const struct inside_slot *slot, uint32_t number, int64_t result,
                            inside_take *take, void *taker)
{
    if (slot->text == INSIDE_INVISIBLE || result < 0 || (uint64_t)result > INSIDE_RECORD_ROOM)
        return NULL;
    size_t size = (size_t)result, done = 0;
    _cleanup_free_ char *data = malloc(size + 1);
    if (data == NULL)
        return error_no_memory();
    if (number != SYS_writev)
        tracer_read(task, slot->rsi, data, size);
    for (size_t i = 0; number == SYS_writev && i < VECTORS && done < size; i++) {
        struct iovec vector = {0};
        tracer_read(task, slot->rsi + i * sizeof vector, &vector, sizeof vector);
        size_t step = vector.iov_len < size - done ? vector.iov_len : size - done;
        tracer_read(task, (uint64_t)(uintptr_t)vector.iov_base, data + done, step);
        done += step;
    }
    const struct inside_record record = {.number = number,
                                         .text = slot->text,
                                         .data = (uint32_t)size,
                                         .arguments = {slot->rdi, slot->rsi, slot->rdx, slot->r10},
                                         .result = result};
    return pass_on(inside, &record, data, take, taker);
}

static bool is_stub(const struct inside_space *space, uint64_t stub)
{
    for (size_t i = 0; space != NULL && i < INSIDE_NEARS; i++) {
        uint64_t page = space->nears[i].address;
        if (page != 0 && stub >= page && stub < page + space->nears[i].used * INSIDE_STUB &&
            (stub - page) % INSIDE_STUB == 0)
            return true;
    }
    return false;
}

// A jump at this place of the stub is followed: the program has never left its own code.
static uint64_t follow(const struct tracer_task *task, uint64_t address)
{
    unsigned char code[5];
    int32_t distance;
    if (tracer_read(task, address, code, sizeof code) != sizeof code || code[0] != 0xe9)
        return address;
    memcpy(&distance, code + 1, sizeof distance);
    return address + sizeof code + (uint64_t)(int64_t)distance;
}

static void restore(const struct inside_slot *slot, struct user_regs_struct *registers)
{
    registers->rdi = slot->rdi;
    registers->rsi = slot->rsi;
    registers->rdx = slot->rdx;
    registers->r10 = slot->r10;
    registers->r8 = slot->r8;
    registers->r9 = slot->r9;
    registers->rbx = slot->rbx;
    registers->rbp = slot->rbp;
    registers->r12 = slot->r12;
    registers->r13 = slot->r13;
    registers->r14 = slot->r14;
    registers->r15 = slot->r15;
    registers->rsp = slot->rsp;
}

// The kernel makes such a call once more, or not, depending on the handler.
static bool is_restarted(int64_t result)
{
    return result <= -512 && result >= -516;
}

static bool is_fault(const struct tracer_task *task, int signal)
{
    siginfo_t info;
    return (signal == SIGSEGV || signal == SIGBUS) &&
           ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0 && info.si_code > 0;
}

struct leaving {
    struct user_regs_struct registers;
    uint64_t stub;
    uint32_t number;
    bool made;
};

// Finds out how far the task has come. False: nobody knows.
static bool find_out(const struct tracer_task *task, const struct inside_task *state,
                     struct leaving *leaving)
{
    const struct inside_slot *slot = state->slot;
    struct user_regs_struct *registers = &leaving->registers;
    const char *at = __start_ordeal_inside + (registers->rip - INSIDE_BASE);
    uint64_t back = slot != NULL ? slot->near : 0;
    bool out = slot == NULL || slot->phase == INSIDE_OUT;
    bool undone = out && at == inside_return_undone;
    leaving->made = out ? at == inside_return_done
                        : slot->phase == INSIDE_BEHIND || (at >= inside_made && at < inside_kept);
    if (out && tracer_read(task, registers->rsp, &back, sizeof back) != sizeof back)
        return false;
    leaving->stub = back - (undone ? INSIDE_STUB_UNDONE : INSIDE_STUB_BACK);
    return is_stub(state->space, leaving->stub) &&
           tracer_read(task, leaving->stub + INSIDE_STUB_NUMBER, &leaving->number,
                       sizeof leaving->number) == sizeof leaving->number;
}

struct error *inside_leave(const struct inside *inside, const struct tracer_task *task,
                           struct inside_task *state, int *signal, inside_take *take, void *data)
{
    struct leaving leaving = {0};
    struct user_regs_struct *registers = &leaving.registers;
    struct inside_slot *slot = state->slot;
    bool recorded = slot != NULL && slot->used != slot->used_before;
    TRY(inside_drain(inside, state, take, data));
    if (inside->memory == NULL || state->space == NULL || !state->space->mapped ||
        !tracer_get_registers(task, registers) || registers->rip < INSIDE_BASE ||
        registers->rip >= INSIDE_BASE + INSIDE_CODE_SIZE || !find_out(task, state, &leaving))
        return NULL;
    bool fault = is_fault(task, *signal);
    bool out = slot == NULL || slot->phase == INSIDE_OUT;
    int64_t result = (int64_t)registers->rax;
    if (!out && slot->phase == INSIDE_BEHIND)
        result = (int64_t)slot->result;
    bool restarted = !out && slot->phase == INSIDE_BEFORE && leaving.made && is_restarted(result);
    if (!out)
        restore(slot, registers);
    registers->rsp += sizeof(uint64_t) + INSIDE_STUB_SKIP;
    if (restarted) {
        registers->rip = follow(task, leaving.stub + INSIDE_STUB_CALL) + CALL_SIZE;
    } else if (leaving.made) {
        if (!out && !recorded)
            TRY(finish(inside, task, slot, leaving.number, result, take, data));
        registers->rip = follow(task, leaving.stub + INSIDE_STUB_DONE);
        registers->rax = (unsigned long long)result;
        registers->orig_rax = (unsigned long long)-1;
    } else {
        registers->rip = follow(task, leaving.stub + INSIDE_STUB_CALL);
        registers->rax = leaving.number;
        registers->orig_rax = (unsigned long long)-1;
    }
    if (slot != NULL)
        slot->phase = INSIDE_OUT;
    if (fault)
        *signal = 0;
    tracer_set_registers(task, registers);
    return NULL;
}

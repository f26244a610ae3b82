// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints: at the stop address of a fault, or at every block whose execution is to be noted.
// Nothing happens in a program before it gets to one, so it runs at its own speed until then.
#include "tracer/state.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADERS_LARGEST (64u << 10)

static bool trace_fits(const struct wire_state *map, size_t size)
{
    return map->trace_room == 0 ||
           (map->trace_at <= size && map->trace_at % sizeof(uint32_t) == 0 &&
            map->trace_room <= (size - map->trace_at) / sizeof(uint32_t) &&
            map->code_start < map->code_end && map->code_end <= WIRE_STATE_AWAY);
}

static bool steps_fit(const struct wire_state *map, size_t size)
{
    return map->step_room == 0 ||
           (map->steps_at <= size && map->steps_at % sizeof(uint64_t) == 0 &&
            map->step_room <= (size - map->steps_at) / sizeof(struct wire_state_step));
}

static bool counter_fits(const struct wire_state_counter *counter)
{
    bool fits = counter->size <= WIRE_STATE_STUB && counter->fixup_count <= WIRE_STATE_FIXUPS &&
                counter->use_count <= WIRE_STATE_USES;
    for (uint32_t i = 0; fits && i < counter->use_count; i++)
        fits = counter->uses[i] <= WIRE_STATE_STUB - sizeof(uint32_t);
    for (uint32_t i = 0; fits && i < counter->fixup_count; i++)
        fits = counter->fixups[i].at <= WIRE_STATE_STUB - sizeof(uint32_t);
    return fits;
}

struct error *state_open(const char *path, struct state_trial *ret_trial, bool *ret_is)
{
    _cleanup_close_ int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat facts;
    *ret_is = false;
    if (file < 0 || fstat(file, &facts) < 0)
        return error_from_errno(errno, "cannot open %s", path);
    size_t size = (size_t)facts.st_size;
    if (size < sizeof(struct wire_state))
        return NULL;
    struct wire_state *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map %s", path);
    if (map->magic != WIRE_STATE_MAGIC || map->version != WIRE_STATE_VERSION || map->size != size ||
        map->block_count > (size - sizeof *map) / sizeof *map->blocks ||
        map->fault.size > WIRE_STATE_BYTES || !counter_fits(&map->fault.counter) ||
        !counter_fits(&map->fault.shared_counter) || map->header_bytes > HEADERS_LARGEST ||
        !trace_fits(map, size) || !steps_fit(map, size)) {
        munmap(map, size);
        return NULL;
    }
    *ret_is = true;
    ret_trial->file = map;
    ret_trial->originals = calloc(map->block_count + 1, 1);
    return ret_trial->originals != NULL ? NULL : error_no_memory();
}

void state_close(struct state_trial *trial)
{
    if (trial->file != NULL)
        munmap(trial->file, trial->file->size);
    free(trial->originals);
    free(trial->code);
    free(trial->trapping);
    ARRAY_DEINIT(&trial->processes);
    ARRAY_DEINIT(&trial->tasks);
    ARRAY_DEINIT(&trial->threads);
}

bool state_write(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = (address + done) & ~7ull, skip = address + done - at;
        size_t part = 8 - skip < size - done ? 8 - skip : size - done;
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, task->tid, (void *)(uintptr_t)at, NULL);
        if (errno != 0)
            return false;
        memcpy((char *)&word + skip, (const char *)bytes + done, part);
        if (ptrace(PTRACE_POKEDATA, task->tid, (void *)(uintptr_t)at, (void *)word) < 0)
            return false;
        done += part;
    }
    return true;
}

// ---- Processes ----

struct state_thread *state_find_thread(const struct state_trial *trial,
                                       const struct tracer_task *task)
{
    for (size_t i = 0; i < trial->threads.count; i++)
        if (trial->threads.items[i].task == task)
            return &trial->threads.items[i];
    return NULL;
}

static struct error *started(void *data, struct tracer_task *task)
{
    struct state_trial *trial = data;
    struct state_process *process = NULL;
    uint64_t executions = 0;
    for (size_t i = 0; i < trial->processes.count; i++)
        if (trial->processes.items[i]->pid == task->pid)
            process = trial->processes.items[i];
    if (process == NULL) {
        struct state_process **slot = ARRAY_ADD(&trial->processes);
        process = slot != NULL ? calloc(1, sizeof *process) : NULL;
        if (process == NULL) {
            trial->processes.count -= slot != NULL;
            return error_no_memory();
        }
        *slot = process;
        // A copy of its maker, with its memory and what is in it.
        if (task->maker != NULL && task->maker->data != NULL)
            *process = *(struct state_process *)task->maker->data;
        const struct state_thread *maker = state_find_thread(trial, task->maker);
        executions = maker != NULL ? maker->executions : 0;
        process->pid = task->pid;
        process->tasks = process->threads = 0;
        process->signal = 0;
        process->begun_ns = 0;
        process->looked_ns = UINT64_MAX;
    }
    struct tracer_task **slot = ARRAY_ADD(&trial->tasks);
    if (slot == NULL)
        return error_no_memory();
    *slot = task;
    struct state_thread *thread = ARRAY_ADD(&trial->threads);
    if (thread == NULL)
        return error_no_memory();
    *thread =
        (struct state_thread){.task = task, .number = ++process->threads, .executions = executions};
    process->tasks++;
    task->data = process;
    // Its maker, the only thread so far, stands inside a system call.
    if (process->tasks == 2 && task->maker != NULL && task->maker->data == process)
        state_share_counter(trial, task->maker, process);
    return NULL;
}

static void ready(void *data, struct tracer_task *task)
{
    const struct state_trial *trial = data;
    const struct state_process *process = task->data;
    if (trial->watching && process != NULL && process->faulty)
        state_watch_task(trial, task);
}

static void note_crash(const struct state_trial *trial, const struct state_process *process,
                       int number)
{
    struct wire_state_result *result = &trial->file->result;
    if (result->injected == 0 || result->crash_signal != 0)
        return;
    bool known = process->signal == number;
    uint64_t place = process->signal_place - process->bias;
    result->crash_signal = (uint32_t)number;
    result->crashed_ns = known ? process->signal_ns : clock_ns();
    result->crash_in_program = known && process->runs_program && place < trial->file->end;
    result->crash_place = known && !result->crash_in_program ? process->signal_place : 0;
    if (result->crash_in_program)
        result->crash_place = place;
    result->crash_address = known ? process->signal_address : 0;
}

static void ended(void *data, struct tracer_task *task, int status)
{
    struct state_trial *trial = data;
    struct state_process *process = task->data;
    size_t kept = 0;
    for (size_t i = 0; i < trial->tasks.count; i++)
        if (trial->tasks.items[i] != task)
            trial->tasks.items[kept++] = trial->tasks.items[i];
    trial->tasks.count = kept;
    struct state_thread *thread = state_find_thread(trial, task);
    if (thread != NULL)
        *thread = trial->threads.items[--trial->threads.count];
    if (trial->traced == task)
        trial->traced = NULL;
    if (trial->followed == task)
        trial->followed = NULL;
    if (process == NULL)
        return;
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        note_crash(trial, process, WTERMSIG(status));
    if (--process->tasks != 0)
        return;
    for (size_t i = 0; i < trial->processes.count; i++)
        if (trial->processes.items[i] == process)
            trial->processes.items[i] = trial->processes.items[--trial->processes.count];
    free(process);
}

// ---- Stops ----

static bool is_synchronous(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
           signal == SIGTRAP || signal == SIGSYS;
}

bool state_step(struct tracer_task *task, int *ret_signal)
{
    siginfo_t kept;
    int waiting = 0, signal;
    uint64_t more = 0; // signals, a bit each
    for (;;) {
        if (!tracer_wait(task, PTRACE_SINGLESTEP, &signal))
            return false;
        if (is_synchronous(signal))
            break;
        if (waiting == 0 && ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &kept) == 0)
            waiting = signal;
        else
            more |= 1ull << (signal - 1);
    }
    if (signal != SIGTRAP && waiting != 0)
        more |= 1ull << (waiting - 1);
    for (int i = 1; i <= 64; i++)
        if ((more >> (i - 1) & 1) != 0)
            syscall(SYS_tgkill, task->pid, task->tid, i);
    if (signal != SIGTRAP) {
        *ret_signal = signal;
        return true;
    }
    if (waiting != 0)
        ptrace(PTRACE_SETSIGINFO, task->tid, NULL, &kept);
    *ret_signal = waiting;
    return true;
}

static void set_counter(const struct tracer_task *task, uint64_t address)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return;
    registers.rip = address;
    ptrace(PTRACE_SETREGS, task->tid, NULL, &registers);
}

static bool is_at(const struct tracer_task *task, uint64_t place)
{
    struct user_regs_struct registers;
    return tracer_get_registers(task, &registers) && registers.rip == place;
}

// The instruction under the breakpoint, while all other threads stand still.
static void step_over(const struct state_trial *trial, struct tracer_task *task, uint64_t stop,
                      int *ret_signal)
{
    const unsigned char breakpoint = STATE_BREAKPOINT;
    tracer_hold(task);
    if (state_write(task, stop, &trial->stop_byte, 1)) {
        bool repeated = trial->file->fault.repeats != 0; // a step is one element
        while (state_step(task, ret_signal) && repeated && *ret_signal == 0 && is_at(task, stop))
            ;
        state_write(task, stop, &breakpoint, 1);
    }
    tracer_release(task);
}

static void note_first(const struct state_trial *trial, const struct tracer_task *task,
                       const unsigned char *before, const unsigned char *after)
{
    struct wire_state_result *result = &trial->file->result;
    char path[64];
    result->pid = (uint32_t)task->pid;
    result->tid = (uint32_t)task->tid;
    memcpy(result->before, before, WIRE_STATE_BYTES);
    memcpy(result->after, after, WIRE_STATE_BYTES);
    snprintf(result->task, sizeof result->task, "%s", task->name);
    snprintf(path, sizeof path, "/proc/%d/comm", task->pid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(result->program, 1, sizeof result->program - 1, file) : 0;
    result->program[size] = '\0';
    result->program[strcspn(result->program, "\n")] = '\0';
    result->injected_ns = clock_ns();
}

static bool change_memory(const struct state_trial *trial, const struct tracer_task *task,
                          uint64_t bias, unsigned char *before, unsigned char *after)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    struct user_regs_struct registers;
    uint64_t address = (uint64_t)fault->offset;
    if (fault->base == WIRE_STATE_MODULE)
        address += bias;
    if (fault->base == WIRE_STATE_REGISTER) {
        if (ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
            return false;
        address += state_general(&registers, fault->base_register) +
                   fault->scale * state_general(&registers, fault->index_register);
    }
    if (tracer_read(task, address, before, fault->size) != fault->size)
        return false;
    state_change_bytes(fault, before, after);
    if (trial->file->result.injected == 0)
        trial->file->result.address = address;
    return state_write(task, address, after, fault->size);
}

// True if the value is another one now.
static bool change(struct state_trial *trial, struct tracer_task *task,
                   struct state_process *process)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    struct wire_state_result *result = &trial->file->result;
    unsigned char before[WIRE_STATE_BYTES] = {0}, after[WIRE_STATE_BYTES] = {0};
    trial->injected = !fault->permanent;
    if (!(fault->memory ? change_memory(trial, task, process->bias, before, after)
                        : state_change_register(task, fault, before, after))) {
        result->problem = fault->memory ? WIRE_STATE_NO_MEMORY : WIRE_STATE_NO_REGISTER;
        return false;
    }
    if (memcmp(before, after, sizeof before) == 0) {
        if (result->injected == 0)
            result->problem = WIRE_STATE_SAME;
        return false;
    }
    if (result->injected == 0) {
        note_first(trial, task, before, after);
        result->problem = WIRE_STATE_OK;
    }
    result->injected++;
    return true;
}

void state_activate(const struct state_trial *trial)
{
    struct wire_state_result *result = &trial->file->result;
    if (result->activation == WIRE_STATE_ACTIVATED)
        return;
    result->activation = WIRE_STATE_ACTIVATED;
    result->activated_ns = clock_ns();
}

bool state_inject(struct state_trial *trial, struct tracer_task *task,
                  struct state_process *process)
{
    if (!change(trial, task, process))
        return false;
    if (trial->file->fault.memory) {
        process->faulty = true;
        state_watch(trial, task);
    }
    return true;
}

// The code is as it was, and the task is at the stop address.
static void fire_once(struct state_trial *trial, struct tracer_task *task,
                      struct state_process *process, int *ret_signal)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    struct wire_state_result *result = &trial->file->result;
    if (!state_inject(trial, task, process) || fault->memory)
        return;
    if (fault->register_class == WIRE_STATE_PC || fault->system_call) {
        // A system call may take any time, so nobody waits for it here. It is made in any case.
        if (fault->register_class == WIRE_STATE_PC || fault->read == WIRE_STATE_READ_ALWAYS)
            state_activate(trial);
        else
            result->activation = WIRE_STATE_UNKNOWN;
    } else if (fault->read == WIRE_STATE_READ_ALWAYS) {
        if (state_step(task, ret_signal))
            state_activate(trial);
    } else {
        result->activation = WIRE_STATE_UNKNOWN;
    }
}

static void fire_always(struct state_trial *trial, struct tracer_task *task,
                        struct state_process *process, uint64_t stop, int *ret_signal)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    struct wire_state_result *result = &trial->file->result;
    bool first = result->injected == 0, changed = change(trial, task, process);
    if (first && changed && fault->memory) {
        process->faulty = true;
        state_watch(trial, task);
    }
    if (fault->register_class == WIRE_STATE_PC && !fault->memory && changed) {
        state_activate(trial);
        return;
    }
    step_over(trial, task, stop, ret_signal);
    if (fault->memory && trial->watching)
        state_watch_hit(trial, task); // the step's own stop hides that of the debug registers
    if (!changed || fault->memory)
        return;
    if (fault->read == WIRE_STATE_READ_ALWAYS)
        state_activate(trial);
    else
        result->activation = WIRE_STATE_UNKNOWN;
}

// False if the fault is not for this thread.
static bool count_execution(const struct state_trial *trial, const struct tracer_task *task,
                            struct state_process *process)
{
    uint32_t wanted = trial->file->fault.thread;
    struct state_thread *thread = state_find_thread(trial, task);
    if (wanted != 0 && (thread == NULL || thread->number != wanted))
        return false;
    process->executions = wanted != 0 ? ++thread->executions : process->executions + 1;
    return true;
}

// A thread has come to the breakpoint, or, if `counted`, to that of the stub.
static void at_stop(struct state_trial *trial, struct tracer_task *task, bool counted,
                    int *ret_signal)
{
    struct state_process *process = task->data;
    const struct wire_state_fault *fault = &trial->file->fault;
    struct wire_state_result *result = &trial->file->result;
    uint64_t stop = process->bias + fault->stop;
    result->traps++;
    set_counter(task, stop);
    if (counted) {
        tracer_hold(task);
        state_write(task, process->bias + fault->counter.start, trial->jump_bytes, 5);
        if (fault->permanent)
            state_place_breakpoint(trial, task, process);
        tracer_release(task);
        process->executions = fault->count;
    } else if (trial->injected) { // in another process, or by another thread
        state_write(task, stop, &trial->stop_byte, 1);
        return;
    } else if (!count_execution(trial, task, process)) {
        step_over(trial, task, stop, ret_signal);
        return;
    }
    if (process->executions > result->executions)
        result->executions = process->executions;
    if (process->executions < fault->count) {
        step_over(trial, task, stop, ret_signal);
    } else if (fault->permanent) {
        fire_always(trial, task, process, stop, ret_signal);
    } else if (counted ? !trial->injected : state_write(task, stop, &trial->stop_byte, 1)) {
        fire_once(trial, task, process, ret_signal);
    }
}

static bool at_block(const struct state_trial *trial, const struct tracer_task *task,
                     uint64_t address)
{
    struct wire_state *file = trial->file;
    const struct state_process *process = task->data;
    uint64_t wanted = address - process->bias;
    uint32_t low = 0, high = file->block_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (file->blocks[middle].address < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == file->block_count || file->blocks[low].address != wanted)
        return false;
    file->blocks[low].reached = 1;
    state_write(task, address, &trial->originals[low], 1);
    set_counter(task, address);
    return true;
}

// True if the trap was one of ours.
static bool trapped(struct state_trial *trial, struct tracer_task *task, const siginfo_t *info,
                    int *ret_signal)
{
    const struct state_process *process = task->data;
    const struct wire_state_fault *fault = &trial->file->fault;
    struct user_regs_struct registers;
    if (!process->runs_program || ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return false;
    if (info->si_code == TRAP_HWBKPT) {
        if (trial->followed == task)
            state_follow_on(trial, task, ret_signal);
        else
            state_watch_hit(trial, task);
        return true;
    }
    uint64_t address = registers.rip - 1;
    if (info->si_code != SI_KERNEL)
        return false;
    if (process->stopping && address == process->bias + fault->stop) {
        at_stop(trial, task, false, ret_signal);
        return true;
    }
    if (process->stub != 0 &&
        (address == process->stub + fault->counter.trap ||
         address == process->stub + STATE_SHARED_STUB + fault->shared_counter.trap)) {
        at_stop(trial, task, true, ret_signal);
        return true;
    }
    return trial->trace != NULL ? state_trace_at(trial, task, address, ret_signal)
                                : at_block(trial, task, address);
}

static struct error *signalled(void *data, struct tracer_task *task, int *signal)
{
    struct state_trial *trial = data;
    struct state_process *process = task->data;
    siginfo_t info;
    if (process == NULL || ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) < 0)
        return NULL;
    int next = 0;
    if (*signal == SIGTRAP && trapped(trial, task, &info, &next)) {
        *signal = next;
        if (next == 0 || ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) < 0)
            return NULL;
    }
    struct user_regs_struct registers;
    process->signal = *signal;
    process->signal_ns = clock_ns();
    process->signal_address = is_synchronous(*signal) ? (uint64_t)(uintptr_t)info.si_addr : 0;
    if (ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return NULL;
    process->signal_place = registers.rip;
    if (is_synchronous(*signal))
        state_watch_failed(trial, task, registers.rip);
    return NULL;
}

static void at_call(void *data, struct tracer_task *task)
{
    state_watch_call(data, task);
}

const struct tracer_handlers state_handlers = {
    .started = started,
    .ready = ready,
    .executes = state_executes,
    .begin = state_maps,
    .end = state_mapped,
    .signalled = signalled,
    .at_call = at_call,
    .tick = state_tick,
    .ended = ended,
};

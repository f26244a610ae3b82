// SPDX-License-Identifier: GPL-3.0-or-later
// Processes and threads with numbers and lineages. A lineage depends only on the order in which a
// parent made its children, so random decisions repeat from run to run, whatever the scheduler
// does.
#include "runtime/identity.h"

#include "runtime/ancestry.h"
#include "runtime/function.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/started.h"
#include "runtime/system.h"

#include <linux/mman.h>
#include <time.h>

__thread struct thread runtime_thread;

#define THREAD_BLOCKS 1024
static struct thread_block {
    uint32_t busy;
    uint32_t number;
    uint64_t lineage;
    void *(*start)(void *);
    void *argument;
} thread_blocks[THREAD_BLOCKS];

// SplitMix64's finaliser.
uint64_t random_mix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

uint64_t clock_now(void)
{
    struct {
        long seconds, nanoseconds;
    } now = {0, 0};
    if (runtime.stopped_clock != 0)
        return runtime.stopped_clock;
    if (runtime.clock == NULL || runtime.clock(CLOCK_MONOTONIC, &now) != 0)
        SYSTEM_2(__NR_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

bool process_is_gone(uint32_t pid)
{
    const long no_such_process = -3;
    return !runtime.filtered && SYSTEM_2(__NR_kill, pid, 0) == no_such_process;
}

#define NEIGHBOURS 16 // entries of a pid
#define NO_ENTRY   WIRE_PROCESSES

uint32_t process_entry(uint32_t pid)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        uint32_t entry = (pid + i) % WIRE_PROCESSES;
        if (atomic_load(&runtime.region->process_numbers[entry]) >> 32 == pid)
            return entry;
    }
    return NO_ENTRY;
}

// Other processes look for an entry at the same time. If none is free, two share one.
static uint32_t entry_take(uint32_t pid, uint32_t number)
{
    uint64_t *numbers = runtime.region->process_numbers;
    const uint64_t mine = (uint64_t)pid << 32 | number;
    const uint32_t found = process_entry(pid), first = pid % WIRE_PROCESSES;
    for (uint32_t i = 0; found == NO_ENTRY && i < NEIGHBOURS; i++) {
        uint32_t entry = (pid + i) % WIRE_PROCESSES;
        uint64_t before = atomic_load(&numbers[entry]);
        if ((before == 0 || process_is_gone((uint32_t)(before >> 32))) &&
            atomic_swap_if(&numbers[entry], before, mine))
            return entry;
    }
    atomic_store(&numbers[found != NO_ENTRY ? found : first], mine);
    return found != NO_ENTRY ? found : first;
}

static void note_program(struct wire_process *process)
{
    text_copy(process->program, sizeof process->program, runtime.script);
    process->helps = runtime.helps;
}

// How somebody came to it is not always seen: system() makes its process inside the C library.
static void note_parent(struct wire_process *process)
{
    uint32_t entry = process_entry(system_parent());
    if (entry == NO_ENTRY)
        return;
    // It may go on with another program.
    const struct wire_process *parent = &runtime.programs->processes[entry];
    process->parent = (uint32_t)atomic_load(&runtime.region->process_numbers[entry]);
    process->parent_helps = parent->helps;
    text_copy(process->parent_program, sizeof process->parent_program, parent->program);
}

// A process keeps its number over exec; a new pid gets the next one. Its entry is taken before its
// ancestry is known, which may take a while.
static uint32_t process_number(uint32_t pid, bool forked)
{
    struct wire_region *region = runtime.region;
    struct wire_process *processes = runtime.programs->processes;
    uint32_t entry = process_entry(pid);
    system_touch(&processes[entry % WIRE_PROCESSES]);
    if (entry != NO_ENTRY && !forked) {
        runtime.process->shared = &processes[entry];
        note_program(&processes[entry]);
        runtime.ancestry = processes[entry].ancestry;
        return (uint32_t)atomic_load(&region->process_numbers[entry]);
    }
    uint32_t number = atomic_add(&region->processes, 1) + 1;
    if (forked)
        atomic_add(&region->forks, 1);
    entry = entry_take(pid, number);
    const uint64_t own_call = processes[entry].own_call; // somebody may have been killed in it
    processes[entry] = (struct wire_process){.own_call = own_call};
    note_program(&processes[entry]);
    note_parent(&processes[entry]);
    runtime.process->shared = &processes[entry];
    runtime.ancestry = forked        ? ancestry_of_copy()
                       : number == 1 ? WIRE_ANCESTRY_COMMAND
                                     : ancestry_of_started(pid);
    processes[entry].ancestry = runtime.ancestry;
    return number;
}

uint32_t process_pid(void)
{
    thread_self(); // a forked child does not know its own yet
    return runtime.memory_is_shared && !runtime.filtered ? system_pid() : runtime.process->pid;
}

uint32_t thread_tid(void)
{
    return runtime.memory_is_shared && !runtime.filtered ? system_tid() : thread_self()->tid;
}

void process_mark_calls(void)
{
    if (runtime.filtered)
        system_mark = &runtime.process->shared->own_call;
}

void process_start(void)
{
    static struct process fallback;
    bool records = (runtime.region->options & WIRE_RECORD_CALLS) != 0;
    size_t room = records ? RECORD_FIRST_SIZE : 0, size = sizeof(struct process) + room;
    // All pages of the table of calls are used at once.
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (records ? MAP_POPULATE : 0);
    long memory = SYSTEM_6(__NR_mmap, 0, size, 3, flags, -1, 0);
    runtime.process = system_failed(memory) ? &fallback : (struct process *)memory;
    if (!system_failed(memory) &&
        !system_failed(SYSTEM_3(__NR_madvise, memory, (size + 4095) & ~4095ul, MADV_WIPEONFORK)))
        runtime.process_room = room;
    uint32_t pid = system_pid();
    runtime.process->number = process_number(pid, false);
    runtime.process->pid = pid;
    started_attached();
    runtime.process->key = random_mix(pid);
    // A process that execs another program goes on with another random sequence.
    uint64_t program = wire_fingerprint(runtime.invoked, text_length(runtime.invoked));
    runtime.lineage =
        random_mix(random_mix(runtime.plan->seed + runtime.process->number) ^ program);
}

// Sets a forked child up, at its first call.
static void process_after_fork(void)
{
    if (runtime.process->key != 0)
        return;
    uint32_t pid = system_pid();
    runtime.process->number = process_number(pid, true);
    runtime.process->pid = pid;
    process_mark_calls();
    runtime.lineage = random_mix(runtime.lineage + runtime.forks);
    functions_after_fork();
    rows_after_fork();
    record_after_fork();
    runtime.process->key = random_mix(pid);
}

struct thread *thread_renew(void)
{
    struct thread *self = &runtime_thread;
    process_after_fork();
    if (self->process_key == runtime.process->key)
        return self;
    bool first = self->process_key == 0;
    self->tid = system_tid();
    self->process_key = runtime.process->key;
    rows_take();
    if (self->number == 0)
        self->number = atomic_add(&runtime.threads, 1) + 1;
    if (first && self->lineage == 0)
        self->lineage = random_mix(runtime.lineage ^ self->number);
    else
        self->lineage = random_mix(runtime.lineage ^ self->lineage);
    self->random = self->lineage;
    return self;
}

// Signals are blocked while the lock is held: a handler that loads a module, or never returns,
// would find the lock taken by its own thread.
static __thread uint64_t signals_before_lock;

void process_lock(void)
{
    const uint64_t all = ~0ull;
    uint64_t before = 0;
    const int block = 0;
    if (!runtime.filtered)
        SYSTEM_4(__NR_rt_sigprocmask, block, &all, &before, 8);
    while (!atomic_swap_if(&runtime.process->lock, 0, 1)) {
        atomic_store(&runtime.process->lock_waiters, 1);
        system_wait(&runtime.process->lock, 1, 10);
    }
    signals_before_lock = before;
}

void process_unlock(void)
{
    uint64_t before = signals_before_lock;
    const int set = 2;
    atomic_store(&runtime.process->lock, 0);
    // Who misses this because it has just begun to wait does not wait long.
    if (atomic_swap_if(&runtime.process->lock_waiters, 1, 0))
        system_wake(&runtime.process->lock);
    if (!runtime.filtered)
        SYSTEM_4(__NR_rt_sigprocmask, set, &before, 0, 8);
}

void *thread_announce(void *(*start)(void *), void *argument)
{
    struct thread *parent = thread_self();
    uint32_t number = atomic_add(&runtime.threads, 1) + 1;
    for (uint32_t i = 0; i < THREAD_BLOCKS; i++) {
        struct thread_block *block = &thread_blocks[(number + i) % THREAD_BLOCKS];
        if (!atomic_swap_if(&block->busy, 0, 1))
            continue;
        block->number = number;
        block->lineage = random_mix(parent->lineage + ++parent->children);
        block->start = start;
        block->argument = argument;
        return block;
    }
    return NULL;
}

// The first function of a thread that the target created.
void *thread_begin(void *argument)
{
    struct thread_block *block = argument;
    void *(*start)(void *) = block->start;
    void *start_argument = block->argument;
    runtime_thread.number = block->number;
    runtime_thread.lineage = block->lineage;
    runtime_thread.random = block->lineage;
    runtime_thread.process_key = runtime.process->key;
    runtime_thread.tid = system_tid();
    runtime_thread.start_sp = (uint64_t)__builtin_frame_address(0);
    atomic_store(&block->busy, 0);
    rows_take();
    void *result = start(start_argument);
    rows_thread_ends();
    return result;
}

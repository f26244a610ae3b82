// SPDX-License-Identifier: GPL-3.0-or-later
// Gives processes their ancestry. A parent numbers its children when it makes them. A forked child
// has the number in its thread's memory. A spawned one finds it in the region under its pid; there
// its parent leaves it after the call, and the child waits for that.
#include "runtime/ancestry.h"

#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#define NEIGHBOURS 16 // entries of a pid
#define WAIT_MS    1
#define WAITS      200 // for the parent; it may have been killed

static uint64_t index_of_process(void)
{
    return (uint64_t)(runtime.process->own_call - runtime.programs->own_calls);
}

static uint64_t next_child(void)
{
    uint32_t number = atomic_add(&runtime.programs->children[index_of_process()], 1) + 1;
    return WIRE_ANCESTRY_CHILD(runtime.ancestry, number);
}

void ancestry_fork_begin(void)
{
    struct thread *self = thread_self(); // first: it may find out what next_child() needs
    self->copying = next_child();
}

void ancestry_fork_end(void)
{
    thread_self()->copying = 0;
}

uint64_t ancestry_of_copy(void)
{
    return runtime_thread.copying;
}

uint64_t ancestry_spawn_begin(void)
{
    thread_self();
    uint64_t child = next_child();
    atomic_add(&runtime.programs->spawning[index_of_process()], 1);
    return child;
}

// The ancestry comes first: who sees the pid may read it.
static void leave(uint32_t pid, uint64_t ancestry)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        struct wire_born *entry = &runtime.programs->born[(pid + i) % WIRE_PENDING];
        if (!atomic_swap_if(&entry->state, 0, 1))
            continue;
        entry->ancestry = ancestry;
        atomic_store(&entry->pid, pid);
        return;
    }
}

void ancestry_spawn_end(uint64_t ancestry, uint32_t child)
{
    if (child != 0)
        leave(child, ancestry);
    atomic_add(&runtime.programs->spawning[index_of_process()], (uint32_t)-1);
}

void ancestry_of_vforked(uint32_t child)
{
    leave(child, next_child());
}

static bool take(uint32_t pid, uint64_t *ret_ancestry)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        struct wire_born *entry = &runtime.programs->born[(pid + i) % WIRE_PENDING];
        if (atomic_load(&entry->pid) != pid)
            continue;
        *ret_ancestry = entry->ancestry;
        atomic_store(&entry->pid, 0u);
        atomic_store(&entry->state, 0u);
        return true;
    }
    return false;
}

// Where the parent counts its calls of posix_spawn() that are under way, or NULL.
static const uint32_t *spawning_of(uint32_t pid)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        uint32_t index = (pid + i) % WIRE_PROCESSES;
        if ((uint32_t)(atomic_load(&runtime.region->process_numbers[index]) >> 32) == pid)
            return &runtime.programs->spawning[index];
    }
    return NULL;
}

uint64_t ancestry_of_started(uint32_t pid)
{
    uint64_t ancestry = 0;
    if (take(pid, &ancestry))
        return ancestry;
    const uint32_t *spawning = spawning_of((uint32_t)SYSTEM_1(__NR_getppid, 0));
    for (uint32_t i = 0, waiting; spawning != NULL && i < WAITS; i++) {
        uint32_t under_way = atomic_load(spawning);
        if (take(pid, &ancestry) || under_way == 0)
            break;
        waiting = 1;
        system_wait(&waiting, 1, WAIT_MS);
    }
    return ancestry;
}

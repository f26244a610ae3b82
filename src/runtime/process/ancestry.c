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

static uint64_t next_child(void)
{
    uint32_t number = atomic_add(&runtime.process->shared->children, 1) + 1;
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
    atomic_add(&runtime.process->shared->spawning, 1);
    return child;
}

static struct wire_born *born_at(uint32_t pid, uint32_t number)
{
    return &runtime.programs->born[(pid + number) % WIRE_PENDING];
}

// A program in which the runtime never starts leaves its entry to whoever needs one.
static bool claim(struct wire_born *entry)
{
    uint32_t owner = atomic_load(&entry->pid);
    return atomic_swap_if(&entry->state, 0, 1) ||
           (owner != 0 && process_is_gone(owner) && atomic_swap_if(&entry->pid, owner, 0));
}

// The ancestry comes first: who sees the pid may read it.
static void leave(uint32_t pid, uint64_t ancestry)
{
    ancestry_forget(pid); // of an earlier process
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        struct wire_born *entry = born_at(pid, i);
        if (!claim(entry))
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
    atomic_add(&runtime.process->shared->spawning, (uint32_t)-1);
}

void ancestry_of_vforked(uint32_t child)
{
    leave(child, next_child());
}

static bool take(uint32_t pid, uint64_t *ret_ancestry)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        struct wire_born *entry = born_at(pid, i);
        uint64_t ancestry = entry->ancestry;
        if (atomic_load(&entry->pid) != pid || !atomic_swap_if(&entry->pid, pid, 0))
            continue;
        *ret_ancestry = ancestry;
        atomic_store(&entry->state, 0u);
        return true;
    }
    return false;
}

void ancestry_forget(uint32_t pid)
{
    uint64_t ancestry;
    take(pid, &ancestry);
}

// Where the parent counts its calls of posix_spawn() that are under way, or NULL.
static const uint32_t *spawning_of(uint32_t pid)
{
    uint32_t entry = process_entry(pid);
    return entry < WIRE_PROCESSES ? &runtime.programs->processes[entry].spawning : NULL;
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

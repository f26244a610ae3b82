// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that processes start. Each is noted until the runtime starts in it. What is left at the
// end are programs that were never intercepted, with what is known about the reason.
#include "runtime/started.h"

#include "runtime/hooks.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/personality.h>
#include <sys/resource.h>

#define NEIGHBOURS 16 // entries of a pid

static uint64_t *pending_at(uint32_t pid, uint32_t i)
{
    return &runtime.programs->pending[(pid + i) % WIRE_PENDING];
}

// The limits that belong to an entry.
static uint64_t *limits_of(const uint64_t *entry)
{
    return runtime.programs->pending_limits[entry - runtime.programs->pending];
}

// Returns NULL if there is no room.
static uint64_t *pending_add(uint32_t pid, struct started started)
{
    uint64_t entry = WIRE_PENDING_ENTRY(pid, started.obstacle, started.record);
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        if (atomic_swap_if(pending_at(pid, i), 0, entry))
            return pending_at(pid, i);
    return NULL;
}

// A stack that is limited to a few KiB. The loader takes 4 KiB more than usual if there is an
// LD_PRELOAD, and the runtime some, which the program would lack. So the limit is raised until the
// runtime has started; it has then used what it will need. If that is not permitted, the kernel is
// told not to begin the stack at a random place, for which it uses up to 8 KiB of it.

#define PERSONALITY_ASK 0xffffffffu
#define RUNTIME_ROOM    (16u << 10) // the runtime needs less: bench/runtime-stack

static bool stack_limits(uint64_t limits[2])
{
    return !system_failed(SYSTEM_4(__NR_prlimit64, 0, RLIMIT_STACK, 0, limits));
}

static bool set_stack_limits(const uint64_t limits[2])
{
    return !system_failed(SYSTEM_4(__NR_prlimit64, 0, RLIMIT_STACK, limits, 0));
}

static void raise_limit(uint64_t *entry)
{
    uint64_t *limits = limits_of(entry), now[2];
    limits[0] = limits[1] = 0;
    if (!stack_limits(now) || now[0] >= WIRE_SMALL_STACK)
        return;
    const uint64_t raised[2] = {now[0] + WIRE_SMALL_STACK, now[1] < now[0] + WIRE_SMALL_STACK
                                                               ? now[0] + WIRE_SMALL_STACK
                                                               : now[1]};
    if (set_stack_limits(raised)) {
        limits[0] = now[0];
        limits[1] = now[1];
        return;
    }
    long personality = SYSTEM_1(__NR_personality, PERSONALITY_ASK);
    if (system_failed(personality) ||
        system_failed(SYSTEM_1(__NR_personality, personality | ADDR_NO_RANDOMIZE)))
        return;
    limits[1] = (uint64_t)personality + 1;
}

// Makes the stack as large as the runtime may need it, page by page, as it grows.
__attribute__((noinline)) static void grow_stack(void)
{
    volatile char room[RUNTIME_ROOM];
    for (size_t i = sizeof room; i >= 4096; i -= 4096)
        room[i - 4096] = 0;
}

static void restore_limit(uint64_t limits[2], bool started)
{
    if (limits[0] == 0 && limits[1] != 0)
        SYSTEM_1(__NR_personality, limits[1] - 1);
    if (limits[0] != 0) {
        if (started)
            grow_stack();
        set_stack_limits(limits);
    }
    limits[0] = limits[1] = 0;
}

static void pending_remove(uint32_t pid, bool started)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        uint64_t *entry = pending_at(pid, i);
        if (WIRE_PENDING_PID(atomic_load(entry)) != pid)
            continue;
        restore_limit(limits_of(entry), started);
        atomic_store(entry, 0);
    }
}

static uint64_t *attached_word(uint32_t pid)
{
    return &runtime.programs->attached[pid / 64 % (WIRE_ATTACHED / 64)];
}

// First the bit, then the entry; started_by_spawn() does it the other way round. So whoever is
// second removes the entry.
void started_attached(void)
{
    uint32_t pid = runtime.process->pid;
    __atomic_fetch_or(attached_word(pid), 1ull << pid % 64, __ATOMIC_SEQ_CST);
    pending_remove(pid, true);
    if (runtime.process->number == 1)
        restore_limit(runtime.programs->command_limits, true);
}

struct started started_begin(const char *path)
{
    char given[WIRE_MODULE_PATH], found[WIRE_MODULE_PATH];
    struct started started = {.record = WIRE_NONE};
    if (path == NULL || !system_peek_text(path, given, sizeof given))
        text_copy(given, sizeof given, "");
    if (attach_check(given) || !program_search(given, found, sizeof found))
        return started;
    started.record = journal_exec(found);
    if (started.record == WIRE_NONE)
        return started;
    uint64_t limits[2];
    started.obstacle = attach_obstacle();
    if (started.obstacle == WIRE_OBSTACLE_NONE && stack_limits(limits) &&
        limits[0] < WIRE_SMALL_STACK)
        started.obstacle = WIRE_OBSTACLE_STACK;
    return started;
}

void started_by_exec(struct started started)
{
    uint32_t pid = process_pid();
    if (started.record == WIRE_NONE)
        return;
    __atomic_fetch_and(attached_word(pid), ~(1ull << pid % 64), __ATOMIC_SEQ_CST);
    uint64_t *entry = pending_add(pid, started);
    if (entry != NULL)
        raise_limit(entry);
}

void started_failed(void)
{
    pending_remove(process_pid(), false);
}

void started_by_spawn(struct started started, uint32_t pid)
{
    if (started.record == WIRE_NONE)
        return;
    uint64_t *entry = pending_add(pid, started);
    if (entry != NULL &&
        (__atomic_load_n(attached_word(pid), __ATOMIC_SEQ_CST) >> pid % 64 & 1) != 0)
        atomic_store(entry, 0);
}

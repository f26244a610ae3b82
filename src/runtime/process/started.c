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

#define NEIGHBOURS 16 // entries of a pid

static uint64_t *pending_at(uint32_t pid, uint32_t i)
{
    return &runtime.region->pending[(pid + i) % WIRE_PENDING];
}

static void pending_add(uint32_t pid, struct started started)
{
    uint64_t entry = WIRE_PENDING_ENTRY(pid, started.obstacle, started.record);
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        if (atomic_swap_if(pending_at(pid, i), 0, entry))
            return;
}

static void pending_remove(uint32_t pid)
{
    for (uint32_t i = 0; i < NEIGHBOURS; i++)
        if (WIRE_PENDING_PID(atomic_load(pending_at(pid, i))) == pid)
            atomic_store(pending_at(pid, i), 0);
}

static uint64_t *attached_word(uint32_t pid)
{
    return &runtime.region->attached[pid / 64 % (WIRE_ATTACHED / 64)];
}

// First the bit, then the entry; started_by_spawn() does it the other way round. So whoever is
// second removes the entry.
void started_attached(void)
{
    uint32_t pid = runtime.process->pid;
    __atomic_fetch_or(attached_word(pid), 1ull << pid % 64, __ATOMIC_SEQ_CST);
    pending_remove(pid);
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
    if (started.record != WIRE_NONE)
        started.obstacle = attach_obstacle();
    return started;
}

void started_by_exec(struct started started)
{
    uint32_t pid = process_pid();
    if (started.record == WIRE_NONE)
        return;
    __atomic_fetch_and(attached_word(pid), ~(1ull << pid % 64), __ATOMIC_SEQ_CST);
    pending_add(pid, started);
}

void started_failed(void)
{
    pending_remove(process_pid());
}

void started_by_spawn(struct started started, uint32_t pid)
{
    if (started.record == WIRE_NONE)
        return;
    pending_add(pid, started);
    if ((__atomic_load_n(attached_word(pid), __ATOMIC_SEQ_CST) >> pid % 64 & 1) != 0)
        pending_remove(pid);
}

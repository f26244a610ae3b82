// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of the runtime's own. Some programs unmap or protect whatever they do not know (they walk
// /proc/self/maps). If they did so with ours, the next intercepted call would kill them. So such
// calls leave our pages alone, and that is noted. System calls that the target makes without the C
// library are not seen. The region, struct process and the runtime's file are known; the rest is in
// a table.
#include "runtime/memory.h"

#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/mman.h>

// One who finds no room for an entry is not protected.
#define OWN 512
static struct own {
    uint64_t low, high; // low 0: free, 1: being written
} own[OWN];
static uint32_t own_end;

static void add(uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < OWN; i++) {
        if (atomic_load(&own[i].low) != 0 || !atomic_swap_if(&own[i].low, 0, 1))
            continue;
        own[i].high = high;
        atomic_store(&own[i].low, low);
        uint32_t end = atomic_load(&own_end);
        while (end <= i && !atomic_swap_if(&own_end, end, i + 1))
            end = atomic_load(&own_end);
        return;
    }
}

static uint64_t whole_pages(uint64_t size)
{
    return (size + 4095) & ~4095ul;
}

void *own_map(size_t size)
{
    long memory =
        SYSTEM_6(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (system_failed(memory))
        return NULL;
    add((uint64_t)memory, (uint64_t)memory + whole_pages(size));
    return (void *)memory;
}

void own_unmap(void *memory, size_t size)
{
    for (uint32_t i = 0; i < atomic_load(&own_end); i++)
        if (atomic_load(&own[i].low) == (uint64_t)memory)
            atomic_store(&own[i].low, 0);
    SYSTEM_2(__NR_munmap, memory, size);
}

// Keeps the lowest range that is not wholly below `at`.
static void offer(uint64_t at, uint64_t low, uint64_t high, struct own *lowest)
{
    if (low > 1 && high > at && low < lowest->low)
        *lowest = (struct own){low, high};
}

// The first own page at or behind `at`, and where its range ends.
static bool next_own(uint64_t at, uint64_t *ret_low, uint64_t *ret_high)
{
    struct own lowest = {UINT64_MAX, 0};
    const struct module *self = runtime.self;
    const uint64_t region = (uint64_t)runtime.region, process = (uint64_t)runtime.process;
    offer(at, region, region + whole_pages(runtime.region_size), &lowest);
    offer(at, process, process + whole_pages(sizeof(struct process) + runtime.process_room),
          &lowest);
    if (self != NULL)
        offer(at, self->low & ~4095ul, whole_pages(self->high), &lowest);
    for (uint32_t i = 0; i < atomic_load(&own_end); i++)
        offer(at, atomic_load(&own[i].low), atomic_load(&own[i].high), &lowest);
    *ret_low = lowest.low > at ? lowest.low : at;
    *ret_high = lowest.high;
    return lowest.low != UINT64_MAX;
}

bool own_is_in(uint64_t start, uint64_t size)
{
    uint64_t low, high;
    return runtime.armed && size != 0 && start + size > start && next_own(start, &low, &high) &&
           low < start + size;
}

void own_note(const char *call)
{
    static uint32_t noted;
    if (atomic_swap_if(&noted, 0, 1))
        journal_note(WIRE_NOTE_KEPT, call);
}

bool own_next_foreign(uint64_t *at, uint64_t end, uint64_t *ret_size)
{
    uint64_t low, high = 0;
    while (*at < end) {
        bool some = next_own(*at, &low, &high);
        if (!some || low >= end) {
            *ret_size = end - *at;
            return true;
        }
        if (low > *at) {
            *ret_size = low - *at;
            return true;
        }
        *at = high;
    }
    return false;
}

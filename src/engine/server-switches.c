// SPDX-License-Identifier: GPL-3.0-or-later
// See server-switches.h. A rule with `once` that has fired is one that does not: what the runtime
// asks before it fires is the switch.
#include "engine/server-switches.h"

#include "base/cleanup.h"
#include "wire/region.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct wire_rule_state *state_of(const struct switches *switches, uint32_t rule)
{
    return (struct wire_rule_state *)(void *)(switches->map + switches->first) + rule;
}

void switches_set(const struct switches *switches, uint32_t rule, bool on)
{
    if (switches->map != NULL && rule < switches->count)
        __atomic_store_n(&state_of(switches, rule)->once, on ? 0 : 1, __ATOMIC_SEQ_CST);
}

uint64_t switches_fired(const struct switches *switches, uint32_t rule)
{
    if (switches->map == NULL || rule >= switches->count)
        return 0;
    return __atomic_load_n(&state_of(switches, rule)->fired, __ATOMIC_SEQ_CST);
}

// What targets have written over by now is not believed: where things are was read before.
uint32_t switches_crashes(const struct switches *switches)
{
    const struct wire_region *region = (const struct wire_region *)(void *)switches->map;
    uint32_t count = 0;
    if (region == NULL)
        return 0;
    uint64_t head = __atomic_load_n(&region->journal_head, __ATOMIC_SEQ_CST);
    const struct wire_record *records =
        (const struct wire_record *)(void *)(switches->map + switches->journal);
    for (uint64_t i = 0; i < head && i < switches->journal_capacity; i++)
        count += records[i].kind == WIRE_RECORD_CRASH;
    for (uint64_t i = 0; i < WIRE_LATE_CRASHES && head >= switches->journal_capacity; i++)
        count += records[switches->journal_capacity + i].state != WIRE_RECORD_EMPTY;
    return count;
}

static bool is_sound(const struct switches *switches)
{
    return switches->first % sizeof(uint64_t) == 0 && switches->first < switches->size &&
           switches->count <= (switches->size - switches->first) / sizeof(struct wire_rule_state) &&
           switches->journal < switches->size &&
           switches->journal_capacity + WIRE_LATE_CRASHES <=
               (switches->size - switches->journal) / sizeof(struct wire_record);
}

struct error *switches_open(struct switches *switches, const char *file, uint64_t first,
                            uint64_t count)
{
    struct stat facts;
    if (file[0] == '\0')
        return NULL;
    _cleanup_close_ int opened = open(file, O_RDWR | O_CLOEXEC);
    if (opened < 0 || fstat(opened, &facts) < 0)
        return error_from_errno(errno, "cannot open %s", file);
    size_t size = (size_t)facts.st_size;
    void *map = size < sizeof(struct wire_region)
                    ? MAP_FAILED
                    : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map %s", file);
    const struct wire_region *region = map; // no target has it yet
    *switches = (struct switches){.map = map,
                                  .size = size,
                                  .first = first,
                                  .journal = region->journal,
                                  .count = count,
                                  .journal_capacity = region->journal_capacity};
    if (!is_sound(switches))
        return error_new("faults cannot be switched on in %s", file);
    for (uint32_t i = 0; i < count; i++)
        switches_set(switches, i, false);
    return NULL;
}

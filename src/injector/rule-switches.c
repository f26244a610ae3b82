// SPDX-License-Identifier: GPL-3.0-or-later
// Switches rules on and off in a region. A rule with `once` does not fire again once it is marked
// as fired. That mark is the switch: setting it switches the rule off.
#include "injector/rule-switches.h"

#include "base/cleanup.h"
#include "wire/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct rule_switches {
    uint8_t *map;
    size_t size, first, journal;
    uint64_t count, journal_capacity;
};

static struct wire_rule_state *state_of(const struct rule_switches *switches, uint32_t rule)
{
    return (struct wire_rule_state *)(void *)(switches->map + switches->first) + rule;
}

void rule_switches_set(void *data, uint32_t rule, bool on)
{
    const struct rule_switches *switches = data;
    if (rule < switches->count)
        __atomic_store_n(&state_of(switches, rule)->once, on ? 0 : 1, __ATOMIC_SEQ_CST);
}

uint64_t rule_switches_fired(const void *data, uint32_t rule)
{
    const struct rule_switches *switches = data;
    if (rule >= switches->count)
        return 0;
    return __atomic_load_n(&state_of(switches, rule)->fired, __ATOMIC_SEQ_CST);
}

// Uses the layout that was read before the targets started, because they may have overwritten the
// region since.
uint32_t rule_switches_crashes(const void *data)
{
    const struct rule_switches *switches = data;
    const struct wire_region *region = (const struct wire_region *)(void *)switches->map;
    uint32_t count = 0;
    uint64_t head = __atomic_load_n(&region->journal_head, __ATOMIC_SEQ_CST);
    const struct wire_record *records =
        (const struct wire_record *)(void *)(switches->map + switches->journal);
    for (uint64_t i = 0; i < head && i < switches->journal_capacity; i++)
        count += records[i].kind == WIRE_RECORD_CRASH;
    for (uint64_t i = 0; i < WIRE_LATE_CRASHES && head >= switches->journal_capacity; i++)
        count += records[switches->journal_capacity + i].state != WIRE_RECORD_EMPTY;
    return count;
}

static bool is_sound(const struct rule_switches *switches)
{
    return switches->first % sizeof(uint64_t) == 0 && switches->first < switches->size &&
           switches->count <= (switches->size - switches->first) / sizeof(struct wire_rule_state) &&
           switches->journal < switches->size &&
           switches->journal_capacity + WIRE_LATE_CRASHES <=
               (switches->size - switches->journal) / sizeof(struct wire_record);
}

static struct error *map_region(const char *file, struct rule_switches *switches)
{
    struct stat facts;
    _cleanup_close_ int opened = open(file, O_RDWR | O_CLOEXEC);
    if (opened < 0 || fstat(opened, &facts) < 0)
        return error_from_errno(errno, "cannot open %s", file);
    if ((size_t)facts.st_size < sizeof(struct wire_region))
        return error_new("%s is too small for a region", file);
    void *map = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map %s", file);
    switches->map = map;
    switches->size = (size_t)facts.st_size;
    return NULL;
}

static struct error *prepare(const char *file, struct rule_switches *switches)
{
    TRY(map_region(file, switches));
    const struct wire_region *region = (const void *)switches->map; // no target has it yet
    switches->journal = region->journal;
    switches->journal_capacity = region->journal_capacity;
    if (!is_sound(switches))
        return error_new("faults cannot be switched on in %s", file);
    for (uint32_t i = 0; i < switches->count; i++)
        rule_switches_set(switches, i, false);
    return NULL;
}

struct error *rule_switches_open(const char *file, uint64_t first, uint64_t count,
                                 void **ret_switches)
{
    struct rule_switches *switches = calloc(1, sizeof *switches);
    if (switches == NULL)
        return error_no_memory();
    switches->first = first;
    switches->count = count;
    struct error *error = prepare(file, switches);
    if (error != NULL) {
        rule_switches_close(switches);
        return error;
    }
    *ret_switches = switches;
    return NULL;
}

void rule_switches_close(void *data)
{
    struct rule_switches *switches = data;
    if (switches == NULL)
        return;
    if (switches->map != NULL)
        munmap(switches->map, switches->size);
    free(switches);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Finds numbers in a region that cannot be true: a target has written where it should not have.
// What is found here is certain. A target that lies with care is not found out.
#include "trial/region.h"

#include "base/clock.h"

#include <stdlib.h>
#include <unistd.h>

#define CALLS_PER_NS 4 // by one processor; really fewer than one
#define ANY_TIME     1000000
#define CLOCK_SLACK  NS_PER_S

// How often something can have happened at most.
static uint64_t most_events(const struct wire_region *region)
{
    static uint64_t processors;
    if (processors == 0) {
        long found = sysconf(_SC_NPROCESSORS_CONF);
        processors = found > 0 ? (uint64_t)found : 1;
    }
    uint64_t rate = processors * CALLS_PER_NS;
    if (region->watched_ns == 0 || region->watched_ns > UINT64_MAX / 4 / rate)
        return UINT64_MAX / 4;
    return region->watched_ns * rate + ANY_TIME;
}

static bool counts_are_possible(const struct wire_view *view, uint64_t most)
{
    const struct wire_region *region = view->region;
    bool possible = region->journal_head <= most && region->processes <= most &&
                    region->forks <= region->processes && region->stack_set_lost <= most;
    for (uint32_t i = 0; possible && i < view->rule_count; i++)
        possible = view->rule_states[i].reached <= most;
    for (uint32_t i = 0; possible && i < view->pattern_count; i++)
        possible = view->pattern_states[i].bound <= most;
    return possible;
}

static bool calls_are_possible(const struct wire_calls *calls, uint64_t most)
{
    uint64_t sum = calls->lost;
    for (uint32_t i = 0; i < WIRE_CALLS && i < calls->taken && sum <= most; i++) {
        const struct wire_call *row = &calls->rows[i];
        if (row->state != WIRE_RECORD_COMPLETE)
            continue;
        if (row->count > most || row->first > most)
            return false;
        sum += row->count;
    }
    return sum <= most;
}

static bool record_is_possible(const struct wire_view *view, const struct wire_record *record,
                               uint64_t most)
{
    const struct wire_region *region = view->region;
    if (record->state != WIRE_RECORD_COMPLETE)
        return record->state < WIRE_RECORD_COMPLETE;
    if (record->process_number == 0 || record->process_number > region->processes ||
        (region->watched_ns != 0 && record->time_ns > region->watched_ns + CLOCK_SLACK))
        return false;
    switch (record->kind) {
    case WIRE_RECORD_INJECTION:
        return record->rule < view->rule_count && record->frame_count <= WIRE_FRAMES &&
               record->occurrence != 0 && record->occurrence <= most;
    case WIRE_RECORD_NOTE:
        return record->note < WIRE_NOTES;
    case WIRE_RECORD_CRASH:
        return record->frame_count <= WIRE_FRAMES && record->error > 0 && record->error <= 64;
    case WIRE_RECORD_RESULT:
        return record->rule < view->rule_count;
    default:
        return record->kind == WIRE_RECORD_EXEC;
    }
}

// Compares the rules' counts with the records. A record is asked for, then the injection is
// counted, then the record is complete (runtime/journal.c). Read in the opposite order, the numbers
// agree even if a process goes on meanwhile.
static enum wire_damage compare_with_records(const struct wire_view *view, uint64_t most,
                                             uint64_t *recorded)
{
    uint64_t others = 0, fired = 0;
    for (uint32_t i = 0; i < view->record_count; i++) {
        const struct wire_record *record = &view->journal[i];
        if (!record_is_possible(view, record, most))
            return WIRE_DAMAGE_RECORD;
        if (record->state != WIRE_RECORD_COMPLETE)
            continue;
        if (record->kind == WIRE_RECORD_INJECTION)
            recorded[record->rule]++;
        else
            others++;
    }
    for (uint32_t i = 0; i < view->rule_count; i++) {
        uint64_t count = __atomic_load_n(&view->rule_states[i].fired, __ATOMIC_ACQUIRE);
        if (recorded[i] > count)
            return WIRE_DAMAGE_RECORD;
        fired += count; // each is below a quarter of the range
    }
    uint64_t asked = __atomic_load_n(&view->region->journal_head, __ATOMIC_ACQUIRE);
    return others > asked || fired > asked - others ? WIRE_DAMAGE_RECORD : WIRE_DAMAGE_NONE;
}

enum wire_damage region_find_damage(const struct wire_view *view)
{
    uint64_t most = most_events(view->region);
    // Somebody wrote there, so at least one process had the region.
    if (view->region->overwritten != 0 && view->region->processes == 0)
        return WIRE_DAMAGE_HEADER;
    for (uint32_t i = 0; i < view->rule_count; i++)
        if (view->rule_states[i].fired > view->rule_states[i].reached)
            return WIRE_DAMAGE_FIRED;
    for (uint32_t i = 0; i < view->rule_count; i++)
        if (view->rule_states[i].reached != 0 && view->region->processes == 0)
            return WIRE_DAMAGE_RECORD; // calls of nobody
    if (!counts_are_possible(view, most) ||
        (view->calls != NULL && !calls_are_possible(view->calls, most)))
        return WIRE_DAMAGE_TIME;
    uint64_t *recorded = calloc((size_t)view->rule_count + 1, sizeof *recorded);
    if (recorded == NULL)
        return WIRE_DAMAGE_NONE; // nothing is claimed
    enum wire_damage damage = compare_with_records(view, most, recorded);
    free(recorded);
    return damage;
}

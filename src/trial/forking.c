// SPDX-License-Identifier: GPL-3.0-or-later
// Answers a workload's wish to fork. Takes a snapshot of the region before the child runs and puts
// it back afterwards, so that the next child starts from the same state.
#include "trial/forking.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What a child may change in the region, as it was before.
struct snapshot {
    struct wire_rule_state *rules;
    struct wire_pattern_state *patterns;
    uint64_t journal_head, stack_set_lost;
    uint64_t execs[WIRE_EXECS];
    uint32_t processes, forks;
    uint64_t taken_ns;
};

struct forking {
    struct region *region;
    uint32_t rules, patterns;
    uint32_t stops; // numbered after the rules
    uint32_t seen;  // events
    struct snapshot snapshot;
};

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

struct error *forking_start(struct region *region, struct forking **ret_forking)
{
    struct forking *forking = calloc(1, sizeof *forking);
    if (forking == NULL)
        return error_no_memory();
    const struct wire_plan *plan = region_plan(region);
    forking->region = region;
    forking->rules = plan->rules.count;
    forking->patterns = plan->patterns.count;
    forking->stops = region->layout.stop_count;
    forking->snapshot.rules = calloc(forking->rules + 1, sizeof *forking->snapshot.rules);
    forking->snapshot.patterns = calloc(forking->patterns + 1, sizeof *forking->snapshot.patterns);
    if (forking->snapshot.rules == NULL || forking->snapshot.patterns == NULL) {
        forking_free(forking);
        return error_no_memory();
    }
    *ret_forking = forking;
    return NULL;
}

void forking_free(struct forking *forking)
{
    if (forking == NULL)
        return;
    free(forking->snapshot.rules);
    free(forking->snapshot.patterns);
    free(forking);
}

void forking_wait(struct forking *forking, uint64_t ns)
{
    uint32_t *events = &forking->region->map->fork.events;
    const struct timespec most = clock_timespec(ns);
    if (load(events) == forking->seen)
        syscall(SYS_futex, events, FUTEX_WAIT, forking->seen, &most, NULL, 0);
}

enum wire_fork_refusal forking_refusal(const struct forking *forking)
{
    uint32_t refusal = load(&forking->region->map->fork.refusal);
    return refusal < WIRE_FORK_REFUSALS ? refusal : WIRE_FORK_FAILED;
}

struct forking_news forking_news(struct forking *forking)
{
    const struct wire_fork *fork = &forking->region->map->fork;
    struct forking_news news = {.kind = FORKING_NOTHING};
    forking->seen = load(&fork->events);
    uint32_t state = load(&fork->state);
    if ((state != WIRE_FORK_ASKED && state != WIRE_FORK_ENDED) ||
        fork->rule >= forking->rules + forking->stops)
        return news;
    news = (struct forking_news){
        .kind = state == WIRE_FORK_ASKED ? FORKING_ASKED : FORKING_ENDED,
        .rule = fork->rule,
        .refusal = forking_refusal(forking),
        .status = fork->status,
        .cpu_ns = fork->cpu_ns,
        .peak_memory = fork->peak_memory,
        .since_ns = fork->changed_ns,
        .resumed_ns = fork->resumed_ns,
    };
    return news;
}

static struct wire_rule_state *rule_states(const struct region *region)
{
    return (struct wire_rule_state *)((char *)region->map + region->layout.rules);
}

static struct wire_pattern_state *pattern_states(const struct region *region)
{
    return (struct wire_pattern_state *)((char *)region->map + region->layout.patterns);
}

static struct wire_programs *programs(const struct region *region)
{
    return (struct wire_programs *)((char *)region->map + region->layout.programs);
}

static void answer(struct forking *forking, enum wire_fork_state state)
{
    uint32_t *word = &forking->region->map->fork.state;
    __atomic_store_n(word, (uint32_t)state, __ATOMIC_RELEASE);
    wake(word);
}

void forking_grant(struct forking *forking)
{
    const struct region *region = forking->region;
    const struct wire_region *map = region->map;
    struct snapshot *snapshot = &forking->snapshot;
    memcpy(snapshot->rules, rule_states(region), forking->rules * sizeof *snapshot->rules);
    memcpy(snapshot->patterns, pattern_states(region),
           forking->patterns * sizeof *snapshot->patterns);
    snapshot->journal_head = map->journal_head;
    snapshot->stack_set_lost = map->stack_set_lost;
    snapshot->processes = map->processes;
    snapshot->forks = map->forks;
    memcpy(snapshot->execs, programs(region)->execs, sizeof snapshot->execs);
    snapshot->taken_ns = map->fork.changed_ns;
    answer(forking, WIRE_FORK_GRANTED);
}

void forking_deny(struct forking *forking)
{
    answer(forking, WIRE_FORK_NONE);
}

// Whether a count is lower than before the child began.
static bool has_fallen(const struct snapshot *snapshot, const struct wire_view *view)
{
    bool fallen = view->region->journal_head < snapshot->journal_head ||
                  view->region->processes < snapshot->processes;
    for (uint32_t i = 0; i < view->rule_count; i++)
        fallen |= view->rule_states[i].fired < snapshot->rules[i].fired ||
                  view->rule_states[i].reached < snapshot->rules[i].reached;
    return fallen;
}

struct error *forking_view(struct forking *forking, struct wire_view *ret_view)
{
    struct region *region = forking->region;
    region_mend(region);
    if (region->cut)
        return error_new("the target cut %s short, in which it is noted what happens to it",
                         region->path);
    region_restore(region, region->map);
    TRY(region_check(region->map, region->layout.arena, region->path, ret_view));
    if (ret_view->damage == WIRE_DAMAGE_NONE && has_fallen(&forking->snapshot, ret_view))
        ret_view->damage = WIRE_DAMAGE_FELL;
    return NULL;
}

// Zeroes the child's records: a record must be zero until it is used. A child that crashed may have
// written to any of them.
static void clear_journal(struct forking *forking)
{
    const struct region *region = forking->region;
    const struct snapshot *snapshot = &forking->snapshot;
    uint64_t capacity = region->layout.journal_capacity, end = region->map->journal_head;
    uint64_t all = capacity + WIRE_LATE_CRASHES;
    uint64_t from = snapshot->journal_head < capacity ? snapshot->journal_head : capacity;
    if (end > capacity || end < from || WIFSIGNALED(region->map->fork.status))
        end = all;
    struct wire_record *records =
        (struct wire_record *)((char *)region->map + region->layout.journal);
    memset(records + from, 0, (end - from) * sizeof *records);
}

void forking_go_on(struct forking *forking)
{
    struct region *region = forking->region;
    struct wire_region *map = region->map;
    const struct snapshot *snapshot = &forking->snapshot;
    memcpy(rule_states(region), snapshot->rules, forking->rules * sizeof *snapshot->rules);
    memcpy(pattern_states(region), snapshot->patterns,
           forking->patterns * sizeof *snapshot->patterns);
    clear_journal(forking);
    map->journal_head = snapshot->journal_head;
    map->stack_set_lost = snapshot->stack_set_lost;
    map->processes = snapshot->processes;
    map->forks = snapshot->forks;
    memcpy(programs(region)->execs, snapshot->execs, sizeof snapshot->execs);
    for (uint32_t i = 0; i < WIRE_PROCESSES; i++)
        programs(region)->processes[i].own_call = 0;
    region_start(region, map->start_ns + (clock_ns() - snapshot->taken_ns));
    answer(forking, WIRE_FORK_NONE);
}

bool forking_suits(const struct wire_plan *plan, uint32_t rule)
{
    const struct wire_rule *rules =
        (const struct wire_rule *)((const char *)plan + plan->rules.offset);
    const struct wire_instruction *code =
        (const struct wire_instruction *)((const char *)plan + plan->code.offset);
    if (rule >= plan->rules.count || rules[rule].new_stack || rules[rule].actions == 0)
        return false;
    for (uint32_t i = 0; i < rules[rule].code.count; i++)
        switch (code[rules[rule].code.offset + i].op) {
        case WIRE_OP_RANDOM:
        case WIRE_OP_NEW_STACK:
        case WIRE_OP_HOLDING_MUTEX:
        case WIRE_OP_AFTER:
        case WIRE_OP_INSIDE:
        case WIRE_OP_TIME:
        case WIRE_OP_REMOTE:
        case WIRE_OP_PLUGIN:
            return false;
        default:
            break;
        }
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Takes rows in the region for threads. A row's owner is a word there: the process and the thread,
// whether the thread is about to end, or that the process has ended. Rows of threads that are gone
// go to new threads of the same process, which goes on counting in them. Rows of processes that
// have ended, or are gone, are emptied into the rules' counts before they are used again.
#include "runtime/rows.h"

#include "runtime/credits.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/slots.h"
#include "runtime/system.h"

#include <asm/stat.h>
#include <linux/mman.h>

_Static_assert(ROW_COUNT == WIRE_COUNT_ROWS && ROW_SLOTS == WIRE_COUNT_SLOTS, "rows");
_Static_assert(sizeof(((struct wire_counts *)0)->counts[0]) == ROW_SIZE, "ROW_SIZE");
_Static_assert(sizeof(runtime_rows[0]) == ROW_WINDOW, "ROW_WINDOW");
_Static_assert(ASM_ROW_ENTRY == (ROW_ENTRY - ROW_CALLS) * ROW_WINDOW, "ASM_ROW_ENTRY");
_Static_assert(ASM_DELTA_COUNT == offsetof(struct row_deltas, count), "ASM_DELTA_COUNT");
_Static_assert(ASM_DELTA_OPEN == offsetof(struct row_deltas, open), "ASM_DELTA_OPEN");
_Static_assert(ASM_THREAD_ROW == offsetof(struct thread, row), "ASM_THREAD_ROW");

#define ENDING (1ull << 63) // the thread returned from its first function

// Whether a process is gone can only be asked about one of the same PID namespace, of which a few
// bits are in the word. Finding that out is left for later rows: most runs need few.
#define SPACE_SHIFT     54
#define SPACE_MASK      (0xffull << SPACE_SHIFT)
#define ROWS_WITHOUT_IT 64

int64_t runtime_rows[ROW_WINDOWS][ROW_COUNT][ROW_SLOTS];
int64_t (*runtime_closed_base)[ROW_SLOTS] = runtime_rows[ROW_CLOSED];
int64_t (*runtime_count_base)[ROW_SLOTS] = runtime_rows[ROW_CALLS];

struct row_deltas runtime_row_deltas __attribute__((section(".bss.runtime_row_deltas")));

static struct wire_counts *counts; // NULL: this program does without rows
static uint64_t mine[ROW_COUNT / 64];
static bool has_ended;

void rows_open(bool open)
{
    int64_t way = (char *)runtime_rows[ROW_LEFT] - (char *)runtime_rows[ROW_CLOSED];
    atomic_store(&runtime_row_deltas.open, open ? way : 0);
}

bool rows_on(void)
{
    return counts != NULL;
}

uint32_t rows_next(uint32_t after)
{
    for (uint32_t row = after + 1; row < ROW_COUNT; row++) {
        uint64_t rest = atomic_load(&mine[row / 64]) >> row % 64;
        if (rest != 0)
            return row + (uint32_t)__builtin_ctzll(rest);
        row |= 63;
    }
    return 0;
}

static void describe(uint32_t row, const struct stub_slot *slot)
{
    const struct function *function = slot_function(slot);
    if (function == NULL || !function->in_rows)
        return;
    struct wire_count_function *entry = &counts->functions[row][slot - runtime_slots];
    entry->patterns[1] = function->patterns[1] + 1;
    atomic_store(&entry->patterns[0], function->patterns[0] + 1);
}

// Whoever comes later, a row or a function, finds the other: both are published with a locked
// instruction before they look. A slot whose function is not known yet comes again.
void rows_describe(const struct stub_slot *slot)
{
    if (slot_function(slot) == NULL)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (counts != NULL && rows_have(slot))
        for (uint32_t row = 0; (row = rows_next(row)) != 0;)
            describe(row, slot);
}

static void add_to_pattern(uint32_t pattern, uint64_t calls)
{
    const struct wire_pattern *patterns = plan_array(runtime.plan->patterns);
    const uint32_t *refs = plan_array(runtime.plan->rule_refs);
    if (pattern == 0 || pattern > runtime.plan->patterns.count)
        return;
    const struct wire_span rules = patterns[pattern - 1].rule_refs;
    for (uint32_t i = 0; i < rules.count; i++)
        atomic_add(&runtime.rule_states[refs[rules.offset + i]].reached, calls);
}

// The row of an ended process, before it is used again.
static void empty(uint32_t row)
{
    for (uint32_t i = 0; i < ROW_SLOTS; i++) {
        struct wire_count_function *entry = &counts->functions[row][i];
        uint64_t calls = counts->counts[row][i];
        counts->counts[row][i] = 0;
        for (uint32_t k = 0; calls != 0 && k < WIRE_COUNT_PATTERNS; k++)
            add_to_pattern(entry->patterns[k], calls);
        *entry = (struct wire_count_function){0};
    }
}

static uint64_t owner_now(void)
{
    return (uint64_t)system_pid() << 32 | system_tid();
}

static uint64_t own_space(void)
{
    struct stat facts;
    if (system_failed(SYSTEM_2(__NR_stat, "/proc/self/ns/pid", &facts)))
        return 0;
    return (facts.st_ino << SPACE_SHIFT & SPACE_MASK) | 1ull << SPACE_SHIFT;
}

static bool is_dead(uint64_t owner, uint64_t me)
{
    const long no_such_thread = -3;
    owner &= ~(ENDING | SPACE_MASK);
    return owner == me || SYSTEM_3(__NR_tgkill, owner >> 32, (uint32_t)owner, 0) == no_such_thread;
}

// Threads that are about to end are asked about first, since most of them will be gone.
static uint32_t take_from_dead(uint64_t me, uint64_t flag)
{
    for (uint32_t row = 0; (row = rows_next(row)) != 0;) {
        uint64_t owner = atomic_load(&counts->owners[row]);
        if ((owner & ENDING) == flag && is_dead(owner, me) &&
            atomic_swap_if(&counts->owners[row], owner, me))
            return row;
    }
    return 0;
}

static uint32_t take_unowned(uint64_t owner, uint64_t me, uint32_t end)
{
    for (uint32_t row = 1; row < end; row++)
        if (atomic_load(&counts->owners[row]) == owner &&
            atomic_swap_if(&counts->owners[row], owner, me))
            return row;
    return 0;
}

static uint32_t take_from_dead_processes(uint64_t me)
{
    const long no_such_process = -3;
    uint64_t space = own_space();
    for (uint32_t row = 1; space != 0 && row < ROW_COUNT; row++) {
        uint64_t owner = atomic_load(&counts->owners[row]);
        uint32_t pid = (uint32_t)((owner & ~(ENDING | SPACE_MASK)) >> 32);
        if ((owner & SPACE_MASK) == space && SYSTEM_2(__NR_kill, pid, 0) == no_such_process &&
            atomic_swap_if(&counts->owners[row], owner, me))
            return row;
    }
    return 0;
}

static uint32_t find_row(void)
{
    uint64_t me = owner_now();
    if (runtime.filtered) // asking about others may be forbidden
        return take_unowned(0, me, ROW_COUNT);
    uint32_t row = take_from_dead(me, ENDING);
    // Those of ended processes before new ones: their pages are there, and few are enough for long.
    if (row == 0 && (row = take_unowned(WIRE_COUNT_ENDED, me, atomic_load(&counts->used) + 1)) != 0)
        empty(row);
    if (row == 0)
        row = take_unowned(0, me, ROW_COUNT);
    if (row == 0)
        row = take_from_dead(me, 0);
    if (row == 0 && (row = take_from_dead_processes(me)) != 0)
        empty(row);
    if (row > ROWS_WITHOUT_IT)
        atomic_store(&counts->owners[row], me | own_space());
    return row;
}

void rows_take(void)
{
    if (counts == NULL || runtime_row_deltas.count == 0 || runtime_thread.row != 0)
        return;
    uint32_t row = find_row();
    if (row == 0) {
        functions_lose_calls();
        return;
    }
    uint32_t used = atomic_load(&counts->used);
    while (used < row && !atomic_swap_if(&counts->used, used, row))
        used = atomic_load(&counts->used);
    __atomic_fetch_or(&mine[row / 64], 1ull << row % 64, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0, end = slots_count(); i < end && i < ROW_SLOTS; i++)
        describe(row, &runtime_slots[i]);
    if (record_by_site()) // what a thread before it found; and reading the page first costs a fault
        memset(runtime_rows[ROW_ENTRY][row], 0, ROW_SIZE);
    runtime_thread.row = (uint64_t)row * ROW_SIZE;
}

// Rows under the process's number are those of the program that it ran before, or of a process that
// is gone.
static void end_rows_of_this_pid(void)
{
    uint64_t pid = system_pid();
    uint32_t used = atomic_load(&counts->used);
    for (uint32_t row = 1; row <= used && row < ROW_COUNT; row++) {
        uint64_t owner = atomic_load(&counts->owners[row]);
        if ((owner & ~(ENDING | SPACE_MASK)) >> 32 == pid) // another process may be taking it
            atomic_swap_if(&counts->owners[row], owner, WIRE_COUNT_ENDED);
    }
}

static void start(void)
{
    end_rows_of_this_pid();
    runtime_row_deltas.count = (char *)counts->counts - (char *)runtime_rows[ROW_CALLS];
    rows_take();
    if (runtime_thread.row == 0)
        runtime_row_deltas.count = 0;
    else
        rows_open(true);
}

void rows_prepare(void)
{
    // Trials that fork have their counts taken back by the controller, which knows nothing of rows.
    if (runtime.region->counts == 0 || (runtime.region->options & WIRE_FORKS) != 0 ||
        system_failed(SYSTEM_3(__NR_madvise, &runtime_row_deltas, sizeof runtime_row_deltas,
                               MADV_WIPEONFORK)))
        return;
    counts = region_at(runtime.region->counts);
    start();
    if (runtime_thread.row == 0)
        counts = NULL;
    else
        runtime.row_counts = counts->counts[0];
}

void rows_after_fork(void)
{
    if (counts == NULL)
        return;
    int64_t *before = runtime_rows[ROW_CALLS][runtime_thread.row / ROW_SIZE];
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        mine[i] = 0;
    runtime_thread.row = 0;
    start();
    // The child may have called functions that it had credits for.
    uint32_t row = (uint32_t)(runtime_thread.row / ROW_SIZE);
    for (uint32_t i = 0; row != 0 && i < ROW_SLOTS; i++)
        if (before[i] != 0)
            counts->counts[row][i] +=
                (uint64_t)__atomic_exchange_n(&before[i], 0, __ATOMIC_RELAXED);
}

static uint64_t calls_of(const struct stub_slot *slot)
{
    uint64_t calls = 0;
    for (uint32_t row = 0; (row = rows_next(row)) != 0;)
        calls += atomic_load(&counts->counts[row][slot - runtime_slots]);
    return calls;
}

// Versions of a symbol have slots of their own, and are one function.
uint64_t rows_calls(const struct function *function)
{
    if (atomic_load(&function->slots) == 1)
        return function->inherited + atomic_load(&function->outside) + calls_of(function->primary);
    uint64_t calls = function->inherited + atomic_load(&function->outside);
    for (uint32_t i = 0, end = slots_count(); i < end && i < ROW_SLOTS; i++)
        if (slot_function(&runtime_slots[i]) == function)
            calls += calls_of(&runtime_slots[i]);
    return calls;
}

static uint64_t *entry_of(struct function *function, uint64_t row, uint64_t slot)
{
    return row != 0 && slot < ROW_SLOTS ? &counts->counts[row / ROW_SIZE][slot]
                                        : &function->outside;
}

void rows_count_late(struct function *function, uint64_t row, uint64_t slot)
{
    if (row != 0 && slot < ROW_SLOTS)
        rows_count_call(row, slot);
    else
        atomic_add(&function->outside, 1);
}

// Other threads go on counting calls that no rule wants. Those that draw numbers do it one by one,
// and each counts its call only then: so the next one finds it counted, and has a higher number. A
// signal handler of the same thread is kept out; or there is one thread, whose entry is changed and
// read in one instruction.
uint64_t rows_draw(struct function *function, uint64_t row, uint64_t slot)
{
    uint64_t *own = entry_of(function, row, slot), before = 1;
    bool alone = *runtime_single_threaded != 0 || runtime.filtered;
    if (!alone)
        process_lock();
    uint64_t others = rows_calls(function) - atomic_load(own);
    __asm__("lock xaddq %0, %1" : "+r"(before), "+m"(*own)::"memory");
    if (!alone)
        process_unlock();
    return others + before + 1;
}

void rows_thread_ends(void)
{
    if (counts != NULL && runtime_thread.row != 0)
        __atomic_fetch_or(&counts->owners[runtime_thread.row / ROW_SIZE], ENDING, __ATOMIC_RELAXED);
}

// Other threads may still run, and count; and a child of vfork() is here in its parent's memory.
void rows_process_ends(void)
{
    if (counts == NULL || *runtime_single_threaded == 0 || runtime_thread.row == 0 ||
        runtime_row_deltas.count == 0)
        return;
    uint64_t *owner = &counts->owners[runtime_thread.row / ROW_SIZE];
    if ((*owner & ~(ENDING | SPACE_MASK)) >> 32 != process_pid())
        return;
    runtime_thread.row = 0;
    runtime_row_deltas.count = 0;
    has_ended = true;
    atomic_store(owner, WIRE_COUNT_ENDED);
}

bool rows_have_ended(void)
{
    return has_ended;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Gives out credits, and calls them in.
//
// A function's `count` is the number of calls that have a number: one for each call that came
// without a credit, and one for each credit that was given out. So
//
//     calls so far = count - credits that are left, over all threads.
//
// Let a rule want occurrence N. Credits are given out only while `count` stays below N by a margin.
// When they run short, all that are left are called in and taken off `count`, which then is the
// number of calls. The last calls before N draw their numbers one by one, from `count`, in the
// stub: exactly one of them draws N.
//
// A stub takes a credit with one `sub` instruction without a lock, because the row is its thread's
// alone. A signal handler of that thread, and a switch to another thread, come before or after the
// instruction. Only a thread that calls credits in writes to other threads' rows, and its write may
// come between the load and the store of such an instruction, and be lost. Therefore:
//
//  1. It makes the stubs use the window of closed rows, and asks the kernel for a barrier in all
//     threads (membarrier). From then on no stub begins to look for a credit. A thread may still
//     stand between the instruction that found the row and the `sub`: that is one `sub` for each
//     thread and each of its interrupted signal handlers, and no more.
//  2. It swaps the number of credits with CALLED_IN, which is far below 0.
//  3. It asks for a barrier again: a `sub` that was under way is now complete and seen. If the
//     entry is still far below 0, the swap came before or after every `sub`, so that the number
//     it returned is what was left, and nobody can take from it any more. If the entry is not, a
//     `sub` had read it before and written after the swap. That call has its credit, all is as if
//     there had been no swap, and 2 is tried again. By 1, this ends.
//
// A child that was forked has its parent's credits and count as they were at that moment, since
// both are private memory. If another thread of the parent was just moving credits, they do not
// agree; and stubs that only record draw no numbers. Then the child takes the number of calls from
// the rows. The parent noted it before; where it could not, because the fork came by a system call
// of its own, it may have gone on meanwhile.
#include "runtime/credits.h"

#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/membarrier.h>

#define MARGIN    4096  // above the number of threads that may draw numbers at once
#define NEAR      16384 // with less than this to go, credits are not worth their while
#define FEW       1024
#define CALLED_IN (-(1ll << 60))

static int64_t *left_of(uint32_t row, const struct stub_slot *slot)
{
    return &runtime_rows[ROW_LEFT][row][slot - runtime_slots];
}

static uint32_t own_row(void)
{
    return (uint32_t)(runtime_thread.row / ROW_SIZE);
}

// The kernel's barrier.

static uint32_t barrier_state; // 0: not asked for yet, 1: there is one, 2: there is none

static bool barrier_register(void)
{
    long result = SYSTEM_3(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    atomic_store(&barrier_state, system_failed(result) ? 2u : 1u);
    return !system_failed(result);
}

// Only where it was registered. A process that later forbids itself this call has no barrier.
static void barrier(void)
{
    if (system_failed(SYSTEM_3(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) &&
        barrier_register())
        SYSTEM_3(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static bool is_over;    // no more credits are given out
static bool is_noted;   // calls before a fork that is under way
static uint32_t moving; // threads, or signal handlers, that give credits out or call them in

static bool is_single(void)
{
    return *runtime_single_threaded != 0;
}

// Calling in.

static int64_t swapped[ROW_COUNT]; // what each row had; under the lock

static bool others_have(const struct stub_slot *slot, uint32_t own)
{
    for (uint32_t row = 0; (row = rows_next(row)) != 0;)
        if (row != own && atomic_load(left_of(row, slot)) > 0)
            return true;
    return false;
}

// One round of steps 2 and 3.
static int64_t swap_others(const struct stub_slot *slot, uint32_t own)
{
    int64_t sum = 0;
    for (uint32_t row = 0; (row = rows_next(row)) != 0;)
        swapped[row] = row != own && atomic_load(left_of(row, slot)) > 0
                           ? __atomic_exchange_n(left_of(row, slot), CALLED_IN, __ATOMIC_SEQ_CST)
                           : 0;
    if (!is_single())
        barrier();
    for (uint32_t row = 0; (row = rows_next(row)) != 0;)
        if (swapped[row] > 0 && atomic_load(left_of(row, slot)) <= CALLED_IN / 2)
            sum += swapped[row];
    return sum;
}

// Returns how many credits were left.
static int64_t call_in(const struct stub_slot *slot)
{
    uint32_t own = own_row();
    int64_t sum = __atomic_exchange_n(left_of(own, slot), 0, __ATOMIC_SEQ_CST);
    if (sum < 0)
        sum = 0;
    if (others_have(slot, own)) {
        rows_open(false);
        if (!is_single())
            barrier();
        while (others_have(slot, own))
            sum += swap_others(slot, own);
        rows_open(true);
    }
    return sum;
}

// Giving out.

static void count_singly(struct function *function)
{
    atomic_store(&function->credit_limit, 0);
    atomic_store(&function->primary->quiet_until, function->pending - 1);
}

static void move(struct function *function)
{
    struct stub_slot *slot = function->primary;
    uint64_t limit = atomic_load(&function->credit_limit);
    int64_t available = (int64_t)(limit - atomic_load(&slot->count)), left = 0;
    if (limit == 0 || atomic_load(&is_over))
        return;
    if (available < FEW) {
        left = call_in(slot);
        atomic_add(&slot->count, -(uint64_t)left);
        available = (int64_t)(limit - atomic_load(&slot->count));
        if (available < FEW) {
            count_singly(function);
            return;
        }
    }
    if (own_row() == 0)
        return;
    int64_t share = available;
    if (!is_single()) {
        int64_t rows = 0;
        for (uint32_t row = 0; (row = rows_next(row)) != 0;)
            rows++;
        share = available / (2 * rows);
        if (share < FEW / 2)
            share = FEW / 2;
    }
    atomic_add(&slot->count, (uint64_t)share);
    // A signal handler may have got some since the thread came without.
    int64_t before = __atomic_exchange_n(left_of(own_row(), slot), share, __ATOMIC_SEQ_CST);
    if (before > 0)
        atomic_add(&slot->count, -(uint64_t)before);
}

static void give(struct function *function)
{
    atomic_add(&moving, 1);
    move(function);
    atomic_add(&moving, -1u);
}

// With one thread there is no lock, and no system call: a signal handler that comes in the middle
// gets no credits, and its calls have numbers of their own. The margin is far above what it calls.
void credits_refill(struct function *function)
{
    static uint32_t giving;
    // A thread without a row asks at every call.
    if (runtime_thread.row == 0 && (int64_t)(atomic_load(&function->credit_limit) -
                                             atomic_load(&function->primary->count)) >= FEW)
        return;
    if (!is_single()) {
        process_lock();
        give(function);
        process_unlock();
    } else if (atomic_swap_if(&giving, 0, 1)) {
        give(function);
        atomic_store(&giving, 0);
    }
}

static bool has_barrier(void)
{
    return is_single() || atomic_load(&barrier_state) == 1 ||
           (atomic_load(&barrier_state) == 0 && barrier_register());
}

void credits_until(struct function *function, uint64_t now, uint64_t next)
{
    if (function->in_rows && runtime_thread.row != 0 && next - now > NEAR &&
        !atomic_load(&is_over) && has_barrier()) {
        atomic_store(&function->credit_limit, next - 1 - MARGIN < INT64_MAX / 2
                                                  ? next - 1 - MARGIN
                                                  : (uint64_t)INT64_MAX / 2);
        atomic_store(&function->primary->quiet_until, 0);
    } else {
        atomic_store(&function->credit_limit, 0);
        atomic_store(&function->primary->quiet_until, next - 1);
    }
}

static void stop(struct function *function)
{
    if (atomic_load(&function->credit_limit) == 0)
        return;
    atomic_add(&moving, 1);
    atomic_add(&function->primary->count, -(uint64_t)call_in(function->primary));
    atomic_store(&function->primary->next, function->primary->original);
    count_singly(function);
    atomic_add(&moving, -1u);
}

// Registering is cheap while there is one thread. Without a barrier, threads get no credits.
void credits_threads_start(void)
{
    if (rows_on() && !atomic_load(&is_over) && is_single() && atomic_load(&barrier_state) == 0 &&
        !barrier_register())
        functions_each(stop);
}

void credits_stop(void)
{
    atomic_store(&is_over, true);
    if (rows_on())
        functions_each(stop);
}

void credits_for_recording(struct function *function)
{
    struct stub_slot *slot = function->primary;
    if (!function->in_rows || runtime_thread.row == 0 || atomic_load(&is_over) || !has_barrier())
        return;
    const char *stub = runtime_stubs + (slot - runtime_slots) * RUNTIME_STUB_SIZE;
    atomic_store(&slot->next, (void *)(stub + RUNTIME_STUB_GATED));
    atomic_store(&function->credit_limit, (uint64_t)INT64_MAX / 2);
}

void credits_after_fork(struct function *function)
{
    struct stub_slot *slot = function->primary;
    if (!function_has_rows(function))
        return;
    const uint64_t calls = is_noted ? function->at_fork : rows_calls(function);
    for (uint32_t row = 0; (row = rows_next(row)) != 0;) {
        int64_t left = *left_of(row, slot);
        *left_of(row, slot) = 0;
        slot->count -= left > 0 ? (uint64_t)left : 0;
    }
    function->outside = 0;
    if (record_is_all(function) || function->late) { // its stub draws no numbers
        function->inherited = calls;
        return;
    }
    if (atomic_load(&moving) != 0)
        slot->count = calls;
    function->inherited = slot->count;
}

void credits_forked(void)
{
    atomic_store(&moving, 0);
    is_noted = false;
}

static void note_calls(struct function *function)
{
    if (function_has_rows(function))
        function->at_fork = rows_calls(function);
}

void credits_note_fork(bool begins)
{
    if (begins && rows_on())
        functions_each(note_calls);
    is_noted = begins && rows_on();
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of counters: every thread counts its calls in a row of its own, in the region, so that
// nothing is lost however it ends and no two processors write to one line of memory. A stub finds
// its entry at the thread's row plus the slot's number.
#ifndef ORDEAL_RUNTIME_ROWS_H
#define ORDEAL_RUNTIME_ROWS_H

#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/runtime.h"

#include <stdbool.h>
#include <stdint.h>

struct function;

// Four windows of ROW_COUNT rows. Row 0 belongs to threads without a row.
enum row_window {
    ROW_LEFT,   // credits, see credits.h
    ROW_CALLS,  // counters of a process that has none in the region
    ROW_CLOSED, // stands in for ROW_LEFT while credits are called in: nothing in it is above 0
    ROW_ENTRY,  // address of the last entry that was found in the table of record.c; 0: none
    ROW_WINDOWS
};
extern int64_t runtime_rows[ROW_WINDOWS][ROW_COUNT][ROW_SLOTS];

// What the stubs add to the row of a thread: the addresses of ROW_CLOSED and ROW_CALLS, and
extern int64_t (*runtime_closed_base)[ROW_SLOTS];
extern int64_t (*runtime_count_base)[ROW_SLOTS];
// the ways from there. The kernel zeroes them in a forked child, which so neither counts in its
// parent's rows nor uses its parent's credits before the runtime has seen it.
struct row_deltas {
    int64_t count; // from ROW_CALLS to the region; 0: this process has no rows there
    int64_t open;  // from ROW_CLOSED to ROW_LEFT; 0: rows are closed
    char rest[4096 - 2 * sizeof(int64_t)];
} __attribute__((aligned(4096)));
extern struct row_deltas runtime_row_deltas;
void rows_open(bool open);

void rows_prepare(void);    // in a new program
void rows_after_fork(void); // in a child that has no other threads yet
void rows_take(void);       // for a new thread
void rows_thread_ends(void);
void rows_process_ends(void);
bool rows_have_ended(void); // what is called now is counted without them
bool rows_on(void);         // the process counts in rows

// Which rows are this process's, ascending; 0: no more.
uint32_t rows_next(uint32_t after);
// How many calls of a function there were, this thread's present one included. Calls that other
// threads make meanwhile may be counted or not.
uint64_t rows_calls(const struct function *function);
// Counts a call of a function that is `late`; or does so and returns its number.
void rows_count_late(struct function *function, uint64_t row, uint64_t slot);
uint64_t rows_draw(struct function *function, uint64_t row, uint64_t slot);
// Says in the region what a slot counts.
void rows_describe(const struct stub_slot *slot);

// Counts a call for a thread that has a row. The slot is one of the first ROW_SLOTS.
static inline void rows_count_call(uint64_t row, uint64_t slot)
{
    uint64_t *count = (uint64_t *)((char *)runtime.row_counts + row) + slot;
    __asm__("incq %0" : "+m"(*count)); // not to be divided by a signal handler
}

static inline bool rows_have(const struct stub_slot *slot)
{
    return slot < runtime_slots + ROW_SLOTS;
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What a forked child makes of its parent's credits. One file of the runtime, with what it needs of
// the others played here: two threads with rows 1 and 2, and one function.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/count/credits.c"

struct runtime runtime;
struct stub_slot runtime_slots[RUNTIME_SLOTS];
const char runtime_stubs[1];
__thread struct thread runtime_thread;
int64_t runtime_rows[ROW_WINDOWS][ROW_COUNT][ROW_SLOTS];
const char runtime_zero_byte = 0;
const char *runtime_single_threaded = &runtime_zero_byte;
uint64_t *system_mark;

static struct function function = {.primary = &runtime_slots[3], .in_rows = true};
static uint64_t in_rows; // calls that the rows tell of
static bool is_recorded;

void rows_open(bool open) {}
bool rows_on(void)
{
    return true;
}
uint32_t rows_next(uint32_t after)
{
    return after < 2 ? after + 1 : 0;
}
uint64_t rows_calls(const struct function *asked)
{
    return in_rows;
}
bool function_has_rows(const struct function *asked)
{
    return true;
}
void functions_each(void (*each)(struct function *))
{
    each(&function);
}
bool record_is_all(const struct function *asked)
{
    return is_recorded;
}
void process_lock(void) {}
void process_unlock(void) {}

static void fork_with(uint64_t count, int64_t first, int64_t second)
{
    runtime_slots[3].count = count;
    *left_of(1, &runtime_slots[3]) = first;
    *left_of(2, &runtime_slots[3]) = second;
    credits_after_fork(&function);
    credits_forked();
    assert_int_equal(*left_of(1, &runtime_slots[3]), 0);
    assert_int_equal(*left_of(2, &runtime_slots[3]), 0);
    if (!is_recorded) // such a stub draws no numbers
        assert_int_equal(function.inherited, runtime_slots[3].count);
    assert_int_equal(moving, 0);
}

static void credits_that_are_left_are_no_calls(void **state)
{
    in_rows = 77; // the parent has gone on
    fork_with(100, 30, CALLED_IN);
    assert_int_equal(runtime_slots[3].count, 70);
}

// The other thread was given 500 and has them not yet in its row.
static void a_child_forked_amid_a_move_counts_the_rows(void **state)
{
    in_rows = 70;
    moving = 1;
    fork_with(600, 30, 0);
    assert_int_equal(runtime_slots[3].count, 70);
    in_rows = 71;
    fork_with(100, 30, 0); // not another time
    assert_int_equal(runtime_slots[3].count, 70);
}

static void recorded_calls_are_those_before_the_fork(void **state)
{
    is_recorded = true;
    in_rows = 50;
    credits_note_fork(true);
    in_rows = 60; // the parent has gone on
    fork_with(7, 0, 0);
    assert_int_equal(function.inherited, 50);
    fork_with(7, 0, 0); // behind the C library's back
    assert_int_equal(function.inherited, 60);
    credits_note_fork(true);
    credits_note_fork(false);
    fork_with(7, 0, 0);
    assert_int_equal(function.inherited, 60);
    is_recorded = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(credits_that_are_left_are_no_calls),
        cmocka_unit_test(a_child_forked_amid_a_move_counts_the_rows),
        cmocka_unit_test(recorded_calls_are_those_before_the_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

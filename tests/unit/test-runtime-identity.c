// SPDX-License-Identifier: GPL-3.0-or-later
// Processes in the region: who finds an entry, and who takes one while another process waits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/identity.c"

struct runtime runtime;
uint64_t *system_mark;
uint32_t system_pid(void)
{
    return (uint32_t)getpid();
}
uint32_t system_parent(void)
{
    return 1;
}

uint32_t system_tid(void)
{
    return (uint32_t)getpid();
}
bool system_wait(uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
    return false;
}
void system_wake(uint32_t *word) {}
size_t text_length(const char *text)
{
    return strlen(text);
}
void text_copy(char *target, size_t room, const char *source)
{
    size_t size = strnlen(source, room - 1);
    memcpy(target, source, size);
    target[size] = '\0';
}
void functions_after_fork(void) {}
void rows_after_fork(void) {}
void rows_take(void) {}
void rows_thread_ends(void) {}
void record_after_fork(void) {}
void started_attached(void) {}

#define FIRST  ((uint32_t)getpid()) // processes that are there
#define SECOND ((uint32_t)getppid())
#define GONE   0x7ffffffu // no kernel has so many

static uint32_t other_entry;

uint64_t ancestry_of_copy(void)
{
    return 0;
}
// While it waits, another process starts that looks at the same entries.
uint64_t ancestry_of_started(uint32_t pid)
{
    other_entry = entry_take(pid + WIRE_PROCESSES, 99);
    return 0x102;
}

static struct wire_region region;
static struct wire_programs programs;
static struct process process;

static int start(void **state)
{
    region = (struct wire_region){.processes = 1};
    programs = (struct wire_programs){.output = 0};
    process = (struct process){.key = 0};
    runtime.region = &region;
    runtime.programs = &programs;
    runtime.process = &process;
    return 0;
}

static void an_entry_is_taken_before_the_wait(void **state)
{
    assert_int_equal(process_number(FIRST, false), 2);
    assert_int_equal(process.shared - programs.processes, process_entry(FIRST));
    assert_int_not_equal(other_entry, process_entry(FIRST));
    assert_int_equal(process_entry(FIRST + WIRE_PROCESSES), other_entry);
    assert_int_equal(process.shared->ancestry, 0x102);
}

static void a_process_keeps_its_number_over_exec(void **state)
{
    assert_int_equal(process_number(FIRST, false), 2);
    process.shared->children = 5;
    assert_int_equal(process_number(FIRST, false), 2);
    assert_int_equal(process.shared->children, 5);
    assert_int_equal(process_number(FIRST, true), 3); // another process under the same pid
    assert_int_equal(process.shared->children, 0);
}

static void entries_of_processes_that_are_gone_are_used_again(void **state)
{
    for (uint32_t i = 0; i < WIRE_PROCESSES; i++)
        region.process_numbers[i] = (uint64_t)GONE << 32 | 7;
    region.process_numbers[FIRST % WIRE_PROCESSES] = (uint64_t)SECOND << 32 | 8;
    assert_int_equal(process_number(FIRST, false), 2);
    assert_int_equal(region.process_numbers[FIRST % WIRE_PROCESSES] >> 32, SECOND);
    assert_int_not_equal(process_entry(FIRST), NO_ENTRY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_entry_is_taken_before_the_wait, start),
        cmocka_unit_test_setup(a_process_keeps_its_number_over_exec, start),
        cmocka_unit_test_setup(entries_of_processes_that_are_gone_are_used_again, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

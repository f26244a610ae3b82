// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether the runs of one recording made the calls of another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "injector/recording.h"

static struct recorded_site sites[] = {{.module = (char *)"/bin/a", .offset = 0x10},
                                       {.module = (char *)"/bin/a", .offset = 0x20}};

static struct recorded_call call(uint32_t process, size_t site, uint64_t first)
{
    return (struct recorded_call){.process = process,
                                  .site = site,
                                  .first = first,
                                  .program = (char *)"a",
                                  .function = (char *)"read",
                                  .library = (char *)"libc.so.6"};
}

static struct recorded_call steady(uint32_t process, size_t site, uint64_t last)
{
    struct recorded_call made = call(process, site, 1);
    made.from = 1;
    made.last = last;
    made.in_all_runs = true;
    return made;
}

static bool had(const struct recording *recording, const struct map *index,
                struct recorded_call asked)
{
    return recording_has_call(recording, index, &asked, &sites[asked.site]);
}

static void calls_that_all_runs_made(void **state)
{
    struct recorded_call calls[] = {steady(1, 0, 5), steady(2, 0, 9), steady(1, 1, 5)};
    struct recording recording = {.sites = {.items = sites, .count = 2},
                                  .calls = {.items = calls, .count = 3}};
    struct map index = {0};
    calls[2].in_all_runs = false;
    assert_null(recording_index(&recording, &index));
    assert_true(had(&recording, &index, call(1, 0, 1)));
    assert_true(had(&recording, &index, call(1, 0, 5)));
    assert_false(had(&recording, &index, call(1, 0, 6)));
    assert_true(had(&recording, &index, call(2, 0, 6)));
    assert_false(had(&recording, &index, call(1, 1, 1))); // some runs did not call from there
    assert_false(had(&recording, &index, call(3, 0, 1)));
    assert_false(had(&recording, &index, call(0, 0, 1))); // there are two of the program
    struct recorded_call other = call(1, 0, 1);
    other.function = (char *)"write";
    assert_false(recording_has_call(&recording, &index, &other, &sites[0]));
    map_deinit(&index);
}

static void a_process_that_goes_by_its_program(void **state)
{
    struct recorded_call calls[] = {steady(0, 0, 5)};
    struct recording recording = {.sites = {.items = sites, .count = 2},
                                  .calls = {.items = calls, .count = 1}};
    struct map index = {0};
    assert_null(recording_index(&recording, &index));
    assert_false(had(&recording, &index, call(7, 0, 2))); // there is one of the program
    assert_true(had(&recording, &index, call(0, 0, 2)));
    assert_false(had(&recording, &index, call(7, 1, 2)));
    map_deinit(&index);
}

static void put(struct recording *recording, struct recorded_call call, const char *program)
{
    call.program = strdup(program);
    call.function = strdup(call.function);
    call.library = strdup(call.library);
    call.count = 1;
    call.last = call.first;
    call.run = recording->runs;
    struct recorded_call *added = ARRAY_ADD(&recording->calls);
    assert_non_null(added);
    *added = call;
}

static void start(struct recording *recording)
{
    recording->runs = 1;
    for (size_t i = 0; i < 2; i++) {
        struct recorded_site *site = ARRAY_ADD(&recording->sites);
        *site = sites[i];
        site->module = strdup(sites[i].module);
    }
}

// sh -c 'a; a', where one of both makes no recorded call; and a third process that was `b` before
// it became `c`, of which only calls of `c` are recorded.
static void whoever_is_not_looked_at_is_there(void **state)
{
    struct recording complete = {0}, some = {0};
    start(&complete);
    put(&complete, call(1, 0, 1), "sh");
    put(&complete, call(2, 0, 1), "a");
    put(&complete, call(3, 0, 1), "a");
    put(&complete, call(3, 1, 2), "a");
    put(&complete, call(4, 0, 1), "b");
    put(&complete, call(4, 0, 1), "c");
    put(&complete, call(5, 0, 1), "c");
    complete.calls.items[5].again = true;
    start(&some);
    put(&some, call(3, 1, 2), "a");
    put(&some, call(4, 0, 1), "c");
    assert_null(recording_settle(&complete, NULL));
    assert_null(recording_settle(&some, &complete));
    assert_int_equal(some.calls.count, 2);
    assert_string_equal(some.calls.items[0].program, "a");
    assert_int_equal(some.calls.items[0].process, 3);
    assert_true(some.calls.items[0].only_program);
    assert_false(some.calls.items[0].again);
    assert_string_equal(some.calls.items[1].program, "c");
    assert_int_equal(some.calls.items[1].process, 4);
    assert_false(some.calls.items[1].only_program);
    assert_true(some.calls.items[1].again);
    recording_deinit(&complete);
    recording_deinit(&some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_all_runs_made),
        cmocka_unit_test(a_process_that_goes_by_its_program),
        cmocka_unit_test(whoever_is_not_looked_at_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

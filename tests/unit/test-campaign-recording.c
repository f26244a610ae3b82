// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the runs of one recording made the calls of another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "campaign/recording.h"

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
    made.everywhere = true;
    return made;
}

static bool had(const struct recording *recording, const struct map *index,
                struct recorded_call asked)
{
    return recording_had(recording, index, &asked, &sites[asked.site]);
}

static void calls_that_all_runs_made(void **state)
{
    struct recorded_call calls[] = {steady(1, 0, 5), steady(2, 0, 9), steady(1, 1, 5)};
    struct recording recording = {.sites = {.items = sites, .count = 2},
                                  .calls = {.items = calls, .count = 3}};
    struct map index = {0};
    calls[2].everywhere = false;
    assert_null(recording_index(&recording, &index));
    assert_true(had(&recording, &index, call(1, 0, 1)));
    assert_true(had(&recording, &index, call(1, 0, 5)));
    assert_false(had(&recording, &index, call(1, 0, 6)));
    assert_true(had(&recording, &index, call(2, 0, 6)));
    assert_false(had(&recording, &index, call(1, 1, 1))); // some runs did not call from there
    assert_false(had(&recording, &index, call(3, 0, 1)));
    assert_true(had(&recording, &index, call(0, 0, 1))); // goes by its program there
    struct recorded_call other = call(1, 0, 1);
    other.function = (char *)"write";
    assert_false(recording_had(&recording, &index, &other, &sites[0]));
    map_deinit(&index);
}

static void a_process_that_goes_by_its_program(void **state)
{
    struct recorded_call calls[] = {steady(0, 0, 5)};
    struct recording recording = {.sites = {.items = sites, .count = 2},
                                  .calls = {.items = calls, .count = 1}};
    struct map index = {0};
    assert_null(recording_index(&recording, &index));
    assert_true(had(&recording, &index, call(7, 0, 2)));
    assert_true(had(&recording, &index, call(0, 0, 2)));
    assert_false(had(&recording, &index, call(7, 1, 2)));
    map_deinit(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_all_runs_made),
        cmocka_unit_test(a_process_that_goes_by_its_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

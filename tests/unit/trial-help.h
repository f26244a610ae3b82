// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of the trial and report rooms share: a scratch directory, a region to play
// with.
#ifndef ORDEAL_TESTS_CAMPAIGN_HELP_H
#define ORDEAL_TESTS_CAMPAIGN_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "scenario/scenario.h"
#include "trial/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

// The error's text must hold `part`.
static inline void must_say(struct error *error, const char *part)
{
    assert_non_null(error);
    if (strstr(error_message(error), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, error_message(error));
    error_free(error);
}

// Every test starts in an empty directory, which is removed with what it holds.
static inline int enter_scratch(void **state)
{
    char path[] = "/tmp/ordeal-unit.XXXXXX";
    if (mkdtemp(path) == NULL || chdir(path) < 0)
        return -1;
    *state = strdup(path);
    return *state == NULL ? -1 : 0;
}
static inline int leave_scratch(void **state)
{
    char command[100];
    if (chdir("/") < 0)
        return -1;
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return system(command);
}

// A plan of the given specs, which end with NULL.
static inline struct buffer compile_specs(const char *const *specs)
{
    struct scenario *scenario;
    must(scenario_new(&scenario));
    for (; *specs != NULL; specs++)
        must(scenario_add_spec(scenario, *specs));
    struct buffer plan = {0};
    must(scenario_compile(scenario, 42, &plan));
    scenario_free(scenario);
    return plan;
}

// A region of a command `victim -x` that is kept in `journal`, or in memory if that is NULL.
static inline struct error *make_region(const char *const *specs, const char *journal,
                                        uint32_t records, struct region *ret_region)
{
    char *command[] = {(char *)"victim", (char *)"-x", NULL};
    struct buffer plan = compile_specs(specs);
    struct region_options options = {.journal_path = journal,
                                     .plan = plan.data,
                                     .plan_size = plan.size,
                                     .preload = "/lib/runtime.so",
                                     .command = command,
                                     .journal_records = records};
    struct error *error = region_create(&options, ret_region);
    buffer_deinit(&plan);
    return error;
}

#endif

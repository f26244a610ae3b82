// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles of small libraries that tests compile, and what they are expected to say.
#ifndef ORDEAL_TESTS_PROFILE_HELP_H
#define ORDEAL_TESTS_PROFILE_HELP_H

#include "profile/batch.h"

#include "base/cleanup.h"
#include "profile/system-calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// "1 -1": what is likely to be a failure, in the profile's order.
static inline void expect(const struct profile *profile, const char *name, const char *wanted)
{
    char text[128] = "";
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        if (strcmp(profile_text(profile, function->name), name) != 0)
            continue;
        int64_t last = INT64_MAX;
        for (uint32_t k = 0; k < function->count; k++) {
            const struct failure *failure = &profile->failures.items[function->first + k];
            if (failure->confidence < FAILURE_LIKELY || failure->result.number == last)
                continue;
            if (failure->result.kind == VALUE_ERRORS) {
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%serrno%s",
                         *text != '\0' ? " " : "", failure->result.negative ? "-" : "",
                         failure->result_open ? "..." : "");
                continue;
            }
            last = failure->result.number;
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld",
                     *text != '\0' ? " " : "", (long long)last);
        }
        if (strcmp(text, wanted) != 0)
            fail_msg("%s fails with '%s', not '%s'", name, text, wanted);
        return;
    }
    fail_msg("no function %s", name);
}

// Whether it is said that nothing is known.
static inline void expect_unknown(const struct profile *profile, const char *name, bool wanted)
{
    expect(profile, name, "");
    for (size_t i = 0; i < profile->functions.count; i++)
        if (strcmp(profile_text(profile, profile->functions.items[i].name), name) == 0)
            assert_int_equal(profile->functions.items[i].unknown != 0, wanted);
}

// Compiles DIRECTORY/judged.c as PATH, and makes its profile.
static inline void profile_of(const char *compiler, const char *directory, char *path, size_t size,
                              struct batch_item *item)
{
    char command[256];
    snprintf(path, size, "%s/judged.so", directory);
    snprintf(command, sizeof command, "%s -shared -fPIC -w -o %s %s/judged.c", compiler, path,
             directory);
    assert_int_equal(system(command), 0);
    const struct batch batch = {.options.system_call = system_call_errors, .jobs = 1};
    assert_null(profile_batch(&batch, item, 1));
    assert_null(item->error);
}

#endif

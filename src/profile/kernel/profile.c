// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a profile of a kernel's system calls, so that they can be shown like the functions of a
// library.
#include "profile/kernel/profile.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    const struct kernel_call *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

// Adds one failure: programs get a negated error number from the kernel.
static struct error *add_failure(struct profile *profile, struct profile_function *function,
                                 const struct error_set *errors)
{
    if (error_set_is_empty(errors))
        return NULL;
    struct failure *failure = ARRAY_ADD(&profile->failures);
    if (failure == NULL)
        return error_no_memory();
    *failure = (struct failure){.result = {.kind = VALUE_ERRORS, .negative = true},
                                .confidence = 90,
                                .reason = FAILURE_ERROR_NUMBERS};
    function->count = 1;
    return error_sets_put(&profile->sets, errors, &failure->result.set);
}

static struct error *add_call(struct profile *profile, const struct kernel_call *call)
{
    struct profile_function *function = ARRAY_ADD(&profile->functions);
    if (function == NULL)
        return error_no_memory();
    *function = (struct profile_function){.first = (uint32_t)profile->failures.count};
    TRY(profile_add_text(profile, call->name, &function->name));
    return add_failure(profile, function, &call->errors);
}

static struct error *fill(const struct kernel *kernel, const char *path, struct profile *profile)
{
    size_t count = kernel_call_count(kernel);
    _cleanup_free_ const struct kernel_call **calls = calloc(count + 1, sizeof *calls);
    profile->path = strdup(path);
    if (calls == NULL || profile->path == NULL)
        return error_no_memory();
    TRY(error_sets_init(&profile->sets));
    for (size_t i = 0; i < count; i++)
        calls[i] = kernel_call(kernel, i);
    qsort(calls, count, sizeof *calls, compare_names);
    for (size_t i = 0; i < count; i++) // several numbers may have the same name
        if (i == 0 || strcmp(calls[i]->name, calls[i - 1]->name) != 0)
            TRY(add_call(profile, calls[i]));
    return NULL;
}

struct error *kernel_profile(const struct kernel *kernel, const char *path,
                             struct profile *ret_profile)
{
    struct profile profile = {0};
    struct error *error = fill(kernel, path, &profile);
    if (error != NULL) {
        profile_deinit(&profile);
        return error;
    }
    *ret_profile = profile;
    return NULL;
}

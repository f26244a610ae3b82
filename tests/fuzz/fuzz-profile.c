// SPDX-License-Identifier: GPL-3.0-or-later
// Changed libraries, and so any bytes as code: functions, blocks, edges, and what every function
// comes back with.
#include "changed-library.h"
#include "profile/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct error_set *system_call(const void *data, int64_t number)
{
    static struct error_set errors = {.bits = {1 << 5}};
    (void)data;
    return number % 2 == 0 ? &errors : NULL;
}

static struct error *touch(void *data, const struct profile_export *export)
{
    volatile size_t *sum = data;
    *sum += strlen(export->name) + (export->version != NULL ? strlen(export->version) : 0);
    for (size_t i = 0; export->summary != NULL && i < export->summary->outcomes.count; i++)
        *sum += export->summary->outcomes.items[i].effect_count;
    return NULL;
}

static struct error *profile(const char *path)
{
    const struct profile_options options = {.system_call = system_call};
    struct profile_set *set;
    size_t module;
    volatile size_t sum = 0;
    TRY(profile_set_new(&options, &set));
    struct error *error = profile_set_add(set, path, &module);
    if (error == NULL)
        error = profile_set_analyse(set, module);
    if (error == NULL)
        error = profile_each_export(set, module, touch, (void *)&sum);
    profile_set_free(set);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    with_changed_library(data, size, profile);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Works out what the imports of a module can fail with, and keeps that in the cache of profiles,
// under a key of its own.
#include "callsite/imports.h"

#include "base/cleanup.h"

#include <string.h>

// Copies an error set from the profile set into the profile. A value that depends on arguments
// does not hold for every call and becomes VALUE_OTHER.
static struct error *move_value(const struct profile_set *set, struct profile *profile,
                                struct value *value)
{
    if (value->kind > VALUE_ERRORS)
        *value = (struct value){.kind = VALUE_OTHER};
    if (value->kind != VALUE_ERRORS)
        return NULL;
    const struct error_set *numbers = &profile_sets(set)->items.items[value->set];
    return error_sets_put(&profile->sets, numbers, &value->set);
}

static struct error *add_import(struct profile_set *set, size_t module, uint32_t import,
                                const char *name, struct profile *profile)
{
    _cleanup_(failures_deinit) struct failures failures = {0};
    TRY(profile_import_failures(set, module, import, &failures));
    struct profile_function *function = ARRAY_ADD(&profile->functions);
    if (function == NULL)
        return error_no_memory();
    function->first = (uint32_t)profile->failures.count;
    function->pointer = failures.pointer;
    function->narrow = failures.narrow;
    function->cut = failures.cut;
    function->pure = failures.pure;
    function->address = failures.zero_succeeds;
    TRY(profile_add_text(profile, name, &function->name));
    for (size_t i = 0; i < failures.items.count; i++) {
        struct failure *failure = ARRAY_ADD(&profile->failures);
        if (failure == NULL)
            return error_no_memory();
        *failure = failures.items.items[i];
        function->count++;
        TRY(move_value(set, profile, &failure->result));
        TRY(move_value(set, profile, &failure->error));
    }
    return NULL;
}

static struct error *work_out(struct profile_set *set, size_t module,
                              const struct flow_image *image, struct profile *profile)
{
    TRY(error_sets_init(&profile->sets));
    for (uint32_t i = 0; i < image->imports.count; i++)
        TRY(add_import(set, module, i, image->imports.items[i].name, profile));
    return profile_set_check(set);
}

// Whether a cached profile is really about these imports.
static bool is_about(const struct profile *profile, const struct flow_image *image)
{
    if (profile->functions.count != image->imports.count)
        return false;
    for (size_t i = 0; i < image->imports.count; i++) {
        const char *name = profile_text(profile, profile->functions.items[i].name);
        if (name == NULL || strcmp(name, image->imports.items[i].name) != 0)
            return false;
    }
    return true;
}

void callsite_imports_deinit(struct callsite_imports *imports)
{
    profile_deinit(&imports->profile);
    buffer_deinit(&imports->key);
}

struct error *callsite_imports_learn(struct profile_set *set, size_t module,
                                     const struct flow_image *image,
                                     const struct profile_cache *cache,
                                     struct callsite_imports *ret_imports)
{
    _cleanup_(callsite_imports_deinit) struct callsite_imports imports = {0};
    struct profile *profile = &imports.profile;
    bool found = false;
    if (cache != NULL) {
        TRY(profile_cache_key(cache, set, module, &imports.key));
        TRY(buffer_printf(&imports.key, "imports\n"));
        TRY(profile_cache_load(cache, &imports.key, profile_module_path(set, module), profile,
                               &found));
    }
    if (found && is_about(profile, image)) {
        imports.key.size = 0;
    } else {
        profile_deinit(profile);
        *profile = (struct profile){0};
        TRY(work_out(set, module, image, profile));
    }
    *ret_imports = imports;
    imports = (struct callsite_imports){0};
    return NULL;
}

void callsite_imports_keep(const struct callsite_imports *imports,
                           const struct profile_cache *cache)
{
    if (cache != NULL && imports->key.size != 0)
        error_free(profile_cache_store(cache, &imports->key, &imports->profile));
}

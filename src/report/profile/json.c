// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles as JSON. A key whose value is unknown is left out.
#include "report/profile/profile.h"

#include "base/cleanup.h"
#include "report/json.h"

struct page {
    struct json_builder builder;
    const struct profile *profile;
    const struct profile_view *view;
};

static void add_address(struct page *page, json_t *object, const char *key, uint64_t address)
{
    json_add_format(&page->builder, object, key, "0x%llx", (unsigned long long)address);
}

static void add_numbers(struct page *page, json_t *object, const char *key, uint32_t set)
{
    json_t *names = json_add_array(&page->builder, object, key);
    const struct error_set *numbers = &page->profile->sets.items.items[set];
    char digits[16];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(numbers, i))
            json_add_string(&page->builder, names, NULL, profile_error_name(i, digits));
}

static void add_effect(struct page *page, json_t *effects, const struct effect *effect)
{
    static const char *const kinds[] = {[EFFECT_GLOBAL] = "global",
                                        [EFFECT_THREAD] = "thread",
                                        [EFFECT_ARGUMENT] = "argument",
                                        [EFFECT_OWN_THREAD] = "own thread"};
    json_t *object = json_add_object(&page->builder, effects, NULL);
    const char *name = profile_effect_name(page->profile, effect);
    json_add_string(&page->builder, object, "kind", kinds[effect->kind]);
    if (name != NULL)
        json_add_string(&page->builder, object, "name", name);
    if (effect->kind == EFFECT_ARGUMENT) {
        json_add_integer(&page->builder, object, "argument", effect->argument + 1u);
        json_add_signed(&page->builder, object, "offset", effect->where);
    } else {
        add_address(page, object, "address", (uint64_t)effect->where);
    }
    json_add_integer(&page->builder, object, "width", effect->width);
    if (effect->source != 0)
        json_add_integer(&page->builder, object, "from_argument", effect->source);
    else
        json_add_signed(&page->builder, object, "value", effect->value);
}

static void add_failure(struct page *page, json_t *failures, const struct failure *failure)
{
    json_t *object = json_add_object(&page->builder, failures, NULL);
    if (failure->result.kind == VALUE_CONSTANT) {
        json_add_signed(&page->builder, object, "value", failure->result.number);
    } else {
        add_numbers(page, object, "values", failure->result.set);
        json_add_bool(&page->builder, object, "negated", failure->result.negative);
        json_add_bool(&page->builder, object, "values_open", failure->result_open);
    }
    json_add_integer(&page->builder, object, "confidence", failure->confidence);
    json_add_string(&page->builder, object, "reason", failure_reason_text(failure->reason));
    if (failure->sets_error) {
        add_numbers(page, object, "errno",
                    failure->error.kind == VALUE_ERRORS ? failure->error.set : 0);
        json_add_bool(&page->builder, object, "errno_open", failure->error_open);
    }
    if (failure->effect_count != 0) {
        json_t *effects = json_add_array(&page->builder, object, "effects");
        for (unsigned i = 0; i < failure->effect_count; i++)
            add_effect(page, effects, &failure->effects[i]);
    }
    if (failure->evidence != 0)
        add_address(page, object, "evidence", failure->evidence);
}

static void add_function(struct page *page, json_t *functions,
                         const struct profile_function *function)
{
    const struct profile *profile = page->profile;
    json_t *object = json_add_object(&page->builder, functions, NULL);
    json_add_string(&page->builder, object, "name", profile_text(profile, function->name));
    if (function->version != 0)
        json_add_string(&page->builder, object, "version",
                        profile_text(profile, function->version));
    json_add_bool(&page->builder, object, "default", !function->old);
    add_address(page, object, "address", function->address);
    json_add_string(&page->builder, object, "returns",
                    function->pointer  ? "pointer"
                    : function->narrow ? "int"
                                       : "unknown");
    json_t *failures = json_add_array(&page->builder, object, "failures");
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        if (profile_shows_failure(page->view, failure))
            add_failure(page, failures, failure);
    }
    if (function->unknown != 0)
        json_add_string(&page->builder, object, "unknown",
                        profile_text(profile, function->unknown));
    json_add_bool(&page->builder, object, "cut", function->cut);
}

struct error *report_profiles_json(const struct profile *profiles, size_t count,
                                   const struct profile_view *view, struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct page page = {.builder.failed = root == NULL, .view = view};
    json_t *libraries = json_add_array(&page.builder, root, "libraries");
    for (size_t i = 0; i < count; i++) {
        const struct profile *profile = page.profile = &profiles[i];
        json_t *library = json_add_object(&page.builder, libraries, NULL);
        json_add_string(&page.builder, library, "path", profile->path);
        if (profile->soname != 0)
            json_add_string(&page.builder, library, "soname",
                            profile_text(profile, profile->soname));
        if (profile->build_id != 0)
            json_add_string(&page.builder, library, "build_id",
                            profile_text(profile, profile->build_id));
        json_t *functions = json_add_array(&page.builder, library, "functions");
        for (size_t j = 0; j < profile->functions.count && !page.builder.failed; j++)
            if (profile_shows(view, profile, &profile->functions.items[j]))
                add_function(&page, functions, &profile->functions.items[j]);
    }
    return json_write(&page.builder, root, text);
}

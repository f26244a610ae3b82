// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the fault profile of a library from the failures of its functions: flat arrays with texts
// and error sets of their own.
#include "profile/profile.h"

#include "base/cleanup.h"
#include "elf/tables.h"
#include "profile/convention.h"
#include "profile/picture.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

void profile_deinit(struct profile *profile)
{
    free(profile->path);
    ARRAY_DEINIT(&profile->functions);
    ARRAY_DEINIT(&profile->failures);
    ARRAY_DEINIT(&profile->variables);
    error_sets_deinit(&profile->sets);
    buffer_deinit(&profile->texts);
    *profile = (struct profile){0};
}

struct error *profile_add_text(struct profile *profile, const char *text, uint32_t *ret_text)
{
    *ret_text = 0;
    if (text == NULL)
        return NULL;
    if (profile->texts.size == 0)
        TRY(buffer_append(&profile->texts, "", 1));
    if (profile->texts.size > UINT32_MAX / 2)
        return error_new("%s: too many names", profile->path);
    *ret_text = (uint32_t)profile->texts.size;
    return buffer_append(&profile->texts, text, strlen(text) + 1);
}

// ---- failures ----

struct making {
    struct profile *profile;
    const struct error_sets *sets; // of the struct profile_set
    uint32_t unknown[4];           // texts that many functions share
    const char *unknown_texts[4];
};

// Translates a value to the profile's own sets.
static struct error *adopt(const struct making *making, const struct value *value,
                           struct value *ret_value)
{
    *ret_value = *value;
    if (value->kind != VALUE_ERRORS) {
        if (value->kind != VALUE_CONSTANT)
            *ret_value = (struct value){.kind = VALUE_OTHER};
        return NULL;
    }
    return error_sets_put(&making->profile->sets, &making->sets->items.items[value->set],
                          &ret_value->set);
}

// Makes a set of errno, also of a constant.
static struct error *adopt_error(const struct making *making, const struct failure *failure,
                                 struct value *ret_value)
{
    if (failure->error.kind != VALUE_CONSTANT)
        return adopt(making, &failure->error, ret_value);
    struct error_set one = {0};
    *ret_value = (struct value){.kind = VALUE_OTHER};
    if (failure->error.number <= 0 || failure->error.number >= ERROR_NUMBERS)
        return NULL;
    error_set_add(&one, (unsigned)failure->error.number);
    ret_value->kind = VALUE_ERRORS;
    return error_sets_put(&making->profile->sets, &one, &ret_value->set);
}

// Error numbers are one result, whichever they are.
static bool same_result(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->number == b->number && a->negative == b->negative;
}

static bool same_effects(const struct failure *a, const struct failure *b)
{
    if (a->effect_count != b->effect_count)
        return false;
    for (unsigned i = 0; i < a->effect_count; i++) {
        const struct effect *x = &a->effects[i], *y = &b->effects[i];
        if (x->kind != y->kind || x->argument != y->argument || x->where != y->where ||
            x->value != y->value || x->width != y->width || x->source != y->source)
            return false;
    }
    return true;
}

static struct error *merge_sets(struct profile *profile, struct value *into,
                                const struct value *value)
{
    struct error_set both = profile->sets.items.items[into->set];
    const struct error_set *more = &profile->sets.items.items[value->set];
    for (size_t i = 0; i < sizeof both.bits / sizeof *both.bits; i++)
        both.bits[i] |= more->bits[i];
    return error_sets_put(&profile->sets, &both, &into->set);
}

// Merges a failure into one that differs only in error numbers.
static struct error *merge(struct profile *profile, struct failure *into,
                           const struct failure *failure)
{
    if (into->result.kind == VALUE_ERRORS)
        TRY(merge_sets(profile, &into->result, &failure->result));
    into->result_open |= failure->result_open;
    if (into->error.kind == VALUE_ERRORS && failure->error.kind == VALUE_ERRORS) {
        TRY(merge_sets(profile, &into->error, &failure->error));
    } else if (failure->error.kind == VALUE_ERRORS) {
        into->error = failure->error;
    }
    into->error_open |= failure->error_open;
    if (failure->confidence > into->confidence) {
        into->confidence = failure->confidence;
        into->reason = failure->reason;
        into->evidence = failure->evidence;
    }
    return NULL;
}

static struct error *add_failure(const struct making *making, struct profile_function *function,
                                 const struct failure *failure)
{
    struct profile *profile = making->profile;
    struct failure adopted = *failure;
    TRY(adopt(making, &failure->result, &adopted.result));
    if (failure->sets_error) {
        TRY(adopt_error(making, failure, &adopted.error));
        adopted.error_open = adopted.error.kind != VALUE_ERRORS;
    }
    for (uint32_t i = 0; i < function->count; i++) {
        struct failure *known = &profile->failures.items[function->first + i];
        if (known->sets_error == adopted.sets_error && same_effects(known, &adopted) &&
            same_result(&known->result, &adopted.result))
            return merge(profile, known, &adopted);
    }
    struct failure *added = ARRAY_ADD(&profile->failures);
    if (added == NULL)
        return error_no_memory();
    *added = adopted;
    function->count++;
    return NULL;
}

// ---- functions ----

static struct error *add_unknown(struct making *making, const char *text, uint32_t *ret_text)
{
    for (size_t i = 0; i < 4 && text != NULL; i++) {
        if (making->unknown_texts[i] == NULL) {
            making->unknown_texts[i] = text;
            TRY(profile_add_text(making->profile, text, &making->unknown[i]));
        }
        if (making->unknown_texts[i] == text) {
            *ret_text = making->unknown[i];
            return NULL;
        }
    }
    return profile_add_text(making->profile, text, ret_text);
}

// Whether a function returns zero or what says that it failed, and nothing else.
static bool is_status(const struct summary *summary, const struct failures *failures)
{
    bool zero = false, fails = false;
    for (size_t i = 0; summary != NULL && i < summary->outcomes.count; i++) {
        const struct value *result = &summary->outcomes.items[i].result;
        bool constant = result->kind == VALUE_CONSTANT;
        if (!constant && !value_is_numbers(result))
            return false;
        zero |= constant && result->number == 0;
    }
    for (size_t i = 0; i < failures->items.count; i++) {
        const struct failure *failure = &failures->items.items[i];
        bool likely = failure->confidence >= FAILURE_LIKELY;
        if (likely && failure->result.kind == VALUE_CONSTANT && failure->result.number == 0)
            return false;
        fails |= likely;
    }
    return zero && fails;
}

static struct error *add_function(void *data, const struct profile_export *export)
{
    struct making *making = data;
    struct profile *profile = making->profile;
    _cleanup_(failures_deinit) struct failures failures = {0};
    TRY(failures_of(export->summary, export->hints, export->name, &failures));
    struct profile_function function = {.address = export->address,
                                        .first = (uint32_t)profile->failures.count,
                                        .old = export->old,
                                        .cut = failures.cut,
                                        .pointer = failures.pointer,
                                        .narrow = failures.narrow};
    function.truth = export->summary != NULL && export->summary->declared == DECLARED_TRUTH;
    function.status = is_status(export->summary, &failures);
    TRY(profile_add_text(profile, export->name, &function.name));
    TRY(profile_add_text(profile, export->version, &function.version));
    TRY(add_unknown(making, failures.unknown, &function.unknown));
    for (size_t i = 0; i < failures.items.count; i++)
        TRY(add_failure(making, &function, &failures.items.items[i]));
    struct profile_function *added = ARRAY_ADD(&profile->functions);
    if (added == NULL)
        return error_no_memory();
    *added = function;
    return NULL;
}

// ---- variables ----

static int compare_variables(const void *a, const void *b)
{
    const struct profile_variable *left = a, *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->where > right->where) - (left->where < right->where);
}

static struct error *add_variable(struct profile *profile, enum effect_kind kind, int64_t where,
                                  const char *name)
{
    struct profile_variable variable = {.kind = kind, .where = where};
    TRY(profile_add_text(profile, name, &variable.name));
    struct profile_variable *added = ARRAY_ADD(&profile->variables);
    if (added == NULL)
        return error_no_memory();
    *added = variable;
    return NULL;
}

static struct error *add_object(void *data, const struct elf_dynamic_symbol *symbol)
{
    if (!symbol->defined || (symbol->type != STT_OBJECT && symbol->type != STT_TLS))
        return NULL;
    return add_variable(data, symbol->type == STT_TLS ? EFFECT_OWN_THREAD : EFFECT_GLOBAL,
                        (int64_t)symbol->value, symbol->name);
}

static struct error *add_variables(struct profile *profile, const struct flow_image *image)
{
    TRY(elf_each_dynamic_symbol(image->object, add_object, profile));
    for (size_t i = 0; i < image->slots.count; i++) {
        const struct flow_slot *slot = &image->slots.items[i];
        if (slot->symbol != NULL && slot->type == R_X86_64_TPOFF64)
            TRY(add_variable(profile, EFFECT_THREAD, (int64_t)slot->address, slot->symbol));
    }
    if (profile->variables.count != 0)
        qsort(profile->variables.items, profile->variables.count, sizeof *profile->variables.items,
              compare_variables);
    return NULL;
}

const char *profile_effect_name(const struct profile *profile, const struct effect *effect)
{
    struct profile_variable wanted = {.kind = effect->kind, .where = effect->where};
    if (effect->kind == EFFECT_ARGUMENT || profile->variables.count == 0)
        return NULL;
    const struct profile_variable *found =
        bsearch(&wanted, profile->variables.items, profile->variables.count,
                sizeof *profile->variables.items, compare_variables);
    return found != NULL ? profile_text(profile, found->name) : NULL;
}

// ---- the whole ----

static struct error *fill(struct profile_set *set, size_t module, struct profile *profile)
{
    const struct flow_image *image;
    struct making making = {.profile = profile, .sets = profile_sets(set)};
    TRY(profile_module_image(set, module, &image));
    const struct elf_facts *facts = elf_object_facts(image->object);
    profile->path = strdup(profile_module_path(set, module));
    if (profile->path == NULL)
        return error_no_memory();
    TRY(error_sets_init(&profile->sets));
    TRY(profile_add_text(profile, facts->soname, &profile->soname));
    TRY(profile_add_text(profile, facts->build_id, &profile->build_id));
    TRY(profile_each_export(set, module, add_function, &making));
    convention_apply(profile);
    return add_variables(profile, image);
}

struct error *profile_make(struct profile_set *set, size_t module, struct profile *ret_profile)
{
    struct profile profile = {0};
    struct error *error = fill(set, module, &profile);
    if (error != NULL) {
        profile_deinit(&profile);
        return error;
    }
    *ret_profile = profile;
    return NULL;
}

static struct error *exclude_from(struct profile *profile, struct value *value,
                                  const struct error_set *numbers)
{
    if (value->kind != VALUE_ERRORS)
        return NULL;
    struct error_set left = profile->sets.items.items[value->set];
    for (size_t i = 0; i < sizeof left.bits / sizeof *left.bits; i++)
        left.bits[i] &= ~numbers->bits[i];
    return error_sets_put(&profile->sets, &left, &value->set);
}

struct error *profile_exclude(struct profile *profile, const struct error_set *numbers)
{
    for (size_t i = 0; i < profile->failures.count; i++) {
        struct failure *failure = &profile->failures.items[i];
        TRY(exclude_from(profile, &failure->result, numbers));
        TRY(exclude_from(profile, &failure->error, numbers));
        if (failure->result.kind == VALUE_ERRORS && failure->result.set == 0 &&
            !failure->result_open)
            failure->confidence = 0; // nothing is left of it
    }
    return NULL;
}

static struct error *copy_items(const void *items, size_t count, size_t size, void **ret_items,
                                size_t *ret_count, size_t *ret_room)
{
    void *copy = malloc(count * size + 1);
    if (copy == NULL)
        return error_no_memory();
    if (count != 0)
        memcpy(copy, items, count * size);
    *ret_items = copy;
    *ret_count = *ret_room = count;
    return NULL;
}

#define COPY(from, to)                                                                             \
    copy_items((from)->items, (from)->count, sizeof *(from)->items, (void **)&(to)->items,         \
               &(to)->count, &(to)->room)

static struct error *fill_copy(const struct profile *profile, const char *path,
                               struct profile *copy)
{
    copy->path = strdup(path);
    if (copy->path == NULL)
        return error_no_memory();
    copy->soname = profile->soname;
    copy->build_id = profile->build_id;
    copy->cached = profile->cached;
    TRY(COPY(&profile->functions, &copy->functions));
    TRY(COPY(&profile->failures, &copy->failures));
    TRY(COPY(&profile->variables, &copy->variables));
    TRY(error_sets_init(&copy->sets));
    for (size_t i = 0; i < profile->sets.items.count; i++) {
        uint32_t number; // is the same, because sets are added in the same order
        TRY(error_sets_put(&copy->sets, &profile->sets.items.items[i], &number));
    }
    return buffer_append(&copy->texts, profile->texts.data, profile->texts.size);
}

struct error *profile_copy(const struct profile *profile, const char *path,
                           struct profile *ret_copy)
{
    struct profile copy = {0};
    struct error *error = fill_copy(profile, path, &copy);
    if (error != NULL) {
        profile_deinit(&copy);
        return error;
    }
    *ret_copy = copy;
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Compares fault profiles with the manual pages on this machine and lists where they differ.
#include "report/profile/profile.h"

#include "base/cleanup.h"
#include "report/text.h"
#include "scenario/tables.h"

static unsigned number_of(const char *name, size_t size)
{
    const struct constant *constant = constant_find(name, size);
    return constant != NULL && constant->kind == CONSTANT_ERRNO ? (unsigned)constant->value : 0;
}

static void add_all(struct error_set *to, const struct error_set *from)
{
    for (size_t i = 0; i < sizeof to->bits / sizeof *to->bits; i++)
        to->bits[i] |= from->bits[i];
}

// Collects every error number that a function was found to fail with. *ret_open: there may be more.
static struct error_set found_errors(const struct profile *profile, const struct profile_view *view,
                                     const struct profile_function *function, bool *ret_open)
{
    struct error_set found = {0};
    const struct error_set *sets = profile->sets.items.items;
    *ret_open = function->cut != 0;
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &profile->failures.items[function->first + i];
        if (!profile_shows_failure(view, failure))
            continue;
        if (failure->result.kind == VALUE_ERRORS)
            add_all(&found, &sets[failure->result.set]);
        else if (failure->reason == FAILURE_ERROR_NUMBERS || failure->reason == FAILURE_CODE)
            error_set_add(&found, (unsigned)failure->result.number);
        if (failure->sets_error && failure->error.kind == VALUE_ERRORS)
            add_all(&found, &sets[failure->error.set]);
        *ret_open |= failure->error_open || failure->result_open;
    }
    return found;
}

// The numbers that are in `all` but not in `without`. Returns their count.
static size_t difference(const struct error_set *all, const struct error_set *without,
                         struct error_set *ret_difference)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof all->bits / sizeof *all->bits; i++) {
        ret_difference->bits[i] = all->bits[i] & ~without->bits[i];
        count += (size_t)__builtin_popcountll(ret_difference->bits[i]);
    }
    return count;
}

static struct error *put_set(struct buffer *text, const char *name, const char *title,
                             const struct error_set *set)
{
    char digits[16];
    TRY(buffer_append(text, "  ", 2));
    size_t start = text->size;
    TRY(text_put(text, name, SIZE_MAX, 0));
    size_t used = text->size - start;
    TRY(buffer_printf(text, "%*s%-14s", used < 24 ? (int)(24 - used) : 1, "", title));
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(set, i))
            TRY(buffer_printf(text, " %s", profile_error_name(i, digits)));
    return buffer_append(text, "\n", 1);
}

static struct error *put_function(const struct profile *profile, const struct profile_view *view,
                                  const struct profile_function *function,
                                  const struct error_set *documented,
                                  struct profile_agreement *agreement, struct buffer *text)
{
    const char *name = profile_text(profile, function->name);
    struct error_set missing, extra;
    bool open;
    struct error_set found = found_errors(profile, view, function, &open);
    size_t missing_count = difference(documented, &found, &missing);
    size_t extra_count = difference(&found, documented, &extra);
    agreement->functions++;
    agreement->missing += missing_count;
    agreement->extra += extra_count;
    agreement->both += difference(documented, &missing, &found);
    agreement->agreeing += missing_count == 0 && extra_count == 0;
    if (missing_count != 0)
        TRY(put_set(text, name, open ? "not found (?)" : "not found", &missing));
    if (extra_count != 0)
        TRY(put_set(text, missing_count != 0 ? "" : name, "undocumented", &extra));
    return NULL;
}

struct error *report_profile_man(const struct profile *profile, const struct profile_view *view,
                                 struct profile_agreement *agreement, struct buffer *text)
{
    _cleanup_(man_close) struct man man = {0};
    TRY(man_open(number_of, &man));
    TRY(text_put(text, profile->path, SIZE_MAX, 0));
    TRY(buffer_append(text, "\n", 1));
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        struct error_set documented;
        bool found;
        if (function->old || !profile_shows(view, profile, function))
            continue;
        TRY(man_errors(&man, profile_text(profile, function->name), &documented, &found));
        if (found)
            TRY(put_function(profile, view, function, &documented, agreement, text));
    }
    return NULL;
}

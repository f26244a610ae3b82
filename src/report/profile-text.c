// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles for people: a line per function and result, error numbers beside it.
#include "report/profile.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <string.h>

#define PAGE         100
#define NAME_COLUMNS 32

struct page {
    const struct profile *profile;
    const struct profile_view *view;
    struct buffer *text;
    size_t names; // columns of the widest name
    size_t line;  // where the line began
};

static size_t columns(const struct page *page)
{
    return page->text->size - page->line;
}

static struct error *fill_to(struct page *page, size_t column)
{
    size_t used = columns(page);
    return buffer_printf(page->text, "%*s", used < column ? (int)(column - used) : 1, "");
}

static struct error *start_line(struct page *page, const char *name, size_t size)
{
    page->line = page->text->size;
    TRY(buffer_append(page->text, "  ", 2));
    TRY(text_put(page->text, name, size, 0));
    return fill_to(page, page->names + 4);
}

// A word more, on a line of its own if this one is full.
static struct error *put_word(struct page *page, const char *word)
{
    size_t column = page->names + 4 + 8;
    if (columns(page) + strlen(word) + 1 > PAGE && columns(page) > column) {
        TRY(buffer_append(page->text, "\n", 1));
        page->line = page->text->size;
        TRY(fill_to(page, column));
    }
    return buffer_printf(page->text, "%s ", word);
}

static struct error *put_numbers(struct page *page, uint32_t set)
{
    const struct error_set *numbers = &page->profile->sets.items.items[set];
    char digits[16];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(numbers, i))
            TRY(put_word(page, profile_error_name(i, digits)));
    return NULL;
}

static struct error *put_effect(struct page *page, const struct effect *effect)
{
    _cleanup_(buffer_deinit) struct buffer word = {0};
    const char *name = profile_effect_name(page->profile, effect);
    if (effect->kind == EFFECT_ARGUMENT && effect->where == 0)
        TRY(buffer_printf(&word, "*arg%u=%lld", effect->argument + 1u, (long long)effect->value));
    else if (effect->kind == EFFECT_ARGUMENT)
        TRY(buffer_printf(&word, "arg%u[%lld]=%lld", effect->argument + 1u,
                          (long long)effect->where, (long long)effect->value));
    else if (name != NULL) {
        TRY(text_put(&word, name, SIZE_MAX, 0));
        TRY(buffer_printf(&word, "=%lld", (long long)effect->value));
    } else {
        TRY(buffer_printf(&word, "%s@%llx=%lld",
                          effect->kind == EFFECT_THREAD ? "thread" : "global",
                          (unsigned long long)effect->where, (long long)effect->value));
    }
    return put_word(page, word.data);
}

static struct error *put_result(struct page *page, const struct profile_function *function,
                                const struct failure *failure)
{
    if (failure->result.kind == VALUE_ERRORS)
        return buffer_printf(page->text, "%s", failure->result.negative ? "-errno" : "errno");
    if (failure->result.number == 0 && function->pointer)
        return buffer_printf(page->text, "NULL");
    return buffer_printf(page->text, "%lld", (long long)failure->result.number);
}

static struct error *put_failure(struct page *page, const struct profile_function *function,
                                 const struct failure *failure)
{
    TRY(put_result(page, function, failure));
    TRY(fill_to(page, page->names + 4 + 8));
    if (failure->result.kind == VALUE_ERRORS)
        TRY(put_numbers(page, failure->result.set));
    if (failure->sets_error && failure->error.kind == VALUE_ERRORS)
        TRY(put_numbers(page, failure->error.set));
    if (failure->error_open)
        TRY(put_word(page, failure->error.kind == VALUE_ERRORS ? "..." : "errno"));
    for (unsigned i = 0; i < failure->effect_count; i++)
        TRY(put_effect(page, &failure->effects[i]));
    if (failure->confidence < 80) {
        char word[16];
        snprintf(word, sizeof word, "(%u%%)", failure->confidence);
        TRY(put_word(page, word));
    }
    while (page->text->size > page->line && page->text->data[page->text->size - 1] == ' ')
        page->text->data[--page->text->size] = '\0';
    return buffer_append(page->text, "\n", 1);
}

static struct error *put_function(struct page *page, const struct profile_function *function,
                                  struct profile_counts *counts)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    bool shown = false;
    TRY(buffer_printf(&name, "%s%s%s", profile_text(page->profile, function->name),
                      function->old && function->version != 0 ? "@" : "",
                      function->old && function->version != 0
                          ? profile_text(page->profile, function->version)
                          : ""));
    for (uint32_t i = 0; i < function->count; i++) {
        const struct failure *failure = &page->profile->failures.items[function->first + i];
        if (!profile_shows_failure(page->view, failure))
            continue;
        TRY(start_line(page, shown ? "" : name.data, SIZE_MAX));
        TRY(put_failure(page, function, failure));
        shown = true;
    }
    counts->functions++;
    counts->failing += shown;
    counts->unknown += function->unknown != 0;
    counts->cut += function->cut != 0;
    if (shown || (function->unknown == 0 && !page->view->all && !function->cut))
        return NULL;
    TRY(start_line(page, name.data, SIZE_MAX));
    if (function->unknown != 0)
        return buffer_printf(page->text, "unknown: %s\n",
                             profile_text(page->profile, function->unknown));
    return buffer_printf(page->text, "%s\n",
                         function->cut ? "unknown: too much to look at" : "none");
}

struct error *report_profile_text(const struct profile *profile, const struct profile_view *view,
                                  struct profile_counts *counts, struct buffer *text)
{
    struct page page = {.profile = profile, .view = view, .text = text, .names = 8};
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        size_t size = strlen(profile_text(profile, function->name));
        if (profile_shows(view, profile, function) && size > page.names)
            page.names = size < NAME_COLUMNS ? size : NAME_COLUMNS;
    }
    TRY(text_put(text, profile->path, SIZE_MAX, 0));
    TRY(buffer_append(text, "\n", 1));
    for (size_t i = 0; i < profile->functions.count; i++)
        if (profile_shows(view, profile, &profile->functions.items[i]))
            TRY(put_function(&page, &profile->functions.items[i], counts));
    return NULL;
}

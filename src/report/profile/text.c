// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles for people: one line per function and result, with the error numbers beside it.
#include "report/profile/profile.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <string.h>

#define PAGE         100
#define NAME_COLUMNS 32
#define EFFECTS      6 // effects shown on a line

struct page {
    const struct profile *profile;
    const struct profile_view *view;
    struct buffer *text;
    size_t names; // columns of the widest name
    size_t line;  // offset in `text` where the line begins
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

// Appends a word. Starts a new line if this one is full.
static struct error *put_word(struct page *page, const char *word)
{
    size_t column = page->names + 4 + 8;
    if (columns(page) + strlen(word) + 1 > PAGE && columns(page) > column) {
        page->text->data[--page->text->size] = '\0'; // drop the space after the last word
        TRY(buffer_append(page->text, "\n", 1));
        page->line = page->text->size;
        TRY(fill_to(page, column));
    }
    return buffer_printf(page->text, "%s ", word);
}

static struct error *put_numbers(struct page *page, const struct error_set *numbers)
{
    char digits[16];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(numbers, i))
            TRY(put_word(page, profile_error_name(i, digits)));
    return NULL;
}

static struct error *effect_word(const struct page *page, const struct effect *effect,
                                 struct buffer *word)
{
    const char *name = profile_effect_name(page->profile, effect);
    if (effect->kind == EFFECT_ARGUMENT && effect->where == 0)
        TRY(buffer_printf(word, "*arg%u", effect->argument + 1u));
    else if (effect->kind == EFFECT_ARGUMENT)
        TRY(buffer_printf(word, "arg%u[%lld]", effect->argument + 1u, (long long)effect->where));
    else if (name != NULL)
        TRY(text_put(word, name, SIZE_MAX, 0));
    else
        TRY(buffer_printf(word, "%s@%llx", effect->kind == EFFECT_GLOBAL ? "global" : "thread",
                          (unsigned long long)effect->where));
    if (effect->source != 0)
        return buffer_printf(word, "=arg%u", effect->source + 0u);
    return buffer_printf(word, "=%lld", (long long)effect->value);
}

static bool same_effect(const struct effect *a, const struct effect *b)
{
    return a->kind == b->kind && a->argument == b->argument && a->where == b->where &&
           a->value == b->value && a->source == b->source;
}

static struct error *put_result(struct page *page, const struct profile_function *function,
                                const struct failure *failure)
{
    if (failure->result.kind == VALUE_ERRORS)
        return buffer_printf(page->text, "%s", failure->result.negative ? "-errno" : "errno");
    char digits[16];
    if (failure->reason == FAILURE_ERROR_NUMBERS)
        return buffer_printf(page->text, "%s",
                             profile_error_name((unsigned)failure->result.number, digits));
    if (failure->result.number == 0 && function->pointer)
        return buffer_printf(page->text, "NULL");
    return buffer_printf(page->text, "%lld", (long long)failure->result.number);
}

// All failures with the same result, merged into one line of the table.
struct result_line {
    const struct failure *first;
    struct error_set errors; // of errno, and of the result if that is an error number
    bool open;               // there may be other numbers, which are not known
    unsigned confidence;
    struct effect effects[EFFECTS];
    size_t effect_count;
    bool more_effects;
};

static void add_to_line(struct result_line *line, const struct page *page,
                        const struct failure *failure)
{
    const struct error_set *sets = page->profile->sets.items.items;
    const struct value *numbers = failure->result.kind == VALUE_ERRORS ? &failure->result
                                  : failure->sets_error                ? &failure->error
                                                                       : NULL;
    if (numbers != NULL && numbers->kind == VALUE_ERRORS)
        for (size_t i = 0; i < sizeof line->errors.bits / sizeof *line->errors.bits; i++)
            line->errors.bits[i] |= sets[numbers->set].bits[i];
    line->open |= failure->result.kind == VALUE_ERRORS ? failure->result_open : failure->error_open;
    if (failure->confidence > line->confidence)
        line->confidence = failure->confidence;
    for (unsigned i = 0; i < failure->effect_count; i++) {
        size_t j = 0;
        while (j < line->effect_count && !same_effect(&line->effects[j], &failure->effects[i]))
            j++;
        if (j == EFFECTS)
            line->more_effects = true;
        else if (j == line->effect_count)
            line->effects[line->effect_count++] = failure->effects[i];
    }
}

static struct error *put_line(struct page *page, const struct profile_function *function,
                              const struct result_line *line)
{
    bool known = false;
    TRY(put_result(page, function, line->first));
    TRY(fill_to(page, page->names + 4 + 8));
    TRY(put_numbers(page, &line->errors));
    for (size_t i = 0; i < sizeof line->errors.bits / sizeof *line->errors.bits; i++)
        known |= line->errors.bits[i] != 0;
    if (line->open)
        TRY(put_word(page, known ? "errno..." : "errno"));
    for (size_t i = 0; i < line->effect_count; i++) {
        _cleanup_(buffer_deinit) struct buffer word = {0};
        TRY(effect_word(page, &line->effects[i], &word));
        TRY(put_word(page, word.data));
    }
    if (line->more_effects)
        TRY(put_word(page, "..."));
    if (line->confidence < 80) {
        char word[16];
        snprintf(word, sizeof word, "(%u%%)", line->confidence);
        TRY(put_word(page, word));
    }
    while (page->text->size > page->line && page->text->data[page->text->size - 1] == ' ')
        page->text->data[--page->text->size] = '\0';
    return buffer_append(page->text, "\n", 1);
}

static bool same_result(const struct failure *a, const struct failure *b)
{
    return a->result.kind == b->result.kind && a->result.number == b->result.number &&
           a->result.negative == b->result.negative;
}

// Writes the lines of a function. *ret_shown: there was at least one.
static struct error *put_lines(struct page *page, const struct profile_function *function,
                               const char *name, bool *ret_shown)
{
    const struct failure *failures = &page->profile->failures.items[function->first];
    for (uint32_t i = 0; i < function->count; i++) {
        uint32_t before = 0;
        while (before < i && !same_result(&failures[before], &failures[i]))
            before++;
        if (before < i || !profile_shows_failure(page->view, &failures[i]))
            continue;
        struct result_line line = {.first = &failures[i]};
        for (uint32_t j = i; j < function->count; j++)
            if (same_result(&failures[i], &failures[j]) &&
                profile_shows_failure(page->view, &failures[j]))
                add_to_line(&line, page, &failures[j]);
        TRY(start_line(page, *ret_shown ? "" : name, SIZE_MAX));
        TRY(put_line(page, function, &line));
        *ret_shown = true;
    }
    return NULL;
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
    TRY(put_lines(page, function, name.data, &shown));
    counts->functions++;
    counts->failing += shown;
    counts->unknown += function->unknown != 0;
    counts->cut += function->cut != 0;
    if (shown && function->cut) {
        TRY(start_line(page, "", SIZE_MAX));
        return buffer_printf(page->text, "there may be more\n");
    }
    if (shown || (function->unknown == 0 && !page->view->all && !function->cut))
        return NULL;
    TRY(start_line(page, name.data, SIZE_MAX));
    if (function->unknown != 0)
        return buffer_printf(page->text, "unknown: %s\n",
                             profile_text(page->profile, function->unknown));
    return buffer_printf(page->text, "%s\n",
                         function->cut ? "unknown: too much to look at" : "none");
}

static bool has_line(const struct page *page, const struct profile_function *function)
{
    if (page->view->all || function->unknown != 0 || function->cut)
        return true;
    for (uint32_t i = 0; i < function->count; i++)
        if (profile_shows_failure(page->view, &page->profile->failures.items[function->first + i]))
            return true;
    return false;
}

struct error *report_profile_text(const struct profile *profile, const struct profile_view *view,
                                  struct profile_counts *counts, struct buffer *text)
{
    struct page page = {.profile = profile, .view = view, .text = text, .names = 8};
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        size_t size = strlen(profile_text(profile, function->name));
        if (size > page.names && profile_shows(view, profile, function) &&
            has_line(&page, function))
            page.names = size < NAME_COLUMNS ? size : NAME_COLUMNS;
    }
    TRY(text_put(text, profile->path, SIZE_MAX, 0));
    TRY(buffer_append(text, "\n", 1));
    for (size_t i = 0; i < profile->functions.count; i++)
        if (profile_shows(view, profile, &profile->functions.items[i]))
            TRY(put_function(&page, &profile->functions.items[i], counts));
    return NULL;
}

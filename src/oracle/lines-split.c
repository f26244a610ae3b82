// SPDX-License-Identifier: GPL-3.0-or-later
// Splits texts into lines and applies the user's filters to them: lines-split.h, and the filters of
// lines.h.
#include "oracle/lines-split.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#define GROUPS 10

struct compiled {
    regex_t pattern;
    char *replacement;
};
struct lines_filters {
    ARRAY(struct compiled) items;
};

void lines_filters_free(struct lines_filters *filters)
{
    if (filters == NULL)
        return;
    for (size_t i = 0; i < filters->items.count; i++) {
        regfree(&filters->items.items[i].pattern);
        free(filters->items.items[i].replacement);
    }
    ARRAY_DEINIT(&filters->items);
    free(filters);
}

static void filters_freep(struct lines_filters **filters)
{
    lines_filters_free(*filters);
}

static struct error *check_replacement(const struct filter *filter, size_t groups)
{
    for (const char *at = filter->replacement; at != NULL && *at != '\0'; at++) {
        if (*at != '\\')
            continue;
        at++;
        if (isdigit((unsigned char)*at) && (size_t)(*at - '0') > groups)
            return error_new("filter '%s': the replacement '%s' uses \\%c, but the pattern has %zu "
                             "group%s",
                             filter->pattern, filter->replacement, *at, groups,
                             groups == 1 ? "" : "s");
        if (!isdigit((unsigned char)*at) && *at != '\\')
            return error_new("filter '%s': in the replacement '%s' a backslash must be followed by "
                             "a digit or a backslash",
                             filter->pattern, filter->replacement);
    }
    return NULL;
}

static struct error *compile(struct lines_filters *filters, const struct filter *filter)
{
    _cleanup_free_ char *replacement =
        strdup(filter->replacement != NULL ? filter->replacement : "");
    regex_t pattern;
    if (replacement == NULL)
        return error_no_memory();
    int code = regcomp(&pattern, filter->pattern, REG_EXTENDED);
    if (code != 0) {
        char why[128];
        regerror(code, &pattern, why, sizeof why);
        return error_new("filter '%s' is not a regular expression: %s", filter->pattern, why);
    }
    struct error *error = check_replacement(filter, pattern.re_nsub);
    struct compiled *compiled = error == NULL ? ARRAY_ADD(&filters->items) : NULL;
    if (compiled == NULL) {
        regfree(&pattern);
        return error != NULL ? error : error_no_memory();
    }
    *compiled = (struct compiled){.pattern = pattern, .replacement = TAKE(replacement)};
    return NULL;
}

struct error *lines_filters_new(const struct filter *filters, size_t count,
                                struct lines_filters **ret_filters)
{
    _cleanup_(filters_freep) struct lines_filters *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        TRY(compile(made, &filters[i]));
    *ret_filters = TAKE(made);
    return NULL;
}

static struct error *put_replacement(struct buffer *out, const char *replacement, const char *line,
                                     const regmatch_t groups[GROUPS])
{
    for (const char *at = replacement; *at != '\0'; at++) {
        if (*at != '\\' || at[1] == '\0') {
            TRY(buffer_append(out, at, 1));
            continue;
        }
        at++;
        if (!isdigit((unsigned char)*at)) {
            TRY(buffer_append(out, at, 1));
            continue;
        }
        const regmatch_t *group = &groups[*at - '0'];
        if (group->rm_so >= 0)
            TRY(buffer_append(out, line + group->rm_so, (size_t)(group->rm_eo - group->rm_so)));
    }
    return NULL;
}

// Replaces every match. After an empty match it goes on by one character, as sed does.
static struct error *replace(const struct compiled *filter, const struct buffer *line,
                             struct buffer *out)
{
    size_t at = 0;
    out->size = 0;
    while (at <= line->size) {
        regmatch_t groups[GROUPS];
        groups[0] = (regmatch_t){.rm_so = (regoff_t)at, .rm_eo = (regoff_t)line->size};
        int flags = REG_STARTEND | (at != 0 ? REG_NOTBOL : 0);
        if (regexec(&filter->pattern, line->data, GROUPS, groups, flags) != 0)
            break;
        size_t start = (size_t)groups[0].rm_so, end = (size_t)groups[0].rm_eo;
        TRY(buffer_append(out, line->data + at, start - at));
        TRY(put_replacement(out, filter->replacement, line->data, groups));
        if (start == end && end < line->size)
            TRY(buffer_append(out, line->data + end, 1));
        at = start == end ? end + 1 : end;
        if (end == line->size) // "x*" would match once more, the empty text at the end
            return NULL;
    }
    return at < line->size ? buffer_append(out, line->data + at, line->size - at) : NULL;
}

struct scratch {
    struct buffer line, other;
};

static void scratch_deinit(struct scratch *scratch)
{
    buffer_deinit(&scratch->line);
    buffer_deinit(&scratch->other);
}

static struct error *add_line(const struct lines_filters *filters, struct scratch *scratch,
                              const char *data, size_t size, struct lines_split *split)
{
    struct lines_line *line = ARRAY_ADD(&split->lines);
    if (line == NULL)
        return error_no_memory();
    line->at = split->text.size;
    if (filters != NULL && filters->items.count != 0) {
        scratch->line.size = 0;
        TRY(buffer_append(&scratch->line, data, size));
        for (size_t i = 0; i < filters->items.count; i++) {
            TRY(buffer_append(&scratch->other, "", 0)); // it must have storage
            TRY(replace(&filters->items.items[i], &scratch->line, &scratch->other));
            struct buffer swap = scratch->line;
            scratch->line = scratch->other;
            scratch->other = swap;
        }
        data = scratch->line.data;
        size = scratch->line.size;
    }
    line->size = size;
    return buffer_append(&split->text, data, size);
}

struct error *lines_split(const struct lines_filters *filters, const struct lines_text *text,
                          struct lines_split *ret_split)
{
    _cleanup_(lines_split_deinit) struct lines_split split = {.cut = text->cut};
    _cleanup_(scratch_deinit) struct scratch scratch = {0};
    TRY(buffer_append(&split.text, "", 0));
    for (size_t at = 0; at < text->size;) {
        const char *newline = memchr(text->data + at, '\n', text->size - at);
        size_t size = newline != NULL ? (size_t)(newline - text->data) - at : text->size - at;
        if (newline == NULL && text->cut)
            break;
        TRY(add_line(filters, &scratch, text->data + at, size, &split));
        split.unended = newline == NULL;
        at += size + 1;
    }
    *ret_split = split;
    split = (struct lines_split){0};
    return NULL;
}

void lines_split_deinit(struct lines_split *split)
{
    buffer_deinit(&split->text);
    ARRAY_DEINIT(&split->lines);
}

bool lines_equal(const struct lines_split *a, size_t i, const struct lines_split *b, size_t j)
{
    return a->lines.items[i].size == b->lines.items[j].size &&
           memcmp(lines_at(a, i), lines_at(b, j), a->lines.items[i].size) == 0;
}

uint64_t lines_hash(const struct lines_split *split, size_t index)
{
    return hash_bytes(lines_at(split, index), split->lines.items[index].size);
}

// Time stamps, process numbers and addresses are made of numbers, also hexadecimal ones. A word
// counts as a number if it starts with a digit.
uint64_t lines_shape(const struct lines_split *split, size_t index)
{
    const char *line = lines_at(split, index);
    size_t size = split->lines.items[index].size;
    uint64_t hash = hash_bytes("", 0);
    for (size_t at = 0; at < size; at++) {
        unsigned char c = (unsigned char)line[at];
        if (isdigit(c)) {
            while (at + 1 < size && isalnum((unsigned char)line[at + 1]))
                at++;
            c = '0';
        }
        hash = (hash ^ c) * 1099511628211ull;
    }
    return hash;
}

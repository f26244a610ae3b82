// SPDX-License-Identifier: GPL-3.0-or-later
// Lines before the first and behind the last difference are common; the rest is the hunk.
#include "cli/mutate/diff.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

#define CONTEXT 3 // lines

struct line {
    const char *text;
    size_t size; // with its newline, if it has one
};
struct lines {
    ARRAY(struct line) items;
};

static struct error *split(const struct buffer *text, struct lines *lines)
{
    for (size_t at = 0; at < text->size;) {
        const char *begin = text->data + at, *end = memchr(begin, '\n', text->size - at);
        struct line *line = ARRAY_ADD(&lines->items);
        if (line == NULL)
            return error_no_memory();
        *line = (struct line){begin, end != NULL ? (size_t)(end + 1 - begin) : text->size - at};
        at += line->size;
    }
    return NULL;
}

static bool is_same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    const struct line *x = &a->items.items[i], *y = &b->items.items[j];
    return x->size == y->size && memcmp(x->text, y->text, x->size) == 0;
}

static struct error *put_lines(const struct lines *lines, size_t from, size_t to, char mark,
                               struct buffer *text)
{
    for (size_t i = from; i < to; i++) {
        const struct line *line = &lines->items.items[i];
        TRY(buffer_append(text, &mark, 1));
        TRY(buffer_append(text, line->text, line->size));
        if (line->text[line->size - 1] != '\n')
            TRY(buffer_printf(text, "\n\\ No newline at end of file\n"));
    }
    return NULL;
}

static struct error *put_hunk(const char *path, const struct lines *a, const struct lines *b,
                              struct buffer *text)
{
    size_t na = a->items.count, nb = b->items.count, first = 0, last = 0;
    while (first < na && first < nb && is_same(a, first, b, first))
        first++;
    while (last < na - first && last < nb - first && is_same(a, na - 1 - last, b, nb - 1 - last))
        last++;
    if (first == na && first == nb)
        return NULL;
    size_t from = first > CONTEXT ? first - CONTEXT : 0;
    size_t more = last > CONTEXT ? CONTEXT : last;
    size_t to_a = na - last, to_b = nb - last;
    bool absolute = *path == '/';
    TRY(buffer_printf(text, "--- %s%s\n+++ %s%s\n@@ -%zu,%zu +%zu,%zu @@\n", absolute ? "" : "a/",
                      path, absolute ? "" : "b/", path, from + 1, to_a + more - from, from + 1,
                      to_b + more - from));
    TRY(put_lines(a, from, first, ' ', text));
    TRY(put_lines(a, first, to_a, '-', text));
    TRY(put_lines(b, first, to_b, '+', text));
    return put_lines(a, to_a, to_a + more, ' ', text);
}

struct error *diff_put(const char *path, const struct buffer *before, const struct buffer *after,
                       struct buffer *text)
{
    struct lines a = {0}, b = {0};
    struct error *error = split(before, &a);
    if (error == NULL)
        error = split(after, &b);
    if (error == NULL)
        error = put_hunk(path, &a, &b, text);
    ARRAY_DEINIT(&a.items);
    ARRAY_DEINIT(&b.items);
    return error;
}

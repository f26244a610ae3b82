// SPDX-License-Identifier: GPL-3.0-or-later
// Finds lines that say that something went wrong (told.h) and that no reference run has. See
// reference-model.h.
#include "base/cleanup.h"
#include "base/hash.h"
#include "oracle/lines-split.h"
#include "oracle/reference-model.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What a line says, but for other numbers. Lines that say nothing have none.
struct told_line {
    uint64_t says;
    size_t index;
};
struct told_lines {
    ARRAY(struct told_line) items; // sorted
};

static void told_lines_deinit(struct told_lines *lines)
{
    ARRAY_DEINIT(&lines->items);
}

// What runs without the fault say there: all reference runs or, if none has this output, the file
// that was there before.
struct usual_lines {
    struct lines_split *texts;
    struct told_lines *told; // of each text, once one is asked for
    size_t count;
    bool collected;
    bool known; // nothing of it is missing
};

static void usual_lines_deinit(struct usual_lines *usual)
{
    for (size_t i = 0; i < usual->count; i++)
        lines_split_deinit(&usual->texts[i]);
    for (size_t i = 0; usual->told != NULL && i < usual->count; i++)
        told_lines_deinit(&usual->told[i]);
    free(usual->texts);
    free(usual->told);
}

static struct error *read_before(const struct reference *reference, const char *path,
                                 struct usual_lines *usual)
{
    uint64_t size;
    usual->known = true;
    if (path[0] == '<' || !reference_was_there(path, &size))
        return NULL;
    _cleanup_free_ char *old = malloc(ARTIFACT_CONTENT);
    if (old == NULL)
        return error_no_memory();
    _cleanup_close_ int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    ssize_t got = file >= 0 ? pread(file, old, ARTIFACT_CONTENT, 0) : -1;
    usual->known = got >= 0 && (uint64_t)got == size;
    const struct lines_text text = {.data = old, .size = got > 0 ? (size_t)got : 0};
    return lines_split(reference->filters, &text, &usual->texts[usual->count++]);
}

static struct error *collect_usual(const struct reference *reference, const char *path,
                                   struct usual_lines *usual)
{
    usual->texts = calloc(reference->runs.count + 1, sizeof *usual->texts);
    usual->told = calloc(reference->runs.count + 1, sizeof *usual->told);
    if (usual->texts == NULL || usual->told == NULL)
        return error_no_memory();
    usual->known = true;
    for (size_t i = 0; i < reference->runs.count; i++) {
        const struct artifact *artifact = reference_run_find(&reference->runs.items[i], path);
        struct lines_text text;
        if (artifact == NULL || artifact->kind == ARTIFACT_DELETED)
            continue;
        if (!reference_text(artifact, &text) || text.cut)
            usual->known = false;
        else
            TRY(lines_split(reference->filters, &text, &usual->texts[usual->count++]));
    }
    return usual->count == 0 && usual->known ? read_before(reference, path, usual) : NULL;
}

static struct told told_at(const struct lines_split *split, size_t index, enum told_where where)
{
    return told_by(lines_at(split, index), split->lines.items[index].size, where);
}

// Whether the line is the same in a run without the fault. Most are, and need no closer look.
static bool is_usual(const struct usual_lines *usual, const struct lines_split *split, size_t index)
{
    return usual->count != 0 && index < usual->texts[0].lines.count &&
           lines_equal(split, index, &usual->texts[0], index);
}

static int by_what_it_says(const void *left, const void *right)
{
    const struct told_line *a = left, *b = right;
    if (a->says != b->says)
        return a->says < b->says ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static uint64_t says(const struct lines_split *split, size_t index, struct told told)
{
    const uint64_t parts[] = {lines_shape(split, index), told.kind, told.status};
    return hash_bytes(parts, sizeof parts);
}

static struct error *collect_told(const struct lines_split *split, enum told_where where,
                                  struct told_lines *lines)
{
    for (size_t i = 0; i < split->lines.count; i++) {
        struct told told = told_at(split, i, where);
        if (told.kind == TOLD_NOTHING)
            continue;
        struct told_line *line = ARRAY_ADD(&lines->items);
        if (line == NULL)
            return error_no_memory();
        *line = (struct told_line){says(split, i, told), i};
    }
    if (lines->items.count != 0)
        qsort(lines->items.items, lines->items.count, sizeof *lines->items.items, by_what_it_says);
    return NULL;
}

// How many of the lines before `end` say that.
static size_t count_alike(const struct told_lines *lines, uint64_t what, size_t end)
{
    size_t from[2];
    const struct told_line sought[] = {{what, 0}, {what, end}};
    for (int i = 0; i < 2; i++) {
        size_t low = 0, high = lines->items.count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (by_what_it_says(&lines->items.items[middle], &sought[i]) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        from[i] = low;
    }
    return from[1] - from[0];
}

// The most that a run without the fault says that.
static struct error *count_usual(struct usual_lines *usual, uint64_t what, enum told_where where,
                                 size_t *ret_most)
{
    *ret_most = 0;
    for (size_t i = 0; i < usual->count; i++) {
        if (!usual->collected)
            TRY(collect_told(&usual->texts[i], where, &usual->told[i]));
        size_t count = count_alike(&usual->told[i], what, SIZE_MAX);
        *ret_most = count > *ret_most ? count : *ret_most;
    }
    usual->collected = true;
    return NULL;
}

// Whether a reference run has this very line in another output: then it may be data.
static bool is_data(const struct reference *reference, const char *line, size_t size)
{
    for (size_t i = 0; i < reference->runs.count; i++)
        for (size_t j = 0; j < reference->runs.items[i].artifacts.count; j++) {
            const struct buffer *content = &reference->runs.items[i].artifacts.items[j].content;
            if (content->size != 0 && memmem(content->data, content->size, line, size) != NULL)
                return true;
        }
    return false;
}

// Whether the text has as many lines as ever, and all that differ are entries that tell.
static bool stands_instead(const struct usual_lines *usual, const struct lines_split *split,
                           enum told_where where)
{
    if (usual->count == 0 || split->lines.count != usual->texts[0].lines.count)
        return false;
    for (size_t i = 0; i < split->lines.count; i++)
        if (!is_usual(usual, split, i) && told_at(split, i, where).kind != TOLD_STATE)
            return false;
    return true;
}

struct error *reference_find_told(const struct reference *reference,
                                  const struct artifact *artifact, enum told_where where,
                                  struct buffer *line, struct told *ret_told)
{
    _cleanup_(usual_lines_deinit) struct usual_lines usual = {0};
    _cleanup_(lines_split_deinit) struct lines_split split = {0};
    _cleanup_(told_lines_deinit) struct told_lines own = {0};
    struct lines_text text;
    *ret_told = (struct told){0};
    if (!reference_text(artifact, &text))
        return NULL;
    TRY(lines_split(reference->filters, &text, &split));
    TRY(collect_usual(reference, artifact->path, &usual));
    for (size_t i = 0; usual.known && i < split.lines.count; i++) {
        if (is_usual(&usual, &split, i))
            continue;
        struct told told = told_at(&split, i, where);
        if (told.kind == TOLD_NOTHING)
            continue;
        uint64_t what = says(&split, i, told);
        size_t most, size = split.lines.items[i].size;
        if (own.items.count == 0)
            TRY(collect_told(&split, where, &own));
        TRY(count_usual(&usual, what, where, &most));
        if (count_alike(&own, what, i + 1) <= most ||
            ((told.kind == TOLD_ERROR || told.kind == TOLD_STATE) &&
             is_data(reference, lines_at(&split, i), size)))
            continue;
        *ret_told = told;
        ret_told->instead = stands_instead(&usual, &split, where);
        return buffer_append(line, lines_at(&split, i), size);
    }
    return NULL;
}

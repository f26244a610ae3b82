// SPDX-License-Identifier: GPL-3.0-or-later
// Finds lines that say that something went wrong (told.h) and that no reference run has. See
// reference-model.h.
#include "base/cleanup.h"
#include "oracle/lines-split.h"
#include "oracle/reference-model.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What runs without the fault say there: all reference runs or, if none has this output, the file
// that was there before.
struct usual_lines {
    struct lines_split *texts;
    size_t count;
    bool known; // nothing of it is missing
};

static void usual_lines_deinit(struct usual_lines *usual)
{
    for (size_t i = 0; i < usual->count; i++)
        lines_split_deinit(&usual->texts[i]);
    free(usual->texts);
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
    if (usual->texts == NULL)
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

// How many of the first `count` lines of `split` say the same as a line of shape and status, but
// for other numbers.
static size_t count_alike(const struct lines_split *split, size_t count, uint64_t shape,
                          struct told told, enum told_where where)
{
    size_t alike = 0;
    for (size_t i = 0; i < count; i++) {
        if (lines_shape(split, i) != shape)
            continue;
        struct told other = told_at(split, i, where);
        alike += other.kind == told.kind && other.status == told.status;
    }
    return alike;
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

struct error *reference_find_told(const struct reference *reference,
                                  const struct artifact *artifact, enum told_where where,
                                  struct buffer *line, struct told *ret_told)
{
    _cleanup_(usual_lines_deinit) struct usual_lines usual = {0};
    _cleanup_(lines_split_deinit) struct lines_split split = {0};
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
        uint64_t shape = lines_shape(&split, i);
        size_t most = 0, size = split.lines.items[i].size;
        for (size_t j = 0; j < usual.count; j++) {
            const struct lines_split *other = &usual.texts[j];
            size_t count = count_alike(other, other->lines.count, shape, told, where);
            most = count > most ? count : most;
        }
        if (count_alike(&split, i + 1, shape, told, where) <= most ||
            (told.kind == TOLD_ERROR && is_data(reference, lines_at(&split, i), size)))
            continue;
        *ret_told = told;
        return buffer_append(line, lines_at(&split, i), size);
    }
    return NULL;
}

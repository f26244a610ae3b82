// SPDX-License-Identifier: GPL-3.0-or-later
// Learns what is the same in all reference runs, path by path, and remarks on what varies.
#include "base/cleanup.h"
#include "base/quote.h"
#include "oracle/reference-model.h"

#include <string.h>

#define MOST_REMARKS 20 // in words; further outputs that vary are counted

bool reference_text(const struct artifact *artifact, struct lines_text *ret_text)
{
    if (artifact->size != 0 && artifact->content.size == 0)
        return false;
    *ret_text = (struct lines_text){
        .data = artifact->content.data != NULL ? artifact->content.data : "",
        .size = artifact->content.size,
        .cut = artifact->size > artifact->content.size,
    };
    return true;
}

struct error *reference_put_name(struct buffer *buffer, const char *path)
{
    size_t size = strlen(path);
    if (path[0] == '<')
        return buffer_append(buffer, path + 1, size - 2);
    return quote_put(buffer, path, size, 400);
}

static int item_by_path(const void *a, const void *b)
{
    return strcmp(((const struct reference_item *)a)->artifact->path,
                  ((const struct reference_item *)b)->artifact->path);
}

const struct reference_item *reference_find(const struct reference *reference, const char *path)
{
    struct artifact artifact = {.path = (char *)path};
    struct reference_item key = {.artifact = &artifact};
    if (reference->items.count == 0)
        return NULL;
    return bsearch(&key, reference->items.items, reference->items.count, sizeof key, item_by_path);
}

bool reference_is_unsteady(const struct reference *reference, const char *directory, size_t size)
{
    for (size_t i = 0; i < reference->unsteady.count; i++)
        if (strlen(reference->unsteady.items[i]) == size &&
            memcmp(reference->unsteady.items[i], directory, size) == 0)
            return true;
    return false;
}

// One path, with its artifact in each run (NULL where a run does not have it).
struct path_versions {
    const struct artifact **artifacts;
    size_t count;
};

static const struct artifact *first_of(const struct path_versions *versions)
{
    size_t i = 0;
    while (versions->artifacts[i] == NULL)
        i++;
    return versions->artifacts[i];
}

static bool is_stable(const struct path_versions *versions)
{
    for (size_t i = 0; i < versions->count; i++)
        if (versions->artifacts[i] == NULL ||
            versions->artifacts[i]->kind != versions->artifacts[0]->kind)
            return false;
    return true;
}

static bool is_same(const struct path_versions *versions)
{
    for (size_t i = 1; i < versions->count; i++)
        if (versions->artifacts[i]->size != versions->artifacts[0]->size ||
            versions->artifacts[i]->hash != versions->artifacts[0]->hash)
            return false;
    return true;
}

static bool is_same_mode(const struct path_versions *versions)
{
    for (size_t i = 0; i < versions->count; i++)
        if (versions->artifacts[i]->mode != versions->artifacts[0]->mode ||
            versions->artifacts[i]->mode == ARTIFACT_NO_MODE)
            return false;
    return true;
}

static struct error *note_unsteady(struct reference *reference, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || reference_is_unsteady(reference, path, (size_t)(slash - path)))
        return NULL;
    char *directory = strndup(path, (size_t)(slash - path));
    char **slot = directory != NULL ? ARRAY_ADD(&reference->unsteady) : NULL;
    if (slot == NULL) {
        free(directory);
        return error_no_memory();
    }
    *slot = directory;
    return NULL;
}

// The format in which every run left this, if a program could read each; or NULL.
static const struct format *format_of(const struct path_versions *versions)
{
    const struct format *format = versions->artifacts[0]->format;
    for (size_t i = 0; i < versions->count; i++)
        if (versions->artifacts[i]->format != format ||
            versions->artifacts[i]->decoding.state != DECODING_SOUND)
            return NULL;
    return format;
}

static bool is_same_inside(const struct path_versions *versions)
{
    const struct decoding *first = &versions->artifacts[0]->decoding;
    for (size_t i = 0; i < versions->count; i++)
        if (!versions->artifacts[i]->decoding.known ||
            versions->artifacts[i]->decoding.hash != first->hash)
            return false;
    return true;
}

// "F changes in 2 of 5 reference runs only; ..."
static struct error *describe_unstable(struct buffer *text, const struct path_versions *versions)
{
    size_t seen = 0;
    for (size_t i = 0; i < versions->count; i++)
        seen += versions->artifacts[i] != NULL;
    TRY(reference_put_name(text, first_of(versions)->path));
    if (seen == versions->count)
        return buffer_printf(text, " is not always the same kind of file; it is not compared");
    return buffer_printf(text,
                         " changes in %zu of %zu reference runs only; it is not compared, nor are "
                         "new files beside it",
                         seen, versions->count);
}

static struct error *describe_lines(struct buffer *text, const struct reference_item *item)
{
    TRY(reference_put_name(text, item->artifact->path));
    if (item->lines == NULL && item->format != NULL)
        return buffer_printf(text, " varies; only whether it is a sound %s file is checked",
                             item->format->name);
    if (item->lines == NULL)
        return buffer_printf(text, " varies and is no text; it is not compared");
    const char *what = lines_variation(item->lines);
    switch (lines_mode(item->lines)) {
    case LINES_EXACT: // the kept parts are alike, or are after the filters
        return buffer_printf(text, " varies beyond its first %u KiB; that part is not compared",
                             ARTIFACT_CONTENT >> 10);
    case LINES_MASKED:
        return lines_varies_once(item->lines)
                   ? buffer_printf(text, " %s; it is not compared", what)
                   : buffer_printf(text, ": %s; they are not compared", what);
    case LINES_UNORDERED:
        return buffer_printf(text, ": %s; its lines are compared without their order", what);
    default:
        return buffer_printf(text, ": %s; it is not compared", what);
    }
}

static struct error *learn_lines(struct reference *reference, const struct path_versions *versions,
                                 struct reference_item *item)
{
    _cleanup_free_ struct lines_text *texts = calloc(versions->count, sizeof *texts);
    if (texts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < versions->count; i++)
        if (!reference_text(versions->artifacts[i], &texts[i]))
            return NULL;
    return lines_learn(reference->filters, texts, item->same ? 1 : versions->count, &item->lines);
}

static bool has_content(const struct artifact *artifact)
{
    return artifact->kind == ARTIFACT_STREAM || artifact->kind == ARTIFACT_FILE ||
           artifact->kind == ARTIFACT_LINK;
}

// Whether there is nothing to remark: all versions are the same, perhaps thanks to filters.
static bool is_steady(const struct reference_item *item)
{
    if (item->same || item->same_inside)
        return true;
    return item->lines != NULL && lines_mode(item->lines) == LINES_EXACT &&
           item->artifact->size == item->artifact->content.size;
}

static bool is_compared(const struct reference *reference, const char *path)
{
    if (strcmp(path, "<stdout>") == 0)
        return reference->oracle->compare_stdout;
    return strcmp(path, "<stderr>") == 0 || reference->oracle->compare_files;
}

static struct error *learn_path(struct reference *reference, const struct path_versions *versions,
                                size_t *unsaid)
{
    struct reference_item *item = ARRAY_ADD(&reference->items);
    if (item == NULL)
        return error_no_memory();
    _cleanup_(buffer_deinit) struct buffer text = {0};
    item->artifact = first_of(versions);
    item->stable = is_stable(versions);
    if (!item->stable) {
        TRY(note_unsteady(reference, item->artifact->path));
        TRY(describe_unstable(&text, versions));
    } else {
        item->same = !has_content(item->artifact) || is_same(versions);
        item->same_mode = is_same_mode(versions);
        item->format = format_of(versions);
        item->same_inside = item->format != NULL && is_same_inside(versions);
        if (has_content(item->artifact))
            TRY(learn_lines(reference, versions, item));
        if (is_steady(item))
            return NULL;
        TRY(describe_lines(&text, item));
    }
    if (reference->remarks.count >= MOST_REMARKS) {
        ++*unsaid;
        return NULL;
    }
    return reference_remark_add(reference, REMARK_VARIES, item->artifact->path, &text);
}

// Moves on to the next path of all runs' sorted artifacts. False after the last.
static bool next_path(const struct reference *reference, size_t *at, struct path_versions *versions)
{
    const char *path = NULL;
    for (size_t i = 0; i < reference->runs.count; i++) {
        const struct reference_run *run = &reference->runs.items[i];
        if (at[i] < run->artifacts.count &&
            (path == NULL || strcmp(run->artifacts.items[at[i]].path, path) < 0))
            path = run->artifacts.items[at[i]].path;
    }
    for (size_t i = 0; path != NULL && i < reference->runs.count; i++) {
        const struct reference_run *run = &reference->runs.items[i];
        bool has =
            at[i] < run->artifacts.count && strcmp(run->artifacts.items[at[i]].path, path) == 0;
        versions->artifacts[i] = has ? &run->artifacts.items[at[i]++] : NULL;
    }
    return path != NULL;
}

struct error *reference_learn(struct reference *reference)
{
    size_t unsaid = 0;
    struct path_versions versions = {.count = reference->runs.count};
    _cleanup_free_ const struct artifact **artifacts =
        calloc(reference->runs.count, sizeof *artifacts);
    _cleanup_free_ size_t *at = calloc(reference->runs.count, sizeof *at);
    if (artifacts == NULL || at == NULL)
        return error_no_memory();
    versions.artifacts = artifacts;
    while (next_path(reference, at, &versions))
        if (is_compared(reference, first_of(&versions)->path))
            TRY(learn_path(reference, &versions, &unsaid));
    if (unsaid == 0)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "%zu more outputs vary between reference runs", unsaid));
    return reference_remark_add(reference, REMARK_VARIES, NULL, &text);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Compares a run with the reference: status, streams, and every file that either of them changed.
// The differences become sentences, the worst first.
#include "base/cleanup.h"
#include "base/quote.h"
#include "oracle/reference-model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void difference_deinit(struct difference *difference)
{
    free(difference->sentence);
    free(difference->more);
    free(difference->more_in);
    free(difference->about);
    *difference = (struct difference){0};
}

// From the worst to the least bad: the order of the sentences.
enum rank { RANK_LOST, RANK_FILE, RANK_OUT, RANK_NEW, RANK_ERR, RANKS };
#define DETAILS_MOST 4 // differences in words; the rest is counted

struct detail {
    enum rank rank;
    enum symptom symptom;
    const char *path; // the run's or the reference's
    char *sentence;
};

struct comparison {
    const struct reference *reference;
    const struct outcome_run *run;
    const struct artifact **artifacts; // of the run, by path
    size_t count;
    struct difference *difference;
    bool opens; // a file has a mode with which more is allowed, or less for its owner
    ARRAY(struct detail) details;
};

static void comparison_deinit(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->details.count; i++)
        free(comparison->details.items[i].sentence);
    ARRAY_DEINIT(&comparison->details);
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(const struct artifact *const *)a)->path,
                  (*(const struct artifact *const *)b)->path);
}

static const struct artifact *find(const struct comparison *comparison, const char *path)
{
    struct artifact artifact = {.path = (char *)path};
    const struct artifact *key = &artifact;
    if (comparison->count == 0)
        return NULL;
    const struct artifact **found =
        bsearch(&key, comparison->artifacts, comparison->count, sizeof key, by_path);
    return found != NULL ? *found : NULL;
}

static struct error *add_detail(struct comparison *comparison, enum rank rank, enum symptom symptom,
                                const char *path, struct buffer *sentence)
{
    struct detail *detail = ARRAY_ADD(&comparison->details);
    if (detail == NULL)
        return error_no_memory();
    *detail = (struct detail){rank, symptom, path, TAKE(sentence->data)};
    *sentence = (struct buffer){0};
    return NULL;
}

// Takes symptom and file from the worst difference.
static struct error *take_symptom(const struct comparison *comparison)
{
    const struct detail *worst = NULL;
    bool modes = true;
    for (size_t i = 0; i < comparison->details.count; i++) {
        const struct detail *detail = &comparison->details.items[i];
        modes &= detail->symptom == SYMPTOM_MODE;
        if (worst == NULL || detail->rank < worst->rank)
            worst = detail;
    }
    if (worst == NULL)
        return NULL;
    comparison->difference->modes = modes;
    comparison->difference->stricter = modes && !comparison->opens;
    comparison->difference->symptom = worst->symptom;
    if (worst->path[0] == '<')
        return NULL;
    comparison->difference->about = strdup(worst->path);
    return comparison->difference->about != NULL ? NULL : error_no_memory();
}

static struct error *put_details(const struct comparison *comparison, struct buffer *text)
{
    size_t shown = 0;
    for (enum rank rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < comparison->details.count && shown < DETAILS_MOST; i++)
            if (comparison->details.items[i].rank == rank)
                TRY(buffer_printf(text, "%s%s", shown++ != 0 ? "; " : "",
                                  comparison->details.items[i].sentence));
    if (comparison->details.count <= shown)
        return NULL;
    return buffer_printf(text, "; and %zu more differences", comparison->details.count - shown);
}

static struct error *compare_lines(const struct comparison *comparison,
                                   const struct reference_item *item,
                                   const struct artifact *artifact, bool *ret_differs,
                                   struct buffer *sentence)
{
    struct lines_text text;
    const struct reference *reference = comparison->reference;
    if (!reference_text(artifact, &text)) {
        *ret_differs = item->same;
        return item->same ? buffer_printf(sentence, "has other content") : NULL;
    }
    TRY(lines_compare(item->lines, reference->filters, &text, ret_differs, sentence));
    // The kept parts are alike. With filters, the rest may differ only in what they take out.
    bool unseen = text.cut || item->artifact->size > item->artifact->content.size;
    if (*ret_differs || !item->same || !unseen || reference->oracle->filters.count != 0)
        return NULL;
    *ret_differs = true;
    return buffer_printf(sentence, "differs beyond its first %u KiB (%llu bytes instead of %llu)",
                         ARTIFACT_CONTENT >> 10, (unsigned long long)artifact->size,
                         (unsigned long long)item->artifact->size);
}

// Compares the contents. Both are of the same kind, and the item is stable.
static struct error *compare_content(const struct comparison *comparison,
                                     const struct reference_item *item,
                                     const struct artifact *artifact, bool *ret_differs,
                                     struct buffer *sentence)
{
    *ret_differs = false;
    if (artifact->size == item->artifact->size && artifact->hash == item->artifact->hash)
        return NULL;
    enum artifact_kind kind = artifact->kind;
    if (kind == ARTIFACT_DIRECTORY || kind == ARTIFACT_DELETED || kind == ARTIFACT_OTHER)
        return NULL;
    enum packed_relation relation = reference_packed(item, artifact);
    if (relation == PACKED_SAME)
        return NULL;
    if (relation != PACKED_UNKNOWN) {
        *ret_differs = true;
        return reference_put_packed(sentence, item, artifact, relation);
    }
    TRY(reference_put_name(sentence, artifact->path));
    TRY(buffer_append(sentence, " ", 1));
    if (kind == ARTIFACT_LINK) {
        *ret_differs = item->same;
        return buffer_printf(sentence, "is a link to something else");
    }
    if (item->lines != NULL)
        return compare_lines(comparison, item, artifact, ret_differs, sentence);
    *ret_differs = item->same;
    if (artifact->size == item->artifact->size)
        return buffer_printf(sentence, "has other content (still %llu bytes)",
                             (unsigned long long)artifact->size);
    return buffer_printf(sentence, "has other content (%llu bytes instead of %llu)",
                         (unsigned long long)artifact->size,
                         (unsigned long long)item->artifact->size);
}

// Whether all lines are there, and no others: only their order is another.
static struct error *is_reordered(const struct comparison *comparison,
                                  const struct reference_item *item,
                                  const struct artifact *artifact, bool *ret_reordered)
{
    struct lines_text text;
    const struct lines_filters *filters = comparison->reference->filters;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    bool there = false, more = true;
    if (item->lines != NULL && reference_text(artifact, &text) && !text.cut)
        TRY(lines_all_there(item->lines, filters, &text, &there));
    if (there)
        TRY(lines_new(item->lines, filters, &text, &more, &line));
    *ret_reordered = there && !more;
    return NULL;
}

static struct error *compare_stream(struct comparison *comparison, const char *path, enum rank rank,
                                    enum symptom symptom, bool *ret_differs)
{
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    const struct reference_item *item = reference_find(comparison->reference, path);
    const struct artifact *artifact = find(comparison, path);
    if (item == NULL || artifact == NULL || !item->stable)
        return NULL;
    TRY(compare_content(comparison, item, artifact, ret_differs, &sentence));
    if (*ret_differs && rank == RANK_OUT) {
        TRY(reference_find_report(comparison->reference, artifact, comparison->run,
                                  comparison->difference));
        TRY(is_reordered(comparison, item, artifact, &comparison->difference->reordered));
    }
    return *ret_differs ? add_detail(comparison, rank, symptom, path, &sentence) : NULL;
}

// Whether the file has neither its old content nor the new one.
static bool is_lost(const struct comparison *comparison, const struct reference_item *item,
                    const struct artifact *instead)
{
    bool known = item->same || item->format != NULL;
    if (instead == NULL || !known || item->artifact->kind != ARTIFACT_FILE ||
        item->artifact->size == 0)
        return false;
    bool gone = instead->kind == ARTIFACT_DELETED ||
                (instead->kind == ARTIFACT_FILE &&
                 (instead->size == 0 || reference_packed(item, instead) == PACKED_DAMAGED));
    return gone && reference_changes(item->artifact) &&
           !reference_is_absent(comparison->reference, item->artifact->path);
}

// A file whose content the reference replaces, too, is not lost if the workload reports a failure:
// whoever is told of it can make the file again.
static struct error *say_lost(struct comparison *comparison, const struct reference_item *item,
                              const struct artifact *artifact)
{
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    bool deleted = artifact->kind == ARTIFACT_DELETED;
    bool replaced = comparison->difference->status && reference_replaces_content(item);
    comparison->difference->files = true;
    comparison->difference->lost |= !replaced;
    comparison->difference->spoilt |= replaced;
    TRY(reference_put_name(&sentence, artifact->path));
    TRY(buffer_printf(&sentence, " is %s%s, with neither its old content nor the new",
                      replaced ? "" : "lost: it is ",
                      deleted               ? "gone"
                      : artifact->size == 0 ? "empty"
                                            : "damaged"));
    if (artifact->decoding.said != NULL)
        TRY(buffer_printf(&sentence, " (%s says %s)", artifact->decoding.tool,
                          artifact->decoding.said));
    return add_detail(comparison, replaced ? RANK_FILE : RANK_LOST,
                      !replaced ? SYMPTOM_LOST
                      : deleted ? SYMPTOM_REMOVED
                                : SYMPTOM_EMPTIED,
                      artifact->path, &sentence);
}

static struct error *say_missing(struct comparison *comparison, const struct reference_item *item,
                                 const struct artifact *instead)
{
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    enum artifact_kind kind = item->artifact->kind;
    enum symptom symptom = SYMPTOM_NOT_WRITTEN;
    uint64_t before;
    TRY(reference_put_name(&sentence, item->artifact->path));
    if (instead != NULL && instead->kind == ARTIFACT_DELETED) {
        TRY(buffer_printf(&sentence, " is missing"));
    } else if (instead != NULL) {
        symptom = SYMPTOM_KIND;
        TRY(buffer_printf(&sentence, " is a %s instead of %s%s",
                          instead->kind == ARTIFACT_OTHER
                              ? "special file"
                              : enum_name(&artifact_names, instead->kind),
                          kind == ARTIFACT_DELETED ? "" : "a ", enum_name(&artifact_names, kind)));
    } else if (kind == ARTIFACT_DELETED) {
        symptom = SYMPTOM_NOT_DELETED;
        TRY(buffer_printf(&sentence, " was not deleted"));
    } else if (reference_was_there(item->artifact->path, &before)) {
        symptom = SYMPTOM_NOT_CHANGED;
        TRY(buffer_printf(&sentence, " keeps its old content"));
    } else {
        TRY(buffer_printf(&sentence, " was not written"));
    }
    return add_detail(comparison, RANK_FILE, symptom, item->artifact->path, &sentence);
}

static struct error *say_mode(struct comparison *comparison, const char *path, unsigned mode,
                              unsigned wanted, struct buffer *sentence)
{
    comparison->opens |= (mode & ~wanted) != 0 || (mode & S_IRWXU) != (wanted & S_IRWXU);
    sentence->size = 0;
    TRY(reference_put_name(sentence, path));
    return buffer_printf(sentence, " has mode %03o instead of %03o", mode, wanted);
}

static bool has_other_mode(const struct reference_item *item, const struct artifact *artifact)
{
    bool has = artifact->kind == ARTIFACT_FILE || artifact->kind == ARTIFACT_DIRECTORY;
    return has && item->same_mode && artifact->mode != item->artifact->mode;
}

static struct error *compare_item(struct comparison *comparison, const struct reference_item *item)
{
    const struct artifact *artifact = find(comparison, item->artifact->path);
    if (!item->stable)
        return NULL;
    if (is_lost(comparison, item, artifact))
        return say_lost(comparison, item, artifact);
    if (artifact == NULL && reference_is_like_before(comparison->reference, item))
        return NULL;
    if (artifact == NULL || artifact->kind != item->artifact->kind) {
        comparison->difference->files = true;
        return say_missing(comparison, item, artifact);
    }
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    bool differs;
    enum symptom symptom = SYMPTOM_WRONG;
    TRY(compare_content(comparison, item, artifact, &differs, &sentence));
    bool log = false;
    if (differs)
        TRY(reference_is_log(comparison->reference, item, artifact, comparison->run,
                             comparison->difference, &log));
    differs &= !log;
    if (differs && reference_packed(item, artifact) == PACKED_DAMAGED) {
        symptom = SYMPTOM_DAMAGED;
        comparison->difference->damaged = true;
    }
    if (!differs && has_other_mode(item, artifact)) {
        differs = true;
        symptom = SYMPTOM_MODE;
        TRY(say_mode(comparison, artifact->path, artifact->mode, item->artifact->mode, &sentence));
    }
    comparison->difference->files |= differs;
    return differs ? add_detail(comparison, RANK_FILE, symptom, artifact->path, &sentence) : NULL;
}

// Whether a new file is to be expected: the reference runs left different files in its directory,
// or that directory is itself such a file.
static bool is_excused(const struct comparison *comparison, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    size_t size = (size_t)(slash - path);
    if (reference_is_unsteady(comparison->reference, path, size) ||
        reference_is_like_unsteady(comparison->reference, path))
        return true;
    _cleanup_free_ char *directory = strndup(path, size);
    if (directory == NULL || size == 0)
        return false;
    const struct artifact *made = find(comparison, directory);
    const struct reference_item *item = reference_find(comparison->reference, directory);
    if (made == NULL || (item != NULL && item->stable))
        return false;
    return is_excused(comparison, directory);
}

// The first artifact whose path is at or after `path` followed by a dot.
static size_t first_beside(const struct comparison *comparison, const char *path, size_t size)
{
    size_t low = 0, high = comparison->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = comparison->artifacts[middle]->path;
        int order = strncmp(other, path, size);
        if (order < 0 || (order == 0 && (unsigned char)other[size] < '.'))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Whether a file that is gone goes on under a longer name, as text.gz for text. That is no loss if
// a failure stopped the workload halfway. A workload that claims success was not stopped.
static bool is_kept_beside(const struct comparison *comparison, const char *path)
{
    size_t size = strlen(path);
    uint64_t before;
    if (!comparison->difference->status)
        return false;
    for (size_t i = first_beside(comparison, path, size); i < comparison->count; i++) {
        const struct artifact *artifact = comparison->artifacts[i];
        if (strncmp(artifact->path, path, size) != 0 || artifact->path[size] != '.')
            break;
        if (strchr(artifact->path + size, '/') == NULL && artifact->kind == ARTIFACT_FILE &&
            artifact->size > 0 && !reference_was_there(artifact->path, &before) &&
            reference_find(comparison->reference, artifact->path) == NULL)
            return true;
    }
    return false;
}

// Whether the reference deletes a directory around it. Then it lists nothing of what was in there.
static bool goes_with_directory(const struct comparison *comparison, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        _cleanup_free_ char *directory = strndup(path, (size_t)(slash - path));
        const struct reference_item *item =
            directory != NULL ? reference_find(comparison->reference, directory) : NULL;
        if (item != NULL && item->stable && item->artifact->kind == ARTIFACT_DELETED)
            return true;
    }
    return false;
}

// Describes a change to a file that the reference does not change.
static struct error *compare_new(struct comparison *comparison, const struct artifact *artifact)
{
    if (artifact->path[0] == '<' || reference_find(comparison->reference, artifact->path) != NULL ||
        is_excused(comparison, artifact->path))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    uint64_t before;
    bool deleted = artifact->kind == ARTIFACT_DELETED, log = false;
    if (deleted && goes_with_directory(comparison, artifact->path))
        return NULL;
    bool there = reference_was_there(artifact->path, &before) && artifact->kind == ARTIFACT_FILE;
    // A file that was written anew as it was: only its time is another one, or its mode.
    bool again = there && !reference_changes(artifact);
    unsigned mode = again ? reference_mode_before(artifact->path) : ARTIFACT_NO_MODE;
    if (again && (mode == artifact->mode || artifact->mode == ARTIFACT_NO_MODE))
        return NULL;
    if (!there)
        TRY(reference_is_log(comparison->reference, NULL, artifact, comparison->run,
                             comparison->difference, &log));
    if (log)
        return NULL;
    bool lost =
        deleted ? !is_kept_beside(comparison, artifact->path) : there && artifact->size == 0;
    comparison->difference->files |= there || deleted;
    comparison->difference->left |= !there && !deleted;
    comparison->difference->lost |= lost;
    TRY(reference_put_name(&sentence, artifact->path));
    if (lost && !deleted)
        TRY(buffer_printf(&sentence, " was emptied: %llu bytes are lost",
                          (unsigned long long)before));
    else if (again)
        TRY(say_mode(comparison, artifact->path, artifact->mode, mode, &sentence));
    else
        TRY(buffer_printf(&sentence, deleted ? " was deleted"
                                     : there ? " was changed, which the reference does not do"
                                             : " was written, which the reference does not do"));
    return add_detail(comparison,
                      lost               ? RANK_LOST
                      : there || deleted ? RANK_FILE
                                         : RANK_NEW,
                      lost               ? SYMPTOM_LOST
                      : again            ? SYMPTOM_MODE
                      : there || deleted ? SYMPTOM_CHANGED
                                         : SYMPTOM_LEFT,
                      artifact->path, &sentence);
}

// Whether a file is named like the packed form of another: "text.gz" and "text".
static bool is_packed(const char *longer, const char *name)
{
    static const char *const endings[] = {".gz", ".bz2", ".xz",   ".zst", ".lz4",
                                          ".Z",  ".lz",  ".lzma", ".lzo", ".br"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strncmp(longer, name, size) == 0 && strcmp(longer + size, endings[i]) == 0)
            return true;
    return false;
}

// Whether what should be in this file cannot be had from it. Packed data may differ and hold the
// same, unpacked data may not.
static bool is_useless(const struct comparison *comparison, const char *path, bool packed,
                       bool named)
{
    const struct artifact *artifact = find(comparison, path);
    if (!packed || artifact == NULL || artifact->kind != ARTIFACT_FILE || artifact->size == 0)
        return true;
    enum packed_relation relation =
        reference_packed(reference_find(comparison->reference, path), artifact);
    return relation == PACKED_DAMAGED || (named && relation == PACKED_OTHER);
}

// Whether a source may have gone into this file: by its name, or because it is packed or an
// archive, into which other files go. The latter is a guess.
static bool may_hold(const struct comparison *comparison, const struct detail *detail,
                     const char *source, bool *ret_packed, bool *ret_named)
{
    const struct reference_item *item = reference_find(comparison->reference, detail->path);
    const struct format *format = item != NULL ? item->format : NULL;
    *ret_named = is_packed(detail->path, source) || is_packed(source, detail->path);
    *ret_packed =
        is_packed(detail->path, source) || (format != NULL && (format->packs || format->archive));
    return *ret_packed || *ret_named;
}

static bool is_of_output(const struct detail *detail)
{
    return detail->symptom == SYMPTOM_WRONG || detail->symptom == SYMPTOM_NOT_WRITTEN ||
           detail->symptom == SYMPTOM_KIND || detail->symptom == SYMPTOM_EMPTIED ||
           detail->symptom == SYMPTOM_DAMAGED;
}

// A program that packs or unpacks a file and removes it has lost what was in it if the result
// cannot be used.
static struct error *find_lost_source(struct comparison *comparison, const struct artifact *source)
{
    const struct reference_item *item = reference_find(comparison->reference, source->path);
    uint64_t size;
    if (source->kind != ARTIFACT_DELETED || item == NULL || !item->stable ||
        item->artifact->kind != ARTIFACT_DELETED || !reference_was_there(source->path, &size))
        return NULL;
    for (size_t i = 0; i < comparison->details.count; i++) {
        struct detail *detail = &comparison->details.items[i];
        bool packed, named;
        if (!is_of_output(detail) || !may_hold(comparison, detail, source->path, &packed, &named) ||
            !is_useless(comparison, detail->path, packed, named))
            continue;
        _cleanup_(buffer_deinit) struct buffer sentence = {0};
        TRY(reference_put_name(&sentence, source->path));
        TRY(buffer_printf(&sentence, " is lost: it is gone, and %s", detail->sentence));
        free(detail->sentence);
        *detail = (struct detail){RANK_LOST, SYMPTOM_LOST, source->path, TAKE(sentence.data)};
        comparison->difference->lost = true;
        return NULL;
    }
    return NULL;
}

static struct error *compare_all(struct comparison *comparison, const struct outcome_run *run)
{
    const struct reference *reference = comparison->reference;
    struct difference *difference = comparison->difference;
    difference->status =
        run->workload.end != SANDBOX_EXIT || run->workload.status != reference_status(reference);
    TRY(reference_find_more(reference, find(comparison, "<stderr>"), difference));
    if (reference->oracle->compare_stdout)
        TRY(compare_stream(comparison, "<stdout>", RANK_OUT, SYMPTOM_OUTPUT, &difference->out));
    for (size_t i = 0; reference->oracle->compare_files && i < reference->items.count; i++)
        if (reference->items.items[i].artifact->path[0] != '<')
            TRY(compare_item(comparison, &reference->items.items[i]));
    for (size_t i = 0; reference->oracle->compare_files && i < comparison->count; i++)
        TRY(compare_new(comparison, comparison->artifacts[i]));
    for (size_t i = 0; reference->oracle->compare_files && i < comparison->count; i++)
        TRY(find_lost_source(comparison, comparison->artifacts[i]));
    // What varies is not compared, but may say something all the same.
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->artifacts[i]->kind == ARTIFACT_FILE ||
            strcmp(comparison->artifacts[i]->path, "<stdout>") == 0)
            TRY(reference_find_report(reference, comparison->artifacts[i], run, difference));
    if (reference->oracle->compare_stderr)
        TRY(compare_stream(comparison, "<stderr>", RANK_ERR, SYMPTOM_LESS, &difference->err));
    return NULL;
}

struct error *reference_compare(const struct reference *reference, const struct outcome_run *run,
                                struct difference *ret_difference)
{
    _cleanup_(difference_deinit) struct difference difference = {0};
    _cleanup_free_ const struct artifact **artifacts =
        calloc(run->artifacts.count + 1, sizeof *artifacts);
    if (artifacts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < run->artifacts.count; i++)
        artifacts[i] = &run->artifacts.items[i];
    qsort(artifacts, run->artifacts.count, sizeof *artifacts, by_path);
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    _cleanup_(comparison_deinit) struct comparison comparison = {.reference = reference,
                                                                 .run = run,
                                                                 .artifacts = artifacts,
                                                                 .count = run->artifacts.count,
                                                                 .difference = &difference};
    TRY(compare_all(&comparison, run));
    TRY(take_symptom(&comparison));
    TRY(put_details(&comparison, &sentence));
    difference.sentence = TAKE(sentence.data);
    *ret_difference = difference;
    difference = (struct difference){0};
    return NULL;
}

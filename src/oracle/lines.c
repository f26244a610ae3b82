// SPDX-License-Identifier: GPL-3.0-or-later
// Learns which lines of a text are stable, and compares another text with them. A model keeps the
// first version and which of its lines are stable. Of all versions it keeps hashes of the lines, to
// recognise what was said before.
#include "oracle/lines.h"

#include "base/cleanup.h"
#include "base/quote.h"
#include "oracle/lines-split.h"

#include <stdlib.h>
#include <string.h>

struct lines_model {
    enum lines_mode mode;
    struct lines_split first;
    bool *varies;     // per line; NULL: none does
    size_t common;    // lines that all versions have; fewer than the first has only if some are cut
    bool ended_alike; // all versions end with a newline, or none does
    ARRAY(uint64_t) known; // shapes of all versions' lines, sorted; empty if exact
    struct buffer variation;
    bool once; // exactly one line varies
};

void lines_model_free(struct lines_model *model)
{
    if (model == NULL)
        return;
    lines_split_deinit(&model->first);
    free(model->varies);
    ARRAY_DEINIT(&model->known);
    buffer_deinit(&model->variation);
    free(model);
}

static void model_freep(struct lines_model **model)
{
    lines_model_free(*model);
}

enum lines_mode lines_mode(const struct lines_model *model)
{
    return model->mode;
}

const char *lines_variation(const struct lines_model *model)
{
    return model->variation.data != NULL ? model->variation.data : "";
}

bool lines_varies_once(const struct lines_model *model)
{
    return model->once;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// The hashes of all lines, sorted. The caller frees them; NULL means no memory.
static uint64_t *sorted_hashes(const struct lines_split *split)
{
    size_t count = split->lines.count;
    uint64_t *hashes = calloc(count + 1, sizeof *hashes);
    if (hashes == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        hashes[i] = lines_hash(split, i);
    qsort(hashes, count, sizeof *hashes, by_value);
    return hashes;
}

static struct error *same_lines(const struct lines_split *a, const struct lines_split *b,
                                bool *ret_same)
{
    *ret_same = false;
    if (a->lines.count != b->lines.count)
        return NULL;
    _cleanup_free_ uint64_t *x = sorted_hashes(a);
    _cleanup_free_ uint64_t *y = sorted_hashes(b);
    if (x == NULL || y == NULL)
        return error_no_memory();
    *ret_same = memcmp(x, y, a->lines.count * sizeof *x) == 0;
    return NULL;
}

static struct error *add_known(struct lines_model *model, const struct lines_split *split)
{
    for (size_t i = 0; i < split->lines.count; i++) {
        uint64_t *known = ARRAY_ADD(&model->known);
        if (known == NULL)
            return error_no_memory();
        *known = lines_shape(split, i);
    }
    return NULL;
}

// The versions, and what they have in common.
struct study {
    struct lines_split *splits;
    size_t count;
    bool any_cut, counts_equal, any_differs;
};

static void study_deinit(struct study *study)
{
    for (size_t i = 0; study->splits != NULL && i < study->count; i++)
        lines_split_deinit(&study->splits[i]);
    free(study->splits);
}

static struct error *mark_varying(struct lines_model *model, struct study *study)
{
    const struct lines_split *first = &study->splits[0];
    model->varies = calloc(first->lines.count + 1, sizeof *model->varies);
    if (model->varies == NULL)
        return error_no_memory();
    model->common = first->lines.count;
    model->ended_alike = true;
    study->counts_equal = true;
    for (size_t v = 0; v < study->count; v++) {
        const struct lines_split *other = &study->splits[v];
        study->any_cut |= other->cut;
        study->counts_equal &= other->lines.count == first->lines.count;
        model->ended_alike &= other->unended == first->unended;
        if (other->lines.count < model->common)
            model->common = other->lines.count;
        for (size_t i = 0; i < model->common; i++)
            model->varies[i] |= !lines_equal(first, i, other, i);
    }
    for (size_t i = 0; i < model->common; i++)
        study->any_differs |= model->varies[i];
    return NULL;
}

// "line 3 varies: 'a' / 'b'", "3 lines vary, line 3 first: 'a' / 'b'"
static struct error *describe_masked(struct lines_model *model, const struct study *study)
{
    size_t vary = 0, at = SIZE_MAX;
    for (size_t i = model->common; i-- > 0;)
        if (model->varies[i]) {
            vary++;
            at = i;
        }
    if (vary == 0)
        return buffer_printf(&model->variation, "the end of the last line varies");
    size_t other = 1;
    while (other + 1 < study->count &&
           lines_equal(&study->splits[0], at, &study->splits[other], at))
        other++;
    model->once = vary == 1;
    if (model->once)
        TRY(buffer_printf(&model->variation, "line %zu varies: ", at + 1));
    else
        TRY(buffer_printf(&model->variation, "%zu of %zu lines vary, line %zu first: ", vary,
                          model->common, at + 1));
    TRY(quote_put_word(&model->variation, lines_at(&study->splits[0], at),
                       study->splits[0].lines.items[at].size));
    TRY(buffer_printf(&model->variation, " / "));
    return quote_put_word(&model->variation, lines_at(&study->splits[other], at),
                          study->splits[other].lines.items[at].size);
}

static struct error *describe_counts(struct lines_model *model, const struct study *study)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t v = 0; v < study->count; v++) {
        size_t count = study->splits[v].lines.count;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    return buffer_printf(&model->variation, "the number of lines varies: %zu to %zu", least, most);
}

static struct error *find_mode(struct lines_model *model, struct study *study)
{
    if (!study->any_cut && !study->counts_equal) {
        model->mode = LINES_VARYING;
        return describe_counts(model, study);
    }
    if (!study->any_differs && model->ended_alike) {
        model->mode = LINES_EXACT;
        return NULL;
    }
    bool same = !study->any_cut && study->any_differs;
    for (size_t v = 1; same && v < study->count; v++)
        TRY(same_lines(&study->splits[0], &study->splits[v], &same));
    if (same) {
        model->mode = LINES_UNORDERED;
        return buffer_printf(&model->variation, "the order of lines varies");
    }
    model->mode = LINES_MASKED;
    return describe_masked(model, study);
}

struct error *lines_learn(const struct lines_filters *filters, const struct lines_text *texts,
                          size_t count, struct lines_model **ret_model)
{
    _cleanup_(model_freep) struct lines_model *model = calloc(1, sizeof *model);
    _cleanup_(study_deinit) struct study study = {.count = count};
    study.splits = calloc(count, sizeof *study.splits);
    if (model == NULL || study.splits == NULL)
        return error_no_memory();
    for (size_t v = 0; v < count; v++)
        TRY(lines_split(filters, &texts[v], &study.splits[v]));
    TRY(mark_varying(model, &study));
    TRY(find_mode(model, &study));
    for (size_t v = 0; model->mode != LINES_EXACT && v < count; v++)
        TRY(add_known(model, &study.splits[v]));
    if (model->known.count != 0)
        qsort(model->known.items, model->known.count, sizeof *model->known.items, by_value);
    model->first = study.splits[0];
    model->first.cut = study.any_cut;
    study.splits[0] = (struct lines_split){0};
    *ret_model = TAKE(model);
    return NULL;
}

static struct error *say_line(struct buffer *sentence, const struct lines_split *split, size_t at)
{
    return quote_put_word(sentence, lines_at(split, at), split->lines.items[at].size);
}

// Compares what follows the common lines: more lines, fewer lines, or another end of the text.
static struct error *compare_ends(const struct lines_model *model, const struct lines_split *split,
                                  bool *ret_differs, struct buffer *sentence)
{
    size_t have = split->lines.count, want = model->first.lines.count;
    if (model->first.cut) // known up to `common` lines; what follows them may be anything
        want = have > model->common ? have : model->common;
    if (split->cut && have < want)
        want = have;
    *ret_differs = true;
    if (have > want) {
        TRY(buffer_printf(sentence, "has %zu line%s instead of %zu, the first more: ", have,
                          have == 1 ? "" : "s", want));
        return say_line(sentence, split, want);
    }
    if (have < want) {
        TRY(buffer_printf(sentence, "has %zu line%s instead of %zu, the first missing: ", have,
                          have == 1 ? "" : "s", want));
        return say_line(sentence, &model->first, have);
    }
    bool counts = model->ended_alike && !model->first.cut && !split->cut && want != 0 &&
                  !model->varies[want - 1];
    *ret_differs = counts && split->unended != model->first.unended;
    if (*ret_differs)
        return buffer_printf(sentence, "%s",
                             split->unended ? "lacks the newline at its end"
                                            : "has a newline at its end");
    return NULL;
}

static struct error *compare_in_order(const struct lines_model *model,
                                      const struct lines_split *split, bool *ret_differs,
                                      struct buffer *sentence)
{
    size_t both = split->lines.count < model->common ? split->lines.count : model->common;
    for (size_t i = 0; i < both; i++) {
        if (model->varies[i] || lines_equal(split, i, &model->first, i))
            continue;
        *ret_differs = true;
        TRY(buffer_printf(sentence, "differs at line %zu: ", i + 1));
        TRY(say_line(sentence, split, i));
        TRY(buffer_printf(sentence, " instead of "));
        return say_line(sentence, &model->first, i);
    }
    return compare_ends(model, split, ret_differs, sentence);
}

// Finds the first line of `a` that `b` does not have, or has less often. Lines marked in `left_out`
// do not count. SIZE_MAX: there is none.
static struct error *first_extra(const struct lines_split *a, const bool *left_out,
                                 const struct lines_split *b, size_t *ret_at)
{
    _cleanup_free_ uint64_t *hashes = sorted_hashes(b);
    _cleanup_free_ bool *used = calloc(b->lines.count + 1, sizeof *used);
    if (hashes == NULL || used == NULL)
        return error_no_memory();
    for (size_t i = 0; i < a->lines.count; i++) {
        if (left_out != NULL && left_out[i])
            continue;
        uint64_t hash = lines_hash(a, i);
        uint64_t *found = bsearch(&hash, hashes, b->lines.count, sizeof hash, by_value);
        size_t at = found != NULL ? (size_t)(found - hashes) : b->lines.count;
        while (at > 0 && at < b->lines.count && hashes[at - 1] == hash)
            at--;
        while (at < b->lines.count && hashes[at] == hash && used[at])
            at++;
        if (at == b->lines.count || hashes[at] != hash) {
            *ret_at = i;
            return NULL;
        }
        used[at] = true;
    }
    *ret_at = SIZE_MAX;
    return NULL;
}

static struct error *compare_unordered(const struct lines_model *model,
                                       const struct lines_split *split, bool *ret_differs,
                                       struct buffer *sentence)
{
    size_t at;
    TRY(first_extra(split, NULL, &model->first, &at));
    *ret_differs = at != SIZE_MAX;
    if (*ret_differs) {
        TRY(buffer_printf(sentence, "has a line that it should not have: "));
        return say_line(sentence, split, at);
    }
    if (split->cut)
        return NULL;
    TRY(first_extra(&model->first, NULL, split, &at));
    *ret_differs = at != SIZE_MAX;
    if (!*ret_differs)
        return NULL;
    TRY(buffer_printf(sentence, "lacks a line: "));
    return say_line(sentence, &model->first, at);
}

struct error *lines_compare(const struct lines_model *model, const struct lines_filters *filters,
                            const struct lines_text *text, bool *ret_differs,
                            struct buffer *sentence)
{
    *ret_differs = false;
    if (model->mode == LINES_VARYING)
        return NULL;
    _cleanup_(lines_split_deinit) struct lines_split split = {0};
    TRY(lines_split(filters, text, &split));
    if (model->mode == LINES_UNORDERED)
        return compare_unordered(model, &split, ret_differs, sentence);
    return compare_in_order(model, &split, ret_differs, sentence);
}

struct error *lines_all_there(const struct lines_model *model, const struct lines_filters *filters,
                              const struct lines_text *text, bool *ret_there)
{
    _cleanup_(lines_split_deinit) struct lines_split split = {0};
    TRY(lines_split(filters, text, &split));
    *ret_there = !split.cut && !model->first.cut && split.lines.count >= model->first.lines.count;
    if (!*ret_there || model->mode == LINES_VARYING)
        return NULL;
    size_t at;
    TRY(first_extra(&model->first, model->mode == LINES_MASKED ? model->varies : NULL, &split,
                    &at));
    *ret_there = at == SIZE_MAX;
    return NULL;
}

static bool is_known(const struct lines_model *model, uint64_t hash)
{
    return model->known.count != 0 &&
           bsearch(&hash, model->known.items, model->known.count, sizeof hash, by_value) != NULL;
}

struct error *lines_new(const struct lines_model *model, const struct lines_filters *filters,
                        const struct lines_text *text, bool *ret_new, struct buffer *line)
{
    _cleanup_(lines_split_deinit) struct lines_split split = {0};
    TRY(lines_split(filters, text, &split));
    size_t at = SIZE_MAX;
    if (model->mode == LINES_EXACT) {
        TRY(first_extra(&split, NULL, &model->first, &at));
    } else {
        for (size_t i = split.lines.count; i-- > 0;)
            if (!is_known(model, lines_shape(&split, i)))
                at = i;
    }
    *ret_new = at != SIZE_MAX;
    return *ret_new ? buffer_append(line, lines_at(&split, at), split.lines.items[at].size) : NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A sample is the beginning of an order that only the seed and the faults' names decide. So it can
// grow, and the file needs to keep nothing but the verdicts.
#include "cli/mutate/accuracy-sample.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "report/text.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SHARE     20 // one in so many is inspected first, and as many more each time
#define HALF_WIDTH      0.05
#define CONFIDENCE      0.9
#define MOST_CATEGORIES 4
#define UNKNOWN         MOST_CATEGORIES
#define LARGEST_FILE    ((size_t)1 << 28)

struct population {
    const char *name;
    size_t category_count;
    const char *categories[MOST_CATEGORIES];
};
enum { OMITTED, SPURIOUS, CORRECT, POPULATIONS };
static const struct population populations[POPULATIONS] = {
    [OMITTED] = {"omitted", 4, {"macro", "inline", "various", "source"}},
    [SPURIOUS] = {"spurious", 4, {"macro", "inline", "various", "source"}},
    [CORRECT] = {"correct", 2, {"right", "wrong"}},
};

struct member {
    uint64_t order, key;
    const struct match_fault *fault;
    const struct accuracy_note *note;
    uint8_t told; // enum match_cause, or MATCH_CORRECT
};
struct members {
    ARRAY(struct member) items;
};
struct sheet {
    struct map verdicts; // by key: a category, or UNKNOWN
};

static uint64_t key_of(size_t population, const char *id, size_t size)
{
    return hash_mix(hash_bytes(id, size), population);
}

// ---- the populations ----

static int by_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

// A correct fault is in both lists; the one of the reference is inspected.
static struct error *collect(size_t population, uint64_t seed, const struct accuracy_list *list,
                             const uint8_t *verdicts, struct members *members)
{
    for (size_t i = 0; i < list->items.count; i++) {
        bool correct = verdicts[i] == MATCH_CORRECT;
        if (verdicts[i] == MATCH_NOT_COMPARED || correct != (population == CORRECT))
            continue;
        struct member *member = ARRAY_ADD(&members->items);
        if (member == NULL)
            return error_no_memory();
        const struct accuracy_note *note = &list->notes.items[i];
        uint64_t key = key_of(population, note->id, strlen(note->id));
        *member =
            (struct member){hash_mix(key, seed), key, &list->items.items[i], note, verdicts[i]};
    }
    if (members->items.count > 0)
        qsort(members->items.items, members->items.count, sizeof *members->items.items, by_order);
    return NULL;
}

// ---- the file ----

static size_t field_size(const char *at, const char *end)
{
    const char *stop = memchr(at, '\t', (size_t)(end - at));
    return (size_t)((stop != NULL ? stop : end) - at);
}

static struct error *bad_line(const char *path, size_t number, const char *what)
{
    return error_new("%s:%zu: %s; write one of the words at the top of the file into the second "
                     "column",
                     path, number, what);
}

// population, verdict, id, and more that is for people
static struct error *read_line(struct sheet *sheet, const char *path, size_t number,
                               const char *line, const char *end)
{
    size_t population = 0, category = 0;
    const char *fields[3];
    size_t sizes[3];
    for (int i = 0; i < 3; i++) {
        fields[i] = line;
        sizes[i] = field_size(line, end);
        line += sizes[i] + (line + sizes[i] < end);
    }
    while (population < POPULATIONS && (strlen(populations[population].name) != sizes[0] ||
                                        memcmp(populations[population].name, fields[0], sizes[0])))
        population++;
    if (population == POPULATIONS || sizes[2] == 0)
        return bad_line(path, number, "this is no line of a sample");
    const struct population *of = &populations[population];
    while (category < of->category_count &&
           (strlen(of->categories[category]) != sizes[1] ||
            memcmp(of->categories[category], fields[1], sizes[1]) != 0))
        category++;
    bool open = sizes[1] == 1 && *fields[1] == '?';
    if (category == of->category_count && !open)
        return bad_line(path, number, "the verdict is unknown");
    return map_put(&sheet->verdicts, key_of(population, fields[2], sizes[2]),
                   open ? UNKNOWN : (uint32_t)category);
}

static struct error *read_sheet(const char *path, struct sheet *sheet)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (access(path, F_OK) < 0)
        return NULL;
    TRY(buffer_read_regular(path, LARGEST_FILE, &text));
    size_t number = 0;
    for (size_t at = 0; at < text.size;) {
        const char *line = text.data + at, *end = memchr(line, '\n', text.size - at);
        end = end != NULL ? end : text.data + text.size;
        at = (size_t)(end - text.data) + 1;
        number++;
        if (end > line && *line != '#')
            TRY(read_line(sheet, path, number, line, end));
    }
    return NULL;
}

static struct error *put_member(size_t population, const struct member *member, uint32_t verdict,
                                struct buffer *text)
{
    const struct population *of = &populations[population];
    const struct match_fault *fault = member->fault;
    TRY(buffer_printf(text, "%s\t%s\t%s\t", of->name,
                      verdict < of->category_count ? of->categories[verdict] : "?",
                      member->note->id));
    TRY(text_put(text, fault->file, strlen(fault->file), 0));
    TRY(buffer_printf(text, ":%u\t", fault->line));
    TRY(text_put(text, fault->function, strlen(fault->function), 0));
    TRY(buffer_printf(text, "\t%s\t",
                      member->told < MATCH_CAUSES ? match_reasons[member->told].word : "-"));
    TRY(text_put(text, member->note->operands, strlen(member->note->operands), 0));
    return buffer_append(text, "\n", 1);
}

static struct error *put_heading(struct buffer *text)
{
    TRY(buffer_printf(text, "# Replace ? in the second column, and run the same command again.\n"));
    for (size_t i = 0; i < POPULATIONS; i++) {
        TRY(buffer_printf(text, "# %s:", populations[i].name));
        for (size_t j = 0; j < populations[i].category_count; j++)
            TRY(buffer_printf(text, " %s", populations[i].categories[j]));
        TRY(buffer_printf(text, "\n"));
    }
    return buffer_printf(text, "# source: the reference is wrong. told: the cause that 'ordeal "
                               "accuracy' tells.\n"
                               "# population\tverdict\tid\tplace\tfunction\ttold\toperands\n");
}

// ---- the sample ----

struct sample {
    size_t size, inspected;
    uint64_t counts[MOST_CATEGORIES];
    double errors; // the sum of equation 3.1
    bool enough;
};

// Of those that were sampled before.
static struct sample look(const struct sheet *sheet, size_t population,
                          const struct members *members)
{
    struct sample sample = {0};
    for (size_t i = 0; i < members->items.count; i++) {
        uint32_t verdict = map_find(&sheet->verdicts, members->items.items[i].key);
        sample.size = verdict != MAP_NONE ? i + 1 : sample.size;
        if (verdict < UNKNOWN) {
            sample.inspected++;
            sample.counts[verdict]++;
        }
    }
    size_t all = members->items.count;
    bool whole = sample.inspected == all;
    if (sample.inspected > 0)
        sample.enough =
            stats_accurate_bonferroni(sample.counts, populations[population].category_count,
                                      sample.inspected, HALF_WIDTH, CONFIDENCE, &sample.errors);
    if (whole) { // nothing is estimated
        sample.enough = true;
        sample.errors = 0;
    }
    size_t step = (all + FIRST_SHARE - 1) / FIRST_SHARE;
    if (sample.size == 0 || (sample.inspected >= sample.size && !sample.enough))
        sample.size += step;
    sample.size = sample.size < all ? sample.size : all;
    return sample;
}

static struct error *put_state(size_t population, size_t all, const struct sample *sample,
                               struct buffer *text)
{
    const struct population *of = &populations[population];
    TRY(buffer_printf(text, "%-9s  %7zu  %7zu  %9zu  ", of->name, all, sample->size,
                      sample->inspected));
    TRY(sample->inspected == 0 ? buffer_printf(text, "%6s  ", "-")
                               : buffer_printf(text, "%6.3f  ", sample->errors));
    for (size_t i = 0; i < of->category_count; i++)
        TRY(sample->inspected == 0
                ? buffer_printf(text, "%s -  ", of->categories[i])
                : buffer_printf(text, "%s %.1f %%  ", of->categories[i],
                                100.0 * (double)sample->counts[i] / (double)sample->inspected));
    text->size -= 2;
    return buffer_append(text, "\n", 1);
}

static struct error *take(size_t population, const struct sheet *sheet,
                          const struct members *members, struct buffer *file, struct buffer *text,
                          struct sample *ret_sample)
{
    struct sample sample = look(sheet, population, members);
    for (size_t i = 0; i < sample.size; i++) {
        const struct member *member = &members->items.items[i];
        TRY(put_member(population, member, map_find(&sheet->verdicts, member->key), file));
    }
    *ret_sample = sample;
    return put_state(population, members->items.count, &sample, text);
}

static void sheet_deinit(struct sheet *sheet)
{
    map_deinit(&sheet->verdicts);
}

static void members_deinit(struct members *members)
{
    ARRAY_DEINIT(&members->items);
}

static struct error *put_end(const char *path, size_t open, uint64_t wrong, bool complete,
                             struct buffer *text)
{
    TRY(buffer_printf(text, "\nWanted: errors <= %.2f for shares to +-%.0f %%.\n", 1 - CONFIDENCE,
                      100 * HALF_WIDTH));
    if (wrong > 0)
        TRY(buffer_printf(text,
                          "In %llu cases the reference is wrong: when that is mended, begin "
                          "again.\n",
                          (unsigned long long)wrong));
    return complete ? buffer_printf(text, "The sample is large enough.\n")
                    : buffer_printf(text, "%zu in %s are to be inspected.\n", open, path);
}

struct error *accuracy_sample(const char *path, uint64_t seed,
                              const struct accuracy_list *reference,
                              const struct accuracy_list *compared,
                              const struct match_result *result, struct buffer *text,
                              bool *ret_complete)
{
    _cleanup_(sheet_deinit) struct sheet sheet = {0};
    _cleanup_(buffer_deinit) struct buffer file = {0};
    bool complete = true;
    size_t open = 0;
    uint64_t wrong = 0;
    TRY(read_sheet(path, &sheet));
    TRY(put_heading(&file));
    TRY(buffer_printf(text, "%-9s  %7s  %7s  %9s  %6s  %s\n", "", "faults", "sampled", "inspected",
                      "errors", "categories"));
    for (size_t i = 0; i < POPULATIONS; i++) {
        _cleanup_(members_deinit) struct members members = {0};
        struct sample sample;
        bool spurious = i == SPURIOUS;
        TRY(collect(i, seed, spurious ? compared : reference,
                    spurious ? result->compared : result->reference, &members));
        TRY(take(i, &sheet, &members, &file, text, &sample));
        complete &= sample.enough && sample.inspected >= sample.size;
        open += sample.size - sample.inspected;
        wrong += i == CORRECT ? 0 : sample.counts[MOST_CATEGORIES - 1];
    }
    TRY(put_end(path, open, wrong, complete && wrong == 0, text));
    TRY(file_replace(path, &file));
    *ret_complete = complete && wrong == 0;
    return NULL;
}

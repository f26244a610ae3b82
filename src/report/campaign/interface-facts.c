// SPDX-License-Identifier: GPL-3.0-or-later
// Reads trials, their corruption profiles, and the numbers of accesses of the first reference run.
#include "report/campaign/interface-facts.h"

#include "base/cleanup.h"
#include "interface/accesses.h"
#include "interface/corruption.h"
#include "mutate/model.h"
#include "observe/trace.h"

#include <string.h>

const char *const interface_effect_names[EFFECTS] = {
    [EFFECT_CRASH] = "crash",
    [EFFECT_HANG] = "hang",
    [EFFECT_WRONG] = "wrong",
    [EFFECT_CORRUPTED] = "pass, corrupted",
    [EFFECT_NONE] = "pass, no corruption",
    [EFFECT_UNKNOWN] = "pass, without a trace",
};
const char *const interface_class_names[CLASSES] = {
    [ALL_CLASSES] = "all",     [ALGORITHM] = "algorithm",   [CHECKING] = "checking",
    [INTERFACE] = "interface", [ASSIGNMENT] = "assignment", [NO_CLASS] = "other types",
};

struct change { // of how often bytes from here on were accessed or corrupted
    uint64_t area;
    int64_t at, stores, trials;
};
struct reader {
    struct interface_facts *facts;
    ARRAY(struct change) changes;
    int64_t reference;
};

void interface_facts_deinit(struct interface_facts *facts)
{
    for (size_t i = 0; i < CLASSES; i++)
        ARRAY_DEINIT(&facts->sizes[i].bytes);
}

uint64_t corrupted_sizes_up_to(const struct corrupted_sizes *sizes, uint64_t bytes)
{
    uint64_t count = 0;
    while (count < sizes->bytes.count && sizes->bytes.items[count] <= bytes)
        count++;
    return count;
}

double corrupted_sizes_median(const struct corrupted_sizes *sizes)
{
    size_t count = sizes->bytes.count;
    return ((double)sizes->bytes.items[(count - 1) / 2] + (double)sizes->bytes.items[count / 2]) /
           2;
}

// ---- trials ----

static enum interface_class class_of(const char *type)
{
    for (size_t i = 0; i < MODEL_KINDS; i++)
        for (unsigned c = ALGORITHM; c < NO_CLASS && strcmp(model_types[i].name, type) == 0; c++)
            if (strcmp(model_types[i].odc, interface_class_names[c]) == 0)
                return (enum interface_class)c;
    return NO_CLASS;
}

enum interface_effect interface_effect_of(const struct store_interface_trial *trial)
{
    switch (trial->verdict) {
    case VERDICT_CRASH:
    case VERDICT_DELIBERATE:
        return EFFECT_CRASH;
    case VERDICT_HANG:
        return EFFECT_HANG;
    case VERDICT_PASS:
    case VERDICT_NOT_ACTIVATED:
        return !trial->known                            ? EFFECT_UNKNOWN
               : trial->outcome == STORE_INTERFACE_SAME ? EFFECT_NONE
                                                        : EFFECT_CORRUPTED;
    case VERDICT_INVALID:
        return EFFECTS;
    default:
        return EFFECT_WRONG;
    }
}

static struct error *add_size(struct interface_facts *facts, enum interface_class class,
                              uint64_t bytes)
{
    uint64_t *slot = ARRAY_ADD(&facts->sizes[class].bytes);
    if (slot == NULL)
        return error_no_memory();
    *slot = bytes;
    return NULL;
}

static struct error *add_change(struct reader *reader, const struct change *change)
{
    struct change *slot = ARRAY_ADD(&reader->changes);
    if (slot == NULL)
        return error_no_memory();
    *slot = *change;
    return NULL;
}

static struct error *add_profile(struct reader *reader, const char *text)
{
    _cleanup_(corruption_deinit) struct corruption corruption = {0};
    TRY(corruption_read("a stored profile", 1, text, strlen(text), &corruption));
    for (size_t i = 0; i < corruption.bytes.count; i++) {
        const struct interface_range *range = &corruption.bytes.items[i];
        struct change change = {.area = range->area, .at = range->start, .trials = 1};
        TRY(add_change(reader, &change));
        if (__builtin_add_overflow(range->start, (int64_t)range->size, &change.at))
            change.at = INT64_MAX;
        change.trials = -1;
        TRY(add_change(reader, &change));
    }
    return NULL;
}

static struct error *add_trial(void *data, const struct store_interface_trial *trial)
{
    struct reader *reader = data;
    struct interface_facts *facts = reader->facts;
    enum interface_effect effect = interface_effect_of(trial);
    if (effect == EFFECTS)
        return NULL;
    facts->trials++;
    facts->seconds += trial->seconds;
    facts->effects[effect]++;
    facts->not_activated += trial->verdict == VERDICT_NOT_ACTIVATED;
    facts->unknown += !trial->known;
    facts->diverged += trial->outcome == STORE_INTERFACE_DIVERGED;
    facts->failures += effect < EFFECT_NONE;
    if (trial->result != STORE_RESULT_RIGHT) {
        facts->results[trial->result][trial->corrupted != 0]++;
        facts->wrong_results++;
        facts->wrong_results_of_failures += effect < EFFECT_NONE;
    }
    if (trial->corrupted != 0) {
        TRY(add_size(facts, ALL_CLASSES, trial->corrupted));
        TRY(add_size(facts, class_of(trial->type), trial->corrupted));
    }
    return trial->profile != NULL ? add_profile(reader, trial->profile) : NULL;
}

// ---- accesses ----

static struct error *take_reference(void *data, const struct store_reference *row)
{
    struct reader *reader = data;
    reader->reference = reader->reference == 0 ? row->id : reader->reference;
    return NULL;
}

static struct error *take_accesses(void *data, const struct store_artifact *row)
{
    struct reader *reader = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(accesses_deinit) struct accesses accesses = {0};
    if (row->path == NULL || strcmp(row->path, STORE_ACCESSES) != 0 || reader->facts->compared)
        return NULL;
    reader->facts->compared = true;
    TRY(trace_unpack(row->content, row->content_size, &text));
    TRY(accesses_read(text.data != NULL ? text.data : "", text.size, &accesses));
    for (size_t i = 0; i < accesses.ranges.count; i++) {
        const struct accessed_range *range = &accesses.ranges.items[i];
        struct change change = {
            .area = range->area, .at = range->start, .stores = (int64_t)range->stores};
        TRY(add_change(reader, &change));
        change.at = range->end;
        change.stores = -change.stores;
        TRY(add_change(reader, &change));
    }
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->area != y->area)
        return x->area < y->area ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

// Of bytes that are accessed without a fault: their accesses, and the trials that corrupt them.
static struct error *correlate(struct reader *reader)
{
    size_t count = reader->changes.count, used = 0;
    struct change *changes = reader->changes.items;
    _cleanup_free_ double *numbers = calloc(3 * count + 1, sizeof *numbers);
    int64_t stores = 0, trials = 0;
    if (numbers == NULL)
        return error_no_memory();
    double *accesses = numbers, *rates = numbers + count, *bytes = numbers + 2 * count;
    if (count != 0)
        qsort(changes, count, sizeof *changes, by_place);
    for (size_t i = 0; i + 1 < count; i++) {
        stores += changes[i].stores;
        trials += changes[i].trials;
        if (changes[i + 1].area != changes[i].area || stores <= 0)
            continue;
        accesses[used] = (double)stores;
        rates[used] = (double)trials;
        bytes[used] = (double)(changes[i + 1].at - changes[i].at);
        used += bytes[used] > 0;
    }
    return stats_spearman(accesses, rates, bytes, used, &reader->facts->correlation);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct error *load(const struct campaign_facts *facts, struct reader *reader)
{
    TRY(store_each_reference(facts->store, facts->campaign.id, take_reference, reader));
    if (reader->reference != 0)
        TRY(store_each_artifact(facts->store, reader->reference, take_accesses, reader));
    if (!reader->facts->compared)
        return NULL;
    TRY(store_each_interface_trial(facts->store, facts->campaign.id, add_trial, reader));
    for (size_t i = 0; i < CLASSES; i++) {
        struct corrupted_sizes *sizes = &reader->facts->sizes[i];
        if (sizes->bytes.count != 0)
            qsort(sizes->bytes.items, sizes->bytes.count, sizeof *sizes->bytes.items, by_size);
    }
    return correlate(reader);
}

struct error *interface_facts_load(const struct campaign_facts *facts,
                                   struct interface_facts *ret_facts)
{
    struct interface_facts own = {0};
    struct reader reader = {.facts = &own};
    struct error *error = load(facts, &reader);
    ARRAY_DEINIT(&reader.changes);
    if (error == NULL)
        *ret_facts = own;
    else
        interface_facts_deinit(&own);
    return error;
}

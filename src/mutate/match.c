// SPDX-License-Identifier: GPL-3.0-or-later
// Places are compared by hashes: a file's name without its directories, which builds change; the
// function's name without what a compiler adds to it; the line.
#include "mutate/match.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct place {
    size_t reference, compared; // faults
    size_t uses;                // that were given away as correct
};
struct places {
    struct map map;
    struct place *items;
    size_t count;
};

static void places_deinit(struct places *places)
{
    map_deinit(&places->map);
    free(places->items);
}

static uint64_t file_key(const char *file)
{
    const char *slash = strrchr(file, '/');
    return hash_text(slash != NULL ? slash + 1 : file);
}

// The name without ".part.0", ".constprop.1" and the like.
static uint64_t function_key(const char *name)
{
    size_t size = strcspn(name, ".");
    char plain[256];
    if (size >= sizeof plain)
        return hash_text(name);
    memcpy(plain, name, size);
    plain[size] = '\0';
    return hash_text(plain);
}

static uint64_t use_key(const char *file, unsigned line)
{
    return hash_mix(file_key(file), line);
}

static uint64_t line_key(const struct match_fault *fault)
{
    return hash_mix(use_key(fault->file, fault->line), fault->kind);
}

static uint64_t place_key(const struct match_fault *fault)
{
    return hash_mix(line_key(fault), function_key(fault->function));
}

static uint64_t change_key(const struct match_fault *fault)
{
    return hash_mix(hash_mix(place_key(fault), fault->parameter), hash_text(fault->replacement));
}

static struct error *place_of(struct places *places, uint64_t key, struct place **ret_place)
{
    uint32_t index = map_find(&places->map, key);
    if (index == MAP_NONE)
        TRY(map_put(&places->map, key, index = (uint32_t)places->count++));
    *ret_place = &places->items[index];
    return NULL;
}

static struct error *places_init(struct places *places, size_t most)
{
    places->items = calloc(most + 1, sizeof *places->items);
    return places->items != NULL ? NULL : error_no_memory();
}

struct comparison {
    struct places exact;   // by function, too
    struct places lines;   // by line
    struct places changes; // by what is changed, too
    struct map files;      // that the reference names
    struct map uses;       // lines with macros
    struct match_counts *counts;
};

static struct error *count_list(struct comparison *comparison, struct match_list list,
                                bool reference)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct match_fault *fault = &list.items[i];
        struct place *exact, *line, *change;
        if (reference)
            TRY(map_add(&comparison->files, file_key(fault->file), NULL));
        else if (!map_has(&comparison->files, file_key(fault->file)))
            continue;
        TRY(place_of(&comparison->exact, place_key(fault), &exact));
        TRY(place_of(&comparison->lines, line_key(fault), &line));
        TRY(place_of(&comparison->changes, change_key(fault), &change));
        *(reference ? &change->reference : &change->compared) += 1;
        *(reference ? &exact->reference : &exact->compared) += 1;
        *(reference ? &line->reference : &line->compared) += 1;
        struct match_counts *counts = &comparison->counts[fault->kind];
        *(reference ? &counts->reference : &counts->compared) += 1;
    }
    return NULL;
}

// Counts the faults of the reference that have a partner with the same change.
static void count_same(struct comparison *comparison, struct match_list reference)
{
    for (size_t i = 0; i < reference.count; i++) {
        const struct match_fault *fault = &reference.items[i];
        uint32_t index = map_find(&comparison->changes.map, change_key(fault));
        struct place *change = &comparison->changes.items[index];
        if (change->uses++ < change->compared)
            comparison->counts[fault->kind].same++;
    }
}

// Gives the faults of a list their partners. Those without one get a cause.
static void settle(struct comparison *comparison, struct match_list list, bool reference)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct match_fault *fault = &list.items[i];
        if (!map_has(&comparison->files, file_key(fault->file)))
            continue;
        struct match_counts *counts = &comparison->counts[fault->kind];
        uint32_t exact = map_find(&comparison->exact.map, place_key(fault));
        uint32_t line = map_find(&comparison->lines.map, line_key(fault));
        struct place *place = &comparison->exact.items[exact];
        size_t partners = reference ? place->compared : place->reference;
        if (place->uses < partners) {
            place->uses++;
            counts->correct += reference;
            continue;
        }
        const struct place *near = &comparison->lines.items[line];
        size_t others = reference ? near->compared : near->reference;
        bool macro = fault->macro || map_has(&comparison->uses, use_key(fault->file, fault->line));
        enum match_cause cause = macro               ? MATCH_MACRO
                                 : others > partners ? MATCH_INLINE
                                                     : MATCH_OTHER;
        (reference ? counts->omitted : counts->spurious)[cause]++;
    }
    for (size_t i = 0; i < comparison->exact.count; i++)
        comparison->exact.items[i].uses = 0;
}

static struct error *compare(struct comparison *comparison, struct match_list reference,
                             struct match_list compared)
{
    TRY(places_init(&comparison->exact, reference.count + compared.count));
    TRY(places_init(&comparison->lines, reference.count + compared.count));
    TRY(places_init(&comparison->changes, reference.count + compared.count));
    for (size_t i = 0; i < reference.use_count; i++)
        TRY(map_add(&comparison->uses, use_key(reference.uses[i].file, reference.uses[i].line),
                    NULL));
    TRY(count_list(comparison, reference, true));
    TRY(count_list(comparison, compared, false));
    settle(comparison, reference, true);
    settle(comparison, compared, false);
    count_same(comparison, reference);
    return NULL;
}

struct error *match_compare(struct match_list reference, struct match_list compared,
                            struct match_counts ret_counts[MODEL_KINDS])
{
    struct match_counts counts[MODEL_KINDS] = {0};
    struct comparison comparison = {.counts = counts};
    struct error *error = compare(&comparison, reference, compared);
    places_deinit(&comparison.exact);
    places_deinit(&comparison.lines);
    places_deinit(&comparison.changes);
    map_deinit(&comparison.files);
    map_deinit(&comparison.uses);
    if (error == NULL)
        memcpy(ret_counts, counts, sizeof counts);
    return error;
}

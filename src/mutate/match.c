// SPDX-License-Identifier: GPL-3.0-or-later
// Places are compared by hashes: a file's name without its directories, which builds change; the
// function's name without what a compiler adds to it; the line.
#include "mutate/match.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define KIND(name)  (1u << MODEL_##name)
#define CONDITIONS  (KIND(MIA) | KIND(MIFS) | KIND(MIEB) | KIND(MLAC) | KIND(MLOC))
#define ASSIGNMENTS (KIND(MVIV) | KIND(MVAV) | KIND(MVAE) | KIND(WVAV))
#define CALLS       (KIND(MFC) | KIND(WPFV) | KIND(WAEP))

const struct match_reason match_reasons[MATCH_CAUSES] = {
    [MATCH_OTHER] = {.word = "other", .description = "none of the others"},
    [MATCH_MACRO] = {.word = "macro", .description = "code of a macro"},
    [MATCH_INLINE] = {.word = "inline", .description = "inlined: the programmer asked for it"},
    [MATCH_INLINE_CHOSEN] = {.word = "inline-chosen",
                             .description = "inlined: the compiler chose it"},
    [MATCH_BUILTIN] = {"builtin", "memcpy, memset and their like as instructions",
                       CONSTRUCT_BUILTIN, CALLS | ASSIGNMENTS | KIND(MLPA)},
    [MATCH_SWITCH] = {"switch", "a switch looks like if-else", CONSTRUCT_SWITCH, CONDITIONS},
    [MATCH_GOTO] = {"goto", "a goto looks like if-else or a loop", CONSTRUCT_GOTO, CONDITIONS},
    [MATCH_LEAVES] = {"leaves", "else or another if behind a part that leaves", CONSTRUCT_LEAVES,
                      CONDITIONS},
    [MATCH_NESTED] = {"nested", "an if within another one looks like &&", CONSTRUCT_NESTED,
                      CONDITIONS},
    [MATCH_HEADING] = {"heading", "headings of loops", CONSTRUCT_HEADING, ASSIGNMENTS | KIND(MLPA)},
    [MATCH_VALUE] = {"value", "?:, && and || as values", CONSTRUCT_VALUE, ASSIGNMENTS | CONDITIONS},
    [MATCH_CHANGE] = {"change", "=, ++ and -- within expressions", CONSTRUCT_CHANGE, ASSIGNMENTS},
    [MATCH_ADDRESS] = {"address", "arithmetic of sizeof, [] and ->", CONSTRUCT_ADDRESS,
                       KIND(WVAV) | KIND(WAEP)},
};

struct place {
    size_t reference, compared; // faults
    size_t uses;                // that were given away as correct
    uint64_t function;          // of the reference, by its key
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

static uint64_t construct_key(const char *file, unsigned line, enum construct kind)
{
    return hash_mix(hash_mix(file_key(file), line), kind);
}

static uint64_t source_line_key(const char *file, unsigned line)
{
    return hash_mix(file_key(file), line);
}

static uint64_t line_key(const struct match_fault *fault)
{
    return hash_mix(source_line_key(fault->file, fault->line), fault->kind);
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
    struct map constructs; // by line and kind
    struct map copied;     // functions that were inlined: an enum match_cause
    struct map compiled;   // functions that have code of their own
    struct match_result *result;
};

static bool is_inlined(const struct match_fault *fault)
{
    return fault->inlined != NULL && *fault->inlined != '\0';
}

static struct error *note_function(struct comparison *comparison, const struct match_fault *fault)
{
    if (!is_inlined(fault))
        return map_add(&comparison->compiled, function_key(fault->function), NULL);
    uint64_t key = function_key(fault->inlined);
    return map_has(&comparison->copied, key)
               ? NULL
               : map_put(&comparison->copied, key,
                         fault->inline_asked ? MATCH_INLINE : MATCH_INLINE_CHOSEN);
}

static struct error *note_constructs(struct comparison *comparison, struct match_list list)
{
    for (size_t i = 0; i < list.construct_count; i++)
        TRY(map_add(&comparison->constructs,
                    construct_key(list.constructs[i].file, list.constructs[i].line,
                                  list.constructs[i].kind),
                    NULL));
    return NULL;
}

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
        if (!reference)
            TRY(note_function(comparison, fault));
        *(reference ? &change->reference : &change->compared) += 1;
        *(reference ? &exact->reference : &exact->compared) += 1;
        *(reference ? &line->reference : &line->compared) += 1;
        if (reference)
            line->function = function_key(fault->function);
        struct match_counts *counts = &comparison->result->counts[fault->kind];
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
            comparison->result->counts[fault->kind].same++;
    }
}

static bool has_construct(const struct comparison *comparison, const struct match_fault *fault,
                          enum construct kind)
{
    return map_has(&comparison->constructs, construct_key(fault->file, fault->line, kind));
}

// Whether code was copied: from the function of the fault, or to it. `origin`: the function of the
// reference that has the same fault, if it is another one; or 0.
static enum match_cause inline_cause(const struct comparison *comparison,
                                     const struct match_fault *fault, bool reference,
                                     uint64_t origin)
{
    if (is_inlined(fault))
        return fault->inline_asked ? MATCH_INLINE : MATCH_INLINE_CHOSEN;
    uint64_t function = function_key(fault->function);
    uint32_t copied = map_find(&comparison->copied, function);
    if (reference && copied != MAP_NONE && !map_has(&comparison->compiled, function))
        return (enum match_cause)copied;
    if (origin != 0) {
        copied = map_find(&comparison->copied, origin);
        return copied != MAP_NONE ? (enum match_cause)copied : MATCH_INLINE_CHOSEN;
    }
    return has_construct(comparison, fault, CONSTRUCT_INLINED)  ? MATCH_INLINE
           : has_construct(comparison, fault, CONSTRUCT_CHOSEN) ? MATCH_INLINE_CHOSEN
                                                                : MATCH_OTHER;
}

static enum match_cause find_cause(const struct comparison *comparison,
                                   const struct match_fault *fault, bool reference, uint64_t origin)
{
    if (fault->macro || has_construct(comparison, fault, CONSTRUCT_MACRO))
        return MATCH_MACRO;
    enum match_cause cause = inline_cause(comparison, fault, reference, origin);
    for (int i = MATCH_BUILTIN; i < MATCH_CAUSES && cause == MATCH_OTHER; i++)
        if ((match_reasons[i].kinds & 1u << fault->kind) != 0 &&
            has_construct(comparison, fault, match_reasons[i].construct))
            cause = (enum match_cause)i;
    return cause;
}

// Gives the faults of a list their partners. Those without one get a cause.
static void settle(struct comparison *comparison, struct match_list list, bool reference)
{
    struct match_result *result = comparison->result;
    uint8_t *verdicts = reference ? result->reference : result->compared;
    for (size_t i = 0; i < list.count; i++) {
        const struct match_fault *fault = &list.items[i];
        verdicts[i] = MATCH_NOT_COMPARED;
        if (!map_has(&comparison->files, file_key(fault->file)))
            continue;
        struct match_counts *counts = &result->counts[fault->kind];
        uint32_t exact = map_find(&comparison->exact.map, place_key(fault));
        uint32_t line = map_find(&comparison->lines.map, line_key(fault));
        struct place *place = &comparison->exact.items[exact];
        size_t partners = reference ? place->compared : place->reference;
        verdicts[i] = MATCH_CORRECT;
        if (place->uses < partners) {
            place->uses++;
            counts->correct += reference;
            continue;
        }
        const struct place *near = &comparison->lines.items[line];
        size_t others = reference ? near->compared : near->reference;
        enum match_cause cause =
            find_cause(comparison, fault, reference, others > partners ? near->function : 0);
        (reference ? counts->omitted : counts->spurious)[cause]++;
        verdicts[i] = (uint8_t)cause;
    }
    for (size_t i = 0; i < comparison->exact.count; i++)
        comparison->exact.items[i].uses = 0;
}

bool match_is_copied(int cause)
{
    return cause == MATCH_MACRO || cause == MATCH_INLINE || cause == MATCH_INLINE_CHOSEN;
}

// Counts the faults of the reference that were compiled, by what became of them.
static void count_checked(struct match_result *result, struct match_list reference)
{
    for (size_t i = 0; i < reference.count; i++) {
        const struct match_fault *fault = &reference.items[i];
        struct match_counts *counts = &result->counts[fault->kind];
        bool correct = result->reference[i] == MATCH_CORRECT;
        counts->checked += fault->checked;
        if (fault->checked && fault->differs && !match_is_copied(result->reference[i])) {
            counts->differ++;
            counts->differ_correct += correct;
        }
        counts->alike_correct += fault->checked && !fault->differs && correct;
    }
}

static struct error *compare(struct comparison *comparison, struct match_list reference,
                             struct match_list compared)
{
    TRY(places_init(&comparison->exact, reference.count + compared.count));
    TRY(places_init(&comparison->lines, reference.count + compared.count));
    TRY(places_init(&comparison->changes, reference.count + compared.count));
    TRY(note_constructs(comparison, reference));
    TRY(note_constructs(comparison, compared));
    TRY(count_list(comparison, reference, true));
    TRY(count_list(comparison, compared, false));
    settle(comparison, reference, true);
    settle(comparison, compared, false);
    count_same(comparison, reference);
    count_checked(comparison->result, reference);
    return NULL;
}

struct error *match_compare(struct match_list reference, struct match_list compared,
                            struct match_result *ret_result)
{
    struct match_result result = {.reference = malloc(reference.count + 1),
                                  .compared = malloc(compared.count + 1)};
    struct comparison comparison = {.result = &result};
    struct error *error = result.reference != NULL && result.compared != NULL
                              ? compare(&comparison, reference, compared)
                              : error_no_memory();
    places_deinit(&comparison.exact);
    places_deinit(&comparison.lines);
    places_deinit(&comparison.changes);
    map_deinit(&comparison.files);
    map_deinit(&comparison.constructs);
    map_deinit(&comparison.copied);
    map_deinit(&comparison.compiled);
    if (error == NULL)
        *ret_result = result;
    else
        match_result_deinit(&result);
    return error;
}

void match_result_deinit(struct match_result *result)
{
    free(result->reference);
    free(result->compared);
    *result = (struct match_result){0};
}

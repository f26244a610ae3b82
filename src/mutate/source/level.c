// SPDX-License-Identifier: GPL-3.0-or-later
// Sources as a level: one look per translation unit. What several units have, because it is in a
// header, is one candidate.
#include "mutate/source/level.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "mutate/source/arguments.h"
#include "mutate/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct own {
    ARRAY(struct source_faults) units;
    ARRAY(struct source_fault) faults; // by candidate
    struct map known;                  // faults, by hash
};

static void own_free(void *data)
{
    struct own *own = data;
    for (size_t i = 0; i < own->units.count; i++)
        source_faults_deinit(&own->units.items[i]);
    ARRAY_DEINIT(&own->units);
    ARRAY_DEINIT(&own->faults);
    map_deinit(&own->known);
    free(own);
}

// What a fault changes. Two faults of one type that change the same are one: several units have a
// header's text, and several uses a macro's.
static uint64_t hash_fault(const struct source_fault *fault)
{
    uint64_t hash = hash_mix(hash_text(fault->path), fault->kind);
    for (unsigned i = 0; i < fault->edit_count; i++) {
        hash = hash_mix(hash, hash_text(fault->edits[i].text));
        hash = hash_mix(hash, fault->edits[i].begin);
        hash = hash_mix(hash, fault->edits[i].end);
    }
    if (fault->edit_count > 0)
        return hash;
    hash = hash_mix(hash, (uint64_t)fault->at.line << 32 | fault->at.column);
    return hash_mix(hash, fault->anchor);
}

static struct error *add_fault(struct mutate_set *set, const struct source_fault *fault)
{
    struct own *own = set->own;
    struct source_fault *kept = ARRAY_ADD(&own->faults);
    struct mutate_candidate *candidate = ARRAY_ADD(&set->items);
    if (kept == NULL || candidate == NULL)
        return error_no_memory();
    bool macro = fault->placed != SOURCE_IN_TEXT && fault->edit_count > 0;
    *kept = *fault;
    *candidate = (struct mutate_candidate){
        .kind = fault->kind,
        .function = fault->function,
        .file = macro ? fault->path : fault->file,
        .line = macro ? fault->written.line : fault->at.line,
        .column = macro ? fault->written.column : fault->at.column,
        .changed = fault->path,
        .detail = macro && *fault->written_detail != '\0' ? fault->written_detail : fault->detail,
        .parameter = fault->parameter,
        .replacement = fault->replacement,
        .macro = fault->placed == SOURCE_IN_MACRO,
        .state = fault->edit_count > 0 ? MUTATE_APPLICABLE : MUTATE_NO_TEXT,
    };
    return NULL;
}

// Counts how many uses of a macro have each fault.
static struct error *count_uses(const struct source_faults *faults, struct map *uses,
                                unsigned *counts)
{
    for (size_t i = 0; i < faults->items.count; i++) {
        uint64_t key = hash_fault(&faults->items.items[i]);
        uint32_t index = map_find(uses, key);
        if (index == MAP_NONE)
            TRY(map_put(uses, key, index = (uint32_t)i));
        counts[index]++;
    }
    return NULL;
}

// Whether a fault of a macro is one wherever the macro is used.
static bool holds_everywhere(const struct source_faults *faults, const struct source_fault *fault,
                             unsigned uses)
{
    if (fault->placed == SOURCE_IN_TEXT || fault->edit_count == 0)
        return fault->placed != SOURCE_NOWHERE;
    uint32_t index = map_find(&faults->anchors, fault->anchor);
    return index == MAP_NONE || faults->anchor_counts.items[index] == uses;
}

static struct error *add_unit(struct mutate_set *set, char *const *command)
{
    struct own *own = set->own;
    struct source_faults *faults = ARRAY_ADD(&own->units);
    _cleanup_(map_deinit) struct map uses = {0};
    if (faults == NULL)
        return error_no_memory();
    TRY(source_find(command, faults));
    _cleanup_free_ unsigned *counts = calloc(faults->items.count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    TRY(count_uses(faults, &uses, counts));
    for (size_t i = 0; i < faults->items.count; i++) {
        const struct source_fault *fault = &faults->items.items[i];
        uint64_t key = hash_fault(fault);
        bool new = false;
        if (holds_everywhere(faults, fault, counts[map_find(&uses, key)]))
            TRY(map_add(&own->known, key, &new));
        if (new)
            TRY(add_fault(set, fault));
    }
    return NULL;
}

static struct error *find(const struct mutate_request *request, struct mutate_set *set)
{
    _cleanup_(source_arguments_deinit) struct source_arguments arguments = {0};
    set->own = calloc(1, sizeof(struct own));
    if (set->own == NULL)
        return error_no_memory();
    TRY(source_need());
    TRY(source_arguments_parse("clang", request->operands, &arguments));
    if (arguments.sources.count == 0)
        return error_new("which source? 'ordeal mutate FILE.c' lists the faults it can have");
    for (size_t i = 0; i < arguments.sources.count; i++) {
        _cleanup_free_ char **command = NULL;
        const char *source = arguments.sources.items[i];
        if (access(source, R_OK) < 0)
            return error_from_errno(errno, "cannot read %s", source);
        TRY(source_arguments_for(&arguments, source, &command));
        struct error *error = add_unit(set, command);
        if (error != NULL)
            return error_prefix(error, "%s", source);
    }
    return NULL;
}

static struct error *apply(const struct mutate_set *set, size_t number, struct buffer *ret_text)
{
    const struct own *own = set->own;
    return source_apply(&own->faults.items[number], ret_text);
}

const struct mutate_level mutate_level_source = {"source", find, apply, own_free};

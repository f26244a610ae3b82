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

struct unit {
    struct source_faults faults;
};
struct own {
    ARRAY(struct unit) units;
    ARRAY(struct source_fault) faults; // by candidate
    struct map known;                  // faults, by hash
};

static void own_free(void *data)
{
    struct own *own = data;
    for (size_t i = 0; i < own->units.count; i++)
        source_faults_deinit(&own->units.items[i].faults);
    ARRAY_DEINIT(&own->units);
    ARRAY_DEINIT(&own->faults);
    map_deinit(&own->known);
    free(own);
}

static uint64_t hash_fault(const struct source_fault *fault)
{
    uint64_t hash = hash_mix(hash_text(fault->path), fault->kind);
    hash = hash_mix(hash, hash_text(fault->file));
    hash = hash_mix(hash, (uint64_t)fault->at.line << 32 | fault->at.column);
    hash = hash_mix(hash, (uint64_t)fault->begin.line << 32 | fault->begin.column);
    hash = hash_mix(hash, (uint64_t)fault->end.line << 32 | fault->end.column);
    for (unsigned i = 0; i < fault->edit_count; i++)
        hash = hash_mix(hash, hash_text(fault->edits[i].text) ^ fault->edits[i].begin << 32 ^
                                  fault->edits[i].end);
    return hash;
}

static struct error *add_fault(struct mutate_set *set, const struct source_fault *fault)
{
    struct own *own = set->own;
    struct source_fault *kept = ARRAY_ADD(&own->faults);
    struct mutate_candidate *candidate = ARRAY_ADD(&set->items);
    if (kept == NULL || candidate == NULL)
        return error_no_memory();
    *kept = *fault;
    *candidate = (struct mutate_candidate){
        .kind = fault->kind,
        .function = fault->function,
        .file = fault->file,
        .line = fault->at.line,
        .column = fault->at.column,
        .changed = fault->path,
        .detail = fault->detail,
        .parameter = fault->parameter,
        .replacement = fault->replacement,
        .state = fault->edit_count > 0 ? MUTATE_APPLICABLE : MUTATE_NO_TEXT,
    };
    return NULL;
}

static struct error *add_unit(struct mutate_set *set, char *const *command)
{
    struct own *own = set->own;
    struct unit *unit = ARRAY_ADD(&own->units);
    if (unit == NULL)
        return error_no_memory();
    TRY(source_find(command, &unit->faults));
    size_t before = set->items.count;
    for (size_t i = 0; i < unit->faults.items.count; i++) {
        const struct source_fault *fault = &unit->faults.items.items[i];
        if (!map_has(&own->known, hash_fault(fault)))
            TRY(add_fault(set, fault));
    }
    for (size_t i = before; i < set->items.count; i++)
        TRY(map_add(&own->known, hash_fault(&own->faults.items[i]), NULL));
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

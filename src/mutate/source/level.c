// SPDX-License-Identifier: GPL-3.0-or-later
// Sources as a level: one look per translation unit. What several units have, because it is in a
// header, is one candidate.
#include "mutate/source/level.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "mutate/source/check.h"
#include "mutate/source/source.h"
#include "mutate/source/units.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_UNITS 4 // that a fault in a header is checked in

struct found {
    struct source_fault fault;
    size_t units[MOST_UNITS], count;
};
struct own {
    struct source_units units;
    ARRAY(struct source_faults) faults; // of units
    ARRAY(struct found) found;          // by candidate
    struct map known;                   // faults, by hash: an index of `found`
    char *path, *real;                  // of the last fault
};

static void own_free(void *data)
{
    struct own *own = data;
    for (size_t i = 0; i < own->faults.count; i++)
        source_faults_deinit(&own->faults.items[i]);
    ARRAY_DEINIT(&own->faults);
    ARRAY_DEINIT(&own->found);
    source_units_deinit(&own->units);
    map_deinit(&own->known);
    free(own->path);
    free(own->real);
    free(own);
}

// The name that a file has only once. Faults come file by file, so the last one is remembered.
static const char *real_path(struct own *own, const char *path)
{
    if (own->path != NULL && strcmp(own->path, path) == 0)
        return own->real != NULL ? own->real : path;
    free(own->path);
    free(own->real);
    own->path = strdup(path);
    own->real = realpath(path, NULL);
    return own->real != NULL ? own->real : path;
}

// What a fault changes. Two faults of one type that change the same are one: several units have a
// header's text, and several uses a macro's.
static uint64_t hash_fault(struct own *own, const struct source_fault *fault)
{
    uint64_t hash = hash_mix(hash_text(real_path(own, fault->path)), fault->kind);
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

// A path as it is from here, not from the directory of the unit.
static const char *path_from_here(struct mutate_set *set, const struct source_unit *unit,
                                  const char *path)
{
    _cleanup_free_ char *here = realpath(".", NULL);
    _cleanup_free_ char *whole = NULL;
    if (unit->directory == NULL || *path == '\0') {
        while (strncmp(path, "./", 2) == 0)
            path += 2;
        return path;
    }
    if (*path == '/')
        whole = realpath(path, NULL);
    else if (asprintf(&whole, "%s/%s", unit->directory, path) >= 0) {
        char *real = realpath(whole, NULL);
        free(whole);
        whole = real;
    } else
        whole = NULL;
    if (whole == NULL || here == NULL)
        return path;
    size_t size = strlen(here);
    bool below = strncmp(whole, here, size) == 0 && whole[size] == '/';
    const char *from = whole + (below ? size + 1 : 0);
    const char *copy = arena_copy(&set->arena, from, strlen(from));
    return copy != NULL ? copy : path;
}

static struct error *add_fault(struct mutate_set *set, size_t unit,
                               const struct source_fault *fault)
{
    struct own *own = set->own;
    const struct source_unit *compiled = &own->units.items.items[unit];
    struct found *kept = ARRAY_ADD(&own->found);
    struct mutate_candidate *candidate = ARRAY_ADD(&set->items);
    if (kept == NULL || candidate == NULL)
        return error_no_memory();
    bool macro = fault->placed != SOURCE_IN_TEXT && fault->edit_count > 0;
    *kept = (struct found){*fault, {unit}, 1};
    *candidate = (struct mutate_candidate){
        .kind = fault->kind,
        .function = fault->function,
        .file = macro ? fault->path : path_from_here(set, compiled, fault->file),
        .line = macro ? fault->written.line : fault->at.line,
        .column = macro ? fault->written.column : fault->at.column,
        .end_line = macro ? 0 : fault->end.line,
        .end_column = macro ? 0 : fault->end.column,
        .changed = kept->fault.path,
        .detail = macro && *fault->written_detail != '\0' ? fault->written_detail : fault->detail,
        .parameter = fault->parameter,
        .replacement = fault->replacement,
        .inlined = "",
        .macro = fault->placed == SOURCE_IN_MACRO,
        .argument = fault->placed == SOURCE_IN_ARGUMENT,
        .state = fault->edit_count > 0 ? MUTATE_APPLICABLE : MUTATE_NO_TEXT,
    };
    return NULL;
}

// Counts how many uses of a macro have each fault.
static struct error *count_uses(struct own *own, const struct source_faults *faults,
                                struct map *uses, unsigned *counts)
{
    for (size_t i = 0; i < faults->items.count; i++) {
        uint64_t key = hash_fault(own, &faults->items.items[i]);
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

// Parses the unit in its directory.
static struct error *look_at_unit(const struct source_unit *unit, bool constructs,
                                  struct source_faults *ret_faults)
{
    _cleanup_close_ int here = open(".", O_PATH | O_CLOEXEC);
    size_t count = unit->command.count - unit->compiler;
    _cleanup_free_ char **command = calloc(count + 2, sizeof *command);
    if (command == NULL)
        return error_no_memory();
    memcpy(command, unit->command.items + unit->compiler, count * sizeof *command);
    // libclang takes its own headers, and C++ by the source's name.
    command[0] = (char *)"clang";
    command[count] = unit->source;
    if (here < 0 || (unit->directory != NULL && chdir(unit->directory) < 0))
        return error_from_errno(errno, "cannot go to %s", unit->directory);
    struct error *error = source_find(command, constructs, ret_faults);
    if (fchdir(here) < 0 && error == NULL)
        error = error_from_errno(errno, "cannot go back");
    return error;
}

static struct error *note_construct(struct mutate_set *set, size_t unit,
                                    const struct construct_line *construct)
{
    const struct own *own = set->own;
    struct construct_line *noted = ARRAY_ADD(&set->constructs);
    if (noted == NULL)
        return error_no_memory();
    *noted = *construct;
    noted->file = path_from_here(set, &own->units.items.items[unit], construct->file);
    return NULL;
}

static struct error *add_once(struct mutate_set *set, size_t unit, const struct source_fault *fault,
                              uint64_t key)
{
    struct own *own = set->own;
    uint32_t index = map_find(&own->known, key);
    if (index == MAP_NONE) {
        TRY(map_put(&own->known, key, (uint32_t)own->found.count));
        return add_fault(set, unit, fault);
    }
    struct found *found = &own->found.items[index];
    if (found->count < MOST_UNITS && found->units[found->count - 1] != unit)
        found->units[found->count++] = unit;
    return NULL;
}

static struct error *add_unit(struct mutate_set *set, size_t unit, bool constructs)
{
    struct own *own = set->own;
    struct source_faults *faults = ARRAY_ADD(&own->faults);
    _cleanup_(map_deinit) struct map uses = {0};
    if (faults == NULL)
        return error_no_memory();
    const struct source_unit *compiled = &own->units.items.items[unit];
    TRY(look_at_unit(compiled, constructs, faults));
    _cleanup_free_ unsigned *counts = calloc(faults->items.count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < faults->items.count; i++)
        faults->items.items[i].path = path_from_here(set, compiled, faults->items.items[i].path);
    TRY(count_uses(own, faults, &uses, counts));
    for (size_t i = 0; i < faults->constructs.count; i++)
        TRY(note_construct(set, unit, &faults->constructs.items[i]));
    for (size_t i = 0; i < faults->items.count; i++) {
        const struct source_fault *fault = &faults->items.items[i];
        if (fault->placed != SOURCE_IN_TEXT && constructs)
            TRY(note_construct(
                set, unit, &(struct construct_line){CONSTRUCT_MACRO, fault->file, fault->at.line}));
        uint64_t key = hash_fault(own, fault);
        if (holds_everywhere(faults, fault, counts[map_find(&uses, key)]))
            TRY(add_once(set, unit, fault, key));
    }
    return NULL;
}

static struct error *find(const struct mutate_request *request, struct mutate_set *set)
{
    struct own *own = set->own = calloc(1, sizeof *own);
    if (own == NULL)
        return error_no_memory();
    TRY(source_need());
    TRY(source_units_read(request, &own->units));
    for (size_t i = 0; i < own->units.items.count; i++) {
        struct error *error = add_unit(set, i, request->constructs);
        if (error != NULL)
            return error_prefix(error, "%s", own->units.items.items[i].source);
    }
    return NULL;
}

static struct error *apply(const struct mutate_set *set, size_t number, struct buffer *ret_text)
{
    const struct own *own = set->own;
    return source_apply(&own->found.items[number].fault, ret_text);
}

// What makes no difference in one unit may make one in another: the function of a header may not be
// used in the first.
static struct error *check(struct mutate_set *set, const bool *wanted)
{
    const struct own *own = set->own;
    size_t count = set->items.count;
    _cleanup_free_ const struct source_unit **units = calloc(count + 1, sizeof *units);
    _cleanup_free_ bool *now = calloc(count + 1, sizeof *now);
    if (units == NULL || now == NULL)
        return error_no_memory();
    for (size_t round = 0; round < MOST_UNITS; round++) {
        bool any = false;
        for (size_t i = 0; i < count; i++) {
            const struct found *found = &own->found.items[i];
            struct mutate_candidate *candidate = &set->items.items[i];
            now[i] = wanted[i] && round < found->count &&
                     candidate->state == (round == 0 ? MUTATE_APPLICABLE : MUTATE_EQUIVALENT);
            any |= now[i];
            if (now[i])
                candidate->state = MUTATE_APPLICABLE;
            units[i] = &own->units.items.items[found->units[now[i] ? round : 0]];
        }
        if (any)
            TRY(source_check(set, units, now));
    }
    return NULL;
}

const struct mutate_level mutate_level_source = {"source", false, find, apply, check, own_free};

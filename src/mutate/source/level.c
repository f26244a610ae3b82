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

struct found {
    struct source_fault fault;
    size_t unit;
};
struct own {
    struct source_units units;
    ARRAY(struct source_faults) faults; // of units
    ARRAY(struct found) found;          // by candidate
    struct map known;                   // faults, by hash
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

// A path as it is from here, not from the directory of the unit.
static const char *path_from_here(struct mutate_set *set, const struct source_unit *unit,
                                  const char *path)
{
    _cleanup_free_ char *here = realpath(".", NULL);
    _cleanup_free_ char *whole = NULL;
    if (unit->directory == NULL || *path == '\0')
        return path;
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
    *kept = (struct found){*fault, unit};
    kept->fault.path = path_from_here(set, compiled, fault->path);
    *candidate = (struct mutate_candidate){
        .kind = fault->kind,
        .function = fault->function,
        .file = path_from_here(set, compiled, macro ? fault->path : fault->file),
        .line = macro ? fault->written.line : fault->at.line,
        .column = macro ? fault->written.column : fault->at.column,
        .end_line = macro ? 0 : fault->end.line,
        .end_column = macro ? 0 : fault->end.column,
        .changed = kept->fault.path,
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

// Parses the unit in its directory.
static struct error *look_at_unit(const struct source_unit *unit, struct source_faults *ret_faults)
{
    _cleanup_close_ int here = open(".", O_PATH | O_CLOEXEC);
    _cleanup_free_ char **command = calloc(unit->command.count + 2, sizeof *command);
    if (command == NULL)
        return error_no_memory();
    memcpy(command, unit->command.items, unit->command.count * sizeof *command);
    // libclang takes its own headers, and C++ by the source's name.
    command[0] = (char *)"clang";
    command[unit->command.count] = unit->source;
    if (here < 0 || (unit->directory != NULL && chdir(unit->directory) < 0))
        return error_from_errno(errno, "cannot go to %s", unit->directory);
    struct error *error = source_find(command, ret_faults);
    if (fchdir(here) < 0 && error == NULL)
        error = error_from_errno(errno, "cannot go back");
    return error;
}

// Notes that a line has code of a macro, also if the macro's fault is none.
static struct error *note_use(struct mutate_set *set, size_t unit, const struct source_fault *fault)
{
    const struct own *own = set->own;
    struct mutate_use *use = ARRAY_ADD(&set->uses);
    if (use == NULL)
        return error_no_memory();
    use->file = path_from_here(set, &own->units.items.items[unit], fault->file);
    use->line = fault->at.line;
    return NULL;
}

static struct error *add_unit(struct mutate_set *set, size_t unit)
{
    struct own *own = set->own;
    struct source_faults *faults = ARRAY_ADD(&own->faults);
    _cleanup_(map_deinit) struct map uses = {0};
    if (faults == NULL)
        return error_no_memory();
    TRY(look_at_unit(&own->units.items.items[unit], faults));
    _cleanup_free_ unsigned *counts = calloc(faults->items.count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    TRY(count_uses(faults, &uses, counts));
    for (size_t i = 0; i < faults->items.count; i++) {
        const struct source_fault *fault = &faults->items.items[i];
        uint64_t key = hash_fault(fault);
        bool new = false;
        if (fault->placed != SOURCE_IN_TEXT)
            TRY(note_use(set, unit, fault));
        if (holds_everywhere(faults, fault, counts[map_find(&uses, key)]))
            TRY(map_add(&own->known, key, &new));
        if (new)
            TRY(add_fault(set, unit, fault));
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
        struct error *error = add_unit(set, i);
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

static struct error *check(struct mutate_set *set, const bool *wanted)
{
    const struct own *own = set->own;
    _cleanup_free_ const struct source_unit **units = calloc(set->items.count + 1, sizeof *units);
    if (units == NULL)
        return error_no_memory();
    for (size_t i = 0; i < set->items.count; i++)
        units[i] = &own->units.items.items[own->found.items[i].unit];
    return source_check(set, units, wanted);
}

const struct mutate_level mutate_level_source = {"source", false, find, apply, check, own_free};

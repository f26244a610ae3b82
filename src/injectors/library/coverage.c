// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the recovery code of the modules under test, creates the file in which targets mark what
// they reach, and stores the result.
#include "injectors/library/coverage.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/secrets.h"
#include "callsite/recovery.h"
#include "elf/tables.h"
#include "injector/realism.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void cover_deinit(struct cover *cover)
{
    for (size_t i = 0; i < cover->modules.count; i++)
        free(cover->modules.items[i]);
    for (size_t i = 0; i < cover->places.count; i++) {
        free(cover->places.items[i].function);
        free(cover->places.items[i].file);
    }
    ARRAY_DEINIT(&cover->modules);
    ARRAY_DEINIT(&cover->places);
    if (cover->measuring)
        cover_file_close(&cover->file);
    gcov_close(&cover->gcov);
    *cover = (struct cover){0};
}

static struct error *add_module(struct cover *cover, const char *path)
{
    char *copy = strdup(path), **added = ARRAY_ADD(&cover->modules);
    if (copy == NULL || added == NULL) {
        cover->modules.count -= added != NULL;
        free(copy);
        return error_no_memory();
    }
    *added = copy;
    return NULL;
}

static struct error *keep_text(const char *text, char **ret_copy)
{
    *ret_copy = text != NULL ? strdup(text) : NULL;
    return text != NULL && *ret_copy == NULL ? error_no_memory() : NULL;
}

// Adds a place to the module that was added last.
static struct error *add_place(struct cover *cover, const struct store_recovery *row)
{
    struct cover_place *place = ARRAY_ADD(&cover->places);
    if (place == NULL)
        return error_no_memory();
    *place = (struct cover_place){.module = (uint32_t)cover->modules.count - 1,
                                  .address = row->address,
                                  .code = row->code,
                                  .reached = row->reached,
                                  .line = row->line};
    TRY(keep_text(row->function, &place->function));
    return keep_text(row->file, &place->file);
}

// ---- finding ----

static bool matches(const struct words *globs, const char *path)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (fnmatch(globs->items[i], path, 0) == 0 ||
            fnmatch(globs->items[i], file_base_name(path), 0) == 0)
            return true;
    return false;
}

static bool is_wanted(const struct cover_wanted *wanted, const char *path)
{
    return !realism_is_system(path) && strlen(path) < WIRE_MODULE_PATH &&
           (wanted->modules == NULL || matches(wanted->modules, path)) &&
           !matches(wanted->excluded, path);
}

// The function's name in the symbol table, if it has one.
static struct error *name_function(const struct flow_image *image, uint32_t number, char **ret_name)
{
    const struct flow_function *function = &image->functions.items[number];
    if (function->name == NULL || function->name_size == 0)
        return NULL;
    *ret_name = strndup(function->name, function->name_size);
    return *ret_name != NULL ? NULL : error_no_memory();
}

static struct error *add_block(struct cover *cover, const struct callsite_module *module,
                               const struct recovery_block *block, struct journal_reader *reader)
{
    size_t size;
    const unsigned char *code = elf_object_bytes(module->image->object, block->address, &size);
    if (code == NULL || size < sizeof(uint32_t))
        return NULL;
    _cleanup_free_ char *name = NULL;
    TRY(name_function(module->image, block->function, &name));
    if (name != NULL && analysis_is_counter(name, strlen(name)))
        return NULL;
    struct journal_reader_place place = journal_reader_find(reader, module->path, block->address);
    struct store_recovery row = {.address = block->address,
                                 .function = name != NULL ? name : place.symbol,
                                 .file = place.file,
                                 .line = place.line};
    memcpy(&row.code, code, sizeof row.code);
    return add_place(cover, &row);
}

static struct error *look_at(struct cover *cover, const struct callsite_module *module,
                             struct journal_reader *reader)
{
    _cleanup_(recovery_deinit) struct recovery recovery = {0};
    TRY(recovery_find(module->image, &module->sites, &recovery));
    if (recovery.blocks.count == 0)
        return NULL;
    TRY(add_module(cover, module->path));
    for (size_t i = 0; i < recovery.blocks.count; i++)
        TRY(add_block(cover, module, &recovery.blocks.items[i], reader));
    return NULL;
}

struct error *cover_find(struct cover *cover, const struct analysis *analysis,
                         const struct cover_wanted *wanted, struct journal_reader *reader)
{
    for (size_t i = 0; i < analysis->modules.items.count; i++)
        if (is_wanted(wanted, analysis->modules.items.items[i].path))
            TRY(look_at(cover, &analysis->modules.items.items[i], reader));
    return NULL;
}

// ---- measuring ----

static void fill_module(const struct cover *cover, size_t number,
                        struct wire_coverage_module *module)
{
    size_t first = 0, end;
    while (first < cover->places.count && cover->places.items[first].module != number)
        first++;
    for (end = first; end < cover->places.count && cover->places.items[end].module == number;)
        end++;
    module->first = (uint32_t)first;
    module->count = (uint32_t)(end - first);
    strncpy(module->path, cover->modules.items[number], sizeof module->path - 1);
}

struct error *cover_measure(struct cover *cover)
{
    _cleanup_free_ struct wire_coverage_module *modules =
        calloc(cover->modules.count + 1, sizeof *modules);
    _cleanup_free_ struct wire_coverage_block *blocks =
        calloc(cover->places.count + 1, sizeof *blocks);
    if (modules == NULL || blocks == NULL)
        return error_no_memory();
    for (size_t i = 0; i < cover->modules.count; i++)
        fill_module(cover, i, &modules[i]);
    for (size_t i = 0; i < cover->places.count; i++)
        blocks[i] = (struct wire_coverage_block){.address = cover->places.items[i].address,
                                                 .code = cover->places.items[i].code,
                                                 .reached = cover->places.items[i].reached};
    TRY(cover_file_create(modules, cover->modules.count, blocks, cover->places.count,
                          &cover->file));
    cover->measuring = true;
    return NULL;
}

// ---- the store ----

static struct error *save_all(const struct cover *cover, struct store *store, int64_t campaign)
{
    for (size_t i = 0; i < cover->places.count; i++) {
        const struct cover_place *place = &cover->places.items[i];
        uint32_t reached = cover->measuring ? cover_file_reached(&cover->file, i) : place->reached;
        struct store_recovery row = {
            .campaign = campaign,
            .module = cover->modules.items[place->module],
            .address = place->address,
            .code = place->code,
            .function = place->function,
            .file = place->file,
            .line = place->line,
            .reached = reached <= STORE_BY_TRIAL ? reached : STORE_NEVER, // a target wrote it
        };
        TRY(store_add_recovery(store, &row));
    }
    return NULL;
}

struct error *cover_save(const struct cover *cover, struct store *store, int64_t campaign)
{
    TRY(store_begin(store));
    struct error *error = store_delete_coverage(store, campaign, cover->gcov.directory != NULL);
    if (error == NULL)
        error = save_all(cover, store, campaign);
    if (error == NULL)
        error = gcov_save(&cover->gcov, store, campaign);
    if (error == NULL)
        return store_commit(store);
    store_rollback(store);
    return error;
}

static struct error *load_row(void *data, const struct store_recovery *row)
{
    struct cover *cover = data;
    struct store_recovery place = *row;
    _cleanup_free_ char *module = strdup(row->module);
    if (module == NULL)
        return error_no_memory();
    TRY(secrets_restore(&module));
    place.module = module;
    if (cover->modules.count == 0 ||
        strcmp(cover->modules.items[cover->modules.count - 1], module) != 0)
        TRY(add_module(cover, module));
    return add_place(cover, &place);
}

struct error *cover_load(struct cover *cover, struct store *store, int64_t campaign)
{
    return store_each_recovery(store, campaign, load_row, cover);
}

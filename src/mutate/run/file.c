// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the coverage file that tells the runtime what to patch in which program.
#include "mutate/run/programs.h"

#include "base/cleanup.h"

#include <string.h>

typedef ARRAY(struct wire_coverage_module) wire_modules;
typedef ARRAY(struct wire_coverage_block) wire_blocks;

static struct error *add_module(wire_modules *modules, const char *path, size_t first, size_t count)
{
    struct wire_coverage_module *module =
        strlen(path) < sizeof module->path ? ARRAY_ADD(modules) : NULL;
    if (module == NULL)
        return strlen(path) < sizeof module->path ? error_no_memory()
                                                  : error_new("%s: its path is too long", path);
    module->first = (uint32_t)first;
    module->count = (uint32_t)count;
    strcpy(module->path, path);
    return NULL;
}

// The program and links to it share their blocks.
static struct error *add_program(const struct ir_program *program, const struct ir_blocks *list,
                                 wire_modules *modules, wire_blocks *blocks)
{
    size_t first = blocks->count;
    for (size_t i = 0; i < list->items.count; i++) {
        struct wire_coverage_block *block = ARRAY_ADD(blocks);
        if (block == NULL)
            return error_no_memory();
        *block = list->items.items[i].wire;
    }
    TRY(add_module(modules, program->path, first, list->items.count));
    for (size_t i = 0; i < program->others.count; i++)
        TRY(add_module(modules, program->others.items[i], first, list->items.count));
    return NULL;
}

struct error *ir_file_create(const struct ir_part *parts, size_t count, struct cover_file *ret_file)
{
    wire_modules modules = {0};
    wire_blocks blocks = {0};
    struct error *error = NULL;
    for (size_t i = 0; error == NULL && i < count; i++)
        error = add_program(parts[i].program, parts[i].blocks, &modules, &blocks);
    if (error == NULL)
        error =
            cover_file_create(modules.items, modules.count, blocks.items, blocks.count, ret_file);
    ARRAY_DEINIT(&modules);
    ARRAY_DEINIT(&blocks);
    return error;
}

void ir_program_mark_executed(struct ir_program *program, const struct ir_block *block)
{
    if (block->marker == SIZE_MAX)
        return;
    for (size_t i = 0; program->image.plain && i < program->image.candidates.count; i++)
        if (program->image.candidates.items[i].address == block->wire.address)
            program->executed[i] = true;
    if (program->image.plain)
        return;
    const struct image_marker *marker = &program->image.markers.items[block->marker];
    for (size_t i = 0; i < marker->targets; i++)
        program->executed[image_target_candidate(
            &program->image, marker, &program->image.targets.items[marker->first_target + i])] =
            true;
}

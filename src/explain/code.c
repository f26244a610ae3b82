// SPDX-License-Identifier: GPL-3.0-or-later
// Opens the code of modules once, and finds blocks, names and lines in it.
#include "explain/internal.h"

#include "base/cleanup.h"
#include "base/frame-text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_CODE (64u << 20) // bytes of a file that is read: decoding takes time

struct error *explainer_new(struct explainer **ret_explainer)
{
    struct explainer *explainer = calloc(1, sizeof *explainer);
    if (explainer == NULL)
        return error_no_memory();
    struct error *error = dwarf_symbolizer_new(&explainer->symbolizer);
    if (error != NULL) {
        free(explainer);
        return error;
    }
    *ret_explainer = explainer;
    return NULL;
}

static void code_free(struct code *code)
{
    follower_free(code->follower);
    flow_image_close(code->image);
    elf_object_close(code->object);
    dwarf_module_close(code->dwarf);
    free(code->path);
    free(code);
}

void explainer_free(struct explainer *explainer)
{
    if (explainer == NULL)
        return;
    for (size_t i = 0; i < explainer->modules.count; i++)
        code_free(explainer->modules.items[i]);
    ARRAY_DEINIT(&explainer->modules);
    dwarf_symbolizer_free(explainer->symbolizer);
    free(explainer);
}

void explanation_deinit(struct explanation *explanation)
{
    ARRAY_DEINIT(&explanation->items);
    arena_deinit(&explanation->arena);
}

struct store_consequence *explanation_add(struct explanation *explanation,
                                          enum consequence_kind kind)
{
    struct store_consequence *added = ARRAY_ADD(&explanation->items);
    if (added != NULL)
        added->kind = kind;
    return added;
}

// A file that is gone or no program any more is no reason to fail: there is less to say.
static struct error *read_code(struct code *code)
{
    struct stat facts;
    if (stat(code->path, &facts) < 0 || facts.st_size > MOST_CODE)
        return NULL;
    _cleanup_error_ struct error *unread = elf_object_open(code->path, &code->object);
    if (unread != NULL)
        return NULL;
    // Nor is a missing decoder.
    error_free(flow_image_open(code->object, &code->image));
    if (code->image != NULL)
        TRY(follower_new(code->image, &code->follower));
    error_free(dwarf_module_open(code->path, &code->dwarf));
    return NULL;
}

struct error *code_find(struct explainer *explainer, const char *path, struct code **ret_code)
{
    *ret_code = NULL;
    if (path == NULL)
        return NULL;
    for (size_t i = 0; i < explainer->modules.count; i++)
        if (strcmp(explainer->modules.items[i]->path, path) == 0) {
            struct code *code = explainer->modules.items[i];
            *ret_code = code->image != NULL ? code : NULL;
            return NULL;
        }
    struct code **added = ARRAY_ADD(&explainer->modules), *code = calloc(1, sizeof *code);
    if (code != NULL)
        code->path = strdup(path);
    if (added == NULL || code == NULL || code->path == NULL) {
        explainer->modules.count -= added != NULL;
        free(code);
        return error_no_memory();
    }
    *added = code;
    TRY(read_code(code));
    *ret_code = code->image != NULL ? code : NULL;
    return NULL;
}

static uint64_t block_end(const struct flow_image *image, const struct flow_block *block)
{
    const struct isa_insn *last = &image->insns.items[block->first + block->count - 1];
    return flow_address(image, last) + last->length;
}

uint32_t code_block_at(const struct flow_image *image, uint64_t address)
{
    uint32_t number = flow_function_at(image, address);
    if (number == FLOW_NONE)
        return FLOW_NONE;
    const struct flow_function *function = &image->functions.items[number];
    for (uint32_t i = 0; i < function->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + i];
        if (block->count != 0 &&
            flow_address(image, &image->insns.items[block->first]) <= address &&
            address < block_end(image, block))
            return function->first_block + i;
    }
    return FLOW_NONE;
}

uint32_t code_block_of_return(const struct flow_image *image, uint64_t address)
{
    uint32_t number = address != 0 ? code_block_at(image, address - 1) : FLOW_NONE;
    if (number == FLOW_NONE)
        return FLOW_NONE;
    const struct flow_block *block = &image->blocks.items[number];
    return block->end == FLOW_CALLS && block_end(image, block) == address ? number : FLOW_NONE;
}

uint32_t code_library_call(const struct flow_image *image, uint64_t address)
{
    uint32_t call = code_block_of_return(image, address), found = FLOW_NONE;
    uint32_t callee = call != FLOW_NONE ? image->blocks.items[call].callee : FLOW_NONE;
    if (callee == FLOW_NONE || flow_callee_is_import(callee))
        return call;
    // The function that was called has left no frame: its last call was a jump.
    const struct flow_function *function = &image->functions.items[callee];
    for (uint32_t i = 0; i < function->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + i];
        if (block->end != FLOW_TAIL || !flow_callee_is_import(block->callee))
            continue;
        if (found != FLOW_NONE)
            return FLOW_NONE;
        found = function->first_block + i;
    }
    return found;
}

const char *code_callee_name(const struct flow_image *image, uint32_t callee, size_t *ret_size)
{
    if (callee == FLOW_NONE)
        return NULL;
    if (flow_callee_is_import(callee)) {
        const char *name = image->imports.items[flow_callee_import(callee)].name;
        *ret_size = name != NULL ? strlen(name) : 0;
        return name;
    }
    *ret_size = image->functions.items[callee].name_size;
    return image->functions.items[callee].name;
}

struct error *code_copy(struct explanation *explanation, const char *text, size_t size,
                        const char **ret_copy)
{
    if (text == NULL || size == 0)
        return NULL;
    *ret_copy = arena_copy(&explanation->arena, text, size);
    return *ret_copy != NULL ? NULL : error_no_memory();
}

static struct error *copy_text(struct explanation *explanation, const char *text,
                               const char **ret_copy)
{
    return text != NULL ? code_copy(explanation, text, strlen(text), ret_copy) : NULL;
}

struct error *code_set_place(struct explainer *explainer, const char *module, uint64_t address,
                             bool returns, struct explanation *explanation,
                             struct store_consequence *consequence)
{
    struct code *code;
    consequence->offset = address;
    if (module == NULL)
        return NULL;
    uint64_t inside = address - (returns ? 1 : 0);
    struct dwarf_position found = dwarf_symbolizer_find(explainer->symbolizer, module, inside);
    TRY(copy_text(explanation, module, &consequence->module));
    if (found.symbol != NULL) {
        struct frame_part name = frame_part_symbol(found.symbol);
        TRY(code_copy(explanation, name.text, name.size, &consequence->symbol));
    }
    TRY(copy_text(explanation, found.file, &consequence->file));
    consequence->line = found.line;
    consequence->start = found.symbol != NULL ? inside - found.symbol_offset : 0;
    TRY(code_find(explainer, module, &code));
    uint32_t block =
        code != NULL && returns ? code_block_of_return(code->image, address) : FLOW_NONE;
    if (block != FLOW_NONE) { // the call itself, as a disassembler shows it
        const struct flow_block *call = &code->image->blocks.items[block];
        consequence->offset =
            flow_address(code->image, &code->image->insns.items[call->first + call->count - 1]);
    }
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A function's instructions by their places in the source. Before any optimisation the compiler
// gives each instruction the place of the expression it belongs to.
#include "mutate/pass/source.h"

#include "base/cleanup.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- files ----

struct known_file {
    LLVMMetadataRef file;
    char *path;
};
static ARRAY(struct known_file) known;

// The directory of debug information may be a made-up one (-ffile-prefix-map): the name without it,
// from the directory that the compiler runs in.
static char *path_from_here(const char *name, size_t name_size, const char *directory, size_t size)
{
    if (size > 0 && name_size > size && memcmp(name, directory, size) == 0 && name[size] == '/') {
        name += size + 1;
        name_size -= size + 1;
    }
    if (name_size == 0 || *name == '/')
        return NULL;
    char *copy = strndup(name, name_size);
    if (copy == NULL)
        pass_must(error_no_memory());
    char *real = realpath(copy, NULL);
    free(copy);
    return real;
}

static char *path_of(LLVMMetadataRef file)
{
    unsigned name_size = 0, directory_size = 0;
    const char *name = LLVMDIFileGetFilename(file, &name_size);
    const char *directory = LLVMDIFileGetDirectory(file, &directory_size);
    char *joined = NULL;
    int size = name_size > 0 && *name == '/' ? asprintf(&joined, "%.*s", (int)name_size, name)
                                             : asprintf(&joined, "%.*s/%.*s", (int)directory_size,
                                                        directory, (int)name_size, name);
    if (size < 0)
        pass_must(error_no_memory());
    char *real = realpath(joined, NULL);
    if (real == NULL)
        real = path_from_here(name, name_size, directory, directory_size);
    if (real == NULL && name_size > 0) { // a name that a #line directive has made up
        free(joined);
        return strndup(name, name_size);
    }
    free(joined);
    return real;
}

const char *spots_path(LLVMMetadataRef scope)
{
    LLVMMetadataRef file = scope != NULL ? LLVMDIScopeGetFile(scope) : NULL;
    if (file == NULL)
        return "";
    for (size_t i = known.count; i-- > 0;)
        if (known.items[i].file == file)
            return known.items[i].path != NULL ? known.items[i].path : "";
    struct known_file *entry = ARRAY_ADD(&known);
    if (entry == NULL) {
        pass_must(error_no_memory());
        return "";
    }
    *entry = (struct known_file){file, path_of(file)};
    return entry->path != NULL ? entry->path : "";
}

// ---- instructions ----

static void locate(struct spot *spot, const char *file)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(spot->instruction);
    if (location == NULL || LLVMGetInstructionOpcode(spot->instruction) == LLVMAlloca ||
        strcmp(spots_path(LLVMDILocationGetScope(location)), file) != 0)
        return;
    spot->line = LLVMDILocationGetLine(location);
    spot->column = LLVMDILocationGetColumn(location);
}

static int compare(const void *a, const void *b, void *data)
{
    const struct spot *x = (struct spot *)data + *(const uint32_t *)a;
    const struct spot *y = (struct spot *)data + *(const uint32_t *)b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x < y ? -1 : x > y;
}

void spots_read(struct spots *spots, LLVMValueRef function, const char *file)
{
    ARRAY(struct spot) items = {0};
    *spots = (struct spots){.function = function};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block), spots->blocks++) {
        uint32_t position = 0;
        pass_must(map_put(&spots->by_block, (uintptr_t)block, (uint32_t)items.count));
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction)) {
            struct spot *spot = ARRAY_ADD(&items);
            if (spot == NULL) {
                pass_must(error_no_memory());
                return;
            }
            *spot = (struct spot){instruction, spots->blocks, position++, 0, 0};
            locate(spot, file);
            pass_must(
                map_put(&spots->by_instruction, (uintptr_t)instruction, (uint32_t)items.count - 1));
        }
    }
    spots->items = items.items;
    spots->count = items.count;
    spots->sorted = calloc(items.count + 1, sizeof *spots->sorted);
    spots->seen = calloc(spots->blocks + 1, sizeof *spots->seen);
    if (spots->sorted == NULL || spots->seen == NULL)
        pass_must(error_no_memory());
    for (uint32_t i = 0; i < items.count; i++)
        if (items.items[i].line != 0)
            spots->sorted[spots->sorted_count++] = i;
    qsort_r(spots->sorted, spots->sorted_count, sizeof *spots->sorted, compare, spots->items);
}

void spots_deinit(struct spots *spots)
{
    free(spots->items);
    free(spots->sorted);
    free(spots->seen);
    map_deinit(&spots->by_instruction);
    map_deinit(&spots->by_block);
}

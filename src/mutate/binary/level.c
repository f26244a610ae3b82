// SPDX-License-Identifier: GPL-3.0-or-later
// Binaries as a level. Debug information, if there is any, names places in the sources, and nothing
// else.
#include "mutate/binary/level.h"

#include "base/cleanup.h"
#include "dwarf/symbolizer.h"
#include "elf/object.h"
#include "isa/need.h"
#include "mutate/binary/binary.h"
#include "mutate/image.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
    const char *path;
    int original; // what it was without faults; -1: it has none
    struct elf_object *object;
    struct flow_image *image;
    struct binary_faults faults;
};
struct place { // of a candidate
    size_t file, fault;
};
struct own {
    ARRAY(struct file) files;
    ARRAY(struct place) places; // by candidate
    struct dwarf_symbolizer *symbolizer;
};

static void own_free(void *data)
{
    struct own *own = data;
    for (size_t i = 0; i < own->files.count; i++) {
        binary_faults_deinit(&own->files.items[i].faults);
        flow_image_close(own->files.items[i].image);
        elf_object_close(own->files.items[i].object);
        if (own->files.items[i].original >= 0)
            close(own->files.items[i].original);
    }
    dwarf_symbolizer_free(own->symbolizer);
    ARRAY_DEINIT(&own->files);
    ARRAY_DEINIT(&own->places);
    free(own);
}

// A function without a symbol is named by its address.
static const char *name_of(struct mutate_set *set, const struct flow_function *function)
{
    char text[32];
    if (function->name != NULL)
        return arena_copy(&set->arena, function->name, function->name_size);
    int size = snprintf(text, sizeof text, "sub_%" PRIx64, function->start);
    return arena_copy(&set->arena, text, (size_t)size);
}

static struct error *add_fault(struct mutate_set *set, size_t f, size_t number)
{
    struct own *own = set->own;
    const struct file *file = &own->files.items[f];
    const struct binary_fault *fault = &file->faults.items.items[number];
    struct place *place = ARRAY_ADD(&own->places);
    struct mutate_candidate *candidate = ARRAY_ADD(&set->items);
    const char *name = name_of(set, &file->image->functions.items[fault->function]);
    if (place == NULL || candidate == NULL || name == NULL)
        return error_no_memory();
    struct dwarf_position position =
        dwarf_symbolizer_find(own->symbolizer, file->path, fault->address);
    const char *source = position.file != NULL ? position.file : "";
    source = arena_copy(&set->arena, source, strlen(source));
    if (source == NULL)
        return error_no_memory();
    const char *inlined = dwarf_symbolizer_inlined(own->symbolizer, file->path, fault->address);
    inlined = inlined != NULL ? arena_copy(&set->arena, inlined, strlen(inlined)) : "";
    if (inlined == NULL)
        return error_no_memory();
    *place = (struct place){f, number};
    *candidate = (struct mutate_candidate){
        .kind = fault->kind,
        .function = name,
        .file = source,
        .line = *source != '\0' ? position.line : 0,
        .address = fault->address,
        .changed = file->path,
        .detail = fault->detail,
        .parameter = fault->parameter,
        .replacement = fault->replacement,
        .inlined = inlined,
        .inline_asked = dwarf_symbolizer_inline_asked(own->symbolizer, file->path, fault->address),
        .state = fault->patch.size != 0 ? MUTATE_APPLICABLE : MUTATE_NO_ROOM,
    };
    return NULL;
}

static struct error *add_inlined_call(void *context, const char *file, unsigned line, bool asked)
{
    struct mutate_set *set = context;
    struct construct_line *construct = ARRAY_ADD(&set->constructs);
    const char *copy = arena_copy(&set->arena, file, strlen(file));
    if (construct == NULL || copy == NULL)
        return error_no_memory();
    *construct = (struct construct_line){asked ? CONSTRUCT_INLINED : CONSTRUCT_CHOSEN, copy, line};
    return NULL;
}

static struct error *add_file(struct mutate_set *set, const char *path)
{
    char original[32];
    struct own *own = set->own;
    struct file *file = ARRAY_ADD(&own->files);
    if (file == NULL)
        return error_no_memory();
    file->path = path;
    file->original = -1;
    TRY(image_open_original(path, &file->original));
    snprintf(original, sizeof original, "/proc/self/fd/%d", file->original);
    TRY(elf_object_open(file->original >= 0 ? original : path, &file->object));
    const struct elf_facts *facts = elf_object_facts(file->object);
    if (facts->machine != EM_X86_64 || facts->class_bits != 64)
        return error_new("%s is for %s; Ordeal reads code for x86-64", path, facts->machine_name);
    TRY(flow_image_open(file->object, &file->image));
    TRY(binary_find(file->image, &file->faults));
    TRY(elf_object_check(file->object));
    set->functions += file->faults.functions;
    set->understood += file->faults.understood;
    set->optimised += file->faults.optimised;
    for (size_t i = 0; i < file->faults.items.count; i++)
        TRY(add_fault(set, own->files.count - 1, i));
    return NULL;
}

static struct error *find(const struct mutate_request *request, struct mutate_set *set)
{
    struct own *own = set->own = calloc(1, sizeof(struct own));
    if (own == NULL)
        return error_no_memory();
    TRY(isa_need());
    TRY(dwarf_symbolizer_new(&own->symbolizer));
    if (*request->operands == NULL)
        return error_new("which program? 'ordeal mutate --level binary FILE' lists the faults it "
                         "can have");
    for (char *const *path = request->operands; *path != NULL; path++)
        TRY(add_file(set, *path));
    for (char *const *path = request->operands; request->constructs && *path != NULL; path++)
        TRY(dwarf_symbolizer_inlined_calls(own->symbolizer, *path, add_inlined_call, set));
    return NULL;
}

const struct binary_patch *mutate_binary_patch(const struct mutate_set *set, size_t number)
{
    const struct own *own = set->own;
    const struct place *place = &own->places.items[number];
    return &own->files.items[place->file].faults.items.items[place->fault].patch;
}

static struct error *apply(const struct mutate_set *set, size_t number, struct buffer *ret_text)
{
    const struct own *own = set->own;
    const struct file *file = &own->files.items[own->places.items[number].file];
    const struct binary_patch *patch = mutate_binary_patch(set, number);
    _cleanup_(image_close) struct image image = {0};
    TRY(image_open(file->path, &image));
    image_restore(&image);
    unsigned char *code = image_code(&image, patch->address, patch->size);
    if (code == NULL || memcmp(code, patch->before, patch->size) != 0)
        return error_new("%s has changed since it was looked at", file->path);
    memcpy(code, patch->after, patch->size);
    *ret_text = image.bytes;
    image.bytes = (struct buffer){0};
    return NULL;
}

const struct mutate_level mutate_level_binary = {
    .name = "binary",
    .compiled = true,
    .find = find,
    .apply = apply,
    .free = own_free,
};

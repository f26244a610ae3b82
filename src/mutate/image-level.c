// SPDX-License-Identifier: GPL-3.0-or-later
// The map that the compiler pass leaves in a file says which faults are there.
#include "mutate/image-level.h"

#include "base/cleanup.h"
#include "mutate/image.h"

#include <stdlib.h>
#include <string.h>

struct file {
    struct image image;
    size_t first; // its first candidate in the set
};
struct own {
    ARRAY(struct file) files;
    ARRAY(size_t) numbers; // in the map of its file, by candidate
};

static void own_free(void *data)
{
    struct own *own = data;
    for (size_t i = 0; i < own->files.count; i++)
        image_close(&own->files.items[i].image);
    ARRAY_DEINIT(&own->files);
    ARRAY_DEINIT(&own->numbers);
    free(own);
}

// Other types of `ordeal cc` are not of the model.
static bool find_kind(const char *type, enum model_kind *ret_kind)
{
    for (int kind = 0; kind < MODEL_KINDS; kind++)
        if (strcmp(model_types[kind].name, type) == 0) {
            *ret_kind = (enum model_kind)kind;
            return true;
        }
    return false;
}

// What the build has no clone for; what the optimiser saw no need for.
static enum mutate_state state_of(const struct image_candidate *candidate)
{
    if (candidate->copies != 0)
        return MUTATE_APPLICABLE;
    bool chosen = (candidate->flags & MAP_CHOSEN) != 0;
    return chosen || (candidate->flags & MAP_IDLE) != 0 ? MUTATE_EQUIVALENT : MUTATE_NO_ROOM;
}

static struct error *add_candidate(struct mutate_set *set, const struct image *image, size_t number,
                                   enum model_kind kind, const char *path)
{
    struct own *own = set->own;
    const struct image_candidate *from = &image->candidates.items[number];
    struct mutate_candidate *candidate = ARRAY_ADD(&set->items);
    size_t *slot = ARRAY_ADD(&own->numbers);
    if (candidate == NULL || slot == NULL)
        return error_no_memory();
    *slot = number;
    *candidate = (struct mutate_candidate){
        .kind = kind,
        .function = image->functions.items[from->function].name,
        .file = from->file,
        .line = from->line,
        .column = from->column,
        .changed = path,
        .detail = from->detail != NULL ? from->detail : "",
        .replacement = "",
        .inlined = "",
        .macro = (from->flags & MAP_MACRO) != 0,
        .state = state_of(from),
    };
    return NULL;
}

// The candidate of the set with a number of the map, which ascend; SIZE_MAX if there is none.
static size_t find_number(const struct own *own, size_t first, size_t number)
{
    size_t low = first, high = own->numbers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (own->numbers.items[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < own->numbers.count && own->numbers.items[low] == number ? low : SIZE_MAX;
}

// Marks faults whose code the optimiser has merged with that of another one.
static void mark_duplicates(struct mutate_set *set, const struct file *file)
{
    const struct own *own = set->own;
    for (size_t i = file->first; i < set->items.count; i++) {
        struct mutate_candidate *candidate = &set->items.items[i];
        if (candidate->state != MUTATE_APPLICABLE)
            continue;
        size_t same =
            find_number(own, file->first, image_same_code(&file->image, own->numbers.items[i]));
        if (same < i) {
            candidate->state = MUTATE_DUPLICATE;
            candidate->same = same;
        }
    }
}

static struct error *add_file(struct mutate_set *set, const char *path)
{
    struct own *own = set->own;
    struct file *file = ARRAY_ADD(&own->files);
    if (file == NULL)
        return error_no_memory();
    file->first = set->items.count;
    TRY(image_open(path, &file->image));
    const struct image *image = &file->image;
    if (image->functions.count == 0)
        return error_new("%s has no faults inside; build it with 'ordeal cc'", path);
    for (size_t i = 0; i < image->candidates.count; i++) {
        enum model_kind kind;
        if (!image->functions.items[image->candidates.items[i].function].again &&
            find_kind(image->candidates.items[i].type, &kind))
            TRY(add_candidate(set, image, i, kind, path));
    }
    mark_duplicates(set, file);
    return NULL;
}

static struct error *find(const struct mutate_request *request, struct mutate_set *set)
{
    set->own = calloc(1, sizeof(struct own));
    if (set->own == NULL)
        return error_no_memory();
    if (*request->operands == NULL)
        return error_new("which program? 'ordeal mutate --level ir FILE' lists the faults that "
                         "'ordeal cc' has put into it");
    for (char *const *path = request->operands; *path != NULL; path++)
        TRY(add_file(set, *path));
    return NULL;
}

size_t mutate_ir_candidate(const struct mutate_set *set, size_t number)
{
    return ((const struct own *)set->own)->numbers.items[number];
}

static struct error *apply(const struct mutate_set *set, size_t number, struct buffer *ret_text)
{
    _cleanup_(image_close) struct image image = {0};
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    TRY(image_open(set->items.items[number].changed, &image));
    _cleanup_free_ bool *enabled = calloc(image.candidates.count + 1, sizeof *enabled);
    size_t candidate = mutate_ir_candidate(set, number);
    if (enabled == NULL)
        return error_no_memory();
    if (candidate >= image.candidates.count)
        return error_new("%s has changed since it was looked at", image.path);
    enabled[candidate] = true;
    TRY(image_enable(&image, enabled, &patches));
    *ret_text = image.bytes;
    image.bytes = (struct buffer){0};
    return NULL;
}

const struct mutate_level mutate_level_ir = {
    .name = "ir",
    .compiled = true,
    .find = find,
    .apply = apply,
    .free = own_free,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// Makes candidates of an image from the faults that the level finds.
#include "mutate/binary/plain.h"

#include "base/cleanup.h"
#include "mutate/binary/binary.h"
#include "mutate/binary/level.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(BINARY_PATCH == IMAGE_PATCH, "a patch fits");

static const char *copy(struct image *image, const char *text)
{
    return arena_copy(&image->texts, text, strlen(text));
}

static struct error *add_function(struct image *image, const char *name)
{
    size_t count = image->functions.count;
    if (count != 0 && strcmp(image->functions.items[count - 1].name, name) == 0)
        return NULL;
    struct image_function *function = ARRAY_ADD(&image->functions);
    if (function == NULL)
        return error_no_memory();
    *function = (struct image_function){
        .name = copy(image, name), .source = "", .first_candidate = image->candidates.count};
    return function->name != NULL ? NULL : error_no_memory();
}

// What stands in the place of an argument or value is part of what a fault works on.
static const char *detail_of(struct image *image, const struct mutate_candidate *from)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct error *error = buffer_printf(&text, "%s", from->detail);
    if (error == NULL && from->parameter != 0)
        error = buffer_printf(&text, "%sargument %u", text.size != 0 ? ", " : "", from->parameter);
    if (error == NULL && *from->replacement != '\0')
        error = buffer_printf(&text, "%sbecomes %s", text.size != 0 ? " " : "", from->replacement);
    if (error != NULL) {
        error_free(error);
        return NULL;
    }
    return copy(image, text.data);
}

static struct error *add_candidate(struct image *image, const struct mutate_set *set, size_t number)
{
    const struct mutate_candidate *from = &set->items.items[number];
    const struct binary_patch *patch = mutate_binary_patch(set, number);
    TRY(add_function(image, from->function));
    struct image_function *function = &image->functions.items[image->functions.count - 1];
    struct image_candidate *candidate = ARRAY_ADD(&image->candidates);
    struct image_patch *change = ARRAY_ADD(&image->changes.items);
    if (candidate == NULL || change == NULL)
        return error_no_memory();
    bool room = from->state == MUTATE_APPLICABLE;
    *candidate = (struct image_candidate){.function = image->functions.count - 1,
                                          .number = (uint32_t)function->candidates++,
                                          .type = model_types[from->kind].name,
                                          .file = copy(image, from->file),
                                          .detail = detail_of(image, from),
                                          .line = from->line,
                                          .column = from->column,
                                          .flags = room ? MAP_CHOSEN : 0,
                                          .copies = room,
                                          .address = from->address,
                                          .id = copy(image, from->id)};
    *change = (struct image_patch){.address = patch->address, .size = patch->size};
    memcpy(change->before, patch->before, sizeof change->before);
    memcpy(change->after, patch->after, sizeof change->after);
    return candidate->file != NULL && candidate->detail != NULL && candidate->id != NULL
               ? NULL
               : error_no_memory();
}

// Every change that was made is known; otherwise it could not be undone.
static struct error *check_note(const struct image *image)
{
    for (size_t i = 0; i < image->noted.items.count; i++) {
        const struct image_patch *noted = &image->noted.items.items[i];
        bool known = false;
        for (size_t j = 0; j < image->changes.items.count && !known; j++) {
            const struct image_patch *change = &image->changes.items.items[j];
            known = change->address == noted->address && change->size == noted->size &&
                    memcmp(change->before, noted->before, noted->size) == 0 &&
                    memcmp(change->after, noted->after, noted->size) == 0;
        }
        if (!known)
            return error_new("%s was changed at 0x%" PRIx64 " by another version of Ordeal, which "
                             "can undo it",
                             image->path, noted->address);
    }
    return NULL;
}

static struct error *find(struct image *image, struct plain_counts *ret_counts)
{
    _cleanup_(mutate_set_deinit) struct mutate_set set = {0};
    char *operands[] = {image->path, NULL};
    const struct mutate_request request = {.operands = operands};
    TRY(mutate_find(&mutate_level_binary, &request, &set));
    image->plain = true;
    for (size_t i = 0; i < set.items.count; i++)
        TRY(add_candidate(image, &set, i));
    *ret_counts = (struct plain_counts){set.functions, set.understood, set.optimised};
    return check_note(image);
}

struct error *plain_open(const char *path, struct image *ret_image, struct plain_counts *ret_counts)
{
    struct image image = {0};
    TRY(image_open(path, &image));
    struct error *error = image.functions.count == 0 ? find(&image, ret_counts) : NULL;
    if (error != NULL)
        image_close(&image);
    else
        *ret_image = image;
    return error;
}

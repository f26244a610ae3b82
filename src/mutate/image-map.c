// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what the modules of an image say about themselves, and where their markers are.
#include "mutate/image-map.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

// ---- one module ----

struct blob {
    struct image *image;
    struct map_header header;
    size_t start; // in the section, for errors
    struct cursor functions, edges, candidates, strings;
};

static struct error *blob_broken(const struct blob *blob, const char *what)
{
    return image_broken(blob->image, MAP_SECTION, blob->start, what);
}

static struct cursor part(struct cursor *whole, size_t size)
{
    const void *bytes = cursor_bytes(whole, size);
    return (struct cursor){bytes, bytes != NULL ? size : 0, 0, bytes == NULL};
}

static struct error *open_blob(struct image *image, struct cursor *section, struct blob *ret_blob)
{
    struct blob blob = {.image = image, .start = section->at};
    struct cursor header = *section;
    cursor_copy(&header, &blob.header, sizeof blob.header);
    if (header.failed)
        return blob_broken(&blob, "a map is cut off");
    if (blob.header.magic != MAP_MAGIC)
        return blob_broken(&blob, "there is something else than a map");
    if (blob.header.version != MAP_VERSION)
        return error_new("%s was built by another version of Ordeal (map version %u, not %u); "
                         "build it again",
                         image->path, blob.header.version, MAP_VERSION);
    struct cursor whole = part(section, blob.header.size);
    cursor_bytes(&whole, sizeof blob.header);
    blob.functions = part(&whole, blob.header.functions * sizeof(struct map_function));
    blob.edges = part(&whole, blob.header.edges * sizeof(uint64_t));
    blob.candidates = part(&whole, blob.header.candidates * sizeof(struct map_candidate));
    blob.strings = part(&whole, blob.header.strings);
    if (whole.failed || blob.header.strings == 0 ||
        blob.strings.data[blob.header.strings - 1] != '\0')
        return blob_broken(&blob, "a map is cut off");
    *ret_blob = blob;
    return NULL;
}

// NULL if the offset is wrong. The last byte of the strings is NUL.
static const char *text(const struct blob *blob, uint32_t offset)
{
    return offset < blob->strings.size ? (const char *)blob->strings.data + offset : NULL;
}

static struct error *read_candidates(struct blob *blob, size_t function, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct map_candidate row;
        cursor_copy(&blob->candidates, &row, sizeof row);
        const struct image_candidate candidate = {
            .function = function,
            .number = i,
            .type = text(blob, row.type),
            .file = text(blob, row.file),
            .detail = text(blob, row.detail),
            .line = row.line,
            .column = row.column,
            .block = row.block,
            .flags = row.flags,
        };
        if (blob->candidates.failed || candidate.type == NULL || candidate.file == NULL ||
            candidate.detail == NULL)
            return blob_broken(blob, "a candidate that makes no sense");
        struct image_candidate *slot = ARRAY_ADD(&blob->image->candidates);
        if (slot == NULL)
            return error_no_memory();
        *slot = candidate;
    }
    return NULL;
}

static struct error *read_edges(struct blob *blob, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t edge = cursor_u64(&blob->edges);
        if (blob->edges.failed)
            return blob_broken(blob, "a function with too many calls");
        uint64_t *slot = ARRAY_ADD(&blob->image->edges);
        if (slot == NULL)
            return error_no_memory();
        *slot = edge;
    }
    return NULL;
}

static struct error *read_functions(struct blob *blob)
{
    struct image *image = blob->image;
    for (uint32_t i = 0; i < blob->header.functions; i++) {
        struct map_function row;
        cursor_copy(&blob->functions, &row, sizeof row);
        const struct image_function function = {
            .id = row.id,
            .name_key = row.name_key,
            .name = text(blob, row.name),
            .reason = text(blob, row.reason),
            .source = text(blob, blob->header.source),
            .first_candidate = image->candidates.count,
            .candidates = row.candidates,
            .first_edge = image->edges.count,
            .edges = row.edges,
            .flags = row.flags,
            .blocks = row.blocks,
        };
        if (function.name == NULL || function.reason == NULL || function.source == NULL)
            return blob_broken(blob, "a function that makes no sense");
        struct image_function *slot = ARRAY_ADD(&image->functions);
        if (slot == NULL)
            return error_no_memory();
        *slot = function;
        TRY(read_edges(blob, row.edges));
        TRY(read_candidates(blob, image->functions.count - 1, row.candidates));
    }
    return NULL;
}

// ---- all modules ----

static int by_id(const void *a, const void *b)
{
    const struct image_index *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

size_t image_function_by_id(const struct image *image, uint64_t id)
{
    size_t low = 0, high = image->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->by_id[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->functions.count && image->by_id[low].id == id ? image->by_id[low].function
                                                                      : SIZE_MAX;
}

// Inline functions are described by every module that has them; the first description stands for
// all.
static struct error *make_index(struct image *image)
{
    image->by_id = calloc(image->functions.count + 1, sizeof *image->by_id);
    if (image->by_id == NULL)
        return error_no_memory();
    for (size_t i = 0; i < image->functions.count; i++)
        image->by_id[i] = (struct image_index){image->functions.items[i].id, i};
    qsort(image->by_id, image->functions.count, sizeof *image->by_id, by_id);
    for (size_t i = 1; i < image->functions.count; i++)
        if (image->by_id[i].id == image->by_id[i - 1].id)
            image->functions.items[image->by_id[i].function].again = true;
    return NULL;
}

struct error *image_read_map(struct image *image, struct cursor *cursor)
{
    while (cursor->at < cursor->size) {
        struct blob blob = {0};
        TRY(open_blob(image, cursor, &blob));
        if (blob.header.decide > MAP_VARIABLE)
            return blob_broken(&blob, "an unknown way to decide");
        image->decide = blob.header.decide;
        image->modules++;
        TRY(read_functions(&blob));
    }
    return make_index(image);
}

// ---- markers ----

static int by_address(const void *a, const void *b)
{
    const struct image_marker *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static struct error *read_mark(struct image *image, struct cursor *cursor)
{
    size_t at = cursor->at;
    struct mark_header header;
    cursor_copy(cursor, &header, sizeof header);
    size_t function = image_function_by_id(image, header.function);
    if (cursor->failed || header.targets > (cursor->size - cursor->at) / sizeof(struct mark_target))
        return image_broken(image, MARK_SECTION, at, "a marker is cut off");
    if (function == SIZE_MAX)
        return image_broken(image, MARK_SECTION, at, "a marker of an unknown function");
    // A linker that drops code but keeps its records leaves zeros.
    bool live = header.address != 0;
    if (live && image_code(image, header.address, MARK_NOP_SIZE) == NULL)
        return image_broken(image, MARK_SECTION, at, "a marker outside of the code");
    const struct image_marker marker = {header.address, function, header.block,
                                        image->targets.count, header.targets};
    struct image_function *owner = &image->functions.items[function];
    for (uint32_t i = 0; i < header.targets; i++) {
        struct mark_target target;
        cursor_copy(cursor, &target, sizeof target);
        if (target.candidate >= owner->candidates ||
            (live && image_code(image, target.address, 1) == NULL))
            return image_broken(image, MARK_SECTION, at, "a marker that leads nowhere");
        struct mark_target *slot = live ? ARRAY_ADD(&image->targets) : NULL;
        if (live && slot == NULL)
            return error_no_memory();
        if (!live)
            continue;
        *slot = target;
        image->candidates.items[owner->first_candidate + target.candidate].copies++;
    }
    struct image_marker *slot = live ? ARRAY_ADD(&image->markers) : NULL;
    if (live && slot == NULL)
        return error_no_memory();
    if (!live)
        return NULL;
    *slot = marker;
    owner->markers++;
    return NULL;
}

struct error *image_read_marks(struct image *image, struct cursor *cursor)
{
    while (cursor->at < cursor->size)
        TRY(read_mark(image, cursor));
    if (image->markers.count != 0)
        qsort(image->markers.items, image->markers.count, sizeof *image->markers.items, by_address);
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the map and the markers of an image: what candidates its modules have, and where the linker
// put them.
#include "mutate/image-map.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

// ---- one module ----

struct blob {
    struct image *image;
    struct map_header header;
    size_t start; // in the section, for errors
    struct cursor functions, edges, left_out, candidates, strings;
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
    blob.left_out = part(&whole, blob.header.left_out * sizeof(struct map_left_out));
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

// Must be fast: there are tens of thousands of candidates, and all are read to enable a single one.
static struct error *read_candidates(struct blob *blob, size_t function, uint32_t count)
{
    struct cursor rows = part(&blob->candidates, count * sizeof(struct map_candidate));
    struct image_candidate *slot =
        rows.failed ? NULL : ARRAY_ADD_MANY(&blob->image->candidates, count);
    if (rows.failed)
        return blob_broken(blob, "a candidate that makes no sense");
    if (slot == NULL)
        return error_no_memory();
    const char *strings = (const char *)blob->strings.data;
    size_t size = blob->strings.size;
    for (uint32_t i = 0; i < count; i++) {
        struct map_candidate row;
        memcpy(&row, rows.data + i * sizeof row, sizeof row);
        if (row.type >= size || row.file >= size || row.detail >= size)
            return blob_broken(blob, "a candidate that makes no sense");
        slot[i] = (struct image_candidate){
            .function = function,
            .number = i,
            .type = strings + row.type,
            .file = strings + row.file,
            .detail = strings + row.detail,
            .line = row.line,
            .column = row.column,
            .block = row.block,
            .flags = row.flags,
        };
    }
    return NULL;
}

static struct error *read_edges(struct blob *blob, uint32_t count)
{
    struct cursor rows = part(&blob->edges, count * sizeof(uint64_t));
    if (rows.failed)
        return blob_broken(blob, "a function with too many calls");
    uint64_t *slot = ARRAY_ADD_MANY(&blob->image->edges, count);
    if (slot == NULL)
        return error_no_memory();
    memcpy(slot, rows.data, count * sizeof *slot);
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

// `first`: the module's first function.
static struct error *read_left_out(struct blob *blob, size_t first)
{
    struct image *image = blob->image;
    for (uint32_t i = 0; i < blob->header.left_out; i++) {
        struct map_left_out row;
        cursor_copy(&blob->left_out, &row, sizeof row);
        const struct image_left_out left_out = {
            .function = first + row.function,
            .type = text(blob, row.type),
            .file = text(blob, row.file),
            .detail = text(blob, row.detail),
            .line = row.line,
            .column = row.column,
            .reason = row.reason,
        };
        if (blob->left_out.failed || left_out.type == NULL || left_out.file == NULL ||
            left_out.detail == NULL || row.function >= blob->header.functions)
            return blob_broken(blob, "a fault that makes no sense");
        struct image_left_out *slot = ARRAY_ADD(&image->left_out);
        if (slot == NULL)
            return error_no_memory();
        *slot = left_out;
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

// Every module describes its inline functions, so one function may be described several times. The
// first description counts.
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
        size_t first = image->functions.count;
        TRY(read_functions(&blob));
        TRY(read_left_out(&blob, first));
    }
    return make_index(image);
}

// ---- markers ----

static int by_address(const void *a, const void *b)
{
    const struct image_marker *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

// Whether an address is in a code segment. Tries the segment that was found last first, since it is
// most likely the right one again.
static bool is_code(const struct image *image, uint64_t address, size_t size,
                    const struct image_segment **last)
{
    const struct image_segment *segment = *last;
    if (segment != NULL && address - segment->address <= segment->file_size &&
        size <= segment->file_size - (address - segment->address))
        return true;
    for (size_t i = 0; i < image->segments.count; i++) {
        segment = &image->segments.items[i];
        if (segment->code && address - segment->address <= segment->file_size &&
            size <= segment->file_size - (address - segment->address)) {
            *last = segment;
            return true;
        }
    }
    return false;
}

struct marks {
    struct image *image;
    struct cursor *cursor;
    const struct image_segment *last; // that an address was in
    uint64_t id;                      // of the function of the mark before
    size_t function;
    bool sorted; // so far
};

static struct error *read_targets(struct marks *marks, size_t at, struct image_function *owner,
                                  const struct cursor *rows, bool live)
{
    struct image *image = marks->image;
    struct image_candidate *candidates = image->candidates.items + owner->first_candidate;
    size_t count = rows->size / sizeof(struct mark_target);
    struct mark_target *slot = ARRAY_ADD_MANY(&image->targets, live ? count : 0);
    if (slot == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        struct mark_target target;
        memcpy(&target, rows->data + i * sizeof target, sizeof target);
        if (target.candidate >= owner->candidates ||
            (live && !is_code(image, target.address, 1, &marks->last)))
            return image_broken(image, MARK_SECTION, at, "a marker that leads nowhere");
        if (!live)
            continue;
        slot[i] = target;
        candidates[target.candidate].copies++;
    }
    return NULL;
}

static struct error *read_mark(struct marks *marks)
{
    struct image *image = marks->image;
    struct cursor *cursor = marks->cursor;
    size_t at = cursor->at;
    struct mark_header header;
    cursor_copy(cursor, &header, sizeof header);
    if (cursor->failed || header.targets > (cursor->size - cursor->at) / sizeof(struct mark_target))
        return image_broken(image, MARK_SECTION, at, "a marker is cut off");
    if (marks->function == SIZE_MAX || header.function != marks->id)
        marks->function = image_function_by_id(image, header.function);
    marks->id = header.function;
    if (marks->function == SIZE_MAX)
        return image_broken(image, MARK_SECTION, at, "a marker of an unknown function");
    // A linker that drops code and keeps its records leaves zeros in them.
    bool live = header.address != 0;
    if (live && !is_code(image, header.address, MARK_NOP_SIZE, &marks->last))
        return image_broken(image, MARK_SECTION, at, "a marker outside of the code");
    const struct image_marker marker = {header.address, marks->function, header.block,
                                        image->targets.count, header.targets};
    struct image_function *owner = &image->functions.items[marks->function];
    struct cursor rows = part(cursor, header.targets * sizeof(struct mark_target));
    TRY(read_targets(marks, at, owner, &rows, live));
    if (!live)
        return NULL;
    size_t before = image->markers.count;
    marks->sorted &= before == 0 || image->markers.items[before - 1].address <= header.address;
    struct image_marker *slot = ARRAY_ADD(&image->markers);
    if (slot == NULL)
        return error_no_memory();
    *slot = marker;
    owner->markers++;
    return NULL;
}

struct error *image_read_marks(struct image *image, struct cursor *cursor)
{
    struct marks marks = {.image = image, .cursor = cursor, .function = SIZE_MAX, .sorted = true};
    while (cursor->at < cursor->size)
        TRY(read_mark(&marks));
    if (!marks.sorted)
        qsort(image->markers.items, image->markers.count, sizeof *image->markers.items, by_address);
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the map and the markers of an image: what candidates its modules have, and where the linker
// put them.
#include "mutate/image-map.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// ---- one module ----

struct blob {
    struct image *image;
    struct map_header header;
    size_t start; // in the section, for errors
    struct cursor functions, keys, edges, left_out, types, places, strings;
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

static uint64_t plain_size(const struct map_header *header)
{
    return (uint64_t)header->functions * sizeof(struct map_function) +
           (uint64_t)header->keys * sizeof(uint64_t) + (uint64_t)header->edges * sizeof(uint32_t) +
           (uint64_t)header->left_out * sizeof(struct map_left_out) +
           (uint64_t)header->types * sizeof(uint32_t) + (uint64_t)header->places + header->strings;
}

// Puts the unpacked bytes in place of the packed ones; the image owns them.
static struct error *unpack(struct blob *blob, struct cursor *whole)
{
    if (blob->header.packed == 0)
        return NULL;
    struct cursor packed = part(whole, blob->header.packed);
    uLongf size = plain_size(&blob->header), wanted = size;
    if (packed.failed || size / MAP_MOST_PACKED > packed.size)
        return blob_broken(blob, "a map is cut off");
    unsigned char **plain = ARRAY_ADD(&blob->image->maps);
    if (plain == NULL)
        return error_no_memory();
    *plain = malloc(size + 1);
    if (*plain == NULL)
        return error_no_memory();
    if (uncompress(*plain, &size, packed.data, packed.size) != Z_OK || size != wanted)
        return blob_broken(blob, "a map that cannot be unpacked");
    *whole = (struct cursor){*plain, size, 0, false};
    return NULL;
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
    TRY(unpack(&blob, &whole));
    blob.functions = part(&whole, blob.header.functions * sizeof(struct map_function));
    blob.keys = part(&whole, blob.header.keys * sizeof(uint64_t));
    blob.edges = part(&whole, blob.header.edges * sizeof(uint32_t));
    blob.left_out = part(&whole, blob.header.left_out * sizeof(struct map_left_out));
    blob.types = part(&whole, blob.header.types * sizeof(uint32_t));
    blob.places = part(&whole, blob.header.places);
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

// The place that is being read; what is not said is as at the place before.
struct place {
    uint32_t file, block, loop;
    int64_t line;
};

// NULL if there is no such type.
static const char *type_name(const struct blob *blob, uint64_t index)
{
    uint32_t offset;
    if (index >= blob->header.types)
        return NULL;
    memcpy(&offset, blob->types.data + index * sizeof offset, sizeof offset);
    return text(blob, offset);
}

// Reads the candidates of one place into `slot`, which has room for `most`. Returns how many there
// are; 0 if they make no sense. Must be fast: there are tens of thousands of candidates, and all
// are read to enable a single one.
static uint32_t read_place(struct blob *blob, struct place *place, struct image_candidate *slot,
                           uint32_t most)
{
    struct cursor *cursor = &blob->places;
    uint8_t head = cursor_u8(cursor);
    uint32_t count = head & PLACE_COUNT;
    if ((head & PLACE_FILE) != 0)
        place->file = (uint32_t)cursor_uleb128(cursor);
    if ((head & PLACE_BLOCK) != 0)
        place->block += (uint32_t)cursor_uleb128(cursor);
    if ((head & PLACE_LOOP) != 0)
        place->loop = (uint32_t)cursor_uleb128(cursor) & (UINT32_MAX >> MAP_LOOP);
    place->line = (int64_t)((uint64_t)place->line + (uint64_t)place_unfold(cursor_uleb128(cursor)));
    uint64_t column = cursor_uleb128(cursor);
    uint64_t detail = cursor_uleb128(cursor);
    const struct image_candidate shared = {
        .column = (uint32_t)column,
        .file = text(blob, place->file),
        .detail = text(blob, (uint32_t)detail),
        .line = (uint32_t)place->line,
        .block = place->block,
        .flags = ((head & PLACE_MACRO) != 0 ? MAP_MACRO : 0u) | place->loop << MAP_LOOP,
    };
    if (cursor->failed || count > most || shared.file == NULL || shared.detail == NULL)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t row = cursor_uleb128(cursor);
        slot[i] = shared;
        slot[i].type = type_name(blob, row >> PLACE_TYPE);
        slot[i].flags |= ((row & PLACE_CHOSEN) != 0 ? MAP_CHOSEN : 0u) |
                         ((row & PLACE_IDLE) != 0 ? MAP_IDLE : 0u);
        if (cursor->failed || slot[i].type == NULL)
            return 0;
    }
    return count;
}

static struct error *read_candidates(struct blob *blob, size_t function, uint32_t count)
{
    // A candidate has a byte or more.
    bool fits = count <= blob->places.size - blob->places.at;
    struct image_candidate *slot = fits ? ARRAY_ADD_MANY(&blob->image->candidates, count) : NULL;
    if (!fits)
        return blob_broken(blob, "a candidate that makes no sense");
    if (slot == NULL)
        return error_no_memory();
    struct place place = {0};
    for (uint32_t i = 0, more; i < count; i += more) {
        more = read_place(blob, &place, slot + i, count - i);
        if (more == 0) {
            memset(slot + i, 0, (count - i) * sizeof *slot);
            return blob_broken(blob, "a candidate that makes no sense");
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        slot[i].function = function;
        slot[i].number = i;
    }
    return NULL;
}

// Ids of functions of the module that come later are not known yet, so edges are read last.
static struct error *read_edges(struct blob *blob, size_t first)
{
    struct image *image = blob->image;
    uint64_t *slot = ARRAY_ADD_MANY(&image->edges, blob->header.edges);
    if (slot == NULL)
        return error_no_memory();
    for (uint32_t i = 0; i < blob->header.edges; i++) {
        uint32_t edge = cursor_u32(&blob->edges);
        if (edge < blob->header.functions)
            slot[i] = image->functions.items[first + edge].id;
        else if (edge - blob->header.functions < blob->header.keys)
            memcpy(&slot[i], blob->keys.data + (edge - blob->header.functions) * sizeof(uint64_t),
                   sizeof(uint64_t));
        else
            return blob_broken(blob, "a call that leads nowhere");
    }
    return NULL;
}

static struct error *read_functions(struct blob *blob)
{
    struct image *image = blob->image;
    size_t first = image->functions.count, first_edge = image->edges.count;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < blob->header.functions; i++) {
        struct map_function row;
        cursor_copy(&blob->functions, &row, sizeof row);
        const struct image_function function = {
            .id = row.id,
            .name = text(blob, row.name),
            .reason = text(blob, row.reason),
            .source = text(blob, blob->header.source),
            .first_candidate = image->candidates.count,
            .candidates = row.candidates,
            .first_edge = first_edge + edges,
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
        slot->name_key = map_name_key(function.name);
        edges += row.edges;
        TRY(read_candidates(blob, image->functions.count - 1, row.candidates));
    }
    if (edges != blob->header.edges)
        return blob_broken(blob, "a function with too many calls");
    return read_edges(blob, first);
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
    const struct image_segment *last;
    uint64_t id; // of the function that was found last
    size_t function;
    uint64_t section; // the last MARK_BASE; 0: none, or its code was dropped
    uint64_t base;    // what near markers refer to; 0 as well
    bool sorted;      // so far
};

// Finds the function that records are about; mostly it is the one of the record before.
static struct error *find_owner(struct marks *marks, size_t at, uint64_t id)
{
    if (marks->function == SIZE_MAX || id != marks->id)
        marks->function = image_function_by_id(marks->image, id);
    marks->id = id;
    if (marks->function == SIZE_MAX)
        return image_broken(marks->image, MARK_SECTION, at, "a marker of an unknown function");
    return NULL;
}

static uint64_t read_address(struct marks *marks, bool near)
{
    return near ? marks->base + cursor_uleb128(marks->cursor) : cursor_u64(marks->cursor);
}

static struct error *read_targets(struct marks *marks, size_t at, uint64_t count, bool near,
                                  bool live)
{
    struct image *image = marks->image;
    const struct image_function *owner = &image->functions.items[marks->function];
    struct image_candidate *candidates = image->candidates.items + owner->first_candidate;
    struct image_target *slot = ARRAY_ADD_MANY(&image->targets, live ? count : 0);
    if (slot == NULL)
        return error_no_memory();
    uint64_t before = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct image_target target = {.address = read_address(marks, near)};
        target.candidate = before += cursor_uleb128(marks->cursor);
        if (marks->cursor->failed)
            return image_broken(image, MARK_SECTION, at, "a marker is cut off");
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

static struct error *read_mark(struct marks *marks, size_t at, uint64_t targets, bool near)
{
    struct image *image = marks->image;
    struct cursor *cursor = marks->cursor;
    uint64_t address = read_address(marks, near);
    uint64_t id = near ? marks->id : cursor_u64(cursor);
    // Each target has two bytes or more.
    if (cursor->failed || targets == 0 || targets > (cursor->size - cursor->at) / 2)
        return image_broken(image, MARK_SECTION, at, "a marker is cut off");
    TRY(find_owner(marks, at, id));
    // A linker that drops code and keeps its records leaves zeros in them.
    bool live = near ? marks->base != 0 : address != 0;
    if (live && !is_code(image, address, MARK_NOP_SIZE, &marks->last))
        return image_broken(image, MARK_SECTION, at, "a marker outside of the code");
    struct image_marker marker = {address, marks->function, 0, image->targets.count, targets};
    TRY(read_targets(marks, at, targets, near, live));
    if (!live)
        return NULL;
    const struct image_target *first = &image->targets.items[marker.first_target];
    marker.block = image->candidates.items[image_target_candidate(image, &marker, first)].block;
    size_t before = image->markers.count;
    marks->sorted &= before == 0 || image->markers.items[before - 1].address <= address;
    struct image_marker *slot = ARRAY_ADD(&image->markers);
    if (slot == NULL)
        return error_no_memory();
    *slot = marker;
    image->functions.items[marks->function].markers++;
    return NULL;
}

static struct error *read_record(struct marks *marks)
{
    struct cursor *cursor = marks->cursor;
    size_t at = cursor->at;
    uint64_t head = cursor_uleb128(cursor), targets = head / MARK_KINDS;
    if (head % MARK_KINDS == MARK_NEAR && marks->function != SIZE_MAX)
        return read_mark(marks, at, targets, true);
    if (head % MARK_KINDS == MARK_FAR)
        return read_mark(marks, at, targets, false);
    if (head != MARK_BASE && head != MARK_NEXT)
        return image_broken(marks->image, MARK_SECTION, at, "something else than a marker");
    if (head == MARK_BASE)
        marks->base = marks->section = cursor_u64(cursor);
    else {
        uint64_t distance = cursor_uleb128(cursor);
        marks->base = marks->section != 0 ? marks->section + distance : 0;
    }
    uint64_t id = cursor_u64(cursor);
    if (cursor->failed)
        return image_broken(marks->image, MARK_SECTION, at, "a marker is cut off");
    if (head == MARK_BASE && id == 0) {
        marks->function = SIZE_MAX;
        return NULL;
    }
    return find_owner(marks, at, id);
}

struct error *image_read_marks(struct image *image, struct cursor *cursor)
{
    struct marks marks = {.image = image, .cursor = cursor, .function = SIZE_MAX, .sorted = true};
    while (cursor->at < cursor->size)
        TRY(read_record(&marks));
    if (!marks.sorted)
        qsort(image->markers.items, image->markers.count, sizeof *image->markers.items, by_address);
    return NULL;
}

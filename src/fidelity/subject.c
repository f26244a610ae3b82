// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the blocks, lines and candidates of linked files. The section that describes blocks is
// foreign bytes: every number is checked.
#include "fidelity/subject.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "mutate/counts.h"

#include <stdlib.h>
#include <string.h>

void fidelity_subject_deinit(struct fidelity_subject *subject)
{
    for (size_t i = 0; i < subject->images.count; i++)
        image_close(&subject->images.items[i]);
    ARRAY_DEINIT(&subject->images);
    ARRAY_DEINIT(&subject->modules);
    ARRAY_DEINIT(&subject->counter_blocks);
    ARRAY_DEINIT(&subject->blocks);
    ARRAY_DEINIT(&subject->block_lines);
    ARRAY_DEINIT(&subject->candidates);
    ARRAY_DEINIT(&subject->types);
}

// ---- one linked file ----

struct subject_reader {
    struct fidelity_subject *subject;
    const struct image *image;
    size_t *first_block, *block_count; // by function of the image; SIZE_MAX: not described yet
    struct cursor functions, blocks, lines, strings;
    size_t start; // offset of the module's blob in the section, for errors
};

static struct error *broken(const struct subject_reader *reading, const char *what)
{
    return error_new("%s: %s in section " BLOCKS_SECTION " at byte %zu", reading->image->path, what,
                     reading->start);
}

static struct cursor part(struct cursor *whole, size_t count, size_t size)
{
    const void *bytes = cursor_bytes(whole, count * size);
    return (struct cursor){bytes, bytes != NULL ? count * size : 0, 0, bytes == NULL};
}

static struct error *read_line(struct subject_reader *reading)
{
    struct blocks_line row;
    cursor_copy(&reading->lines, &row, sizeof row);
    if (reading->lines.failed || row.file >= reading->strings.size)
        return broken(reading, "a line that makes no sense");
    struct fidelity_line *line = ARRAY_ADD(&reading->subject->block_lines);
    if (line == NULL)
        return error_no_memory();
    line->file = (const char *)reading->strings.data + row.file;
    line->line = row.line;
    return NULL;
}

static struct error *read_block(struct subject_reader *reading, bool again, size_t known)
{
    struct fidelity_subject *subject = reading->subject;
    struct blocks_block row;
    cursor_copy(&reading->blocks, &row, sizeof row);
    if (reading->blocks.failed)
        return broken(reading, "a function with too many blocks");
    size_t *counter = ARRAY_ADD(&subject->counter_blocks);
    if (counter == NULL)
        return error_no_memory();
    *counter = row.instructions == 0 ? SIZE_MAX : again ? known : subject->blocks.count;
    if (again) {
        cursor_bytes(&reading->lines, (size_t)row.lines * sizeof(struct blocks_line));
        return reading->lines.failed ? broken(reading, "a block with too many lines") : NULL;
    }
    struct fidelity_block *block = ARRAY_ADD(&subject->blocks);
    if (block == NULL)
        return error_no_memory();
    *block = (struct fidelity_block){.instructions = row.instructions,
                                     .first_line = subject->block_lines.count,
                                     .lines = row.lines};
    for (uint32_t i = 0; i < row.lines; i++)
        TRY(read_line(reading));
    return NULL;
}

// Every module that uses an inline function describes it, each with its own counters. All of them
// count the same blocks.
static struct error *read_function(struct subject_reader *reading)
{
    struct blocks_function row;
    cursor_copy(&reading->functions, &row, sizeof row);
    size_t function = image_function_by_id(reading->image, row.id);
    if (reading->functions.failed || function == SIZE_MAX)
        return broken(reading, "a function that the map does not know");
    bool again = reading->first_block[function] != SIZE_MAX;
    if (again && reading->block_count[function] != row.blocks)
        return broken(reading, "a function described in two ways");
    if (!again) {
        reading->first_block[function] = reading->subject->blocks.count;
        reading->block_count[function] = row.blocks;
    }
    for (uint32_t i = 0; i < row.blocks; i++)
        TRY(read_block(reading, again, reading->first_block[function] + i));
    return NULL;
}

static struct error *read_module(struct subject_reader *reading, struct cursor *section)
{
    struct blocks_header header;
    struct cursor peek = *section;
    reading->start = section->at;
    cursor_copy(&peek, &header, sizeof header);
    if (peek.failed)
        return broken(reading, "rows are cut off");
    if (header.magic != BLOCKS_MAGIC)
        return broken(reading, "there is something else than rows");
    if (header.version != COUNTS_VERSION)
        return error_new("%s was built by another version of Ordeal (counters of version %u, not "
                         "%u); build it again",
                         reading->image->path, header.version, COUNTS_VERSION);
    struct cursor whole = part(section, header.size, 1);
    cursor_bytes(&whole, sizeof header);
    reading->functions = part(&whole, header.functions, sizeof(struct blocks_function));
    reading->blocks = part(&whole, header.blocks, sizeof(struct blocks_block));
    reading->lines = part(&whole, header.lines, sizeof(struct blocks_line));
    reading->strings = part(&whole, header.strings, 1);
    if (whole.failed || header.strings == 0 || reading->strings.data[header.strings - 1] != '\0')
        return broken(reading, "rows are cut off");
    struct fidelity_module *module = ARRAY_ADD(&reading->subject->modules);
    if (module == NULL)
        return error_no_memory();
    *module =
        (struct fidelity_module){header.key, reading->subject->counter_blocks.count, header.blocks};
    for (uint32_t i = 0; i < header.functions; i++)
        TRY(read_function(reading));
    return reading->blocks.at == reading->blocks.size
               ? NULL
               : broken(reading, "blocks that belong to no function");
}

// ---- candidates ----

static bool is_live(const struct image *image, const struct image_candidate *candidate)
{
    bool chosen = (candidate->flags & MAP_CHOSEN) != 0;
    return candidate->copies != 0 || (chosen && image->decide == MAP_VARIABLE);
}

static struct fidelity_block *block_of(const struct subject_reader *reading, size_t function,
                                       const struct image_candidate *candidate)
{
    return &reading->subject->blocks.items[reading->first_block[function] + candidate->block];
}

// A block with candidates that have clones is present if their marker is. Any other block is
// present if its function is.
static struct error *set_present(struct subject_reader *reading, size_t function)
{
    const struct image *image = reading->image;
    const struct image_function *owner = &image->functions.items[function];
    const struct image_candidate *candidates = image->candidates.items + owner->first_candidate;
    size_t chosen = 0;
    for (size_t i = 0; i < owner->candidates; i++) {
        chosen += (candidates[i].flags & MAP_CHOSEN) != 0;
        if (candidates[i].block >= reading->block_count[function])
            return error_new("%s: a candidate of %s is in a block that the function does not have",
                             image->path, owner->name);
    }
    bool in_file = owner->markers != 0 || chosen == 0 || image->decide == MAP_VARIABLE;
    for (size_t i = 0; i < reading->block_count[function]; i++)
        reading->subject->blocks.items[reading->first_block[function] + i].present = in_file;
    for (size_t i = 0; i < owner->candidates; i++)
        if ((candidates[i].flags & MAP_CHOSEN) != 0)
            block_of(reading, function, &candidates[i])->present = false;
    for (size_t i = 0; i < owner->candidates; i++)
        if (is_live(image, &candidates[i]))
            block_of(reading, function, &candidates[i])->present = true;
    return NULL;
}

// The number of the type is set later, when all types are known.
static struct error *add_candidates(struct subject_reader *reading, size_t function)
{
    const struct image *image = reading->image;
    const struct image_function *owner = &image->functions.items[function];
    struct fidelity_subject *subject = reading->subject;
    TRY(set_present(reading, function));
    for (size_t i = 0; i < owner->candidates; i++) {
        const struct image_candidate *candidate =
            &image->candidates.items[owner->first_candidate + i];
        struct fidelity_block *block = block_of(reading, function, candidate);
        if (!block->present)
            continue;
        struct fidelity_candidate *added = ARRAY_ADD(&subject->candidates);
        const char **type = ARRAY_ADD(&subject->types);
        if (added == NULL || type == NULL)
            return error_no_memory();
        *added = (struct fidelity_candidate){.block = (size_t)(block - subject->blocks.items),
                                             .image = (size_t)(image - subject->images.items),
                                             .number = owner->first_candidate + i,
                                             .live = is_live(image, candidate)};
        *type = candidate->type;
        block->candidates++;
    }
    return NULL;
}

static struct error *read_image(struct fidelity_subject *subject, const struct image *image)
{
    struct cursor section = {0};
    size_t count = image->functions.count;
    TRY(image_section(image, BLOCKS_SECTION, &section));
    if (section.size == 0)
        return error_new("%s has no counters; was it built with 'ordeal cc --counters'?",
                         image->path);
    _cleanup_free_ size_t *first = malloc((count + 1) * sizeof *first);
    _cleanup_free_ size_t *counts = calloc(count + 1, sizeof *counts);
    if (first == NULL || counts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        first[i] = SIZE_MAX;
    struct subject_reader reading = {
        .subject = subject, .image = image, .first_block = first, .block_count = counts};
    while (section.at < section.size)
        TRY(read_module(&reading, &section));
    for (size_t i = 0; i < count; i++)
        if (!image->functions.items[i].again && first[i] != SIZE_MAX)
            TRY(add_candidates(&reading, i));
    return NULL;
}

struct error *fidelity_subject_take(struct fidelity_subject *subject, struct image *image)
{
    struct image *added = ARRAY_ADD(&subject->images);
    if (added == NULL)
        return error_no_memory();
    *added = *image;
    *image = (struct image){0};
    return read_image(subject, added);
}

struct error *fidelity_subject_add(struct fidelity_subject *subject, const char *path)
{
    _cleanup_(image_close) struct image image = {0};
    TRY(image_open(path, &image));
    return fidelity_subject_take(subject, &image);
}

// ---- all linked files ----

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// There is one type per candidate, in the same order.
static struct error *number_types(struct fidelity_subject *subject)
{
    size_t count = subject->types.count, kept = 0;
    if (count == 0)
        return NULL;
    _cleanup_free_ const char **all = malloc(count * sizeof *all);
    if (all == NULL)
        return error_no_memory();
    memcpy(all, subject->types.items, count * sizeof *all);
    qsort(subject->types.items, count, sizeof *subject->types.items, by_text);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(subject->types.items[kept - 1], subject->types.items[i]) != 0)
            subject->types.items[kept++] = subject->types.items[i];
    subject->types.count = kept;
    for (size_t i = 0; i < count; i++) {
        const char **found = bsearch(&all[i], subject->types.items, kept, sizeof *found, by_text);
        subject->candidates.items[i].type = (size_t)(found - subject->types.items);
    }
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct fidelity_line *x = *(struct fidelity_line *const *)a,
                               *y = *(struct fidelity_line *const *)b;
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static struct error *number_lines(struct fidelity_subject *subject)
{
    size_t count = subject->block_lines.count;
    _cleanup_free_ struct fidelity_line **order = calloc(count + 1, sizeof *order);
    if (order == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        order[i] = &subject->block_lines.items[i];
    if (count != 0)
        qsort(order, count, sizeof *order, by_place);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_place(&order[i - 1], &order[i]) != 0)
            subject->lines++;
        order[i]->number = subject->lines - 1;
    }
    return NULL;
}

static int by_block(const void *a, const void *b)
{
    const struct fidelity_candidate *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

struct error *fidelity_subject_finish(struct fidelity_subject *subject)
{
    TRY(number_types(subject));
    TRY(number_lines(subject));
    if (subject->candidates.count != 0)
        qsort(subject->candidates.items, subject->candidates.count,
              sizeof *subject->candidates.items, by_block);
    for (size_t i = 0; i < subject->candidates.count; i++) {
        struct fidelity_block *block = &subject->blocks.items[subject->candidates.items[i].block];
        if (i == 0 || subject->candidates.items[i - 1].block != subject->candidates.items[i].block)
            block->first_candidate = i;
    }
    return NULL;
}

size_t fidelity_module_by_key(const struct fidelity_subject *subject, uint64_t key)
{
    for (size_t i = 0; i < subject->modules.count; i++)
        if (subject->modules.items[i].key == key)
            return i;
    return SIZE_MAX;
}

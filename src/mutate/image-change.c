// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of plain files are changes of their machine code. A file in which some are enabled ends
// with a note, which keeps the code that was there: so its faults are still found, and can be
// disabled again. Loaders, debuggers and linkers do not read behind the last section.
#include "mutate/image.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct note_row {
    uint64_t address, size;
    unsigned char before[IMAGE_PATCH], after[IMAGE_PATCH];
};
struct note_end { // behind the rows: the last bytes of the file
    uint64_t count;
    char magic[24];
};
static const char note_magic[24] = "ordeal faults enabled 1";

// ---- the note ----

static struct error *take_row(struct image *image, struct cursor *cursor)
{
    struct note_row row;
    cursor_copy(cursor, &row, sizeof row);
    struct image_patch *patch = ARRAY_ADD(&image->noted.items);
    if (patch == NULL)
        return error_no_memory();
    *patch = (struct image_patch){.address = row.address, .size = row.size};
    memcpy(patch->before, row.before, sizeof row.before);
    memcpy(patch->after, row.after, sizeof row.after);
    const unsigned char *code =
        row.size <= IMAGE_PATCH ? image_code(image, row.address, row.size) : NULL;
    if (code == NULL || memcmp(code, row.after, row.size) != 0)
        return error_new("%s was changed at 0x%" PRIx64 " after a fault was enabled there",
                         image->path, row.address);
    return NULL;
}

struct error *image_take_note(struct image *image)
{
    struct note_end end;
    size_t size = image->bytes.size;
    if (size < sizeof end)
        return NULL;
    memcpy(&end, image->bytes.data + size - sizeof end, sizeof end);
    if (memcmp(end.magic, note_magic, sizeof end.magic) != 0)
        return NULL;
    size -= sizeof end;
    if (end.count > size / sizeof(struct note_row))
        return error_new("%s: the note on its faults is cut off", image->path);
    size -= end.count * sizeof(struct note_row);
    struct cursor cursor = {(unsigned char *)image->bytes.data, image->bytes.size, size, false};
    image->bytes.size = size;
    for (size_t i = 0; i < image->segments.count; i++) {
        const struct image_segment *segment = &image->segments.items[i];
        if (segment->offset > size || segment->file_size > size - segment->offset)
            return error_new("%s: the note on its faults is within a segment", image->path);
    }
    for (uint64_t i = 0; i < end.count; i++)
        TRY(take_row(image, &cursor));
    return NULL;
}

struct error *image_put_note(const struct image *image, const bool *enabled, struct buffer *bytes)
{
    struct note_end end = {0};
    memcpy(end.magic, note_magic, sizeof end.magic);
    for (size_t i = 0; i < image->changes.items.count; i++) {
        const struct image_patch *change = &image->changes.items.items[i];
        if (!enabled[i] || image_same_code(image, i) != i)
            continue;
        struct note_row row = {.address = change->address, .size = change->size};
        memcpy(row.before, change->before, sizeof row.before);
        memcpy(row.after, change->after, sizeof row.after);
        TRY(buffer_append(bytes, &row, sizeof row));
        end.count++;
    }
    return end.count != 0 ? buffer_append(bytes, &end, sizeof end) : NULL;
}

void image_restore(struct image *image)
{
    for (size_t i = 0; i < image->noted.items.count; i++) {
        const struct image_patch *patch = &image->noted.items.items[i];
        memcpy(image_code(image, patch->address, patch->size), patch->before, patch->size);
    }
}

static struct error *has_note(const char *path, bool *ret_noted)
{
    struct note_end end;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return error_from_errno(errno, "cannot open %s", path);
    off_t size = lseek(file, 0, SEEK_END);
    *ret_noted = size >= (off_t)sizeof end &&
                 pread(file, &end, sizeof end, size - (off_t)sizeof end) == (ssize_t)sizeof end &&
                 memcmp(end.magic, note_magic, sizeof end.magic) == 0;
    return NULL;
}

struct error *image_open_original(const char *path, int *ret_file)
{
    _cleanup_(image_close) struct image image = {0};
    bool noted = false;
    TRY(has_note(path, &noted));
    if (!noted) {
        *ret_file = -1;
        return NULL;
    }
    TRY(image_open(path, &image));
    image_restore(&image);
    _cleanup_close_ int file = memfd_create("original", MFD_CLOEXEC);
    if (file < 0)
        return error_from_errno(errno, "cannot make a file in memory");
    TRY(file_write(file, path, &image.bytes));
    *ret_file = file;
    file = -1;
    return NULL;
}

// ---- which are enabled ----

static const struct image_patch *change_of(const struct image *image, size_t candidate)
{
    return &image->changes.items.items[candidate];
}

bool image_is_same_change(const struct image *image, size_t one, size_t other)
{
    const struct image_patch *a = change_of(image, one), *b = change_of(image, other);
    return a->size != 0 && a->size == b->size && a->address == b->address &&
           memcmp(a->after, b->after, a->size) == 0;
}

static bool is_within(const struct image_patch *part, const struct image_patch *whole)
{
    return part->size < whole->size && part->address >= whole->address &&
           part->address - whole->address <= whole->size - part->size;
}

static bool meet(const struct image_patch *a, const struct image_patch *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

// Without the bytes at both ends that stay as they are.
static struct image_patch trim(const struct image_patch *change)
{
    size_t first = 0, last = change->size;
    while (first < last && change->before[first] == change->after[first])
        first++;
    while (last > first && change->before[last - 1] == change->after[last - 1])
        last--;
    return (struct image_patch){.address = change->address + first, .size = last - first};
}

static bool is_part(const struct image *image, size_t part, size_t whole)
{
    const struct image_patch small = trim(change_of(image, part)),
                             large = trim(change_of(image, whole));
    return is_within(&small, &large);
}

// A change that is a part of another one, which was made, was not made itself.
void image_find_changed(const struct image *image, bool *enabled)
{
    for (size_t i = 0; i < image->changes.items.count; i++) {
        const struct image_patch *change = change_of(image, i);
        const unsigned char *code =
            change->size != 0 ? image_code(image, change->address, change->size) : NULL;
        enabled[i] = code != NULL && memcmp(code, change->after, change->size) == 0;
    }
    for (size_t i = 0; i < image->changes.items.count; i++)
        for (size_t j = 0; enabled[i] && j < image->changes.items.count; j++)
            if (enabled[j] && is_part(image, i, j))
                enabled[i] = false;
}

// ---- changing ----

// Whether a candidate that is wanted makes the same change.
static bool stays(const struct image *image, const bool *wanted, size_t candidate)
{
    for (size_t i = 0; i < image->changes.items.count; i++)
        if (wanted[i] && image_is_same_change(image, i, candidate))
            return true;
    return false;
}

static struct error *check_conflicts(const struct image *image, const bool *enabled, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (enabled[i] && meet(change_of(image, i), change_of(image, number)) &&
            !image_is_same_change(image, i, number))
            return error_new("faults %zu and %zu change the same instructions; only one of them "
                             "can be enabled at a time",
                             i + 1, number + 1);
    return NULL;
}

static struct error *put(struct image *image, const struct image_patch *change, bool on,
                         struct image_patches *patches)
{
    unsigned char *code = image_code(image, change->address, change->size);
    const unsigned char *wanted = on ? change->after : change->before,
                        *expected = on ? change->before : change->after;
    if (code == NULL ||
        (memcmp(code, expected, change->size) != 0 && memcmp(code, wanted, change->size) != 0))
        return error_new("the code of %s at 0x%" PRIx64 " was changed by something else",
                         image->path, change->address);
    return image_write_code(change->address, code, wanted, change->size, patches);
}

struct error *image_change(struct image *image, const bool *enabled, struct image_patches *patches)
{
    size_t count = image->changes.items.count;
    _cleanup_free_ bool *now = NULL;
    TRY(image_enabled(image, &now));
    for (size_t i = 0; i < count; i++)
        if (enabled[i])
            TRY(check_conflicts(image, enabled, i));
    for (size_t i = 0; i < count; i++)
        if (now[i] && !stays(image, enabled, i))
            TRY(put(image, change_of(image, i), false, patches));
    for (size_t i = 0; i < count; i++)
        if (enabled[i])
            TRY(put(image, change_of(image, i), true, patches));
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the unwind tables. PT_GNU_EH_FRAME leads to a sorted table of (code address, entry
// address), which is there even in files without section headers.
#include "elf/frames.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "elf/internal.h"
#include "elf/tables.h"

#include <dwarf.h>
#include <string.h>

#define ENCODING_SDATA4_PCREL   (DW_EH_PE_sdata4 | DW_EH_PE_pcrel)
#define ENCODING_SDATA4_DATAREL (DW_EH_PE_sdata4 | DW_EH_PE_datarel)

struct place { // a cursor that knows the address of its bytes
    struct cursor cursor;
    uint64_t address; // of the cursor's first byte
};

static bool place_at(const struct elf_object *object, uint64_t address, struct place *ret_place)
{
    size_t size;
    const unsigned char *bytes = elf_object_bytes(object, address, &size);
    if (bytes == NULL)
        return false;
    *ret_place = (struct place){.cursor = {.data = bytes, .size = size}, .address = address};
    return true;
}

static uint8_t read_byte(struct cursor *cursor)
{
    uint8_t value;
    cursor_copy(cursor, &value, sizeof value);
    return value;
}

static uint64_t read_leb(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = read_byte(cursor);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0 || cursor->failed)
            return value;
    }
}

// Reads a pointer in the encodings that compilers for this machine use. False for others.
static bool read_pointer(struct place *place, uint8_t encoding, uint64_t *ret_value)
{
    uint64_t here = place->address + place->cursor.at, value;
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        value = cursor_u64(&place->cursor);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int64_t)(int32_t)cursor_u32(&place->cursor);
        break;
    case DW_EH_PE_udata4:
        value = cursor_u32(&place->cursor);
        break;
    default:
        return false;
    }
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        value += here;
    else if ((encoding & 0x70) != DW_EH_PE_absptr)
        return false;
    *ret_value = value;
    return !place->cursor.failed;
}

struct common { // information of a CIE
    uint64_t address;
    uint8_t pointer_encoding;
    bool augmented; // entries have augmentation data
};

static bool read_augmentation(struct place *place, const char *letters, struct common *common)
{
    read_leb(&place->cursor); // size
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        uint64_t ignored;
        switch (*letter) {
        case 'R':
            common->pointer_encoding = read_byte(&place->cursor);
            break;
        case 'L':
            read_byte(&place->cursor);
            break;
        case 'P':
            if (!read_pointer(place, read_byte(&place->cursor) & 0x7f, &ignored))
                return false;
            break;
        case 'S':
        case 'B':
            break;
        default:
            return false;
        }
    }
    return !place->cursor.failed;
}

static bool read_common(const struct elf_object *object, uint64_t address,
                        struct common *ret_common)
{
    struct place place;
    if (!place_at(object, address, &place))
        return false;
    *ret_common = (struct common){.address = address, .pointer_encoding = DW_EH_PE_absptr};
    uint32_t length = cursor_u32(&place.cursor), id = cursor_u32(&place.cursor);
    uint8_t version = read_byte(&place.cursor);
    const char *letters = (const char *)place.cursor.data + place.cursor.at;
    size_t left = place.cursor.size - place.cursor.at;
    if (place.cursor.failed || length == 0 || length == UINT32_MAX || id != 0 ||
        (version != 1 && version != 3) || memchr(letters, '\0', left) == NULL)
        return false;
    cursor_bytes(&place.cursor, strlen(letters) + 1);
    read_leb(&place.cursor); // code alignment
    read_leb(&place.cursor); // data alignment
    if (version == 1)
        read_byte(&place.cursor);
    else
        read_leb(&place.cursor);
    ret_common->augmented = letters[0] == 'z';
    return !ret_common->augmented || read_augmentation(&place, letters, ret_common);
}

// Whether the entry changes the frame before the code advances. Then the code begins inside a frame
// that was set up elsewhere.
static bool starts_inside(struct cursor *cursor, size_t end)
{
    while (cursor->at < end && !cursor->failed) {
        uint8_t opcode = read_byte(cursor);
        if (opcode == DW_CFA_nop)
            continue;
        return opcode == DW_CFA_def_cfa_offset || opcode == DW_CFA_def_cfa ||
               opcode == DW_CFA_def_cfa_register || opcode == DW_CFA_remember_state ||
               opcode == DW_CFA_def_cfa_expression || (opcode & 0xc0) == DW_CFA_offset;
    }
    return false;
}

struct walk {
    const struct elf_object *object;
    struct common common; // of the last entry; neighbours usually share it
};

static bool read_entry(struct walk *walk, uint64_t address, struct elf_frame *ret_frame)
{
    struct place place;
    if (!place_at(walk->object, address, &place))
        return false;
    uint32_t length = cursor_u32(&place.cursor);
    uint64_t pointer_at = address + 4;
    uint32_t back = cursor_u32(&place.cursor);
    if (place.cursor.failed || length < 4 || length == UINT32_MAX || back == 0 ||
        back > pointer_at || length > place.cursor.size - 4)
        return false;
    if (walk->common.address != pointer_at - back &&
        !read_common(walk->object, pointer_at - back, &walk->common)) {
        walk->common.address = 0;
        return false;
    }
    uint64_t start, size;
    if (!read_pointer(&place, walk->common.pointer_encoding, &start) ||
        !read_pointer(&place, walk->common.pointer_encoding & 0x0f, &size) || size == 0 ||
        start + size < start)
        return false;
    if (walk->common.augmented)
        cursor_bytes(&place.cursor, read_leb(&place.cursor));
    *ret_frame = (struct elf_frame){.start = start, .end = start + size};
    ret_frame->part = starts_inside(&place.cursor, (size_t)length + 4);
    return true;
}

static const GElf_Phdr *find_header(const struct elf_object *object)
{
    for (size_t i = 0; i < object->segments.count; i++)
        if (object->segments.items[i].p_type == PT_GNU_EH_FRAME)
            return &object->segments.items[i];
    return NULL;
}

struct error *elf_each_frame(const struct elf_object *object,
                             struct error *(*found)(void *data, const struct elf_frame *),
                             void *data)
{
    const GElf_Phdr *segment = find_header(object);
    struct place place;
    if (segment == NULL || !place_at(object, segment->p_vaddr, &place))
        return NULL;
    uint8_t version = read_byte(&place.cursor), pointer = read_byte(&place.cursor),
            number = read_byte(&place.cursor), entries = read_byte(&place.cursor);
    uint64_t ignored, count;
    if (version != 1 || entries != ENCODING_SDATA4_DATAREL ||
        !read_pointer(&place, pointer, &ignored) || !read_pointer(&place, number, &count))
        return NULL;
    struct walk walk = {.object = object};
    for (uint64_t i = 0; i < count; i++) {
        cursor_u32(&place.cursor); // the code's address, which the entry repeats
        int32_t entry = (int32_t)cursor_u32(&place.cursor);
        if (place.cursor.failed)
            break;
        struct elf_frame frame;
        if (read_entry(&walk, segment->p_vaddr + (uint64_t)(int64_t)entry, &frame))
            TRY(found(data, &frame));
    }
    return NULL;
}

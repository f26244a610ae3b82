// SPDX-License-Identifier: GPL-3.0-or-later
// Checks that the code is what the map says: markers and entries are whole instructions that do
// nothing or lead where they may, no two are at the same place, and every clone begins at an
// instruction.
#include "mutate/image.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "elf/frames.h"
#include "isa/insn.h"
#include "isa/need.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct check {
    const struct image *image;
    struct verify_report *report;
    struct isa_decoder decoder;
    // One flag per byte of each code segment: an instruction begins there; the byte is in a frame.
    unsigned char **flags;
};
enum { BEGINS = 1, DECODED = 2 };

static struct error *complain(struct verify_report *report, const char *what, uint64_t address,
                              const char *name)
{
    report->problem_count++;
    return buffer_printf(&report->problems, "%s at 0x%" PRIx64 " of %s\n", what, address, name);
}

// ---- disassembly ----

static unsigned char *flag_at(const struct check *check, uint64_t address)
{
    for (size_t i = 0; i < check->image->segments.count; i++) {
        const struct image_segment *segment = &check->image->segments.items[i];
        if (segment->code && address >= segment->address &&
            address - segment->address < segment->file_size)
            return check->flags[i] + (address - segment->address);
    }
    return NULL;
}

static struct error *decode_frame(void *data, const struct elf_frame *frame)
{
    struct check *check = data;
    for (uint64_t at = frame->start; at < frame->end;) {
        size_t size = frame->end - at < 16 ? (size_t)(frame->end - at) : 16;
        const unsigned char *code = image_code(check->image, at, size);
        struct isa_insn insn;
        if (code == NULL || !isa_decode(&check->decoder, code, size, at, &insn) || insn.length == 0)
            return NULL; // data between code: what follows is not decoded
        *flag_at(check, at) |= BEGINS;
        for (unsigned i = 0; i < insn.length; i++) {
            unsigned char *flag = flag_at(check, at + i);
            if (flag != NULL)
                *flag |= DECODED;
        }
        at += insn.length;
    }
    return NULL;
}

static struct error *decode(struct check *check)
{
    struct elf_object *object = NULL;
    TRY(elf_object_open_bare(check->image->path, &object));
    struct error *error = elf_each_frame(object, decode_frame, check);
    elf_object_close(object);
    return error;
}

static struct error *check_begins(struct check *check, uint64_t address, const char *name)
{
    const unsigned char *flag = flag_at(check, address);
    if (flag == NULL || (*flag & DECODED) == 0) {
        check->report->unreachable++;
        return NULL;
    }
    if ((*flag & BEGINS) == 0)
        return complain(check->report, "no instruction begins", address, name);
    return NULL;
}

// ---- what must hold ----

static uint64_t leads_to(const unsigned char *code, uint64_t address)
{
    int32_t distance;
    memcpy(&distance, code + 1, sizeof distance);
    return address + MARK_NOP_SIZE + (uint64_t)(int64_t)distance;
}

static struct error *check_marker(struct check *check, const struct image_marker *marker)
{
    const struct image *image = check->image;
    const char *name = image->functions.items[marker->function].name;
    const unsigned char *code = image_code(image, marker->address, MARK_NOP_SIZE);
    bool fits = memcmp(code, mark_nop, MARK_NOP_SIZE) == 0;
    for (size_t i = 0; i < marker->targets; i++) {
        const struct image_target *target = &image->targets.items[marker->first_target + i];
        fits |= code[0] == 0xe9 && leads_to(code, marker->address) == target->address;
        TRY(check_begins(check, target->address, name));
        check->report->targets++;
        for (size_t j = 0; j < i; j++)
            if (image->targets.items[marker->first_target + j].candidate == target->candidate)
                TRY(complain(check->report, "a fault twice in the marker", marker->address, name));
    }
    if (!fits)
        TRY(complain(check->report, "there is no marker", marker->address, name));
    check->report->markers++;
    return check_begins(check, marker->address, name);
}

// Over an instruction of one byte, a short jump would change the next one as well.
static bool is_long_enough(struct check *check, const struct image_entry *entry)
{
    unsigned char code[16] = {0};
    struct isa_insn insn;
    memcpy(code, entry->idle + MARK_NOP_SIZE - 2, 2);
    for (size_t i = 2; i < sizeof code; i++) {
        const unsigned char *next = image_code(check->image, entry->begin + i, 1);
        code[i] = next != NULL ? *next : 0;
    }
    return isa_decode(&check->decoder, code, sizeof code, entry->begin, &insn) && insn.length >= 2;
}

static struct error *check_entry(struct check *check, const struct image_entry *entry)
{
    const char *name = check->image->functions.items[entry->function].name;
    const unsigned char *code = image_code(check->image, entry->address, MARK_NOP_SIZE);
    if (memcmp(code, entry->idle, MARK_NOP_SIZE) != 0 &&
        memcmp(code, entry->leads, MARK_NOP_SIZE) != 0)
        TRY(complain(check->report, "there is no entry", entry->begin, name));
    if (entry->first != 0 && !is_long_enough(check, entry))
        TRY(complain(check->report, "there is no room for a jump", entry->begin, name));
    check->report->entries++;
    TRY(check_begins(check, entry->twin, name));
    return check_begins(check, entry->begin, name);
}

// ---- entries that are gone ----

// Notes the names of all functions that the symbol table has, by their hashes. A stripped file has
// none.
static struct error *read_names(const struct image *image, struct map *names)
{
    struct cursor symbols = {0}, strings = {0};
    TRY(image_section(image, ".symtab", &symbols));
    TRY(image_section(image, ".strtab", &strings));
    if (strings.size == 0 || strings.data[strings.size - 1] != '\0')
        return NULL;
    while (symbols.size - symbols.at >= sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        cursor_copy(&symbols, &symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_name < strings.size)
            TRY(map_put(names, hash_text((const char *)strings.data + symbol.st_name), 1));
    }
    return NULL;
}

// A function that can be entered from outside must have an entry, or its faults can be enabled and
// never act. If the linker dropped the function itself, it needs none: only its twin is left, which
// other twins call. A file without any entry has lost them all.
static struct error *check_lost(struct check *check)
{
    const struct image *image = check->image;
    _cleanup_(map_deinit) struct map names = {0};
    _cleanup_free_ bool *entered = calloc(image->functions.count + 1, sizeof *entered);
    if (entered == NULL)
        return error_no_memory();
    TRY(read_names(image, &names));
    for (size_t i = 0; i < image->entries.count; i++)
        entered[image->entries.items[i].function] = true;
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct image_function *function = &image->functions.items[i];
        if ((function->flags & MAP_ENTRY) == 0 || function->again || function->markers == 0 ||
            entered[i] ||
            (image->entries.count != 0 && map_find(&names, hash_text(function->name)) == MAP_NONE))
            continue;
        check->report->problem_count++;
        TRY(buffer_printf(&check->report->problems,
                          "no entry leads to the faults of %s: the linker dropped it\n",
                          function->name));
    }
    return NULL;
}

static struct error *check_all(struct check *check)
{
    const struct image *image = check->image;
    for (size_t i = 0; i < image->markers.count; i++) {
        const struct image_marker *marker = &image->markers.items[i];
        if (i > 0 && marker[-1].address + MARK_NOP_SIZE > marker->address)
            TRY(complain(check->report, "two markers meet", marker->address,
                         image->functions.items[marker->function].name));
        TRY(check_marker(check, marker));
    }
    for (size_t i = 0; i < image->entries.count; i++)
        TRY(check_entry(check, &image->entries.items[i]));
    if (image->decide == MAP_WORLDS)
        TRY(check_lost(check));
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        if (image->functions.items[candidate->function].again)
            continue;
        bool chosen = (candidate->flags & MAP_CHOSEN) != 0;
        bool idle = !chosen && (candidate->flags & MAP_IDLE) != 0;
        check->report->idle += idle;
        check->report->unchosen += !chosen && !idle;
        check->report->eliminated +=
            chosen && candidate->copies == 0 && image->decide != MAP_VARIABLE;
    }
    return NULL;
}

static struct error *run(struct check *check)
{
    for (size_t i = 0; i < check->image->segments.count; i++) {
        if (!check->image->segments.items[i].code)
            continue;
        check->flags[i] = calloc(check->image->segments.items[i].file_size + 1, 1);
        if (check->flags[i] == NULL)
            return error_no_memory();
    }
    TRY(isa_need());
    isa_decoder_init(&check->decoder);
    TRY(decode(check));
    return check_all(check);
}

struct error *image_verify(const struct image *image, struct verify_report *ret_report)
{
    struct verify_report report = {0};
    struct check check = {.image = image, .report = &report};
    check.flags = calloc(image->segments.count + 1, sizeof *check.flags);
    struct error *error = check.flags != NULL ? run(&check) : error_no_memory();
    for (size_t i = 0; check.flags != NULL && i < image->segments.count; i++)
        free(check.flags[i]);
    free(check.flags);
    if (error != NULL)
        verify_report_deinit(&report);
    else
        *ret_report = report;
    return error;
}

void verify_report_deinit(struct verify_report *report)
{
    buffer_deinit(&report->problems);
}

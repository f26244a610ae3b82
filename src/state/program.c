// SPDX-License-Identifier: GPL-3.0-or-later
// Opens programs and finds names in them.
#include "state/program.h"

#include "base/cleanup.h"
#include "dwarf/lines.h"
#include "isa/operands.h"
#include "wire/region.h"

#include <ctype.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_HEADERS   1000      // that the tracer reads
#define PROGRAM_ITSELF "program" // as a symbol: link-time address 0
#define LIBRARY_ITSELF "library" // the same, if the stop address is in a library

void state_program_close(struct state_program *program)
{
    flow_image_close(program->image);
    dwarf_module_close(program->module);
    free(program->path);
    *program = (struct state_program){0};
}

// As a process has its program headers in memory.
static struct error *find_headers(struct state_program *program)
{
    Elf *elf = elf_object_handle(dwarf_module_object(program->module));
    const Elf64_Ehdr *header = elf64_getehdr(elf);
    const Elf64_Phdr *segments = elf64_getphdr(elf);
    size_t count;
    if (header == NULL || segments == NULL || elf_getphdrnum(elf, &count) != 0 ||
        count > MOST_HEADERS)
        return error_new("%s is no program for 64-bit x86", program->path);
    program->header_bytes = (uint32_t)(count * sizeof *segments);
    program->fingerprint = wire_fingerprint(segments, program->header_bytes);
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD &&
            segments[i].p_vaddr + segments[i].p_memsz > program->end)
            program->end = segments[i].p_vaddr + segments[i].p_memsz;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset <= header->e_phoff &&
            header->e_phoff - segments[i].p_offset < segments[i].p_filesz) {
            program->headers = segments[i].p_vaddr + (header->e_phoff - segments[i].p_offset);
            return NULL;
        }
    return error_new("%s: its program headers are not loaded", program->path);
}

static struct error *open_parts(struct state_program *program)
{
    TRY(dwarf_module_open(program->path, &program->module));
    const struct elf_facts *facts = elf_object_facts(dwarf_module_object(program->module));
    if (facts->class_bits != 64 || facts->machine != EM_X86_64)
        return error_new("%s is no program for 64-bit x86", program->path);
    TRY(find_headers(program));
    TRY(dwarf_module_symbols(program->module, &program->symbols));
    return flow_image_open(dwarf_module_object(program->module), &program->image);
}

struct error *state_program_open(const char *path, struct state_program *ret_program)
{
    _cleanup_(state_program_close) struct state_program program = {.path = strdup(path)};
    if (program.path == NULL)
        return error_no_memory();
    TRY(open_parts(&program));
    *ret_program = program;
    program = (struct state_program){0};
    return NULL;
}

const unsigned char *state_program_code(const struct state_program *program,
                                        const struct isa_insn *insn, size_t *ret_size)
{
    return elf_object_code(dwarf_module_object(program->module), flow_address(program->image, insn),
                           insn->length, ret_size);
}

static bool is_named(const struct elf_symbol *symbol, const char *name)
{
    return symbol->name_size == strlen(name) && memcmp(symbol->name, name, symbol->name_size) == 0;
}

struct found_line {
    uint64_t lowest;
};

static struct error *take_line(void *context, unsigned number, uint64_t lo, uint64_t hi)
{
    struct found_line *found = context;
    (void)number;
    if (hi > lo && lo < found->lowest)
        found->lowest = lo;
    return NULL;
}

static struct error *find_line(const struct state_program *program, const struct state_fault *fault,
                               const struct source *source, uint64_t *ret_address)
{
    const struct dwarf_line_query query = {.file = fault->name, .line = fault->line};
    struct found_line found = {UINT64_MAX};
    if (!dwarf_module_has_dwarf(program->module))
        return source_error(source, fault->place_at,
                            "%s has no debugging information; name a function or an address",
                            program->path);
    TRY(dwarf_lines_find(program->module, &query, 1, take_line, &found));
    if (found.lowest == UINT64_MAX)
        return source_error(source, fault->place_at, "%s has no code of %s, line %u", program->path,
                            fault->name, fault->line);
    *ret_address = found.lowest;
    return NULL;
}

static struct error *find_function(const struct state_program *program,
                                   const struct state_fault *fault, const struct source *source,
                                   uint64_t *ret_address)
{
    const struct elf_symbol *best = NULL;
    for (size_t i = 0; i < program->symbols->code.count; i++) {
        const struct elf_symbol *symbol = &program->symbols->code.items[i];
        if (!is_named(symbol, fault->name))
            continue;
        if (best != NULL && best->start != symbol->start)
            return source_error(source, fault->place_at,
                                "%s has more than one function '%s'; give an address: 0x%" PRIx64
                                ", 0x%" PRIx64,
                                program->path, fault->name, best->start, symbol->start);
        best = symbol;
    }
    if (best == NULL)
        return source_error(source, fault->place_at, "%s has no function '%s'", program->path,
                            fault->name);
    *ret_address = best->start + fault->address;
    return NULL;
}

static struct error *find_stop(const struct state_program *program, const struct state_fault *fault,
                               const struct source *source, uint32_t *ret_insn)
{
    uint64_t address = fault->address;
    if (fault->place == STATE_AT_LINE)
        TRY(find_line(program, fault, source, &address));
    if (fault->place == STATE_AT_FUNCTION)
        TRY(find_function(program, fault, source, &address));
    *ret_insn = flow_insn_at(program->image, address);
    if (*ret_insn == FLOW_NONE)
        return source_error(source, fault->place_at,
                            "no instruction of %s begins at 0x%" PRIx64 "; 'objdump -d' lists them",
                            program->path, address);
    return NULL;
}

static struct error *find_data(const struct state_program *program, const struct state_fault *fault,
                               const struct source *source, struct wire_state_fault *wire)
{
    for (size_t i = 0; i < program->symbols->data.count; i++) {
        const struct elf_symbol *symbol = &program->symbols->data.items[i];
        if (!is_named(symbol, fault->symbol))
            continue;
        uint64_t size = symbol->end - symbol->start;
        wire->offset = (int64_t)(symbol->start + (uint64_t)fault->offset);
        if (wire->size == 0 && fault->offset >= 0 && (uint64_t)fault->offset < size)
            size -= (uint64_t)fault->offset;
        if (wire->size == 0 && size != 0)
            wire->size = size < WIRE_STATE_BYTES ? (uint32_t)size : WIRE_STATE_BYTES;
        return NULL;
    }
    for (size_t i = 0; i < program->symbols->code.count; i++)
        if (is_named(&program->symbols->code.items[i], fault->symbol)) {
            wire->offset =
                (int64_t)(program->symbols->code.items[i].start + (uint64_t)fault->offset);
            return NULL;
        }
    if (strcmp(fault->symbol, program->library ? LIBRARY_ITSELF : PROGRAM_ITSELF) == 0) {
        wire->offset = fault->offset;
        return NULL;
    }
    return source_error(source, fault->target_at, "%s has no symbol '%s'", program->path,
                        fault->symbol);
}

static void set_change(const struct state_fault *fault, struct wire_state_fault *wire)
{
    for (uint32_t i = 0; i < wire->size; i++) {
        unsigned char bits = fault->all ? 0xff : fault->bits[i];
        switch (fault->change) {
        case STATE_FLIP:
            wire->keep[i] = 0xff;
            wire->change[i] = bits;
            break;
        case STATE_VALUE:
            wire->keep[i] = 0;
            wire->change[i] = fault->value[i];
            break;
        default:
            wire->keep[i] = (unsigned char)~bits;
            wire->change[i] = fault->change == STATE_SET ? bits : 0;
        }
    }
}

static bool exceeds(const struct state_fault *fault, uint32_t size)
{
    const unsigned char *used = fault->change == STATE_VALUE ? fault->value : fault->bits;
    for (uint32_t i = size; i < WIRE_STATE_BYTES; i++)
        if (used[i] != 0)
            return true;
    return false;
}

// Whether the instruction reads a bit that the fault changes.
static bool reads_fault(const struct isa_reads *reads, const struct wire_state_fault *wire)
{
    for (size_t i = 0; i < reads->count; i++) {
        const struct isa_read *read = &reads->items[i];
        bool same = wire->register_class == WIRE_STATE_GENERAL
                        ? read->kind == ISA_READ_GENERAL && read->number == wire->register_number
                    : wire->register_class == WIRE_STATE_VECTOR
                        ? read->kind == ISA_READ_VECTOR && read->number == wire->register_number
                        : wire->register_class == WIRE_STATE_FLAGS && read->kind == ISA_READ_FLAGS;
        for (uint32_t bit = 0; same && bit < 8 * wire->size; bit++) {
            bool changed = (wire->keep[bit / 8] >> bit % 8 & 1) == 0 ||
                           (wire->change[bit / 8] >> bit % 8 & 1) != 0;
            bool is_read = read->kind == ISA_READ_FLAGS
                               ? bit < 16 && (read->flags >> bit & 1) != 0
                               : bit >= read->first_bit && bit < read->first_bit + read->bits;
            if (changed && is_read)
                return true;
        }
    }
    return false;
}

// Whether the instruction reads the faulty memory.
static bool reads_memory(const struct isa_reads *reads, const struct wire_state_fault *wire)
{
    for (size_t i = 0; i < reads->count; i++) {
        const struct isa_read *read = &reads->items[i];
        uint8_t base = wire->base == WIRE_STATE_REGISTER ? (uint8_t)wire->base_register
                       : wire->base == WIRE_STATE_MODULE ? ISA_PC
                                                         : ISA_NONE;
        uint8_t index = wire->scale != 0 ? (uint8_t)wire->index_register : ISA_NONE;
        if (read->kind == ISA_READ_MEMORY && read->base == base && read->index == index &&
            (index == ISA_NONE || read->scale == wire->scale) && read->displacement == wire->offset)
            return true;
    }
    return false;
}

// The instruction that the first byte of memory is in.
static uint64_t find_instruction(const struct state_program *program,
                                 const struct state_fault *fault,
                                 const struct wire_state_fault *wire)
{
    for (uint64_t back = 0; fault->base == WIRE_STATE_MODULE && back < 15; back++) {
        uint32_t index = flow_insn_at(program->image, (uint64_t)wire->offset - back);
        if (index != FLOW_NONE && program->image->insns.items[index].length > back)
            return (uint64_t)wire->offset - back;
    }
    return 0;
}

static struct error *set_target(const struct state_program *program,
                                const struct state_fault *fault, const struct source *source,
                                struct wire_state_fault *wire)
{
    wire->memory = fault->memory;
    if (!fault->memory) {
        wire->register_class = fault->reg->class;
        wire->register_number = fault->reg->number;
        wire->size = fault->reg->size;
        return NULL;
    }
    wire->base = fault->base;
    wire->base_register = fault->reg != NULL ? fault->reg->number : 0;
    wire->index_register = fault->index != NULL ? fault->index->number : 0;
    wire->scale = fault->scale;
    wire->size = fault->size;
    wire->offset = fault->offset;
    if (fault->base == WIRE_STATE_MODULE)
        TRY(find_data(program, fault, source, wire));
    if (wire->size == 0)
        wire->size = 8;
    wire->instruction = find_instruction(program, fault, wire);
    if (exceeds(fault, wire->size))
        return source_error(source, fault->change_at, "there are only the bits 0 to %u",
                            8 * wire->size - 1);
    return NULL;
}

struct error *state_program_resolve(const struct state_program *program,
                                    const struct state_fault *fault, const struct source *source,
                                    struct wire_state_fault *ret_fault)
{
    struct wire_state_fault wire = {.permanent = fault->permanent,
                                    .count = fault->count,
                                    .thread = fault->thread,
                                    .moment_ns = fault->moment_ns};
    struct isa_decoder decoder;
    struct isa_reads reads;
    uint32_t index = 0;
    size_t size;
    bool at_moment = fault->place == STATE_AT_MOMENT;
    if (!at_moment)
        TRY(find_stop(program, fault, source, &index));
    TRY(set_target(program, fault, source, &wire));
    set_change(fault, &wire);
    if (at_moment) {
        *ret_fault = wire;
        return NULL;
    }
    const struct isa_insn *insn = &program->image->insns.items[index];
    const unsigned char *code = state_program_code(program, insn, &size);
    wire.stop = flow_address(program->image, insn);
    isa_decoder_init(&decoder);
    if (code == NULL || !isa_reads(&decoder, code, size, wire.stop, &reads))
        return source_error(source, fault->place_at, "the instruction there cannot be read");
    wire.system_call = reads.system_call;
    wire.repeats = reads.repeats;
    bool is_read = wire.memory ? reads_memory(&reads, &wire) : reads_fault(&reads, &wire);
    wire.read = is_read ? WIRE_STATE_READ_ALWAYS : WIRE_STATE_READ_NEVER;
    if (wire.permanent && wire.system_call)
        return source_error(source, fault->place_at,
                            "a permanent fault cannot be injected at a system call; name the "
                            "instruction before it");
    bool counts = wire.count > 1 || wire.thread != 0;
    if (counts && wire.thread == 0) // the stub counts for all threads
        state_program_make_counters(program, index, &wire);
    if (counts && wire.counter.size == 0 && wire.system_call)
        return source_error(source, fault->place_at,
                            "executions of this system call cannot be counted; name the "
                            "instruction before it");
    *ret_fault = wire;
    return NULL;
}

// Whether the text of a fault may have the name: it can be read back.
static bool is_readable(const struct elf_symbol *symbol, const char * not )
{
    for (size_t i = 0; i < symbol->name_size; i++)
        if (isspace((unsigned char)symbol->name[i]) || strchr(not, symbol->name[i]) != NULL)
            return false;
    return symbol->name_size != 0 && !isdigit((unsigned char)symbol->name[0]);
}

struct error *state_program_name_place(const struct state_program *program, uint64_t address,
                                       struct state_fault *fault)
{
    const struct elf_symbol *symbol = elf_symbols_find(program->symbols, address);
    size_t same = 0;
    for (size_t i = 0; symbol != NULL && i < program->symbols->code.count; i++) {
        const struct elf_symbol *other = &program->symbols->code.items[i];
        same += other->name_size == symbol->name_size && other->start != symbol->start &&
                memcmp(other->name, symbol->name, symbol->name_size) == 0;
    }
    fault->place = STATE_AT_ADDRESS;
    fault->address = address;
    if (symbol == NULL || same != 0 || !is_readable(symbol, ":+"))
        return NULL;
    fault->place = STATE_AT_FUNCTION;
    fault->address = address - symbol->start;
    fault->name = strndup(symbol->name, symbol->name_size);
    return fault->name != NULL ? NULL : error_no_memory();
}

struct error *state_program_name_data(const struct state_program *program, uint64_t address,
                                      struct state_fault *fault)
{
    const struct elf_symbol *best = NULL;
    size_t same = 0;
    for (size_t i = 0; i < program->symbols->data.count; i++) {
        const struct elf_symbol *symbol = &program->symbols->data.items[i];
        if (address >= symbol->start && address < symbol->end)
            best = symbol;
    }
    for (size_t i = 0; best != NULL && i < program->symbols->data.count; i++) {
        const struct elf_symbol *other = &program->symbols->data.items[i];
        same += other->start != best->start && other->name_size == best->name_size &&
                memcmp(other->name, best->name, best->name_size) == 0;
    }
    if (best != NULL && (same != 0 || !is_readable(best, "+-:")))
        best = NULL;
    fault->base = WIRE_STATE_MODULE;
    fault->offset = (int64_t)(address - (best != NULL ? best->start : 0));
    fault->symbol = best != NULL ? strndup(best->name, best->name_size)
                                 : strdup(program->library ? LIBRARY_ITSELF : PROGRAM_ITSELF);
    return fault->symbol != NULL ? NULL : error_no_memory();
}

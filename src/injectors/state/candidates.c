// SPDX-License-Identifier: GPL-3.0-or-later
// The pre-injection analysis: which registers and which memory the executed instructions read, and
// so which faults are certain to be activated. Control-flow faults are those that an instruction
// reads which sets the flags of a conditional branch, and these flags.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "elf/symbols.h"
#include "injector/inputs.h"
#include "store/store.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    struct upsets *self;
    candidate_add *add;
    void *data;
    struct isa_decoder decoder;
    uint32_t block;
    uint32_t turn; // so that faults are spread over the inputs that execute it
};

// The code by which the linker leads calls to libraries.
static bool is_in_plt(const struct flow_image *image, uint64_t address)
{
    Elf *elf = elf_object_handle(image->object);
    size_t names;
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size || (header.sh_flags & SHF_ALLOC) == 0)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        return name != NULL && strncmp(name, ".plt", 4) == 0;
    }
    return false;
}

// What the C library's start files put into every program.
static bool is_start_code(const struct flow_function *function)
{
    static const char *const names[] = {"_start",
                                        "_init",
                                        "_fini",
                                        "deregister_tm_clones",
                                        "register_tm_clones",
                                        "__do_global_dtors_aux",
                                        "frame_dummy",
                                        "_dl_relocate_static_pie"};
    for (size_t i = 0; function->name != NULL && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == function->name_size &&
            memcmp(names[i], function->name, function->name_size) == 0)
            return true;
    return false;
}

struct error *upsets_choose_functions(struct upsets *self)
{
    const struct flow_image *image = self->program.image;
    self->chosen = calloc(image->functions.count + 1, sizeof *self->chosen);
    if (self->chosen == NULL)
        return error_no_memory();
    for (uint32_t i = 0; i < image->functions.count; i++) {
        const struct flow_function *function = &image->functions.items[i];
        self->chosen[i] = !is_start_code(function) && !is_in_plt(image, function->start);
    }
    return NULL;
}

bool upsets_uses_block(const struct upsets *self, uint32_t block)
{
    return self->chosen[self->program.image->blocks.items[block].function];
}

// Of the instruction at an address, in the words of reports.
static const char *instruction_class(const struct upsets *self, uint64_t address)
{
    static const char *const names[] = {
        [ISA_NOTHING] = "no operation",
        [ISA_CONSTANT] = "move",
        [ISA_COPY] = "move",
        [ISA_LOAD] = "load",
        [ISA_STORE] = "store",
        [ISA_STORE_CONSTANT] = "store",
        [ISA_ADDRESS] = "address",
        [ISA_COMPARE] = "compare",
        [ISA_TEST] = "compare",
        [ISA_COMPARE_MEMORY] = "compare",
        [ISA_PUSH] = "stack",
        [ISA_POP] = "stack",
        [ISA_LEAVE] = "stack",
        [ISA_CALL] = "call",
        [ISA_CALL_INDIRECT] = "call",
        [ISA_JUMP] = "jump",
        [ISA_JUMP_INDIRECT] = "jump",
        [ISA_BRANCH] = "branch",
        [ISA_RET] = "return",
        [ISA_SYSCALL] = "system call",
        [ISA_ADD] = "arithmetic",
        [ISA_SUBTRACT] = "arithmetic",
        [ISA_SUBTRACT_MEMORY] = "arithmetic",
        [ISA_ADD_CARRY] = "arithmetic",
        [ISA_SUBTRACT_CARRY] = "arithmetic",
        [ISA_NEGATE] = "arithmetic",
        [ISA_AND] = "logic",
        [ISA_OR] = "logic",
        [ISA_XOR] = "logic",
        [ISA_INVERT] = "logic",
        [ISA_SHIFT_LEFT] = "shift",
        [ISA_SHIFT_RIGHT] = "shift",
        [ISA_SHIFT_SIGNED] = "shift",
        [ISA_SET] = "select",
        [ISA_SELECT] = "select",
        [ISA_BIT] = "compare",
        [ISA_STOP] = "trap",
    };
    uint32_t index = flow_insn_at(self->program.image, address);
    unsigned kind = index != FLOW_NONE ? self->program.image->insns.items[index].kind : ISA_OTHER;
    const char *name = kind < sizeof names / sizeof *names ? names[kind] : NULL;
    return name != NULL ? name : "other";
}

static struct error *find_place(struct upsets *self, uint64_t stop)
{
    struct upset_place *place = &self->place;
    if (place->known && place->stop == stop)
        return NULL;
    place->known = false;
    state_fault_deinit(&place->named);
    TRY(state_program_name_place(&self->program, stop, &place->named));
    place->source = journal_reader_find(self->reader, self->program.path, stop);
    place->kind = instruction_class(self, stop);
    place->stop = stop;
    place->known = true;
    return NULL;
}

static struct error *fill_candidate(struct upsets *self, const struct state_fault *fault,
                                    struct candidate *candidate)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0}, type = {0}, change = {0};
    const struct journal_reader_place place = self->place.source;
    TRY(state_fault_format(fault, &spec));
    TRY(state_fault_format_target(fault, &type));
    TRY(state_fault_format_change(fault, &change));
    candidate->series = strdup(self->place.kind);
    candidate->spec = TAKE(spec.data);
    candidate->type = self->memory ? strdup("memory") : TAKE(type.data);
    candidate->component = TAKE(change.data);
    candidate->module = strdup(self->program.path);
    candidate->position = self->place.stop;
    if (place.symbol != NULL)
        candidate->function = strdup(place.symbol);
    if (place.file != NULL)
        candidate->file = strdup(place.file);
    candidate->line = place.line;
    return candidate->type != NULL && candidate->module != NULL && candidate->series != NULL &&
                   (place.symbol == NULL || candidate->function != NULL) &&
                   (place.file == NULL || candidate->file != NULL)
               ? NULL
               : error_no_memory();
}

// An input that executes the block, from 1; 0: none is to be named.
static uint32_t input_of(struct listing *listing)
{
    const struct upsets *self = listing->self;
    if (self->random_inputs || inputs_count(self->setup.inputs) == 0)
        return 0;
    uint32_t input = upsets_find_input(self, listing->block, listing->turn++);
    return input < self->inputs ? input + 1 : 0;
}

struct error *upsets_add(struct upsets *self, struct state_fault *fault, uint64_t stop,
                         double weight, candidate_add *add, void *add_data)
{
    struct candidate candidate = {.weight = weight};
    TRY(find_place(self, stop));
    fault->place = self->place.named.place;
    fault->address = self->place.named.address;
    fault->name = self->place.named.name;
    struct error *error = fill_candidate(self, fault, &candidate);
    if (error == NULL)
        error = add(add_data, &candidate);
    candidate_deinit(&candidate);
    fault->name = NULL; // it is not the caller's
    return error;
}

static struct error *add_fault(struct listing *listing, struct state_fault *fault, uint64_t stop)
{
    fault->change = (uint8_t)listing->self->change;
    fault->count = 1;
    fault->input = input_of(listing);
    return upsets_add(listing->self, fault, stop, 1, listing->add, listing->data);
}

// One fault for each bit, or one for all that are read.
static struct error *add_bits(struct listing *listing, struct state_fault *fault, unsigned first,
                              unsigned bits, uint64_t stop)
{
    bool single = listing->self->change == STATE_FLIP;
    for (unsigned bit = first; bit < first + bits && bit < STATE_BITS; bit++) {
        fault->bits[bit / 8] |= (unsigned char)(1u << bit % 8);
        if (!single)
            continue;
        TRY(add_fault(listing, fault, stop));
        memset(fault->bits, 0, sizeof fault->bits);
    }
    return single ? NULL : add_fault(listing, fault, stop);
}

static struct error *add_flags(struct listing *listing, unsigned mask, uint64_t stop)
{
    for (unsigned bit = 0; bit < 16; bit++) {
        struct state_fault fault = {.reg = state_register_flags()};
        if ((mask >> bit & 1) != 0 && state_flag_name(bit) != NULL)
            TRY(add_bits(listing, &fault, bit, 1, stop));
    }
    return NULL;
}

static struct error *add_memory(struct listing *listing, const struct isa_read *read, uint64_t stop)
{
    _cleanup_(state_fault_deinit) struct state_fault fault = {.memory = true,
                                                              .size = read->bits / 8};
    if (fault.size == 0 || fault.size > WIRE_STATE_BYTES)
        return NULL;
    if (read->base == ISA_PC) {
        TRY(state_program_name_data(&listing->self->program, (uint64_t)read->displacement, &fault));
    } else if (read->base == ISA_NONE) {
        if (read->index != ISA_NONE || read->displacement <= 0)
            return NULL;
        fault.base = WIRE_STATE_ABSOLUTE;
        fault.offset = read->displacement;
    } else {
        fault.base = WIRE_STATE_REGISTER;
        fault.reg = state_register_general(read->base);
        fault.index = read->index != ISA_NONE ? state_register_general(read->index) : NULL;
        fault.scale = fault.index != NULL ? read->scale : 0;
        fault.offset = read->displacement;
    }
    return add_bits(listing, &fault, 0, read->bits, stop);
}

static struct error *add_read(struct listing *listing, const struct isa_read *read, uint64_t stop)
{
    bool memory = listing->self->memory;
    struct state_fault fault = {0};
    switch (read->kind) {
    case ISA_READ_MEMORY:
        return memory ? add_memory(listing, read, stop) : NULL;
    case ISA_READ_FLAGS:
        return memory ? NULL : add_flags(listing, read->flags, stop);
    case ISA_READ_GENERAL:
        fault.reg = state_register_general(read->number);
        break;
    default:
        fault.reg = state_register_vector(read->number);
    }
    unsigned bits = read->bits;
    if (fault.reg != NULL && read->first_bit + bits > 8u * fault.reg->size)
        bits = 8u * fault.reg->size - read->first_bit;
    return memory || fault.reg == NULL ? NULL
                                       : add_bits(listing, &fault, read->first_bit, bits, stop);
}

static bool read_insn(struct listing *listing, uint32_t index, struct isa_reads *ret_reads)
{
    const struct state_program *program = &listing->self->program;
    const struct isa_insn *insn = &program->image->insns.items[index];
    size_t size;
    const unsigned char *code = state_program_code(program, insn, &size);
    return code != NULL &&
           isa_reads(&listing->decoder, code, size, flow_address(program->image, insn), ret_reads);
}

static struct error *add_insn(struct listing *listing, uint32_t index)
{
    const struct flow_image *image = listing->self->program.image;
    struct isa_reads reads;
    if (!read_insn(listing, index, &reads))
        return NULL;
    for (size_t i = 0; i < reads.count; i++)
        TRY(add_read(listing, &reads.items[i], flow_address(image, &image->insns.items[index])));
    return NULL;
}

// The branch at the end of a block, and the instruction of the block that sets its flags.
static struct error *add_branch(struct listing *listing, const struct flow_block *block)
{
    const struct flow_image *image = listing->self->program.image;
    uint32_t last = block->first + block->count - 1;
    struct isa_reads reads;
    unsigned wanted = 0;
    if (image->insns.items[last].kind != ISA_BRANCH || !read_insn(listing, last, &reads))
        return NULL;
    for (size_t i = 0; i < reads.count; i++)
        if (reads.items[i].kind == ISA_READ_FLAGS)
            wanted |= reads.items[i].flags;
    TRY(add_insn(listing, last));
    for (uint32_t i = last; i-- > block->first;) {
        if (!read_insn(listing, i, &reads))
            return NULL;
        if ((reads.flags_written & wanted) != 0)
            return add_insn(listing, i);
    }
    return NULL;
}

uint32_t upsets_hits(const struct upsets *self, uint32_t input, uint32_t block)
{
    return self->hits[input * (size_t)self->program.image->blocks.count + block];
}

uint32_t upsets_find_input(const struct upsets *self, uint32_t block, uint32_t first)
{
    for (uint32_t i = 0; i < self->inputs; i++) {
        uint32_t input = (first + i) % self->inputs;
        if (self->runs[input] != 0 && upsets_hits(self, input, block) == self->runs[input])
            return input;
    }
    return self->inputs;
}

// One line for each block: its address, in how many of the reference runs it was executed, and by
// which inputs.
static struct error *write_blocks(const struct upsets *self)
{
    const struct flow_image *image = self->program.image;
    const char *path = parameters_value(self->setup.parameters, "blocks", NULL);
    if (path == NULL)
        return NULL;
    _cleanup_fclose_ FILE *file = fopen(path, "we");
    for (uint32_t i = 0; file != NULL && i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        uint32_t hits = 0, runs = 0;
        if (block->count == 0 || !upsets_uses_block(self, i))
            continue;
        for (uint32_t input = 0; input < self->inputs; input++) {
            hits += upsets_hits(self, input, i);
            runs += self->runs[input];
        }
        fprintf(file, "0x%" PRIx64 " %u %u", flow_address(image, &image->insns.items[block->first]),
                hits, runs);
        for (uint32_t input = 0; self->inputs > 1 && input < self->inputs; input++)
            if (upsets_hits(self, input, i) != 0)
                fprintf(file, " %u", input + 1);
        fputc('\n', file);
    }
    if (file == NULL || fflush(file) != 0 || ferror(file) != 0)
        return error_from_errno(errno, "cannot write %s", path);
    return NULL;
}

struct error *upsets_candidates(void *data, candidate_add *add, void *add_data)
{
    struct upsets *self = data;
    const struct flow_image *image = self->program.image;
    struct listing listing = {.self = self, .add = add, .data = add_data};
    self->place.known = false;
    TRY(write_blocks(self));
    if (self->drawn.points != 0)
        return upsets_draw(self, add, add_data);
    if (self->moments != 0)
        return upsets_draw_moments(self, add, add_data);
    isa_decoder_init(&listing.decoder);
    for (uint32_t i = 0; i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        bool executed = upsets_find_input(self, i, 0) < self->inputs;
        if (block->count == 0 || !upsets_uses_block(self, i) || (!executed && !self->all_paths))
            continue;
        listing.block = i;
        if (!self->data) {
            TRY(add_branch(&listing, block));
            continue;
        }
        for (uint32_t j = block->first; j < block->first + block->count; j++)
            TRY(add_insn(&listing, j));
    }
    return NULL;
}

// Both are told in one remark, which has room for so many inputs.
#define INPUTS_SHOWN 40

struct error *upsets_remarks(void *data, remark_add *add, void *add_data)
{
    const struct upsets *self = data;
    const struct flow_image *image = self->program.image;
    _cleanup_(buffer_deinit) struct buffer text = {0}, each = {0};
    uint32_t all = 0, covered = 0;
    for (uint32_t i = 0; i < image->blocks.count; i++) {
        bool hit = false;
        if (image->blocks.items[i].count == 0 || !upsets_uses_block(self, i))
            continue;
        for (uint32_t input = 0; input < self->inputs; input++)
            hit |= upsets_hits(self, input, i) != 0;
        covered += hit;
        all++;
    }
    for (uint32_t input = 0; input < self->inputs && input < INPUTS_SHOWN; input++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < image->blocks.count; i++)
            count += image->blocks.items[i].count != 0 && upsets_hits(self, input, i) != 0;
        TRY(buffer_printf(&each, "%s%u", input != 0 ? ", " : "", count));
    }
    TRY(buffer_printf(&text, "%u of %u basic blocks of the program are executed (%.1f %%)", covered,
                      all, all != 0 ? 100.0 * covered / all : 0.0));
    if (self->inputs > 1)
        TRY(buffer_printf(&text, "; by each input alone: %s%s", each.data,
                          self->inputs > INPUTS_SHOWN ? ", ..." : ""));
    TRY(add(add_data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data}));
    const struct upset_draw *drawn = &self->drawn;
    if (self->moments != 0)
        return upsets_remark_moments(self, add, add_data);
    if (drawn->points == 0)
        return NULL;
    text.size = 0;
    if (self->each_point) {
        TRY(buffer_printf(&text,
                          "%" PRIu64 " upsets were drawn over %" PRIu64 " instructions and %" PRIu64
                          " bits; each is tried",
                          drawn->points, drawn->instructions, drawn->bits));
        return add(add_data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
    }
    TRY(buffer_printf(&text,
                      "%" PRIu64 " upsets were drawn over %" PRIu64 " instructions and %" PRIu64
                      " bits: %" PRIu64 " are overwritten before they are read, or never read; the "
                      "others are in %" PRIu64 " of %" PRIu64
                      " classes, each of which is tried once",
                      drawn->points, drawn->instructions, drawn->bits, drawn->unread,
                      drawn->classes, drawn->all_classes));
    return add(add_data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
}

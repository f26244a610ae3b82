// SPDX-License-Identifier: GPL-3.0-or-later
// Follows `call rax` backwards: rax was loaded from offset b of a pointer, that pointer from offset
// a of another, and so on, until a pointer whose type is known: an argument, the result of a call
// or a well-known variable. From there the types lead forwards to the member.
#include "profile/kernel/members.h"

#include "base/cleanup.h"
#include "profile/place.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 2000 // instructions looked at for one call
#define MOST_LOADS 8    // from pointer to pointer

// Variables that hold pointers to tables.
static const struct {
    const char *name, *structure; // structure: what the elements point to
} variables[] = {
    {"net_families", "net_proto_family"}, {"posix_clocks", "k_clock"}, {"formats", "linux_binfmt"}};
_Static_assert(sizeof variables / sizeof *variables == MEMBERS_VARIABLES, "one place for each");

// Functions that return a file pointer with flags in its lowest bits. Their declared result is an
// integer.
static const char *const file_functions[] = {"__fdget", "__fdget_pos", "__fdget_raw"};

static const uint8_t argument_registers[] = {5, 4, 1, 2, 8, 9};

struct error *members_init(struct members *members, const struct flow_image *image,
                           const struct elf_symbols *symbols, const struct btf *btf)
{
    *members = (struct members){.image = image, .btf = btf};
    members->seen = calloc(image->blocks.count + 1, 1);
    if (members->seen == NULL)
        return error_no_memory();
    members->file = btf_structure(btf, "file");
    members->socket = btf_structure(btf, "socket");
    members->file_private = btf_offset(btf, members->file, "private_data");
    for (unsigned i = 0; i < MEMBERS_VARIABLES; i++) {
        members->variables[i] = members_range(symbols, variables[i].name);
        members->variable_structures[i] = btf_structure(btf, variables[i].structure);
    }
    return NULL;
}

void members_deinit(struct members *members)
{
    free(members->seen);
    ARRAY_DEINIT(&members->visited);
}

struct members_range members_range(const struct elf_symbols *symbols, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < symbols->data.count; i++) {
        const struct elf_symbol *symbol = &symbols->data.items[i];
        if (symbol->name_size == size && memcmp(symbol->name, name, size) == 0)
            return (struct members_range){symbol->start, symbol->end};
    }
    return (struct members_range){0};
}

// ---- what a pointer points to ----

struct pointed {
    uint32_t structure; // 0: unknown
    int64_t offset;     // within it
};

static struct pointed point(struct members *members, uint32_t block, uint32_t at,
                            struct place place, unsigned loads);

static struct pointed at_entry(const struct members *members, uint32_t function, struct place place)
{
    const struct flow_function *entered = &members->image->functions.items[function];
    if (place.kind == PLACE_REGISTER && entered->name != NULL)
        for (unsigned i = 0; i < sizeof argument_registers; i++)
            if (argument_registers[i] == place.reg)
                return (struct pointed){
                    btf_parameter(members->btf, entered->name, entered->name_size, i), 0};
    return (struct pointed){0};
}

bool members_is_named(const struct flow_function *function, const char *name)
{
    return function->name != NULL && strlen(name) == function->name_size &&
           memcmp(function->name, name, function->name_size) == 0;
}

static struct pointed from_call(const struct members *members, const struct flow_block *block,
                                struct place place)
{
    if (place.reg != ISA_RETURN || block->callee >= members->image->functions.count)
        return (struct pointed){0};
    const struct flow_function *called = &members->image->functions.items[block->callee];
    if (called->name == NULL)
        return (struct pointed){0};
    for (size_t i = 0; i < sizeof file_functions / sizeof *file_functions; i++)
        if (members_is_named(called, file_functions[i]))
            return (struct pointed){members->file, 0};
    return (struct pointed){btf_result(members->btf, called->name, called->name_size), 0};
}

static struct pointed from_variable(const struct members *members, uint64_t address)
{
    for (unsigned i = 0; i < MEMBERS_VARIABLES; i++)
        if (address >= members->variables[i].start && address < members->variables[i].end)
            return (struct pointed){members->variable_structures[i], 0};
    return (struct pointed){0};
}

// What a pointer points to that an instruction loads from a structure.
static struct pointed from_memory(struct members *members, uint32_t block, uint32_t at,
                                  unsigned loads)
{
    const struct isa_insn *insn = &members->image->insns.items[at];
    if (insn->base == ISA_PC || insn->base == ISA_NONE)
        return from_variable(members, (uint64_t)insn->displacement);
    if (insn->index != ISA_NONE || insn->base >= ISA_REGISTERS || loads == MOST_LOADS)
        return (struct pointed){0};
    struct pointed base = point(members, block, at, place_register(insn->base), loads + 1);
    int64_t offset = base.offset + insn->displacement;
    if (base.structure == 0 || offset < 0)
        return (struct pointed){0};
    if (base.structure == members->file && (uint64_t)offset == members->file_private)
        return (struct pointed){members->socket, 0};
    return (struct pointed){btf_pointer_at(members->btf, base.structure, (uint64_t)offset), 0};
}

// Where a pointer was before an instruction that is no call and no load through another pointer.
// False if unknown. *moved: the offset that the instruction added.
static bool pointer_before(const struct flow_image *image, const struct flow_block *block,
                           uint32_t at, struct place *place, int64_t *moved)
{
    const struct isa_insn *insn = &image->insns.items[at];
    if (place->kind == PLACE_REGISTER) {
        if ((insn->writes >> place->reg & 1) == 0)
            return true;
        if (insn->dst != place->reg || insn->width != 8)
            return false;
        if (insn->kind == ISA_AND && insn->src == ISA_NONE && insn->value >= -8 && insn->value < 0)
            return true; // only the lowest bits are cleared
        if (insn->kind == ISA_ADD && insn->src == ISA_NONE) {
            *moved += insn->value;
            return true;
        }
        if (insn->kind == ISA_ADDRESS && insn->base < ISA_REGISTERS && insn->base != ISA_STACK &&
            insn->index == ISA_NONE) {
            *moved += insn->displacement;
            *place = place_register(insn->base);
            return true;
        }
        if (insn->kind != ISA_COPY && insn->kind != ISA_LOAD && insn->kind != ISA_POP)
            return false;
    }
    struct step step = place_step(image, block, at, *place);
    if (step.kind == STEP_MOVED)
        *place = step.place;
    return step.kind == STEP_MOVED || step.kind == STEP_SAME;
}

enum passing { PASSED, ENDED };

// One instruction back. ENDED: *ret is the answer.
static enum passing pass(struct members *members, uint32_t number, uint32_t at, struct place *place,
                         int64_t *moved, unsigned loads, struct pointed *ret)
{
    const struct flow_image *image = members->image;
    const struct flow_block *block = &image->blocks.items[number];
    const struct isa_insn *insn = &image->insns.items[at];
    bool in_register = place->kind == PLACE_REGISTER;
    *ret = (struct pointed){0};
    if (insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT) {
        if (!in_register || (PLACE_CLOBBERED >> place->reg & 1) == 0)
            return PASSED;
        *ret = from_call(members, block, *place);
        return ENDED;
    }
    struct place slot;
    if (in_register && insn->kind == ISA_LOAD && insn->from == 8 && insn->dst == place->reg &&
        !place_of_memory(image, block, at, &slot)) {
        *ret = from_memory(members, number, at, loads);
        return ENDED;
    }
    return pointer_before(image, block, at, place, moved) ? PASSED : ENDED;
}

static bool visit(struct members *members, uint32_t block)
{
    if (members->seen[block])
        return false;
    uint32_t *visited = ARRAY_ADD(&members->visited);
    if (visited == NULL)
        return false; // the callee stays unknown
    *visited = block;
    members->seen[block] = 1;
    return true;
}

static uint32_t end_of(const struct flow_image *image, uint32_t block)
{
    return image->blocks.items[block].first + image->blocks.items[block].count;
}

// What a place points to before instruction `at` of a block. A variable has one type, so the first
// path on which it is known is enough. The recursion is as deep as the path is long; `steps` limits
// it.
static struct pointed point(struct members *members, uint32_t number, uint32_t at,
                            struct place place, unsigned loads)
{
    const struct flow_image *image = members->image;
    const struct flow_block *block = &image->blocks.items[number];
    struct pointed found = {0};
    int64_t moved = 0;
    while (at > block->first) {
        if (members->steps++ >= MOST_STEPS)
            return found;
        if (pass(members, number, --at, &place, &moved, loads, &found) == ENDED) {
            found.offset += moved;
            return found;
        }
    }
    if (number == image->functions.items[block->function].first_block)
        found = at_entry(members, block->function, place);
    for (uint32_t i = 0; i < block->in_count && found.structure == 0; i++) {
        uint32_t before = image->edges.items[block->edges_in + i].block;
        if (visit(members, before))
            found = point(members, before, end_of(image, before), place, loads);
    }
    found.offset += moved;
    return found;
}

static void forget_visits(struct members *members)
{
    for (size_t i = 0; i < members->visited.count; i++)
        members->seen[members->visited.items[i]] = 0;
    members->visited.count = 0;
    members->steps = 0;
}

struct load {
    uint32_t block, at;
};

// The nearest load, on any path back, that a called register comes from.
static bool loaded_from(struct members *members, uint32_t number, uint32_t at, struct place place,
                        struct load *ret_load)
{
    const struct flow_image *image = members->image;
    const struct flow_block *block = &image->blocks.items[number];
    while (at > block->first) {
        const struct isa_insn *insn = &image->insns.items[--at];
        struct place slot;
        int64_t moved = 0;
        if (members->steps++ >= MOST_STEPS)
            return false;
        bool in_register = place.kind == PLACE_REGISTER;
        if (insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT) {
            if (in_register && (PLACE_CLOBBERED >> place.reg & 1) != 0)
                return false;
            continue;
        }
        bool loads =
            insn->kind == ISA_LOAD || (insn->kind == ISA_SELECT && (insn->flags & ISA_MEMORY) != 0);
        if (in_register && loads && insn->dst == place.reg &&
            !place_of_memory(image, block, at, &slot)) {
            *ret_load = (struct load){number, at};
            return insn->width == 8;
        }
        if (in_register && insn->kind == ISA_SELECT && insn->dst == place.reg)
            place = place_register(insn->src);
        else if (!pointer_before(image, block, at, &place, &moved) || moved != 0)
            return false;
    }
    if (number == image->functions.items[block->function].first_block)
        return false;
    for (uint32_t i = 0; i < block->in_count; i++) {
        uint32_t before = image->edges.items[block->edges_in + i].block;
        if (visit(members, before) &&
            loaded_from(members, before, end_of(image, before), place, ret_load))
            return true;
    }
    return false;
}

// The load of the called pointer. If the call goes through memory, that is the call itself.
static bool called_load(struct members *members, uint32_t number, struct load *ret_load)
{
    uint32_t at = end_of(members->image, number) - 1;
    const struct isa_insn *call = &members->image->insns.items[at];
    *ret_load = (struct load){number, at};
    bool found = (call->flags & ISA_MEMORY) != 0 ||
                 (call->src < ISA_REGISTERS &&
                  loaded_from(members, number, at, place_register(call->src), ret_load));
    forget_visits(members);
    return found;
}

bool members_called(struct members *members, uint32_t block, uint32_t *ret_structure,
                    uint64_t *ret_offset)
{
    struct load where;
    if (!called_load(members, block, &where))
        return false;
    const struct isa_insn *load = &members->image->insns.items[where.at];
    if (load->index != ISA_NONE || load->base >= ISA_REGISTERS)
        return false;
    struct pointed table = point(members, where.block, where.at, place_register(load->base), 1);
    forget_visits(members);
    int64_t offset = table.offset + load->displacement;
    if (table.structure == 0 || offset < 0)
        return false;
    *ret_structure = table.structure;
    *ret_offset = (uint64_t)offset;
    return true;
}

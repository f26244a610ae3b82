// SPDX-License-Identifier: GPL-3.0-or-later
// Jump tables of switch statements, as gcc and clang write them:
//   lea B, [table]; movsxd R, dword [B + I*4]; add R, B; jmp R     position independent
//   … mov eax, [B + I4]; cdqe; add …                               the same, unoptimised
//   jmp [I*8 + table]  or  mov R, [I*8 + table]; jmp R             fixed addresses
// A comparison before the jump says how long the table is. If it is not found, the table ends with
// the first entry that does not lead into the function.
#include "flow/internal.h"

#include "base/cleanup.h"
#include "elf/symbols.h"
#include "elf/tables.h"

#include <string.h>

#define LOOK_BACK     40 // instructions
#define LONGEST_TABLE 4096

struct table {
    uint64_t address;
    unsigned entry;  // bytes
    bool relative;   // entries count from the table's own address
    uint32_t before; // instruction from which to look back for the comparison
};

struct search {
    const struct flow_image *image;
    uint32_t lowest; // no instruction before this one belongs to the function
};

// The last instruction before *insn that changes a register.
static const struct isa_insn *definition(const struct search *search, uint32_t *insn, uint8_t reg)
{
    for (uint32_t i = *insn, steps = 0; i-- > search->lowest && steps < LOOK_BACK; steps++) {
        const struct isa_insn *candidate = &search->image->insns.items[i];
        if ((candidate->writes >> reg & 1) != 0) {
            *insn = i;
            return candidate;
        }
    }
    return NULL;
}

// Follows copies back to the instruction that loads a fixed address.
static bool fixed_address(const struct search *search, uint32_t insn, uint8_t reg,
                          uint64_t *ret_address)
{
    for (int copies = 0; copies < 4; copies++) {
        const struct isa_insn *found = definition(search, &insn, reg);
        if (found == NULL)
            return false;
        if (found->kind == ISA_ADDRESS && found->base == ISA_PC && found->index == ISA_NONE) {
            *ret_address = (uint64_t)found->displacement;
            return true;
        }
        if (found->kind == ISA_CONSTANT) {
            *ret_address = (uint64_t)(uint32_t)found->value;
            return true;
        }
        if (found->kind != ISA_COPY || found->width != 8)
            return false;
        reg = found->src;
    }
    return false;
}

static bool absolute_table(const struct isa_insn *insn, uint32_t at, struct table *ret_table)
{
    if ((insn->flags & ISA_MEMORY) == 0 || insn->base != ISA_NONE || insn->index == ISA_NONE ||
        (insn->flags & ISA_SCALE) != 3)
        return false;
    *ret_table =
        (struct table){.address = (uint64_t)(uint32_t)insn->displacement, .entry = 8, .before = at};
    return true;
}

// The load of a table entry into a register: four bytes, sign-extended by the load or by a cdqe.
static const struct isa_insn *entry_load(const struct search *search, uint32_t *at, uint8_t reg)
{
    const struct isa_insn *made = definition(search, at, reg);
    bool extended = made != NULL && made->kind == ISA_COPY && made->from == 4 && made->width == 8 &&
                    (made->flags & ISA_SIGNED) != 0;
    if (extended)
        made = definition(search, at, made->src);
    if (made == NULL || made->kind != ISA_LOAD || made->from != 4 || made->index == ISA_NONE ||
        made->base >= ISA_REGISTERS || (!extended && (made->flags & ISA_SIGNED) == 0))
        return NULL;
    // Unoptimised code scales the index beforehand.
    bool scaled = (made->flags & ISA_SCALE) == 2;
    return scaled || (extended && (made->flags & ISA_SCALE) == 0) ? made : NULL;
}

static bool relative_table(const struct search *search, uint32_t at, const struct isa_insn *sum,
                           struct table *ret_table)
{
    // Either of the two summands may be the loaded entry.
    for (int i = 0; i < 2; i++) {
        uint8_t loaded = i == 0 ? sum->dst : sum->src, base = i == 0 ? sum->src : sum->dst;
        uint32_t where = at;
        uint64_t address;
        if (entry_load(search, &where, loaded) == NULL ||
            !fixed_address(search, at, base, &address))
            continue;
        *ret_table =
            (struct table){.address = address, .entry = 4, .relative = true, .before = where};
        return true;
    }
    return false;
}

static bool find_table(const struct search *search, uint32_t at, struct table *ret_table)
{
    const struct isa_insn *jump = &search->image->insns.items[at];
    if (absolute_table(jump, at, ret_table))
        return true;
    if (jump->src == ISA_NONE)
        return false;
    const struct isa_insn *made = definition(search, &at, jump->src);
    if (made == NULL)
        return false;
    if (made->kind == ISA_LOAD)
        return absolute_table(made, at, ret_table);
    return made->kind == ISA_ADD && made->src != ISA_NONE && made->width == 8 &&
           relative_table(search, at, made, ret_table);
}

// cmp I, n; ja default. The index may have been copied in between, so its register is not compared:
// any comparison followed by "above" counts.
static uint64_t bound_of(const struct search *search, const struct table *table)
{
    const struct isa_insn *insns = search->image->insns.items;
    for (uint32_t i = table->before, steps = 0; i-- > search->lowest && steps < LOOK_BACK;
         steps++) {
        if (insns[i].kind != ISA_COMPARE || insns[i].dst != ISA_NONE || insns[i].value < 0 ||
            insns[i].value >= LONGEST_TABLE)
            continue;
        const struct isa_insn *next = &insns[i + 1];
        if (next->kind == ISA_BRANCH && next->condition == ISA_IF_A)
            return (uint64_t)insns[i].value + 1;
        if (next->kind == ISA_BRANCH && next->condition == ISA_IF_AE)
            return (uint64_t)insns[i].value;
    }
    return 0;
}

static uint64_t entry_at(const unsigned char *bytes, const struct table *table, uint64_t index)
{
    uint64_t address;
    int32_t offset;
    if (!table->relative) {
        memcpy(&address, bytes + index * 8, sizeof address);
        return address;
    }
    memcpy(&offset, bytes + index * 4, sizeof offset);
    return table->address + (uint64_t)(int64_t)offset;
}

// The instruction at an address, if it belongs to the function or one of its parts; else FLOW_NONE.
static uint32_t inside(const struct flow_image *image, uint32_t function, uint64_t address)
{
    uint32_t range = flow_function_at(image, address);
    if (range == FLOW_NONE || (range != function && !image->functions.items[range].part &&
                               image->functions.items[function].owner != range))
        return FLOW_NONE;
    return flow_insn_at(image, address);
}

struct error *flow_table_targets(const struct flow_image *image, uint32_t function, uint32_t insn,
                                 struct error *(*target)(void *data, uint32_t insn), void *data,
                                 bool *ret_understood)
{
    const struct search search = {image, image->functions.items[function].first_insn};
    struct table table;
    *ret_understood = false;
    if (!find_table(&search, insn, &table))
        return NULL;
    size_t size;
    const unsigned char *bytes = elf_object_bytes(image->object, table.address, &size);
    if (bytes == NULL)
        return NULL;
    uint64_t bound = bound_of(&search, &table), count = size / table.entry;
    if (count > LONGEST_TABLE)
        count = LONGEST_TABLE;
    if (bound != 0 && bound < count)
        count = bound;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t where = inside(image, function, entry_at(bytes, &table, i));
        if (where == FLOW_NONE)
            break;
        TRY(target(data, where));
        *ret_understood = true;
    }
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces thunks. Kernels, and programs compiled like them, call thunks instead of using indirect
// calls, indirect jumps and returns, as a defence against speculative execution. The analyses want
// the instruction that a thunk stands for.
#include "flow/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t reg; // by DWARF number
} registers[] = {
    {"rax", 0},  {"rdx", 1},  {"rcx", 2},  {"rbx", 3},  {"rsi", 4},
    {"rdi", 5},  {"rbp", 6},  {"r8", 8},   {"r9", 9},   {"r10", 10},
    {"r11", 11}, {"r12", 12}, {"r13", 13}, {"r14", 14}, {"r15", 15},
};

static bool ends_with_register(const char *name, size_t size, uint8_t *ret_reg)
{
    static const char prefix[] = "__x86_indirect_thunk_";
    size_t skip = sizeof prefix - 1;
    if (size <= skip || memcmp(name, prefix, skip) != 0)
        return false;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (strlen(registers[i].name) == size - skip &&
            memcmp(registers[i].name, name + skip, size - skip) == 0) {
            *ret_reg = registers[i].reg;
            return true;
        }
    return false;
}

static bool is_named(const char *name, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(name, wanted, size) == 0;
}

struct error *flow_note_thunk(struct flow_image *image, const char *name, size_t name_size,
                              uint64_t address)
{
    struct flow_thunk thunk = {.address = address, .reg = ISA_NONE};
    if (name_size < 3 || memcmp(name, "__", 2) != 0 || (name[2] != 'x' && name[2] != 'f'))
        return NULL; // most symbols
    if (ends_with_register(name, name_size, &thunk.reg))
        thunk.kind = FLOW_THUNK_INDIRECT;
    else if (is_named(name, name_size, "__x86_return_thunk"))
        thunk.kind = FLOW_THUNK_RETURN;
    else if (is_named(name, name_size, "__fentry__"))
        thunk.kind = FLOW_THUNK_NOTHING;
    else
        return NULL;
    struct flow_thunk *added = ARRAY_ADD(&image->thunks);
    if (added == NULL)
        return error_no_memory();
    *added = thunk;
    return NULL;
}

static int compare_thunks(const void *a, const void *b)
{
    const struct flow_thunk *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

static void replace(struct isa_insn *insn, const struct flow_thunk *thunk)
{
    bool call = insn->kind == ISA_CALL;
    switch (thunk->kind) {
    case FLOW_THUNK_INDIRECT:
        insn->kind = call ? ISA_CALL_INDIRECT : ISA_JUMP_INDIRECT;
        insn->src = thunk->reg;
        break;
    case FLOW_THUNK_RETURN:
        if (!call)
            insn->kind = ISA_RET;
        break;
    default:
        if (!call)
            return;
        insn->kind = ISA_NOTHING;
        insn->writes = 0;
        break;
    }
}

void flow_replace_thunks(struct flow_image *image)
{
    size_t count = image->thunks.count;
    if (count == 0)
        return;
    qsort(image->thunks.items, count, sizeof *image->thunks.items, compare_thunks);
    uint64_t lowest = image->thunks.items[0].address,
             highest = image->thunks.items[count - 1].address;
    for (size_t i = 0; i < image->insns.count; i++) {
        struct isa_insn *insn = &image->insns.items[i];
        const struct flow_thunk key = {.address = (uint64_t)insn->value};
        if ((insn->kind != ISA_CALL && insn->kind != ISA_JUMP) || key.address < lowest ||
            key.address > highest)
            continue;
        const struct flow_thunk *thunk =
            bsearch(&key, image->thunks.items, count, sizeof key, compare_thunks);
        if (thunk != NULL)
            replace(insn, thunk);
    }
}

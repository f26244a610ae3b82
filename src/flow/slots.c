// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the relocations: which GOT slots and pointers the loader fills in, and with which imports
// or functions of the module.
#include "flow/internal.h"

#include "base/cleanup.h"
#include "elf/tables.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

// Imports that never return. For functions of the module itself, returns.c finds out.
static const char *const noreturn_names[] = {
    "_Exit",
    "_Unwind_Resume",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__chk_fail",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_unexpected",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
    "__fortify_fail",
    "__libc_fatal",
    "__libc_start_main",
    "__longjmp_chk",
    "__stack_chk_fail",
    "_exit",
    "_longjmp",
    "abort",
    "err",
    "errx",
    "exit",
    "g_assertion_message",
    "g_assertion_message_cmpnum",
    "g_assertion_message_expr",
    "longjmp",
    "pthread_exit",
    "quick_exit",
    "siglongjmp",
    "thrd_exit",
    "verr",
    "verrx",
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool comes_back(const char *name)
{
    return bsearch(name, noreturn_names, sizeof noreturn_names / sizeof *noreturn_names,
                   sizeof *noreturn_names, compare_names) == NULL;
}

struct loading {
    struct flow_image *image;
    const char *last_name, *last_version; // relocations of one symbol often follow each other
    uint32_t last_import;
};

static struct error *find_import(struct loading *loading, const struct elf_dynamic_symbol *symbol,
                                 uint32_t *ret_import)
{
    if (loading->last_name != symbol->name || loading->last_version != symbol->version) {
        struct flow_import *import = ARRAY_ADD(&loading->image->imports);
        if (import == NULL)
            return error_no_memory();
        *import = (struct flow_import){symbol->name, symbol->version, comes_back(symbol->name)};
        loading->last_name = symbol->name;
        loading->last_version = symbol->version;
        loading->last_import = (uint32_t)loading->image->imports.count - 1;
    }
    *ret_import = loading->last_import;
    return NULL;
}

static struct error *add_slot(void *data, const struct elf_relocation *relocation)
{
    struct loading *loading = data;
    struct flow_slot *slot = ARRAY_ADD(&loading->image->slots);
    if (slot == NULL)
        return error_no_memory();
    *slot = (struct flow_slot){.address = relocation->address,
                               .import = FLOW_NONE,
                               .type = relocation->type,
                               .addend = relocation->addend,
                               .symbol = relocation->symbol.name};
    bool called = relocation->type == R_X86_64_JUMP_SLOT || relocation->type == R_X86_64_GLOB_DAT ||
                  relocation->type == R_X86_64_64;
    if (!called || relocation->symbol.name == NULL)
        return NULL;
    // Even a call within the module goes through a symbol if it may be interposed.
    if (relocation->symbol.defined && relocation->symbol.type != STT_GNU_IFUNC) {
        slot->type = R_X86_64_RELATIVE;
        slot->addend += (int64_t)relocation->symbol.value;
        return NULL;
    }
    return find_import(loading, &relocation->symbol, &slot->import);
}

static int compare_slots(const void *a, const void *b)
{
    const struct flow_slot *left = a, *right = b;
    return (left->address > right->address) - (left->address < right->address);
}

struct error *flow_load_slots(struct flow_image *image)
{
    struct loading loading = {.image = image};
    TRY(elf_each_relocation(image->object, add_slot, &loading));
    if (image->slots.count != 0)
        qsort(image->slots.items, image->slots.count, sizeof *image->slots.items, compare_slots);
    return NULL;
}

const struct flow_slot *flow_slot_at(const struct flow_image *image, uint64_t address)
{
    const struct flow_slot key = {.address = address};
    if (image->slots.count == 0)
        return NULL;
    return bsearch(&key, image->slots.items, image->slots.count, sizeof key, compare_slots);
}

uint32_t flow_callee_of_slot(const struct flow_image *image, uint64_t address)
{
    const struct flow_slot *slot = flow_slot_at(image, address);
    if (slot == NULL)
        return FLOW_NONE;
    if (slot->import != FLOW_NONE)
        return slot->import | 0x80000000u;
    if (slot->type != R_X86_64_RELATIVE)
        return FLOW_NONE;
    uint32_t function = flow_function_at(image, (uint64_t)slot->addend);
    if (function == FLOW_NONE || image->functions.items[function].start != (uint64_t)slot->addend)
        return FLOW_NONE;
    return function;
}

// The callee of a PLT entry: perhaps endbr64, then a jump through a slot. The instructions of a
// function that starts there have been decoded before.
static uint32_t through_entry(const struct flow_image *image, uint64_t address,
                              const struct flow_function *function)
{
    size_t size = 0;
    uint32_t known = function != NULL ? function->insn_count : 0;
    const unsigned char *code = NULL;
    struct isa_decoder decoder;
    for (uint32_t i = 0; i < 2; i++) {
        struct isa_insn insn;
        if (i < known) {
            insn = image->insns.items[function->first_insn + i];
        } else {
            if (code == NULL) {
                isa_decoder_init(&decoder);
                code = elf_object_bytes(image->object, address, &size);
            }
            if (code == NULL || !isa_decode(&decoder, code, size, address, &insn))
                return FLOW_NONE;
            code += insn.length;
            size -= insn.length;
        }
        if (insn.kind == ISA_JUMP_INDIRECT && insn.base == ISA_PC && insn.index == ISA_NONE)
            return flow_callee_of_slot(image, (uint64_t)insn.displacement);
        if (insn.kind != ISA_NOTHING)
            return FLOW_NONE;
        address += insn.length;
    }
    return FLOW_NONE;
}

uint32_t flow_callee_at(const struct flow_image *image, uint64_t address)
{
    uint32_t number = flow_function_at(image, address);
    const struct flow_function *function =
        number != FLOW_NONE ? &image->functions.items[number] : NULL;
    if (function != NULL && function->start != address)
        function = NULL;
    uint32_t callee = through_entry(image, address, function);
    if (callee != FLOW_NONE)
        return callee;
    return function != NULL ? number : FLOW_NONE;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What the instructions of a module read and change. Which registers a call reads depends on a
// prototype that is not known: it is taken from what is put into registers before it, and not read
// by anything else.
#include "mutate/binary/internal.h"

#include "base/cleanup.h"
#include "elf/symbols.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t argument_registers[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
#define VECTOR_ARGUMENTS 8
// rax, rdx, rcx, rsi, rdi, r8 to r11, all vector registers, the flags
#define CHANGED_BY_CALL (0xf37ull | 0xffffull << 16 | ISA_USE_FLAGS)

static uint64_t arguments_of(uint64_t pending)
{
    uint64_t reads = pending & ISA_USE_GENERAL(ISA_RETURN); // al: how many vector registers
    for (size_t i = 0; i < sizeof argument_registers; i++) {
        uint64_t place = ISA_USE_GENERAL(argument_registers[i]);
        if ((pending & place) == 0)
            break;
        reads |= place;
    }
    for (unsigned i = 0; i < VECTOR_ARGUMENTS && (pending & ISA_USE_VECTOR(i)) != 0; i++)
        reads |= ISA_USE_VECTOR(i);
    return reads;
}

// Whether something else than the instruction before leads to a block.
static bool is_jumped_to(const struct flow_image *image, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->in_count; i++)
        if (image->edges.items[block->edges_in + i].kind != FLOW_FALLS)
            return true;
    return false;
}

static void find_call_arguments(struct code *code, const struct flow_function *function)
{
    const struct flow_image *image = code->image;
    uint64_t pending = 0; // written, and not read since
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + b];
        if (is_jumped_to(image, block))
            pending = 0;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            struct isa_use *use = &code->uses[i];
            pending &= ~use->reads;
            if (insn_is_call(&image->insns.items[i])) {
                use->reads |= arguments_of(pending);
                use->writes |= CHANGED_BY_CALL;
                pending = 0;
            } else {
                // a division's other result, and the sign before it, are no arguments
                uint64_t aside =
                    use->computes == ISA_DIVIDED || use->extends ? ISA_USE_GENERAL(1) : 0;
                pending |= use->writes & ~aside;
            }
        }
    }
}

// Which register with the result of a call is read soon after it; 0 if none.
static uint64_t result_read(const struct code *code, uint32_t call, uint32_t end)
{
    uint64_t result = ISA_USE_GENERAL(ISA_RETURN) | ISA_USE_VECTOR(0);
    for (uint32_t i = call + 1; i < end && i < call + 8 && result != 0; i++) {
        const struct isa_insn *insn = &code->image->insns.items[i];
        if ((code->uses[i].reads & result) != 0)
            return code->uses[i].reads & result;
        result &= ~code->uses[i].writes;
        if (insn->kind == ISA_JUMP || insn->kind == ISA_RET || insn_is_call(insn))
            return 0;
    }
    return 0;
}

static void look_at_function(struct code *code, const struct flow_function *function)
{
    const struct flow_image *image = code->image;
    uint32_t end = function->first_insn + function->insn_count;
    for (uint32_t i = function->first_insn; i < end; i++) {
        const struct isa_insn *insn = &image->insns.items[i];
        if (insn->kind == ISA_CALL) {
            uint32_t callee = flow_callee_at(image, (uint64_t)insn->value);
            if (callee != FLOW_NONE && !flow_callee_is_import(callee)) {
                code->results_read[callee] |= result_read(code, i, end);
                code->called[callee] = true;
            }
        }
        if (insn->kind == ISA_NOTHING && i > function->first_insn && i + 2 < end &&
            insn_is_call(&insn[-1]) && (insn[1].kind == ISA_LEAVE || insn[1].kind == ISA_POP) &&
            insn[2].kind == ISA_RET)
            code->marks_jumps = true;
    }
}

static void read_uses(struct code *code)
{
    const struct flow_image *image = code->image;
    struct isa_decoder decoder;
    isa_decoder_init(&decoder);
    for (size_t f = 0; f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        size_t size;
        const unsigned char *bytes =
            elf_object_code(image->object, function->start, function->end - function->start, &size);
        for (uint32_t i = 0; bytes != NULL && i < function->insn_count; i++) {
            const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
            uint64_t at = flow_address(image, insn) - function->start;
            if (at < size)
                isa_use(&decoder, bytes + at, size - at, &code->uses[function->first_insn + i]);
        }
        find_call_arguments(code, function);
    }
    for (size_t f = 0; f < image->functions.count; f++)
        look_at_function(code, &image->functions.items[f]);
}

struct error *code_open(const struct flow_image *image, struct code *ret_code)
{
    struct code code = {.image = image};
    code.uses = calloc(image->insns.count + 1, sizeof *code.uses);
    code.results_read = calloc(image->functions.count + 1, sizeof *code.results_read);
    code.called = calloc(image->functions.count + 1, sizeof *code.called);
    if (code.uses == NULL || code.results_read == NULL || code.called == NULL) {
        code_close(&code);
        return error_no_memory();
    }
    read_uses(&code);
    *ret_code = code;
    return NULL;
}

void code_close(struct code *code)
{
    free(code->uses);
    free(code->results_read);
    free(code->called);
    *code = (struct code){0};
}

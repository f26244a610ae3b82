// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of whole statements: calls and assignments that are missing (MFC, MVIV, MVAV, MVAE),
// wrong values (WVAV), and parts of an algorithm that are missing (MLPA).
#include "mutate/binary/internal.h"

#include "elf/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void skip(struct finding *finding, enum model_kind kind, const struct step *first,
                 const struct step *last)
{
    struct binary_fault *fault = finding_add(finding, kind, first->first);
    if (fault != NULL)
        patch_jump(finding, fault, first->first, last->end);
}

// ---- values ----

// Whether an address is of constants: a text, or a number.
static bool is_read_only(const struct finding *finding, int64_t address)
{
    size_t size;
    const struct flow_image *image = finding->body.code->image;
    return elf_object_constant(image->object, (uint64_t)address, &size) != NULL &&
           flow_function_at(image, (uint64_t)address) == FLOW_NONE;
}

// Whether a step assigns a constant, which may be a text or a floating-point number.
static bool is_constant(const struct finding *finding, const struct step *step)
{
    const struct body *body = &finding->body;
    const struct isa_insn *store = insn_at(body, step->effect);
    if (store->kind == ISA_STORE_CONSTANT)
        return true;
    if (step->effect - step->first != 1)
        return false;
    const struct isa_insn *value = &store[-1];
    const struct isa_use *use = use_at(body, step->effect - 1);
    if (value->kind == ISA_CONSTANT)
        return true;
    bool fixed = (value->flags & ISA_MEMORY) != 0 && value->base == ISA_PC &&
                 value->index == ISA_NONE && is_read_only(finding, value->displacement);
    if (value->kind == ISA_ADDRESS)
        return fixed;
    uint64_t vectors = 0xffffull << 16;
    return (use->writes & vectors) != 0 && (fixed || use->reads == 0);
}

// mov [variable], number
static void change_value(struct finding *finding, const struct step *step,
                         const struct local *local)
{
    const struct body *body = &finding->body;
    const struct isa_insn *insn = insn_at(body, step->effect);
    const struct isa_use *use = use_at(body, step->effect);
    bool null = insn->width == 8 && insn->value == 0; // most likely a pointer
    if (insn->kind != ISA_STORE_CONSTANT || local->pointer || null || use->immediate == 0)
        return;
    int64_t value =
        insn->width == 1 && (insn->value & ~1ll) == 0 ? insn->value ^ 1 : insn->value + 1;
    if (insn->width == 8 && value > INT32_MAX)
        return;
    const unsigned char *bytes = finding_bytes(finding, step->effect);
    struct binary_fault *fault = finding_add(finding, MODEL_WVAV, step->first);
    if (fault == NULL || bytes == NULL)
        return;
    char text[32];
    int size = snprintf(text, sizeof text, "%" PRId64, value);
    const char *replacement = arena_copy(&finding->out->arena, text, (size_t)size);
    fault->replacement = replacement != NULL ? replacement : "";
    finding->body.failed |= replacement == NULL;
    if (bytes[use->modrm - 1] == 0xc7 || bytes[use->modrm - 1] == 0xc6)
        patch_bytes(finding, fault, step->effect, use->immediate, &value, use->immediate_size);
}

// Whether a step stores to two places side by side: it copies a structure.
static bool copies_structure(const struct body *body, const struct step *step)
{
    const struct isa_insn *last = insn_at(body, step->effect);
    for (uint32_t i = step->first; i < step->effect; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if (insn->kind == ISA_STORE && last->kind == ISA_STORE && insn->base == last->base &&
            insn->displacement + insn->width == last->displacement && insn->width == 8)
            return true;
    }
    return false;
}

static void change_variable(struct finding *finding, const struct step *step,
                            const struct local *local)
{
    const struct body *body = &finding->body;
    const struct block *block = &body->blocks.items[step->block];
    bool first = !local->parameter && local->first_store == step->effect;
    bool constant = is_constant(finding, step);
    if (first && constant)
        change_value(finding, step, local);
    if (block->nodes < 2)
        return; // C02
    if (first && constant && !block->in_loop)
        skip(finding, MODEL_MVIV, step, step);
    else if (!first)
        skip(finding, constant ? MODEL_MVAV : MODEL_MVAE, step, step);
}

static void look_at_assignment(struct finding *finding, const struct step *step)
{
    const struct body *body = &finding->body;
    const struct local *local = local_of(body, insn_at(body, step->effect));
    size_t before = finding->out->items.count;
    if (local == NULL || local->temporary || local->aggregate || local->width > 8 ||
        step->heading || copies_structure(body, step))
        return; // C03, C06
    change_variable(finding, step, local);
    for (size_t i = before; i < finding->out->items.count; i++)
        types_note_variable(finding->types, &finding->body, i, local->offset);
}

// ---- parts of an algorithm ----

static bool is_part(const struct body *body, uint32_t n)
{
    if (n == UINT32_MAX || body->nodes.items[n].kind != NODE_STATEMENT)
        return false;
    const struct step *step = &body->steps.items[body->nodes.items[n].first];
    return (step->kind == STEP_CALL || step->kind == STEP_ASSIGN) && !step->heading && !step->label;
}

// Whether a statement is most likely a declaration: it gives a variable its first value, at the
// beginning of the function, or in an inner block that alone uses it.
static bool is_declaration(const struct body *body, const struct block *block, uint32_t n,
                           bool leading)
{
    if (!is_part(body, n))
        return false;
    uint32_t effect = body->steps.items[body->nodes.items[n].first].effect;
    const struct local *local = local_of(body, insn_at(body, effect));
    if (local == NULL || local->parameter || local->first_store != effect)
        return false;
    if (!leading || block->parent == UINT32_MAX)
        return leading;
    uint32_t first = body->steps.items[body->nodes.items[block->first].first].first;
    uint32_t end = body->steps.items[body->nodes.items[block->last].end - 1].end;
    return local->seen >= first && local->last_seen < end;
}

// As many statements as the source level takes, if it sees the same ones.
static void leave_out_part(struct finding *finding, const struct block *block, uint32_t first,
                           unsigned run, unsigned number)
{
    const struct body *body = &finding->body;
    unsigned range = MODEL_MOST_STATEMENTS - MODEL_LEAST_STATEMENTS + 1;
    unsigned length = MODEL_LEAST_STATEMENTS + number % range;
    if (length > run)
        length = run;
    if (length >= block->nodes)
        length--; // C02
    if (length < MODEL_LEAST_STATEMENTS)
        return;
    uint32_t last = first;
    for (unsigned i = 1; i < length; i++)
        last = body->nodes.items[last].next;
    skip(finding, MODEL_MLPA, &body->steps.items[body->nodes.items[first].first],
         &body->steps.items[body->nodes.items[last].first]);
}

static void look_for_parts(struct finding *finding, const struct block *block)
{
    const struct body *body = &finding->body;
    unsigned number = 0;
    bool leading = true;
    for (uint32_t n = block->first; n != UINT32_MAX; n = body->nodes.items[n].next) {
        unsigned run = 0;
        leading &= is_declaration(body, block, n, leading);
        for (uint32_t at = n; run < MODEL_MOST_STATEMENTS && is_part(body, at) &&
                              !is_declaration(body, block, at, leading);
             at = body->nodes.items[at].next)
            run++;
        if (run >= MODEL_LEAST_STATEMENTS)
            leave_out_part(finding, block, n, run, number);
        number = run > 0 ? number + 1 : 0;
    }
}

void find_statements(struct finding *finding)
{
    const struct body *body = &finding->body;
    for (size_t s = 0; s < body->steps.count; s++) {
        const struct step *step = &body->steps.items[s];
        if (step->node == UINT32_MAX)
            continue;
        if (step->kind == STEP_CALL && body->blocks.items[step->block].nodes > 1)
            skip(finding, MODEL_MFC, step, step);
        if (step->kind == STEP_ASSIGN && step->effect != UINT32_MAX)
            look_at_assignment(finding, step);
    }
    for (size_t b = 0; b < body->blocks.count; b++)
        look_for_parts(finding, &body->blocks.items[b]);
}

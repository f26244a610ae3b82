// SPDX-License-Identifier: GPL-3.0-or-later
// The variables in a function's frame: what is read and written relative to the frame pointer.
#include "mutate/binary/internal.h"

#include <stdlib.h>
#include <string.h>

#define NEAR 64 // instructions between a temporary's store and the place that reads it

struct access {
    unsigned stores, loads, others;
    uint32_t last_store; // instruction
    bool far;            // a statement lies between a store and a load
};

static int compare(const void *a, const void *b)
{
    const struct local *left = a, *right = b;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return (left->seen > right->seen) - (left->seen < right->seen);
}

static bool is_in_frame(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->base == ISA_FRAME;
}

struct local *local_at(const struct body *body, int64_t offset)
{
    size_t low = 0, high = body->locals.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (body->locals.items[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < body->locals.count && body->locals.items[low].offset == offset
               ? &body->locals.items[low]
               : NULL;
}

struct local *local_of(const struct body *body, const struct isa_insn *insn)
{
    return is_in_frame(insn) && insn->index == ISA_NONE ? local_at(body, insn->displacement) : NULL;
}

static void settle(struct body *body)
{
    struct local *items = body->locals.items;
    size_t kept = 0;
    if (body->locals.count == 0)
        return;
    qsort(items, body->locals.count, sizeof *items, compare);
    for (size_t i = 0; i < body->locals.count; i++) {
        if (kept == 0 || items[kept - 1].offset != items[i].offset) {
            items[kept++] = items[i];
            continue;
        }
        struct local *same = &items[kept - 1];
        same->parameter |= items[i].parameter;
        same->number |= items[i].number;
        if (items[i].last_seen > same->last_seen)
            same->last_seen = items[i].last_seen;
        same->temporary |= items[i].temporary;
        same->aggregate |= items[i].aggregate || (same->width != 0 && items[i].width != 0 &&
                                                  items[i].width > same->width);
        if (same->width == 0)
            same->width = items[i].width;
        if (items[i].first_store < same->first_store)
            same->first_store = items[i].first_store;
    }
    body->locals.count = kept;
}

static void collect(struct body *body)
{
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if (!is_in_frame(insn) || body->tail.items[i - body->start])
            continue;
        struct local *local = ARRAY_ADD(&body->locals);
        if (local == NULL) {
            body->failed = true;
            return;
        }
        bool whole = insn->index == ISA_NONE;
        bool address = insn->kind == ISA_ADDRESS;
        *local = (struct local){.offset = insn->displacement,
                                .width = address ? 0
                                         : insn->kind == ISA_LOAD || insn->kind == ISA_SELECT
                                             ? insn->from
                                             : insn->width,
                                .aggregate = !whole,
                                .first_store = insn_is_store(insn) && whole ? i : UINT32_MAX,
                                .seen = i,
                                .last_seen = i};
    }
    settle(body);
}

// ---- parts ----

static bool is_side_by_side(const struct body *body, uint32_t insn)
{
    if (insn + 1 >= body->end || body->labelled.items[insn + 1 - body->start])
        return false;
    const struct isa_insn *first = insn_at(body, insn), *second = &first[1];
    return first->kind == ISA_STORE_CONSTANT && second->kind == ISA_STORE_CONSTANT &&
           is_in_frame(first) && is_in_frame(second) && first->index == ISA_NONE &&
           second->index == ISA_NONE && first->width == second->width &&
           second->displacement == first->displacement + first->width;
}

bool locals_fill_on(const struct body *body, uint32_t insn)
{
    const struct local *local =
        is_side_by_side(body, insn) ? local_of(body, insn_at(body, insn)) : NULL;
    return local != NULL && local->aggregate;
}

// Constants for several places, one behind the other, are the parts of one variable: variables that
// are declared one after the other lie in the other order. Two are enough if they are of 8 bytes.
static void find_parts(struct body *body)
{
    for (uint32_t i = body->first; i < body->end; i++) {
        uint32_t last = i;
        while (is_side_by_side(body, last))
            last++;
        uint32_t least = insn_at(body, i)->width == 8 ? 1 : 2;
        for (uint32_t at = i; at <= last && last >= i + least; at++) {
            struct local *local = local_of(body, insn_at(body, at));
            if (local != NULL)
                local->aggregate = true;
        }
        i = last;
    }
}

// ---- temporaries ----

static bool is_done(const struct body *body, const struct step *step, const struct local *local)
{
    const struct isa_insn *effect = step->effect != UINT32_MAX ? insn_at(body, step->effect) : NULL;
    if (step->kind == STEP_CALL || step->kind == STEP_RETURN)
        return true;
    return step->kind == STEP_ASSIGN && effect != NULL && local_of(body, effect) != local &&
           !(local_of(body, effect) != NULL && local_of(body, effect)->temporary);
}

// Whether a statement ends between two instructions of different steps.
static bool lies_between(const struct body *body, uint32_t from, uint32_t to,
                         const struct local *local)
{
    uint32_t s = body->step_of.items[from - body->start];
    uint32_t end = body->step_of.items[to - body->start];
    for (s++; s < end; s++)
        if (is_done(body, &body->steps.items[s], local))
            return true;
    return false;
}

// Whether a call, a jump or its target lies between two instructions: registers lose their values
// there.
static bool is_interrupted(const struct body *body, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i <= to; i++) {
        uint8_t kind = insn_at(body, i)->kind;
        if (kind == ISA_CALL || kind == ISA_CALL_INDIRECT || kind == ISA_JUMP ||
            kind == ISA_BRANCH || body->labelled.items[i - body->start])
            return true;
    }
    return false;
}

// Whether a loop begins between two instructions: no statement goes on there.
static bool begins_loop(const struct body *body, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i <= to; i++)
        if ((body->labelled.items[i - body->start] & LABEL_BACK) != 0)
            return true;
    return false;
}

static void note_load(const struct body *body, struct access *access, const struct local *local,
                      uint32_t insn)
{
    const struct step *step = &body->steps.items[body->step_of.items[insn - body->start]];
    bool cases = step_tells_cases(body, step);
    access->loads += !cases || access->loads == 0;
    access->far |= access->stores == 0 || insn - access->last_store > NEAR ||
                   !is_interrupted(body, access->last_store, insn) ||
                   begins_loop(body, access->last_store, insn) ||
                   lies_between(body, access->last_store, insn, local);
}

static void count_accesses(const struct body *body, struct access *accesses)
{
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        struct local *local = is_in_frame(insn) ? local_at(body, insn->displacement) : NULL;
        if (local == NULL)
            continue;
        struct access *access = &accesses[local - body->locals.items];
        bool plain = insn->index == ISA_NONE && insn->kind != ISA_ADDRESS;
        if (plain && insn->kind == ISA_STORE &&
            (use_at(body, i)->reads & ~ISA_USE_GENERAL(ISA_FRAME)) != 0) {
            access->stores++;
            access->last_store = i;
        } else if (plain && !insn_is_store(insn) && use_at(body, i)->computes == ISA_NO_OPERATOR &&
                   (use_at(body, i)->writes & ~ISA_USE_FLAGS) != 0) {
            note_load(body, access, local, i);
        } else {
            access->others++;
        }
    }
}

// clang puts values into the frame that a call or a jump would lose, below all variables. Such a
// place is written and then read by the same statement. All that could be temporaries are taken for
// some at first: several may belong to one statement.
static void find_temporaries(struct body *body)
{
    struct access *accesses = calloc(body->locals.count + 1, sizeof *accesses);
    bool changed = accesses != NULL;
    body->failed |= accesses == NULL;
    for (int round = 0; changed; round++) {
        memset(accesses, 0, body->locals.count * sizeof *accesses);
        count_accesses(body, accesses);
        changed = round == 0;
        bool below = true; // no variable of the programmer's so far
        for (size_t i = 0; i < body->locals.count; i++) {
            struct local *local = &body->locals.items[i];
            const struct access *access = &accesses[i];
            below &= !local->parameter && !local->aggregate && access->stores > 0 &&
                     access->loads > 0 && access->loads <= access->stores && access->others == 0 &&
                     (round == 0 || !access->far);
            bool temporary = below || local->offset == body->result;
            changed |= local->temporary != temporary;
            local->temporary = temporary;
        }
    }
    free(accesses);
}

static void note_access(struct local *local, const struct isa_insn *insn)
{
    uint8_t width = insn->kind == ISA_LOAD ? insn->from : insn->width;
    local->structure |= insn->displacement != 0 || (local->pointer && local->pointed != width);
    local->pointer = true;
    local->pointed = width;
    if (insn->index == ISA_NONE && insn->displacement >= 0 && insn->displacement < INT16_MAX &&
        local->reach < insn->displacement + width)
        local->reach = (uint32_t)(insn->displacement + width);
}

// What is loaded and then used as an address is a pointer.
static void find_pointers(struct body *body)
{
    for (uint32_t i = body->first; i + 1 < body->end; i++) {
        const struct isa_insn *load = insn_at(body, i);
        struct local *local = load->kind == ISA_LOAD ? local_of(body, load) : NULL;
        if (local == NULL || load->width != 8 || load->from != 8)
            continue;
        for (uint32_t j = i + 1; j < body->end && j < i + 6; j++) {
            const struct isa_insn *insn = insn_at(body, j);
            if ((insn->flags & ISA_MEMORY) != 0 && insn->kind != ISA_ADDRESS &&
                insn->base == load->dst)
                note_access(local, insn);
            if ((insn->writes >> load->dst & 1) != 0 && use_at(body, j)->computes != ISA_PLUS)
                break;
        }
    }
}

// ---- types ----

void locals_unite(struct body *body, const struct local *a, const struct local *b)
{
    uint32_t from = a->alike, to = b->alike;
    if (from == to)
        return;
    for (size_t i = 0; i < body->locals.count; i++)
        if (body->locals.items[i].alike == from)
            body->locals.items[i].alike = to;
}

// Variables that are copied to each other, or compared with each other, have the same type.
static void find_types(struct body *body)
{
    for (size_t i = 0; i < body->locals.count; i++)
        body->locals.items[i].alike = (uint32_t)i;
    for (uint32_t i = body->first; i + 1 < body->end; i++) {
        const struct isa_insn *load = insn_at(body, i), *next = &load[1];
        const struct local *from = load->kind == ISA_LOAD ? local_of(body, load) : NULL;
        const struct local *to = from != NULL ? local_of(body, next) : NULL;
        if (to == NULL || from->width != to->width || load->width != load->from)
            continue;
        bool stores = next->kind == ISA_STORE && next->src == load->dst;
        bool compares = (next->kind == ISA_COMPARE && next->dst == load->dst) ||
                        (next->kind == ISA_COMPARE_MEMORY && next->src == load->dst) ||
                        (next->kind == ISA_SUBTRACT_MEMORY && next->dst == load->dst);
        if (stores || compares)
            locals_unite(body, from, to);
    }
    // So have pointers to elements of the same size.
    const struct local *known[16] = {NULL};
    for (size_t i = 0; i < body->locals.count; i++) {
        const struct local *local = &body->locals.items[i];
        if (!local->pointer || local->structure || local->pointed >= 16)
            continue;
        if (known[local->pointed] != NULL)
            locals_unite(body, known[local->pointed], local);
        known[local->pointed] = local;
    }
}

void locals_find(struct body *body)
{
    collect(body);
    if (body->failed)
        return;
    find_parts(body);
    find_temporaries(body);
    find_pointers(body);
    find_types(body);
}

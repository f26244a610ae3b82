// SPDX-License-Identifier: GPL-3.0-or-later
// Divides a function into steps.
#include "mutate/binary/internal.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_FILLED 4 // members, to take their assignments for one

// ---- steps ----

static bool is_between(const struct body *body, uint32_t insn)
{
    return (body->live.items[insn - body->start] & ~NOT_TEMPORARY & ~body->variables) == 0 &&
           !body->apart.items[insn - body->start];
}

static void classify(struct body *body, struct step *step)
{
    uint32_t real = 0;
    const struct isa_insn *last = NULL;
    step->effect = UINT32_MAX;
    for (uint32_t i = step->first; i < step->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if (insn->kind == ISA_NOTHING)
            continue;
        real++;
        last = insn;
        if (insn_is_call(insn) || insn_is_store(insn) || (insn->writes & body->variables) != 0 ||
            ((insn->flags & ISA_MEMORY) != 0 && insn->kind == ISA_OTHER &&
             (use_at(body, i)->writes & ~ISA_USE_FLAGS & ~ISA_USE_X87) == 0))
            step->effect = i;
    }
    bool ends = step->end < body->end && body->tail.items[step->end - body->start];
    if (last == NULL)
        step->kind = STEP_NOTHING;
    else if (ends && (body->live.items[step->end - 1 - body->start] & body->returned) != 0)
        step->kind = STEP_RETURN;
    else if (last->kind == ISA_BRANCH)
        step->kind = STEP_BRANCH;
    else if (last->kind == ISA_JUMP)
        step->kind = real == 1 ? STEP_JUMP : STEP_RETURN;
    else if (last->kind == ISA_JUMP_INDIRECT)
        step->kind = STEP_SWITCH;
    else if (step->effect == UINT32_MAX)
        step->kind = STEP_OTHER;
    else
        step->kind = insn_is_call(insn_at(body, step->effect)) ? STEP_CALL : STEP_ASSIGN;
}

static struct step *add_step(struct body *body, uint32_t first, uint32_t end)
{
    struct step *step = ARRAY_ADD(&body->steps);
    if (step == NULL) {
        body->failed = true;
        return NULL;
    }
    *step = (struct step){.first = first,
                          .end = end,
                          .effect = UINT32_MAX,
                          .target = NO_STEP,
                          .block = UINT32_MAX,
                          .node = UINT32_MAX};
    for (uint32_t i = first; i < end; i++)
        body->step_of.items[i - body->start] = (uint32_t)body->steps.count - 1;
    return step;
}

static void cut(struct body *body)
{
    uint32_t first = body->first;
    bool acts = false; // what was computed so far is more than a value that nobody reads
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        acts |= insn_is_store(insn) || insn_is_call(insn) ||
                (insn->writes & body->variables) != 0 || insn->kind == ISA_JUMP ||
                insn->kind == ISA_BRANCH || insn->kind == ISA_JUMP_INDIRECT;
        bool tail = body->tail.items[i - body->start];
        bool next_tail = i + 1 < body->end && body->tail.items[i + 1 - body->start];
        bool nop = insn->kind == ISA_NOTHING && i == first;
        if (!tail && !next_tail && !nop && i + 1 < body->end && !(acts && is_between(body, i)) &&
            !body_leads_to_tail(body, insn))
            continue;
        if (tail && next_tail)
            continue;
        struct step *step = add_step(body, first, i + 1);
        if (step == NULL)
            return;
        if (tail)
            step->kind = STEP_TAIL;
        first = i + 1;
        acts = false;
    }
}

// The step that a jump leads into the middle of; NO_STEP if it does not.
static uint32_t middle_of(const struct body *body, uint32_t insn)
{
    uint32_t target = body_target(body, insn_at(body, insn));
    uint32_t to =
        target != UINT32_MAX && target > insn ? body->step_of.items[target - body->start] : NO_STEP;
    bool middle = to != NO_STEP && body->steps.items[to].first != target &&
                  body->steps.items[to].kind != STEP_TAIL;
    return middle ? to : NO_STEP;
}

// Whether a step tells cases of a switch apart: clang keeps the value for all of them.
bool step_tells_cases(const struct body *body, const struct step *step)
{
    if (step->kind == STEP_SWITCH)
        return true;
    return step->kind == STEP_BRANCH && step->end - step->first >= 3 &&
           insn_at(body, step->end - 2)->kind == ISA_ADD;
}

// The last step that reads what this one puts into a temporary; NO_STEP if there is none.
static uint32_t reader_of(const struct body *body, uint32_t s)
{
    uint32_t last = NO_STEP;
    for (uint32_t i = body->steps.items[s].first; i < body->steps.items[s].end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        const struct local *local = insn_is_store(insn) ? local_of(body, insn) : NULL;
        if (local == NULL || !local->temporary)
            continue;
        bool read = false;
        for (uint32_t j = i + 1; j < body->end && !body->tail.items[j - body->start]; j++) {
            const struct isa_insn *other = insn_at(body, j);
            if (local_of(body, other) != local)
                continue;
            if (insn_is_store(other) && read)
                break;
            uint32_t to = body->step_of.items[j - body->start];
            if (insn_is_store(other))
                continue;
            read = true;
            if (!step_tells_cases(body, &body->steps.items[to]) && (last == NO_STEP || to > last))
                last = to;
        }
    }
    return last;
}

// Where the address in a register was loaded from, before an instruction of a step: an offset in
// the frame or an address; 0 if it is neither.
static int64_t pointer_of(const struct body *body, const struct step *step, uint32_t insn,
                          uint8_t reg)
{
    for (uint32_t i = insn; i-- > step->first;) {
        const struct isa_insn *load = insn_at(body, i);
        if (reg < ISA_REGISTERS && (use_at(body, i)->writes & ISA_USE_GENERAL(reg)) != 0)
            return load->kind == ISA_LOAD && load->index == ISA_NONE &&
                           (load->base == ISA_FRAME || load->base == ISA_PC)
                       ? load->displacement
                       : 0;
    }
    return 0;
}

static bool is_same_operand(const struct body *body, const struct step *a, uint32_t left,
                            const struct step *b, uint32_t right)
{
    const struct isa_insn *first = insn_at(body, left), *second = insn_at(body, right);
    if ((second->flags & ISA_MEMORY) == 0 || first->index != ISA_NONE ||
        second->index != ISA_NONE || first->displacement != second->displacement ||
        first->width != second->from)
        return false;
    if (first->base == ISA_FRAME || first->base == ISA_PC)
        return first->base == second->base;
    int64_t from = pointer_of(body, a, left, first->base);
    return from != 0 && from == pointer_of(body, b, right, second->base);
}

// Whether a step and the next one are a = b = 0: gcc reads b again, at once. b = 0; a = b; is
// rarer, but with other values than constants it is not. `constant`: the step itself reads such a
// b.
static bool is_chained(const struct body *body, size_t s, bool constant)
{
    if (s + 1 >= body->steps.count)
        return false;
    const struct step *a = &body->steps.items[s], *b = &a[1];
    if (a->kind != STEP_ASSIGN || b->kind != STEP_ASSIGN || a->effect + 1 != a->end ||
        b->effect + 1 != b->end || body->labelled.items[b->first - body->start] ||
        (!constant && insn_at(body, a->effect)->kind != ISA_STORE_CONSTANT) ||
        insn_at(body, b->effect)->kind != ISA_STORE)
        return false;
    uint32_t at = b->first;
    if (insn_at(body, at)->kind == ISA_LOAD && !is_same_operand(body, a, a->effect, b, at))
        at++; // the address
    const struct isa_insn *load = insn_at(body, at);
    return at < b->effect && load->kind == ISA_LOAD && load->dst == insn_at(body, b->effect)->src &&
           is_same_operand(body, a, a->effect, b, at);
}

// What is given an address by a step that does nothing else: a member of a global variable.
struct filling {
    int64_t variable, offset; // where the variable's address is kept, or 0
};

static bool is_address(const struct body *body, const struct isa_insn *insn)
{
    if (insn->kind == ISA_ADDRESS)
        return insn->base == ISA_PC;
    return insn->kind == ISA_LOAD && insn->base == ISA_PC && insn->from == 8 &&
           flow_slot_at(body->code->image, (uint64_t)insn->displacement) != NULL;
}

static bool fills_global(const struct body *body, size_t s, struct filling *ret_filling)
{
    const struct step *step = s < body->steps.count ? &body->steps.items[s] : NULL;
    if (step == NULL || step->kind != STEP_ASSIGN || step->effect + 1 != step->end ||
        step->effect < step->first + 1 || body->labelled.items[step->first - body->start])
        return false;
    const struct isa_insn *store = insn_at(body, step->effect), *value = &store[-1];
    if (store->kind != ISA_STORE || store->index != ISA_NONE || store->width != 8 ||
        value->dst != store->src || !is_address(body, value))
        return false;
    *ret_filling = (struct filling){.offset = store->displacement};
    if (store->base == ISA_PC)
        return step->effect == step->first + 1;
    const struct isa_insn *base = &value[-1];
    ret_filling->variable = base->displacement;
    return step->effect == step->first + 2 && base->kind == ISA_LOAD && base->base == ISA_PC &&
           base->dst == store->base;
}

// A structure is given addresses, for all its members in their order: most likely at once.
static size_t find_filled_global(const struct body *body, size_t s)
{
    struct filling filling, next;
    size_t last = s;
    if (!fills_global(body, s, &filling))
        return s;
    while (fills_global(body, last + 1, &next) && next.variable == filling.variable &&
           next.offset == filling.offset + 8) {
        filling = next;
        last++;
    }
    return last >= s + LEAST_FILLED - 1 ? last : s;
}

// The last step of those from this one on that fill parts of one variable.
static size_t find_filled(const struct body *body, size_t s)
{
    size_t global = find_filled_global(body, s);
    if (global != s)
        return global;
    while (s + 1 < body->steps.count && body->steps.items[s].kind == STEP_ASSIGN &&
           body->steps.items[s + 1].kind == STEP_ASSIGN &&
           locals_fill_on(body, body->steps.items[s].end - 1) &&
           body->steps.items[s + 1].end == body->steps.items[s].end + 1)
        s++;
    return s;
}

// The pointer that a step decrements, if it does nothing else; or NULL.
static const struct local *decremented(const struct body *body, const struct step *step)
{
    const struct isa_insn *insn = insn_at(body, step->first);
    bool one = step->end - step->first == 1 && (insn->flags & ISA_MEMORY) != 0 &&
               use_at(body, step->first)->computes == ISA_MINUS;
    const struct local *local = one ? local_of(body, insn) : NULL;
    return local != NULL && local->pointer ? local : NULL;
}

static bool reads(const struct body *body, const struct step *step, const struct local *local)
{
    for (uint32_t i = step->first; i < step->end; i++)
        if (insn_at(body, i)->kind == ISA_LOAD && local_of(body, insn_at(body, i)) == local)
            return true;
    return false;
}

// The statement that --pointer is an operand of: the next one that decrements no pointer, if it
// reads it.
static size_t find_operand_of(const struct body *body, size_t s)
{
    const struct local *local = decremented(body, &body->steps.items[s]);
    if (local == NULL)
        return s;
    for (size_t i = s + 1; i < body->steps.count && i < s + 4; i++) {
        const struct step *step = &body->steps.items[i];
        if (body->labelled.items[step->first - body->start] || step->kind == STEP_TAIL)
            return s;
        if (decremented(body, step) == NULL)
            return reads(body, step, local) ? i : s;
    }
    return s;
}

// Whether a step does nothing but decrement what it stores to, a variable or a member.
static bool decrements(const struct body *body, const struct step *step)
{
    unsigned loads = 0, others = 0;
    if (step->kind != STEP_ASSIGN || step->effect + 1 != step->end ||
        insn_at(body, step->effect)->kind != ISA_STORE)
        return false;
    for (uint32_t i = step->first; i < step->effect; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        bool less = (insn->kind == ISA_ADDRESS && insn->index == ISA_NONE &&
                     insn->base != ISA_FRAME && insn->displacement < 0) ||
                    use_at(body, i)->computes == ISA_MINUS;
        loads += insn->kind == ISA_LOAD && is_same_operand(body, step, step->effect, step, i);
        others += insn->kind != ISA_LOAD && !less;
    }
    return loads == 1 && others == 0;
}

// Whether a step decrements a pointer and the next one reads what that points to then: *--pointer.
static bool is_read_before(const struct body *body, size_t s)
{
    if (s + 1 >= body->steps.count)
        return false;
    const struct step *a = &body->steps.items[s], *b = &a[1];
    if (body->labelled.items[b->first - body->start] || b->kind == STEP_TAIL ||
        !decrements(body, a))
        return false;
    for (uint32_t i = b->first; i + 1 < b->end && i < b->first + 3; i++) {
        const struct isa_insn *load = insn_at(body, i), *next = &load[1];
        if (load->kind == ISA_LOAD && is_same_operand(body, a, a->effect, b, i))
            return next->kind == ISA_LOAD && next->base == load->dst;
    }
    return false;
}

// A jump into the middle of a step makes one of what lies between: an operand of ?:, or the value
// of && and ||. So does a temporary.
static void join(struct body *body)
{
    size_t kept = 0;
    for (size_t s = 0; s < body->steps.count; s++) {
        struct step step = body->steps.items[s];
        bool chained = false;
        for (size_t last = s; step.kind != STEP_TAIL; s++) {
            const struct step *part = &body->steps.items[s];
            step.end = part->end;
            for (uint32_t i = part->first; i < part->end; i++) {
                uint32_t to = middle_of(body, i);
                last = to != NO_STEP && to > last ? to : last;
            }
            uint32_t reader = reader_of(body, (uint32_t)s);
            last = reader != NO_STEP && reader > last ? reader : last;
            size_t operand_of = find_operand_of(body, s), filled = find_filled(body, s);
            last = operand_of > last ? operand_of : last;
            last = is_read_before(body, s) && s + 1 > last ? s + 1 : last;
            last = filled > last ? filled : last;
            chained = is_chained(body, s, chained);
            if (chained && s + 1 > last)
                last = s + 1;
            if (s == last)
                break;
        }
        body->steps.items[kept++] = step;
    }
    body->steps.count = kept;
    for (size_t s = 0; s < kept; s++)
        for (uint32_t i = body->steps.items[s].first; i < body->steps.items[s].end; i++)
            body->step_of.items[i - body->start] = (uint32_t)s;
}

// Whether a step compares one value, which it keeps in a register, with several constants: a
// switch. A condition reads its variable again each time.
static bool is_case_chain(const struct body *body, const struct step *step)
{
    unsigned cases = 0;
    uint8_t value = ISA_NONE;
    for (uint32_t i = step->first + 1; i < step->end; i++) {
        const struct isa_insn *insn = insn_at(body, i), *test = &insn[-1];
        if (value != ISA_NONE && (use_at(body, i)->writes & ISA_USE_GENERAL(value)) != 0)
            return false;
        if (insn->kind != ISA_BRANCH)
            continue;
        bool compares = (test->flags & ISA_MEMORY) == 0 && test->src < ISA_REGISTERS &&
                        ((test->kind == ISA_COMPARE && test->dst == ISA_NONE) ||
                         (test->kind == ISA_TEST && test->src == test->dst));
        if (!compares && test->kind != ISA_BRANCH)
            return false;
        if (compares && value != ISA_NONE && value != test->src)
            return false;
        if (compares)
            value = test->src;
        cases++;
    }
    return cases >= 2 && value != ISA_NONE;
}

static void connect(struct body *body)
{
    for (size_t s = 0; s < body->steps.count; s++) {
        struct step *step = &body->steps.items[s];
        uint32_t target = body_target(body, insn_at(body, step->end - 1));
        if (target != UINT32_MAX && step->kind != STEP_TAIL) {
            step->target = body->step_of.items[target - body->start];
            struct step *to = &body->steps.items[step->target];
            to->reached = true;
            if (to->first != target && to->kind != STEP_TAIL)
                body->odd = true; // back into the middle of one
        }
    }
    for (size_t s = 0; s < body->steps.count; s++)
        if (body->steps.items[s].kind != STEP_TAIL) {
            classify(body, &body->steps.items[s]);
            if (body->steps.items[s].kind == STEP_BRANCH &&
                is_case_chain(body, &body->steps.items[s]))
                body->steps.items[s].kind = STEP_SWITCH;
        }
}

// A store to clang's variable for the result is a `return`, together with the jump behind it.
static void note_returns(struct body *body)
{
    for (size_t s = 0; s + 1 < body->steps.count; s++) {
        struct step *step = &body->steps.items[s], *next = &step[1];
        const struct local *local = step->kind == STEP_ASSIGN && step->effect != UINT32_MAX
                                        ? local_of(body, insn_at(body, step->effect))
                                        : NULL;
        if (local == NULL || !local->temporary || local->offset != body->result)
            continue;
        step->kind = STEP_RETURN;
        if (next->kind == STEP_JUMP && !next->reached)
            next->kind = STEP_NOTHING;
    }
}

uint32_t step_final(const struct body *body, uint32_t step)
{
    for (int i = 0; i < 16 && step < body->steps.count; i++) {
        const struct step *at = &body->steps.items[step];
        if (at->kind == STEP_NOTHING)
            step++;
        else if (at->kind == STEP_JUMP && at->target != NO_STEP)
            step = at->target;
        else
            break;
    }
    return step;
}

bool step_is_landing(const struct body *body, uint32_t step)
{
    if (step == NO_STEP || step == 0 || step >= body->steps.count)
        return false;
    const struct step *at = &body->steps.items[step];
    uint32_t first = at->first;
    const struct isa_insn *insn = insn_at(body, first), *previous = &insn[-1];
    if (first <= body->first || insn->kind != ISA_NOTHING || insn->length != 1)
        return false;
    // jmp behind; nop; behind:
    if (previous->kind == ISA_NOTHING)
        return at->kind == STEP_NOTHING && step_is_landing(body, step - 1);
    if (previous->kind != ISA_JUMP)
        return false;
    uint64_t behind = flow_address(body->code->image, insn) + insn->length;
    if ((uint64_t)previous->value == behind)
        return true;
    uint32_t over = body_target(body, previous);
    return over != UINT32_MAX && at->kind == STEP_NOTHING &&
           step_final(body, body->step_of.items[over - body->start]) == step_final(body, step);
}

void steps_find(struct body *body)
{
    cut(body);
    for (size_t s = 0; s < body->steps.count; s++)
        if (body->steps.items[s].kind != STEP_TAIL)
            classify(body, &body->steps.items[s]);
    if (body->failed)
        return;
    locals_find(body);
    if (body->failed)
        return;
    for (size_t before = 0; before != body->steps.count;) {
        before = body->steps.count;
        join(body);
    }
    connect(body);
    note_returns(body);
}

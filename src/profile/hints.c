// SPDX-License-Identifier: GPL-3.0-or-later
// Finds hints about the type of a function's result. Only the nearest instructions are looked at;
// what is not seen there stays open.
#include "profile/hints.h"

#include <sys/syscall.h>

#define MOST_INSNS  24 // after a call
#define MOST_BLOCKS 3
#define FROM_RESULT (HINT_DEREFERENCED | HINT_USED)

struct following {
    const struct flow_image *image;
    unsigned hints, insns;
    bool returned; // the value may be returned, so this is no use by a caller
};

static bool holds(uint32_t registers, uint8_t reg)
{
    return reg < ISA_REGISTERS && (registers >> reg & 1) != 0;
}

static unsigned width_hint(unsigned width)
{
    return HINT_USED | (width == 8 ? HINT_WIDE : HINT_NARROW);
}

// What an instruction says about a value that is in some registers. Updates the registers.
static void follow_insn(struct following *following, const struct isa_insn *insn,
                        uint32_t *registers)
{
    if ((insn->flags & ISA_MEMORY) != 0 && insn->kind != ISA_ADDRESS &&
        holds(*registers, insn->base))
        following->hints |= FROM_RESULT;
    uint32_t copies = 0;
    switch (insn->kind) {
    case ISA_COPY:
        if (!holds(*registers, insn->src))
            break;
        copies = insn->dst < ISA_REGISTERS ? 1u << insn->dst : 0;
        following->hints |= insn->from < 8 ? HINT_USED | HINT_NARROW : HINT_USED;
        break;
    case ISA_COMPARE:
    case ISA_TEST:
        if (holds(*registers, insn->src) || holds(*registers, insn->dst))
            following->hints |= width_hint(insn->width);
        break;
    case ISA_STORE:
        if (holds(*registers, insn->src))
            following->hints |= width_hint(insn->width);
        break;
    default:
        break;
    }
    *registers = (*registers & ~(uint32_t)insn->writes) | copies;
}

static void follow_block(struct following *following, uint32_t number, uint32_t registers,
                         unsigned depth)
{
    const struct flow_image *image = following->image;
    const struct flow_block *block = &image->blocks.items[number];
    for (uint32_t i = 0; i < block->count; i++) {
        if (following->insns++ >= MOST_INSNS || registers == 0)
            return;
        follow_insn(following, &image->insns.items[block->first + i], &registers);
    }
    following->returned |= block->end == FLOW_RETURNS && holds(registers, ISA_RETURN);
    if (depth == 0 || block->end != FLOW_GOES_ON)
        return;
    for (uint32_t i = 0; i < block->out_count && i < 2; i++)
        follow_block(following, image->edges.items[block->edges_out + i].block, registers,
                     depth - 1);
}

#define SECOND    1 // rdx
#define MOST_NEAR 6 // instructions

// Whether the block behind a call uses the second half of the result.
static bool uses_second(const struct flow_image *image, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->count && i < MOST_NEAR; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        bool writes = (insn->writes >> SECOND & 1) != 0;
        bool source = insn->src == SECOND && insn->kind != ISA_OTHER && insn->kind != ISA_CONSTANT;
        bool memory =
            (insn->flags & ISA_MEMORY) != 0 && (insn->base == SECOND || insn->index == SECOND);
        if (source || memory ||
            (insn->dst == SECOND && (insn->kind == ISA_COMPARE || insn->kind == ISA_TEST)))
            return true;
        if (writes || insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT)
            return false;
    }
    return false;
}

void hints_from_calls(const struct flow_image *image, uint32_t *functions, uint32_t *imports)
{
    for (size_t i = 0; i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        if (block->end != FLOW_CALLS || block->callee == FLOW_NONE || block->out_count == 0)
            continue;
        uint32_t *hints = flow_callee_is_import(block->callee)
                              ? &imports[flow_callee_import(block->callee)]
                              : &functions[image->functions.items[block->callee].owner];
        const uint32_t next = image->edges.items[block->edges_out].block;
        if (uses_second(image, &image->blocks.items[next]))
            *hints |= HINT_SECOND_USED;
        struct following following = {.image = image};
        if ((*hints & HINT_DEREFERENCED) == 0 || (*hints & HINT_CALLED_OFTEN) == 0)
            follow_block(&following, next, 1u << ISA_RETURN, MOST_BLOCKS);
        *hints |= following.hints;
        if (!following.returned)
            *hints |= (*hints & HINT_CALLED_TWICE) != 0 ? HINT_CALLED_OFTEN
                      : (*hints & HINT_CALLED) != 0     ? HINT_CALLED_TWICE
                                                        : HINT_CALLED;
    }
}

// ---- how a function makes its result ----

static unsigned made_by(const struct isa_insn *insn)
{
    switch (insn->kind) {
    case ISA_CONSTANT:
    case ISA_BORROW:
        return 0;
    case ISA_SET:
        return HINT_MADE_NARROW;
    case ISA_ADDRESS:
        return insn->base == ISA_PC ? HINT_MADE_ADDRESS | HINT_MADE_WIDE
               : insn->width == 8   ? HINT_MADE_WIDE
                                    : HINT_MADE_NARROW;
    case ISA_SUBTRACT:
        return HINT_MADE_COUNT | (insn->width == 8 ? HINT_MADE_WIDE : HINT_MADE_NARROW);
    case ISA_COPY:
    case ISA_LOAD:
    case ISA_ADD:
    case ISA_SELECT:
        return insn->width == 8 ? HINT_MADE_WIDE : HINT_MADE_NARROW;
    default:
        return 0;
    }
}

// HINT_MADE_COUNT if a difference is what an instruction selects, or not: a > b ? a - b : 0.
static unsigned selects_difference(const struct flow_image *image, const struct flow_block *block,
                                   uint32_t index)
{
    const struct isa_insn *select = &image->insns.items[block->first + index];
    if (select->kind != ISA_SELECT)
        return 0;
    uint32_t left = 1u << ISA_RETURN;
    left |= select->src < ISA_REGISTERS ? 1u << select->src : 0;
    while (left != 0 && index-- > 0) {
        const struct isa_insn *insn = &image->insns.items[block->first + index];
        if ((insn->writes & left) != 0 &&
            (insn->kind == ISA_SUBTRACT || insn->kind == ISA_SUBTRACT_MEMORY))
            return HINT_MADE_COUNT;
        left &= ~(uint32_t)insn->writes;
    }
    return 0;
}

// What happened to a value between where it is made and the end of the function.
enum touched { UNTOUCHED, LOOKED_AT, PUT_ELSEWHERE };

#define MOST_BACK 48 // blocks
#define TINY      12 // instructions

struct making {
    const struct flow_image *image;
    unsigned (*callee_hints)(void *data, uint32_t callee);
    void *data;
    unsigned hints;
    uint32_t entry; // block
    bool tiny;      // hardly more than a system call, whose result it returns
    bool own;       // an instruction of the function makes a result
    bool nothing;   // on some path there cannot be a result
    bool never;     // on some path the return register is never written
    bool fresh;     // new memory is returned, and was only looked at
    bool kept;      // new memory is in the return register, but was stored elsewhere, too
    bool constant;  // a constant is returned
    bool floats;    // the last that a path does is to write the register of floating-point numbers
    uint32_t seen[MOST_BACK];
    uint8_t seen_touched[MOST_BACK];
    unsigned seen_count;
};

// Hints of a function that returns the result of the call at the end of a block.
static unsigned from_callee(struct making *making, const struct flow_block *block, unsigned passes,
                            enum touched touched)
{
    unsigned hints =
        block->callee != FLOW_NONE ? making->callee_hints(making->data, block->callee) : 0;
    bool shaped = hints_call_allocates(making->image, block, hints);
    bool memory = shaped || (hints & HINT_ALLOCATES) != 0;
    making->fresh |= touched == LOOKED_AT && memory;
    making->kept |= touched == PUT_ELSEWHERE && memory;
    if (shaped)
        passes |= HINT_MADE_WIDE;
    if (block->callee == FLOW_NONE)
        return passes;
    if ((hints & HINT_STOPS) != 0)
        return 0;
    if (touched == UNTOUCHED)
        making->hints |= (hints & HINT_FLOAT) |
                         (hints_say_pair(hints) ? HINT_SECOND_USED | HINT_SECOND_MADE : 0);
    if (hints_say_void(hints) || (hints & HINT_NEVER_USED) != 0) {
        making->nothing = true;
        return 0;
    }
    const unsigned result = HINT_MADE | HINT_USED | HINT_PASSED;
    bool leftover = (hints & (result | HINT_LEFTOVER)) == HINT_LEFTOVER;
    if ((hints & HINT_IGNORED) != 0 || leftover)
        passes &= ~(unsigned)HINT_MADE;
    return passes | (hints & (HINT_MADE_WIDE | HINT_MADE_NARROW)) |
           (hints_say_pointer(hints) ? HINT_MADE_POINTER : 0);
}

static enum touched touches_result(const struct isa_insn *insn)
{
    bool memory =
        (insn->flags & ISA_MEMORY) != 0 && (insn->base == ISA_RETURN || insn->index == ISA_RETURN);
    bool source = insn->src == ISA_RETURN;
    switch (insn->kind) {
    case ISA_CONSTANT:
    case ISA_NOTHING:
    case ISA_POP:
    case ISA_LEAVE:
    case ISA_RET:
    case ISA_LOAD:
    case ISA_ADDRESS:
    case ISA_SET:
        return memory ? LOOKED_AT : UNTOUCHED;
    case ISA_COMPARE:
    case ISA_TEST:
        return memory || source || insn->dst == ISA_RETURN ? LOOKED_AT : UNTOUCHED;
    case ISA_COPY:
    case ISA_STORE:
    case ISA_PUSH:
        return source ? PUT_ELSEWHERE : memory ? LOOKED_AT : UNTOUCHED;
    default:
        return source || insn->dst == ISA_RETURN ? PUT_ELSEWHERE : memory ? LOOKED_AT : UNTOUCHED;
    }
}

// The stack canary is checked just before a function returns: in the return register if there is no
// result, in another register if there is one.
static bool is_canary(const struct isa_insn *insn)
{
    return (insn->flags & ISA_THREAD) != 0 && insn->displacement == 0x28 && insn->kind != ISA_LOAD;
}

// Whether a system call is futex(), which releases a lock. Its result is not used.
static bool wakes(const struct flow_image *image, const struct flow_block *block, uint32_t index)
{
    while (index-- > 0) {
        const struct isa_insn *insn = &image->insns.items[block->first + index];
        if ((insn->writes >> ISA_RETURN & 1) != 0)
            return insn->kind == ISA_CONSTANT && insn->value == SYS_futex;
    }
    return false;
}

// Whether the value that a block leaves in the return register is called by a later block. Then it
// was loaded to see whether there is something to call, not to be returned.
static bool is_called(const struct flow_image *image, const struct flow_block *block)
{
    for (uint32_t e = 0; e < block->out_count; e++) {
        const struct flow_block *next =
            &image->blocks.items[image->edges.items[block->edges_out + e].block];
        for (uint32_t i = 0; i < next->count; i++) {
            const struct isa_insn *insn = &image->insns.items[next->first + i];
            if ((insn->kind == ISA_CALL_INDIRECT || insn->kind == ISA_JUMP_INDIRECT) &&
                (insn->flags & ISA_MEMORY) == 0 && insn->src == ISA_RETURN)
                return true;
            if ((insn->writes >> ISA_RETURN & 1) != 0)
                break;
        }
    }
    return false;
}

// Whether the return register is returned because it is not zero: if (r) return r.
static bool returns_if_set(const struct flow_image *image, const struct flow_edge *edge)
{
    const struct flow_block *block = &image->blocks.items[edge->block];
    const struct isa_insn *last = &image->insns.items[block->first + block->count - 1];
    if (last->kind != ISA_BRANCH || block->count < 2)
        return false;
    unsigned condition = edge->kind == FLOW_TAKEN ? last->condition : last->condition ^ 1u;
    const struct isa_insn *test = last - 1;
    return condition == ISA_IF_NE && test->kind == ISA_TEST && test->src == ISA_RETURN &&
           test->dst == ISA_RETURN && test->width == 4;
}

static bool stores_outside(const struct isa_insn *insn)
{
    return (insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT) &&
           (insn->flags & ISA_MEMORY) != 0 && insn->base != ISA_STACK && insn->base != ISA_FRAME;
}

// Looks for what makes the result, backwards from the end of a block. `touched` is what happened to
// it later on the same path.
static void look_back(struct making *making, uint32_t number, enum touched touched)
{
    const struct flow_image *image = making->image;
    const struct flow_block *block = &image->blocks.items[number];
    for (unsigned i = 0; i < making->seen_count; i++)
        if (making->seen[i] == number &&
            (touched != PUT_ELSEWHERE || making->seen_touched[i] == PUT_ELSEWHERE))
            return;
    if (making->seen_count == MOST_BACK) {
        making->hints |= HINT_MADE; // too far away: assume that there is a result
        return;
    }
    bool stored = false, floating = false, does = false;
    making->seen_touched[making->seen_count] = (uint8_t)touched;
    making->seen[making->seen_count++] = number;
    for (uint32_t i = block->count; i-- > 0;) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        // A vector that is not stored afterwards is the result.
        bool floats = (insn->flags & ISA_FLOAT) != 0;
        stored |=
            insn->kind == ISA_NOTHING ? floats : insn->kind == ISA_STORE && insn->src == ISA_NONE;
        floating |= floats && !stored;
        if ((insn->writes >> ISA_RETURN & 1) != 0 || insn->kind == ISA_SYSCALL) {
            making->constant |= insn->kind == ISA_CONSTANT && touched == UNTOUCHED && !floating;
            bool call = insn->kind == ISA_SYSCALL;
            bool result =
                call ? making->tiny && !wakes(image, block, i) : (insn->flags & ISA_THREAD) == 0;
            if (result)
                making->hints |= (call ? 0 : made_by(insn) | selects_difference(image, block, i)) |
                                 (touched != UNTOUCHED && !call ? HINT_LEFTOVER : HINT_MADE);
            making->own |= result && touched == UNTOUCHED;
            making->hints |= floating ? HINT_FLOAT : 0;
            making->floats |= floating && block->end == FLOW_RETURNS;
            making->never |=
                touched != UNTOUCHED && insn->kind == ISA_LOAD && is_called(image, block);
            return;
        }
        if (is_canary(insn)) {
            making->hints |= HINT_MADE;
            making->own = true;
        }
        does |= stores_outside(insn);
        enum touched here = touches_result(insn);
        touched = here > touched ? here : touched;
    }
    making->never |= number == making->entry;
    making->hints |= floating ? HINT_FLOAT : 0;
    making->floats |= floating && block->end == FLOW_RETURNS;
    for (uint32_t i = 0; i < block->in_count; i++) {
        const struct flow_edge *edge = &image->edges.items[block->edges_in + i];
        const struct flow_block *other = &image->blocks.items[edge->block];
        if (touched == UNTOUCHED && !does && returns_if_set(image, edge))
            making->hints |= HINT_MADE;
        if (other->end == FLOW_CALLS)
            making->hints |= from_callee(
                making, other, touched == UNTOUCHED ? HINT_PASSED : HINT_LEFTOVER, touched);
        else
            look_back(making, edge->block, touched);
    }
}

static unsigned acts(const struct flow_image *image, const struct flow_block *block)
{
    // A call that never returns is an exception, not the purpose of the function.
    if ((block->end == FLOW_CALLS && flow_callee_returns(image, block->callee)) ||
        block->end == FLOW_TAIL)
        return HINT_ACTS;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        if (stores_outside(insn) || insn->kind == ISA_SYSCALL)
            return HINT_ACTS;
    }
    return 0;
}

// HINT_SECOND_MADE, if the block changes the register of the second half of a result.
static unsigned makes_second(const struct making *making, const struct flow_block *block)
{
    bool calls = block->end == FLOW_CALLS || block->end == FLOW_TAIL;
    if (calls && (block->callee == FLOW_NONE || flow_callee_is_import(block->callee)))
        return HINT_SECOND_MADE;
    if (calls && (making->callee_hints(making->data, block->callee) & HINT_SECOND_MADE) != 0)
        return HINT_SECOND_MADE;
    for (uint32_t i = 0; i < block->count; i++)
        if ((making->image->insns.items[block->first + i].writes >> SECOND & 1) != 0)
            return HINT_SECOND_MADE;
    return 0;
}

// Like acts(), but a call of a function that does nothing is nothing.
static unsigned works(const struct making *making, const struct flow_block *block)
{
    const struct flow_image *image = making->image;
    if (block->end == FLOW_UNKNOWN)
        return HINT_WORKS;
    if ((block->end == FLOW_CALLS && flow_callee_returns(image, block->callee)) ||
        block->end == FLOW_TAIL)
        if (block->callee == FLOW_NONE ||
            (making->callee_hints(making->data, block->callee) & HINT_WORKS) != 0)
            return HINT_WORKS;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        if (stores_outside(insn) || insn->kind == ISA_SYSCALL)
            return HINT_WORKS;
    }
    return 0;
}

unsigned hints_from_body(const struct flow_image *image, uint32_t function,
                         unsigned (*callee_hints)(void *data, uint32_t callee), void *data)
{
    struct making making = {.image = image,
                            .callee_hints = callee_hints,
                            .data = data,
                            .entry = image->functions.items[function].first_block,
                            .tiny = image->functions.items[function].insn_count <= TINY};
    for (uint32_t range = function; range != FLOW_NONE;) {
        const struct flow_function *part = &image->functions.items[range];
        for (uint32_t i = 0; i < part->block_count; i++) {
            const struct flow_block *block = &image->blocks.items[part->first_block + i];
            if ((making.hints & HINT_ACTS) == 0)
                making.hints |= acts(image, block);
            if ((making.hints & HINT_WORKS) == 0)
                making.hints |= works(&making, block);
            if ((making.hints & HINT_SECOND_MADE) == 0)
                making.hints |= makes_second(&making, block);
            if (block->end == FLOW_TAIL)
                making.hints |= from_callee(&making, block, HINT_MADE | HINT_PASSED, UNTOUCHED);
            else if (block->end == FLOW_UNKNOWN)
                making.hints |= HINT_MADE;
            else if (block->end == FLOW_RETURNS) {
                making.seen_count = 0;
                look_back(&making, part->first_block + i, UNTOUCHED);
            }
        }
        range = part->next_part;
    }
    // New memory that is stored nowhere would be lost if it were not returned.
    if (making.fresh && !making.kept && !hints_keep_memory(image, function, callee_hints, data))
        making.hints |= HINT_MADE | HINT_PASSED;
    // A function with a result has one on every path. What callees left behind is none.
    if (making.never || (making.nothing && !making.own))
        making.hints &= HINT_ACTS | HINT_WORKS | HINT_SECOND_MADE;
    if (making.own)
        making.hints &= ~(unsigned)HINT_PASSED;
    if (making.constant && !making.floats)
        making.hints &= ~(unsigned)HINT_FLOAT;
    // A function that does nothing else must have a result.
    if ((making.hints & (HINT_ACTS | HINT_LEFTOVER)) == HINT_LEFTOVER)
        making.hints |= HINT_MADE;
    return making.hints;
}

unsigned hints_with_declaration(unsigned hints, enum declared_result declared)
{
    const unsigned wide =
        HINT_WIDE | HINT_MADE_WIDE | HINT_DEREFERENCED | HINT_MADE_ADDRESS | HINT_MADE_POINTER;
    const unsigned narrow = HINT_NARROW | HINT_MADE_NARROW;
    const unsigned pair = HINT_SECOND_USED | HINT_SECOND_MADE;
    const unsigned made = HINT_MADE | HINT_USED;
    switch (declared) {
    case DECLARED_UNKNOWN:
    case DECLARED_STRUCTURE:
        return hints;
    case DECLARED_VOID:
        return hints & ~(made | wide | narrow | pair | HINT_LEFTOVER | HINT_PASSED | HINT_FLOAT);
    case DECLARED_OTHER:
        return (hints & ~(made | wide | narrow | pair)) | HINT_FLOAT;
    case DECLARED_TRUTH:
    case DECLARED_NUMBER:
        return (hints & ~(wide | pair | HINT_FLOAT)) | made | HINT_NARROW;
    case DECLARED_LONG: // neither an int nor a pointer
        return (hints & ~(wide | narrow | pair | HINT_FLOAT)) | made | HINT_WIDE;
    case DECLARED_POINTER:
        return (hints & ~(narrow | pair | HINT_FLOAT)) | made | HINT_WIDE | HINT_MADE_POINTER;
    }
    return hints;
}

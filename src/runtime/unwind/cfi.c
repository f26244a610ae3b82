// SPDX-License-Identifier: GPL-3.0-or-later
// Computes unwind rows: runs the rules of a frame description up to an address, and caches the row.
// Anything unusual gives no row rather than a wrong one.
#include "runtime/cache.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"
#include "runtime/unwind.h"
#include "runtime/unwind/table.h"

struct cached_row unwind_rows[UNWIND_ROWS];
uint32_t unwind_generation = 1;
uint32_t unwind_reach = 511;

void unwind_renew(void)
{
    if (atomic_add(&unwind_generation, 1) == UINT32_MAX)
        atomic_add(&unwind_generation, 1);
}

void unwind_forget(void)
{
    unwind_renew();
    for (size_t i = 0; i < UNWIND_ROWS; i++)
        if (unwind_rows[i].pc != 0)
            atomic_store(&unwind_rows[i].pc, 0);
}

// Register rules while the instructions run. Kept small for signal handlers' stacks; what does not
// fit is unusual.
struct state {
    int32_t cfa_offset;
    int32_t saved[SAVED];
    uint8_t cfa_register;
    bool return_undefined, unusual;
};

static int saved_index(uint64_t dwarf_register)
{
    switch (dwarf_register) {
    case 3:
        return RBX;
    case 6:
        return RBP;
    case 12:
    case 13:
    case 14:
    case 15:
        return (int)dwarf_register - 12 + R12;
    default:
        return -1;
    }
}

static void set_cfa_offset(struct state *state, int64_t offset)
{
    state->cfa_offset = (int32_t)offset;
    state->unusual |= offset != (int32_t)offset;
}

static void set_cfa_register(struct state *state, uint64_t number)
{
    state->cfa_register = (uint8_t)number;
    state->unusual = number > 16;
}

static void set_saved(struct state *state, uint64_t number, int64_t offset)
{
    int index = saved_index(number);
    if (index >= 0)
        state->saved[index] = (int32_t)offset;
    else if (number == 16 && offset != -8)
        state->unusual = true;
}

// Linkers describe entries of the PLT, which push a word halfway, by an expression: the CFA is a
// register plus a number that depends on where in the entry the pc is. Expressions are understood
// if they give a register plus a number at a given pc; nothing is read from memory.
struct term {
    int64_t number;
    uint8_t base; // 1 + DWARF number of the register to add; 0: none
};

#define EXPRESSION_DEPTH 6

static bool binary_term(uint8_t op, struct term *a, const struct term *b)
{
    uint64_t x = (uint64_t)a->number, y = (uint64_t)b->number;
    if (op == 0x22 && (a->base == 0 || b->base == 0)) { // plus
        a->number = (int64_t)(x + y);
        a->base |= b->base;
        return true;
    }
    if (b->base != 0 || (a->base != 0 && op != 0x1c))
        return false;
    switch (op) {
    case 0x1a: // and
        a->number = (int64_t)(x & y);
        return true;
    case 0x1c: // minus
        a->number = (int64_t)(x - y);
        return true;
    case 0x21: // or
        a->number = (int64_t)(x | y);
        return true;
    case 0x24: // shl
        a->number = y < 64 ? (int64_t)(x << y) : 0;
        return true;
    case 0x25: // shr
        a->number = y < 64 ? (int64_t)(x >> y) : 0;
        return true;
    case 0x29: // eq
        a->number = a->number == b->number;
        return true;
    case 0x2a: // ge
        a->number = a->number >= b->number;
        return true;
    case 0x2b: // gt
        a->number = a->number > b->number;
        return true;
    case 0x2c: // le
        a->number = a->number <= b->number;
        return true;
    case 0x2d: // lt
        a->number = a->number < b->number;
        return true;
    case 0x2e: // ne
        a->number = a->number != b->number;
        return true;
    default:
        return false;
    }
}

// A value to push. False: the operation is not one of these.
static bool leaf_term(struct table *table, uint8_t op, uint64_t pc, struct term *ret_term)
{
    *ret_term = (struct term){0, 0};
    if (op >= 0x30 && op <= 0x4f) // lit0 to lit31
        ret_term->number = op - 0x30;
    else if (op == 0x80) // breg16: the pc
        ret_term->number = (int64_t)(pc + (uint64_t)table_sleb(table));
    else if (op >= 0x70 && op <= 0x7f) // breg0 to breg15
        *ret_term = (struct term){table_sleb(table), (uint8_t)(op - 0x70 + 1)};
    else if (op == 0x08) // const1u
        ret_term->number = (int64_t)table_fixed(table, 1);
    else
        return false;
    return true;
}

static bool run_expression(struct table table, uint64_t pc, struct term *ret_term)
{
    struct term terms[EXPRESSION_DEPTH];
    unsigned depth = 0;
    while (table.at < table.end && !table.failed) {
        uint8_t op = (uint8_t)table_fixed(&table, 1);
        if (depth < EXPRESSION_DEPTH && leaf_term(&table, op, pc, &terms[depth]))
            depth++;
        else if (depth > 0 && op == 0x23) // plus_uconst
            terms[depth - 1].number += (int64_t)table_uleb(&table);
        else if (depth > 1 && binary_term(op, &terms[depth - 2], &terms[depth - 1]))
            depth--;
        else
            return false;
    }
    if (table.failed || depth != 1)
        return false;
    *ret_term = terms[0];
    return true;
}

// Not inlined: it is rare, and stacks of signal handlers may be small.
__attribute__((noinline)) static void set_cfa_expression(struct table *table, struct state *state,
                                                         uint64_t pc)
{
    uint64_t size = table_uleb(table);
    struct table expression = *table;
    struct term cfa;
    table_skip(table, size);
    if (table->failed)
        return;
    expression.end = table->at;
    if (run_expression(expression, pc, &cfa) && cfa.base != 0) {
        set_cfa_register(state, cfa.base - 1);
        set_cfa_offset(state, cfa.number);
    } else {
        state->unusual = true;
    }
}

// One instruction that does not advance the location. False: an unknown one.
static bool run_instruction(struct table *table, uint8_t op, struct state *state,
                            const struct state *initial, const struct description *d)
{
    uint64_t number;
    switch (op) {
    case 0x00: // nop
        return true;
    case 0x05: // offset_extended
        number = table_uleb(table);
        set_saved(state, number, (int64_t)table_uleb(table) * d->data_align);
        return true;
    case 0x06: // restore_extended
        number = table_uleb(table);
        if (saved_index(number) >= 0)
            state->saved[saved_index(number)] = initial->saved[saved_index(number)];
        return true;
    case 0x07: // undefined
        number = table_uleb(table);
        if (number == 16)
            state->return_undefined = true;
        return true;
    case 0x08: // same_value
        set_saved(state, table_uleb(table), 0);
        return true;
    case 0x0c: // def_cfa
        set_cfa_register(state, table_uleb(table));
        set_cfa_offset(state, (int64_t)table_uleb(table));
        return true;
    case 0x0d: // def_cfa_register
        set_cfa_register(state, table_uleb(table));
        return true;
    case 0x0e: // def_cfa_offset
        set_cfa_offset(state, (int64_t)table_uleb(table));
        return true;
    case 0x11: // offset_extended_sf
        number = table_uleb(table);
        set_saved(state, number, table_sleb(table) * d->data_align);
        return true;
    case 0x12: // def_cfa_sf
        set_cfa_register(state, table_uleb(table));
        set_cfa_offset(state, table_sleb(table) * d->data_align);
        return true;
    case 0x13: // def_cfa_offset_sf
        set_cfa_offset(state, table_sleb(table) * d->data_align);
        return true;
    case 0x2e: // GNU_args_size
        table_uleb(table);
        return true;
    case 0x0f: // def_cfa_expression
        set_cfa_expression(table, state, d->pc);
        return true;
    case 0x10: // expression
    case 0x16: // val_expression
        table_uleb(table);
        table_skip(table, table_uleb(table));
        return true;
    default:
        return false;
    }
}

static bool run(struct table table, const struct description *d, uint64_t pc, struct state *state,
                const struct state *initial)
{
    struct state remembered[3];
    size_t depth = 0;
    uint64_t at = d->start;
    while (table.at < table.end && !table.failed) {
        uint8_t op = table_byte(&table);
        uint8_t low = op & 0x3f;
        switch (op >> 6) {
        case 1:
            at += low * d->code_align;
            break;
        case 2:
            set_saved(state, low, (int64_t)table_uleb(&table) * d->data_align);
            continue;
        case 3:
            if (saved_index(low) >= 0)
                state->saved[saved_index(low)] = initial->saved[saved_index(low)];
            continue;
        default:
            if (op >= 0x02 && op <= 0x04) {
                at += table_fixed(&table, 1u << (op - 2)) * d->code_align;
                break;
            }
            if (op == 0x0a && depth < 3) {
                remembered[depth++] = *state;
            } else if (op == 0x0b && depth > 0) {
                *state = remembered[--depth];
            } else if (!run_instruction(&table, op, state, initial, d)) {
                return false;
            }
            continue;
        }
        if (at > pc)
            return true;
    }
    return !table.failed;
}

// For code that nothing describes. A step by it is checked (unwind.c).
static const struct row guessed_row = {.cfa_offset = 16,
                                       .saved = {[RBP] = -16},
                                       .saved_mask = 1 << RBP,
                                       .cfa_base = RBP,
                                       .flags = ROW_VALID | ROW_GUESSED};

static struct row compute_row(const struct module *module, uint64_t pc)
{
    struct row row = {.flags = 0};
    struct description d;
    struct state state = {.cfa_register = 7}, initial;
    if (!description_find(module, pc, &d))
        return guessed_row;
    if (d.signal) {
        row.flags = ROW_VALID | ROW_SIGNAL;
        return row;
    }
    if (!run(d.initial, &d, UINT64_MAX, &state, &state))
        return row;
    initial = state;
    if (!run(d.rules, &d, pc, &state, &initial))
        return row;
    if (state.return_undefined) {
        row.flags = ROW_VALID | ROW_END;
        return row;
    }
    int base = state.cfa_register == 7 ? ROW_ON_STACK : saved_index(state.cfa_register);
    bool usable = !state.unusual && base >= 0;
    for (int i = 0; i < SAVED; i++) {
        usable &= state.saved[i] == (int16_t)state.saved[i];
        row.saved[i] = (int16_t)state.saved[i];
        row.saved_mask |= (uint8_t)((state.saved[i] != 0) << i);
    }
    row.cfa_offset = state.cfa_offset;
    row.cfa_base = (uint8_t)base;
    row.flags = usable ? ROW_VALID : 0;
    return row;
}

// Rows that collide ask for more entries. After that they are computed again, or found in the cache
// of all processes, which is nearly as good; so more collisions are accepted there.
static void note_collision(void)
{
    static uint32_t collisions;
    uint32_t reach = atomic_load(&unwind_reach);
    uint32_t bearable = runtime.shared_rows != NULL ? 8 * reach : reach / 8;
    if (reach < UNWIND_ROWS - 1 && atomic_add(&collisions, 1) >= bearable) {
        atomic_store(&collisions, 0);
        atomic_store(&unwind_reach, 2 * reach + 1);
    }
}

static struct row look_up_row(uint64_t pc)
{
    struct row row = {.flags = 0};
    struct module *module = module_at(pc);
    if (module == NULL)
        return guessed_row;
    if (cache_row_find(module, pc, &row))
        return row;
    row = compute_row(module, pc);
    cache_row_put(module, pc, &row);
    return row;
}

struct row unwind_row(uint64_t pc)
{
    struct cached_row *cached = unwind_entry(pc);
    uint64_t seen = atomic_load(&cached->pc);
    if (seen == pc) {
        struct row row = cached->row;
        __asm__ volatile("" ::: "memory");
        if (atomic_load(&cached->pc) == pc)
            return row;
    }
    if (seen > UNWIND_BUSY)
        note_collision();
    struct row row = look_up_row(pc);
    if (seen != UNWIND_BUSY && atomic_swap_if(&cached->pc, seen, UNWIND_BUSY)) {
        cached->row = row;
        atomic_store(&cached->pc, pc);
    }
    return row;
}

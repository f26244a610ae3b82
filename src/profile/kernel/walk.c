// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses the functions that system calls reach. Kernels have tens of thousands of functions that
// call each other in cycles. So little is kept of each: a set of error numbers and a few other
// values instead of every outcome. Functions in cycles are analysed again when the others are
// known.
#include "profile/kernel/walk.h"

#include "base/cleanup.h"
#include "profile/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 6
#define ARGUMENTS   6 // in registers

enum state { STATE_NEW, STATE_OPEN, STATE_LISTED };

struct visit {
    uint32_t function, range, block, target; // where the next call is looked for, and its target
};

struct walk {
    const struct flow_image *image;
    const struct operation_targets *operations;
    struct error_sets sets;
    struct kernel_outcomes *outcomes; // by function
    unsigned char *states;            // by function
    unsigned char *changed;           // by function: by its last analysis
    unsigned char *cut;               // by function
    uint8_t *private_stores;          // for the search
    ARRAY(uint32_t) order;            // callees first
    ARRAY(struct visit) visits;
    struct summary asked; // of the callee that the search asked for last
    unsigned rounds;
};

struct error *walk_new(const struct flow_image *image, const struct operation_targets *operations,
                       struct walk **ret_walk)
{
    size_t functions = image->functions.count + 1;
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL)
        return error_no_memory();
    walk->image = image;
    walk->operations = operations;
    walk->outcomes = calloc(functions, sizeof *walk->outcomes);
    walk->states = calloc(functions, 1);
    walk->changed = calloc(functions, 1);
    walk->cut = calloc(functions, 1);
    walk->private_stores = calloc(image->insns.count / 8 + 1, 1);
    struct error *error = error_sets_init(&walk->sets);
    if (error == NULL && (walk->outcomes == NULL || walk->states == NULL || walk->changed == NULL ||
                          walk->cut == NULL || walk->private_stores == NULL))
        error = error_no_memory();
    if (error != NULL) {
        walk_free(walk);
        return error;
    }
    *ret_walk = walk;
    return NULL;
}

void walk_free(struct walk *walk)
{
    if (walk == NULL)
        return;
    free(walk->outcomes);
    free(walk->states);
    free(walk->changed);
    free(walk->cut);
    free(walk->private_stores);
    ARRAY_DEINIT(&walk->order);
    ARRAY_DEINIT(&walk->visits);
    summary_deinit(&walk->asked);
    error_sets_deinit(&walk->sets);
    free(walk);
}

// ---- callees ----

const uint32_t *walk_targets(const struct operation_targets *operations, const uint32_t *callee,
                             uint32_t *ret_count)
{
    *ret_count = 0;
    if (*callee == FLOW_NONE)
        return NULL;
    if (!flow_callee_is_import(*callee)) {
        *ret_count = 1;
        return callee;
    }
    uint32_t operation = flow_callee_import(*callee);
    if (operation + 1 >= operations->first.count)
        return NULL;
    *ret_count = operations->first.items[operation + 1] - operations->first.items[operation];
    return operations->functions.items + operations->first.items[operation];
}

static uint32_t owner(const struct walk *walk, uint32_t function)
{
    return walk->image->functions.items[function].owner;
}

static struct error *enter(struct walk *walk, uint32_t function)
{
    if (walk->states[function] != STATE_NEW)
        return NULL;
    struct visit *visit = ARRAY_ADD(&walk->visits);
    if (visit == NULL)
        return error_no_memory();
    *visit = (struct visit){.function = function, .range = function};
    walk->states[function] = STATE_OPEN;
    return NULL;
}

// The next callee of the visited function, or FLOW_NONE.
static uint32_t next_called(const struct walk *walk, struct visit *visit)
{
    const struct flow_image *image = walk->image;
    while (visit->range != FLOW_NONE) {
        const struct flow_function *range = &image->functions.items[visit->range];
        while (visit->block < range->block_count) {
            const struct flow_block *block =
                &image->blocks.items[range->first_block + visit->block];
            uint32_t count;
            const uint32_t *targets = walk_targets(walk->operations, &block->callee, &count);
            if (visit->target < count)
                return owner(walk, targets[visit->target++]);
            visit->block++;
            visit->target = 0;
        }
        visit->range = range->next_part;
        visit->block = 0;
    }
    return FLOW_NONE;
}

struct error *walk_add(struct walk *walk, uint32_t function)
{
    TRY(enter(walk, owner(walk, function)));
    while (walk->visits.count != 0) {
        struct visit *visit = &walk->visits.items[walk->visits.count - 1];
        uint32_t called = next_called(walk, visit), done = visit->function;
        if (called != FLOW_NONE) {
            TRY(enter(walk, called));
            continue;
        }
        uint32_t *listed = ARRAY_ADD(&walk->order);
        if (listed == NULL)
            return error_no_memory();
        *listed = done;
        walk->states[done] = STATE_LISTED;
        walk->visits.count--;
    }
    return NULL;
}

// ---- what the search asks ----

static void merge(struct kernel_outcomes *into, const struct kernel_outcomes *from)
{
    for (unsigned i = 0; i < ERROR_NUMBERS / 64; i++)
        into->errors.bits[i] |= from->errors.bits[i];
    into->codes |= from->codes;
    into->arguments |= from->arguments;
    into->zero |= from->zero;
    into->one |= from->one;
    into->other |= from->other;
    into->known |= from->known;
}

static bool same(const struct kernel_outcomes *a, const struct kernel_outcomes *b)
{
    return memcmp(&a->errors, &b->errors, sizeof a->errors) == 0 && a->codes == b->codes &&
           a->arguments == b->arguments && a->zero == b->zero && a->one == b->one &&
           a->other == b->other && a->known == b->known;
}

static struct error *add_value(struct summary *summary, struct value value)
{
    return summary_add(summary, &(struct return_outcome){.result = value});
}

static struct error *add_number(struct summary *summary, int64_t number)
{
    return add_value(summary, (struct value){.kind = VALUE_CONSTANT, .number = number});
}

static struct error *summarize(struct walk *walk, const struct kernel_outcomes *outcomes,
                               struct summary *summary)
{
    summary->outcomes.count = 0;
    if (!error_set_is_empty(&outcomes->errors)) {
        struct value errors = {.kind = VALUE_ERRORS, .negative = true};
        TRY(error_sets_put(&walk->sets, &outcomes->errors, &errors.set));
        TRY(add_value(summary, errors));
    }
    for (unsigned i = 0; i < KERNEL_CODES; i++)
        if ((outcomes->codes >> i & 1) != 0)
            TRY(add_number(summary, -(int64_t)(KERNEL_CODES_FROM + i)));
    for (unsigned i = 0; i < ARGUMENTS; i++)
        if ((outcomes->arguments >> i & 1) != 0)
            TRY(add_value(summary, (struct value){.kind = VALUE_ARGUMENT, .number = i}));
    if (outcomes->zero)
        TRY(add_number(summary, 0));
    if (outcomes->one)
        TRY(add_number(summary, 1));
    if (outcomes->other)
        TRY(add_value(summary, (struct value){.kind = VALUE_OTHER}));
    return NULL;
}

static const struct summary *callee_summary(void *data, uint32_t callee)
{
    struct walk *walk = data;
    struct kernel_outcomes together = {0};
    uint32_t count;
    const uint32_t *targets = walk_targets(walk->operations, &callee, &count);
    for (uint32_t i = 0; i < count; i++)
        merge(&together, &walk->outcomes[owner(walk, targets[i])]);
    if (flow_callee_is_import(callee))
        together.zero = together.other = true; // unknown functions may implement it, too
    if (!together.known)
        return NULL;
    // If memory is short, the callee is unknown here. The search itself will return the error.
    struct error *error = summarize(walk, &together, &walk->asked);
    if (error == NULL)
        return &walk->asked;
    error_free(error);
    return NULL;
}

static const struct error_set *no_system_call(void *data, int64_t number)
{
    return NULL;
}

static bool no_error_slot(void *data, const struct flow_slot *slot)
{
    return false;
}

// ---- one function ----

void kernel_outcomes_add(struct kernel_outcomes *outcomes, int64_t number)
{
    if (number == 0)
        outcomes->zero = true;
    else if (number == 1)
        outcomes->one = true;
    else if (number < 0 && number >= -EHWPOISON)
        error_set_add(&outcomes->errors, (unsigned)-number);
    else if (number <= -KERNEL_CODES_FROM && number > -KERNEL_CODES_FROM - KERNEL_CODES)
        outcomes->codes |= 1u << (-number - KERNEL_CODES_FROM);
    else
        outcomes->other = true;
}

static struct kernel_outcomes outcomes_of(const struct walk *walk, const struct summary *summary)
{
    struct kernel_outcomes outcomes = {.known = true};
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        const struct value *value = &summary->outcomes.items[i].result;
        if (value->kind == VALUE_CONSTANT) {
            kernel_outcomes_add(&outcomes, value->number);
        } else if (value->kind == VALUE_ERRORS && value->negative) {
            const struct kernel_outcomes from = {.errors = walk->sets.items.items[value->set]};
            merge(&outcomes, &from);
        } else if (value->kind == VALUE_ARGUMENT && !value->negative && value->number >= 0 &&
                   value->number < ARGUMENTS) {
            outcomes.arguments |= 1u << value->number;
        } else {
            outcomes.other = true;
        }
    }
    return outcomes;
}

// For a function that is too large: adds all error numbers that it puts into registers. Small
// negative numbers are rarely anything else.
static void add_constants(const struct flow_image *image, uint32_t function,
                          struct kernel_outcomes *outcomes)
{
    for (; function != FLOW_NONE; function = image->functions.items[function].next_part) {
        const struct flow_function *range = &image->functions.items[function];
        for (uint32_t i = 0; i < range->insn_count; i++) {
            const struct isa_insn *insn = &image->insns.items[range->first_insn + i];
            if (insn->kind == ISA_CONSTANT && insn->value < -1)
                kernel_outcomes_add(outcomes, insn->value);
        }
    }
}

static bool begins_with(const struct flow_function *function, const char *prefix)
{
    size_t size = strlen(prefix);
    return function->name != NULL && function->name_size >= size &&
           memcmp(function->name, prefix, size) == 0;
}

// Subsystems that nearly every call reaches, but whose own errors need a special configuration:
// signatures of files, ciphers, loading of modules. Their errors are ignored.
static bool is_ignored_subsystem(const struct flow_function *function)
{
    static const char *const prefixes[] = {"evm_", "ima_", "crypto_", "__request_module"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins_with(function, prefixes[i]))
            return true;
    return false;
}

// Access to a program's memory may fault. The handler's return value is in no code of the compiler.
static bool may_fault(const struct flow_function *function)
{
    return begins_with(function, "__get_user_");
}

static struct error *look_at(struct walk *walk, uint32_t function)
{
    const struct search_context context = {.sets = &walk->sets,
                                           .callee = callee_summary,
                                           .system_call = no_system_call,
                                           .is_error_slot = no_error_slot,
                                           .data = walk,
                                           .private_stores = walk->private_stores,
                                           .results_only = true};
    const struct flow_function *looked_at = &walk->image->functions.items[function];
    struct summary summary = {0};
    struct error *error = search_function(walk->image, function, &context, &summary);
    struct kernel_outcomes now = outcomes_of(walk, &summary);
    if (is_ignored_subsystem(looked_at))
        now = (struct kernel_outcomes){.zero = true, .other = true, .known = true};
    if (may_fault(looked_at))
        error_set_add(&now.errors, EFAULT);
    if (!is_ignored_subsystem(looked_at))
        walk_add_memory_errors(walk->image, walk->operations, function, &now);
    walk->cut[function] = summary.cut;
    if (summary.cut && !is_ignored_subsystem(looked_at))
        add_constants(walk->image, function, &now);
    summary_deinit(&summary);
    TRY(error);
    if (!same(&now, &walk->outcomes[function])) {
        walk->outcomes[function] = now;
        walk->changed[function] = 1;
    }
    return NULL;
}

static bool calls_changed(const struct walk *walk, uint32_t function)
{
    struct visit visit = {.function = function, .range = function};
    for (uint32_t called; (called = next_called(walk, &visit)) != FLOW_NONE;)
        if (walk->changed[called] != 0)
            return true;
    return false;
}

struct error *walk_run(struct walk *walk)
{
    bool again = true;
    for (walk->rounds = 0; again && walk->rounds < MOST_ROUNDS; walk->rounds++) {
        again = false;
        for (size_t i = 0; i < walk->order.count; i++) {
            uint32_t function = walk->order.items[i];
            walk->changed[function] = 0;
            if (walk->outcomes[function].known && !calls_changed(walk, function))
                continue;
            TRY(look_at(walk, function));
            again |= walk->changed[function] != 0;
        }
    }
    return NULL;
}

const struct kernel_outcomes *walk_outcomes(const struct walk *walk, uint32_t function)
{
    return &walk->outcomes[owner(walk, function)];
}

void walk_count(const struct walk *walk, struct kernel_figures *figures)
{
    figures->functions = walk->order.count;
    figures->rounds = walk->rounds;
    for (size_t i = 0; i < walk->order.count; i++) {
        uint32_t number = walk->order.items[i];
        figures->cut += walk->cut[number];
        for (; number != FLOW_NONE; number = walk->image->functions.items[number].next_part) {
            const struct flow_function *range = &walk->image->functions.items[number];
            for (uint32_t b = 0; b < range->block_count; b++) {
                const struct flow_block *block = &walk->image->blocks.items[range->first_block + b];
                uint8_t kind = walk->image->insns.items[block->first + block->count - 1].kind;
                if (kind != ISA_CALL_INDIRECT && kind != ISA_JUMP_INDIRECT)
                    continue;
                figures->indirect++;
                figures->resolved += flow_callee_is_import(block->callee);
            }
        }
    }
}

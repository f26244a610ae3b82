// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the result of a failed call forward: through the function that made the call, and through
// those on the stack that it is returned to.
#include "explain/internal.h"

#include "base/cleanup.h"

#include <string.h>

#define DEEPEST 8 // functions that a result is returned through

// The failed result on its way.
struct failed_result {
    struct explainer *explainer;
    const struct explain_call *call;
    const struct explain_crash *crash; // or NULL
    struct explanation *explanation;
    struct possible_results possible;
    uint64_t known, failures; // lanes
    int64_t numbers[CONTENT_LANES];
    size_t frame; // of the stack: the function that has the result now
    struct code *code;
    uint32_t block; // that ends with the call which gave it
};

// One failure, the one that was injected, and what successes look like.
static void start(struct failed_result *result)
{
    struct site_callee callee = {
        .name = result->call->function, .count = 1, .codes = {result->call->value}};
    if (!site_success_known(callee.name, &callee.success))
        callee.success = SITE_SUCCESS_ANY;
    possible_results_make(&callee, &result->possible);
    result->failures = result->possible.failures;
    result->known = (1ull << result->possible.lanes) - 1;
    memcpy(result->numbers, result->possible.numbers, sizeof result->numbers);
}

static struct error *add(struct failed_result *result, enum consequence_kind kind, uint64_t address,
                         struct store_consequence **ret_added)
{
    struct store_consequence *added = explanation_add(result->explanation, kind);
    if (added == NULL)
        return error_no_memory();
    if (ret_added != NULL)
        *ret_added = added;
    return code_set_place(result->explainer, result->code->path, address, false,
                          result->explanation, added);
}

// The address of the instruction behind one.
static uint64_t behind(const struct code *code, uint64_t address)
{
    uint32_t insn = flow_insn_at(code->image, address);
    return insn != FLOW_NONE ? address + code->image->insns.items[insn].length : 0;
}

// Whether the code at an address always runs after the call: no way forks before it.
static bool is_certain(const struct failed_result *result, uint64_t address)
{
    const struct flow_image *image = result->code->image;
    uint32_t wanted = code_block_at(image, address), block = result->block;
    for (unsigned i = 0; i < 16 && wanted != FLOW_NONE; i++) {
        const struct flow_block *at = &image->blocks.items[block];
        if (at->out_count != 1)
            return false;
        block = image->edges.items[at->edges_out].block;
        if (block == wanted)
            return true;
    }
    return false;
}

// Whether the crash happened in the call at an address.
static bool crashed_in(const struct failed_result *result, uint64_t address)
{
    uint64_t back = behind(result->code, address);
    if (result->crash == NULL || back == 0)
        return false;
    for (size_t i = 1; i < result->crash->frames->items.count; i++) {
        const struct code_place *frame = &result->crash->frames->items.items[i];
        if (frame->offset == back && frame->module != NULL &&
            strcmp(frame->module, result->code->path) == 0)
            return true;
    }
    return false;
}

static struct error *say_passed(struct failed_result *result, const struct follow_outcome *outcome)
{
    struct store_consequence *passed = NULL;
    size_t size = 0;
    bool seen = crashed_in(result, outcome->use_address);
    const char *name = code_callee_name(result->code->image, outcome->passed_to, &size);
    // A function that crashes is told with the crash.
    bool imported = flow_callee_is_import(outcome->passed_to);
    if (name == NULL || (seen && imported) || (!seen && !is_certain(result, outcome->use_address)))
        return NULL;
    TRY(add(result, CONSEQUENCE_PASSED, outcome->use_address, &passed));
    passed->argument = outcome->argument + 1u;
    return code_copy(result->explanation, name, size, &passed->function);
}

// The pointer that crashed was read from where the result was stored.
static struct error *say_read_back(struct failed_result *result, const struct named_place *stored)
{
    _cleanup_(bad_pointer_deinit) struct bad_pointer bad = {0};
    if (result->crash == NULL)
        return NULL;
    TRY(bad_pointer_find(result->explainer, result->crash, &bad));
    for (size_t i = 0; i < bad.places.count; i++) {
        const struct named_place *place = &bad.places.items[i];
        enum place_match match = named_place_compare(result->code, stored, bad.code, place);
        struct store_consequence *read;
        if (match == PLACE_OTHER)
            continue;
        read = explanation_add(result->explanation, CONSEQUENCE_READ_BACK);
        if (read == NULL)
            return error_no_memory();
        read->probable = match != PLACE_SAME;
        TRY(code_set_place(result->explainer, bad.code->path, bad.address, false,
                           result->explanation, read));
        const char *name = place->name.expression;
        return name != NULL ? code_copy(result->explanation, name, strlen(name), &read->name)
                            : NULL;
    }
    return NULL;
}

static struct error *say_stored_at(struct failed_result *result, uint64_t address,
                                   const struct named_place *place)
{
    struct store_consequence *stored = NULL;
    const char *name = place->name.expression;
    TRY(add(result, CONSEQUENCE_STORED, address, &stored));
    stored->probable = !is_certain(result, address);
    stored->number =
        place->provenance.known && place->provenance.place.base != DWARF_BASE_STATIC
            ? (place->provenance.place.step_count != 0
                   ? place->provenance.place.steps[place->provenance.place.step_count - 1].offset
                   : place->provenance.place.offset)
            : 0;
    if (name != NULL)
        TRY(code_copy(result->explanation, name, strlen(name), &stored->name));
    return say_read_back(result, place);
}

static struct error *say_stored(struct failed_result *result, const struct follow_outcome *outcome)
{
    const struct flow_image *image = result->code->image;
    _cleanup_(named_place_deinit) struct named_place place = {0};
    uint32_t block = code_block_at(image, outcome->use_address);
    uint32_t insn = flow_insn_at(image, outcome->use_address);
    if (block == FLOW_NONE || insn == FLOW_NONE)
        return NULL;
    TRY(named_place_make(result->code, provenance_of_operand(image, block, insn), &place));
    return say_stored_at(result, outcome->use_address, &place);
}

static struct error *say_use(struct failed_result *result, const struct follow_outcome *outcome)
{
    switch (outcome->use) {
    case SITE_PASSED:
        return say_passed(result, outcome);
    case SITE_STORED_GLOBAL:
    case SITE_STORED_ELSEWHERE:
        return say_stored(result, outcome);
    default: // a crash is told by itself
        return NULL;
    }
}

static struct error *say_untested(struct failed_result *result,
                                  const struct follow_outcome *outcome)
{
    bool all = !outcome->cut && !outcome->lost && !outcome->on_stack;
    if (outcome->use == SITE_COMPARED)
        return add(result, CONSEQUENCE_COMPARED, outcome->use_address, NULL);
    if (outcome->use == SITE_IGNORED)
        return all ? add(result, CONSEQUENCE_IGNORED,
                         result->call->frames->items.items[result->frame].offset - 1, NULL)
                   : NULL;
    if (outcome->use == SITE_RETURNED)
        return NULL;
    TRY(say_use(result, outcome));
    return all ? add(result, CONSEQUENCE_UNTESTED,
                     result->call->frames->items.items[result->frame].offset - 1, NULL)
               : NULL;
}

static struct error *say_tested(struct failed_result *result, const struct follow_outcome *outcome)
{
    if (outcome->dangerous) {
        TRY(say_use(result, outcome));
        return add(result,
                   outcome->checked_after ? CONSEQUENCE_TESTED_LATE : CONSEQUENCE_TESTED_SOMETIMES,
                   outcome->check_address, NULL);
    }
    struct follow_outcome again;
    TRY(follower_run(result->code->follower, result->block, &result->possible, result->known,
                     result->numbers, result->failures, FOLLOW_RETRY, &again));
    return add(result,
               again.interrupted || again.forgotten ? CONSEQUENCE_ERRNO_ONLY : CONSEQUENCE_TESTED,
               outcome->check_address, NULL);
}

// Goes on in the caller with what this function returns.
static struct error *say_returned(struct failed_result *result,
                                  const struct follow_outcome *outcome, bool *ret_goes_on)
{
    const struct code_places *frames = result->call->frames;
    struct store_consequence *returned;
    uint64_t failure = result->failures & outcome->returned;
    *ret_goes_on = false;
    // The same number as a success is no failure any more.
    if (failure == 0 || (outcome->returned_known & failure) != failure ||
        result->frame + 1 >= frames->items.count ||
        frames->items.items[result->frame + 1].module == NULL)
        return NULL;
    const struct code_place *to = &frames->items.items[result->frame + 1];
    struct code *code;
    TRY(code_find(result->explainer, to->module, &code));
    uint32_t block = code != NULL ? code_block_of_return(code->image, to->offset) : FLOW_NONE;
    if (block == FLOW_NONE)
        return NULL;
    returned = explanation_add(result->explanation, CONSEQUENCE_RETURNED);
    if (returned == NULL)
        return error_no_memory();
    returned->number = outcome->returned_numbers[__builtin_ctzll(failure)];
    TRY(code_set_place(result->explainer, to->module, to->offset, true, result->explanation,
                       returned));
    const struct flow_function *function =
        &result->code->image->functions
             .items[result->code->image->blocks.items[result->block].function];
    TRY(code_copy(result->explanation, function->name, function->name_size, &returned->function));
    result->failures = failure;
    result->known = outcome->returned & outcome->returned_known;
    memcpy(result->numbers, outcome->returned_numbers, sizeof result->numbers);
    result->code = code;
    result->block = block;
    result->frame++;
    *ret_goes_on = true;
    return NULL;
}

// Whether failures and successes that are returned differ.
static bool tells(const struct failed_result *result, const struct follow_outcome *outcome)
{
    uint64_t failure = result->failures & outcome->returned & outcome->returned_known;
    uint64_t successes = result->possible.successes & outcome->returned & outcome->returned_known;
    if (failure == 0)
        return false;
    int64_t number = outcome->returned_numbers[__builtin_ctzll(failure)];
    for (unsigned i = 0; i < result->possible.lanes; i++)
        if ((successes >> i & 1) != 0 && outcome->returned_numbers[i] == number)
            return false;
    return true;
}

// What one function does with the result.
static struct error *follow(struct failed_result *result, bool *ret_goes_on)
{
    struct follow_outcome outcome, after;
    *ret_goes_on = false;
    TRY(follower_run(result->code->follower, result->block, &result->possible, result->known,
                     result->numbers, result->failures, FOLLOW_PLAIN, &outcome));
    if ((outcome.told_apart & result->failures) == 0) {
        TRY(say_untested(result, &outcome));
        return outcome.returned_not_told_apart != 0 && outcome.use == SITE_RETURNED
                   ? say_returned(result, &outcome, ret_goes_on)
                   : NULL;
    }
    TRY(say_tested(result, &outcome));
    TRY(follower_run(result->code->follower, result->block, &result->possible, result->known,
                     result->numbers, result->failures, FOLLOW_WRAPPER, &after));
    return !after.dies && tells(result, &after) ? say_returned(result, &after, ret_goes_on) : NULL;
}

struct error *explain_failure(struct explainer *explainer, const struct explain_call *call,
                              const struct explain_crash *crash, struct explanation *explanation)
{
    struct failed_result result = {
        .explainer = explainer, .call = call, .crash = crash, .explanation = explanation};
    struct store_consequence *fails = explanation_add(explanation, CONSEQUENCE_FAILS);
    if (fails == NULL)
        return error_no_memory();
    fails->number = call->value;
    if (call->function != NULL)
        TRY(code_copy(explanation, call->function, strlen(call->function), &fails->function));
    if (call->result != NULL)
        TRY(code_copy(explanation, call->result, strlen(call->result), &fails->name));
    if (call->frames->items.count == 0)
        return NULL;
    const struct code_place *place = &call->frames->items.items[0];
    TRY(code_set_place(explainer, place->module, place->offset, true, explanation, fails));
    if (!call->returned || call->function == NULL)
        return NULL;
    TRY(code_find(explainer, place->module, &result.code));
    if (result.code == NULL)
        return NULL;
    result.block = code_block_of_return(result.code->image, place->offset);
    start(&result);
    bool goes_on = result.block != FLOW_NONE;
    for (unsigned i = 0; goes_on && i < DEEPEST; i++)
        TRY(follow(&result, &goes_on));
    return NULL;
}

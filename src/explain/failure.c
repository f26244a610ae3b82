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
    bool pointer; // the call returns one
    size_t frame; // of the stack: the function that has the result now
    struct code *code;
    uint32_t block; // that ends with the call which gave it
};

static void set_results(struct failed_result *result, const struct site_callee *callee)
{
    possible_results_make(callee, &result->possible);
    result->failures = result->possible.failures;
    result->known = (1ull << result->possible.lanes) - 1;
    memcpy(result->numbers, result->possible.numbers, sizeof result->numbers);
}

// One failure, the one that was injected, and what successes look like.
static void start(struct failed_result *result)
{
    struct site_callee callee = {
        .name = result->call->function, .count = 1, .codes = {result->call->value}};
    bool null = result->call->result != NULL && strncmp(result->call->result, "NULL", 4) == 0;
    if (!site_success_known(callee.name, &callee.success))
        callee.success = null ? SITE_SUCCESS_POINTER : SITE_SUCCESS_ANY;
    result->pointer = callee.success == SITE_SUCCESS_POINTER;
    set_results(result, &callee);
}

static struct error *run(struct failed_result *result, enum follow_mode mode,
                         struct follow_outcome *ret_outcome)
{
    return follower_run(result->code->follower, result->block, &result->possible, result->known,
                        result->numbers, result->failures, mode, ret_outcome);
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

static int64_t member_offset(const struct provenance *provenance)
{
    const struct dwarf_place *place = &provenance->place;
    if (!provenance->known || place->base == DWARF_BASE_STATIC)
        return 0;
    return place->step_count != 0 ? place->steps[place->step_count - 1].offset : place->offset;
}

// `place` is where it is stored.
static struct error *say_stored(struct failed_result *result, const struct follow_outcome *outcome,
                                struct named_place *place)
{
    const struct flow_image *image = result->code->image;
    struct store_consequence *stored = NULL;
    uint32_t block = code_block_at(image, outcome->use_address);
    uint32_t insn = flow_insn_at(image, outcome->use_address);
    if (block == FLOW_NONE || insn == FLOW_NONE)
        return NULL;
    TRY(named_place_make(result->code, provenance_of_operand(image, block, insn), place));
    TRY(add(result, CONSEQUENCE_STORED, outcome->use_address, &stored));
    stored->probable = !is_certain(result, outcome->use_address);
    stored->number = member_offset(&place->provenance);
    const char *name = place->name.expression;
    return name != NULL ? code_copy(result->explanation, name, strlen(name), &stored->name) : NULL;
}

// What is done with the result, then who tests it, then where it was read back.
static struct error *say_use(struct failed_result *result, const struct follow_outcome *outcome,
                             enum consequence_kind test, uint64_t test_address)
{
    _cleanup_(named_place_deinit) struct named_place place = {0};
    if (outcome->use == SITE_PASSED)
        TRY(say_passed(result, outcome));
    if (outcome->use == SITE_STORED_GLOBAL || outcome->use == SITE_STORED_ELSEWHERE)
        TRY(say_stored(result, outcome, &place));
    if (test_address != 0)
        TRY(add(result, test, test_address, NULL));
    return place.provenance.known ? say_read_back(result, &place) : NULL;
}

// The first comparison that this failure passes together with successes, although it tells other
// results apart; 0 if there is none.
static struct error *find_comparison(struct failed_result *result, uint64_t *ret_address)
{
    const struct flow_image *image = result->code->image;
    struct follow_outcome outcome;
    size_t count;
    *ret_address = 0;
    TRY(run(result, FOLLOW_BRANCHES, &outcome));
    const struct branch_lanes *branches = follower_branches(result->code->follower, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t taken = branches[i].taken & ~branches[i].falls,
                 falls = branches[i].falls & ~branches[i].taken,
                 with = (taken & result->failures) != 0 ? taken : falls;
        if (taken == 0 || falls == 0 || (with & result->failures) == 0 ||
            (with & result->possible.successes) == 0)
            continue;
        const struct flow_block *block = &image->blocks.items[branches[i].block];
        uint64_t address =
            flow_address(image, &image->insns.items[block->first + block->count - 1]);
        if (*ret_address == 0 || address < *ret_address)
            *ret_address = address;
    }
    return NULL;
}

static struct error *say_untested(struct failed_result *result,
                                  const struct follow_outcome *outcome)
{
    bool all = !outcome->cut && !outcome->lost && !outcome->on_stack;
    uint64_t call = result->call->frames->items.items[result->frame].offset - 1;
    if (outcome->use == SITE_COMPARED) {
        bool sifted = (outcome->sifted & result->failures) != 0;
        return all && !sifted ? add(result, CONSEQUENCE_COMPARED, outcome->use_address, NULL)
                              : NULL;
    }
    if (outcome->use == SITE_IGNORED)
        return all ? add(result, CONSEQUENCE_IGNORED, call, NULL) : NULL;
    uint64_t comparison;
    TRY(find_comparison(result, &comparison));
    if (all && comparison != 0)
        return say_use(result, outcome, CONSEQUENCE_COMPARED, comparison);
    return say_use(result, outcome, CONSEQUENCE_UNTESTED, all ? call : 0);
}

static struct error *say_tested(struct failed_result *result, const struct follow_outcome *outcome)
{
    if (outcome->dangerous)
        return say_use(result, outcome,
                       outcome->checked_after ? CONSEQUENCE_TESTED_LATE
                                              : CONSEQUENCE_TESTED_SOMETIMES,
                       outcome->check_address);
    struct follow_outcome again;
    TRY(run(result, FOLLOW_RETRY, &again));
    return add(result,
               again.interrupted || again.forgotten ? CONSEQUENCE_ERRNO_ONLY : CONSEQUENCE_TESTED,
               outcome->check_address, NULL);
}

// The place in the caller that the function returns to; false if its code is not known or is the C
// library's, which started the program.
static bool find_caller(struct failed_result *result, struct error **ret_error,
                        struct failed_result *ret_caller)
{
    const struct code_places *frames = result->call->frames;
    *ret_caller = *result;
    if (++ret_caller->frame >= frames->items.count)
        return false;
    const struct code_place *to = &frames->items.items[ret_caller->frame];
    if (to->module == NULL || code_is_libc(to->module))
        return false;
    *ret_error = code_find(result->explainer, to->module, &ret_caller->code);
    if (*ret_error != NULL || ret_caller->code == NULL)
        return false;
    ret_caller->block = code_block_of_return(ret_caller->code->image, to->offset);
    return ret_caller->block != FLOW_NONE;
}

// What successes of the caller's call look like, when all that is known is how it fails.
static void start_anew(struct failed_result *caller, int64_t number)
{
    struct site_callee callee = {.name = "", .count = 1, .codes = {number}};
    callee.success = number == 0 && caller->pointer ? SITE_SUCCESS_POINTER : SITE_SUCCESS_ANY;
    set_results(caller, &callee);
}

// Goes on in the caller with what this function returns. `same`: the result itself.
static struct error *say_returned(struct failed_result *result, struct failed_result *caller,
                                  const struct follow_outcome *outcome, bool same)
{
    const struct code_place *to = &result->call->frames->items.items[caller->frame];
    uint64_t failure = result->failures & outcome->returned & outcome->returned_known;
    struct store_consequence *returned = explanation_add(result->explanation, CONSEQUENCE_RETURNED);
    if (returned == NULL)
        return error_no_memory();
    int64_t number = outcome->returned_numbers[__builtin_ctzll(failure)];
    number = number_unsigned(number, 4) == number ? number_signed(number, 4) : number;
    returned->number = number;
    returned->argument = same; // see the report: "it"
    TRY(code_set_place(result->explainer, to->module, to->offset, true, result->explanation,
                       returned));
    const struct flow_function *function =
        &result->code->image->functions
             .items[result->code->image->blocks.items[result->block].function];
    TRY(code_copy(result->explanation, function->name, function->name_size, &returned->function));
    if (same) {
        caller->failures = failure;
        caller->known = outcome->returned & outcome->returned_known;
        memcpy(caller->numbers, outcome->returned_numbers, sizeof caller->numbers);
    } else {
        start_anew(caller, number);
    }
    *result = *caller;
    return NULL;
}

// Whether the caller looks at what is returned. If not, there may be no result at all, and the
// failure is what happened to be left in the register.
static struct error *is_looked_at(struct failed_result *caller,
                                  const struct follow_outcome *outcome, bool *ret_looked_at)
{
    struct failed_result with = *caller;
    struct follow_outcome there;
    with.failures = caller->failures & outcome->returned;
    with.known = outcome->returned & outcome->returned_known;
    memcpy(with.numbers, outcome->returned_numbers, sizeof with.numbers);
    TRY(run(&with, FOLLOW_PLAIN, &there));
    *ret_looked_at = there.use != SITE_IGNORED || there.told_apart != 0;
    return NULL;
}

// Whether the function returns a failure of its own: a number that its successes hardly are.
static bool fails_itself(const struct failed_result *result, const struct follow_outcome *outcome)
{
    uint64_t failure = result->failures & outcome->returned & outcome->returned_known;
    if (failure == 0 || outcome->dies)
        return false;
    int64_t number = number_signed(outcome->returned_numbers[__builtin_ctzll(failure)], 4);
    return number < 0 || (number == 0 && result->pointer);
}

// Whether the crash happened before the function returned to this caller.
static bool is_still_there(const struct failed_result *caller)
{
    const struct code_place *to = &caller->call->frames->items.items[caller->frame];
    for (size_t i = 0; caller->crash != NULL && i < caller->crash->frames->items.count; i++) {
        const struct code_place *frame = &caller->crash->frames->items.items[i];
        if (frame->module != NULL && frame->offset == to->offset &&
            strcmp(frame->module, to->module) == 0)
            return true;
    }
    return false;
}

// What one function does with a result that it does not test.
static struct error *follow_untested(struct failed_result *result,
                                     const struct follow_outcome *outcome, bool *ret_goes_on)
{
    struct failed_result caller;
    struct follow_outcome without;
    struct error *error = NULL;
    if (outcome->use != SITE_RETURNED || outcome->returned_not_told_apart == 0)
        return say_untested(result, outcome);
    bool known = (result->failures & outcome->returned & outcome->returned_known) != 0;
    bool found = known && find_caller(result, &error, &caller), looked_at = true;
    TRY(error);
    if (found)
        TRY(is_looked_at(&caller, outcome, &looked_at));
    if (found && looked_at) {
        *ret_goes_on = true;
        return say_returned(result, &caller, outcome, true);
    }
    TRY(run(result, FOLLOW_VOID, &without));
    return found && without.told_apart == 0 ? say_untested(result, &without) : NULL;
}

static struct error *follow(struct failed_result *result, bool *ret_goes_on)
{
    struct failed_result caller;
    struct follow_outcome outcome, after;
    struct error *error = NULL;
    *ret_goes_on = false;
    TRY(run(result, FOLLOW_PLAIN, &outcome));
    if ((outcome.told_apart & result->failures) == 0)
        return follow_untested(result, &outcome, ret_goes_on);
    TRY(say_tested(result, &outcome));
    TRY(run(result, FOLLOW_WRAPPER, &after));
    bool found = fails_itself(result, &after) && find_caller(result, &error, &caller) &&
                 !is_still_there(&caller),
         looked_at = true;
    TRY(error);
    if (found)
        TRY(is_looked_at(&caller, &after, &looked_at));
    *ret_goes_on = found && looked_at;
    return *ret_goes_on ? say_returned(result, &caller, &after, false) : NULL;
}

struct error *explain_failure(struct explainer *explainer, const struct explain_call *call,
                              const struct explain_crash *crash, struct explanation *explanation)
{
    struct failed_result result = {
        .explainer = explainer, .call = call, .crash = crash, .explanation = explanation};
    struct store_consequence *fails = explanation_add(
        explanation, call->below_stream ? CONSEQUENCE_UNWRITTEN : CONSEQUENCE_FAILS);
    if (fails == NULL)
        return error_no_memory();
    fails->number = call->value;
    if (call->function != NULL)
        TRY(code_copy(explanation, call->function, strlen(call->function), &fails->function));
    if (call->result != NULL)
        TRY(code_copy(explanation, call->result, strlen(call->result), &fails->name));
    // The C library writes on behalf of whoever fills or closes the stream. What it does with the
    // failure is known; the program may learn of it much later, or not ask.
    size_t first = call->below_stream ? code_own_frame(call->frames) : 0;
    // The outermost frame is where the program begins: nobody closed the stream.
    if (first + call->below_stream >= call->frames->items.count)
        return NULL;
    const struct code_place *place = &call->frames->items.items[first];
    TRY(code_set_place(explainer, place->module, place->offset, true, explanation, fails));
    if (!call->returned || call->function == NULL || call->below_stream)
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

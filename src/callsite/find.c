// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the call sites of an image: lists the calls of functions that can fail, follows the result
// of each, and makes a struct site of what was found. Callers of wrappers become sites, too.
#include "callsite/site.h"

#include "base/cleanup.h"
#include "callsite/callers.h"
#include "callsite/doubt.h"
#include "callsite/globals.h"
#include "callsite/judge.h"
#include "callsite/reaching.h"
#include "callsite/recovery.h"
#include "profile/system-calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_WRAPPER 120 // instructions of a function that may be a wrapper
#define DEEPEST         3   // wrappers of wrappers
#define MOST_CALLERS    12  // looked at when a function returns the result
#define DEEPEST_CHECK   2
#define MOST_VOTES      100
#define FIRST_ARGUMENT  5 // rdi

struct root { // a call whose result is to be followed
    uint32_t block;
    uint32_t callee; // index in sites.callees
    uint32_t wrapper, inner, depth;
    bool tail;
    bool handled; // by the wrapper, before it returns them
    uint64_t known, failures;
    int64_t numbers[CONTENT_LANES];
};

struct site_finder {
    const struct flow_image *image;
    const struct sites_context *context;
    struct sites sites;
    struct follower *follower;
    struct callers callers;
    uint32_t *callees;                       // by import: index in sites.callees, plus 1; 0: none
    unsigned char *expanded;                 // by function: its callers are roots
    ARRAY(struct possible_results) possible; // by callee
    ARRAY(struct root) roots;
    struct compared_globals globals;
};

static void site_finder_deinit(struct site_finder *finder)
{
    sites_deinit(&finder->sites);
    follower_free(finder->follower);
    callers_deinit(&finder->callers);
    free(finder->callees);
    free(finder->expanded);
    ARRAY_DEINIT(&finder->possible);
    ARRAY_DEINIT(&finder->roots);
    compared_globals_deinit(&finder->globals);
}

// ---- which calls ----

static struct error *add_callee(struct site_finder *finder, uint32_t import)
{
    struct site_failures failures = {0};
    if (!finder->context->failures(finder->context->data, import, &failures) || failures.count == 0)
        return NULL;
    struct site_callee *callee = ARRAY_ADD(&finder->sites.callees);
    struct possible_results *possible = ARRAY_ADD(&finder->possible);
    if (callee == NULL || possible == NULL)
        return error_no_memory();
    *callee = (struct site_callee){.name = finder->image->imports.items[import].name,
                                   .version = finder->image->imports.items[import].version,
                                   .import = import,
                                   .success = failures.success};
    callee->guessed = failures.guessed && !doubt_is_of_c_library(callee);
    callee->more = failures.count > SITE_CODES;
    callee->count = callee->more ? SITE_CODES : failures.count;
    memcpy(callee->codes, failures.codes, callee->count * sizeof *callee->codes);
    possible_results_make(callee, possible);
    finder->callees[import] = (uint32_t)finder->sites.callees.count;
    return NULL;
}

// The import that a block calls, directly or through a register loaded from a GOT slot.
static uint32_t imported(struct site_finder *finder, uint32_t number)
{
    const struct flow_image *image = finder->image;
    const struct flow_block *block = &image->blocks.items[number];
    uint32_t last = block->first + block->count - 1;
    const struct isa_insn *call = &image->insns.items[last];
    if (block->end != FLOW_CALLS && block->end != FLOW_TAIL && block->end != FLOW_UNKNOWN)
        return FLOW_NONE;
    if (flow_callee_is_import(block->callee))
        return flow_callee_import(block->callee);
    if (block->callee != FLOW_NONE ||
        (call->kind != ISA_CALL_INDIRECT && call->kind != ISA_JUMP_INDIRECT))
        return FLOW_NONE;
    if (call->src < ISA_REGISTERS) {
        struct reaching_value before =
            reaching_value_find(image, number, last, place_register(call->src));
        const struct flow_slot *slot =
            before.kind == REACHING_SLOT ? flow_slot_at(image, (uint64_t)before.number) : NULL;
        if (slot != NULL && slot->import != FLOW_NONE)
            return slot->import;
    }
    finder->sites.unresolved++;
    return FLOW_NONE;
}

// Whether the block is a stub of the linker: nothing but a jump through a slot.
static bool is_stub(const struct flow_image *image, const struct flow_block *block)
{
    const struct flow_function *function = &image->functions.items[block->function];
    uint32_t last = block->first + block->count - 1;
    for (uint32_t i = function->first_insn; i < last; i++)
        if (image->insns.items[i].kind != ISA_NOTHING)
            return false;
    return image->insns.items[last].kind == ISA_JUMP_INDIRECT && block->first <= last &&
           block->first >= function->first_insn;
}

// Whether sysconf() always knows the answer: it asks the kernel, or the table of the C library.
static bool is_always_known(int64_t name)
{
    return name == _SC_PAGESIZE || name == _SC_CLK_TCK || name == _SC_NPROCESSORS_CONF ||
           name == _SC_NPROCESSORS_ONLN;
}

// syscall(SYS_getpid), sysconf(_SC_PAGESIZE): whether what is asked for has no errors.
static bool is_sure(const struct flow_image *image, uint32_t number, uint32_t import)
{
    const struct flow_block *block = &image->blocks.items[number];
    bool system_call = strcmp(image->imports.items[import].name, "syscall") == 0;
    if (!system_call && strcmp(image->imports.items[import].name, "sysconf") != 0)
        return false;
    struct reaching_value asked = reaching_value_find(
        image, number, block->first + block->count - 1, place_register(FIRST_ARGUMENT));
    if (asked.kind != REACHING_NUMBER)
        return false;
    if (!system_call)
        return is_always_known(asked.number);
    const struct error_set *errors = system_call_errors(NULL, asked.number);
    return errors != NULL && error_set_is_empty(errors);
}

static struct error *add_root(struct site_finder *finder, uint32_t block)
{
    uint32_t import = imported(finder, block);
    if (import == FLOW_NONE || is_stub(finder->image, &finder->image->blocks.items[block]))
        return NULL;
    finder->sites.calls++;
    if (finder->callees[import] == 0 || is_sure(finder->image, block, import))
        return NULL;
    struct root *root = ARRAY_ADD(&finder->roots);
    if (root == NULL)
        return error_no_memory();
    uint32_t callee = finder->callees[import] - 1;
    const struct possible_results *possible = &finder->possible.items[callee];
    *root = (struct root){.block = block,
                          .callee = callee,
                          .wrapper = FLOW_NONE,
                          .inner = FLOW_NONE,
                          .tail = finder->image->blocks.items[block].end != FLOW_CALLS,
                          .known = (1ull << possible->lanes) - 1,
                          .failures = possible->failures};
    memcpy(root->numbers, possible->numbers, sizeof root->numbers);
    return NULL;
}

// ---- one call ----

static bool may_be_wrapper(const struct flow_image *image, uint32_t function)
{
    uint32_t insns = 0;
    for (uint32_t f = function; f != FLOW_NONE; f = image->functions.items[f].next_part)
        insns += image->functions.items[f].insn_count;
    return insns <= LARGEST_WRAPPER;
}

// The result of a tail call is returned as it is.
static void return_at_once(const struct root *root, const struct possible_results *possible,
                           struct follow_outcome *outcome)
{
    *outcome = (struct follow_outcome){.use = SITE_RETURNED,
                                       .passed_to = FLOW_NONE,
                                       .returned = (1ull << possible->lanes) - 1,
                                       .returned_known = root->known,
                                       .returned_same = (1ull << possible->lanes) - 1,
                                       .returned_not_told_apart = root->failures};
    memcpy(outcome->returned_numbers, root->numbers, sizeof outcome->returned_numbers);
}

// What a function makes of the results of a callee. A success that it returns like a failure need
// not be told apart from it.
static struct possible_results returned_results(const struct possible_results *possible,
                                                uint64_t known, const int64_t *numbers,
                                                uint64_t failures)
{
    struct possible_results returned = *possible;
    returned.fills_day = false; // what is passed to the function need not be passed on
    for (unsigned i = 0; i < possible->lanes; i++)
        for (unsigned k = 0; k < possible->lanes; k++)
            if (((known & failures) >> i & 1) != 0 && (known >> k & 1) != 0 &&
                numbers[i] == numbers[k])
                returned.successes &= ~(1ull << k);
    return returned;
}

struct chain { // of functions that return the result to one another
    uint32_t function;
    unsigned depth;
    const struct chain *inner;
};

static bool is_in_chain(const struct chain *chain, uint32_t function)
{
    while (chain != NULL && chain->function != function)
        chain = chain->inner;
    return chain != NULL;
}

static struct error *check_callers(struct site_finder *finder, const struct chain *chain,
                                   uint32_t callee, const struct follow_outcome *from,
                                   struct caller_checks *checks)
{
    const struct possible_results possible =
        returned_results(&finder->possible.items[callee], from->returned_known,
                         from->returned_numbers, from->returned_not_told_apart);
    const uint32_t *first = &finder->callers.first[chain->function];
    for (uint32_t i = first[0]; i < first[1] && checks->callers < MOST_CALLERS; i++) {
        uint32_t number = finder->callers.blocks[i];
        const struct flow_block *block = &finder->image->blocks.items[number];
        struct follow_outcome outcome;
        if (block->end == FLOW_TAIL)
            outcome = *from;
        else
            TRY(follower_run(finder->follower, number, &possible, from->returned_known,
                             from->returned_numbers, from->returned_not_told_apart, FOLLOW_PLAIN,
                             &outcome));
        bool again = is_in_chain(chain, block->function);
        if (outcome.returned_not_told_apart != 0 && chain->depth < DEEPEST_CHECK && !again) {
            const struct chain next = {block->function, chain->depth + 1, chain};
            TRY(check_callers(finder, &next, callee, &outcome, checks));
            if (outcome.told_apart == 0)
                continue;
        }
        // That functions which call each other return it to each other is no use.
        if (again && outcome.told_apart == 0 && outcome.use == SITE_RETURNED)
            continue;
        checks->callers++;
        checks->checked += outcome.told_apart != 0;
        checks->used += outcome.told_apart != 0 || outcome.use != SITE_IGNORED;
        checks->by_all &= outcome.told_apart;
        checks->by_some |= outcome.told_apart;
    }
    return NULL;
}

// The variable or member that an instruction stores the result in, as compared_globals_has() names
// it.
static bool stored_in(const struct isa_insn *insn, enum site_use use, uint64_t *ret_address)
{
    if (insn->kind != ISA_STORE || insn->index != ISA_NONE)
        return false;
    bool global = insn->base == ISA_PC;
    *ret_address =
        global ? (uint64_t)insn->displacement : compared_member(insn->displacement, insn->width);
    return use == SITE_STORED_GLOBAL ? global : use == SITE_STORED_ELSEWHERE && !global;
}

// A result that was stored in a variable or a structure may be checked wherever that is used.
static struct error *look_at_variable(struct site_finder *finder, struct site *site)
{
    const struct flow_image *image = finder->image;
    uint32_t at = flow_insn_at(image, site->use_address);
    uint64_t address;
    if (site->class != SITE_UNCHECKED || at == FLOW_NONE ||
        !stored_in(&image->insns.items[at], site->use, &address))
        return NULL;
    TRY(compared_globals_find(image, &finder->globals));
    const struct site_callee *callee = &finder->sites.callees.items[site->callee];
    for (size_t i = 0; i < callee->count; i++) {
        // A comparison of the sign is one, too, if the number keeps it when it is stored.
        bool negative = callee->codes[i] < 0 && callee->codes[i] == (int32_t)callee->codes[i];
        if (!compared_globals_has(&finder->globals, address, callee->codes[i]) &&
            !(negative && compared_globals_has(&finder->globals, address, 0)))
            return NULL;
    }
    site->class = SITE_UNKNOWN;
    site->reason = site->use == SITE_STORED_GLOBAL
                       ? "stored in a variable that is compared elsewhere"
                       : "stored in a structure whose member is compared elsewhere";
    return NULL;
}

// All callers ignore what the function returns. So it has no result, and what is in the register
// when it returns is a leftover.
static struct error *judge_without_result(struct site_finder *finder, const struct root *root,
                                          struct site *site)
{
    struct follow_outcome outcome = {.passed_to = FLOW_NONE};
    if (!root->tail)
        TRY(follower_run(finder->follower, root->block, &finder->possible.items[root->callee],
                         root->known, root->numbers, root->failures, FOLLOW_VOID, &outcome));
    if (site->role == SITE_ROLE_PASSES)
        site->role = SITE_ROLE_NONE;
    judge_paths(site, &outcome, root->failures);
    return look_at_variable(finder, site);
}

// Whether a function that checks the result itself also returns it. If not, what is in the register
// when it returns is a leftover.
static struct error *is_result_wanted(struct site_finder *finder, const struct root *root,
                                      const struct follow_outcome *outcome, bool *ret_wanted)
{
    const struct chain chain = {.function = finder->image->blocks.items[root->block].function};
    struct follow_outcome returned = *outcome;
    struct caller_checks checks = {0};
    returned.returned_not_told_apart = outcome->returned_same & root->failures;
    *ret_wanted = !callers_get_no_result(finder->image, chain.function);
    if (!*ret_wanted)
        return NULL;
    TRY(check_callers(finder, &chain, root->callee, &returned, &checks));
    *ret_wanted = checks.callers == 0 || checks.used != 0;
    return NULL;
}

// A function that passes failures on is a wrapper: its callers are sites, too.
static struct error *expand(struct site_finder *finder, uint32_t function, const struct root *from,
                            const struct follow_outcome *outcome, uint32_t inner)
{
    if (finder->expanded[function] || from->depth >= DEEPEST)
        return NULL;
    const struct possible_results returned =
        returned_results(&finder->possible.items[from->callee], outcome->returned_known,
                         outcome->returned_numbers, outcome->returned_same & from->failures);
    if (returned.successes == 0) // its callers cannot tell
        return NULL;
    finder->expanded[function] = 1;
    const uint32_t *first = &finder->callers.first[function];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        struct root *root = ARRAY_ADD(&finder->roots);
        if (root == NULL)
            return error_no_memory();
        uint32_t block = finder->callers.blocks[i];
        *root = (struct root){.block = block,
                              .callee = from->callee,
                              .wrapper = function,
                              .inner = inner,
                              .depth = from->depth + 1,
                              .tail = finder->image->blocks.items[block].end == FLOW_TAIL,
                              .handled = from->handled || outcome->handled,
                              .known = outcome->returned_known,
                              .failures = outcome->returned_same & from->failures};
        memcpy(root->numbers, outcome->returned_numbers, sizeof root->numbers);
    }
    return NULL;
}

// Code that only repeats the call after EINTR does not check for other failures. Finds out whether
// that is so here.
static struct error *look_for_use(struct site_finder *finder, const struct root *root,
                                  struct follow_outcome *outcome)
{
    struct follow_outcome retried;
    TRY(follower_run(finder->follower, root->block, &finder->possible.items[root->callee],
                     root->known, root->numbers, root->failures, FOLLOW_RETRY, &retried));
    if (retried.forgotten && retried.handed_back) {
        struct caller_checks checks = {0};
        retried.returned_not_told_apart = root->failures;
        const struct chain chain = {.function = finder->image->blocks.items[root->block].function};
        TRY(check_callers(finder, &chain, root->callee, &retried, &checks));
        retried.forgotten = checks.callers != 0 && checks.used == 0;
    }
    if (retried.interrupted || retried.forgotten) {
        outcome->interrupted = true;
        outcome->use = retried.interrupted ? retried.use : SITE_IGNORED;
    }
    return NULL;
}

// Adds the branches that only failures take to sites.failing.
static struct error *note_failing(struct site_finder *finder, const struct root *root)
{
    const struct possible_results *possible = &finder->possible.items[root->callee];
    struct follow_outcome outcome;
    TRY(follower_run(finder->follower, root->block, possible, root->known, root->numbers,
                     root->failures, FOLLOW_BRANCHES, &outcome));
    if (outcome.cut || outcome.lost)
        return NULL; // paths that were not followed to their end prove nothing
    uint64_t failures =
        recovery_failures(&finder->sites.callees.items[root->callee], possible, root->failures);
    return recovery_note(finder->image, finder->follower, root->block, failures, &finder->sites);
}

static struct error *follow_root(struct site_finder *finder, struct root root)
{
    const struct flow_image *image = finder->image;
    const struct flow_block *block = &image->blocks.items[root.block];
    const struct isa_insn *call = &image->insns.items[block->first + block->count - 1];
    struct possible_results adapted = returned_results(&finder->possible.items[root.callee],
                                                       root.known, root.numbers, root.failures);
    adapted.fills_day = root.wrapper == FLOW_NONE && finder->possible.items[root.callee].fills_day;
    const struct possible_results *possible = &adapted;
    bool small = root.tail || may_be_wrapper(image, block->function);
    struct follow_outcome outcome;
    if (root.tail)
        return_at_once(&root, possible, &outcome);
    else
        TRY(follower_run(finder->follower, root.block, possible, root.known, root.numbers,
                         root.failures, small ? FOLLOW_WRAPPER : FOLLOW_PLAIN, &outcome));
    if (finder->context->failing && !root.tail)
        TRY(note_failing(finder, &root));
    if (outcome.retried && outcome.told_apart != 0)
        TRY(look_for_use(finder, &root, &outcome));
    uint32_t number = (uint32_t)finder->sites.items.count;
    struct site *site = ARRAY_ADD(&finder->sites.items);
    if (site == NULL)
        return error_no_memory();
    *site = (struct site){.address = flow_address(image, call),
                          .after = root.tail ? 0 : flow_address(image, call) + call->length,
                          .function = block->function,
                          .callee = root.callee,
                          .wrapper = root.wrapper,
                          .inner = root.inner};
    judge_paths(site, &outcome, root.failures);
    if (root.handled && site->class == SITE_UNCHECKED && site->use == SITE_IGNORED) {
        site->class = SITE_UNKNOWN;
        site->reason = "the function called handles the failure before it returns it";
    }
    TRY(look_at_variable(finder, site));
    if (finder->sites.callees.items[root.callee].success == SITE_SUCCESS_NEVER) {
        site->class = SITE_CHECKED;
        site->use = SITE_CHECKED_FIRST;
        site->check = SITE_CHECK_BEFORE;
        site->unchecked = 0;
        return NULL;
    }
    if (small)
        site->role = (uint8_t)judge_role(possible, &outcome);
    if (outcome.returned_not_told_apart != 0) {
        struct caller_checks checks = {.by_all = outcome.returned_not_told_apart};
        const struct chain chain = {.function = block->function};
        TRY(check_callers(finder, &chain, root.callee, &outcome, &checks));
        site = &finder->sites.items.items[number];
        if (checks.callers != 0 ? checks.used == 0 : callers_get_no_result(image, block->function))
            return judge_without_result(finder, &root, site);
        judge_by_callers(site, &checks,
                         finder->sites.callees.items[root.callee].success == SITE_SUCCESS_POINTER);
    } else if (site->role == SITE_ROLE_PASSES) {
        bool wanted;
        TRY(is_result_wanted(finder, &root, &outcome, &wanted));
        site = &finder->sites.items.items[number];
        site->role = wanted ? SITE_ROLE_PASSES : SITE_ROLE_NONE;
    }
    if (finder->sites.items.items[number].role == SITE_ROLE_PASSES)
        return expand(finder, block->function, &root, &outcome, number);
    return NULL;
}

// ---- all of them ----

struct ordered {
    uint64_t address;
    uint32_t number;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static struct error *sort_sites(struct sites *sites)
{
    size_t count = sites->items.count;
    _cleanup_free_ struct ordered *order = malloc((count + 1) * sizeof *order);
    _cleanup_free_ uint32_t *places = malloc((count + 1) * sizeof *places);
    _cleanup_free_ struct site *sorted = malloc((count + 1) * sizeof *sorted);
    if (order == NULL || places == NULL || sorted == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        order[i] = (struct ordered){sites->items.items[i].address, (uint32_t)i};
    qsort(order, count, sizeof *order, compare_ordered);
    for (size_t i = 0; i < count; i++) {
        places[order[i].number] = (uint32_t)i;
        sorted[i] = sites->items.items[order[i].number];
    }
    for (size_t i = 0; i < count; i++) {
        if (sorted[i].inner != FLOW_NONE)
            sorted[i].inner = places[sorted[i].inner];
        sites->items.items[i] = sorted[i];
    }
    return NULL;
}

// Where nothing says what a success looks like, the call sites tell. If a site uses the result
// after it has ruled out failures, then the result is a value, and zero is an ordinary value.
static struct error *vote(struct site_finder *finder)
{
    _cleanup_free_ uint8_t *votes = calloc(finder->sites.callees.count + 1, 1);
    if (votes == NULL)
        return error_no_memory();
    for (size_t i = 0; i < finder->roots.count; i++) {
        const struct root *root = &finder->roots.items[i];
        struct site_callee *callee = &finder->sites.callees.items[root->callee];
        struct possible_results *possible = &finder->possible.items[root->callee];
        if (root->tail || callee->success != SITE_SUCCESS_ANY || !possible->lenient ||
            votes[root->callee] == MOST_VOTES)
            continue;
        struct follow_outcome outcome;
        votes[root->callee]++;
        TRY(follower_run(finder->follower, root->block, possible, root->known, root->numbers,
                         root->failures, FOLLOW_SUCCESS, &outcome));
        if (outcome.value_used) {
            callee->success = SITE_SUCCESS_VALUE;
            possible->lenient = false;
            for (unsigned lane = 0; lane < possible->lanes; lane++)
                if (possible->numbers[lane] == 0)
                    possible->successes &= ~(1ull << lane);
        }
    }
    return NULL;
}

struct error *sites_find(const struct flow_image *image, const struct sites_context *context,
                         struct sites *ret_sites)
{
    _cleanup_(site_finder_deinit) struct site_finder finder = {.image = image, .context = context};
    finder.callees = calloc(image->imports.count + 1, sizeof *finder.callees);
    finder.expanded = calloc(image->functions.count + 1, 1);
    if (finder.callees == NULL || finder.expanded == NULL)
        return error_no_memory();
    TRY(callers_init(image, &finder.callers));
    TRY(follower_new(image, &finder.follower));
    for (uint32_t i = 0; i < image->imports.count; i++)
        TRY(add_callee(&finder, i));
    for (uint32_t b = 0; b < image->blocks.count; b++)
        TRY(add_root(&finder, b));
    TRY(vote(&finder));
    for (size_t i = 0; i < finder.roots.count; i++)
        TRY(follow_root(&finder, finder.roots.items[i]));
    TRY(doubt_guesses(&finder.sites));
    TRY(sort_sites(&finder.sites));
    *ret_sites = finder.sites;
    finder.sites = (struct sites){0};
    return NULL;
}

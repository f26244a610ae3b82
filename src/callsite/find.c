// SPDX-License-Identifier: GPL-3.0-or-later
// See site.h: which calls are sites, and from what was found on the paths to what is said of them.
#include "callsite/site.h"

#include "base/cleanup.h"
#include "callsite/callers.h"
#include "callsite/judge.h"
#include "callsite/reaching.h"
#include "callsite/recovery.h"

#include <stdlib.h>
#include <string.h>

#define THIN          120 // instructions of a function that may be a wrapper
#define DEEPEST       3   // wrappers of wrappers
#define MOST_CALLERS  12  // that are looked at for a result that is returned
#define DEEPEST_CHECK 2
#define MOST_VOTES    100

struct root { // a call whose result is to be followed
    uint32_t block;
    uint32_t callee; // of sites.callees
    uint32_t wrapper, inner, depth;
    bool tail;
    uint64_t known, failures;
    int64_t numbers[CONTENT_LANES];
};

struct finding {
    const struct flow_image *image;
    const struct sites_context *context;
    struct sites sites;
    struct follower *follower;
    struct callers callers;
    uint32_t *callees;                       // by import: of sites.callees + 1
    unsigned char *expanded;                 // by function: its callers are roots
    ARRAY(struct possible_results) possible; // by callee
    ARRAY(struct root) roots;
};

static void finding_deinit(struct finding *finding)
{
    sites_deinit(&finding->sites);
    follower_free(finding->follower);
    callers_deinit(&finding->callers);
    free(finding->callees);
    free(finding->expanded);
    ARRAY_DEINIT(&finding->possible);
    ARRAY_DEINIT(&finding->roots);
}

// ---- which calls ----

static struct error *add_callee(struct finding *finding, uint32_t import)
{
    struct site_failures failures = {0};
    if (!finding->context->failures(finding->context->data, import, &failures) ||
        failures.count == 0)
        return NULL;
    struct site_callee *callee = ARRAY_ADD(&finding->sites.callees);
    struct possible_results *possible = ARRAY_ADD(&finding->possible);
    if (callee == NULL || possible == NULL)
        return error_no_memory();
    *callee = (struct site_callee){.name = finding->image->imports.items[import].name,
                                   .version = finding->image->imports.items[import].version,
                                   .import = import,
                                   .success = failures.success};
    callee->more = failures.count > SITE_CODES;
    callee->count = callee->more ? SITE_CODES : failures.count;
    memcpy(callee->codes, failures.codes, callee->count * sizeof *callee->codes);
    possible_results_make(callee, possible);
    finding->callees[import] = (uint32_t)finding->sites.callees.count;
    return NULL;
}

// The import a block calls, also through a register that was loaded from a slot.
static uint32_t imported(struct finding *finding, uint32_t number)
{
    const struct flow_image *image = finding->image;
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
    finding->sites.unresolved++;
    return FLOW_NONE;
}

// A stub of the linker's: nothing but a jump through a slot.
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

static struct error *add_root(struct finding *finding, uint32_t block)
{
    uint32_t import = imported(finding, block);
    if (import == FLOW_NONE || is_stub(finding->image, &finding->image->blocks.items[block]))
        return NULL;
    finding->sites.calls++;
    if (finding->callees[import] == 0)
        return NULL;
    struct root *root = ARRAY_ADD(&finding->roots);
    if (root == NULL)
        return error_no_memory();
    uint32_t callee = finding->callees[import] - 1;
    const struct possible_results *possible = &finding->possible.items[callee];
    *root = (struct root){.block = block,
                          .callee = callee,
                          .wrapper = FLOW_NONE,
                          .inner = FLOW_NONE,
                          .tail = finding->image->blocks.items[block].end != FLOW_CALLS,
                          .known = (1ull << possible->lanes) - 1,
                          .failures = possible->failures};
    memcpy(root->numbers, possible->numbers, sizeof root->numbers);
    return NULL;
}

// ---- one call ----

static bool is_thin(const struct flow_image *image, uint32_t function)
{
    uint32_t insns = 0;
    for (uint32_t f = function; f != FLOW_NONE; f = image->functions.items[f].next_part)
        insns += image->functions.items[f].insn_count;
    return insns <= THIN;
}

// The result of a tail call is the function's own.
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

static struct error *ask_callers(struct finding *finding, uint32_t function, uint32_t callee,
                                 const struct follow_outcome *from, unsigned depth,
                                 struct caller_checks *asked)
{
    const struct possible_results *possible = &finding->possible.items[callee];
    const uint32_t *first = &finding->callers.first[function];
    for (uint32_t i = first[0]; i < first[1] && asked->callers < MOST_CALLERS; i++) {
        uint32_t number = finding->callers.blocks[i];
        const struct flow_block *block = &finding->image->blocks.items[number];
        struct follow_outcome outcome;
        if (block->end == FLOW_TAIL)
            outcome = *from;
        else
            TRY(follower_run(finding->follower, number, possible, from->returned_known,
                             from->returned_numbers, from->returned_not_told_apart, FOLLOW_PLAIN,
                             &outcome));
        if (outcome.returned_not_told_apart != 0 && depth < DEEPEST_CHECK &&
            block->function != function) {
            TRY(ask_callers(finding, block->function, callee, &outcome, depth + 1, asked));
            if (outcome.told_apart == 0)
                continue;
        }
        asked->callers++;
        asked->checked += outcome.told_apart != 0;
        asked->used += outcome.told_apart != 0 || outcome.use != SITE_IGNORED;
        asked->by_all &= outcome.told_apart;
        asked->by_some |= outcome.told_apart;
    }
    return NULL;
}

// All callers ignore it: what is left in the register when a function without a result returns.
static struct error *judge_without_result(struct finding *finding, const struct root *root,
                                          struct site *site)
{
    struct follow_outcome outcome = {.passed_to = FLOW_NONE};
    if (!root->tail)
        TRY(follower_run(finding->follower, root->block, &finding->possible.items[root->callee],
                         root->known, root->numbers, root->failures, FOLLOW_VOID, &outcome));
    if (site->role == SITE_ROLE_PASSES)
        site->role = SITE_ROLE_NONE;
    judge_paths(site, &outcome, root->failures);
    return NULL;
}

// The callers of a function that passes failures on are sites, too.
static struct error *expand(struct finding *finding, uint32_t function, const struct root *from,
                            const struct follow_outcome *outcome, uint32_t inner)
{
    if (finding->expanded[function] || from->depth >= DEEPEST)
        return NULL;
    finding->expanded[function] = 1;
    const uint32_t *first = &finding->callers.first[function];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        struct root *root = ARRAY_ADD(&finding->roots);
        if (root == NULL)
            return error_no_memory();
        uint32_t block = finding->callers.blocks[i];
        *root = (struct root){.block = block,
                              .callee = from->callee,
                              .wrapper = function,
                              .inner = inner,
                              .depth = from->depth + 1,
                              .tail = finding->image->blocks.items[block].end == FLOW_TAIL,
                              .known = outcome->returned_known,
                              .failures = outcome->returned_same & from->failures};
        memcpy(root->numbers, outcome->returned_numbers, sizeof root->numbers);
    }
    return NULL;
}

// Who only repeats the call when it was interrupted has not checked it.
static struct error *look_for_use(struct finding *finding, const struct root *root,
                                  struct follow_outcome *outcome)
{
    struct follow_outcome retried;
    TRY(follower_run(finding->follower, root->block, &finding->possible.items[root->callee],
                     root->known, root->numbers, root->failures, FOLLOW_RETRY, &retried));
    if (retried.forgotten && retried.handed_back) {
        struct caller_checks asked = {0};
        retried.returned_not_told_apart = root->failures;
        TRY(ask_callers(finding, finding->image->blocks.items[root->block].function, root->callee,
                        &retried, 0, &asked));
        retried.forgotten = asked.callers != 0 && asked.used == 0;
    }
    if (retried.interrupted || retried.forgotten) {
        outcome->interrupted = true;
        outcome->use = retried.interrupted ? retried.use : SITE_IGNORED;
    }
    return NULL;
}

// Branches that only failures take.
static struct error *note_failing(struct finding *finding, const struct root *root)
{
    const struct possible_results *possible = &finding->possible.items[root->callee];
    struct follow_outcome outcome;
    TRY(follower_run(finding->follower, root->block, possible, root->known, root->numbers,
                     root->failures, FOLLOW_BRANCHES, &outcome));
    if (outcome.cut || outcome.lost)
        return NULL; // what could not be followed to its end says nothing
    uint64_t failures =
        recovery_failures(&finding->sites.callees.items[root->callee], possible, root->failures);
    return recovery_note(finding->image, finding->follower, root->block, failures, &finding->sites);
}

static struct error *follow_root(struct finding *finding, struct root root)
{
    const struct flow_image *image = finding->image;
    const struct flow_block *block = &image->blocks.items[root.block];
    const struct isa_insn *call = &image->insns.items[block->first + block->count - 1];
    const struct possible_results *possible = &finding->possible.items[root.callee];
    bool thin = root.tail || is_thin(image, block->function);
    struct follow_outcome outcome;
    if (root.tail)
        return_at_once(&root, possible, &outcome);
    else
        TRY(follower_run(finding->follower, root.block, possible, root.known, root.numbers,
                         root.failures, thin ? FOLLOW_WRAPPER : FOLLOW_PLAIN, &outcome));
    if (finding->context->failing && !root.tail)
        TRY(note_failing(finding, &root));
    if (outcome.retried && outcome.told_apart != 0)
        TRY(look_for_use(finding, &root, &outcome));
    uint32_t number = (uint32_t)finding->sites.items.count;
    struct site *site = ARRAY_ADD(&finding->sites.items);
    if (site == NULL)
        return error_no_memory();
    *site = (struct site){.address = flow_address(image, call),
                          .after = root.tail ? 0 : flow_address(image, call) + call->length,
                          .function = block->function,
                          .callee = root.callee,
                          .wrapper = root.wrapper,
                          .inner = root.inner};
    judge_paths(site, &outcome, root.failures);
    if (finding->sites.callees.items[root.callee].success == SITE_SUCCESS_NEVER) {
        site->class = SITE_CHECKED;
        site->use = SITE_CHECKED_FIRST;
        site->check = SITE_CHECK_BEFORE;
        site->unchecked = 0;
        return NULL;
    }
    if (thin)
        site->role = (uint8_t)judge_role(possible, &outcome);
    if (outcome.returned_not_told_apart != 0) {
        struct caller_checks asked = {.by_all = outcome.returned_not_told_apart};
        TRY(ask_callers(finding, block->function, root.callee, &outcome, 0, &asked));
        site = &finding->sites.items.items[number];
        if (asked.callers != 0 ? asked.used == 0 : callers_get_no_result(image, block->function))
            return judge_without_result(finding, &root, site);
        judge_by_callers(site, &asked);
    }
    if (finding->sites.items.items[number].role == SITE_ROLE_PASSES)
        return expand(finding, block->function, &root, &outcome, number);
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

// Where nothing says what success is, the sites do: who uses what is left when failures are ruled
// out has got a value, and then zero is as good as any other.
static struct error *vote(struct finding *finding)
{
    _cleanup_free_ uint8_t *votes = calloc(finding->sites.callees.count + 1, 1);
    if (votes == NULL)
        return error_no_memory();
    for (size_t i = 0; i < finding->roots.count; i++) {
        const struct root *root = &finding->roots.items[i];
        struct site_callee *callee = &finding->sites.callees.items[root->callee];
        struct possible_results *possible = &finding->possible.items[root->callee];
        if (root->tail || !possible->lenient || votes[root->callee] == MOST_VOTES)
            continue;
        struct follow_outcome outcome;
        votes[root->callee]++;
        TRY(follower_run(finding->follower, root->block, possible, root->known, root->numbers,
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
    _cleanup_(finding_deinit) struct finding finding = {.image = image, .context = context};
    finding.callees = calloc(image->imports.count + 1, sizeof *finding.callees);
    finding.expanded = calloc(image->functions.count + 1, 1);
    if (finding.callees == NULL || finding.expanded == NULL)
        return error_no_memory();
    TRY(callers_init(image, &finding.callers));
    TRY(follower_new(image, &finding.follower));
    for (uint32_t i = 0; i < image->imports.count; i++)
        TRY(add_callee(&finding, i));
    for (uint32_t b = 0; b < image->blocks.count; b++)
        TRY(add_root(&finding, b));
    TRY(vote(&finding));
    for (size_t i = 0; i < finding.roots.count; i++)
        TRY(follow_root(&finding, finding.roots.items[i]));
    TRY(sort_sites(&finding.sites));
    *ret_sites = finding.sites;
    finding.sites = (struct sites){0};
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// See follow.h. A *way* is a path from the call on with the results that are possible there. It
// ends when failures are told apart from success, when nothing is left of the result, or with the
// function. Ways that enter a block in the same state are followed once; a budget bounds the rest.
#include "callsite/follow-internal.h"

#include "base/cleanup.h"
#include "callsite/before.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ENTERED     6     // functions that are entered with the result
#define MOST_INNER_FACTS 1500  // instructions of these
#define MOST_FACTS       20000 // instructions that are looked at for one call
#define MOST_WAYS        1500
#define MOST_SEEN        3072 // states
#define LONGEST_WAY      1500 // instructions: results are checked soon or never
#define LONGEST_QUESTION 40   // instructions from the call to a comparison of errno

struct error *follower_new(const struct flow_image *image, struct follower **ret_follower)
{
    struct follower *follower = calloc(1, sizeof *follower);
    if (follower == NULL)
        return error_no_memory();
    follower->image = image;
    follower->inner = calloc(1, sizeof *follower->inner);
    if (follower->inner == NULL) {
        free(follower);
        return error_no_memory();
    }
    follower->inner->image = image;
    *ret_follower = follower;
    return NULL;
}

void follower_free(struct follower *follower)
{
    if (follower == NULL)
        return;
    follower_free(follower->inner);
    contents_deinit(&follower->contents);
    ARRAY_DEINIT(&follower->ways);
    ARRAY_DEINIT(&follower->branches);
    ARRAY_DEINIT(&follower->left);
    map_deinit(&follower->seen);
    map_deinit(&follower->similar);
    free(follower);
}

const struct branch_lanes *follower_branches(const struct follower *follower, size_t *ret_count)
{
    *ret_count = follower->branches.count;
    return follower->branches.items;
}

const uint32_t *follower_left(const struct follower *follower, size_t *ret_count)
{
    *ret_count = follower->left.count;
    return follower->left.items;
}

static bool is_held(const struct follower *follower, const struct machine *machine)
{
    for (unsigned i = 0; i < ISA_REGISTERS; i++)
        if (content_derived(&follower->contents, machine->registers[i]))
            return true;
    for (unsigned i = 0; i < machine->cell_count; i++)
        if (content_derived(&follower->contents, machine->cells[i].content))
            return true;
    return machine_flags_derived(machine, &follower->contents);
}

static bool is_followed(const struct follower *follower, const struct way *way)
{
    const struct machine *machine = &way->machine;
    bool failed = follow_failed(follower, way);
    if (follower->mode == FOLLOW_THIN && failed)
        return true; // does a failure come back to the caller?
    if (failed && way->fresh && way->distance < LONGEST_QUESTION)
        return true; // is errno looked at?
    if ((follower->mode == FOLLOW_PLAIN || follower->mode == FOLLOW_NO_END) && !way->asked &&
        follow_untold(follower, way) == 0)
        return false;
    if (follower->mode == FOLLOW_SUCCESS && way->alive != 0 && failed)
        return false;
    return is_held(follower, machine) || (way->fresh && way->distance < 8);
}

static struct error *leave(struct follower *follower, const struct way *way)
{
    if (follower->mode != FOLLOW_BRANCHES || follow_failed(follower, way))
        return NULL;
    uint32_t *left = ARRAY_ADD(&follower->left);
    if (left == NULL)
        return error_no_memory();
    *left = way->block;
    return NULL;
}

static struct error *push(struct follower *follower, const struct way *way)
{
    if (way->alive == 0)
        return NULL;
    if (!is_followed(follower, way) || way->distance > LONGEST_WAY)
        return leave(follower, way);
    if (follower->ways.count >= MOST_WAYS || follower->seen.count >= MOST_SEEN) {
        follower->outcome.cut = true;
        return NULL;
    }
    bool new, enough;
    TRY(follow_is_new(follower, way, &new));
    if (!new)
        return NULL;
    TRY(follow_is_enough(follower, way, &enough));
    if (enough)
        return leave(follower, way);
    struct way *added = ARRAY_ADD(&follower->ways);
    if (added == NULL)
        return error_no_memory();
    *added = *way;
    return NULL;
}

// Where failures that were asked about lead to while they could still be told apart, and successes.
static void note_join(struct follower *follower, const struct way *way, const struct way *from)
{
    bool success = (way->alive & follower->candidates->successes) != 0;
    bool first = from->block == way->asked_in;
    bool failure =
        follow_failed(follower, way) && way->asked && (first || is_held(follower, &way->machine));
    unsigned i = 0;
    if (way->alive == 0 || way->block == follower->start || (!failure && !success))
        return;
    while (i < follower->join_count && follower->joins[i].block != way->block)
        i++;
    if (i == JOINS) {
        follower->used_failed = true; // nobody knows
        return;
    }
    if (i == follower->join_count)
        follower->joins[follower->join_count++] = (struct join){.block = way->block};
    follower->joins[i].by_failure |= failure;
    follower->joins[i].by_success |= success;
    follower->joins[i].failure_first |= failure && first;
    follower->joins[i].success_first |= success && (way->alive & follower->failures) == 0 &&
                                        (from->alive & follower->failures) != 0;
}

// Failures of which errno does not say that the call was interrupted go where successes go, and
// nobody looks at them there.
static bool is_forgotten(const struct follower *follower)
{
    bool some = false;
    for (unsigned i = 0; i < follower->join_count; i++) {
        if ((follower->joins[i].by_failure && !follower->joins[i].by_success) ||
            (follower->joins[i].failure_first && !follower->joins[i].success_first))
            return false;
        some = some || follower->joins[i].by_failure;
    }
    return some && !follower->used_failed && !follower->outcome.cut && !follower->outcome.lost;
}

struct error *follow_go_to(struct follower *follower, const struct way *way, uint32_t block,
                           uint64_t lanes)
{
    struct way next = *way;
    next.alive &= lanes;
    next.block = block;
    next.at = follower->image->blocks.items[block].first;
    if (follower->mode == FOLLOW_RETRY)
        note_join(follower, &next, way);
    return push(follower, &next);
}

static struct error *follow(struct follower *follower, struct way way)
{
    const struct flow_block *block = &follower->image->blocks.items[way.block];
    uint32_t last = block->first + block->count - 1;
    uint8_t kind = follower->image->facts.items[last].kind;
    bool transfers = kind == ISA_CALL || kind == ISA_CALL_INDIRECT || kind == ISA_JUMP ||
                     kind == ISA_JUMP_INDIRECT || kind == ISA_BRANCH || kind == ISA_LEAVE_FUNCTION;
    for (; way.at <= last; way.at++) {
        struct way other;
        bool forked;
        way.distance++;
        follower->budget--;
        if (way.at == last && transfers && kind != ISA_CALL_INDIRECT && kind != ISA_JUMP_INDIRECT)
            break;
        if (way.at == last && transfers) { // looks at the memory operand, too
            struct machine before = way.machine;
            follow_step(follower, &way, way.at, &other, &forked);
            way.machine = before;
            break;
        }
        follow_step(follower, &way, way.at, &other, &forked);
        if (forked && way.at < last) {
            other.at = way.at + 1;
            TRY(push(follower, &other));
        }
    }
    return follow_leave_block(follower, &way, last);
}

#define LONGEST_PRELUDE 6 // blocks

// What is known before the call, from the blocks that must have come before it: constants,
// pointers that are the same as others.
static void play_before(struct follower *follower, struct machine *machine)
{
    const struct flow_image *image = follower->image;
    uint32_t chain[LONGEST_PRELUDE] = {follower->start};
    unsigned count = 1;
    for (; count < LONGEST_PRELUDE; count++) {
        const struct flow_block *block = &image->blocks.items[chain[count - 1]];
        if (block->in_count != 1)
            break;
        chain[count] = image->edges.items[block->edges_in].block;
    }
    const struct flow_block *first = &image->blocks.items[chain[count - 1]];
    machine_start(machine, &follower->contents, first->stack, first->frame);
    while (count-- > 0) {
        const struct flow_block *block = &image->blocks.items[chain[count]];
        for (uint32_t i = 0; i < block->count; i++) {
            const struct isa_fact *fact = &image->facts.items[block->first + i];
            if (fact->kind == ISA_SELECT)
                machine->registers[fact->dst & 15] = CONTENT_UNKNOWN;
            else if (fact->kind < ISA_CALL || fact->kind == ISA_SYSCALL)
                machine_step(machine, &follower->contents, image, block->first + i);
        }
        if (block->end != FLOW_CALLS)
            continue;
        machine_after_call(machine, &follower->contents);
        if (before_is_error_location(image, block->callee))
            machine->registers[ISA_RETURN] = content_of_address(&follower->contents, BASE_ERROR, 0);
    }
}

static struct error *start(struct follower *follower, const struct candidates *candidates,
                           const int64_t *numbers, uint64_t failures, enum follow_mode mode)
{
    TRY(contents_start(&follower->contents, candidates->lanes));
    map_clear(&follower->seen);
    map_clear(&follower->similar);
    memcpy(follower->numbers, numbers, candidates->lanes * sizeof *numbers);
    follower->candidates = candidates;
    follower->failures = failures;
    follower->outcome = (struct outcome){.passed_to = FLOW_NONE};
    follower->ways.count = follower->next = 0;
    follower->start = FLOW_NONE;
    follower->searched = follower->errno_registers = 0;
    follower->mode = mode;
    follower->use_count = follower->entered = follower->join_count = 0;
    follower->used_failed = false;
    follower->branches.count = follower->left.count = 0;
    return NULL;
}

static struct error *run(struct follower *follower, int64_t budget)
{
    follower->budget = budget;
    while (follower->next < follower->ways.count) {
        if (follower->budget < 0) {
            follower->outcome.cut = true;
            break;
        }
        TRY(follow(follower, follower->ways.items[follower->next++]));
    }
    if (follower->contents.short_of_memory)
        return error_no_memory();
    for (unsigned i = 0; i < follower->use_count; i++)
        if (follower->uses[i].by_failure && follower->uses[i].by_success) {
            follower->outcome.interrupted = true;
            follower->outcome.use = follower->uses[i].use;
        }
    follower->outcome.forgotten = follower->mode == FOLLOW_RETRY && is_forgotten(follower);
    return NULL;
}

struct error *follower_run(struct follower *follower, uint32_t block,
                           const struct candidates *candidates, uint64_t known,
                           const int64_t *numbers, uint64_t failures, enum follow_mode mode,
                           struct outcome *ret_outcome)
{
    struct way way = {.alive = (1ull << candidates->lanes) - 1, .block = block, .fresh = true};
    TRY(start(follower, candidates, numbers, failures, mode));
    follower->start = block;
    play_before(follower, &way.machine);
    way.machine.registers[ISA_RETURN] = content_of_lanes(&follower->contents, known, numbers, true);
    TRY(follow_go_on(follower, &way));
    TRY(run(follower, MOST_FACTS));
    *ret_outcome = follower->outcome;
    return NULL;
}

// Into a function of the image, which gets `numbers` in a register.
static struct error *enter(struct follower *inner, uint32_t function, uint8_t reg,
                           const struct follower *outer, uint64_t known, const int64_t *numbers)
{
    const struct flow_function *entered = &inner->image->functions.items[function];
    if (entered->block_count == 0)
        return NULL;
    struct way way = {.alive = (1ull << outer->candidates->lanes) - 1};
    TRY(start(inner, outer->candidates, numbers, outer->failures, FOLLOW_PLAIN));
    machine_start(&way.machine, &inner->contents, 0, FLOW_LOST);
    way.machine.registers[reg] = content_of_lanes(&inner->contents, known, numbers, true);
    TRY(follow_go_to(inner, &way, entered->first_block, ~0ull));
    return run(inner, MOST_INNER_FACTS);
}

struct error *follow_into(struct follower *follower, struct way *way, uint32_t at,
                          uint32_t function, bool *ret_returned)
{
    struct follower *inner = follower->inner;
    int64_t numbers[CONTENT_LANES] = {0};
    *ret_returned = false;
    // What is checked after it was used elsewhere is checked for other reasons.
    if (inner == NULL || follower->entered == MOST_ENTERED || way->used ||
        follow_untold(follower, way) == 0)
        return NULL;
    uint8_t reg = follow_argument(follower, way);
    if (reg == ISA_NONE)
        return NULL;
    follower->entered++;
    const struct content *item = content_at(&follower->contents, way->machine.registers[reg]);
    for (unsigned i = 0; i < follower->contents.lanes; i++)
        numbers[i] = follower->contents.numbers.items[item->first + i];
    TRY(enter(inner, function, reg, follower, item->known, numbers));
    const struct outcome *outcome = &inner->outcome;
    if (!outcome->dangerous && outcome->told != 0) {
        follow_told(follower, way, at, outcome->told, false);
        follower->outcome.called_on |= outcome->told;
    }
    *ret_returned = outcome->returned_untold != 0;
    return NULL;
}

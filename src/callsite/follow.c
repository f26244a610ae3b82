// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the result of a call along paths through the function. A path carries the lanes that are
// possible on it. It ends when failures are told apart from success, when nothing holds the result
// any more, or when the function ends. Paths that enter a block in the same state are followed
// once. A budget limits the work.
#include "callsite/follow-internal.h"

#include "base/cleanup.h"
#include "callsite/reaching.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_ENTERED        6     // functions entered because the result is passed to them
#define MOST_INNER_INSNS    1500  // looked at in each of these
#define MOST_INSNS          20000 // looked at for one call
#define MOST_PATHS          1500
#define MOST_SEEN           3072 // states
#define LONGEST_PATH        1500 // instructions: results are checked soon or never
#define LONGEST_ERRNO_CHECK 40   // instructions from the call to a comparison of errno
#define A_DAY               3

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
    endings_deinit(&follower->endings);
    ARRAY_DEINIT(&follower->paths);
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

static bool is_followed(const struct follower *follower, const struct follow_path *path)
{
    const struct machine *machine = &path->machine;
    bool failed = follow_failed(follower, path);
    if (follower->mode == FOLLOW_WRAPPER && failed)
        return true; // to see whether a failure is returned to the caller
    if (failed && path->errno_fresh && path->distance < LONGEST_ERRNO_CHECK)
        return true; // to see whether errno is compared
    if ((follower->mode == FOLLOW_PLAIN || follower->mode == FOLLOW_VOID) && !path->errno_checked &&
        follow_not_told_apart(follower, path) == 0)
        return false;
    if (follower->mode == FOLLOW_SUCCESS && path->alive != 0 && failed)
        return false;
    return is_held(follower, machine) || (path->errno_fresh && path->distance < 8);
}

static struct error *note_left(struct follower *follower, const struct follow_path *path)
{
    if (follower->mode != FOLLOW_BRANCHES || follow_failed(follower, path))
        return NULL;
    uint32_t *left = ARRAY_ADD(&follower->left);
    if (left == NULL)
        return error_no_memory();
    *left = path->block;
    return NULL;
}

static struct error *push(struct follower *follower, const struct follow_path *path)
{
    if (path->alive == 0)
        return NULL;
    if (!is_followed(follower, path))
        return note_left(follower, path);
    if (path->distance > LONGEST_PATH) {
        follower->outcome.cut |= follow_not_told_apart(follower, path) != 0;
        return note_left(follower, path);
    }
    if (follower->paths.count >= MOST_PATHS || follower->seen.count >= MOST_SEEN) {
        follower->outcome.cut = true;
        return NULL;
    }
    bool new, enough;
    TRY(follow_is_new(follower, path, &new));
    if (!new)
        return NULL;
    TRY(follow_is_enough(follower, path, &enough));
    if (enough)
        return note_left(follower, path);
    struct follow_path *added = ARRAY_ADD(&follower->paths);
    if (added == NULL)
        return error_no_memory();
    *added = *path;
    return NULL;
}

// Records which blocks are entered by failures whose errno was compared, as long as they could
// still be told apart, and which by successes.
static void note_join(struct follower *follower, const struct follow_path *path,
                      const struct follow_path *from)
{
    bool success = (path->alive & follower->possible->successes) != 0;
    bool first = from->block == path->errno_checked_in;
    bool failure = follow_failed(follower, path) && path->errno_checked &&
                   (first || is_held(follower, &path->machine));
    unsigned i = 0;
    if (path->alive == 0 || path->block == follower->start || (!failure && !success))
        return;
    while (i < follower->join_count && follower->joins[i].block != path->block)
        i++;
    if (i == JOINS) {
        follower->used_failed = true; // no room: assume the worst for is_forgotten()
        return;
    }
    if (i == follower->join_count)
        follower->joins[follower->join_count++] = (struct join){.block = path->block};
    follower->joins[i].by_failure |= failure;
    follower->joins[i].by_success |= success;
    follower->joins[i].failure_first |= failure && first;
    follower->joins[i].success_first |= success && (path->alive & follower->failures) == 0 &&
                                        (from->alive & follower->failures) != 0;
}

// Whether failures other than EINTR go where successes go, and no code checks them there.
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

struct error *follow_go_to(struct follower *follower, const struct follow_path *path,
                           uint32_t block, uint64_t lanes)
{
    struct follow_path next = *path;
    next.alive &= lanes;
    next.block = block;
    next.at = follower->image->blocks.items[block].first;
    if (follower->mode == FOLLOW_RETRY)
        note_join(follower, &next, path);
    return push(follower, &next);
}

static struct error *follow(struct follower *follower, struct follow_path path)
{
    const struct flow_block *block = &follower->image->blocks.items[path.block];
    uint32_t last = block->first + block->count - 1;
    uint8_t kind = follower->image->insns.items[last].kind;
    bool transfers = kind == ISA_CALL || kind == ISA_CALL_INDIRECT || kind == ISA_JUMP ||
                     kind == ISA_JUMP_INDIRECT || kind == ISA_BRANCH || kind == ISA_RET;
    for (; path.at <= last; path.at++) {
        struct follow_path other;
        bool forked;
        path.distance++;
        follower->budget--;
        if (path.at == last && transfers && kind != ISA_CALL_INDIRECT && kind != ISA_JUMP_INDIRECT)
            break;
        if (path.at == last && transfers) { // for the memory operand
            struct machine before = path.machine;
            follow_step(follower, &path, path.at, &other, &forked);
            path.machine = before;
            break;
        }
        follow_step(follower, &path, path.at, &other, &forked);
        if (forked && path.at < last) {
            other.at = path.at + 1;
            TRY(push(follower, &other));
        }
    }
    return follow_leave_block(follower, &path, last);
}

#define LONGEST_PRELUDE 6 // blocks

// Executes the blocks that always come before the call, to know constants and equal pointers.
static void run_prelude(struct follower *follower, struct machine *machine)
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
            const struct isa_insn *insn = &image->insns.items[block->first + i];
            if (insn->kind == ISA_SELECT)
                machine->registers[insn->dst & 15] = CONTENT_UNKNOWN;
            else if (insn->kind < ISA_CALL || insn->kind == ISA_SYSCALL)
                machine_step(machine, &follower->contents, image, block->first + i);
        }
        if (block->end != FLOW_CALLS)
            continue;
        for (unsigned i = 0; i < FOLLOW_ARGUMENTS; i++)
            follower->passed[i] = machine->registers[follow_arguments[i]];
        machine_after_call(machine, &follower->contents);
        if (reaching_is_errno_location(image, block->callee))
            machine->registers[ISA_RETURN] = content_of_address(&follower->contents, BASE_ERROR, 0);
    }
}

static struct error *start(struct follower *follower, const struct possible_results *possible,
                           const int64_t *numbers, uint64_t failures, enum follow_mode mode)
{
    TRY(contents_start(&follower->contents, possible->lanes));
    map_clear(&follower->seen);
    map_clear(&follower->similar);
    memcpy(follower->numbers, numbers, possible->lanes * sizeof *numbers);
    follower->possible = possible;
    follower->failures = failures;
    follower->outcome = (struct follow_outcome){.passed_to = FLOW_NONE};
    follower->paths.count = follower->next = 0;
    follower->start = FLOW_NONE;
    follower->searched = follower->errno_registers = 0;
    follower->mode = mode;
    follower->use_count = follower->entered = follower->join_count = 0;
    follower->used_failed = false;
    follower->branches.count = follower->left.count = 0;
    memset(follower->passed, 0, sizeof follower->passed); // CONTENT_UNKNOWN
    return NULL;
}

static struct error *run(struct follower *follower, int64_t budget)
{
    follower->budget = budget;
    while (follower->next < follower->paths.count) {
        if (follower->budget < 0) {
            follower->outcome.cut = true;
            break;
        }
        TRY(follow(follower, follower->paths.items[follower->next++]));
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

// mktime() returns -1 also for the second before 1970. Code that minds sets a day to -1 before the
// call and looks at it afterwards.
static void fill_day(struct follower *follower, struct machine *machine)
{
    static const size_t days[] = {offsetof(struct tm, tm_wday), offsetof(struct tm, tm_yday)};
    const struct content *tm = content_at(&follower->contents, follower->passed[0]);
    const uint64_t base = tm->base;
    const int64_t offset = tm->offset;
    int64_t numbers[CONTENT_LANES];
    if (!follower->possible->fills_day || tm->kind != CONTENT_ADDRESS)
        return;
    for (unsigned i = 0; i < follower->contents.lanes; i++)
        numbers[i] = (follower->failures >> i & 1) != 0 ? number_unsigned(-1, sizeof(int)) : A_DAY;
    uint16_t day = content_of_lanes(&follower->contents, (1ull << follower->contents.lanes) - 1,
                                    numbers, true);
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        machine_write(machine, &follower->contents,
                      (struct cell){.base = base,
                                    .offset = offset + (int64_t)days[i],
                                    .content = day,
                                    .width = sizeof(int)});
}

struct error *follower_run(struct follower *follower, uint32_t block,
                           const struct possible_results *possible, uint64_t known,
                           const int64_t *numbers, uint64_t failures, enum follow_mode mode,
                           struct follow_outcome *ret_outcome)
{
    struct follow_path path = {
        .alive = (1ull << possible->lanes) - 1, .block = block, .errno_fresh = true};
    TRY(start(follower, possible, numbers, failures, mode));
    follower->start = block;
    run_prelude(follower, &path.machine);
    fill_day(follower, &path.machine);
    path.machine.registers[ISA_RETURN] =
        content_of_lanes(&follower->contents, known, numbers, true);
    TRY(follow_go_on(follower, &path));
    TRY(run(follower, MOST_INSNS));
    *ret_outcome = follower->outcome;
    return NULL;
}

// Follows `numbers` through a function of the image that gets them in a register.
static struct error *enter(struct follower *inner, uint32_t function, uint8_t reg,
                           const struct follower *outer, uint64_t known, const int64_t *numbers)
{
    const struct flow_function *entered = &inner->image->functions.items[function];
    if (entered->block_count == 0)
        return NULL;
    struct follow_path path = {.alive = (1ull << outer->possible->lanes) - 1};
    TRY(start(inner, outer->possible, numbers, outer->failures, FOLLOW_PLAIN));
    machine_start(&path.machine, &inner->contents, 0, FLOW_LOST);
    path.machine.registers[reg] = content_of_lanes(&inner->contents, known, numbers, true);
    TRY(follow_go_to(inner, &path, entered->first_block, ~0ull));
    return run(inner, MOST_INNER_INSNS);
}

struct error *follow_into(struct follower *follower, struct follow_path *path, uint32_t at,
                          uint32_t function, bool *ret_returned)
{
    struct follower *inner = follower->inner;
    int64_t numbers[CONTENT_LANES] = {0};
    *ret_returned = false;
    // After a use, a check inside the function has other reasons.
    if (inner == NULL || follower->entered == MOST_ENTERED || path->used ||
        follow_not_told_apart(follower, path) == 0)
        return NULL;
    uint8_t reg = follow_argument(follower, path);
    if (reg == ISA_NONE)
        return NULL;
    follower->entered++;
    const struct content *item = content_at(&follower->contents, path->machine.registers[reg]);
    for (unsigned i = 0; i < follower->contents.lanes; i++)
        numbers[i] = follower->contents.numbers.items[item->first + i];
    TRY(enter(inner, function, reg, follower, item->known, numbers));
    const struct follow_outcome *outcome = &inner->outcome;
    if (!outcome->dangerous && outcome->told_apart != 0) {
        follow_told_apart(follower, path, at, outcome->told_apart, false);
        follower->outcome.called_on |= outcome->told_apart;
    }
    *ret_returned = outcome->returned_not_told_apart != 0;
    return NULL;
}

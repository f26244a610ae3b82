// SPDX-License-Identifier: GPL-3.0-or-later
// Records what happens to the result on a path: it is used, passed on, returned, or its failures
// are told apart from success.
#include "callsite/follow-internal.h"

#include <string.h>

// How much a use says about a site. The use with the highest weight is kept.
static int weight(enum site_use use)
{
    switch (use) {
    case SITE_DEREFERENCED:
    case SITE_PASSED:
        return 5;
    case SITE_RETURNED:
        return 4;
    case SITE_STORED_GLOBAL:
    case SITE_STORED_ELSEWHERE:
        return 3;
    case SITE_CALCULATED:
        return 2;
    case SITE_COMPARED:
        return 1;
    default:
        return 0;
    }
}

static uint64_t address_of(const struct follower *follower, uint32_t insn)
{
    return flow_address(follower->image, &follower->image->insns.items[insn]);
}

static bool is_same(int64_t a, int64_t b)
{
    return number_signed(a, 4) == number_signed(b, 4);
}

static void note_reached(struct follower *follower, uint64_t key, enum site_use use,
                         bool by_failure, bool by_success)
{
    unsigned i = 0;
    while (i < follower->use_count && follower->uses[i].key != key)
        i++;
    if (i == USES)
        return;
    if (i == follower->use_count)
        follower->uses[follower->use_count++] = (struct use_note){.key = key, .use = (uint8_t)use};
    follower->uses[i].by_failure |= by_failure;
    follower->uses[i].by_success |= by_success;
}

// Records a use on paths after the check, in those modes that follow such paths.
static void note_use(struct follower *follower, const struct follow_path *path, uint32_t at,
                     enum site_use use)
{
    uint64_t successes = path->alive & follower->possible->successes;
    if (follower->mode == FOLLOW_SUCCESS && (path->alive & follower->failures) == 0 &&
        (successes & (successes - 1)) != 0 && use != SITE_COMPARED && use != SITE_RETURNED)
        follower->outcome.value_used = true;
    bool failed = follow_failed(follower, path) && path->errno_checked;
    follower->used_failed |= failed && use != SITE_COMPARED && use != SITE_RETURNED;
    if (follower->mode == FOLLOW_RETRY && weight(use) == 5 && (failed || successes != 0))
        note_reached(follower, at, use, failed, successes != 0);
}

void follow_used(struct follower *follower, struct follow_path *path, uint32_t at,
                 enum site_use use)
{
    struct follow_outcome *outcome = &follower->outcome;
    note_use(follower, path, at, use);
    if (follow_not_told_apart(follower, path) == 0)
        return;
    if (weight(use) == 5) {
        path->used = true;
        outcome->dangerous = true;
    }
    int now = weight(use), before = weight(outcome->use);
    if (now < before || (now == before && path->distance >= outcome->use_distance))
        return;
    outcome->use = (uint8_t)use;
    outcome->use_distance = path->distance;
    outcome->use_address = address_of(follower, at);
    outcome->passed_to = FLOW_NONE;
}

bool follow_is_harmless(const struct flow_image *image, uint32_t callee)
{
    // ungetc(EOF, file) does nothing, too.
    return flow_callee_is_import(callee) &&
           (strcmp(image->imports.items[flow_callee_import(callee)].name, "free") == 0 ||
            strcmp(image->imports.items[flow_callee_import(callee)].name, "ungetc") == 0);
}

const uint8_t follow_arguments[FOLLOW_ARGUMENTS] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9

uint8_t follow_argument(const struct follower *follower, const struct follow_path *path)
{
    for (unsigned i = 0; i < FOLLOW_ARGUMENTS; i++)
        if (content_derived(&follower->contents, path->machine.registers[follow_arguments[i]]))
            return follow_arguments[i];
    return ISA_NONE;
}

// A function may be called in two places, with the result in one and with a constant that equals
// the failure in the other. Both count as the same use.
static void note_passed(struct follower *follower, const struct follow_path *path, uint32_t callee,
                        uint8_t argument, uint16_t content)
{
    uint64_t key = 1ull << 40 | (uint64_t)callee << 3 | argument;
    int64_t number;
    if (follower->mode != FOLLOW_RETRY || callee == FLOW_NONE)
        return;
    if (!follow_failed(follower, path)) {
        if (content_derived(&follower->contents, content))
            note_reached(follower, key, SITE_PASSED, false, true);
        return;
    }
    for (unsigned i = 0; path->errno_checked && i < follower->contents.lanes; i++)
        if ((path->alive >> i & 1) != 0 &&
            content_number(&follower->contents, content, i, &number) &&
            is_same(number, follower->numbers[i]))
            note_reached(follower, key, SITE_PASSED, true, false);
}

// Whether a content only says which way a comparison went: f(n == 2). It has two values, for more
// results than two.
static bool is_truth(const struct contents *contents, uint16_t content)
{
    int64_t first, other, number;
    bool two = false;
    if (contents->lanes < 3 || !content_number(contents, content, 0, &first))
        return false;
    for (unsigned i = 1; i < contents->lanes; i++) {
        if (!content_number(contents, content, i, &number) ||
            (two && number != first && number != other))
            return false;
        if (number != first) {
            other = number;
            two = true;
        }
    }
    return true;
}

#define LONGEST_SETUP 4 // blocks that set the arguments of a call

// Whether a register was written since the call before this one. Where ways meet it may have been.
static bool is_set_up(const struct flow_image *image, uint32_t number, uint32_t at, uint8_t reg)
{
    for (unsigned depth = 0; depth < LONGEST_SETUP; depth++) {
        const struct flow_block *block = &image->blocks.items[number];
        for (uint32_t i = at; i-- > block->first;)
            if ((image->insns.items[i].writes >> reg & 1) != 0)
                return true;
        if (block->in_count != 1)
            return true;
        number = image->edges.items[block->edges_in].block;
        block = &image->blocks.items[number];
        if (block->end == FLOW_CALLS)
            return false;
        at = block->first + block->count;
    }
    return true;
}

// Arguments fill the registers in their order. What is in a register behind one that nobody has set
// is a leftover.
static bool is_argument(const struct follower *follower, const struct follow_path *path,
                        uint32_t at, uint8_t argument)
{
    for (uint8_t i = 0; i < argument; i++)
        if (!content_derived(&follower->contents, path->machine.registers[follow_arguments[i]]) &&
            !is_set_up(follower->image, path->block, at, follow_arguments[i]))
            return false;
    return true;
}

// isdigit(getc(file)), as some compilers have it: these functions take EOF, and answer as for many
// other characters.
static bool takes_character(const struct follower *follower, uint32_t callee)
{
    static const char *const names[] = {"isalnum", "isalpha", "isblank", "iscntrl",
                                        "isdigit", "isgraph", "islower", "isprint",
                                        "ispunct", "isspace", "isupper", "isxdigit"};
    if (!flow_callee_is_import(callee) || !follow_is_character(follower->possible))
        return false;
    const char *name = follower->image->imports.items[flow_callee_import(callee)].name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void follow_passed(struct follower *follower, struct follow_path *path, uint32_t at,
                   uint32_t callee)
{
    struct follow_outcome *outcome = &follower->outcome;
    if (follow_is_harmless(follower->image, callee))
        return;
    for (uint8_t i = 0; i < FOLLOW_ARGUMENTS; i++)
        note_passed(follower, path, callee, i, path->machine.registers[follow_arguments[i]]);
    for (uint8_t i = 0; i < FOLLOW_ARGUMENTS; i++) {
        if (!content_derived(&follower->contents, path->machine.registers[follow_arguments[i]]) ||
            !is_argument(follower, path, at, i))
            continue;
        if (takes_character(follower, callee)) {
            outcome->sifted |= follow_not_told_apart(follower, path);
            follow_used(follower, path, at, SITE_COMPARED);
            continue;
        }
        if (is_truth(&follower->contents, path->machine.registers[follow_arguments[i]])) {
            follow_used(follower, path, at, SITE_COMPARED);
            continue;
        }
        uint64_t before = outcome->use_address;
        uint8_t kind = outcome->use;
        follow_used(follower, path, at, SITE_PASSED);
        if (outcome->use == SITE_PASSED &&
            (outcome->use_address != before || kind != SITE_PASSED)) {
            outcome->argument = i;
            outcome->passed_to = callee;
        }
        return;
    }
}

void follow_told_apart(struct follower *follower, struct follow_path *path, uint32_t at,
                       uint64_t lanes, bool by_errno)
{
    struct follow_outcome *outcome = &follower->outcome;
    lanes &= follow_not_told_apart(follower, path);
    if (lanes == 0)
        return;
    path->told_apart |= lanes;
    if (path->used)
        outcome->checked_after = true;
    if (outcome->told_apart == 0 || path->distance < outcome->check_distance) {
        outcome->check_distance = path->distance;
        outcome->check_address = address_of(follower, at);
    }
    if (by_errno)
        outcome->errors |= lanes & ~outcome->told_apart;
    else
        outcome->errors &= ~lanes;
    outcome->told_apart |= lanes;
}

// if (number == LONG_MIN && errno == ERANGE) …: what goes on afterwards may look like a failure,
// but is a legal number.
static bool is_legal(const struct follower *follower, const struct follow_path *path, unsigned lane)
{
    return follower->possible->by_errno &&
           (path->errno_checked ||
            ((path->told_apart & follower->outcome.errors) >> lane & 1) != 0);
}

void follow_returned(struct follower *follower, struct follow_path *path, uint32_t at)
{
    struct follow_outcome *outcome = &follower->outcome;
    uint16_t result = path->machine.registers[ISA_RETURN];
    bool derived = content_derived(&follower->contents, result);
    uint64_t not_told_apart = follow_not_told_apart(follower, path);
    if (derived && not_told_apart != 0)
        follow_used(follower, path, at, SITE_RETURNED);
    outcome->handed_back |= derived && path->errno_checked && follow_failed(follower, path);
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        uint64_t bit = 1ull << i;
        int64_t number = 0;
        if ((path->alive & bit) == 0)
            continue;
        bool known = content_number(&follower->contents, result, i, &number);
        bool same = known && is_same(number, follower->numbers[i]) && !is_legal(follower, path, i);
        bool decides = derived && not_told_apart != 0 && outcome->returned_not_told_apart == 0;
        if ((outcome->returned & bit) == 0 || decides ||
            (same && outcome->returned_not_told_apart == 0)) {
            outcome->returned_known =
                known ? outcome->returned_known | bit : outcome->returned_known & ~bit;
            outcome->returned_numbers[i] = number;
        }
        outcome->returned |= bit;
        outcome->returned_same |= same ? bit : 0;
    }
    if (derived)
        outcome->returned_not_told_apart |= not_told_apart;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Which results take which way at a condition, and which failures it tells apart from success.
#include "callsite/follow-internal.h"

// A copy of a content with another number in one lane.
static uint16_t with_lane(struct contents *contents, uint16_t content, int lane, int64_t number)
{
    const struct content *item = content_at(contents, content);
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++)
        numbers[i] = contents->numbers.items[item->first + i];
    numbers[lane] = number;
    return content_of_lanes(contents, item->known, numbers, true);
}

static bool lane_is(const struct follower *follower, uint16_t content, int lane, unsigned width)
{
    int64_t number;
    return lane >= 0 && content_number(&follower->contents, content, (unsigned)lane, &number) &&
           number_signed(number, width) == number_signed(follower->possible->numbers[lane], width);
}

// Whether an operand of a comparison was passed to the function that is called.
static bool was_passed(const struct follower *follower, uint16_t content)
{
    for (unsigned i = 0; i < FOLLOW_ARGUMENTS; i++)
        if (follower->passed[i] == content && content != CONTENT_UNKNOWN)
            return true;
    return false;
}

// fgets(line, size, file) == line: a success may be what was passed to the function. If it is
// unknown what a success looks like, it may be a length: gzwrite(file, text, size) < size.
static void meet_argument(struct follower *follower, const uint16_t *result, uint16_t *other,
                          unsigned width, struct split *split)
{
    const struct possible_results *possible = follower->possible;
    if (!was_passed(follower, *other) ||
        content_at(&follower->contents, *other)->kind != CONTENT_ADDRESS ||
        !content_derived(&follower->contents, *result))
        return;
    if (!split->equality && (follower->mode == FOLLOW_BRANCHES || !possible->lenient))
        return;
    for (unsigned lane = 0; lane < possible->lanes; lane++)
        if ((possible->successes >> lane & 1) != 0 &&
            lane_is(follower, *result, (int)lane, width)) {
            *other = content_of_number(&follower->contents, possible->numbers[lane]);
            split->one = true;
        }
}

// gzwrite(file, text, 4) == 4: a constant that was passed may be the number asked for.
static bool meets_constant(const struct follower *follower, int64_t number)
{
    int64_t passed;
    for (unsigned i = 0; number > 1 && i < FOLLOW_ARGUMENTS; i++)
        if (content_constant(&follower->contents, follower->passed[i], &passed) && passed == number)
            return true;
    return false;
}

static bool is_unsigned(enum isa_condition condition)
{
    return condition == ISA_IF_B || condition == ISA_IF_AE || condition == ISA_IF_BE ||
           condition == ISA_IF_A;
}

// if ((size_t)snprintf(…) >= size): a negative number is above every limit, and a success is below
// the limit that code compares it with.
static void choose_limit(struct follower *follower, uint16_t *result, uint16_t *limit,
                         unsigned width)
{
    const struct possible_results *possible = follower->possible;
    struct contents *contents = &follower->contents;
    int64_t number, highest = -1;
    if (content_constant(contents, *limit, &number)) {
        if (possible->below && lane_is(follower, *result, possible->full, width) && number > 1)
            *result = with_lane(contents, *result, possible->full, number - 1);
        return;
    }
    if (content_at(contents, *limit)->kind == CONTENT_NUMBERS)
        return;
    for (unsigned lane = 0; lane < possible->lanes; lane++) {
        if (!content_number(contents, *result, lane, &number))
            return;
        number = number_signed(number, width);
        if ((follower->failures >> lane & 1) != 0 ? number >= 0 : number < -1)
            return;
        highest = number > highest ? number : highest;
    }
    *limit = content_of_number(contents, highest + 1);
}

// Adapts the examples of success to what the result is compared with. An unknown number may be the
// length that the program asked for: then it equals the full length. A constant may equal the
// ordinary value by accident: then the ordinary value becomes another one.
static void choose_examples(struct follower *follower, struct machine_flags *flags,
                            struct split *split)
{
    bool equality = split->equality;
    const struct possible_results *possible = follower->possible;
    struct contents *contents = &follower->contents;
    int64_t number;
    bool constant = content_constant(contents, flags->right, &number);
    meet_argument(follower, &flags->left, &flags->right, flags->width, split);
    meet_argument(follower, &flags->right, &flags->left, flags->width, split);
    bool asked_for = equality || !possible->below || follower->mode == FOLLOW_BRANCHES;
    if (asked_for && lane_is(follower, flags->left, possible->full, flags->width)) {
        if (constant && equality &&
            number_signed(number, flags->width) >= (possible->zero_full ? 0 : 1))
            flags->left = with_lane(contents, flags->left, possible->full, number);
        else if (content_at(contents, flags->right)->kind != CONTENT_NUMBERS)
            flags->right = content_of_number(contents, possible->numbers[possible->full]);
    }
    if (constant && equality && lane_is(follower, flags->left, possible->ordinary, flags->width)) {
        bool met = possible->lenient && meets_constant(follower, number);
        if (met || number == possible->numbers[possible->ordinary])
            flags->left =
                with_lane(contents, flags->left, possible->ordinary, met ? number : number + 1);
    }
    if (asked_for && lane_is(follower, flags->right, possible->full, flags->width) &&
        content_at(contents, flags->left)->kind != CONTENT_NUMBERS)
        flags->left = content_of_number(contents, possible->numbers[possible->full]);
}

// f() > 0: where 0 may be a success, a failure below it goes the same way. Code that compares like
// this takes only positive numbers for success.
static bool wants_positive(const struct follower *follower, const struct machine_flags *flags,
                           enum isa_condition condition)
{
    int64_t number = 0;
    if (flags->kind == ISA_TEST ? flags->left != flags->right
                                : flags->kind != ISA_COMPARE ||
                                      !content_constant(&follower->contents, flags->right, &number))
        return false;
    number = number_signed(number, flags->width);
    if (condition == ISA_IF_L || condition == ISA_IF_GE)
        number--;
    else if (condition != ISA_IF_G && condition != ISA_IF_LE)
        return false;
    return number == 0 || number == 1;
}

// Below 1 is a way to say 0, which compilers like because it sets the carry flag.
static bool is_zero_test(const struct follower *follower, const struct machine_flags *flags,
                         enum isa_condition condition)
{
    int64_t number;
    if (flags->kind != ISA_COMPARE || !is_unsigned(condition) ||
        !content_constant(&follower->contents, flags->right, &number))
        return false;
    return number == ((condition & ~1u) == ISA_IF_B ? 1 : 0);
}

// if (getc(file) != 'V') …; if (strstr(line, word) == line) …: failures go where all other values
// go, and a success may go the other way. With 0 code asks for something else, such as the end of a
// file or the child.
static uint64_t sifted(const struct follower *follower, const struct machine_flags *flags,
                       enum isa_condition condition, const struct split *split)
{
    const struct contents *contents = &follower->contents;
    int64_t number;
    bool left = content_derived(contents, flags->left);
    if (flags->kind != ISA_COMPARE || left == content_derived(contents, flags->right))
        return 0;
    bool constant = content_constant(contents, left ? flags->right : flags->left, &number);
    if (split->equality)
        return !constant || number != 0 ? ~0ull : 0;
    if (!constant || !left || !is_unsigned(condition) || is_zero_test(follower, flags, condition))
        return 0;
    return condition == ISA_IF_A || condition == ISA_IF_AE ? split->yes & ~split->no
                                                           : split->no & ~split->yes;
}

struct split follow_split(struct follower *follower, const struct follow_path *path,
                          enum isa_condition condition)
{
    struct split split = {.equality = (condition & ~1u) == ISA_IF_E};
    struct machine machine = {.flags = path->machine.flags};
    struct machine_flags *flags = &machine.flags;
    const struct possible_results *possible = follower->possible;
    split.one = split.equality || wants_positive(follower, flags, condition) ||
                is_zero_test(follower, flags, condition);
    if (flags->kind == ISA_COMPARE) {
        choose_examples(follower, flags, &split);
        bool limit =
            possible->below ? !split.equality : is_unsigned(condition) && possible->full < 0;
        if (limit && follower->mode != FOLLOW_BRANCHES) {
            choose_limit(follower, &flags->left, &flags->right, flags->width);
            choose_limit(follower, &flags->right, &flags->left, flags->width);
        }
    } else if (flags->kind == ISA_TEST && flags->left == flags->right && split.equality &&
               possible->zero_full && lane_is(follower, flags->left, possible->full, flags->width))
        flags->left = flags->right = with_lane(&follower->contents, flags->left, possible->full, 0);
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        int holds = machine_condition(&machine, &follower->contents, condition, i);
        if (holds != 0)
            split.yes |= 1ull << i;
        if (holds != 1)
            split.no |= 1ull << i;
    }
    split.sifted = sifted(follower, &path->machine.flags, condition, &split);
    return split;
}

// Failures are told apart if no success goes the same way. If it is unknown which success is the
// usual one, a comparison with one value needs only one success on the other side: code that
// compares with zero takes zero for success. This does not hold for intervals, with which a switch
// begins.
uint64_t follow_apart(struct follower *follower, const struct follow_path *path, struct split split)
{
    uint64_t only_yes = split.yes & ~split.no & path->alive;
    uint64_t only_no = split.no & ~split.yes & path->alive;
    uint64_t successes = follower->possible->successes & path->alive, apart = 0;
    uint64_t usual = follower->possible->usual & path->alive;
    bool one = split.one && follower->possible->lenient;
    if ((only_no & successes) != 0 && (one || (split.yes & successes) == 0))
        apart |= only_yes & follower->failures;
    if ((only_yes & successes) != 0 && (one || (split.no & successes) == 0))
        apart |= only_no & follower->failures;
    if ((split.no & usual) != 0)
        split.sifted |= only_yes;
    if ((split.yes & usual) != 0)
        split.sifted |= only_no;
    follower->outcome.sifted |= split.sifted & follow_not_told_apart(follower, path);
    return apart;
}

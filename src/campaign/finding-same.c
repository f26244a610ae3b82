// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which findings are one missing check although their causes differ, because what comes of
// it depends on who calls. See finding-same.h.
#include "campaign/finding-same.h"

#include "base/frame-text.h"
#include "oracle/origin.h"

#include <string.h>

static bool same_part(struct frame_part a, struct frame_part b)
{
    return a.text != NULL && b.text != NULL && a.size == b.size &&
           memcmp(a.text, b.text, a.size) == 0;
}

// Whether two frames are one place in the code. Sibling programs have the same functions in them.
static bool same_place(const struct frame_text *a, const struct frame_text *b)
{
    if (a->code.text != NULL && b->code.text != NULL)
        return same_part(a->code, b->code);
    // A function alone does not tell which of its calls it is.
    bool exact = a->function.text == NULL || a->place.text != NULL;
    return exact && same_part(a->whole, b->whole);
}

// The frame of the program that made the failed call, or of those above it.
static bool fault_frame(const struct finding_member *member, size_t above,
                        struct frame_text *ret_frame)
{
    return member->stack != NULL &&
           frame_text_at(member->stack, origin_first_outside(member->stack) + above, ret_frame);
}

static bool crash_frame(const struct finding_member *member, struct frame_text *ret_frame)
{
    return member->verdict == VERDICT_CRASH && member->crash_stack != NULL &&
           frame_text_at(member->crash_stack, origin_first_outside(member->crash_stack), ret_frame);
}

static bool crashes_in_one_function(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    return crash_frame(a, &left) && crash_frame(b, &right) && origin_same_function(&left, &right);
}

// "NULL" of "NULL/ENOMEM": why it failed does not matter to a check.
static bool same_result(const struct finding_member *a, const struct finding_member *b)
{
    if (a->result == NULL || b->result == NULL)
        return false;
    size_t size = strcspn(a->result, "/,");
    return size == strcspn(b->result, "/,") && strncmp(a->result, b->result, size) == 0;
}

// The function that the program called: not what fails inside the C library.
static struct frame_part called_function(const struct finding_member *member)
{
    size_t outside = origin_first_outside(member->stack);
    struct frame_text inner = {0};
    if (outside == 0)
        return frame_part(member->function != NULL ? member->function : "");
    return frame_text_at(member->stack, outside - 1, &inner) ? inner.function
                                                             : (struct frame_part){0};
}

// One call fails in both. If nobody tests its result there, the check is missing there, whatever
// comes of it. If it is returned, callers in one function are one.
static bool is_one_call(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    if (!same_result(a, b) || !fault_frame(a, 0, &left) || !fault_frame(b, 0, &right) ||
        !same_place(&left, &right) || !same_part(called_function(a), called_function(b)))
        return false;
    if (a->untested && b->untested)
        return true;
    return !a->tested && !b->tested && crashes_in_one_function(a, b) && fault_frame(a, 1, &left) &&
           fault_frame(b, 1, &right) && origin_same_function(&left, &right);
}

// "crash SIGSEGV in f (x)" of "crash SIGSEGV in f (x) after g (x)"
static size_t place_size(const struct finding_member *member)
{
    const char *after = strstr(member->cause, " after ");
    return after != NULL ? (size_t)(after - member->cause) : strlen(member->cause);
}

// Failures that others had handled lead to one place, and crash there.
static bool is_one_crash(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text frame;
    return a->tested && b->tested && crash_frame(a, &frame) && crash_frame(b, &frame) &&
           place_size(a) == place_size(b) && strncmp(a->cause, b->cause, place_size(a)) == 0;
}

#define NULL_PAGE 4096

// One function uses one bad pointer in both, after failures that others had handled.
static bool is_one_pointer(const struct finding_member *a, const struct finding_member *b)
{
    return a->tested && b->tested && a->accesses && b->accesses && a->address == b->address &&
           a->address != 0 && a->address < NULL_PAGE && crashes_in_one_function(a, b);
}

// What the cause says without the verdict: "SIGABRT in die (x)".
static const char *what_of(const struct finding_member *member)
{
    const char *blank = strchr(member->cause, ' ');
    return blank != NULL ? blank + 1 : "";
}

// The frames above tell nothing about a bug of the C library's own: all of it is below the call.
static bool is_of_libc(const struct finding_member *member)
{
    return member->library != NULL && frame_part_is_libc(frame_part(member->library));
}

static bool may_be_one(const struct finding_member *a, const struct finding_member *b)
{
    return a->proof != STORE_PROOF_IMPOSSIBLE && b->proof != STORE_PROOF_IMPOSSIBLE &&
           !is_of_libc(a) && !is_of_libc(b);
}

// It ends itself in one place. Where a message was seen, it was its decision; where not, too.
bool finding_member_is_one_decision(const struct finding_member *a, const struct finding_member *b)
{
    if (!may_be_one(a, b))
        return false;
    bool decided = a->verdict == VERDICT_DELIBERATE || b->verdict == VERDICT_DELIBERATE;
    bool crashed = a->verdict == VERDICT_CRASH || b->verdict == VERDICT_CRASH;
    return decided && crashed && *what_of(a) != '\0' && strcmp(what_of(a), what_of(b)) == 0;
}

// Programs of one project that do not look at their output have that from one another.
static bool is_one_output(const struct finding_members *members, const struct finding_member *a,
                          const struct finding_member *b)
{
    static const char output[] = "silent result after stream 1 of ";
    return strncmp(a->cause, output, strlen(output)) == 0 &&
           strncmp(b->cause, output, strlen(output)) == 0 && a->program != NULL &&
           b->program != NULL && sibling_programs_are(&members->siblings, a->program, b->program);
}

bool finding_member_is_same(const struct finding_members *members, const struct finding_member *a,
                            const struct finding_member *b)
{
    if (!may_be_one(a, b) || a->verdict == VERDICT_DELIBERATE || b->verdict == VERDICT_DELIBERATE ||
        strstr(a->cause, " and then ") != NULL || strstr(b->cause, " and then ") != NULL)
        return false;
    return is_one_call(a, b) || is_one_crash(a, b) || is_one_pointer(a, b) ||
           is_one_output(members, a, b);
}

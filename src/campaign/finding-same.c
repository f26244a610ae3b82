// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which findings are one missing check although their causes differ, because what comes of
// it depends on who calls. See finding-same.h.
#include "campaign/finding-same.h"

#include "base/frame-text.h"
#include "injector/realism.h"
#include "oracle/origin.h"

#include <stdlib.h>
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
           frame_text_at(member->stack, origin_first_caller(member->stack) + above, ret_frame);
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

// -1 of "EOF/EIO": why it failed does not matter to a check.
static int64_t number_of(const char *result)
{
    static const char *const none[] = {"EOF", "MAP_FAILED"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strncmp(result, none[i], strlen(none[i])) == 0)
            return -1;
    return strtoll(result, NULL, 0); // NULL is 0
}

static bool same_result(const struct finding_member *a, const struct finding_member *b)
{
    return a->result != NULL && b->result != NULL && number_of(a->result) == number_of(b->result);
}

// The function that the program called: not what fails inside the C library.
static struct frame_part called_function(const struct finding_member *member)
{
    size_t outside = origin_first_caller(member->stack);
    struct frame_text inner = {0};
    if (outside == 0)
        return frame_part_plain(frame_part(member->function != NULL ? member->function : ""));
    return frame_text_at(member->stack, outside - 1, &inner) ? frame_part_plain(inner.function)
                                                             : (struct frame_part){0};
}

// Whether the same call of the program fails in both, by itself or by what it calls inside the C
// library. A line, or code without addresses, does not tell whom it calls there.
static bool same_call(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    if (!fault_frame(a, 0, &left) || !fault_frame(b, 0, &right) || !same_place(&left, &right))
        return false;
    bool exact = left.function.text == NULL && same_part(left.whole, right.whole);
    return exact || same_part(called_function(a), called_function(b));
}

// One call fails in both. If nobody tests its result there, the check is missing there, whatever
// comes of it. If it is returned, callers in one function are one.
static bool is_one_call(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    if (!same_result(a, b) || !same_call(a, b))
        return false;
    if (a->untested && b->untested)
        return true;
    return !a->tested && !b->tested && crashes_in_one_function(a, b) && fault_frame(a, 1, &left) &&
           fault_frame(b, 1, &right) && origin_same_function(&left, &right);
}

static bool is_result(const struct finding_member *member)
{
    return member->verdict == VERDICT_SILENT || member->verdict == VERDICT_WRONG_OUTPUT;
}

static bool is_write(const struct finding_member *member)
{
    return is_result(member) && member->function != NULL &&
           strcmp(member->function, REALISM_STREAM_WRITE) == 0;
}

// All streams are flushed at the end, and all programs begin with the same code.
static bool is_at_end(const struct finding_member *member)
{
    static const char *const ends[] = {"exit", "libc_start_main", "libc_start_call_main"};
    struct frame_part called = called_function(member);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (called.text != NULL && frame_part_is(called, ends[i]))
            return true;
    return false;
}

// One place of the code, perhaps in several programs, closes or flushes streams and does not look
// at how that went. If only one of them loses what cannot be made again, both are told.
static bool is_one_write(const struct finding_member *a, const struct finding_member *b)
{
    return is_write(a) && is_write(b) && a->severity == b->severity && same_call(a, b) &&
           !is_at_end(a);
}

static bool same_caller(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    return fault_frame(a, 1, &left) && fault_frame(b, 1, &right) && same_place(&left, &right);
}

// Who takes a read error for the end of a file gets less than there is, or waits for the end in
// vain. A stream keeps its error in mind: one check is enough for all who call a function that
// reads it, and for all functions that one place calls by turns.
static bool is_one_read(const struct finding_member *a, const struct finding_member *b)
{
    static const char *const reads[] = {"read", "pread", "readv", "recv"};
    bool streams = origin_reads_stream(a->function) && origin_reads_stream(b->function),
         plain = false, hangs = a->verdict == VERDICT_HANG || b->verdict == VERDICT_HANG;
    for (size_t i = 0; a->function != NULL && i < sizeof reads / sizeof *reads; i++)
        plain |= strcmp(a->function, reads[i]) == 0;
    if ((!streams && !plain) || (!is_result(a) && a->verdict != VERDICT_HANG) ||
        (!is_result(b) && b->verdict != VERDICT_HANG))
        return false;
    if (!same_call(a, b))
        return streams && same_caller(a, b);
    return streams || hangs || same_caller(a, b);
}

// Compilers make two calls of one in a loop's condition: the first entry of a directory, and the
// next ones.
static bool is_one_listing(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    return is_result(a) && is_result(b) && a->function != NULL && b->function != NULL &&
           strncmp(a->function, "readdir", 7) == 0 && strcmp(a->function, b->function) == 0 &&
           fault_frame(a, 0, &left) && fault_frame(b, 0, &right) &&
           origin_same_function(&left, &right);
}

// Both failures reach one place of the program as the same value, which is tested there: what it
// makes of them is one thing.
static bool is_one_answer(const struct finding_member *a, const struct finding_member *b)
{
    return is_result(a) && is_result(b) && a->tested && b->tested && a->handed_to != NULL &&
           b->handed_to != NULL && strcmp(a->handed_to, b->handed_to) == 0 &&
           a->handed_offset == b->handed_offset && a->handed == b->handed;
}

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

#define NEAR      2 // frames of the program: the caller of the failed function, and whoever called that
#define CONDITION 128 // bytes: calls of one condition, or of two in a row, are not further apart

// Whether two calls of a function may be in one condition, or in two that follow each other.
static bool in_one_condition(const struct frame_text *a, const struct frame_text *b)
{
    if (!origin_same_function(a, b))
        return false;
    if (a->place.text != NULL && b->place.text != NULL)
        return same_part(a->file, b->file) && a->line <= b->line + 1 && b->line <= a->line + 1;
    return a->function.text == NULL && b->function.text == NULL &&
           a->offset <= b->offset + CONDITION && b->offset <= a->offset + CONDITION;
}

// Reading fails in the same way as it comes to its end: that is another missing check.
static bool is_read(const struct finding_member *member)
{
    static const char *const reads[] = {"read", "pread", "recv"};
    bool is = origin_reads_stream(member->function);
    for (size_t i = 0; member->function != NULL && i < sizeof reads / sizeof *reads; i++)
        is |= strncmp(member->function, reads[i], strlen(reads[i])) == 0; // readdir64, recvfrom
    return is;
}

// One function makes the failed calls, itself or one of them by what it calls next, tests them, and
// the very same comes of both: it takes these failures for one, as in `if (!(f = open()) ||
// !digest(f))`. Two calls of the same function are two, those of different conditions are, too, and
// guesses are joined with what causes them.
static bool is_one_effect(const struct finding_member *a, const struct finding_member *b)
{
    struct frame_text left, right;
    if (!is_result(a) || !is_result(b) || !a->tested || !b->tested ||
        a->proof == STORE_PROOF_CAUSED || b->proof == STORE_PROOF_CAUSED ||
        is_read(a) != is_read(b) || !same_text(a->reason, b->reason) ||
        !same_text(a->program, b->program))
        return false;
    if (fault_frame(a, 0, &left) && fault_frame(b, 0, &right) &&
        origin_same_function(&left, &right) && !same_place(&left, &right) &&
        same_part(called_function(a), called_function(b)))
        return false;
    for (size_t i = 0; i < NEAR; i++)
        for (size_t j = 0; i + j < NEAR; j++)
            if (fault_frame(a, i, &left) && fault_frame(b, j, &right) &&
                !frame_part_is_libc(left.module) && in_one_condition(&left, &right))
                return true;
    return false;
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

// Bytes from a function's start. Two short functions may be alike by chance.
#define TEMPLATE_LEAST 0x40

// Of "1f00ba47+0x1c": where in the function it is; 0 if that is not known.
static uint64_t offset_in(const struct frame_text *frame)
{
    const char *plus =
        frame->code.text != NULL ? memchr(frame->code.text, '+', frame->code.size) : NULL;
    return plus != NULL ? strtoull(plus + 1, NULL, 16) : 0;
}

// Where the failed call and the crash after it are, in one function that does not test the result.
static bool in_template(const struct finding_member *member, uint64_t *ret_call,
                        uint64_t *ret_crash)
{
    struct frame_text call, crash;
    if (!member->untested || !fault_frame(member, 0, &call) || !crash_frame(member, &crash) ||
        !origin_same_function(&call, &crash))
        return false;
    *ret_call = offset_in(&call);
    *ret_crash = offset_in(&crash);
    return *ret_call >= TEMPLATE_LEAST && *ret_crash != 0;
}

// A macro or a template is compiled for each type, in several programs of a project: the same call
// stands at the same distance from the start of functions that differ in whom they call.
static bool is_one_template(const struct finding_members *members, const struct finding_member *a,
                            const struct finding_member *b)
{
    uint64_t calls[2], crashes[2];
    return same_result(a, b) && in_template(a, &calls[0], &crashes[0]) &&
           in_template(b, &calls[1], &crashes[1]) && calls[0] == calls[1] &&
           crashes[0] == crashes[1] && same_part(called_function(a), called_function(b)) &&
           a->program != NULL && b->program != NULL &&
           (same_text(a->program, b->program) ||
            sibling_programs_are(&members->siblings, a->program, b->program));
}

static bool is_output(const struct finding_member *member)
{
    static const char output[] = "silent result after stream 1 of ",
                      told[] = "silent result after what ";
    return member->program != NULL &&
           (strncmp(member->cause, output, strlen(output)) == 0 ||
            (is_write(member) && strncmp(member->cause, told, strlen(told)) == 0));
}

bool finding_members_need_packages(const struct finding_members *members)
{
    size_t outputs = 0, templates = 0;
    uint64_t call, crash;
    for (size_t i = 0; i < members->items.count; i++) {
        outputs += is_output(&members->items.items[i]);
        templates += in_template(&members->items.items[i], &call, &crash);
    }
    return outputs > 1 || templates > 1;
}

// Programs of one project that do not look at their output, or tell of it and end with 0, have that
// from one another.
static bool is_one_output(const struct finding_members *members, const struct finding_member *a,
                          const struct finding_member *b)
{
    return is_output(a) && is_output(b) && a->verdict == b->verdict &&
           sibling_programs_are(&members->siblings, a->program, b->program);
}

bool finding_member_is_same(const struct finding_members *members, const struct finding_member *a,
                            const struct finding_member *b)
{
    if (!may_be_one(a, b) || a->verdict == VERDICT_DELIBERATE || b->verdict == VERDICT_DELIBERATE ||
        strstr(a->cause, " and then ") != NULL || strstr(b->cause, " and then ") != NULL)
        return false;
    return is_one_call(a, b) || is_one_crash(a, b) || is_one_pointer(a, b) || is_one_read(a, b) ||
           is_one_answer(a, b) || is_one_effect(a, b) || is_one_write(a, b) ||
           is_one_listing(a, b) || is_one_output(members, a, b) || is_one_template(members, a, b);
}

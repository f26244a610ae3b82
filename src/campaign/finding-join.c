// SPDX-License-Identifier: GPL-3.0-or-later
// Joins findings of one missing check. See finding-join.h.
#include "campaign/finding-join.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "campaign/finding-same.h"
#include "injector/realism.h"
#include "oracle/origin.h"

#include <stdlib.h>
#include <string.h>

void finding_members_deinit(struct finding_members *members)
{
    for (size_t i = 0; i < members->items.count; i++) {
        struct finding_member *member = &members->items.items[i];
        free(member->cause);
        free(member->library);
        free(member->function);
        free(member->stack);
        free(member->crash_stack);
        free(member->reason);
        free(member->module);
        free(member->program);
        free(member->result);
        free(member->told);
        free(member->handed_to);
        free(member->proof_call);
    }
    ARRAY_DEINIT(&members->items);
    sibling_programs_deinit(&members->siblings);
}

static struct error *copy(const char *text, char **ret_copy)
{
    *ret_copy = text != NULL ? strdup(text) : NULL;
    return text != NULL && *ret_copy == NULL ? error_no_memory() : NULL;
}

static struct error *add_member(void *data, const struct store_finding *row)
{
    struct finding_members *members = data;
    struct finding_member *member = ARRAY_ADD(&members->items);
    if (member == NULL)
        return error_no_memory();
    *member = (struct finding_member){.id = row->id,
                                      .trial = row->trial,
                                      .verdict = row->verdict,
                                      .part_of = row->part_of,
                                      .proof = row->proof,
                                      .severity = row->severity,
                                      .confirmed = row->confirmed,
                                      .main = members->items.count - 1};
    TRY(copy(row->cause, &member->cause));
    TRY(copy(row->library, &member->library));
    TRY(copy(row->proof_call, &member->proof_call));
    TRY(copy(row->stack, &member->crash_stack));
    member->blamed = member->library;
    return NULL;
}

// The first fault is the one that the finding is about.
static struct error *note_fault(void *data, const struct store_injection *row)
{
    struct finding_member *member = data;
    if (member->stack != NULL)
        return NULL;
    TRY(copy(row->function, &member->function));
    TRY(copy(row->module, &member->module));
    member->offset = row->offset;
    TRY(copy(row->program, &member->program));
    return copy(row->stack, &member->stack);
}

static struct error *note_return(struct finding_member *member, const struct store_consequence *row)
{
    bool outside =
        row->module != NULL && !frame_part_is_libc(frame_part(file_base_name(row->module)));
    // What the program called has failed now: what its own code does with that is what counts.
    if (member->in_libc && outside) {
        member->tested = member->untested = member->in_libc = false;
        char *result = NULL;
        if (asprintf(&result, "%lld", (long long)row->number) < 0)
            return error_no_memory();
        free(member->result);
        member->result = result;
    } else {
        member->returned = true;
    }
    free(TAKE(member->told));
    free(TAKE(member->handed_to));
    member->handed_offset = row->offset;
    member->handed = row->number;
    TRY(copy(row->module, &member->handed_to));
    return copy(row->module != NULL ? file_base_name(row->module) : NULL, &member->told);
}

// What became of the failed result, as far as it is known.
static struct error *note_consequence(void *data, const struct store_consequence *row)
{
    struct finding_member *member = data;
    switch (row->kind) {
    case CONSEQUENCE_FAILS:
        if (member->result != NULL)
            return NULL;
        member->in_libc =
            row->module != NULL && frame_part_is_libc(frame_part(file_base_name(row->module)));
        return copy(row->name, &member->result);
    case CONSEQUENCE_UNTESTED:
    case CONSEQUENCE_IGNORED:
    case CONSEQUENCE_COMPARED:
        member->untested |= !member->tested && !member->returned;
        return NULL;
    case CONSEQUENCE_TESTED:
    case CONSEQUENCE_TESTED_LATE:
    case CONSEQUENCE_TESTED_SOMETIMES:
    case CONSEQUENCE_ERRNO_ONLY:
        member->tested = true;
        return NULL;
    case CONSEQUENCE_RETURNED:
        return note_return(member, row);
    case CONSEQUENCE_READS:
    case CONSEQUENCE_WRITES:
    case CONSEQUENCE_ACCESSES:
        member->accesses = true;
        member->address = (uint64_t)row->number;
        return NULL;
    default:
        return NULL;
    }
}

static struct error *note_reason(struct store *store, struct finding_member *member)
{
    struct store_trial trial = {0};
    struct store_candidate candidate = {0};
    TRY(store_find_trial(store, member->trial, &trial, &candidate));
    struct error *error = copy(trial.reason, &member->reason);
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    return error;
}

static struct error *note_stack(void *data, const char *program, const char *stack)
{
    struct finding_members *members = data;
    return sibling_programs_add(&members->siblings, program, stack);
}

// What comes of it: "wrong-output result" of "wrong-output result after f (x)". 0: the cause does
// not name the call, or names two.
static size_t consequence_size(const char *cause)
{
    const char *after = strstr(cause, " after ");
    return after != NULL && strstr(cause, " and then ") == NULL ? (size_t)(after - cause) : 0;
}

static bool same_consequence(const struct finding_member *a, const struct finding_member *b)
{
    size_t size = consequence_size(a->cause);
    return size != 0 && size == consequence_size(b->cause) &&
           memcmp(a->cause, b->cause, size) == 0 && a->severity == b->severity;
}

static bool is_result(const struct finding_member *member)
{
    return member->verdict == VERDICT_SILENT || member->verdict == VERDICT_WRONG_OUTPUT;
}

// A stream that cannot be written makes the guess come true: it is the same failure, whether more
// or less of its harm is seen. Memory is asked for in many places.
static bool is_its_stream(const struct finding_member *outer)
{
    const struct injection call = {.function = outer->proof_call};
    return outer->proof == STORE_PROOF_CAUSED && origin_is_stream(&call);
}

static bool is_stream(const struct finding_member *member)
{
    return member->function != NULL && strcmp(member->function, REALISM_STREAM_WRITE) == 0;
}

// A library may call functions of the program's that print: another stream is another matter.
static bool causes(const struct finding_member *inner, const struct finding_member *outer)
{
    if (is_stream(inner))
        return is_its_stream(outer) && is_result(inner) && is_result(outer);
    return same_consequence(inner, outer);
}

// Whether the call of `called` in this frame is the one that fails in `outer`. C++ names are
// mangled in one of them.
static bool is_call_of(const struct frame_text *frame, const struct frame_text *called,
                       const struct finding_member *outer, const struct frame_text *failed)
{
    if (frame->whole.size != failed->whole.size ||
        memcmp(frame->whole.text, failed->whole.text, frame->whole.size) != 0)
        return false;
    bool named = called->function.text != NULL && outer->function != NULL &&
                 strncmp(outer->function, "_Z", 2) != 0;
    // A frame with a function alone does not tell which of its calls it is.
    bool exact = frame->function.text == NULL || frame->place.text != NULL;
    return named ? frame_part_is(called->function, outer->function) : exact;
}

static bool is_inside(const struct finding_member *inner, const struct finding_member *outer)
{
    struct frame_text frame, called = {0}, failed;
    if (inner->stack == NULL || outer->stack == NULL ||
        !frame_text_at(outer->stack, origin_first_outside(outer->stack), &failed))
        return false;
    const char *at = inner->stack;
    size_t first = origin_first_outside(inner->stack);
    for (size_t i = 0; frame_text_next(&at, &frame); i++) {
        if (i > first && is_call_of(&frame, &called, outer, &failed))
            return true;
        called = frame;
    }
    return false;
}

// What a program decides on is not a crash, because one trial did not see its message. What needs
// no proof stands for the others; else the worst, the surest, the first.
static bool is_better(const struct finding_member *a, const struct finding_member *b)
{
    bool decided = a->verdict == VERDICT_DELIBERATE;
    if (decided != (b->verdict == VERDICT_DELIBERATE))
        return decided;
    if (a->proof != b->proof)
        return a->proof < b->proof;
    if (a->severity != b->severity)
        return a->severity < b->severity;
    bool sure = a->confirmed == STORE_CONFIRMED;
    if (sure != (b->confirmed == STORE_CONFIRMED))
        return sure;
    return a->id < b->id;
}

static size_t main_of(struct finding_members *members, size_t index)
{
    while (members->items.items[index].main != index)
        index = members->items.items[index].main;
    return index;
}

static size_t join(struct finding_members *members, size_t a, size_t b)
{
    struct finding_member *items = members->items.items;
    size_t left = main_of(members, a), right = main_of(members, b);
    size_t best = is_better(&items[left], &items[right]) ? left : right;
    items[left].main = items[right].main = best;
    return best;
}

// Whoever ignores the failure is to blame for it, not the library that reports it.
static void join_and_blame(struct finding_members *members, size_t a, size_t b, const char *blamed)
{
    size_t best = join(members, a, b);
    members->items.items[best].blamed = (char *)blamed;
}

// A guess that was proven brings together all that makes it fail. One that was not is a duplicate
// of the first failure inside it that does the same; about others it says nothing.
static void join_with_guess(struct finding_members *members, size_t guess)
{
    const struct finding_member *items = members->items.items, *outer = &items[guess];
    size_t best = guess;
    if (outer->proof != STORE_PROOF_CAUSED && outer->proof != STORE_PROOF_UNPROVEN)
        return;
    for (size_t i = 0; i < members->items.count; i++) {
        const struct finding_member *inner = &items[i];
        if (i == guess || inner->proof == STORE_PROOF_IMPOSSIBLE || !is_inside(inner, outer) ||
            !causes(inner, outer))
            continue;
        if (outer->proof == STORE_PROOF_CAUSED)
            join_and_blame(members, i, guess, outer->library);
        else if (inner->proof != STORE_PROOF_UNPROVEN && is_better(inner, &items[best]))
            best = i;
    }
    if (best != guess)
        join_and_blame(members, best, guess, items[main_of(members, best)].blamed);
}

// A library that reports a failure to the program is not to blame for what the program makes of it.
static void blame_whoever_was_told(struct finding_member *member)
{
    bool result = member->verdict == VERDICT_SILENT || member->verdict == VERDICT_WRONG_OUTPUT;
    if (result && member->library != NULL && member->told != NULL &&
        strcmp(member->told, member->library) != 0 && strstr(member->told, ".so") == NULL)
        member->blamed = NULL;
}

// What one change of the code would mend is one finding.
static void join_same(struct finding_members *members)
{
    const struct finding_member *items = members->items.items;
    size_t count = members->items.count;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (finding_member_is_one_decision(&items[i], &items[j]))
                join(members, i, j);
    // A crash never becomes a part of a decision by way of another one.
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            if (items[main_of(members, i)].verdict != VERDICT_DELIBERATE &&
                items[main_of(members, j)].verdict != VERDICT_DELIBERATE &&
                finding_member_is_same(members, &items[i], &items[j]))
                join(members, i, j);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static struct error *store_one(struct store *store, struct finding_members *members, size_t index)
{
    const struct finding_member *member = &members->items.items[index];
    size_t main = main_of(members, index);
    const struct store_finding row = {
        .id = member->id,
        .cause = "",
        .title = "",
        .site = "",
        .command = "",
        .library = member->blamed,
        .part_of = main != index ? members->items.items[main].id : 0,
    };
    if (row.part_of == member->part_of && same_text(row.library, member->library))
        return NULL;
    return store_join_finding(store, &row);
}

struct error *finding_join(struct store *store, int64_t campaign)
{
    _cleanup_(finding_members_deinit) struct finding_members members = {0};
    TRY(store_each_finding(store, campaign, add_member, &members));
    for (size_t i = 0; i < members.items.count; i++) {
        struct finding_member *member = &members.items.items[i];
        TRY(note_reason(store, member));
        TRY(store_each_injection(store, member->trial, note_fault, member));
        TRY(store_each_consequence(store, member->id, note_consequence, member));
        blame_whoever_was_told(member);
    }
    TRY(store_each_program_and_stack(store, campaign, note_stack, &members));
    if (finding_members_need_packages(&members))
        TRY(sibling_programs_add_packages(&members.siblings, SIBLING_PACKAGES));
    for (size_t i = 0; i < members.items.count; i++)
        join_with_guess(&members, i);
    join_same(&members);
    for (size_t i = 0; i < members.items.count; i++)
        TRY(store_one(store, &members, i));
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Puts markers and faulty copies into twins. A copy holds only the instructions that a fault
// changes. A function has a budget for its copies; candidates get theirs in a random order until it
// is used up.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"
#include "mutate/pass/source.h"

#include <stdlib.h>

// A copy is made of a whole piece and then trimmed, so pieces are not much larger than what a fault
// may change.
#define PIECE       64
#define LEAST_LARGE (2 * PIECE)

struct piece {
    struct shim_splice *splice;
    size_t first, count; // candidates
};

struct twin_work {
    struct pass *pass;
    struct pass_function *subject;
    ARRAY(struct piece) pieces;
    size_t budget, used; // instructions
    unsigned *per_block; // copies in each block
    uint32_t
        rank; // of the first copy; functions begin apart, or all would lose their first at once
};

static void cut_large_blocks(const struct pass_function *subject)
{
    for (size_t i = 0, count; i < subject->candidates.count; i += count) {
        count = pass_in_one_block(subject, i);
        LLVMBasicBlockRef block =
            LLVMGetInstructionParent(subject->candidates.items[i].instruction);
        if (pass_block_size(block) >= LEAST_LARGE)
            shim_cut(block, PIECE);
    }
}

static void find_pieces(struct twin_work *work)
{
    struct pass_function *subject = work->subject;
    for (size_t i = 0, count; i < subject->candidates.count; i += count) {
        count = pass_in_one_block(subject, i);
        struct piece *piece = ARRAY_ADD(&work->pieces);
        if (piece == NULL) {
            pass_must(error_no_memory());
            return;
        }
        LLVMValueRef first = subject->candidates.items[i].instruction;
        LLVMBasicBlockRef body = shim_split(LLVMGetInstructionParent(first));
        *piece = (struct piece){shim_splice_new(body), i, count};
        for (size_t j = i; j < i + count; j++)
            subject->candidates.items[j].piece = (uint32_t)(work->pieces.count - 1);
    }
}

static void try_candidate(struct twin_work *work, size_t number)
{
    struct pass *pass = work->pass;
    struct pass_candidate *candidate = &work->subject->candidates.items[number];
    struct shim_splice *splice = work->pieces.items[candidate->piece].splice;
    unsigned most = pass->options.clones_per_block;
    if (work->used >= work->budget || (most != 0 && work->per_block[candidate->block] >= most))
        return;
    LLVMValueRef copy = shim_splice_copy(splice, candidate->instruction);
    if (copy == NULL) {
        pass_must(error_new("a candidate of type %s has left its block", candidate->type->name));
        return;
    }
    pass_apply(pass, work->subject, number, copy);
    unsigned size = shim_splice_trim(splice);
    candidate->idle = size == 0;
    candidate->chosen = size != 0 && work->used + size <= work->budget;
    if (!candidate->chosen) {
        shim_splice_drop(splice);
        return;
    }
    candidate->rank = work->rank + (uint32_t)(work->used * PASS_RANKS / work->budget);
    work->per_block[candidate->block]++;
    if (shim_splice_keep(splice, number))
        work->used += size;
}

// ---- a random order ----

struct ticket {
    bool later;
    uint64_t random;
    size_t number;
};

static int by_random(const void *a, const void *b)
{
    const struct ticket *x = a, *y = b;
    if (x->later != y->later)
        return x->later ? 1 : -1;
    if (x->random != y->random)
        return x->random < y->random ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// The same seed gives the same order. The types of the field study come first: they are few, and
// the mistakes that programmers make most.
static void try_candidates(struct twin_work *work)
{
    size_t count = work->subject->candidates.count;
    struct ticket *tickets = calloc(count, sizeof *tickets);
    if (tickets == NULL) {
        pass_must(error_no_memory());
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct fault_type *type = work->subject->candidates.items[i].type;
        bool field = type >= field_types && type < field_types + MODEL_KINDS;
        tickets[i] = (struct ticket){
            !field, pass_random(work->pass->options.seed ^ pass_random(work->subject->id + i)), i};
    }
    qsort(tickets, count, sizeof *tickets, by_random);
    for (size_t i = 0; i < count; i++)
        try_candidate(work, tickets[i].number);
    free(tickets);
}

// ---- markers ----

static void put_marker(void *data, const struct shim_mark *mark)
{
    struct twin_work *work = data;
    const struct pass_marker marker = {
        .next = mark->next,
        .targets = mark->targets,
        .target_count = mark->target_count,
        .numbers = mark->numbers,
        .number_count = mark->number_count,
    };
    LLVMValueRef end = LLVMGetBasicBlockTerminator(mark->block);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(work->pass->context);
    LLVMPositionBuilderAtEnd(builder, mark->block);
    LLVMSetInstDebugLocation(builder, LLVMGetFirstInstruction(mark->next));
    LLVMInstructionEraseFromParent(end);
    pass_put_marker(work->pass, work->subject, &marker, builder);
    LLVMDisposeBuilder(builder);
}

void pass_splice(struct pass *pass, struct pass_function *subject)
{
    struct twin_work work = {.pass = pass, .subject = subject};
    work.budget = pass_function_size(subject->twin) * pass->options.budget / 100;
    if (work.budget < pass->options.least_budget)
        work.budget = pass->options.least_budget;
    work.rank = (uint32_t)(pass_random(pass->options.seed + subject->id) % (PASS_RANKS / 8));
    cut_large_blocks(subject);
    if (!shim_demote(subject->twin)) {
        subject->reason = "values that cannot be kept in memory";
        subject->skipped = true;
        return;
    }
    work.per_block = calloc(subject->blocks + 1, sizeof *work.per_block);
    if (work.per_block == NULL)
        pass_must(error_no_memory());
    find_pieces(&work);
    try_candidates(&work);
    for (size_t i = 0; i < work.pieces.count; i++) {
        shim_splice_join(work.pieces.items[i].splice, put_marker, &work);
        shim_splice_free(work.pieces.items[i].splice);
    }
    pass_put_base(pass, subject);
    ARRAY_DEINIT(&work.pieces);
    free(work.per_block);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Puts markers and clones into functions. A block with candidates is cut after its beginning. At
// the cut stands a marker that leads to the rest of the block or to one of its faulty copies.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <inttypes.h>
#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

struct block_work {
    struct pass_function *subject;
    size_t first, count; // candidates of this block
    LLVMBasicBlockRef head, body;
    ARRAY(LLVMBasicBlockRef) clones;
    ARRAY(size_t) numbers; // candidate of each clone, in the function
};

// ---- which candidates get a clone ----

size_t pass_block_size(LLVMBasicBlockRef block)
{
    size_t size = 0;
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
         instruction = LLVMGetNextInstruction(instruction))
        size++;
    return size;
}

size_t pass_function_size(LLVMValueRef function)
{
    size_t size = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        size += pass_block_size(block);
    return size;
}

// Chooses candidates by a sample without repetition. The same seed gives the same sample.
static void choose(const struct pass *pass, struct block_work *work)
{
    struct pass_candidate *candidates = work->subject->candidates.items + work->first;
    size_t size = pass_block_size(work->head), wanted = pass->options.clones_per_block;
    size_t fit = pass->options.limit / (size != 0 ? size : 1);
    if (wanted == 0 || wanted > fit)
        wanted = fit > 0 ? fit : 1;
    uint64_t state = pass_random(pass->options.seed ^ work->subject->id ^ candidates[0].block);
    size_t left = work->count, needed = wanted < left ? wanted : left;
    for (size_t i = 0; i < work->count; i++, left--) {
        state = pass_random(state);
        candidates[i].chosen = state % left < needed;
        needed -= candidates[i].chosen;
    }
}

// ---- clones ----

static LLVMValueRef same_place(LLVMBasicBlockRef body, LLVMBasicBlockRef clone, LLVMValueRef wanted)
{
    LLVMValueRef copy = LLVMGetFirstInstruction(clone);
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(body); instruction != NULL;
         instruction = LLVMGetNextInstruction(instruction), copy = LLVMGetNextInstruction(copy))
        if (instruction == wanted)
            return copy;
    return NULL;
}

void pass_apply(struct pass *pass, const struct pass_function *subject, size_t number,
                LLVMValueRef copy)
{
    struct fault_edit edit = {
        .builder = LLVMCreateBuilderInContext(pass->context),
        .context = pass->context,
        .module = pass->module,
        .random = pass_random(subject->id + pass_random(number)),
        .place = &subject->candidates.items[number].place,
    };
    LLVMPositionBuilderBefore(edit.builder, copy);
    LLVMSetInstDebugLocation(edit.builder, copy);
    subject->candidates.items[number].type->apply(copy, &edit);
    LLVMDisposeBuilder(edit.builder);
}

// A function that is always inlined would be inlined into every clone, with all its own clones.
static void forbid_inlining(struct pass *pass, LLVMBasicBlockRef clone)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
    for (LLVMValueRef call = LLVMGetFirstInstruction(clone); call != NULL;
         call = LLVMGetNextInstruction(call)) {
        LLVMValueRef callee =
            LLVMIsACallInst(call) != NULL ? LLVMIsAFunction(LLVMGetCalledValue(call)) : NULL;
        const struct pass_function *called = callee != NULL ? pass_function_of(pass, callee) : NULL;
        if (called != NULL && called->candidates.count != 0)
            LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                     LLVMCreateEnumAttribute(pass->context, kind, 0));
    }
}

static void add_clone(struct pass *pass, struct block_work *work, size_t number)
{
    struct pass_candidate *candidate = &work->subject->candidates.items[number];
    LLVMBasicBlockRef clone = shim_clone_block(work->body);
    LLVMValueRef copy = same_place(work->body, clone, candidate->instruction);
    if (copy == NULL) {
        pass_must(error_new("a candidate of type %s has left its block", candidate->type->name));
        return;
    }
    pass_apply(pass, work->subject, number, copy);
    forbid_inlining(pass, clone);
    // The mistake changed nothing; the optimiser will drop the clone.
    candidate->idle = shim_same_code(work->body, clone);
    candidate->chosen = !candidate->idle;
    if (candidate->idle)
        return;
    LLVMBasicBlockRef *slot = ARRAY_ADD(&work->clones);
    size_t *index = ARRAY_ADD(&work->numbers);
    if (slot == NULL || index == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *slot = clone;
    *index = number;
}

// ---- decisions ----

static void decide_by_marker(struct pass *pass, struct block_work *work, LLVMBuilderRef builder)
{
    struct shim_mark_number *numbers = calloc(work->numbers.count, sizeof *numbers);
    if (numbers == NULL) {
        pass_must(error_no_memory());
        return;
    }
    for (size_t i = 0; i < work->numbers.count; i++)
        numbers[i] = (struct shim_mark_number){work->numbers.items[i], i};
    const struct pass_marker marker = {
        .next = work->body,
        .targets = work->clones.items,
        .target_count = work->clones.count,
        .numbers = numbers,
        .number_count = work->numbers.count,
    };
    pass_put_marker(pass, work->subject, &marker, builder);
    free(numbers);
}

static void decide_by_variable(struct pass *pass, struct block_work *work, LLVMBuilderRef builder)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(pass->context);
    LLVMValueRef value = LLVMBuildLoad2(builder, type, pass_variable(pass), "");
    LLVMSetVolatile(value, true);
    LLVMValueRef decision =
        LLVMBuildSwitch(builder, value, work->body, (unsigned)work->clones.count);
    for (size_t i = 0; i < work->clones.count; i++) {
        uint32_t key = map_key(work->subject->id, work->numbers.items[i]);
        LLVMAddCase(decision, LLVMConstInt(type, key, false), work->clones.items[i]);
    }
}

static void instrument_block(struct pass *pass, struct block_work *work)
{
    struct pass_candidate *first = &work->subject->candidates.items[work->first];
    work->head = LLVMGetInstructionParent(first->instruction);
    choose(pass, work);
    work->body = shim_split(work->head);
    for (size_t i = work->first; i < work->first + work->count; i++)
        if (work->subject->candidates.items[i].chosen)
            add_clone(pass, work, i);
    if (work->clones.count == 0)
        return;
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(work->head));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
    LLVMPositionBuilderAtEnd(builder, work->head);
    LLVMSetInstDebugLocation(builder, LLVMGetFirstInstruction(work->body));
    if (pass->options.decide == MAP_VARIABLE)
        decide_by_variable(pass, work, builder);
    else
        decide_by_marker(pass, work, builder);
    LLVMDisposeBuilder(builder);
}

size_t pass_in_one_block(const struct pass_function *subject, size_t first)
{
    const struct pass_candidate *candidates = subject->candidates.items;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(candidates[first].instruction);
    size_t i = first;
    while (i < subject->candidates.count &&
           LLVMGetInstructionParent(candidates[i].instruction) == block)
        i++;
    return i - first;
}

void pass_instrument(struct pass *pass, struct pass_function *subject)
{
    if (subject->skipped || subject->spared ||
        (subject->candidates.count == 0 && subject->twin == NULL))
        return;
    LLVMValueRef code = subject->twin != NULL ? subject->twin : subject->function;
    pass_prepare_source(pass, subject, code);
    pass_set_unset(pass, subject, code);
    pass_drop_forbidden(code);
    // In pristine code, keep the layout only where code is to be small, so that it costs as little
    // as possible. Other code is hardly at risk, since its blocks are merged less often.
    if (pass->options.decide != MAP_VARIABLE)
        shim_keep_layout(code, pass->options.decide == MAP_MARKERS);
    if (subject->candidates.count == 0)
        return;
    if (subject->twin != NULL) {
        pass_splice(pass, subject);
        return;
    }
    if (!shim_demote(code)) {
        subject->reason = "values that cannot be kept in memory";
        subject->skipped = true;
        return;
    }
    for (size_t i = 0, count; i < subject->candidates.count; i += count) {
        count = pass_in_one_block(subject, i);
        struct block_work work = {.subject = subject, .first = i, .count = count};
        instrument_block(pass, &work);
        ARRAY_DEINIT(&work.clones);
        ARRAY_DEINIT(&work.numbers);
    }
}

// ---- the variable ----

LLVMValueRef pass_variable(struct pass *pass)
{
    LLVMValueRef variable = LLVMGetNamedGlobal(pass->module, "ordeal_fault");
    if (variable != NULL)
        return variable;
    LLVMTypeRef half = LLVMInt32TypeInContext(pass->context);
    variable = LLVMAddGlobal(pass->module, half, "ordeal_fault");
    LLVMSetInitializer(variable, LLVMConstInt(half, UINT32_MAX, false));
    LLVMSetLinkage(variable, LLVMWeakODRLinkage);
    LLVMSetVisibility(variable, LLVMHiddenVisibility);
    LLVMComdatRef group = LLVMGetOrInsertComdat(pass->module, "ordeal_fault");
    LLVMSetComdat(variable, group);
    pass_tell_variable(pass, variable);
    return variable;
}

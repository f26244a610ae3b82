// SPDX-License-Identifier: GPL-3.0-or-later
// Puts markers and clones into functions. A block with candidates is cut after its beginning. At
// the cut stands a marker that leads to the rest of the block or to one of its faulty copies.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <inttypes.h>
#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

// The fewest instructions of a piece when a block is cut: those of one or two statements.
#define LEAST_PIECE 6

struct block_work {
    struct pass_function *subject;
    size_t first, count; // candidates of this block
    LLVMBasicBlockRef head, body;
    ARRAY(LLVMBasicBlockRef) clones;
    ARRAY(size_t) numbers; // candidate of each clone, in the function
};

// ---- which candidates get a clone ----

static size_t block_size(LLVMBasicBlockRef block)
{
    size_t size = 0;
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
         instruction = LLVMGetNextInstruction(instruction))
        size++;
    return size;
}

// How many candidates the block had before it was cut into pieces.
static size_t before_cutting(const struct block_work *work)
{
    const struct pass_candidate *candidates = work->subject->candidates.items;
    size_t first = work->first, last = work->first;
    while (first > 0 && candidates[first - 1].block == candidates[work->first].block)
        first--;
    while (last < work->subject->candidates.count &&
           candidates[last].block == candidates[work->first].block)
        last++;
    return last - first;
}

// Chooses candidates by a sample without repetition. The same seed gives the same sample. The
// pieces of a block share its limit.
static void choose(const struct pass *pass, struct block_work *work)
{
    struct pass_candidate *candidates = work->subject->candidates.items + work->first;
    size_t size = block_size(work->head), wanted = pass->options.clones_per_block;
    size_t room = pass->options.limit * work->count / before_cutting(work);
    size_t fit = room / (size != 0 ? size : 1);
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

static void add_clone(struct pass *pass, struct block_work *work, size_t number)
{
    struct pass_candidate *candidate = &work->subject->candidates.items[number];
    LLVMBasicBlockRef clone = shim_clone_block(work->body);
    LLVMValueRef copy = same_place(work->body, clone, candidate->instruction);
    if (copy == NULL) {
        pass_must(error_new("a candidate of type %s has left its block", candidate->type->name));
        return;
    }
    struct fault_edit edit = {
        .builder = LLVMCreateBuilderInContext(pass->context),
        .context = pass->context,
        .module = pass->module,
        .random = pass_random(work->subject->id + pass_random(number)),
        .place = &candidate->place,
    };
    LLVMPositionBuilderBefore(edit.builder, copy);
    LLVMSetInstDebugLocation(edit.builder, copy);
    candidate->type->apply(copy, &edit);
    LLVMDisposeBuilder(edit.builder);
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

// A marker: a nop of five bytes, and a record in a section of its own that says where the nop is,
// which function it belongs to, and where it may lead. If the optimiser copies the code, it copies
// the record as well.
// Ties the record to its code for the linker. For a twin that is not inlined, the twin's name is
// enough. Other code may end up anywhere, so only the marker itself is certain to be there.
static void write_owner(const struct pass *pass, const struct pass_function *subject,
                        struct buffer *text)
{
    size_t size;
    bool stays = subject->twin != NULL && !pass->options.lto && !subject->always_inlined;
    const char *name = stays ? LLVMGetValueName2(subject->twin, &size) : "";
    for (const char *at = name; *at != '\0'; at++)
        stays &= (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') ||
                 (*at >= 'a' && *at <= 'z') || *at == '_' || *at == '.';
    pass_must(buffer_printf(text, "%s", stays ? name : ".Lordeal${:uid}"));
}

static void write_marker(const struct pass *pass, const struct block_work *work,
                         struct buffer *text, struct buffer *labels)
{
    const struct pass_function *subject = work->subject;
    uint32_t block = subject->candidates.items[work->first].block;
    pass_must(buffer_printf(text, ".Lordeal${:uid}:\n\t.byte 15, 31, 68, 0, 0\n"
                                  "\t.pushsection " MARK_SECTION ",\"?o\",@progbits,"));
    write_owner(pass, subject, text);
    pass_must(buffer_printf(text,
                            "\n\t.quad .Lordeal${:uid}, 0x%" PRIx64 "\n\t.long %" PRIu32 ", %zu\n",
                            subject->id, block, work->clones.count));
    for (size_t i = 0; i < work->clones.count; i++) {
        pass_must(buffer_printf(text, "\t.quad ${%zu:l}, %zu\n", i, work->numbers.items[i]));
        pass_must(buffer_printf(labels, "%s!i", i == 0 ? "" : ","));
    }
    pass_must(buffer_printf(text, "\t.popsection\n"));
}

static void decide_by_marker(struct pass *pass, struct block_work *work, LLVMBuilderRef builder)
{
    struct buffer text = {0}, labels = {0};
    write_marker(pass, work, &text, &labels);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(pass->context), NULL, 0, false);
    LLVMValueRef assembly = LLVMGetInlineAsm(type, text.data, text.size, labels.data, labels.size,
                                             true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef marker = LLVMBuildCallBr(builder, type, assembly, work->body, work->clones.items,
                                          (unsigned)work->clones.count, NULL, 0, NULL, 0, "");
    static const char *const attributes[] = {"nounwind", "memory"};
    for (int i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddCallSiteAttribute(marker, LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(pass->context, kind, 0));
    }
    buffer_deinit(&text);
    buffer_deinit(&labels);
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

// How many candidates, from `first` on, are in the same block.
static size_t in_one_block(const struct pass_function *subject, size_t first)
{
    const struct pass_candidate *candidates = subject->candidates.items;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(candidates[first].instruction);
    size_t i = first;
    while (i < subject->candidates.count &&
           LLVMGetInstructionParent(candidates[i].instruction) == block)
        i++;
    return i - first;
}

// Cuts large blocks into pieces at statements. A clone is as large as its block, so only a few
// candidates of a large block could have one; with pieces, many more can. Each piece needs a
// marker, which costs nothing in a twin.
static void cut_large_blocks(struct pass *pass, const struct pass_function *subject)
{
    for (size_t i = 0, count; i < subject->candidates.count; i += count) {
        count = in_one_block(subject, i);
        LLVMBasicBlockRef block =
            LLVMGetInstructionParent(subject->candidates.items[i].instruction);
        size_t piece = pass->options.limit / count / 2;
        if (count * block_size(block) > pass->options.limit)
            shim_cut(block, piece > LEAST_PIECE ? (unsigned)piece : LEAST_PIECE);
    }
}

void pass_instrument(struct pass *pass, struct pass_function *subject)
{
    if (subject->skipped || (subject->candidates.count == 0 && subject->twin == NULL))
        return;
    LLVMValueRef code = subject->twin != NULL ? subject->twin : subject->function;
    pass_prepare_source(pass, subject, code);
    pass_drop_forbidden(code);
    // In pristine code, keep the layout only where code is to be small, so that it costs as little
    // as possible. Other code is hardly at risk, since its blocks are merged less often.
    if (pass->options.decide != MAP_VARIABLE)
        shim_keep_layout(code, pass->options.decide == MAP_MARKERS);
    if (subject->candidates.count == 0)
        return;
    if (subject->twin != NULL && pass->options.clones_per_block == 0)
        cut_large_blocks(pass, subject);
    if (!shim_demote(code)) {
        subject->reason = "values that cannot be kept in memory";
        subject->skipped = true;
        return;
    }
    for (size_t i = 0, count; i < subject->candidates.count; i += count) {
        count = in_one_block(subject, i);
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

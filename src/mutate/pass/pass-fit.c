// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds the object file. How large the program's own code is, in comparison with its twins, is
// known only after the optimiser, which drops or multiplies what is small. Then the sizes of both
// are estimated, and faulty copies are dropped until the file is no more than some times as large
// as it would be without faults: those that came last in their functions.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <llvm-c/Comdat.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

// The file is estimated. It may be some tenths larger or smaller than that.
#define MOST_TIMES 4.5
// One of so many copies is kept in any case: a module without faults is of no use.
#define ALWAYS_KEPT 10
// What fits best the bytes of 65 object files of busybox, Tcl and Linux at -O2 and -Os: without
// faults (the residual's standard deviation is 13 %), and what faults add (4 %).
#define FILE_BYTES             810.0
#define FUNCTION_BYTES         30.0
#define INSTRUCTION_BYTES      6.2
#define REFERENCE_BYTES        46.6 // with its relocation
#define SYMBOL_BYTES           17.6 // of what is declared only
#define DATA_BYTES             1.7
#define SECTION_BYTES          31.0
#define OWN_SECTION_BYTES      121.0 // of a function
#define TWINS_BYTES            1030.0
#define TWIN_BYTES             57.7
#define TWIN_INSTRUCTION_BYTES 0.9 // the copies' are counted below
#define TWIN_REFERENCE_BYTES   42.7
#define TWIN_NAME_BYTES        1.6
#define TWIN_SECTION_BYTES     366.0
#define ENTRY_BYTES            94.6
#define CANDIDATE_BYTES        2.04
#define CHOSEN_BYTES           9.6
#define MARKER_BYTES           20.8

struct weight {
    size_t functions, instructions, addresses, references, declared, data, sections;
};

static bool is_variable(LLVMValueRef pointer)
{
    return LLVMIsAAllocaInst(pointer) != NULL;
}

// Calls that only tell the optimiser something.
static bool is_hint(LLVMValueRef call)
{
    static const char *const hints[] = {"llvm.lifetime.", "llvm.dbg.", "llvm.assume",
                                        "llvm.expect"};
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    size_t size;
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &size) : "";
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strncmp(name, hints[i], strlen(hints[i])) == 0)
            return true;
    return false;
}

static bool has_code(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAlloca:
    case LLVMPHI:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMUnreachable:
        return false;
    case LLVMLoad:
        return !is_variable(LLVMGetOperand(instruction, 0));
    case LLVMStore:
        return !is_variable(LLVMGetOperand(instruction, 1));
    case LLVMBr:
        return LLVMIsConditional(instruction);
    case LLVMCall:
        return !is_hint(instruction);
    default:
        return true;
    }
}

// Whether code refers to something by a relocation: not to a function of the module.
static bool is_reference(LLVMValueRef operand)
{
    if (LLVMIsAFunction(operand) != NULL)
        return LLVMIsDeclaration(operand) && LLVMGetIntrinsicID(operand) == 0;
    return LLVMIsAGlobalValue(operand) != NULL || LLVMIsAConstantExpr(operand) != NULL;
}

static void weigh_block(LLVMBasicBlockRef block, struct weight *weight)
{
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
         at = LLVMGetNextInstruction(at)) {
        if (!has_code(at))
            continue;
        if (LLVMGetInstructionOpcode(at) == LLVMGetElementPtr)
            weight->addresses++;
        else
            weight->instructions++;
        for (int i = 0; i < LLVMGetNumOperands(at); i++)
            weight->references += is_reference(LLVMGetOperand(at, (unsigned)i));
    }
}

static void weigh_function(LLVMValueRef function, struct weight *weight)
{
    weight->functions++;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        weigh_block(block, weight);
}

static bool is_twin(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, TWIN_ATTRIBUTE,
                                         sizeof TWIN_ATTRIBUTE - 1) != NULL;
}

// Whether a function is left only because twins call it: without them, the optimiser would have
// inlined it everywhere.
static bool is_left_for_twins(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage &&
        linkage != LLVMLinkOnceODRLinkage)
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMIsAInstruction(LLVMGetUser(use));
        if (user == NULL || !is_twin(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
            return false;
    }
    return LLVMGetFirstUse(function) != NULL;
}

static void weigh_data(LLVMModuleRef module, struct weight *weight)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (LLVMValueRef variable = LLVMGetFirstGlobal(module); variable != NULL;
         variable = LLVMGetNextGlobal(variable)) {
        const char *section = LLVMGetSection(variable);
        LLVMValueRef content = LLVMGetInitializer(variable);
        if (section != NULL && strcmp(section, TWIN_SECTION) == 0)
            continue;
        weight->sections += section != NULL;
        if (content != NULL && !LLVMIsNull(content))
            weight->data += LLVMABISizeOfType(layout, LLVMGlobalGetValueType(variable));
    }
}

static double guess_plain(const struct weight *own, bool sections)
{
    return FILE_BYTES + FUNCTION_BYTES * (double)own->functions +
           INSTRUCTION_BYTES * (double)own->instructions +
           REFERENCE_BYTES * (double)own->references + SYMBOL_BYTES * (double)own->declared +
           DATA_BYTES * (double)own->data + SECTION_BYTES * (double)own->sections +
           (sections ? OWN_SECTION_BYTES * (double)own->functions : 0);
}

static double guess_twins(const struct pass *pass, const struct weight *twins)
{
    size_t candidates = 0, chosen = 0, names = 0, apart = 0, entries = 0;
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        const char *name = pass->strings.data + subject->name;
        candidates += subject->listed.count;
        for (size_t j = 0; j < subject->listed.count; j++)
            chosen += subject->listed.items[j].chosen;
        if (subject->twin == NULL)
            continue;
        names += strlen(name);
        apart += !subject->together;
        entries += subject->entry;
    }
    return TWINS_BYTES + TWIN_BYTES * (double)twins->functions +
           TWIN_INSTRUCTION_BYTES * (double)(twins->instructions + twins->addresses) +
           TWIN_REFERENCE_BYTES * (double)twins->references + CANDIDATE_BYTES * (double)candidates +
           CHOSEN_BYTES * (double)chosen + MARKER_BYTES * (double)pass->markers.count +
           TWIN_NAME_BYTES * (double)names + TWIN_SECTION_BYTES * (double)apart +
           ENTRY_BYTES * (double)entries;
}

// ---- what there is to drop ----

void pass_note_marker(struct pass *pass, const struct pass_function *subject,
                      const struct pass_marker *marker, LLVMValueRef call)
{
    struct pass_noted_marker *noted = ARRAY_ADD(&pass->markers);
    if (noted == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *noted = (struct pass_noted_marker){
        .call = shim_handle_new(call),
        .function = (size_t)(subject - pass->functions.items),
        .first = pass->noted.count,
        .count = marker->number_count,
    };
    for (size_t i = 0; i < marker->number_count; i++) {
        struct pass_noted *number = ARRAY_ADD(&pass->noted);
        if (number == NULL) {
            pass_must(error_no_memory());
            return;
        }
        *number = (struct pass_noted){
            .number = (uint32_t)marker->numbers[i].number,
            .target = (uint32_t)marker->numbers[i].target,
            .rank = subject->candidates.items[marker->numbers[i].number].rank,
        };
    }
}

// A faulty copy that may be dropped. Its first candidate made it; others that share it came later.
struct spare {
    uint32_t rank;
    uint32_t marker;
    double bytes;
};

static int by_rank(const void *a, const void *b)
{
    const struct spare *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->marker < y->marker ? -1 : x->marker > y->marker;
}

static uint32_t rank_of(const struct pass *pass, const struct pass_noted_marker *marker,
                        size_t target)
{
    uint32_t rank = UINT32_MAX;
    for (size_t i = marker->first; i < marker->first + marker->count; i++)
        if (pass->noted.items[i].target == target && pass->noted.items[i].rank < rank)
            rank = pass->noted.items[i].rank;
    return rank;
}

// The rank from which on copies are dropped to make the file so much smaller.
static uint32_t find_rank(const struct pass *pass, double bytes)
{
    ARRAY(struct spare) spares = {0};
    for (size_t i = 0; i < pass->markers.count; i++) {
        const struct pass_noted_marker *marker = &pass->markers.items[i];
        LLVMValueRef call = shim_handle_get(marker->call);
        unsigned targets = call != NULL ? LLVMGetCallBrNumIndirectDests(call) : 0;
        for (unsigned j = 0; j < targets; j++) {
            struct weight weight = {0};
            weigh_block(LLVMGetCallBrIndirectDest(call, j), &weight);
            struct spare *spare = ARRAY_ADD(&spares);
            if (spare == NULL) {
                pass_must(error_no_memory());
                return 0;
            }
            *spare = (struct spare){rank_of(pass, marker, j), (uint32_t)i,
                                    TWIN_INSTRUCTION_BYTES *
                                            (double)(weight.instructions + weight.addresses) +
                                        TWIN_REFERENCE_BYTES * (double)weight.references +
                                        CHOSEN_BYTES + MARKER_BYTES / (double)targets};
        }
    }
    if (spares.count != 0)
        qsort(spares.items, spares.count, sizeof *spares.items, by_rank);
    uint32_t rank = UINT32_MAX;
    for (size_t i = 0; i < spares.count - spares.count / ALWAYS_KEPT && bytes > 0; i++) {
        rank = spares.items[i].rank;
        bytes -= spares.items[i].bytes;
    }
    ARRAY_DEINIT(&spares);
    return rank;
}

// ---- dropping ----

struct rest {
    ARRAY(struct shim_mark_number) numbers;
    ARRAY(LLVMBasicBlockRef) targets;
};

static void keep_target(struct pass *pass, const struct pass_noted_marker *marker, unsigned target,
                        LLVMValueRef call, struct rest *rest)
{
    LLVMBasicBlockRef *slot = ARRAY_ADD(&rest->targets);
    if (slot == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *slot = LLVMGetCallBrIndirectDest(call, target);
    for (size_t i = marker->first; i < marker->first + marker->count; i++) {
        if (pass->noted.items[i].target != target)
            continue;
        struct shim_mark_number *number = ARRAY_ADD(&rest->numbers);
        if (number == NULL) {
            pass_must(error_no_memory());
            return;
        }
        *number = (struct shim_mark_number){pass->noted.items[i].number, rest->targets.count - 1};
    }
}

static void drop_target(struct pass *pass, const struct pass_noted_marker *marker, unsigned target,
                        LLVMValueRef call)
{
    struct pass_function *subject = &pass->functions.items[marker->function];
    shim_leave(LLVMGetCallBrIndirectDest(call, target), LLVMGetInstructionParent(call));
    for (size_t i = marker->first; i < marker->first + marker->count; i++)
        if (pass->noted.items[i].target == target)
            subject->listed.items[pass->noted.items[i].number].chosen = false;
}

static int by_number(const void *a, const void *b)
{
    const struct shim_mark_number *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void drop_from(struct pass *pass, struct pass_noted_marker *marker, uint32_t rank)
{
    struct rest rest = {0};
    LLVMValueRef call = shim_handle_get(marker->call);
    unsigned targets = call != NULL ? LLVMGetCallBrNumIndirectDests(call) : 0;
    for (unsigned i = 0; i < targets; i++)
        if (rank_of(pass, marker, i) < rank)
            keep_target(pass, marker, i, call, &rest);
        else
            drop_target(pass, marker, i, call);
    bool drops = rest.targets.count < targets;
    if (drops) {
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
        LLVMPositionBuilderBefore(builder, call);
        const struct pass_marker kept = {
            .next = LLVMGetCallBrDefaultDest(call),
            .targets = rest.targets.items,
            .target_count = rest.targets.count,
            .numbers = rest.numbers.items,
            .number_count = rest.numbers.count,
        };
        if (kept.target_count == 0)
            LLVMBuildBr(builder, kept.next);
        else {
            qsort(rest.numbers.items, rest.numbers.count, sizeof *rest.numbers.items, by_number);
            pass_put_marker(pass, &pass->functions.items[marker->function], &kept, builder);
            shim_handle_free(marker->call);
            marker->call = shim_handle_new(LLVMGetPreviousInstruction(call));
        }
        LLVMDisposeBuilder(builder);
        LLVMInstructionEraseFromParent(call);
    }
    ARRAY_DEINIT(&rest.numbers);
    ARRAY_DEINIT(&rest.targets);
}

// What could be reached only through a copy that was dropped goes with it: the compiler would
// remove it, and its faults would be listed nowhere.
static void remove_unreachable(LLVMModuleRef module)
{
    for (bool more = true; more;) {
        more = false;
        for (LLVMValueRef next, at = LLVMGetFirstFunction(module); at != NULL; at = next) {
            next = LLVMGetNextFunction(at);
            if (!is_twin(at))
                continue;
            shim_remove_unreachable(at);
            more |= shim_remove_unused(at);
        }
    }
}

static void drop_copies(struct pass *pass, uint32_t rank)
{
    for (size_t i = 0; i < pass->markers.count; i++) {
        struct pass_noted_marker *marker = &pass->markers.items[i];
        if (shim_handle_get(marker->call) == NULL)
            marker->count = 0; // the optimiser has removed it
        drop_from(pass, marker, rank);
    }
    remove_unreachable(pass->module);
    for (size_t i = 0; i < pass->markers.count; i++) {
        const struct pass_noted_marker *marker = &pass->markers.items[i];
        struct pass_function *subject = &pass->functions.items[marker->function];
        if (shim_handle_get(marker->call) == NULL)
            for (size_t j = marker->first; j < marker->first + marker->count; j++)
                subject->listed.items[pass->noted.items[j].number].chosen = false;
    }
}

void pass_fit(struct pass *pass)
{
    struct weight own = {0}, twins = {0};
    for (LLVMValueRef function = LLVMGetFirstFunction(pass->module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        if (LLVMGetComdat(function) != NULL)
            return; // C++: its functions have sections and groups, which are not in the estimate
        if (!LLVMIsDeclaration(function))
            weigh_function(function,
                           is_twin(function) || is_left_for_twins(function) ? &twins : &own);
        else if (LLVMGetIntrinsicID(function) == 0 && LLVMGetFirstUse(function) != NULL)
            own.declared++;
    }
    weigh_data(pass->module, &own);
    double plain = guess_plain(&own, pass->options.sections), extra = guess_twins(pass, &twins);
    double most = plain * (MOST_TIMES - 1);
    if (extra <= most)
        return;
    uint32_t rank = find_rank(pass, extra - most);
    drop_copies(pass, rank);
}

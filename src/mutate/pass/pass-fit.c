// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds the object file and the time to compile it. How large the program's own code is, in
// comparison with its twins, is known only after the optimiser, which drops or multiplies what is
// small. Then the sizes of both are estimated, and what their code costs, and faulty copies are
// dropped until the file is no more than some times as large as it would be without faults, and
// takes no more than some times as long: those that came last in their functions.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <llvm-c/Comdat.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

// The file is estimated. It may be some tenths larger or smaller than that.
#define MOST_TIMES     4.1
#define CXX_MOST_TIMES 4.6
// One of so many copies is kept in any case: a module without faults is of no use. In C++, the
// sections of twins take most of the room, and copies little.
#define ALWAYS_KEPT     30
#define CXX_ALWAYS_KEPT 4

// Bytes of the file for each of what is counted; of the map they are known. What fits best, in C,
// 134 object files of busybox and Linux at -Os and -O2: without faults (the residual's standard
// deviation is 13 %), and what faults add (9 %); in C++, whose functions have sections and groups,
// 71 of ninja and leveldb at -O2 (10 and 5 %). An entry had eight bytes less then.
struct prices {
    double file, function, instruction, reference; // a reference with its relocation
    double symbol;                                 // of what is declared only
    double name;                                   // each byte
    double shared;                                 // a function with a group
    double landing;                                // a call with a landing pad
    double data;                                   // each byte
    double section, own_section;                   // a variable's; a function's
};
static const struct prices own_prices[] = {
    {380, 53.6, 5.07, 38.6, 38.1, 0, 0, 0, 1.78, 328, 121},
    {958, 165, 4.48, 43.1, 28.1, 0.667, 323, 28.1, 0.855, 0, 0},
};
struct twin_prices {
    double file, function, instruction, reference, name, shared, landing;
    double own_section, entry, chosen, marker;
};
static const struct twin_prices twin_prices[] = {
    {260, 19.8, 4.78, 26.8, 1.08, 0, 0, 374, 115, 12.7, 0},
    {1390, 10.5, 3.53, 51.2, 1.4, 322, 69.4, 197, 251, 16, 0},
};

// The time is estimated, too; it may be some tenths longer or shorter.
#define MOST_TIMES_LONGER 2.65
// Microseconds of one processor; only how they compare makes a difference. What fits best the time
// to compile 92 C files of Tcl, zstd, jq, expat, zlib and libpng at -O2: without faults (the
// residual's standard deviation is 18 %), and what faults add (16 % of that).
#define FILE_TIME             42500.0
#define CXX_FILE_TIME         250000.0 // its headers
#define INSTRUCTION_TIME      46.3
#define TWINS_TIME            41600.0
#define TWIN_INSTRUCTION_TIME 18.3
#define TWIN_BLOCK_TIME       26.7
// With so many blocks the processor's caches hold fewer of them, and each takes a quarter longer.
#define MANY_BLOCKS 20000.0
#define MANY_SLOWER 0.25
#define MARKER_CUTS 2.0 // blocks that a marker makes besides its copies

struct weight {
    size_t functions, blocks, instructions, addresses, references, declared, data, sections;
    size_t names, shared, landings;
};
// What faults add to a file, or what of it is too much.
struct expense {
    double bytes, time;
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
        weight->landings += LLVMGetInstructionOpcode(at) == LLVMInvoke;
        for (int i = 0; i < LLVMGetNumOperands(at); i++)
            weight->references += is_reference(LLVMGetOperand(at, (unsigned)i));
    }
}

static void weigh_function(LLVMValueRef function, struct weight *weight)
{
    weight->functions++;
    weight->shared += LLVMGetComdat(function) != NULL;
    weight->blocks += LLVMCountBasicBlocks(function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        weigh_block(block, weight);
}

static bool is_twin(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, TWIN_ATTRIBUTE,
                                         sizeof TWIN_ATTRIBUTE - 1) != NULL;
}

// Whether a function is left only for twins and rows: without them, the optimiser would have
// inlined it everywhere, and dropped it.
static bool is_left_for_twins(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    return (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage ||
            linkage == LLVMLinkOnceODRLinkage) &&
           LLVMGetFirstUse(function) != NULL && !pass_is_needed(function);
}

static void weigh_data(LLVMModuleRef module, struct weight *own, struct weight *twins)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (LLVMValueRef variable = LLVMGetFirstGlobal(module); variable != NULL;
         variable = LLVMGetNextGlobal(variable)) {
        const char *section = LLVMGetSection(variable);
        LLVMValueRef content = LLVMGetInitializer(variable);
        if (section != NULL && strcmp(section, TWIN_SECTION) == 0)
            continue;
        LLVMLinkage linkage = LLVMGetLinkage(variable);
        bool local = linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
        struct weight *weight = local && !pass_is_needed(variable) ? twins : own;
        weight->sections += section != NULL;
        if (content != NULL && !LLVMIsNull(content))
            weight->data += LLVMABISizeOfType(layout, LLVMGlobalGetValueType(variable));
    }
}

static double guess_plain(const struct weight *own, bool cxx, bool sections)
{
    const struct prices *price = &own_prices[cxx];
    return price->file + price->function * (double)own->functions +
           price->instruction * (double)own->instructions +
           price->reference * (double)own->references + price->symbol * (double)own->declared +
           price->name * (double)own->names + price->shared * (double)own->shared +
           price->landing * (double)own->landings + price->data * (double)own->data +
           price->section * (double)own->sections +
           (sections ? price->own_section * (double)own->functions : 0);
}

static double guess_twins(struct pass *pass, const struct weight *twins, bool cxx)
{
    const struct twin_prices *price = &twin_prices[cxx];
    size_t chosen = 0, apart = 0, entries = 0;
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        for (size_t j = 0; j < subject->listed.count; j++)
            chosen += subject->listed.items[j].chosen;
        apart += subject->twin != NULL && !subject->together;
        entries += subject->twin != NULL && subject->entry;
    }
    return price->file + price->function * (double)twins->functions +
           price->instruction * (double)(twins->instructions + twins->addresses) +
           price->reference * (double)twins->references + price->name * (double)twins->names +
           price->shared * (double)twins->shared + price->landing * (double)twins->landings +
           price->own_section * (double)apart + price->entry * (double)entries +
           (double)pass_map_size(pass) + price->chosen * (double)chosen +
           price->marker * (double)pass->markers.count + own_prices[cxx].data * (double)twins->data;
}

static double guess_plain_time(const struct weight *own, bool cxx)
{
    return (cxx ? CXX_FILE_TIME : FILE_TIME) +
           INSTRUCTION_TIME * (double)(own->instructions + own->addresses);
}

static double slower(const struct weight *twins)
{
    double share = (double)twins->blocks / MANY_BLOCKS;
    return 1 + MANY_SLOWER * (share < 1 ? share : 1);
}

static double guess_twins_time(const struct weight *twins)
{
    return TWINS_TIME + slower(twins) * (TWIN_INSTRUCTION_TIME *
                                             (double)(twins->instructions + twins->addresses) +
                                         TWIN_BLOCK_TIME * (double)twins->blocks);
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
    struct expense saves;
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

// What it saves to drop a copy from a marker that leads to so many.
static struct expense saved_by(LLVMBasicBlockRef copy, unsigned targets, bool cxx)
{
    const struct twin_prices *price = &twin_prices[cxx];
    struct weight weight = {0};
    weigh_block(copy, &weight);
    double instructions = (double)(weight.instructions + weight.addresses);
    return (struct expense){
        .bytes = price->instruction * instructions + price->reference * (double)weight.references +
                 price->landing * (double)weight.landings + price->chosen + price->marker / targets,
        .time =
            TWIN_INSTRUCTION_TIME * instructions + TWIN_BLOCK_TIME * (1 + MARKER_CUTS / targets),
    };
}

// The rank from which on copies are dropped to save so much.
static uint32_t find_rank(const struct pass *pass, struct expense surplus, bool cxx)
{
    ARRAY(struct spare) spares = {0};
    for (size_t i = 0; i < pass->markers.count; i++) {
        const struct pass_noted_marker *marker = &pass->markers.items[i];
        LLVMValueRef call = shim_handle_get(marker->call);
        unsigned targets = call != NULL ? LLVMGetCallBrNumIndirectDests(call) : 0;
        for (unsigned j = 0; j < targets; j++) {
            struct spare *spare = ARRAY_ADD(&spares);
            if (spare == NULL) {
                pass_must(error_no_memory());
                return 0;
            }
            *spare = (struct spare){rank_of(pass, marker, j), (uint32_t)i,
                                    saved_by(LLVMGetCallBrIndirectDest(call, j), targets, cxx)};
        }
    }
    if (spares.count != 0)
        qsort(spares.items, spares.count, sizeof *spares.items, by_rank);
    uint32_t rank = UINT32_MAX;
    size_t most = spares.count - spares.count / (cxx ? CXX_ALWAYS_KEPT : ALWAYS_KEPT);
    for (size_t i = 0; i < most && (surplus.bytes > 0 || surplus.time > 0); i++) {
        rank = spares.items[i].rank;
        surplus.bytes -= spares.items[i].saves.bytes;
        surplus.time -= spares.items[i].saves.time;
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
// remove it, and its faults would be listed nowhere. What markers cut that are gone is joined.
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
    for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL; at = LLVMGetNextFunction(at))
        if (is_twin(at))
            shim_merge_blocks(at);
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

static bool has_shared(LLVMModuleRef module)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function))
        if (LLVMGetComdat(function) != NULL)
            return true;
    return false;
}

static void weigh(LLVMModuleRef module, struct weight *own, struct weight *twins)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        bool declared = LLVMIsDeclaration(function);
        if (declared && (LLVMGetIntrinsicID(function) != 0 || LLVMGetFirstUse(function) == NULL))
            continue;
        bool apart = !declared && (is_twin(function) || is_left_for_twins(function));
        struct weight *weight = apart ? twins : own;
        size_t size = 0;
        LLVMGetValueName2(function, &size);
        weight->names += size;
        weight->declared += declared;
        if (!declared)
            weigh_function(function, weight);
    }
    weigh_data(module, own, twins);
}

void pass_fit(struct pass *pass)
{
    struct weight own = {0}, twins = {0};
    bool cxx = has_shared(pass->module);
    weigh(pass->module, &own, &twins);
    const struct expense surplus = {
        .bytes =
            guess_twins(pass, &twins, cxx) - ((cxx ? CXX_MOST_TIMES : MOST_TIMES) - 1) *
                                                 guess_plain(&own, cxx, pass->options.sections),
        .time = (guess_twins_time(&twins) - (MOST_TIMES_LONGER - 1) * guess_plain_time(&own, cxx)) /
                slower(&twins),
    };
    if (surplus.bytes > 0 || surplus.time > 0)
        drop_copies(pass, find_rank(pass, surplus, cxx));
    shim_settle_twins(pass->module);
}

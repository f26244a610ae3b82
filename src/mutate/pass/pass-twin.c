// SPDX-License-Identifier: GPL-3.0-or-later
// Makes twins: every function gets a twin in a cold section, and calls among twins stay there. The
// pristine function keeps its body. If it can be reached from outside, it has an entry: its
// beginning can be patched to lead to the twin. A local function that is only called directly needs
// no entry, because enabling a fault patches the entries of all its callers. So the optimiser is
// free to choose its calling convention.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"

#include <llvm-c/Comdat.h>
#include <stdlib.h>
#include <string.h>

#define TWIN_CODE ".text.unlikely.ordeal"

static void set_call_attribute(struct pass *pass, LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(pass->context, kind, 0));
}

static void set_attribute(struct pass *pass, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(pass->context, kind, 0));
}

// Whether the linker keeps one of several copies that are the same.
static bool is_shared(LLVMValueRef global)
{
    LLVMLinkage linkage = LLVMGetLinkage(global);
    return linkage == LLVMLinkOnceODRLinkage || linkage == LLVMWeakODRLinkage;
}

// Gives the twin the linkage of its function, so that the linker treats twins in the same way.
static void set_linkage(struct pass *pass, const struct pass_function *subject, const char *name)
{
    bool shared = is_shared(subject->function);
    LLVMSetDLLStorageClass(subject->twin, LLVMDefaultStorageClass);
    if (!shared) {
        LLVMSetLinkage(subject->twin, LLVMInternalLinkage);
        LLVMSetVisibility(subject->twin, LLVMDefaultVisibility);
        LLVMSetComdat(subject->twin, NULL);
        return;
    }
    LLVMSetLinkage(subject->twin, LLVMLinkOnceODRLinkage);
    LLVMSetVisibility(subject->twin, LLVMHiddenVisibility);
    LLVMComdatRef group = LLVMGetOrInsertComdat(pass->module, name);
    LLVMSetComdatSelectionKind(group, LLVMAnyComdatSelectionKind);
    LLVMSetComdat(subject->twin, group);
}

static bool has_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static bool is_always_inlined(LLVMValueRef function)
{
    return has_attribute(function, "alwaysinline");
}

static void make_twin(struct pass *pass, struct pass_function *subject)
{
    size_t size;
    struct buffer name = {0}, section = {0};
    const char *original = LLVMGetValueName2(subject->function, &size);
    pass_must(buffer_printf(&name, "%s.ordeal", original));
    const char *chosen = LLVMGetSection(subject->function);
    bool own = chosen != NULL && *chosen != '\0';
    subject->together = !own && LLVMGetComdat(subject->function) == NULL &&
                        !pass->options.sections && !pass->options.scattered && !pass->options.lto;
    pass_must(buffer_printf(&section, TWIN_CODE "%s%s", subject->together ? "" : ".",
                            subject->together ? "" : original));
    subject->twin = shim_clone_function(subject->function, name.data);
    pass_mark(pass, subject->twin, TWIN_ATTRIBUTE);
    set_linkage(pass, subject, name.data);
    if (!own)
        LLVMSetSection(subject->twin, section.data);
    // The optimiser must not remove code because it concludes that a pointer cannot be null: a
    // fault may make it null.
    set_attribute(pass, subject->twin, "null_pointer_is_valid");
    // Twins run only when a fault is enabled: inlining them would cost much and gain little.
    // Twins of functions that are always inlined multiplied with every level of calls.
    unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMRemoveEnumAttributeAtIndex(subject->twin, LLVMAttributeFunctionIndex, inlined);
    set_attribute(pass, subject->twin, "noinline");
    if (!has_attribute(subject->twin, "optnone"))
        set_attribute(pass, subject->twin, "optsize");
    buffer_deinit(&name);
    buffer_deinit(&section);
}

// For a callee whose code the optimiser can see, while a fault may be enabled in its real code
// elsewhere.
static void forbid_inlining(struct pass *pass, LLVMValueRef call)
{
    set_call_attribute(pass, call, "noinline");
}

// The same value, but the optimiser cannot see what it is.
static LLVMValueRef hide(struct pass *pass, LLVMValueRef before, LLVMValueRef value)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
    LLVMPositionBuilderBefore(builder, before);
    LLVMTypeRef pointer = LLVMTypeOf(value);
    LLVMTypeRef type = LLVMFunctionType(pointer, &pointer, 1, false);
    LLVMValueRef assembly =
        LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef hidden = LLVMBuildCall2(builder, type, assembly, &value, 1, "");
    LLVMDisposeBuilder(builder);
    return hidden;
}

// Hides a callee whose body the optimiser sees, also if only later, under LTO.
static void hide_callee(struct pass *pass, LLVMValueRef call, LLVMValueRef callee)
{
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, hide(pass, call, callee));
}

static void note_found(void *found, struct pass_function *function)
{
    *(bool *)found |= function->twin != NULL;
}

// Hides the pointers to functions that a twin holds. They lead to pristine code, whose entry may be
// patched. If the optimiser followed them, it would inline pristine code into the twin.
static void hide_pointers(struct pass *pass, LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    bool call = opcode == LLVMCall || opcode == LLVMInvoke;
    if (opcode != LLVMLoad && opcode != LLVMStore && opcode != LLVMGetElementPtr &&
        opcode != LLVMRet && opcode != LLVMSelect &&
        !(call && LLVMIsAIntrinsicInst(instruction) == NULL &&
          LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)) == NULL))
        return;
    int count = call ? (int)LLVMGetNumArgOperands(instruction) : LLVMGetNumOperands(instruction);
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        bool found = false;
        if (LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMPointerTypeKind)
            pass_each_reached(pass, operand, 0, note_found, &found);
        if (found)
            LLVMSetOperand(instruction, (unsigned)i, hide(pass, instruction, operand));
    }
}

static bool is_call(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMCall || opcode == LLVMInvoke;
}

static void redirect_calls(struct pass *pass, LLVMValueRef function, bool in_twin);

// A copy of a function for twins to inline, without the calls that must be optimised away: a value
// that comes from a faulty block is not constant any more.
static LLVMValueRef softened(struct pass *pass, struct pass_function *subject)
{
    if (subject->softened != NULL)
        return subject->softened;
    size_t size;
    struct buffer name = {0};
    pass_must(buffer_printf(&name, "%s.ordeal", LLVMGetValueName2(subject->function, &size)));
    subject->softened = shim_clone_function(subject->function, name.data);
    buffer_deinit(&name);
    pass_mark(pass, subject->softened, TWIN_ATTRIBUTE);
    LLVMSetLinkage(subject->softened, LLVMInternalLinkage);
    LLVMSetVisibility(subject->softened, LLVMDefaultVisibility);
    LLVMSetComdat(subject->softened, NULL);
    pass_drop_forbidden(subject->softened);
    redirect_calls(pass, subject->softened, true);
    return subject->softened;
}

static void redirect_call(struct pass *pass, LLVMValueRef call, bool in_twin)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    if (callee == NULL || LLVMGetIntrinsicID(callee) != 0)
        return;
    struct pass_function *called = pass_function_of(pass, callee);
    bool replaceable = called != NULL && called->twin != NULL && !shim_interposable(callee);
    if (!in_twin) {
        // Code without a twin calls pristine code; faults act through the callee's entry. A callee
        // that compiles only where it is inlined has faults for twins alone. Arguments that the
        // pristine callee turns out not to need would not be passed, and the twin may need them.
        if (replaceable && !(is_always_inlined(callee) && pass_has_forbidden(callee))) {
            called->entry = true;
            if (LLVMCountParams(callee) != 0)
                hide_callee(pass, call, callee);
            else
                forbid_inlining(pass, call);
        }
        return;
    }
    if (replaceable) {
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, called->twin);
        unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
        LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, inlined);
    } else if (called != NULL && called->untouchable && called->twin == NULL &&
               is_always_inlined(callee) && shim_clonable(callee))
        LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, softened(pass, called));
    else if (called == NULL && LLVMIsDeclaration(callee) && pass->options.lto &&
             LLVMGetInstructionOpcode(call) == LLVMCall)
        hide_callee(pass, call, callee);
    // A function that is always inlined may be defined nowhere else.
    else if (called == NULL && !LLVMIsDeclaration(callee) && !is_always_inlined(callee))
        forbid_inlining(pass, call);
}

static void redirect_calls(struct pass *pass, LLVMValueRef function, bool in_twin)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef next, call = LLVMGetFirstInstruction(block); call != NULL; call = next) {
            next = LLVMGetNextInstruction(call);
            if (is_call(call))
                redirect_call(pass, call, in_twin);
            if (in_twin)
                hide_pointers(pass, call);
        }
}

// Points candidates, which were found in the function, to the instructions at the same positions of
// the twin.
static void move_candidates(struct pass_function *subject)
{
    size_t next = 0;
    uint32_t number = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(subject->twin); block != NULL;
         block = LLVMGetNextBasicBlock(block), number++) {
        uint32_t position = 0;
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction), position++)
            for (; next < subject->candidates.count &&
                   subject->candidates.items[next].block == number &&
                   subject->candidates.items[next].position == position;
                 next++)
                subject->candidates.items[next].instruction = instruction;
    }
}

// Twins share a section where their functions do: a section costs some hundred bytes, and the base
// of each twin's markers a relocation.
static void begin_section(struct pass *pass)
{
    bool used = false;
    for (size_t i = 0; i < pass->functions.count; i++)
        used |= pass->functions.items[i].together;
    if (!used)
        return;
    struct buffer text = {0};
    pass_must(buffer_printf(&text,
                            "\t.pushsection " TWIN_CODE ",\"ax\",@progbits\n" TWINS_LABEL ":\n"
                            "\t.pushsection " MARK_SECTION ",\"?o\",@progbits," TWINS_LABEL "\n"
                            "\t.byte %d\n\t.quad " TWINS_LABEL ", 0\n"
                            "\t.popsection\n\t.popsection\n",
                            MARK_BASE));
    LLVMAppendModuleInlineAsm(pass->module, text.data, text.size);
    buffer_deinit(&text);
}

// ---- functions that go without twins ----

// Of a function so small, a twin takes far more room than the function, which is inlined anyway.
#define MOST_TINY 25 // instructions

static bool is_tiny(const struct pass_function *subject)
{
    return subject->local && subject->header && !subject->skipped &&
           pass_function_size(subject->function) <= MOST_TINY &&
           !pass_has_forbidden(subject->function);
}

// In a kernel, tiny local functions of headers are many, and every module has its own copy of each.
// Those of one module that get faults are as many, in percent, as the budget says.
static bool can_be_spared(const struct pass *pass, const struct pass_function *subject)
{
    uint64_t random = pass_random(pass->options.seed ^ pass_random(~subject->id));
    return is_tiny(subject) &&
           (subject->candidates.count == 0 || random % 100 >= pass->options.budget);
}

// Spares those that can be, unless they lead to a function with a twin, or to one that compiles
// only if the optimiser finds constants.
static void spare_functions(struct pass *pass)
{
    size_t tiny = 0;
    for (size_t i = 0; i < pass->functions.count; i++)
        tiny += is_tiny(&pass->functions.items[i]);
    if (tiny <= SMALL_FUNCTIONS || pass->options.lto)
        return;
    struct map numbers = {0}; // by id
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        subject->spared = can_be_spared(pass, subject);
        pass_must(map_put(&numbers, subject->id, (uint32_t)i));
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < pass->functions.count; i++) {
            struct pass_function *subject = &pass->functions.items[i];
            for (size_t j = 0; j < subject->edges.count && subject->spared; j++) {
                uint32_t number = map_find(&numbers, subject->edges.items[j]);
                subject->spared = number == MAP_NONE || pass->functions.items[number].spared;
                more |= !subject->spared;
            }
        }
    }
    map_deinit(&numbers);
}

void pass_make_twins(struct pass *pass)
{
    spare_functions(pass);
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        // Called by a twin, a pristine function would stay, with calls that must not be left.
        if (subject->skipped || subject->spared ||
            (subject->candidates.count == 0 && subject->edges.count == 0 &&
             !pass_has_forbidden(subject->function)))
            continue;
        size_t size;
        bool loops =
            pass_is_named(pass->options.loops, LLVMGetValueName2(subject->function, &size));
        subject->in_place = loops || !shim_clonable(subject->function);
        if (subject->in_place) {
            subject->reason =
                loops ? "asked for with --loops" : "its labels are known outside of it";
            continue;
        }
        make_twin(pass, subject);
        move_candidates(subject);
    }
    begin_section(pass);
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        redirect_calls(pass, subject->twin != NULL ? subject->twin : subject->function,
                       subject->twin != NULL);
    }
}

// ---- entries ----

struct row {
    LLVMValueRef entry, twin; // twin NULL: there is none
    uint64_t id;
};

static LLVMValueRef relative(struct pass *pass, LLVMValueRef target, LLVMValueRef rows,
                             LLVMTypeRef type, size_t number, unsigned field)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    LLVMTypeRef half = LLVMInt32TypeInContext(pass->context);
    LLVMValueRef indices[] = {LLVMConstInt(half, 0, false), LLVMConstInt(half, number, false),
                              LLVMConstInt(half, field, false)};
    LLVMValueRef place = LLVMConstInBoundsGEP2(type, rows, indices, 3);
    LLVMValueRef distance =
        LLVMConstSub(LLVMConstPtrToInt(target, word), LLVMConstPtrToInt(place, word));
    return LLVMConstTrunc(distance, half);
}

// A name for this module's own definition, whatever the linker binds the public name to.
static LLVMValueRef own_definition(struct pass *pass, const struct pass_function *subject)
{
    if (subject->local)
        return subject->function;
    size_t size;
    struct buffer name = {0};
    pass_must(buffer_printf(&name, "%s.ordeal_entry", LLVMGetValueName2(subject->function, &size)));
    LLVMValueRef alias = LLVMAddAlias2(pass->module, LLVMGlobalGetValueType(subject->function), 0,
                                       subject->function, name.data);
    LLVMSetLinkage(alias, LLVMPrivateLinkage);
    buffer_deinit(&name);
    return alias;
}

// Makes the linker keep or drop the row together with `place`, also when it collects garbage. If it
// chooses among copies of `place`, it must be able to choose among rows by name, since link-time
// optimisation does not know groups of sections. Nor can it tie a row to something that may be
// replaced or dropped: such a row is never dropped, and neither is its function.
static void tie_row(struct pass *pass, LLVMValueRef row, LLVMValueRef place)
{
    size_t size;
    struct buffer name = {0};
    LLVMSetLinkage(row, LLVMPrivateLinkage);
    if (is_shared(place)) {
        pass_must(buffer_printf(&name, "%s.ordeal_row", LLVMGetValueName2(place, &size)));
        LLVMSetValueName2(row, name.data, name.size);
        LLVMSetLinkage(row, LLVMLinkOnceODRLinkage);
        LLVMSetVisibility(row, LLVMHiddenVisibility);
        buffer_deinit(&name);
    }
    LLVMSetComdat(row, LLVMGetComdat(place));
    bool fixed = pass->options.lto && (is_shared(place) || shim_interposable(place));
    shim_keep(pass->module, row, fixed);
    if (fixed)
        return;
    LLVMMetadataRef owner = LLVMValueAsMetadata(place);
    LLVMGlobalSetMetadata(row, LLVMGetMDKindIDInContext(pass->context, "associated", 10),
                          LLVMMDNodeInContext2(pass->context, &owner, 1));
}

// Adds rows that say where entries and their twins are, tied to `place`.
static void add_rows(struct pass *pass, LLVMValueRef place, const struct row *rows, size_t count)
{
    LLVMTypeRef half = LLVMInt32TypeInContext(pass->context);
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    LLVMTypeRef fields[] = {half, half, word};
    LLVMTypeRef row = LLVMStructTypeInContext(pass->context, fields, 3, true);
    LLVMTypeRef type = LLVMArrayType2(row, count);
    LLVMValueRef global = LLVMAddGlobal(pass->module, type, "ordeal.row");
    LLVMValueRef *values = calloc(count, sizeof *values);
    if (values == NULL) {
        pass_must(error_no_memory());
        return;
    }
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef parts[] = {
            relative(pass, rows[i].entry, global, type, i, 0),
            rows[i].twin != NULL ? relative(pass, rows[i].twin, global, type, i, 1)
                                 : LLVMConstInt(half, 0, false),
            LLVMConstInt(word, rows[i].id, false),
        };
        values[i] = LLVMConstStructInContext(pass->context, parts, 3, true);
    }
    LLVMSetInitializer(global, LLVMConstArray2(row, values, count));
    free(values);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, 1);
    LLVMSetSection(global, TWIN_SECTION);
    tie_row(pass, global, place);
}

void pass_tell_variable(struct pass *pass, LLVMValueRef variable)
{
    add_rows(pass, variable, &(struct row){.entry = variable}, 1);
}

static LLVMValueRef constant_bytes(struct pass *pass, const unsigned char *bytes, size_t size)
{
    return LLVMConstStringInContext2(pass->context, (const char *)bytes, size, true);
}

static LLVMValueRef packed(struct pass *pass, LLVMValueRef *parts, unsigned count)
{
    return LLVMConstStructInContext(pass->context, parts, count, true);
}

// A struct entry_prefix before the function, which costs nothing.
static void add_prefix(struct pass *pass, const struct pass_function *subject, unsigned size,
                       LLVMValueRef distance)
{
    static const unsigned char middle[] = {0, 0, 0, JUMP};
    LLVMValueRef parts[] = {
        LLVMConstNull(LLVMArrayType2(LLVMInt8TypeInContext(pass->context),
                                     size - sizeof(struct entry_prefix))),
        LLVMConstInt(LLVMInt64TypeInContext(pass->context), subject->id, false),
        constant_bytes(pass, middle, sizeof middle),
        distance,
    };
    LLVMSetPrefixData(subject->function, packed(pass, parts, 4));
}

// An instruction that does nothing at the beginning of the function. Where indirect jumps are
// guarded, the guard must come first.
static void add_nop(struct pass *pass, const struct pass_function *subject, LLVMValueRef distance)
{
    static const unsigned char guard[] = {0xf3, 0x0f, 0x1e, 0xfa}; // endbr64
    static const unsigned char nothing[] = {ENTRY_NOP};
    const char flag[] = "cf-protection-branch";
    bool guarded = LLVMGetModuleFlag(pass->module, flag, sizeof flag - 1) != NULL;
    LLVMValueRef parts[] = {
        constant_bytes(pass, guard, guarded ? sizeof guard : 0),
        constant_bytes(pass, nothing, sizeof nothing),
        distance,
    };
    LLVMSetPrologueData(subject->function, packed(pass, parts, 3));
}

// The distance from the function to its twin makes the linker keep the twin as long as the
// function.
static struct row add_entry(struct pass *pass, const struct pass_function *subject)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    LLVMValueRef own = own_definition(pass, subject);
    LLVMValueRef distance = LLVMConstTrunc(
        LLVMConstSub(LLVMConstPtrToInt(subject->twin, word), LLVMConstPtrToInt(own, word)),
        LLVMInt32TypeInContext(pass->context));
    unsigned prefix =
        pass->options.lto || pass->options.scattered ? 0 : shim_free_entry(subject->function);
    if (prefix != 0)
        add_prefix(pass, subject, prefix, distance);
    else
        add_nop(pass, subject, distance);
    return (struct row){own, subject->twin, subject->id};
}

// The rows of functions that share a section are one table, tied to one of them. A section for each
// would take more room than the twins of small functions.
void pass_make_entries(struct pass *pass)
{
    ARRAY(struct row) rows = {0};
    LLVMValueRef anchor = NULL;
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        subject->entry &= subject->twin != NULL;
        if (!subject->entry)
            continue;
        const struct row row = add_entry(pass, subject);
        if (!subject->together) {
            add_rows(pass, subject->function, &row, 1);
            continue;
        }
        struct row *slot = ARRAY_ADD(&rows);
        if (slot == NULL) {
            pass_must(error_no_memory());
            return;
        }
        *slot = row;
        anchor = subject->function;
    }
    if (anchor != NULL)
        add_rows(pass, anchor, rows.items, rows.count);
    ARRAY_DEINIT(&rows);
}

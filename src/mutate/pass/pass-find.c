// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the functions of a module that can be instrumented, gives them ids, and finds every
// candidate in them: it asks each fault type about each instruction.
#include "mutate/pass/pass.h"

#include "mutate/pass/shim.h"
#include "mutate/pass/source.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

// ---- what cannot be touched ----

static bool has_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

// Whether assembly defines a label that must not be there twice: "name:", but not "1:", nor one
// with a unique part.
static bool defines_label(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t start = i;
        while (i < size && strchr("\n;", text[i]) == NULL)
            i++;
        size_t at = start;
        while (at < i && (text[at] == ' ' || text[at] == '\t'))
            at++;
        size_t name = at;
        bool digits = true, plain = true;
        for (; at < i && strchr(": \t\"", text[at]) == NULL; at++) {
            digits &= text[at] >= '0' && text[at] <= '9';
            plain &= text[at] != '$';
        }
        if (at < i && at > name && text[at] == ':' && !digits && plain)
            return true;
        i++;
    }
    return false;
}

static bool has_label(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction)) {
            if (LLVMIsACallInst(instruction) == NULL && LLVMIsACallBrInst(instruction) == NULL)
                continue;
            LLVMValueRef callee = LLVMGetCalledValue(instruction);
            if (LLVMIsAInlineAsm(callee) == NULL)
                continue;
            size_t size;
            const char *text = LLVMGetInlineAsmAsmString(callee, &size);
            if (defines_label(text, size))
                return true;
        }
    return false;
}

// Whether a function can be instrumented. Code that runs before the system is set up has a section
// or an attribute that says so.
static bool is_instrumentable(LLVMValueRef function)
{
    static const char *const sections[] = {".noinstr.", ".entry.", ".head."};
    const char *section = LLVMGetSection(function);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (section != NULL && strncmp(section, sections[i], strlen(sections[i])) == 0)
            return false;
    return !has_attribute(function, "noprofile") && !has_attribute(function, "skipprofile") &&
           !has_attribute(function, "disable_sanitizer_instrumentation");
}

static const char *why_not(LLVMValueRef function)
{
    if (!is_instrumentable(function))
        return "must not be instrumented";
    if (has_attribute(function, "naked"))
        return "naked";
    if (has_attribute(function, "presplitcoroutine"))
        return "coroutine";
    if (has_attribute(function, "noduplicate"))
        return "must not be duplicated";
    if (has_label(function))
        return "inline assembly defines a label";
    return NULL;
}

// ---- candidates ----

static uint32_t file_of(struct pass *pass, LLVMValueRef instruction)
{
    unsigned size = 0;
    const char *name = LLVMGetDebugLocFilename(instruction, &size);
    if (name == NULL || size == 0)
        return 0;
    char text[4096];
    if (size >= sizeof text)
        size = sizeof text - 1;
    memcpy(text, name, size);
    text[size] = '\0';
    return pass_intern(pass, text);
}

static void look_at(struct pass *pass, struct pass_function *subject, struct shim_loops *loops,
                    LLVMValueRef instruction, uint32_t block, uint32_t position)
{
    LLVMBasicBlockRef parent = LLVMGetInstructionParent(instruction);
    if (pass_is_fixed(pass, instruction))
        return;
    // Checks that a sanitizer adds have the line of what they check.
    if (fault_is_of_sanitizer(instruction) && fault_operation(instruction) == 0)
        return;
    // Code that the compiler made up has no line, and no programmer can have made a mistake in it.
    if (LLVMGetDebugLocLine(instruction) == 0 && LLVMGetSubprogram(subject->function) != NULL)
        return;
    const struct fault_place place = {
        .function = subject->function,
        .instruction = instruction,
        .loop_depth = shim_loop_depth(loops, parent),
        .decides_loop = shim_loop_decides(loops, parent),
    };
    uint32_t file = file_of(pass, instruction), detail = 0;
    unsigned line = LLVMGetDebugLocLine(instruction);
    unsigned column = LLVMGetDebugLocColumn(instruction);
    for (size_t i = 0; i < pass->options.types.count; i++) {
        const struct fault_type *type = pass->options.types.items[i];
        if (!type->can_inject(&place))
            continue;
        if (detail == 0)
            detail = pass_detail(pass, instruction);
        struct pass_candidate *candidate = ARRAY_ADD(&subject->candidates);
        if (candidate == NULL) {
            pass_must(error_no_memory());
            return;
        }
        *candidate = (struct pass_candidate){
            .type = type,
            .block = block,
            .position = position,
            .line = line,
            .column = column,
            .file = file,
            .detail = detail,
            .macro = shim_is_macro(pass->strings.data + file, line, column),
            .loop_depth = place.loop_depth,
            .instruction = instruction,
        };
    }
}

// Finds the candidates of a function and returns a hash of its body.
static uint64_t scan(struct pass *pass, struct pass_function *subject)
{
    struct shim_loops *loops = shim_loops_new(subject->function);
    uint64_t hash = 0xcbf29ce484222325u;
    uint32_t number = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(subject->function); block != NULL;
         block = LLVMGetNextBasicBlock(block), number++) {
        uint32_t position = 0;
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction), position++) {
            LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
            hash = pass_hash(hash, &opcode, sizeof opcode);
            if (!subject->skipped && !subject->foreign)
                look_at(pass, subject, loops, instruction, number, position);
        }
    }
    shim_loops_free(loops);
    subject->blocks = number;
    if (!subject->skipped && !subject->foreign)
        pass_find_in_source(pass, subject);
    for (size_t i = 0; i < subject->candidates.count; i++)
        hash = pass_hash_text(hash, subject->candidates.items[i].type->name);
    return hash;
}

// ---- functions ----

static bool is_local(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

// Nobody who works on the program makes mistakes in a system header. Debug information cuts off
// what a file's name has in common with the directory of the compiler.
static void look_where_from(const struct pass *pass, struct pass_function *subject)
{
    LLVMMetadataRef program = LLVMGetSubprogram(subject->function);
    LLVMMetadataRef file = program != NULL ? LLVMDIScopeGetFile(program) : NULL;
    if (file == NULL)
        return;
    unsigned size = 0, above = 0;
    const char *name = LLVMDIFileGetFilename(file, &size);
    const char *directory = LLVMDIFileGetDirectory(file, &above);
    struct buffer path = {0};
    pass_must(buffer_printf(&path, "%.*s/%.*s", (int)above, directory, (int)size, name));
    subject->header = shim_is_header(name, size) || shim_is_header(path.data, path.size);
    subject->foreign =
        !pass->options.system_headers &&
        (shim_is_system_header(name, size) || shim_is_system_header(path.data, path.size));
    buffer_deinit(&path);
}

// A function of a system header that every module has for itself, such as an instance of a
// template: its callers are in the module, and it has no faults of its own.
static bool is_instance(const struct pass *pass, const struct pass_function *subject)
{
    return subject->foreign && !pass->options.lto &&
           LLVMGetLinkage(subject->function) == LLVMLinkOnceODRLinkage;
}

static void add_function(struct pass *pass, LLVMValueRef function)
{
    struct pass_function *subject = ARRAY_ADD(&pass->functions);
    if (subject == NULL) {
        pass_must(error_no_memory());
        return;
    }
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);
    subject->function = function;
    subject->local = is_local(function);
    subject->reason = why_not(function);
    subject->skipped = subject->reason != NULL;
    look_where_from(pass, subject);
    subject->declared_inline =
        has_attribute(function, "inlinehint") || has_attribute(function, "alwaysinline");
    subject->entry =
        (!subject->local && !is_instance(pass, subject)) || shim_address_taken(function);
    subject->name_key = map_name_key(name);
}

static void find_candidates(struct pass *pass, struct pass_function *subject)
{
    if (!subject->skipped && subject->untouchable) {
        subject->reason = "inline assembly needs a constant";
        subject->skipped = true;
    }
    subject->id = pass_hash(subject->name_key, &(uint64_t){scan(pass, subject)}, 8);
}

// Adds the module to the ids of local functions: those with the same name and body in two modules
// are two functions.
static void tell_apart(struct pass *pass)
{
    size_t size;
    uint64_t module =
        pass_hash_text(0xcbf29ce484222325u, LLVMGetSourceFileName(pass->module, &size));
    for (size_t i = 0; i < pass->functions.count; i++)
        module = pass_hash(module, &pass->functions.items[i].id, 8);
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        if (subject->local)
            subject->id = pass_hash(subject->id, &module, 8);
    }
}

static void add_edge(struct pass_function *caller, uint64_t key)
{
    for (size_t i = 0; i < caller->edges.count; i++)
        if (caller->edges.items[i] == key)
            return;
    uint64_t *edge = ARRAY_ADD(&caller->edges);
    if (edge != NULL)
        *edge = key;
    else
        pass_must(error_no_memory());
}

static void found_edge(void *caller, struct pass_function *called)
{
    add_edge(caller, called->id);
}

// Adds an edge for every function that an instruction refers to. Any of them may be inlined in the
// end, even through a pointer or a table, if the optimiser finds out what it is.
static void add_edges_of(struct pass *pass, struct pass_function *caller, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        LLVMValueRef function = LLVMIsAFunction(operand);
        bool elsewhere = function != NULL && pass_function_of(pass, function) == NULL &&
                         LLVMGetIntrinsicID(function) == 0 &&
                         (pass->options.lto || !LLVMIsDeclaration(function));
        size_t size;
        if (elsewhere)
            add_edge(caller, map_name_key(LLVMGetValueName2(function, &size)));
        else
            pass_each_reached(pass, operand, 0, found_edge, caller);
    }
}

static void add_edges(struct pass *pass, struct pass_function *caller)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(caller->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
             instruction = LLVMGetNextInstruction(instruction))
            add_edges_of(pass, caller, instruction);
}

// ---- functions that have nothing to do with faults ----

// Marks the functions from which a candidate can be reached. Under LTO, it may be elsewhere.
static void mark_needed(struct pass *pass, const struct map *numbers, bool *needed)
{
    for (size_t i = 0; i < pass->functions.count; i++)
        needed[i] = !pass->functions.items[i].foreign ||
                    pass_has_forbidden(pass->functions.items[i].function);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < pass->functions.count; i++) {
            const struct pass_function *subject = &pass->functions.items[i];
            for (size_t j = 0; j < subject->edges.count && !needed[i]; j++) {
                uint32_t number = map_find(numbers, subject->edges.items[j]);
                needed[i] = number == MAP_NONE ? pass->options.lto : needed[number];
                more |= needed[i];
            }
        }
    }
}

static void drop_edges(struct pass_function *subject, const struct map *numbers, const bool *needed)
{
    size_t kept = 0;
    for (size_t i = 0; i < subject->edges.count; i++) {
        uint32_t number = map_find(numbers, subject->edges.items[i]);
        if (number == MAP_NONE || needed[number])
            subject->edges.items[kept++] = subject->edges.items[i];
    }
    subject->edges.count = kept;
}

// Forgets functions of system headers that lead to no candidate: they are many in C++, and need
// neither twins nor a place in the map.
static void drop_unneeded(struct pass *pass)
{
    struct map numbers = {0};
    bool *needed = calloc(pass->functions.count + 1, sizeof *needed);
    if (needed == NULL) {
        pass_must(error_no_memory());
        return;
    }
    for (size_t i = 0; i < pass->functions.count; i++)
        pass_must(map_put(&numbers, pass->functions.items[i].id, (uint32_t)i));
    mark_needed(pass, &numbers, needed);
    size_t kept = 0;
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        if (!needed[i]) {
            ARRAY_DEINIT(&subject->edges);
            continue;
        }
        drop_edges(subject, &numbers, needed);
        pass->functions.items[kept++] = *subject;
    }
    pass->functions.count = kept;
    map_deinit(&numbers);
    free(needed);
}

void pass_find(struct pass *pass)
{
    for (LLVMValueRef function = LLVMGetFirstFunction(pass->module); function != NULL;
         function = LLVMGetNextFunction(function))
        if (LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage)
            pass_mark(pass, function, ELSEWHERE_ATTRIBUTE);
        else if (!LLVMIsDeclaration(function))
            add_function(pass, function);
    for (LLVMValueRef variable = LLVMGetFirstGlobal(pass->module); variable != NULL;
         variable = LLVMGetNextGlobal(variable))
        if (LLVMGetLinkage(variable) == LLVMAvailableExternallyLinkage)
            shim_mark_variable(variable, ELSEWHERE_ATTRIBUTE);
    pass_find_constants(pass);
    for (size_t i = 0; i < pass->functions.count; i++)
        find_candidates(pass, &pass->functions.items[i]);
    tell_apart(pass);
    for (size_t i = 0; i < pass->functions.count; i++)
        add_edges(pass, &pass->functions.items[i]);
    drop_unneeded(pass);
}

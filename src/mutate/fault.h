// SPDX-License-Identifier: MIT
// A fault type: which mistake, where it can be made, and how to make it. A type is one file with
// one descriptor, and one line in types.c. A shared object that exports `ordeal_fault_types` adds
// types from outside (docs/HOWTO-add-a-fault-type.md). Types see a function as the programmer wrote
// it: before any optimisation, with variables in memory.
#ifndef ORDEAL_MUTATE_FAULT_H
#define ORDEAL_MUTATE_FAULT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDEAL_FAULT_VERSION 1

struct fault_place {
    LLVMValueRef function, instruction;
    unsigned loop_depth;
    bool decides_loop; // the last instruction of its block decides whether a loop goes on
};

struct pass_place;

struct fault_edit {
    LLVMBuilderRef builder; // stands before the instruction
    LLVMContextRef context;
    LLVMModuleRef module;
    uint64_t random;                // the same for the same candidate in every build
    const struct pass_place *place; // Ordeal's own, for types that are found in the source
};

struct fault_type {
    uint32_t version;        // ORDEAL_FAULT_VERSION
    const char *name;        // "no-store"
    const char *odc;         // class of Orthogonal Defect Classification: "assignment"
    const char *description; // one line
    // Whether the mistake can be made at this instruction. Changes nothing.
    bool (*can_inject)(const struct fault_place *place);
    // Makes it, in a copy of the instruction's block that only runs when the fault is enabled.
    void (*apply)(LLVMValueRef instruction, struct fault_edit *edit);
};

// ---- for writers of types ----

bool fault_is_integer(LLVMValueRef value); // 2 to 64 bits
bool fault_is_boolean(LLVMValueRef value);
// The name of a function that is called directly, without version numbers of intrinsics; or "".
const char *fault_callee(LLVMValueRef instruction);
bool fault_calls(LLVMValueRef instruction, const char *const *names); // names end with NULL
// Whether it is the address of a local variable or of a part of one, not a pointer kept in it.
bool fault_is_local(LLVMValueRef pointer);
// Whether it stores a parameter in its variable, which the programmer did not write.
bool fault_is_spill(LLVMValueRef store);
// Whether a sanitizer has added it, to check something.
bool fault_is_of_sanitizer(LLVMValueRef instruction);
// The operation that the programmer wrote here, also if a sanitizer has made of it a call that
// tells of overflow; 0: none.
LLVMOpcode fault_operation(LLVMValueRef instruction);
// Builds an operation whose value can replace that of `operation`. What tells of overflow then
// tells of that of the new one, if it is an addition, subtraction or multiplication.
LLVMValueRef fault_build_operation(struct fault_edit *edit, LLVMValueRef operation,
                                   LLVMOpcode opcode, LLVMValueRef first, LLVMValueRef second);
// Whether it calls a function, not an intrinsic or assembly.
bool fault_is_plain_call(LLVMValueRef call);
// A constant whose value the optimiser cannot see, so that it draws no conclusions from the
// mistake.
LLVMValueRef fault_unknown(struct fault_edit *edit, LLVMTypeRef type, uint64_t value);
// Replaces the instruction's value by another in all its uses.
void fault_replace(LLVMValueRef instruction, LLVMValueRef value);
void fault_remove(LLVMValueRef instruction, struct fault_edit *edit);
// Whether a call can be left out: no invoke, no intrinsic, nothing that must come before a return.
bool fault_is_removable_call(LLVMValueRef instruction);

#endif

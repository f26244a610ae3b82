// SPDX-License-Identifier: GPL-3.0-or-later
// What the pass needs of LLVM that LLVM's C interface lacks. Nothing here knows of faults.
#ifndef ORDEAL_MUTATE_PASS_SHIM_H
#define ORDEAL_MUTATE_PASS_SHIM_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Called for every module before optimisation; `options` is what -mllvm -ordeal=… said. Returns
// whether it changed something.
bool pass_run(LLVMModuleRef module, const char *options);
// Called for every module after optimisation.
void pass_finish(LLVMModuleRef module);

// Whether a function can be copied: addresses of its blocks are known to nobody else.
bool shim_clonable(LLVMValueRef function);
// A copy of it in its module, without callers; tables of labels are copied, too.
LLVMValueRef shim_clone_function(LLVMValueRef function, const char *name);
// Keeps values that cross blocks in memory, so that blocks can be cloned one by one. False if the
// function holds values that cannot be.
bool shim_demote(LLVMValueRef function);
// Cuts a block in two after what must stand at its beginning. Returns the second part.
LLVMBasicBlockRef shim_split(LLVMBasicBlockRef block);
LLVMBasicBlockRef shim_clone_block(LLVMBasicBlockRef block);
// Whether a clone of a block still does what the block does.
bool shim_same_code(LLVMBasicBlockRef block, LLVMBasicBlockRef clone);
// Cuts a block into pieces of `size` instructions or more, where statements end: no value is needed
// across a cut.
void shim_cut(LLVMBasicBlockRef block, unsigned size);

// The code generator leaves the order of a function's blocks as it is; with `only_small`, if it is
// to be made small.
void shim_keep_layout(LLVMValueRef function, bool only_small);

// Whether a name's definition may be replaced by another at link or run time.
bool shim_interposable(LLVMValueRef function);
// Whether something but direct calls refers to it.
bool shim_address_taken(LLVMValueRef function);
bool shim_block_address_taken(LLVMBasicBlockRef block);
// The name a programmer gave to a variable or member, without what the compiler adds; "" if none.
void shim_name(LLVMValueRef value, char *name, size_t size);
// Whether the source, which this compiler has just read, uses a macro there.
bool shim_is_macro(const char *file, unsigned line, unsigned column);
// Neither optimiser nor LTO may drop it; `always`: nor the linker.
void shim_keep(LLVMModuleRef module, LLVMValueRef global, bool always);
// Whether the optimiser knows it by name as part of the C library.
bool shim_is_library_function(LLVMModuleRef module, LLVMValueRef global);
// What a variable is marked with; LLVM's C interface has that for functions only.
void shim_mark_variable(LLVMValueRef variable, const char *attribute);
bool shim_variable_has_mark(LLVMValueRef variable, const char *attribute);
// A declaration whose definition may be missing: its address is 0 then.
void shim_make_optional(LLVMValueRef global);
// Whether its debug information is nothing but line tables.
bool shim_only_lines(LLVMModuleRef module);

// Links bitcode in whose function `name` is to run when the program starts; the linker keeps one of
// its copies. False if that cannot be done.
bool shim_add_start(LLVMModuleRef module, const char *bitcode, size_t size, const char *name);

struct shim_loops;
struct shim_loops *shim_loops_new(LLVMValueRef function);
void shim_loops_free(struct shim_loops *loops);
unsigned shim_loop_depth(const struct shim_loops *loops, LLVMBasicBlockRef block);
// Whether the block's last instruction decides if the loop goes on.
bool shim_loop_decides(const struct shim_loops *loops, LLVMBasicBlockRef block);

#ifdef __cplusplus
}
#endif

#endif

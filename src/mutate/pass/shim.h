// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of LLVM that the pass needs and LLVM's C interface lacks. Nothing here is about faults.
#ifndef ORDEAL_MUTATE_PASS_SHIM_H
#define ORDEAL_MUTATE_PASS_SHIM_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Called for every module before optimisation; `options` is the value of -mllvm -ordeal=…;
// `finished`: what comes after optimisation will be called, too. Returns whether it changed
// anything.
bool pass_run(LLVMModuleRef module, const char *options, bool finished);
// Called for every module after optimisation. Twins are ready for the code generator in between.
void pass_finish(LLVMModuleRef module);
void pass_end(LLVMModuleRef module);

// Whether a function can be copied: no other code knows the addresses of its blocks.
bool shim_clonable(LLVMValueRef function);
// Copies a function within its module, with its tables of labels. The copy has no callers.
LLVMValueRef shim_clone_function(LLVMValueRef function, const char *name);
// Moves values that cross blocks to memory, so that blocks can be cloned one by one. False if the
// function has values that cannot be in memory.
bool shim_demote(LLVMValueRef function);
// Cuts a block in two after what must stand at its beginning. Returns the second part.
LLVMBasicBlockRef shim_split(LLVMBasicBlockRef block);
LLVMBasicBlockRef shim_clone_block(LLVMBasicBlockRef block);
// Whether a clone of a block still does what the block does.
bool shim_same_code(LLVMBasicBlockRef block, LLVMBasicBlockRef clone);
// Cuts a block into pieces of `size` instructions or more. It cuts only where statements end, so
// that no value is needed across a cut.
void shim_cut(LLVMBasicBlockRef block, unsigned size);

// Faulty copies of parts of a block: each is made, changed, trimmed to what differs, and then kept
// or dropped. In the end those that were kept are joined with the block. No value of the block may
// be used outside of it, and it must have one predecessor that leads nowhere else.
struct shim_splice;
struct shim_splice *shim_splice_new(LLVMBasicBlockRef body);
void shim_splice_free(struct shim_splice *splice);
// Makes a copy. Returns what `wanted` is in it, or NULL if that is not in the block.
LLVMValueRef shim_splice_copy(struct shim_splice *splice, LLVMValueRef wanted);
// Trims the copy, and returns how many instructions are left of it; 0 if nothing was changed.
unsigned shim_splice_trim(struct shim_splice *splice);
void shim_splice_drop(struct shim_splice *splice);
// Keeps it under a number. False if one that was kept before has the same code, and serves both.
bool shim_splice_keep(struct shim_splice *splice, size_t number);
struct shim_mark_number {
    size_t number, target;
};
struct shim_mark { // where copies are entered: at the end of `block`, which leads to `next`
    LLVMBasicBlockRef block, next;
    LLVMBasicBlockRef *targets;
    size_t target_count;
    const struct shim_mark_number *numbers;
    size_t number_count;
};
// Calls `mark` for each place where copies are entered. It must replace the last instruction of
// the block by one that leads to `next` or to one of the targets.
void shim_splice_join(struct shim_splice *splice,
                      void (*mark)(void *data, const struct shim_mark *mark), void *data);
// Makes an instruction the first of its block; returns the block.
LLVMBasicBlockRef shim_begin_block(LLVMValueRef instruction);
// The name of a function in debug information.
const char *shim_subprogram_name(LLVMMetadataRef program);

// Makes the function begin with an instruction of two bytes or more that is no part of a loop, so
// that a short jump can be written over it. Returns how many bytes go before it then: a multiple of
// 16 that keeps the function aligned. 0: that is not possible here.
unsigned shim_free_entry(LLVMValueRef function);
// Whether this compiler writes object code without the way over assembly text, which does not tell
// instructions' lengths.
bool shim_writes_object(void);

// Makes the code generator keep the order of a function's blocks; with `only_small`, only if the
// function is optimised for size.
void shim_keep_layout(LLVMValueRef function, bool only_small);
// Whether functions stay as they are once their code is emitted.
void shim_keep_ir(bool keep);
// Gives freed memory back to the system. What comes next asks for larger pieces than it would find
// between those in use.
void shim_return_memory(void);

// Whether a name's definition may be replaced by another at link or run time.
bool shim_interposable(LLVMValueRef function);
// Whether anything but direct calls refers to the function.
bool shim_address_taken(LLVMValueRef function);
bool shim_block_address_taken(LLVMBasicBlockRef block);
// The name that the programmer gave to a variable or member, without what the compiler adds; "" if
// it has none.
void shim_name(LLVMValueRef value, char *name, size_t size);
// Whether the source that this compiler has just read uses a macro at this place.
bool shim_is_macro(const char *file, unsigned line, unsigned column);
// Whether the source that this compiler has just read has a system header of this name.
bool shim_is_system_header(const char *file, size_t size);
bool shim_is_header(const char *file, size_t size); // any
// Forbids optimiser and LTO to drop a symbol; with `always`, the linker as well.
void shim_keep(LLVMModuleRef module, LLVMValueRef global, bool always);
// Whether the optimiser knows the function by name as part of the C library.
bool shim_is_library_function(LLVMModuleRef module, LLVMValueRef global);
// Gives a variable an attribute; LLVM's C interface can do that for functions only.
void shim_mark_variable(LLVMValueRef variable, const char *attribute);
bool shim_variable_has_mark(LLVMValueRef variable, const char *attribute);
// Makes a declaration weak: if there is no definition, its address is 0.
void shim_make_optional(LLVMValueRef global);
// Whether the module's debug information is only line tables.
bool shim_only_lines(LLVMModuleRef module);
// Removes the names of values inside functions; new values get none.
void shim_strip_names(LLVMModuleRef module);

// An instruction that may be removed while it is held; then `get` returns NULL.
struct shim_handle;
struct shim_handle *shim_handle_new(LLVMValueRef value);
LLVMValueRef shim_handle_get(const struct shim_handle *handle);
void shim_handle_free(struct shim_handle *handle);
// A block is not reached from another any more; removes blocks that are not reached at all.
void shim_leave(LLVMBasicBlockRef block, LLVMBasicBlockRef from);
void shim_remove_unreachable(LLVMValueRef function);
// Joins blocks with the only one that leads to them.
void shim_merge_blocks(LLVMValueRef function);
// Makes less of twins that have lost all their markers: they have no base for records, and small
// ones that only twins call are inlined.
void shim_settle_twins(LLVMModuleRef module);
// Removes a local function that nothing but itself refers to; returns whether it was one.
bool shim_remove_unused(LLVMValueRef function);

// Links in bitcode whose function `name` runs when the program starts; the linker keeps one of its
// copies. False if that fails.
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

// SPDX-License-Identifier: GPL-3.0-or-later
// Twins are optimised by a few cheap passes of their own, not by the compiler's pipeline.
#ifndef ORDEAL_MUTATE_PASS_SHIM_OPTIMISE_H
#define ORDEAL_MUTATE_PASS_SHIM_OPTIMISE_H

#ifdef __cplusplus
#include <llvm/IR/PassManager.h>

// Optimises all twins of a module, and keeps the pipeline from doing more with them.
void optimise_twins(llvm::Module &module, llvm::ModuleAnalysisManager &manager);
// After the pipeline: drops functions of which twins alone are left.
void drop_inlined(llvm::Module &module);
// After that: makes twins functions for the code generator like all others.
void release_twins(llvm::Module &module);
#endif

#endif

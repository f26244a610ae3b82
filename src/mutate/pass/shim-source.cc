// SPDX-License-Identifier: GPL-3.0-or-later
// What faults of the source need and LLVM's C interface lacks.
#include "mutate/pass/shim.h"

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

LLVMBasicBlockRef shim_begin_block(LLVMValueRef wrapped)
{
    auto *instruction = unwrap<Instruction>(wrapped);
    BasicBlock *block = instruction->getParent();
    if (block->getFirstNonPHIOrDbg() != instruction)
        block = block->splitBasicBlock(instruction);
    return wrap(block);
}

const char *shim_subprogram_name(LLVMMetadataRef program)
{
    // A string of metadata ends with a zero byte.
    return unwrap<DISubprogram>(program)->getRawName() != nullptr
               ? unwrap<DISubprogram>(program)->getName().data()
               : "";
}

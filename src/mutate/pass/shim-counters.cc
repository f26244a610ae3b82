// SPDX-License-Identifier: GPL-3.0-or-later
// Links a constructor into a module, which counters need and LLVM's C interface lacks.
#include "mutate/pass/shim.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

using namespace llvm;

bool shim_add_start(LLVMModuleRef wrapped, const char *bitcode, size_t size, const char *name)
{
    Module &module = *unwrap(wrapped);
    Expected<std::unique_ptr<Module>> read =
        parseBitcodeFile(MemoryBufferRef(StringRef(bitcode, size), name), module.getContext());
    if (!read) {
        consumeError(read.takeError());
        return false;
    }
    // The program's module decides how code is generated, not this one.
    std::unique_ptr<Module> part = std::move(*read);
    while (!part->named_metadata_empty())
        part->eraseNamedMetadata(&*part->named_metadata_begin());
    part->setTargetTriple(module.getTargetTriple());
    part->setDataLayout(module.getDataLayout());
    if (Linker::linkModules(module, std::move(part)))
        return false;
    Function *start = module.getFunction(name);
    if (start == nullptr)
        return false;
    start->setLinkage(GlobalValue::LinkOnceODRLinkage);
    start->setVisibility(GlobalValue::HiddenVisibility);
    start->setComdat(module.getOrInsertComdat(name));
    appendToGlobalCtors(module, start, 0, start);
    return true;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps LLVM's code generator from arranging the blocks of functions with markers. In LLVM 19 its
// branch folding, and the block placement that calls it, may go on for ever where several targets
// of one assembly statement are a function's last blocks: it moves one after the other to the end.
// Twins also go without passes that take time and make code fast, but not small.
#include "mutate/pass/shim.h"

#include "mutate/pass/pass.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/OptBisect.h>

using namespace llvm;

namespace
{
const char *const arranging[] = {
    "Control Flow Optimizer",
    "Branch Probability Basic Block Placement",
};
const char *const for_speed[] = {
    "Canonicalize Freeze Instructions in Loops",
    "Constant Hoisting",
    "Early Machine Loop Invariant Code Motion",
    "Early Tail Duplication",
    "Live Range Shrink",
    "Loop Strength Reduction",
    "Machine Common Subexpression Elimination",
    "Machine Instruction Scheduler",
    "Machine Loop Invariant Code Motion",
    "Machine code sinking",
    "Merge contiguous icmps into a memcmp",
    "Optimize machine instruction PHIs",
    "PostRA Machine Sink",
    "Shrink Wrapping analysis",
    "Tail Duplication",
    "X86 Domain Reassignment Pass",
    "X86 LEA Optimize",
    "X86 cmov Conversion",
};

class LayoutGate : public OptPassGate
{
    StringMap<bool> functions; // as LLVM describes them to a gate; whether they are twins

  public:
    void add(StringRef name, bool twin) { functions[("function (" + name + ")").str()] = twin; }
    bool shouldRunPass(const StringRef pass, StringRef subject) override
    {
        auto found = functions.find(subject);
        return found == functions.end() ||
               !(is_contained(arranging, pass) || (found->second && is_contained(for_speed, pass)));
    }
    bool isEnabled() const override { return true; }
};
} // namespace

void shim_keep_layout(LLVMValueRef wrapped, bool only_small)
{
    static LayoutGate gate; // lives as long as the compiler
    Function &function = *unwrap<Function>(wrapped);
    if (only_small && !function.hasOptSize())
        return;
    LLVMContext &context = function.getContext();
    if (&context.getOptPassGate() != &gate && context.getOptPassGate().isEnabled())
        return; // the user is bisecting the compiler's passes
    gate.add(function.getName(), function.hasFnAttribute(TWIN_ATTRIBUTE));
    context.setOptPassGate(gate);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps LLVM's code generator from arranging the blocks of functions with markers. In LLVM 19 its
// branch folding, and the block placement that calls it, may go on for ever where several targets
// of one assembly statement are a function's last blocks: it moves one after the other to the end.
#include "mutate/pass/shim.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/OptBisect.h>

using namespace llvm;

namespace
{
class LayoutGate : public OptPassGate
{
    StringSet<> kept; // functions as LLVM describes them to a gate

  public:
    void keep(StringRef name) { kept.insert(("function (" + name + ")").str()); }
    bool shouldRunPass(const StringRef pass, StringRef subject) override
    {
        bool arranges =
            pass == "Control Flow Optimizer" || pass == "Branch Probability Basic Block Placement";
        return !arranges || !kept.contains(subject);
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
    gate.keep(function.getName());
    context.setOptPassGate(gate);
}

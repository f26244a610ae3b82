// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps LLVM's code generator from arranging the blocks of functions with markers. In LLVM 19 its
// branch folding, and the block placement that calls it, may go on for ever where several targets
// of one assembly statement are a function's last blocks: it moves one after the other to the end.
// Twins also go without passes that take time and make code fast, but not small. And since the code
// generator asks here about every function, this is where one is seen to be done: its IR is
// freed, which the compiler would keep to the end.
#include "mutate/pass/shim.h"

#include "mutate/pass/pass.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <malloc.h>

using namespace llvm;

#define TRIM_EVERY 200 // functions whose IR is freed
#define PLACEMENT  "Branch Probability Basic Block Placement"

namespace
{
const char *const arranging[] = {
    "Control Flow Optimizer",
    PLACEMENT,
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

bool is_intrinsic(const GlobalValue &global)
{
    auto *function = dyn_cast<Function>(&global);
    return function != nullptr && function->isIntrinsic();
}

// Frees the IR of a function whose code has been emitted. Globals that nothing else refers to stay
// referred to: that makes a difference to what the compiler tells the linker about them.
void free_code(Function &function)
{
    SmallSetVector<GlobalValue *, 16> globals;
    for (BasicBlock &block : function)
        if (block.hasAddressTaken())
            return; // a table of labels is emitted last
    for (Instruction &instruction : instructions(function))
        for (Value *operand : instruction.operands())
            if (auto *global = dyn_cast<GlobalValue>(operand); global && !is_intrinsic(*global))
                globals.insert(global);
    for (BasicBlock &block : function)
        block.dropAllReferences();
    while (!function.empty())
        function.back().eraseFromParent();
    BasicBlock *rest = BasicBlock::Create(function.getContext(), "", &function);
    for (GlobalValue *global : globals)
        if (global->use_empty())
            new StoreInst(global, PoisonValue::get(global->getType()), rest);
    new UnreachableInst(function.getContext(), rest);
}

bool keep_ir;

class LayoutGate : public OptPassGate
{
    StringMap<bool> functions; // as LLVM describes them to a gate; whether they are twins
    Module *module = nullptr;  // of the last of them
    std::string current;       // what the gate was last asked about
    bool placed = false;       // its blocks are in their final order
    unsigned freed = 0;        // functions

    static std::string describe(StringRef name) { return ("function (" + name + ")").str(); }
    // The code generator is done with one function before it begins with the next.
    void begin(StringRef subject)
    {
        StringRef name = current;
        if (placed && name.consume_front("function (") && name.consume_back(")"))
            if (Function *function = module->getFunction(name)) {
                free_code(*function);
                if (++freed % TRIM_EVERY == 0)
                    shim_return_memory();
            }
        current = subject.str();
        placed = false;
    }

  public:
    void add(Function &function)
    {
        if (module != function.getParent()) {
            current.clear(); // another module begins
            placed = false;
        }
        module = function.getParent();
        functions[describe(function.getName())] = function.hasFnAttribute(TWIN_ATTRIBUTE);
    }
    bool shouldRunPass(const StringRef pass, StringRef subject) override
    {
        if (subject != current)
            begin(subject);
        auto found = functions.find(subject);
        placed |= pass == PLACEMENT && !keep_ir;
        return found == functions.end() ||
               !(is_contained(arranging, pass) || (found->second && is_contained(for_speed, pass)));
    }
    bool isEnabled() const override { return true; }
};
} // namespace

void shim_keep_ir(bool keep)
{
    keep_ir = keep;
}

void shim_return_memory()
{
    malloc_trim(0);
}

void shim_keep_layout(LLVMValueRef wrapped, bool only_small)
{
    static LayoutGate gate; // lives as long as the compiler
    Function &function = *unwrap<Function>(wrapped);
    if (only_small && !function.hasOptSize())
        return;
    LLVMContext &context = function.getContext();
    if (&context.getOptPassGate() != &gate && context.getOptPassGate().isEnabled())
        return; // the user is bisecting the compiler's passes
    gate.add(function);
    context.setOptPassGate(gate);
}

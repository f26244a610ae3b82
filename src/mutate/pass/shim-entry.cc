// SPDX-License-Identifier: GPL-3.0-or-later
// Makes entries cost nothing. LLVM's attribute "patchable-function" promises that a function begins
// with an instruction of two bytes or more, and puts a no-op there if it does not: in most
// functions, since they begin with a push of one byte. And it takes no care of loops: if the first
// instruction is that of a loop as well, what is written over it acts in each turn. There is no
// place among the code generator's passes for one from outside, so the pass behind the attribute is
// replaced by one that does the same, gives such a push its longer form, and keeps loops apart.
#include "mutate/pass/shim.h"

#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetOpcodes.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/CodeGen.h>

using namespace llvm;

#define ATTRIBUTE "patchable-function"
#define VALUE     "prologue-short-redirect" // the only one there is

// Names, since the header with the processor's instructions is not installed.
static unsigned instruction_named(const TargetInstrInfo &instructions, StringRef name)
{
    for (unsigned i = 0; i < instructions.getNumOpcodes(); i++)
        if (instructions.getName(i) == name)
            return i;
    return 0;
}

namespace
{
class EntryPass : public MachineFunctionPass
{
    // A new first block, if the first one can be reached from within the function.
    static MachineBasicBlock &first_block(MachineFunction &function)
    {
        MachineBasicBlock &first = function.front();
        if (first.pred_empty() && !first.hasAddressTaken())
            return first;
        MachineBasicBlock *before = function.CreateMachineBasicBlock();
        function.insert(function.begin(), before);
        before->addSuccessor(&first);
        for (const auto &live : first.liveins())
            before->addLiveIn(live);
        return *before;
    }

    static void lengthen_push(MachineBasicBlock &block, const TargetInstrInfo &instructions)
    {
        static const unsigned brief = instruction_named(instructions, "PUSH64r"),
                              longer = instruction_named(instructions, "PUSH64rmr");
        auto first = find_if(block, [](const MachineInstr &at) { return !at.isMetaInstruction(); });
        if (first != block.end() && brief != 0 && longer != 0 && first->getOpcode() == brief)
            first->setDesc(instructions.get(longer));
    }

  public:
    static char ID;
    EntryPass() : MachineFunctionPass(ID) {}
    StringRef getPassName() const override { return "Entries of functions with faults"; }
    MachineFunctionProperties getRequiredProperties() const override
    {
        return MachineFunctionProperties().set(MachineFunctionProperties::Property::NoVRegs);
    }
    bool runOnMachineFunction(MachineFunction &function) override
    {
        const TargetInstrInfo &instructions = *function.getSubtarget().getInstrInfo();
        MachineBasicBlock &front = function.front();
        if (function.getFunction().hasFnAttribute("patchable-function-entry")) {
            BuildMI(front, front.begin(), DebugLoc(),
                    instructions.get(TargetOpcode::PATCHABLE_FUNCTION_ENTER));
            return true;
        }
        if (!function.getFunction().hasFnAttribute(ATTRIBUTE))
            return false;
        MachineBasicBlock &first = first_block(function);
        lengthen_push(first, instructions);
        BuildMI(first, first.begin(), DebugLoc(), instructions.get(TargetOpcode::PATCHABLE_OP))
            .addImm(2);
        function.ensureAlignment(Align(16));
        return true;
    }
};
char EntryPass::ID;

Pass *make_entry_pass()
{
    return new EntryPass;
}
} // namespace

// The code generator asks the registry for the pass when it starts.
static void replace_pass()
{
    static bool done;
    if (done)
        return;
    done = true;
    PassRegistry &registry = *PassRegistry::getPassRegistry();
    initializePatchableFunctionPass(registry);
    auto *pass = const_cast<PassInfo *>(registry.getPassInfo(&PatchableFunctionID));
    pass->setNormalCtor(make_entry_pass);
}

// What else writes bytes before a function or expects its own first. A kernel changes its
// functions' beginnings itself.
static bool is_taken(const Function &function)
{
    static const char *const attributes[] = {
        "fentry-call",         "patchable-function",         "patchable-function-entry",
        "function-instrument", "xray-instruction-threshold", "patchable-function-prefix",
    };
    for (const char *attribute : attributes)
        if (function.hasFnAttribute(attribute))
            return true;
    return function.hasFnAttribute(Attribute::Naked) || function.hasPrefixData() ||
           function.hasPrologueData() || function.hasMetadata(LLVMContext::MD_func_sanitize) ||
           function.hasMetadata(LLVMContext::MD_kcfi_type) ||
           function.getParent()->getCodeModel() == CodeModel::Kernel;
}

unsigned shim_free_entry(LLVMValueRef wrapped)
{
    Function &function = *unwrap<Function>(wrapped);
    if (!shim_writes_object() || is_taken(function))
        return 0;
    replace_pass();
    function.addFnAttr(ATTRIBUTE, VALUE);
    unsigned alignment = (unsigned)function.getAlign().valueOrOne().value();
    return alignment > 16 ? alignment : 16;
}

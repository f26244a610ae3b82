// SPDX-License-Identifier: GPL-3.0-or-later
// Twins have several times the blocks of their functions, and run only when a fault is enabled. The
// pipeline would spend most of its time on them, some of it more than in proportion to their size.
// So they get a few passes, and the pipeline leaves them alone. Large ones keep their variables in
// memory: with thousands of blocks, values in registers cost the code generator more than in
// proportion. The largest are compiled as without optimisation: that takes a quarter of the time
// off a parser's, and adds 4 % to its file.
#include "mutate/pass/shim-optimise.h"

#include "mutate/pass/pass.h"
#include "mutate/pass/shim.h"

#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

using namespace llvm;

#define WAITING_ATTRIBUTE "ordeal-optimised"
#define MOST_INLINED      10000 // calls in one twin, so that this ends where functions call each other
#define MOST_LEFT_OVER    12    // instructions of a function that is inlined into twins
#define MOST_BLOCKS       150  // of a twin whose variables are moved to registers
#define MOST_SELECTED     1000 // blocks of a twin whose instructions are selected with care

static bool is_inlined(const CallBase &call)
{
    const Function *callee = call.getCalledFunction();
    return callee != nullptr && !callee->isDeclaration() &&
           callee->hasFnAttribute(Attribute::AlwaysInline) && !call.isNoInline() &&
           callee != call.getFunction();
}

// What must be inlined is inlined now, so that the passes see it: such code may compile only if its
// arguments are constant. Returns whether there was any.
static bool inline_calls(Function &function)
{
    SmallVector<CallBase *, 16> calls;
    for (Instruction &instruction : instructions(function))
        if (auto *call = dyn_cast<CallBase>(&instruction))
            if (is_inlined(*call))
                calls.push_back(call);
    bool found = !calls.empty();
    unsigned left = MOST_INLINED;
    while (!calls.empty() && left-- != 0) {
        InlineFunctionInfo info;
        CallBase *call = calls.pop_back_val();
        if (!InlineFunction(*call, info).isSuccess())
            continue;
        for (CallBase *inner : info.InlinedCallSites)
            if (is_inlined(*inner))
                calls.push_back(inner);
    }
    return found;
}

void optimise_twins(Module &module, ModuleAnalysisManager &manager)
{
    auto &functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    FunctionPassManager promotion, passes;
    promotion.addPass(SROAPass(SROAOptions::PreserveCFG));
    passes.addPass(EarlyCSEPass());
    passes.addPass(InstSimplifyPass());
    for (Function &function : module) {
        if (function.isDeclaration() || !function.hasFnAttribute(TWIN_ATTRIBUTE) ||
            function.hasOptNone() || function.hasFnAttribute(Attribute::AlwaysInline))
            continue;
        bool constants = inline_calls(function);
        functions.clear(function, function.getName());
        if (constants || function.size() <= MOST_BLOCKS)
            promotion.run(function, functions);
        passes.run(function, functions);
        functions.clear(function, function.getName());
        function.removeFnAttr(Attribute::OptimizeForSize);
        function.removeFnAttr(Attribute::MinSize);
        function.addFnAttr(Attribute::OptimizeNone);
        function.addFnAttr(Attribute::NoDuplicate); // keeps FunctionSpecializer from measuring it
        function.addFnAttr(WAITING_ATTRIBUTE);
    }
}

// ---- functions that only twins call ----

// The statement at the beginning of a twin that its markers refer to.
static CallInst *find_base(Function &function)
{
    for (Instruction &instruction : function.getEntryBlock())
        if (auto *call = dyn_cast<CallInst>(&instruction))
            if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
                if (StringRef(assembly->getAsmString()).contains(".pushsection " MARK_SECTION))
                    return call;
    return nullptr;
}

static bool has_marker(const Function &function)
{
    return any_of(function,
                  [](const BasicBlock &block) { return isa<CallBrInst>(block.getTerminator()); });
}

static bool has_faults(const Function &function)
{
    return function.hasFnAttribute(TWIN_ATTRIBUTE) &&
           (has_marker(function) || find_base(const_cast<Function &>(function)) != nullptr);
}

// Whether only twins call a function, or functions that only twins call. The optimiser has inlined
// such functions everywhere else, and would have dropped them. Twins without faults are the same.
static bool is_left_over(const Function &function, const SmallPtrSetImpl<const Function *> &known)
{
    if (function.isDeclaration() || !function.isDiscardableIfUnused() || function.use_empty() ||
        has_faults(function))
        return false;
    for (const Use &use : function.uses()) {
        auto *call = dyn_cast<CallBase>(use.getUser());
        if (call == nullptr || !call->isCallee(&use) ||
            (!call->getFunction()->hasFnAttribute(TWIN_ATTRIBUTE) &&
             known.count(call->getFunction()) == 0))
            return false;
    }
    return true;
}

static bool is_small(const Function &function)
{
    return function.getInstructionCount() <= MOST_LEFT_OVER && !function.isVarArg() &&
           isInlineViable(const_cast<Function &>(function)).isSuccess();
}

// Whether debug information allows to inline the call.
static bool has_place(const CallBase &call)
{
    return call.getDebugLoc() || call.getCalledFunction()->getSubprogram() == nullptr ||
           call.getFunction()->getSubprogram() == nullptr;
}

// Inlines small functions that only twins call into twins, and drops them. In C++ they are many,
// and as functions they would take several times the room: each has a section, a group, a symbol.
static void inline_left_over(Module &module)
{
    SmallPtrSet<const Function *, 32> known;
    for (bool more = true; more;) {
        more = false;
        for (const Function &function : module)
            if (known.count(&function) == 0 && is_left_over(function, known))
                more = known.insert(&function).second;
    }
    SmallVector<CallBase *, 64> calls;
    for (Function &function : module) // not in the order of the set: that of addresses
        if (known.count(&function) != 0)
            for (User *user : function.users())
                calls.push_back(cast<CallBase>(user));
    for (unsigned left = MOST_INLINED; !calls.empty() && left != 0; left--) {
        CallBase *call = calls.pop_back_val();
        Function *callee = call->getCalledFunction();
        if (!call->getFunction()->hasFnAttribute(TWIN_ATTRIBUTE) || call->getFunction() == callee ||
            !is_small(*callee) || !has_place(*call))
            continue;
        InlineFunctionInfo info;
        if (!InlineFunction(*call, info).isSuccess())
            continue;
        for (CallBase *inner : info.InlinedCallSites)
            if (known.count(inner->getCalledFunction()) != 0)
                calls.push_back(inner);
    }
    for (bool more = true; more;) {
        more = false;
        for (Function &function : make_early_inc_range(module))
            if (known.count(&function) != 0 && function.use_empty()) {
                known.erase(&function);
                function.eraseFromParent();
                more = true;
            }
    }
}

// ---- functions that only their rows refer to ----

// What refers to a function that nothing calls: the name that its entry and its row have for it.
struct rows {
    SmallVector<GlobalAlias *, 1> names;
    SmallVector<GlobalVariable *, 1> rows;
};

static bool collect_rows(Value &value, const Function &function, struct rows &rows)
{
    for (User *user : value.users()) {
        if (user == &function)
            continue; // its entry
        if (auto *instruction = dyn_cast<Instruction>(user)) {
            if (instruction->getFunction() != &function)
                return false;
            continue;
        }
        auto *row = dyn_cast<GlobalVariable>(user);
        if (row != nullptr && row->getSection() == TWIN_SECTION &&
            row->hasMetadata(LLVMContext::MD_associated)) {
            rows.rows.push_back(row);
            continue;
        }
        auto *name = dyn_cast<GlobalAlias>(user);
        if (name != nullptr && name->hasPrivateLinkage())
            rows.names.push_back(name);
        if ((isa<GlobalValue>(user) && (name == nullptr || !name->hasPrivateLinkage())) ||
            !collect_rows(*user, function, rows))
            return false;
    }
    return true;
}

// Whether the linker drops the function's group together with nothing else.
static bool is_alone(const Function &function, const struct rows &rows)
{
    if (!function.hasComdat())
        return true;
    for (const GlobalObject *object : function.getComdat()->getUsers())
        if (object != &function && !is_contained(rows.rows, object))
            return false;
    return true;
}

static void drop_entered(Function &function, const struct rows &rows)
{
    function.setPrologueData(nullptr);
    for (GlobalVariable *row : rows.rows) {
        removeFromUsedLists(*function.getParent(), [row](Constant *kept) { return kept == row; });
        row->setInitializer(nullptr);
        row->removeDeadConstantUsers();
        row->eraseFromParent();
    }
    for (GlobalAlias *name : rows.names) {
        name->removeDeadConstantUsers();
        name->eraseFromParent();
    }
    function.removeDeadConstantUsers();
    function.deleteBody();
    function.eraseFromParent();
}

// Drops inline functions of C++ that the optimiser has inlined everywhere. Without rows it would
// have dropped them, and each takes a section, a group, and those of its row.
void drop_inlined(Module &module)
{
    for (bool more = true; more;) {
        more = false;
        for (Function &function : make_early_inc_range(module)) {
            struct rows rows;
            if (!function.hasLinkOnceODRLinkage() || function.isDeclaration() ||
                function.hasFnAttribute(TWIN_ATTRIBUTE) ||
                !collect_rows(function, function, rows) || rows.rows.empty() ||
                !is_alone(function, rows))
                continue;
            drop_entered(function, rows);
            more = true;
        }
    }
}

extern "C" void shim_settle_twins(LLVMModuleRef wrapped)
{
    Module &module = *unwrap(wrapped);
    for (Function &function : module)
        if (!function.isDeclaration() && function.hasFnAttribute(TWIN_ATTRIBUTE) &&
            !has_marker(function))
            if (CallInst *base = find_base(function))
                base->eraseFromParent();
    inline_left_over(module);
}

void release_twins(Module &module)
{
    inline_left_over(module);
    for (Function &function : module)
        if (function.hasFnAttribute(WAITING_ATTRIBUTE)) {
            function.removeFnAttr(WAITING_ATTRIBUTE);
            function.removeFnAttr(Attribute::NoDuplicate);
            if (function.size() > MOST_SELECTED)
                continue; // the code generator does not optimise it either
            function.removeFnAttr(Attribute::OptimizeNone);
            function.addFnAttr(Attribute::OptimizeForSize);
        }
}

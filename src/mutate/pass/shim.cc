// SPDX-License-Identifier: GPL-3.0-or-later
// The entry of the compiler plug-in, and calls that LLVM's C interface lacks. Only the shim*.cc
// files are C++.
#include "mutate/pass/shim.h"

#include "mutate/pass/shim-optimise.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/IR/ValueSymbolTable.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

using namespace llvm;

static cl::opt<std::string> options("ordeal", cl::desc("options of ordeal cc"));

namespace
{
struct OrdealPass : PassInfoMixin<OrdealPass> {
    bool finished; // the late pass will run, too
    explicit OrdealPass(bool finished) : finished(finished) {}
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &manager)
    {
        if (!pass_run(wrap(&module), options.c_str(), finished))
            return PreservedAnalyses::all();
        optimise_twins(module, manager);
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};

struct OrdealLatePass : PassInfoMixin<OrdealLatePass> {
    PreservedAnalyses run(Module &module, ModuleAnalysisManager &)
    {
        drop_inlined(module);
        pass_finish(wrap(&module));
        release_twins(module);
        pass_end(wrap(&module));
        shim_return_memory();
        return PreservedAnalyses::none();
    }
    static bool isRequired() { return true; }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "ordeal", "1", [](PassBuilder &builder) {
                builder.registerPipelineStartEPCallback(
                    [](ModulePassManager &manager, OptimizationLevel) {
                        manager.addPass(OrdealPass(true));
                    });
                builder.registerOptimizerLastEPCallback(
                    [](ModulePassManager &manager, OptimizationLevel) {
                        manager.addPass(OrdealLatePass());
                    });
                builder.registerPipelineParsingCallback([](StringRef name,
                                                           ModulePassManager &manager,
                                                           ArrayRef<PassBuilder::PipelineElement>) {
                    if (name != "ordeal")
                        return false;
                    manager.addPass(OrdealPass(false));
                    return true;
                });
            }};
}

// Collects the tables that hold addresses of a function's blocks (computed goto): a copy of the
// function needs copies of them. False if code elsewhere can see such a table.
static bool collect_tables(Function &function, SmallVectorImpl<GlobalVariable *> &tables)
{
    for (BasicBlock &block : function) {
        if (!block.hasAddressTaken())
            continue;
        SmallVector<User *, 16> todo(BlockAddress::get(&block)->users());
        while (!todo.empty()) {
            User *user = todo.pop_back_val();
            if (auto *instruction = dyn_cast<Instruction>(user)) {
                if (instruction->getFunction() != &function)
                    return false;
            } else if (auto *table = dyn_cast<GlobalVariable>(user)) {
                if (!table->hasLocalLinkage() || !table->isConstant())
                    return false;
                if (!is_contained(tables, table)) {
                    tables.push_back(table);
                    todo.append(table->user_begin(), table->user_end());
                }
            } else if (isa<Constant>(user) && !isa<GlobalValue>(user)) {
                todo.append(user->user_begin(), user->user_end());
            } else {
                return false;
            }
        }
    }
    return true;
}

bool shim_clonable(LLVMValueRef function)
{
    SmallVector<GlobalVariable *, 4> tables;
    return collect_tables(*unwrap<Function>(function), tables);
}

LLVMValueRef shim_clone_function(LLVMValueRef wrapped, const char *name)
{
    Function &function = *unwrap<Function>(wrapped);
    SmallVector<GlobalVariable *, 4> tables;
    collect_tables(function, tables);
    Function *copy = Function::Create(function.getFunctionType(), function.getLinkage(),
                                      function.getAddressSpace(), name, function.getParent());
    ValueToValueMapTy map;
    if (!tables.empty())
        map[&function] = copy;
    for (GlobalVariable *table : tables) {
        auto *second = new GlobalVariable(*table->getParent(), table->getValueType(), true,
                                          table->getLinkage(), nullptr, table->getName());
        second->copyAttributesFrom(table);
        map[table] = second;
    }
    for (auto [from, to] : zip(function.args(), copy->args())) {
        to.setName(from.getName());
        map[&from] = &to;
    }
    SmallVector<ReturnInst *, 8> returns;
    CloneFunctionInto(copy, &function, map, CloneFunctionChangeType::LocalChangesOnly, returns);
    // Hints for passes that twins do not get: they take memory until the end.
    for (Instruction &instruction : instructions(copy))
        for (unsigned hint : {LLVMContext::MD_tbaa, LLVMContext::MD_tbaa_struct,
                              LLVMContext::MD_prof, LLVMContext::MD_loop})
            instruction.setMetadata(hint, nullptr);
    for (GlobalVariable *table : tables)
        cast<GlobalVariable>(map[table])->setInitializer(MapValue(table->getInitializer(), map));
    return wrap(copy);
}

static bool crosses(const Instruction &instruction)
{
    for (const User *user : instruction.users())
        if (cast<Instruction>(user)->getParent() != instruction.getParent() || isa<PHINode>(user))
            return true;
    return false;
}

bool shim_demote(LLVMValueRef wrapped)
{
    Function &function = *unwrap<Function>(wrapped);
    SmallVector<Instruction *, 16> values;
    SmallVector<PHINode *, 16> joins;
    for (Instruction &instruction : instructions(function)) {
        if (isa<PHINode>(instruction))
            joins.push_back(cast<PHINode>(&instruction));
        else if (isa<AllocaInst>(instruction) && cast<AllocaInst>(instruction).isStaticAlloca())
            continue;
        else if (crosses(instruction))
            values.push_back(&instruction);
        else
            continue;
        if (instruction.getType()->isTokenTy() || instruction.isSwiftError() ||
            isa<CallBrInst>(instruction))
            return false;
    }
    for (Instruction *value : values) {
        // The result of a call with a landing pad exists only after it. It is stored in a block of
        // its own, which is cloned together with the call.
        if (auto *call = dyn_cast<InvokeInst>(value)) {
            BasicBlock *next = BasicBlock::Create(call->getContext(), "", &function);
            BranchInst::Create(call->getNormalDest(), next)->setDebugLoc(call->getDebugLoc());
            call->getNormalDest()->replacePhiUsesWith(call->getParent(), next);
            call->setNormalDest(next);
        }
        DemoteRegToStack(*value);
    }
    for (PHINode *join : joins)
        DemotePHIToStack(join);
    return true;
}

LLVMBasicBlockRef shim_split(LLVMBasicBlockRef wrapped)
{
    BasicBlock *block = unwrap(wrapped);
    if (block->isEntryBlock()) {
        SmallVector<AllocaInst *, 16> fixed;
        for (Instruction &instruction : *block)
            if (auto *room = dyn_cast<AllocaInst>(&instruction))
                if (room->isStaticAlloca())
                    fixed.push_back(room);
        BasicBlock::iterator top = block->getFirstInsertionPt();
        for (AllocaInst *room : fixed)
            if (&*top == room)
                ++top;
            else
                room->moveBefore(*block, top);
        return wrap(block->splitBasicBlock(top));
    }
    BasicBlock::iterator first = block->getFirstInsertionPt();
    return wrap(first == block->end() ? nullptr : block->splitBasicBlock(first));
}

static BasicBlock *clone_block(BasicBlock *block, ValueToValueMapTy &map)
{
    BasicBlock *copy = CloneBasicBlock(block, map, ".fault", block->getParent());
    Module *module = block->getModule();
    for (Instruction &instruction : *copy) {
        RemapInstruction(&instruction, map, RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
        RemapDbgRecordRange(module, instruction.getDbgRecordRange(), map,
                            RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
    }
    auto *call = dyn_cast<InvokeInst>(copy->getTerminator());
    if (call != nullptr && !block->getTerminator()->use_empty())
        call->setNormalDest(clone_block(call->getNormalDest(), map));
    return copy;
}

LLVMBasicBlockRef shim_clone_block(LLVMBasicBlockRef block)
{
    ValueToValueMapTy map;
    return wrap(clone_block(unwrap(block), map));
}

bool shim_same_code(LLVMBasicBlockRef wrapped, LLVMBasicBlockRef wrapped_clone)
{
    BasicBlock *block = unwrap(wrapped), *clone = unwrap(wrapped_clone);
    DenseMap<const Value *, const Value *> twins;
    if (block->size() != clone->size())
        return false;
    for (auto [one, other] : zip(*block, *clone))
        twins[&one] = &other;
    for (auto [one, other] : zip(*block, *clone)) {
        if (!one.isSameOperationAs(&other))
            return false;
        for (auto [value, copy] : zip(one.operands(), other.operands()))
            if (value.get() != copy.get() && twins.lookup(value.get()) != copy.get() &&
                !(isa<InvokeInst>(one) && isa<BasicBlock>(copy.get())))
                return false;
    }
    return true;
}

// Does not cut between a return and a call that must come right before it, nor among allocas.
void shim_cut(LLVMBasicBlockRef wrapped, unsigned size)
{
    BasicBlock *block = unwrap(wrapped);
    DenseMap<const Instruction *, unsigned> places;
    SmallVector<Instruction *, 16> cuts;
    unsigned count = 0, needed = 0, last = 0;
    for (Instruction &instruction : *block) {
        if (isa<AllocaInst>(instruction) || instruction.isEHPad() || isa<PHINode>(instruction))
            needed = count;
        places[&instruction] = count++;
    }
    for (Instruction &instruction : *block) {
        unsigned at = places[&instruction];
        if (at - last >= size && needed < at && count - at >= size && !instruction.isTerminator()) {
            cuts.push_back(&instruction);
            last = at;
        }
        for (const User *user : instruction.users())
            if (cast<Instruction>(user)->getParent() == block && !isa<AllocaInst>(instruction))
                needed = std::max(needed, places[cast<Instruction>(user)]);
    }
    for (Instruction *cut : reverse(cuts))
        block->splitBasicBlock(cut);
}

bool shim_interposable(LLVMValueRef function)
{
    return unwrap<GlobalValue>(function)->isInterposable();
}

bool shim_address_taken(LLVMValueRef function)
{
    return unwrap<Function>(function)->hasAddressTaken();
}

bool shim_block_address_taken(LLVMBasicBlockRef block)
{
    return unwrap(block)->hasAddressTaken();
}

// Parameters live in "x.addr"; a second x of a function is called "x5".
void shim_name(LLVMValueRef wrapped, char *name, size_t size)
{
    const Value *value = unwrap(wrapped);
    StringRef text = value->getName();
    const Function *function = nullptr;
    if (auto *instruction = dyn_cast<Instruction>(value))
        function = instruction->getFunction();
    StringRef plain = text.rtrim("0123456789");
    if (function != nullptr && plain.size() < text.size() &&
        function->getValueSymbolTable()->lookup(plain) != nullptr)
        text = plain;
    text.consume_back(".addr");
    snprintf(name, size, "%.*s", static_cast<int>(text.size()), text.data());
}

void shim_keep(LLVMModuleRef module, LLVMValueRef global, bool always)
{
    if (always)
        appendToUsed(*unwrap(module), {unwrap<GlobalValue>(global)});
    else
        appendToCompilerUsed(*unwrap(module), {unwrap<GlobalValue>(global)});
}

bool shim_is_library_function(LLVMModuleRef module, LLVMValueRef global)
{
    LibFunc known;
    return TargetLibraryInfoImpl(Triple(unwrap(module)->getTargetTriple()))
        .getLibFunc(unwrap<GlobalValue>(global)->getName(), known);
}

void shim_mark_variable(LLVMValueRef variable, const char *attribute)
{
    unwrap<GlobalVariable>(variable)->addAttribute(StringRef(attribute));
}

bool shim_variable_has_mark(LLVMValueRef variable, const char *attribute)
{
    return unwrap<GlobalVariable>(variable)->hasAttribute(StringRef(attribute));
}

// Also clears dso_local: position-independent code must not assume that a symbol that may be
// missing is at a distance known when linking.
void shim_make_optional(LLVMValueRef wrapped)
{
    auto *global = unwrap<GlobalValue>(wrapped);
    global->setLinkage(GlobalValue::ExternalWeakLinkage);
    if (global->getParent()->getPICLevel() != PICLevel::NotPIC)
        global->setDSOLocal(false);
}

bool shim_only_lines(LLVMModuleRef module)
{
    for (DICompileUnit *unit : unwrap(module)->debug_compile_units())
        if (unit->getEmissionKind() != DICompileUnit::LineTablesOnly)
            return false;
    return true;
}

void shim_strip_names(LLVMModuleRef module)
{
    for (Function &function : *unwrap(module)) {
        for (Argument &argument : function.args())
            argument.setName("");
        for (BasicBlock &block : function) {
            block.setName("");
            for (Instruction &instruction : block)
                instruction.setName("");
        }
    }
    unwrap(module)->getContext().setDiscardValueNames(true);
}

struct shim_handle {
    WeakVH value;
    explicit shim_handle(Value *held) : value(held) {}
};

struct shim_handle *shim_handle_new(LLVMValueRef value)
{
    return new shim_handle(unwrap(value));
}

LLVMValueRef shim_handle_get(const struct shim_handle *handle)
{
    return wrap(static_cast<Value *>(handle->value));
}

void shim_handle_free(struct shim_handle *handle)
{
    delete handle;
}

void shim_leave(LLVMBasicBlockRef block, LLVMBasicBlockRef from)
{
    unwrap(block)->removePredecessor(unwrap(from));
}

void shim_remove_unreachable(LLVMValueRef function)
{
    removeUnreachableBlocks(*unwrap<Function>(function));
}

void shim_merge_blocks(LLVMValueRef function)
{
    for (BasicBlock &block : make_early_inc_range(*unwrap<Function>(function)))
        MergeBlockIntoPredecessor(&block);
}

bool shim_remove_unused(LLVMValueRef wrapped)
{
    Function &function = *unwrap<Function>(wrapped);
    if (!function.hasLocalLinkage() || function.isDeclaration())
        return false;
    for (const User *user : function.users()) {
        auto *instruction = dyn_cast<Instruction>(user);
        if (instruction == nullptr || instruction->getFunction() != &function)
            return false;
    }
    function.deleteBody();
    function.eraseFromParent();
    return true;
}

struct shim_loops {
    DominatorTree tree;
    LoopInfo info;
    explicit shim_loops(Function &function) : tree(function), info(tree) {}
};

struct shim_loops *shim_loops_new(LLVMValueRef function)
{
    return new shim_loops(*unwrap<Function>(function));
}

void shim_loops_free(struct shim_loops *loops)
{
    delete loops;
}

unsigned shim_loop_depth(const struct shim_loops *loops, LLVMBasicBlockRef block)
{
    return loops->info.getLoopDepth(unwrap(block));
}

bool shim_loop_decides(const struct shim_loops *loops, LLVMBasicBlockRef block)
{
    const Loop *loop = loops->info.getLoopFor(unwrap(block));
    return loop != nullptr &&
           (loop->isLoopExiting(unwrap(block)) || loop->isLoopLatch(unwrap(block)));
}

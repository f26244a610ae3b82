// SPDX-License-Identifier: GPL-3.0-or-later
// Faulty copies of parts of a block. A copy is made of the whole block, changed, and trimmed to the
// instructions that differ: it is entered before the first of them and jumps back to the block
// behind the last. Values that the copy computes differently are joined by phis there.
#include "mutate/pass/shim.h"

#include <algorithm>
#include <iterator>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

using namespace llvm;

namespace
{
struct Copy {
    BasicBlock *code = nullptr;
    BasicBlock *tail = nullptr;       // where the result of a call with a landing pad is stored
    unsigned from = 0, until = 0;     // the part of the block that it stands for
    unsigned size = 0;                // its instructions, with the jump back
    MapVector<Value *, Value *> left; // values of the block that it leaves behind as others
    DenseMap<Value *, Value *> inner; // what is left of the part's own values
    SmallVector<size_t, 2> numbers;   // what was changed; several changes may give the same code
};
} // namespace

struct shim_splice {
    BasicBlock *body;
    SmallVector<Instruction *, 64> originals;
    DenseMap<const Value *, unsigned> places;
    SmallVector<Instruction *, 64> copies; // of the originals; only compared once code is changed
    ValueToValueMapTy map;
    Copy open;
    std::vector<Copy> kept;
    explicit shim_splice(BasicBlock *block) : body(block)
    {
        for (Instruction &instruction : *block) {
            places[&instruction] = originals.size();
            originals.push_back(&instruction);
        }
    }
    unsigned size() const { return originals.size(); }
    Value *same(Value *original) const;
};

struct shim_splice *shim_splice_new(LLVMBasicBlockRef body)
{
    return new shim_splice(unwrap(body));
}

void shim_splice_free(struct shim_splice *splice)
{
    delete splice;
}

// ---- making a copy ----

static BasicBlock *copy_block(shim_splice &splice, BasicBlock *block)
{
    LLVMContext &context = block->getContext();
    bool without_names = context.shouldDiscardValueNames();
    context.setDiscardValueNames(true); // nobody asks for those of copies
    BasicBlock *copy = CloneBasicBlock(block, splice.map, "", block->getParent());
    context.setDiscardValueNames(without_names);
    for (Instruction &instruction : *copy) {
        RemapInstruction(&instruction, splice.map,
                         RF_IgnoreMissingLocals | RF_NoModuleLevelChanges);
        instruction.dropDbgRecords();
    }
    return copy;
}

LLVMValueRef shim_splice_copy(struct shim_splice *splice, LLVMValueRef wanted)
{
    splice->map.clear();
    splice->copies.clear();
    splice->open = Copy();
    splice->open.code = copy_block(*splice, splice->body);
    for (Instruction &copy : *splice->open.code)
        splice->copies.push_back(&copy);
    auto *call = dyn_cast<InvokeInst>(splice->open.code->getTerminator());
    if (call != nullptr && !splice->body->getTerminator()->use_empty()) {
        splice->open.tail = copy_block(*splice, call->getNormalDest());
        call->setNormalDest(splice->open.tail);
    }
    auto place = splice->places.find(unwrap(wanted));
    return place == splice->places.end() ? nullptr : wrap(splice->copies[place->second]);
}

static void erase(BasicBlock *block)
{
    if (block == nullptr)
        return;
    block->dropAllReferences();
    block->eraseFromParent();
}

void shim_splice_drop(struct shim_splice *splice)
{
    erase(splice->open.code);
    erase(splice->open.tail);
    splice->open = Copy();
}

// ---- trimming it ----

// What a value of the block is in the copy, as long as nothing was changed.
Value *shim_splice::same(Value *original) const
{
    auto place = places.find(original);
    return place != places.end() ? copies[place->second] : original;
}

static bool is_unchanged(const shim_splice &splice, Instruction *original, Instruction *copy)
{
    if (!original->isSameOperationAs(copy) || original->getNumOperands() != copy->getNumOperands())
        return false;
    for (auto [one, other] : zip(original->operands(), copy->operands()))
        if (splice.same(one) != other.get() &&
            !(isa<InvokeInst>(original) && isa<BasicBlock>(other.get())))
            return false;
    return true;
}

// Whether an instruction behind the change is the same but for the values it uses. Notes these
// values, of which each must be replaced everywhere by the same one.
static bool follows(const shim_splice &splice, MapVector<Value *, Value *> &left,
                    Instruction *original, Instruction *copy)
{
    if (!original->isSameOperationAs(copy) || original->getNumOperands() != copy->getNumOperands())
        return false;
    SmallVector<std::pair<Value *, Value *>, 4> found;
    for (auto [one, other] : zip(original->operands(), copy->operands())) {
        if (isa<InvokeInst>(original) && isa<BasicBlock>(other.get()))
            continue;
        if (splice.places.count(one.get()) == 0) { // nothing that the block computes
            if (one.get() != other.get())
                return false;
            continue;
        }
        if (splice.same(one) != other.get() &&
            (one->getType()->isTokenTy() || one->getType() != other->getType()))
            return false;
        auto known = left.find(one.get());
        if (known != left.end() && known->second != other.get())
            return false;
        for (auto &[before, with] : found)
            if (before == one.get() && with != other.get())
                return false;
        found.push_back({one.get(), other.get()});
    }
    for (auto &pair : found)
        left.insert(pair);
    return true;
}

// A return must stand right behind a call that takes its place.
static unsigned last_cut(const shim_splice &splice)
{
    const CallInst *call = splice.body->getTerminatingMustTailCall();
    return call != nullptr ? splice.places.lookup(call) : splice.size() - 1;
}

unsigned shim_splice_trim(struct shim_splice *splice)
{
    Copy &open = splice->open;
    SmallVector<Instruction *, 64> now;
    for (Instruction &instruction : *open.code)
        now.push_back(&instruction);
    unsigned before = 0, behind = 0, count = splice->size(), size = now.size();
    while (before < count && before < size && now[before] == splice->copies[before] &&
           is_unchanged(*splice, splice->originals[before], now[before]))
        before++;
    if (before == count)
        return 0;
    before = std::min(before, last_cut(*splice));
    while (
        before + behind < count && before + behind < size &&
        now[size - 1 - behind] == splice->copies[count - 1 - behind] &&
        follows(*splice, open.left, splice->originals[count - 1 - behind], now[size - 1 - behind]))
        behind++;
    if (count - behind > last_cut(*splice)) {
        behind = 0;
        open.left.clear();
    }
    open.from = before;
    open.until = count - behind;
    // Values from before the change are those of the block itself. What is left behind unchanged
    // needs no phi.
    MapVector<Value *, Value *> left;
    for (auto &[original, value] : open.left) {
        unsigned place = splice->places.lookup(original);
        if (place >= open.until || (place < before && value == splice->copies[place]))
            continue;
        auto old = find(splice->copies, value);
        if (old != splice->copies.end() && unsigned(old - splice->copies.begin()) < before)
            left.insert({original, splice->originals[old - splice->copies.begin()]});
        else
            left.insert({original, value});
    }
    open.left = std::move(left);
    for (unsigned i = before; i < size - behind; i++) {
        auto copy = find(splice->copies, now[i]);
        if (copy != splice->copies.end())
            open.inner[splice->originals[copy - splice->copies.begin()]] = now[i];
    }
    for (unsigned i = 0; i < behind; i++)
        now[size - 1 - i]->dropAllReferences();
    for (unsigned i = 0; i < behind; i++)
        now[size - 1 - i]->eraseFromParent();
    for (unsigned i = 0; i < before; i++)
        now[i]->replaceAllUsesWith(splice->originals[i]);
    for (unsigned i = before; i > 0; i--)
        now[i - 1]->eraseFromParent();
    if (behind != 0) {
        erase(open.tail);
        open.tail = nullptr;
    }
    open.size = open.code->size() + (behind != 0);
    return open.size;
}

// ---- keeping it ----

static Value *twin_of(const DenseMap<const Value *, Value *> &twins, Value *value)
{
    auto found = twins.find(value);
    return found != twins.end() ? found->second : value;
}

static bool is_same(const Copy &one, const Copy &other)
{
    if (one.from != other.from || one.until != other.until ||
        one.left.size() != other.left.size() || one.code->size() != other.code->size() ||
        one.tail != nullptr || other.tail != nullptr)
        return false;
    DenseMap<const Value *, Value *> twins;
    for (auto [a, b] : zip(*one.code, *other.code)) {
        if (!a.isIdenticalToWhenDefined(&b)) {
            if (!a.isSameOperationAs(&b) || a.getNumOperands() != b.getNumOperands())
                return false;
            for (auto [x, y] : zip(a.operands(), b.operands()))
                if (twin_of(twins, x.get()) != y.get())
                    return false;
        }
        twins[&a] = &b;
    }
    for (auto &[original, value] : one.left) {
        auto found = other.left.find(original);
        if (found == other.left.end() || found->second != twin_of(twins, value))
            return false;
    }
    return true;
}

bool shim_splice_keep(struct shim_splice *splice, size_t number)
{
    for (Copy &copy : splice->kept)
        if (is_same(copy, splice->open)) {
            copy.numbers.push_back(number);
            shim_splice_drop(splice);
            return false;
        }
    splice->open.numbers.push_back(number);
    splice->kept.push_back(std::move(splice->open));
    splice->open = Copy();
    return true;
}

// ---- joining the copies with the block ----

// What a value of the block is behind a copy; nullptr if the copy has nothing to do with it. A
// fault may use a value that the block itself does not need any more, so that another copy has
// none.
static Value *value_behind(const Copy &copy, Instruction *original, unsigned place)
{
    auto left = copy.left.find(original);
    if (left != copy.left.end())
        return left->second;
    if (place < copy.from || place >= copy.until)
        return nullptr;
    Value *inner = copy.inner.lookup(original);
    return inner != nullptr ? inner : Constant::getNullValue(original->getType());
}

// All uses are collected before any is changed: a copy may leave behind two values in exchange.
static void join_values(shim_splice &splice)
{
    // A copy that leaves behind another value of the block uses it, which may need a phi as well.
    SmallVector<FreezeInst *, 8> stand_ins;
    for (Copy &copy : splice.kept)
        for (auto &[original, value] : copy.left)
            if (splice.places.count(value) != 0) {
                auto *stand_in =
                    new FreezeInst(value, "", copy.code->getTerminator()->getIterator());
                stand_ins.push_back(stand_in);
                value = stand_in;
            }
    SmallVector<std::pair<unsigned, SmallVector<Use *, 4>>, 16> found;
    for (unsigned i = 0; i < splice.size(); i++) {
        SmallVector<Use *, 4> uses;
        for (Use &use : splice.originals[i]->uses())
            if (cast<Instruction>(use.getUser())->getParent() != splice.originals[i]->getParent())
                uses.push_back(&use);
        if (!uses.empty() && !splice.originals[i]->getType()->isTokenTy())
            found.push_back({i, std::move(uses)});
    }
    for (auto &[place, uses] : found) {
        Instruction *original = splice.originals[place];
        SSAUpdater updater;
        updater.Initialize(original->getType(), original->getName());
        updater.AddAvailableValue(original->getParent(), original);
        bool differs = false;
        for (const Copy &copy : splice.kept)
            if (Value *value = value_behind(copy, original, place)) {
                updater.AddAvailableValue(copy.code, value);
                differs = true;
            }
        for (Use *use : uses)
            if (differs)
                updater.RewriteUse(*use);
    }
    for (FreezeInst *stand_in : stand_ins) {
        stand_in->replaceAllUsesWith(stand_in->getOperand(0));
        stand_in->eraseFromParent();
    }
}

void shim_splice_join(struct shim_splice *splice,
                      void (*mark)(void *data, const struct shim_mark *mark), void *data)
{
    if (splice->kept.empty())
        return;
    BasicBlock *body = splice->body;
    SmallVector<unsigned, 32> cuts;
    for (const Copy &copy : splice->kept) {
        cuts.push_back(copy.from);
        if (copy.until < splice->size())
            cuts.push_back(copy.until);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    DenseMap<unsigned, BasicBlock *> blocks, before;
    blocks[0] = body;
    before[0] = body->getSinglePredecessor();
    for (unsigned cut : reverse(cuts))
        if (cut != 0)
            blocks[cut] = body->splitBasicBlock(splice->originals[cut]);
    for (unsigned cut : cuts)
        if (cut != 0)
            before[cut] = blocks[cut]->getSinglePredecessor();
    for (Copy &copy : splice->kept)
        if (copy.until < splice->size())
            BranchInst::Create(blocks[copy.until], copy.code)
                ->setDebugLoc(splice->originals[copy.from]->getDebugLoc());
    for (unsigned cut : cuts) {
        SmallVector<LLVMBasicBlockRef, 8> targets;
        SmallVector<struct shim_mark_number, 8> numbers;
        for (Copy &copy : splice->kept) {
            if (copy.from != cut)
                continue;
            for (size_t number : copy.numbers)
                numbers.push_back({number, targets.size()});
            targets.push_back(wrap(copy.code));
        }
        if (targets.empty())
            continue;
        std::sort(numbers.begin(), numbers.end(),
                  [](auto &a, auto &b) { return a.number < b.number; });
        BasicBlock *next = blocks[cut];
        const struct shim_mark found = {wrap(before[cut]), wrap(next),     targets.data(),
                                        targets.size(),    numbers.data(), numbers.size()};
        mark(data, &found);
    }
    join_values(*splice);
}

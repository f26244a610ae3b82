// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the instructions of a fault of the source. A place in the source is a range of text; the
// instructions of that range must be a piece of code with one way in and one way out. Where that is
// not certain, there is no fault.
#include "mutate/pass/source.h"

#include <ctype.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

struct region {
    struct spots *spots;
    struct source_position begin, end;
    const struct spot *first, *last; // of the instructions in the range, in the order of the code
};

static bool is_before(uint32_t line, uint32_t column, struct source_position at)
{
    return line < at.line || (line == at.line && column < at.column);
}

static bool is_in_range(const struct region *region, const struct spot *spot)
{
    return spot->line != 0 && !is_before(spot->line, spot->column, region->begin) &&
           is_before(spot->line, spot->column, region->end);
}

// A branch has the place of the whole that it belongs to, and does nothing itself.
static bool is_branch(LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMBr || opcode == LLVMSwitch || opcode == LLVMUnreachable;
}

// The index of the first sorted instruction in the range.
static size_t lower_bound(const struct spots *spots, struct source_position at)
{
    size_t low = 0, high = spots->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct spot *spot = &spots->items[spots->sorted[middle]];
        if (is_before(spot->line, spot->column, at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Calls `found` for every instruction in the range.
static void each(const struct region *region, void (*found)(void *data, const struct spot *spot),
                 void *data)
{
    const struct spots *spots = region->spots;
    for (size_t i = lower_bound(spots, region->begin); i < spots->sorted_count; i++) {
        const struct spot *spot = &spots->items[spots->sorted[i]];
        if (!is_in_range(region, spot))
            break;
        found(data, spot);
    }
}

static void note_bounds(void *data, const struct spot *spot)
{
    struct region *region = data;
    if (is_branch(spot->instruction))
        return;
    if (region->first == NULL || spot < region->first)
        region->first = spot;
    if (region->last == NULL || spot > region->last)
        region->last = spot;
}

static struct region region_of(struct spots *spots, const struct source_row *row)
{
    struct region region = {.spots = spots, .begin = row->begin, .end = row->end};
    each(&region, note_bounds, &region);
    return region;
}

static const struct spot *spot_of(const struct spots *spots, LLVMValueRef instruction)
{
    uint32_t index = map_find(&spots->by_instruction, (uintptr_t)instruction);
    return index != MAP_NONE ? &spots->items[index] : NULL;
}

static const struct spot *first_of(const struct spots *spots, LLVMBasicBlockRef block)
{
    uint32_t index = map_find(&spots->by_block, (uintptr_t)block);
    return index != MAP_NONE ? &spots->items[index] : NULL;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

// ---- walks ----

// Whether an instruction may stand among others without a meaning of its own: it has no place, or
// it is about the life of a temporary, or it checks what the others do.
static bool is_neutral(const struct spot *spot)
{
    if (spot->line == 0 || is_branch(spot->instruction))
        return true;
    if (LLVMIsAIntrinsicInst(spot->instruction) != NULL) {
        size_t size;
        const char *name = LLVMGetValueName2(LLVMGetCalledValue(spot->instruction), &size);
        return has_prefix(name, "llvm.lifetime") || has_prefix(name, "llvm.dbg") ||
               has_prefix(name, "llvm.stack");
    }
    return fault_is_of_sanitizer(spot->instruction);
}

// Whether a block is where a sanitizer ends the program. Checks of the same kind share one.
static bool is_end_of_check(LLVMBasicBlockRef block)
{
    return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL &&
           fault_is_of_sanitizer(LLVMGetFirstInstruction(block));
}

// Whether a block belongs to the range: the first instruction that tells says so.
static bool belongs(const struct region *region, LLVMBasicBlockRef block)
{
    const struct spot *spot = first_of(region->spots, block);
    for (uint32_t number = spot->block;
         spot < region->spots->items + region->spots->count && spot->block == number; spot++)
        if (!is_neutral(spot))
            return is_in_range(region, spot);
    return false;
}

struct walk {
    struct region *region;
    const struct spot *stop;             // the walk ends here; or NULL
    ARRAY(LLVMBasicBlockRef) todo, been; // `been` without the first block
    ARRAY(LLVMBasicBlockRef) exits;      // blocks that do not belong to the range
    LLVMBasicBlockRef start;
    bool stopped, strange;
};

static void walk_deinit(struct walk *walk)
{
    ARRAY_DEINIT(&walk->todo);
    ARRAY_DEINIT(&walk->been);
    ARRAY_DEINIT(&walk->exits);
}

static void push(void *array, LLVMBasicBlockRef block)
{
    ARRAY(LLVMBasicBlockRef) *list = array;
    LLVMBasicBlockRef *slot = (LLVMBasicBlockRef *)array_add((void **)&list->items, &list->count,
                                                             &list->room, sizeof *list->items);
    if (slot == NULL)
        pass_must(error_no_memory());
    else
        *slot = block;
}

// Goes on to a block. With a place to stop, all blocks on the way belong to the range; without,
// those that do not are exits.
static void go_to(struct walk *walk, LLVMBasicBlockRef block)
{
    struct spots *spots = walk->region->spots;
    const struct spot *first = first_of(spots, block);
    if (is_end_of_check(block))
        return;
    if (block == walk->start) {
        walk->strange = true; // a loop
        return;
    }
    if (spots->seen[first->block] == spots->walk)
        return;
    spots->seen[first->block] = spots->walk;
    if (walk->stop == NULL && !belongs(walk->region, block)) {
        push(&walk->exits, block);
        return;
    }
    push(&walk->been, block);
    push(&walk->todo, block);
}

static void walk_block(struct walk *walk, const struct spot *spot)
{
    struct spots *spots = walk->region->spots;
    for (uint32_t number = spot->block; spot < spots->items + spots->count && spot->block == number;
         spot++) {
        if (spot == walk->stop) {
            walk->stopped = true;
            return;
        }
        if (!is_neutral(spot) && !is_in_range(walk->region, spot))
            walk->strange = true;
        LLVMOpcode opcode = LLVMGetInstructionOpcode(spot->instruction);
        if (opcode == LLVMRet || opcode == LLVMIndirectBr || opcode == LLVMCallBr ||
            opcode == LLVMResume)
            walk->strange = true;
        if (opcode == LLVMInvoke)
            go_to(walk, LLVMGetNormalDest(spot->instruction));
        else if (opcode == LLVMBr || opcode == LLVMSwitch)
            for (unsigned i = 0; i < LLVMGetNumSuccessors(spot->instruction); i++)
                go_to(walk, LLVMGetSuccessor(spot->instruction, i));
    }
}

// Whether all ways into the blocks of a walk come from the walk.
static bool has_one_way_in(const struct walk *walk)
{
    const struct spots *spots = walk->region->spots;
    for (size_t i = 0; i < walk->been.count; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(walk->been.items[i]));
             use != NULL; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (LLVMIsAInstruction(user) == NULL)
                return false; // a label whose address is known
            LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
            if (LLVMIsATerminatorInst(user) != NULL && from != walk->start &&
                spots->seen[first_of(spots, from)->block] != spots->walk)
                return false;
        }
    return true;
}

// Walks from the first instruction of a region. False if the code is not as it should be.
static bool walk_from(struct walk *walk)
{
    struct spots *spots = walk->region->spots;
    spots->walk++;
    walk->start = LLVMGetInstructionParent(walk->region->first->instruction);
    spots->seen[walk->region->first->block] = spots->walk;
    walk_block(walk, walk->region->first);
    while (walk->todo.count > 0 && !walk->strange)
        walk_block(walk, first_of(spots, walk->todo.items[--walk->todo.count]));
    return !walk->strange && has_one_way_in(walk);
}

// ---- statements ----

static bool was_walked(const struct walk *walk, const struct spot *spot)
{
    const struct spots *spots = walk->region->spots;
    if (spot == NULL || spots->seen[spot->block] != spots->walk)
        return false;
    bool begun = spot->block != walk->region->first->block || spot >= walk->region->first;
    bool ended = walk->stop != NULL && spot->block == walk->stop->block && spot >= walk->stop;
    return begun && !ended;
}

// Blocks that only exceptions lead to.
static bool is_for_exceptions(LLVMBasicBlockRef block)
{
    const char *name = LLVMGetBasicBlockName(block);
    return has_prefix(name, "lpad") || has_prefix(name, "eh") || has_prefix(name, "terminate") ||
           has_prefix(name, "catch") || has_prefix(name, "cleanup.done");
}

// Whether code after the region uses a value of it.
static bool leaks(const struct walk *walk, LLVMValueRef value)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAInstruction(user) != NULL &&
            !is_for_exceptions(LLVMGetInstructionParent(user)) &&
            !was_walked(walk, spot_of(walk->region->spots, user)))
            return true;
    }
    return false;
}

static bool is_temporary(LLVMValueRef value)
{
    size_t size;
    const char *name = LLVMIsAAllocaInst(value) != NULL ? LLVMGetValueName2(value, &size) : "";
    return has_prefix(name, "ref.tmp") || has_prefix(name, "agg.tmp") || has_prefix(name, "tmp") ||
           has_prefix(name, "cleanup.cond") || has_prefix(name, "cleanup.is") ||
           has_prefix(name, "temp");
}

// Whether the region stands alone: no value and no temporary object of it is used behind it.
static enum source_reason stands_alone(const struct walk *walk)
{
    const struct spots *spots = walk->region->spots;
    for (size_t i = 0; i <= walk->been.count; i++) {
        const struct spot *spot =
            i == 0 ? walk->region->first : first_of(spots, walk->been.items[i - 1]);
        for (uint32_t number = spot->block;
             spot < spots->items + spots->count && spot->block == number && spot != walk->stop;
             spot++) {
            if (leaks(walk, spot->instruction))
                return SOURCE_AMBIGUOUS;
            for (int j = 0; j < LLVMGetNumOperands(spot->instruction); j++) {
                LLVMValueRef operand = LLVMGetOperand(spot->instruction, (unsigned)j);
                if (is_temporary(operand) && leaks(walk, operand))
                    return SOURCE_TEMPORARY;
            }
        }
    }
    return SOURCE_FOUND;
}

static enum source_reason find_statements(struct region *region, struct pass_place *place)
{
    if (region->first == NULL)
        return SOURCE_NO_CODE;
    LLVMValueRef last = region->last->instruction;
    struct walk walk = {.region = region};
    if (LLVMGetInstructionOpcode(last) == LLVMInvoke)
        walk.stop = first_of(region->spots, LLVMGetNormalDest(last));
    else if (LLVMIsATerminatorInst(last) == NULL)
        walk.stop = region->last + 1;
    else
        return SOURCE_AMBIGUOUS; // a way out: the end of cleaning up after an exception
    if (LLVMGetInstructionOpcode(walk.stop->instruction) == LLVMUnreachable)
        return SOURCE_NO_RETURN;
    enum source_reason reason = SOURCE_AMBIGUOUS;
    if (LLVMGetInstructionOpcode(walk.stop->instruction) != LLVMPHI && walk_from(&walk))
        reason = walk.stopped ? stands_alone(&walk) : SOURCE_NO_RETURN;
    walk_deinit(&walk);
    place->instruction = region->first->instruction;
    place->resume = walk.stop->instruction;
    return reason;
}

// ---- conditions ----

static bool is_named(LLVMBasicBlockRef block, const char *name)
{
    const char *own = LLVMGetBasicBlockName(block);
    size_t size = strlen(name);
    if (strncmp(own, name, size) != 0)
        return false;
    for (own += size; isdigit((unsigned char)*own);)
        own++;
    return *own == '\0';
}

static void note_unseen(void *data, const struct spot *spot)
{
    struct walk *walk = data;
    if (!is_neutral(spot) && !was_walked(walk, spot))
        walk->strange = true;
}

// Where a block's own code begins; NULL if it begins with joined values.
static LLVMValueRef beginning_of(LLVMBasicBlockRef block)
{
    LLVMValueRef first = LLVMGetFirstInstruction(block);
    return LLVMIsAPHINode(first) == NULL ? first : NULL;
}

// The compiler names the blocks that a condition leads to after the statement it belongs to.
static enum source_reason find_if(struct region *region, const struct source_row *row,
                                  struct pass_place *place)
{
    static const char *const names[] = {
        [SOURCE_THEN] = "if.then", [SOURCE_PAST] = "if.end", [SOURCE_ELSE] = "if.else"};
    if (region->first == NULL)
        return SOURCE_NO_CODE;
    struct walk walk = {.region = region};
    LLVMBasicBlockRef target = NULL;
    bool sound = walk_from(&walk), then = false;
    each(region, note_unseen, &walk);
    for (size_t i = 0; i < walk.exits.count; i++) {
        if (is_named(walk.exits.items[i], names[row->how]))
            target = walk.exits.items[i];
        then |= is_named(walk.exits.items[i], "if.then");
    }
    sound &= !walk.strange && then && walk.exits.count == 2;
    bool none = walk.exits.count < 2;
    walk_deinit(&walk);
    if (!sound || target == NULL)
        return none ? SOURCE_NO_CODE : SOURCE_AMBIGUOUS;
    place->instruction = region->first->instruction;
    place->resume = beginning_of(target);
    return place->resume != NULL ? SOURCE_FOUND : SOURCE_AMBIGUOUS;
}

// The last operand of a condition that is computed as a value, not as branches.
static enum source_reason find_value(struct region *region, LLVMValueRef branch,
                                     struct pass_place *place)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(branch);
    LLVMValueRef join = LLVMGetFirstInstruction(LLVMGetSuccessor(branch, 0));
    if (LLVMIsAPHINode(join) == NULL || !fault_is_boolean(join))
        return SOURCE_AMBIGUOUS;
    LLVMValueRef value = NULL;
    for (unsigned i = 0; i < LLVMCountIncoming(join); i++)
        if (LLVMGetIncomingBlock(join, i) == block)
            value = LLVMGetIncomingValue(join, i);
    const struct spot *last = value != NULL ? spot_of(region->spots, value) : NULL;
    if (last == NULL || last->block != region->first->block || last < region->first)
        return SOURCE_VALUE;
    for (const struct spot *spot = region->first; spot <= last; spot++) {
        if (!is_neutral(spot) && !is_in_range(region, spot) && spot != last)
            return SOURCE_AMBIGUOUS;
        for (LLVMUseRef use = LLVMGetFirstUse(spot->instruction); use != NULL && spot != last;
             use = LLVMGetNextUse(use)) {
            const struct spot *user = spot_of(region->spots, LLVMGetUser(use));
            if (user == NULL || user->block != last->block || user > last)
                return SOURCE_AMBIGUOUS;
        }
    }
    place->instruction = region->first->instruction;
    place->value = value;
    return SOURCE_FOUND;
}

static enum source_reason find_clause(struct region *region, const struct source_row *row,
                                      struct pass_place *place)
{
    if (region->first == NULL)
        return SOURCE_NO_CODE;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(region->last->instruction);
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
    if (LLVMIsABranchInst(branch) == NULL)
        return SOURCE_AMBIGUOUS;
    if (!LLVMIsConditional(branch))
        return find_value(region, branch, place);
    struct walk walk = {.region = region};
    bool sound = walk_from(&walk);
    each(region, note_unseen, &walk);
    sound &= !walk.strange && walk.exits.count == 2;
    for (size_t i = 0; i < walk.exits.count; i++)
        sound &= walk.exits.items[i] == LLVMGetSuccessor(branch, 0) ||
                 walk.exits.items[i] == LLVMGetSuccessor(branch, 1);
    walk_deinit(&walk);
    if (!sound)
        return SOURCE_AMBIGUOUS;
    bool other = ((row->flags & SOURCE_OR) != 0) != ((row->flags & SOURCE_NEGATED) != 0);
    place->instruction = region->first->instruction;
    place->resume = beginning_of(LLVMGetSuccessor(branch, other ? 1 : 0));
    // A value that both ways lead to has no block of its own to go on in.
    return place->resume != NULL ? SOURCE_FOUND : SOURCE_VALUE;
}

// ---- single instructions ----

struct search {
    const char *name; // of a variable
    enum source_how how;
    LLVMValueRef found;
    unsigned count;
};

// Whether memory is that of a variable of this name: "x", "x.addr", "x5" if there are several.
static bool is_room(LLVMValueRef room, const char *name)
{
    size_t size;
    if (LLVMIsAAllocaInst(room) == NULL)
        return false;
    const char *own = LLVMGetValueName2(room, &size);
    if (!has_prefix(own, name))
        return false;
    own += strlen(name);
    own += has_prefix(own, ".addr") ? 5 : 0;
    while (isdigit((unsigned char)*own))
        own++;
    return *own == '\0';
}

static bool is_arithmetic(LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMAdd:
    case LLVMFAdd:
    case LLVMSub:
    case LLVMFSub:
    case LLVMMul:
    case LLVMFMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMFDiv:
    case LLVMURem:
    case LLVMSRem:
        return true;
    default:
        return false;
    }
}

static void note_match(void *data, const struct spot *spot)
{
    struct search *search = data;
    LLVMValueRef instruction = spot->instruction;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    bool match = false;
    if (search->how == SOURCE_OPERATOR)
        match = is_arithmetic(fault_operation(instruction));
    else if (search->how == SOURCE_VARIABLE)
        match = opcode == LLVMLoad && is_room(LLVMGetOperand(instruction, 0), search->name);
    else
        match = opcode == LLVMStore && is_room(LLVMGetOperand(instruction, 1), search->name);
    if (!match)
        return;
    search->found = instruction;
    search->count++;
}

// The only memory with a variable's name, or NULL.
static LLVMValueRef find_room(const struct spots *spots, const char *name)
{
    LLVMValueRef found = NULL;
    for (LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(spots->function));
         at != NULL; at = LLVMGetNextInstruction(at))
        if (is_room(at, name)) {
            if (found != NULL)
                return NULL;
            found = at;
        }
    return found;
}

static enum source_reason find_single(struct region *region, const struct source_rows *rows,
                                      const struct source_row *row, struct pass_place *place)
{
    struct search search = {.name = source_rows_text(rows, row->name), .how = row->how};
    each(region, note_match, &search);
    if (search.count != 1)
        return search.count == 0 ? SOURCE_NO_CODE : SOURCE_AMBIGUOUS;
    place->instruction = search.found;
    LLVMValueRef value = row->how == SOURCE_WRONG ? LLVMGetOperand(search.found, 0) : NULL;
    if (value != NULL && LLVMIsAConstantInt(value) == NULL)
        return SOURCE_AMBIGUOUS;
    // A truth value is a byte, as a character is.
    if ((row->flags & SOURCE_TYPELESS) != 0 && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 8)
        return SOURCE_AMBIGUOUS;
    if (row->how != SOURCE_VARIABLE)
        return SOURCE_FOUND;
    LLVMValueRef other = find_room(region->spots, source_rows_text(rows, row->other));
    size_t size;
    if (other == NULL || LLVMGetAllocatedType(other) != LLVMTypeOf(search.found))
        return SOURCE_ROOM;
    place->other = LLVMGetValueName2(other, &size);
    return SOURCE_FOUND;
}

enum source_reason spots_find(struct spots *spots, const struct source_rows *rows,
                              const struct source_row *row, struct pass_place *ret_place)
{
    *ret_place = (struct pass_place){.how = row->how, .flags = row->flags};
    if (row->reason != SOURCE_FOUND)
        return row->reason;
    struct region region = region_of(spots, row);
    switch (row->how) {
    case SOURCE_SKIP:
        return find_statements(&region, ret_place);
    case SOURCE_THEN:
    case SOURCE_PAST:
    case SOURCE_ELSE:
        return find_if(&region, row, ret_place);
    case SOURCE_CLAUSE:
        return find_clause(&region, row, ret_place);
    default:
        return find_single(&region, rows, row, ret_place);
    }
}

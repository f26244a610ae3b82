// SPDX-License-Identifier: GPL-3.0-or-later
// Adds execution counters: one per basic block of the program as it was written. A function and its
// twin share them. A section of its own describes the blocks. The constructor that maps a file over
// the counters is linked in as bitcode (counters-start.c).
#include "mutate/pass/pass.h"

#include "mutate/counts.h"
#include "mutate/pass/counters-start.h" // made: bitcode of counters-start.c
#include "mutate/pass/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

struct counted_block {
    LLVMBasicBlockRef block, twin; // twin NULL: there is none
};

struct pass_counters {
    ARRAY(struct counted_block) blocks;
    ARRAY(struct blocks_function) functions;
    ARRAY(struct blocks_block) rows;
    ARRAY(struct blocks_line) lines;
    struct buffer strings;
    char file[4096]; // the one named last, and where
    uint32_t file_offset;
    uint64_t key;
};

// ---- rows ----

static uint32_t intern_file(struct pass_counters *counters, const char *name, unsigned size)
{
    if (size >= sizeof counters->file)
        size = sizeof counters->file - 1;
    if (strlen(counters->file) == size && memcmp(counters->file, name, size) == 0)
        return counters->file_offset;
    memcpy(counters->file, name, size);
    counters->file[size] = '\0';
    for (size_t at = 0; at < counters->strings.size; at += strlen(counters->strings.data + at) + 1)
        if (strcmp(counters->strings.data + at, counters->file) == 0)
            return counters->file_offset = (uint32_t)at;
    counters->file_offset = (uint32_t)counters->strings.size;
    pass_must(buffer_append(&counters->strings, counters->file, size + 1));
    return counters->file_offset;
}

static void add_line(struct pass_counters *counters, LLVMValueRef instruction,
                     struct blocks_block *row)
{
    unsigned size = 0, line = LLVMGetDebugLocLine(instruction);
    const char *name = LLVMGetDebugLocFilename(instruction, &size);
    if (line == 0 || name == NULL || size == 0)
        return;
    const struct blocks_line wanted = {intern_file(counters, name, size), line};
    for (uint32_t i = 0; i < row->lines; i++)
        if (memcmp(&counters->lines.items[counters->lines.count - 1 - i], &wanted, sizeof wanted) ==
            0)
            return;
    struct blocks_line *added = ARRAY_ADD(&counters->lines);
    if (added == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *added = wanted;
    row->lines++;
}

static bool is_reachable(LLVMBasicBlockRef block, bool first)
{
    return first || LLVMGetFirstUse(LLVMBasicBlockAsValue(block)) != NULL ||
           shim_block_address_taken(block);
}

static void add_block(struct pass_counters *counters, LLVMBasicBlockRef block,
                      LLVMBasicBlockRef twin, bool first)
{
    struct counted_block *counted = ARRAY_ADD(&counters->blocks);
    struct blocks_block *row = ARRAY_ADD(&counters->rows);
    if (counted == NULL || row == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *counted = (struct counted_block){block, twin};
    if (!is_reachable(block, first))
        return;
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction != NULL;
         instruction = LLVMGetNextInstruction(instruction)) {
        // An alloca is no instruction that a machine executes.
        row->instructions +=
            LLVMIsAAllocaInst(instruction) == NULL && LLVMIsADbgInfoIntrinsic(instruction) == NULL;
        add_line(counters, instruction, row);
    }
    row->instructions += row->instructions == 0;
}

static void add_function(struct pass_counters *counters, const struct pass_function *subject)
{
    struct blocks_function *row = ARRAY_ADD(&counters->functions);
    if (row == NULL) {
        pass_must(error_no_memory());
        return;
    }
    row->id = subject->id;
    counters->key = pass_hash(counters->key, &row->id, sizeof row->id);
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(subject->function);
    LLVMBasicBlockRef twin = subject->twin != NULL ? LLVMGetFirstBasicBlock(subject->twin) : NULL;
    for (; block != NULL; block = LLVMGetNextBasicBlock(block), row->blocks++) {
        add_block(counters, block, twin, row->blocks == 0);
        twin = twin != NULL ? LLVMGetNextBasicBlock(twin) : NULL;
    }
}

struct pass_counters *pass_counters_new(struct pass *pass)
{
    struct pass_counters *counters = calloc(1, sizeof *counters);
    if (counters == NULL) {
        pass_must(error_no_memory());
        return NULL;
    }
    size_t size;
    counters->key = pass_hash_text(0xcbf29ce484222325u, LLVMGetSourceFileName(pass->module, &size));
    pass_must(buffer_append(&counters->strings, "", 1));
    for (size_t i = 0; i < pass->functions.count; i++)
        if (!pass->functions.items[i].skipped)
            add_function(counters, &pass->functions.items[i]);
    return counters;
}

void pass_counters_free(struct pass_counters *counters)
{
    if (counters == NULL)
        return;
    ARRAY_DEINIT(&counters->blocks);
    ARRAY_DEINIT(&counters->functions);
    ARRAY_DEINIT(&counters->rows);
    ARRAY_DEINIT(&counters->lines);
    buffer_deinit(&counters->strings);
    free(counters);
}

static void write_rows(struct pass *pass, struct pass_counters *counters)
{
    struct buffer blob = {0};
    pass_must(buffer_align(&counters->strings, 8));
    struct blocks_header header = {
        .magic = BLOCKS_MAGIC,
        .version = COUNTS_VERSION,
        .functions = (uint32_t)counters->functions.count,
        .blocks = (uint32_t)counters->rows.count,
        .lines = (uint32_t)counters->lines.count,
        .strings = (uint32_t)counters->strings.size,
        .key = counters->key,
    };
    pass_must(buffer_append(&blob, &header, sizeof header));
    pass_must(buffer_append(&blob, counters->functions.items,
                            counters->functions.count * sizeof *counters->functions.items));
    pass_must(buffer_append(&blob, counters->rows.items,
                            counters->rows.count * sizeof *counters->rows.items));
    pass_must(buffer_append(&blob, counters->lines.items,
                            counters->lines.count * sizeof *counters->lines.items));
    pass_must(buffer_append(&blob, counters->strings.data, counters->strings.size));
    header.size = (uint32_t)blob.size;
    memcpy(blob.data, &header, sizeof header);
    pass_write_section(pass, BLOCKS_SECTION, &blob);
    buffer_deinit(&blob);
}

// ---- counters ----

#define HEAD (sizeof(struct counts_header) / sizeof(uint64_t))

static LLVMValueRef add_counters(struct pass *pass, const struct pass_counters *counters)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    size_t bytes = sizeof(struct counts_header) + 8 * counters->rows.count;
    bytes = (bytes + COUNTS_PAGE - 1) / COUNTS_PAGE * COUNTS_PAGE;
    const struct counts_header header = {
        .magic = COUNTS_MAGIC,
        .version = COUNTS_VERSION,
        .size = bytes,
        .key = counters->key,
        .counters = counters->rows.count,
    };
    uint64_t words[HEAD];
    LLVMValueRef head[HEAD];
    memcpy(words, &header, sizeof header);
    for (size_t i = 0; i < HEAD; i++)
        head[i] = LLVMConstInt(word, words[i], false);
    LLVMValueRef parts[] = {
        LLVMConstArray2(word, head, HEAD),
        LLVMConstNull(LLVMArrayType2(word, bytes / 8 - HEAD)),
    };
    LLVMValueRef content = LLVMConstStructInContext(pass->context, parts, 2, false);
    LLVMValueRef global = LLVMAddGlobal(pass->module, LLVMTypeOf(content), "ordeal.counts");
    LLVMSetInitializer(global, content);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetAlignment(global, COUNTS_PAGE);
    LLVMSetSection(global, COUNTS_SECTION);
    shim_keep(pass->module, global, false);
    return global;
}

// After what must stand at the beginning of a block.
static LLVMValueRef first_place(LLVMBasicBlockRef block)
{
    LLVMValueRef at = LLVMGetFirstInstruction(block);
    while (at != NULL && (LLVMIsAPHINode(at) != NULL || LLVMIsALandingPadInst(at) != NULL ||
                          LLVMIsACatchPadInst(at) != NULL || LLVMIsACleanupPadInst(at) != NULL ||
                          LLVMIsAAllocaInst(at) != NULL || LLVMIsADbgInfoIntrinsic(at) != NULL))
        at = LLVMGetNextInstruction(at);
    return at;
}

// Adds 1 to a counter in memory. The access is not plain, since the optimiser would keep the sum of
// a loop in a register, and it were lost if the process dies there. It is not locked either, since
// that costs ten times as much.
static void count(struct pass *pass, LLVMBasicBlockRef block, LLVMValueRef counter)
{
    LLVMValueRef place = first_place(block);
    if (place == NULL)
        return;
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(pass->context);
    LLVMPositionBuilderBefore(builder, place);
    LLVMSetCurrentDebugLocation2(builder, NULL);
    LLVMValueRef value = LLVMBuildLoad2(builder, word, counter, "");
    LLVMValueRef more = LLVMBuildAdd(builder, value, LLVMConstInt(word, 1, false), "");
    LLVMValueRef back = LLVMBuildStore(builder, more, counter);
    LLVMValueRef accesses[] = {value, back};
    for (int i = 0; i < 2; i++) {
        LLVMSetOrdering(accesses[i], LLVMAtomicOrderingMonotonic);
        LLVMSetAlignment(accesses[i], 8);
        LLVMSetMetadata(
            accesses[i], LLVMGetMDKindIDInContext(pass->context, "nosanitize", 10),
            LLVMMetadataAsValue(pass->context, LLVMMDNodeInContext2(pass->context, NULL, 0)));
    }
    LLVMDisposeBuilder(builder);
}

// Removes attributes that promise that a function does not write to memory: now it does.
static void forget_promises(struct pass *pass)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        LLVMRemoveEnumAttributeAtIndex(subject->function, LLVMAttributeFunctionIndex, kind);
        if (subject->twin != NULL)
            LLVMRemoveEnumAttributeAtIndex(subject->twin, LLVMAttributeFunctionIndex, kind);
    }
}

void pass_counters_write(struct pass *pass, struct pass_counters *counters)
{
    if (counters == NULL || counters->rows.count == 0)
        return;
    LLVMTypeRef word = LLVMInt64TypeInContext(pass->context);
    LLVMValueRef global = add_counters(pass, counters);
    for (size_t i = 0; i < counters->blocks.count; i++) {
        if (counters->rows.items[i].instructions == 0)
            continue;
        LLVMValueRef index = LLVMConstInt(word, HEAD + i, false);
        LLVMValueRef counter = LLVMConstInBoundsGEP2(word, global, &index, 1);
        count(pass, counters->blocks.items[i].block, counter);
        if (counters->blocks.items[i].twin != NULL)
            count(pass, counters->blocks.items[i].twin, counter);
    }
    forget_promises(pass);
    write_rows(pass, counters);
    if (!shim_add_start(pass->module, (const char *)counters_start, sizeof counters_start,
                        "ordeal_counters_start"))
        pass_must(error_new("what the counters need at the start cannot be linked in"));
}

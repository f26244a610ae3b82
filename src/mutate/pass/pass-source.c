// SPDX-License-Identifier: GPL-3.0-or-later
// Puts the faults of the source among the candidates of a function, and prepares the code that is
// instrumented for them. Between the two the function may be copied: marks on instructions, which
// copies keep, tell which instruction is which.
#include "mutate/pass/source.h"

#include "mutate/pass/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESUME_MARK "ordeal.resume"
#define VALUE_MARK  "ordeal.value"

static unsigned mark_kind(const struct pass *pass, const char *name)
{
    return LLVMGetMDKindIDInContext(pass->context, name, (unsigned)strlen(name));
}

// ---- finding ----

static bool is_wanted(const struct pass *pass, uint32_t kind)
{
    for (size_t i = 0; i < pass->options.types.count; i++)
        if (pass->options.types.items[i] == &field_types[kind])
            return true;
    return false;
}

static uint32_t intern(struct pass *pass, const char *chars, size_t size)
{
    char text[4096];
    if (chars == NULL || size >= sizeof text)
        return 0;
    memcpy(text, chars, size);
    text[size] = '\0';
    return pass_intern(pass, text);
}

static void leave_out(struct pass *pass, struct pass_function *subject,
                      const struct source_row *row, enum source_reason reason)
{
    unsigned size = 0;
    const char *file =
        LLVMDIFileGetFilename(LLVMDIScopeGetFile(LLVMGetSubprogram(subject->function)), &size);
    struct pass_left_out *entry = ARRAY_ADD(&subject->left_out);
    if (entry == NULL) {
        pass_must(error_no_memory());
        return;
    }
    *entry = (struct pass_left_out){
        .kind = row->kind,
        .reason = reason,
        .file = intern(pass, file, size),
        .detail = pass_intern(pass, source_rows_text(pass->rows, row->detail)),
        .line = row->at.line,
        .column = row->at.column,
    };
}

static void add(struct pass *pass, struct pass_function *subject, struct shim_loops *loops,
                const struct spots *spots, const struct source_row *row,
                const struct pass_place *place)
{
    struct pass_candidate *candidate = ARRAY_ADD(&subject->candidates);
    uint32_t index = map_find(&spots->by_instruction, (uintptr_t)place->instruction);
    if (candidate == NULL || index == MAP_NONE) {
        pass_must(error_no_memory());
        return;
    }
    unsigned size = 0;
    const char *name = LLVMGetDebugLocFilename(place->instruction, &size);
    uint32_t file = intern(pass, name, size);
    *candidate = (struct pass_candidate){
        .type = &field_types[row->kind],
        .block = spots->items[index].block,
        .position = spots->items[index].position,
        .line = row->at.line,
        .column = row->at.column,
        .file = file,
        .detail = pass_intern(pass, source_rows_text(pass->rows, row->detail)),
        .macro = shim_is_macro(pass->strings.data + file, row->at.line, row->at.column),
        .loop_depth = shim_loop_depth(loops, LLVMGetInstructionParent(place->instruction)),
        .instruction = place->instruction,
        .place = *place,
    };
}

// In the order of the code; those of one instruction in the order of the table.
static int compare(const void *a, const void *b)
{
    const struct pass_candidate *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->type != y->type)
        return strcmp(x->type->name, y->type->name);
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

// Marks where the code goes on, and which values are replaced.
static void mark(const struct pass *pass, const struct pass_place *place)
{
    LLVMValueRef none =
        LLVMMetadataAsValue(pass->context, LLVMMDNodeInContext2(pass->context, NULL, 0));
    if (place->resume != NULL)
        LLVMSetMetadata(place->resume, mark_kind(pass, RESUME_MARK), none);
    if (place->value != NULL)
        LLVMSetMetadata(place->value, mark_kind(pass, VALUE_MARK), none);
}

static bool has_mark(LLVMValueRef instruction, unsigned kind)
{
    return LLVMGetMetadata(instruction, kind) != NULL;
}

// Gives every place where code goes on the number of its mark, in the order of the code.
static void number_marks(const struct pass *pass, struct pass_function *subject)
{
    struct map numbers = {0};
    unsigned kind = mark_kind(pass, RESUME_MARK);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(subject->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (has_mark(at, kind))
                pass_must(map_put(&numbers, (uintptr_t)at, (uint32_t)numbers.count));
    for (size_t i = 0; i < subject->candidates.count; i++) {
        struct pass_place *place = &subject->candidates.items[i].place;
        if (place->resume != NULL)
            place->number = map_find(&numbers, (uintptr_t)place->resume);
    }
    map_deinit(&numbers);
}

// A file that is included twice has the same faults in each of its functions of one name or place.
// Names tell functions apart where they are the same as in debug information, which names templates
// in another way.
struct own_rows {
    const char *name; // of the function; NULL: rows do not know it
    struct map seen;  // by hash
};

static struct own_rows own_rows_of(const struct source_rows *rows, const uint32_t *order,
                                   size_t count, LLVMMetadataRef program)
{
    const char *name = shim_subprogram_name(program);
    for (size_t i = 0; i < count; i++)
        if (strcmp(source_rows_text(rows, rows->items[order[i]].function_name), name) == 0)
            return (struct own_rows){.name = name};
    return (struct own_rows){0};
}

static bool is_own(struct own_rows *own, const struct source_rows *rows,
                   const struct source_row *row)
{
    if (own->name != NULL && strcmp(source_rows_text(rows, row->function_name), own->name) != 0)
        return false;
    if (row->reason != SOURCE_FOUND)
        return true;
    const uint32_t numbers[] = {row->kind, row->how, row->flags};
    const struct source_position places[] = {row->at, row->begin, row->end};
    uint64_t hash = pass_hash(0xcbf29ce484222325u, numbers, sizeof numbers);
    hash = pass_hash(hash, places, sizeof places);
    hash = pass_hash_text(hash, source_rows_text(rows, row->name));
    hash = pass_hash_text(hash, source_rows_text(rows, row->other));
    hash += hash == 0;
    if (map_find(&own->seen, hash) != MAP_NONE)
        return false;
    pass_must(map_put(&own->seen, hash, 0));
    return true;
}

void pass_find_in_source(struct pass *pass, struct pass_function *subject)
{
    LLVMMetadataRef program = LLVMGetSubprogram(subject->function);
    size_t count = 0, before = subject->candidates.count;
    if (pass->rows == NULL || program == NULL)
        return;
    const char *file = spots_path(program);
    const uint32_t *order =
        source_rows_of(pass->rows, file, LLVMDISubprogramGetLine(program), &count);
    if (count == 0) {
        pass->rows->lost |= !pass->rows->used && access(file, F_OK) != 0;
        return;
    }
    pass->rows->used = true;
    struct own_rows own = own_rows_of(pass->rows, order, count, program);
    struct spots spots;
    struct shim_loops *loops = shim_loops_new(subject->function);
    spots_read(&spots, subject->function, file);
    for (size_t i = 0; i < count; i++) {
        const struct source_row *row = &pass->rows->items[order[i]];
        struct pass_place place;
        if (!is_wanted(pass, row->kind) || !is_own(&own, pass->rows, row))
            continue;
        enum source_reason reason = spots_find(&spots, pass->rows, row, &place);
        if (reason == SOURCE_FOUND && pass_is_fixed(pass, place.instruction))
            reason = SOURCE_AMBIGUOUS;
        if (reason == SOURCE_FOUND)
            add(pass, subject, loops, &spots, row, &place);
        else
            leave_out(pass, subject, row, reason);
    }
    map_deinit(&own.seen);
    spots_deinit(&spots);
    shim_loops_free(loops);
    if (subject->candidates.count > before)
        qsort(subject->candidates.items, subject->candidates.count,
              sizeof *subject->candidates.items, compare);
    for (size_t i = 0; i < subject->candidates.count; i++)
        mark(pass, &subject->candidates.items[i].place);
    number_marks(pass, subject);
}

// ---- preparing ----

static void clear_marks(const struct pass *pass, LLVMValueRef function)
{
    unsigned resume = mark_kind(pass, RESUME_MARK), value = mark_kind(pass, VALUE_MARK);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at)) {
            LLVMSetMetadata(at, resume, NULL);
            LLVMSetMetadata(at, value, NULL);
        }
}

static bool has_places(const struct pass_function *subject)
{
    for (size_t i = 0; i < subject->candidates.count; i++)
        if (subject->candidates.items[i].place.instruction != NULL)
            return true;
    return false;
}

void pass_prepare_source(struct pass *pass, struct pass_function *subject, LLVMValueRef code)
{
    if (!has_places(subject))
        return;
    ARRAY(LLVMValueRef) marked = {0};
    unsigned resume = mark_kind(pass, RESUME_MARK);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(code); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at)) {
            LLVMValueRef *slot = has_mark(at, resume) ? ARRAY_ADD(&marked) : NULL;
            if (slot != NULL)
                *slot = at;
        }
    for (size_t i = 0; i < subject->candidates.count; i++) {
        struct pass_place *place = &subject->candidates.items[i].place;
        if (place->resume == NULL)
            continue;
        if (place->number >= marked.count)
            pass_must(error_new("a fault of the source has lost its place"));
        else
            place->target = shim_begin_block(marked.items[place->number]);
    }
    ARRAY_DEINIT(&marked);
    if (code != subject->function)
        clear_marks(pass, subject->function);
}

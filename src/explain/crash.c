// SPDX-License-Identifier: GPL-3.0-or-later
// What a crash did: which access, by which instruction or in which function of the C library, and
// from where the pointer was read.
#include "explain/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"

#include <string.h>

#define MOST_ARGUMENTS 4 // of a function of the C library

bool code_is_libc(const char *path)
{
    return frame_part_is_libc(frame_part(file_base_name(path)));
}

size_t code_own_frame(const struct code_places *frames)
{
    size_t number = 0;
    while (number < frames->items.count && (frames->items.items[number].module == NULL ||
                                            code_is_libc(frames->items.items[number].module)))
        number++;
    return number;
}

void bad_pointer_deinit(struct bad_pointer *pointer)
{
    for (size_t i = 0; i < pointer->places.count; i++)
        named_place_deinit(&pointer->places.items[i]);
    ARRAY_DEINIT(&pointer->places);
}

static struct error *add_place(struct bad_pointer *pointer, struct provenance provenance)
{
    struct named_place *place = provenance.known ? ARRAY_ADD(&pointer->places) : NULL;
    if (place == NULL)
        return provenance.known ? error_no_memory() : NULL;
    return named_place_make(pointer->code, provenance, place);
}

// A call that never came back: through a bad pointer, or of a function of the C library with one.
static struct error *find_passed(struct bad_pointer *pointer, uint64_t address, bool jumped)
{
    static const uint8_t arguments[MOST_ARGUMENTS] = {5, 4, 1, 2}; // rdi, rsi, rdx, rcx
    const struct flow_image *image = pointer->code->image;
    uint32_t block =
        jumped ? code_block_of_return(image, address) : code_library_call(image, address);
    if (block == FLOW_NONE)
        return NULL;
    uint32_t last = image->blocks.items[block].first + image->blocks.items[block].count - 1;
    const struct isa_insn *insn = &image->insns.items[last];
    pointer->address = flow_address(image, insn);
    if (jumped)
        return add_place(pointer, insn->src < ISA_REGISTERS
                                      ? provenance_of_register(image, block, last, insn->src)
                                      : provenance_of_operand(image, block, last));
    pointer->passed = true;
    for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
        TRY(add_place(pointer, provenance_of_register(image, block, last, arguments[i])));
    return NULL;
}

struct error *bad_pointer_find(struct explainer *explainer, const struct explain_crash *crash,
                               struct bad_pointer *ret_pointer)
{
    size_t number = code_own_frame(crash->frames);
    struct code *code = NULL;
    *ret_pointer = (struct bad_pointer){0};
    if (!crash->fault || number == crash->frames->items.count)
        return NULL;
    const struct code_place *frame = &crash->frames->items.items[number];
    TRY(code_find(explainer, frame->module, &code));
    ret_pointer->code = code;
    if (code == NULL)
        return NULL;
    if (number != 0)
        return find_passed(ret_pointer, frame->offset,
                           crash->frames->items.items[0].module == NULL);
    uint32_t block = code_block_at(code->image, frame->offset);
    uint32_t insn = flow_insn_at(code->image, frame->offset);
    if (block == FLOW_NONE || insn == FLOW_NONE)
        return NULL;
    const struct isa_insn *access = &code->image->insns.items[insn];
    ret_pointer->address = frame->offset;
    if ((access->flags & ISA_MEMORY) == 0 || access->base >= ISA_REGISTERS)
        return NULL;
    return add_place(ret_pointer, provenance_of_register(code->image, block, insn, access->base));
}

// ---- the consequence ----

static enum consequence_kind access_of(const struct isa_insn *insn)
{
    switch (insn->kind) {
    case ISA_STORE:
    case ISA_STORE_CONSTANT:
    case ISA_SET:
        return CONSEQUENCE_WRITES;
    case ISA_LOAD:
    case ISA_COMPARE:
    case ISA_TEST:
    case ISA_COMPARE_MEMORY:
    case ISA_SUBTRACT_MEMORY:
    case ISA_SELECT:
    case ISA_CALL_INDIRECT:
    case ISA_JUMP_INDIRECT:
        return CONSEQUENCE_READS;
    default:
        return CONSEQUENCE_ACCESSES;
    }
}

// Functions of the C library that only read what their arguments point to.
static bool only_reads(const char *name, size_t size)
{
    static const char *const functions[] = {
        "atof",        "atoi",    "atol",    "fputs",   "memchr",  "memcmp",  "puts",
        "strcasecmp",  "strchr",  "strcmp",  "strcoll", "strcspn", "strdup",  "strlen",
        "strncasecmp", "strncmp", "strndup", "strnlen", "strpbrk", "strrchr", "strspn",
        "strstr",      "strtod",  "strtol",  "strtoul"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i]) == size && memcmp(functions[i], name, size) == 0)
            return true;
    return false;
}

// Where the program called the function of the C library that did not come back, and which one, if
// that is known.
static struct error *set_called(struct explainer *explainer, const struct code_place *frame,
                                struct explanation *explanation,
                                struct store_consequence *consequence)
{
    struct code *code;
    size_t size = 0;
    TRY(code_find(explainer, frame->module, &code));
    uint32_t block = code != NULL ? code_library_call(code->image, frame->offset) : FLOW_NONE;
    if (block == FLOW_NONE)
        return code_set_place(explainer, frame->module, frame->offset, true, explanation,
                              consequence);
    const struct flow_block *call = &code->image->blocks.items[block];
    const char *name = code_callee_name(code->image, call->callee, &size);
    TRY(code_copy(explanation, name, size, &consequence->function));
    uint64_t address =
        flow_address(code->image, &code->image->insns.items[call->first + call->count - 1]);
    return code_set_place(explainer, frame->module, address, false, explanation, consequence);
}

// A frame of the C library that says by its name why the process ended.
static bool is_allocator(struct frame_part name)
{
    static const char *const functions[] = {
        "free",           "realloc",         "malloc",       "calloc",      "cfree",
        "_int_free",      "malloc_printerr", "_int_malloc",  "__libc_free", "__libc_malloc",
        "__libc_realloc", "__libc_calloc",   "munmap_chunk", "reallocarray"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (frame_part_is(name, functions[i]))
            return true;
    return false;
}

// The kind of an end that a process made itself, and the function of the C library that it called
// for that: the outermost of the C library's innermost frames.
static enum consequence_kind ended_by(const char *stack, struct frame_part *ret_function)
{
    enum consequence_kind kind = CONSEQUENCE_ABORTS;
    struct frame_text frame;
    *ret_function = (struct frame_part){0};
    while (stack != NULL && frame_text_next(&stack, &frame) && frame_part_is_libc(frame.module)) {
        if (frame.function.text == NULL)
            continue;
        *ret_function = frame.function;
        if (is_allocator(frame.function))
            kind = CONSEQUENCE_HEAP;
    }
    return kind;
}

static struct error *explain_end(struct explainer *explainer, const struct explain_crash *crash,
                                 size_t number, struct explanation *explanation)
{
    struct frame_part function;
    enum consequence_kind kind = ended_by(crash->stack, &function);
    struct store_consequence *end = explanation_add(explanation, kind);
    if (end == NULL)
        return error_no_memory();
    if (number < crash->frames->items.count) {
        const struct code_place *frame = &crash->frames->items.items[number];
        TRY(number != 0
                ? set_called(explainer, frame, explanation, end)
                : code_set_place(explainer, frame->module, frame->offset, false, explanation, end));
    }
    return end->function == NULL
               ? code_copy(explanation, function.text, function.size, &end->function)
               : NULL;
}

struct error *explain_crash(struct explainer *explainer, const struct explain_crash *crash,
                            struct explanation *explanation)
{
    size_t number = code_own_frame(crash->frames);
    const struct code_place *frames = crash->frames->items.items;
    if (crash->by_itself)
        return explain_end(explainer, crash, number, explanation);
    struct store_consequence *damage = explanation_add(explanation, CONSEQUENCE_ACCESSES);
    if (damage == NULL)
        return error_no_memory();
    damage->kind = crash->fault ? CONSEQUENCE_ACCESSES : CONSEQUENCE_DIES;
    damage->number = crash->fault ? (int64_t)crash->address : crash->signal;
    if (number == crash->frames->items.count)
        return NULL;
    if (crash->fault && number == 0) {
        struct code *code;
        TRY(code_find(explainer, frames[0].module, &code));
        uint32_t insn = code != NULL ? flow_insn_at(code->image, frames[0].offset) : FLOW_NONE;
        if (insn != FLOW_NONE)
            damage->kind = access_of(&code->image->insns.items[insn]);
    } else if (crash->fault && frames[0].module == NULL && frames[0].offset == crash->address) {
        damage->kind = CONSEQUENCE_JUMPS;
    } else if (number != 0) {
        TRY(set_called(explainer, &frames[number], explanation, damage));
        if (crash->fault && damage->function != NULL &&
            only_reads(damage->function, strlen(damage->function)))
            damage->kind = CONSEQUENCE_READS;
        return NULL;
    }
    return code_set_place(explainer, frames[number].module, frames[number].offset, number != 0,
                          explanation, damage);
}

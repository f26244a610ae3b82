// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the stack of a stopped task.
#include "tracer/stack.h"

#include "base/hash.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>

#define REGISTERS       17          // by DWARF number; the last one of x86-64 is the return address
#define DEEPEST         64          // values of an expression
#define SCANNED         (64u << 10) // bytes of stack that are looked through for a return address
#define SCANNED_FOR     8           // frames that are found that way
#define CODE_SEGMENT_32 0x23        // of Linux

// How a walk is going.
struct walk {
    struct address_space *space;
    const struct tracer_task *task;
    bool i386;
    uint64_t pc, registers[REGISTERS];
    uint64_t cfa;
    bool outermost; // the table says that nobody called this function
};

static unsigned stack_pointer(const struct walk *walk)
{
    return walk->i386 ? 4 : 7;
}

static unsigned word_size(const struct walk *walk)
{
    return walk->i386 ? 4 : 8;
}

static bool read_word(const struct walk *walk, uint64_t address, uint64_t *ret_word)
{
    *ret_word = 0;
    return tracer_read(walk->task, address, ret_word, word_size(walk)) == word_size(walk);
}

static void start(struct walk *walk, const struct user_regs_struct *r)
{
    const uint64_t native[REGISTERS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                                        r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                                        r->r12, r->r13, r->r14, r->r15, r->rip};
    const uint64_t old[REGISTERS] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp,
                                     r->rbp, r->rsi, r->rdi, r->rip};
    memcpy(walk->registers, walk->i386 ? old : native, sizeof walk->registers);
    for (unsigned i = 0; walk->i386 && i < REGISTERS; i++)
        walk->registers[i] = (uint32_t)walk->registers[i];
    walk->pc = walk->i386 ? (uint32_t)r->rip : r->rip;
}

static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *ret_value)
{
    switch (atom) {
    case DW_OP_plus:
        *ret_value = a + b;
        return true;
    case DW_OP_minus:
        *ret_value = a - b;
        return true;
    case DW_OP_and:
        *ret_value = a & b;
        return true;
    case DW_OP_shl:
        *ret_value = b < 64 ? a << b : 0;
        return true;
    case DW_OP_ge:
        *ret_value = (int64_t)a >= (int64_t)b;
        return true;
    default:
        return false;
    }
}

// A value that does not take others off. False: it is another operation, or needs what is not
// known.
static bool leaf(const struct walk *walk, const Dwarf_Op *op, uint64_t *ret_value)
{
    uint8_t atom = op->atom;
    uint64_t number = REGISTERS;
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        number = (uint64_t)atom - DW_OP_breg0;
    else if (atom == DW_OP_bregx)
        number = op->number;
    if (number < REGISTERS) {
        *ret_value = walk->registers[number] + (atom == DW_OP_bregx ? op->number2 : op->number);
        return true;
    }
    if (atom == DW_OP_call_frame_cfa) {
        *ret_value = walk->cfa;
        return true;
    }
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        *ret_value = atom - DW_OP_lit0;
        return true;
    }
    *ret_value = op->number;
    return (atom >= DW_OP_const1u && atom <= DW_OP_consts) || atom == DW_OP_addr;
}

// Expressions in unwind tables are short. What is not known here ends the walk.
static bool evaluate_expression(const struct walk *walk, const Dwarf_Op *ops, size_t count,
                                bool *ret_is_value, uint64_t *ret_value)
{
    uint64_t values[DEEPEST];
    size_t depth = 0;
    *ret_is_value = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        if (ops[i].atom == DW_OP_stack_value) {
            *ret_is_value = true;
        } else if (depth < DEEPEST && leaf(walk, &ops[i], &value)) {
            values[depth++] = value;
        } else if (ops[i].atom == DW_OP_plus_uconst && depth != 0) {
            values[depth - 1] += ops[i].number;
        } else if (ops[i].atom == DW_OP_deref && depth != 0) {
            if (!read_word(walk, values[depth - 1], &values[depth - 1]))
                return false;
        } else if (depth >= 2 &&
                   binary(ops[i].atom, values[depth - 2], values[depth - 1], &value)) {
            values[--depth - 1] = value;
        } else {
            return false;
        }
    }
    *ret_value = depth != 0 ? values[depth - 1] : 0;
    return depth != 0;
}

// What a register had in the caller. False: that is not known.
static bool restore(const struct walk *walk, Dwarf_Frame *frame, int number, uint64_t *ret_value)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool is_value;
    if (dwarf_frame_register(frame, number, memory, &ops, &count) < 0)
        return false;
    if (count == 0) { // unchanged, if there is no list; otherwise undefined
        *ret_value = walk->registers[number];
        return ops == NULL;
    }
    uint64_t value;
    if (!evaluate_expression(walk, ops, count, &is_value, &value))
        return false;
    if (is_value) {
        *ret_value = value;
        return true;
    }
    return read_word(walk, value, ret_value);
}

static bool is_undefined(Dwarf_Frame *frame, int number)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    return dwarf_frame_register(frame, number, memory, &ops, &count) == 0 && count == 0 &&
           ops != NULL;
}

// By .eh_frame.
static bool step_by_table(struct walk *walk, const struct code_mapping *mapping)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    bool is_value, signal;
    struct walk next = *walk;
    if (mapping->code->unwind_table == NULL ||
        dwarf_cfi_addrframe(mapping->code->unwind_table, walk->pc - 1 - mapping->bias, &frame) != 0)
        return false;
    int return_register = dwarf_frame_info(frame, NULL, NULL, &signal);
    bool known = return_register >= 0 && return_register < REGISTERS &&
                 dwarf_frame_cfa(frame, &ops, &count) == 0 && count != 0 &&
                 evaluate_expression(walk, ops, count, &is_value, &walk->cfa);
    walk->outermost = known && is_undefined(frame, return_register);
    known = known && restore(walk, frame, return_register, &next.pc);
    for (int i = 0; known && i < return_register; i++)
        if (!restore(walk, frame, i, &next.registers[i]))
            next.registers[i] = 0;
    free(frame);
    if (!known || walk->cfa <= walk->registers[stack_pointer(walk)])
        return false;
    next.registers[stack_pointer(walk)] = walk->cfa;
    *walk = next;
    return true;
}

// By the tables of Go, which know the size of each frame. The stack is another one above functions
// that switch stacks.
static bool step_by_go(struct walk *walk, const struct code_mapping *mapping,
                       const struct go_function *function)
{
    static const char *const switching[] = {"runtime.systemstack", "runtime.mcall",
                                            "runtime.asmcgocall", "runtime.goexit",
                                            "runtime.mstart"};
    int64_t size;
    uint64_t *sp = &walk->registers[stack_pointer(walk)];
    for (size_t i = 0; i < sizeof switching / sizeof *switching; i++)
        if (strncmp(function->name, switching[i], strlen(switching[i])) == 0)
            return false;
    if (!go_table_frame(&mapping->code->go, function, walk->pc - 1 - mapping->bias, &size) ||
        !read_word(walk, *sp + (uint64_t)size, &walk->pc))
        return false;
    *sp += (uint64_t)size + word_size(walk);
    return true;
}

// Whether an instruction that calls stands before an address.
static bool follows_call(const struct walk *walk, uint64_t address)
{
    unsigned char code[7];
    if (tracer_read(walk->task, address - sizeof code, code, sizeof code) != sizeof code)
        return false;
    if (code[2] == 0xe8) // call relative
        return true;
    for (unsigned i = 0; i + 1 < sizeof code; i++) // call by register or memory
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10) {
            unsigned mode = code[i + 1] >> 6, base = code[i + 1] & 7;
            unsigned size = 2 + (base == 4 && mode != 3) +
                            (mode == 1                ? 1u
                             : mode == 2              ? 4u
                             : mode == 0 && base == 5 ? 4u
                                                      : 0u);
            if (i + size == sizeof code)
                return true;
        }
    return false;
}

// Code without any table, such as that of musl: the next word on the stack that looks like a return
// address.
static bool step_by_scan(struct walk *walk)
{
    unsigned width = word_size(walk);
    uint64_t *sp = &walk->registers[stack_pointer(walk)];
    for (uint64_t at = *sp; at < *sp + SCANNED; at += width) {
        uint64_t word;
        if (!read_word(walk, at, &word))
            return false;
        bool code = false;
        for (size_t i = 0; i < walk->space->mappings.count && !code; i++)
            code = word > walk->space->mappings.items[i].start &&
                   word < walk->space->mappings.items[i].end;
        if (!code || !follows_call(walk, word))
            continue;
        walk->pc = word;
        *sp = at + width;
        return true;
    }
    return false;
}

static const char *go_name(const struct stack_frame *frame, struct go_function *function)
{
    if (frame->code == NULL || !frame->code->is_go ||
        !go_table_find(&frame->code->go, frame->offset - 1, function))
        return NULL;
    return function->name;
}

static void walk_frames(struct walk *walk, struct stack *stack)
{
    unsigned scanned = 0;
    while (stack->count < STACK_FRAMES) {
        const struct code_mapping *mapping = address_space_find(walk->space, walk->task, walk->pc);
        if (mapping == NULL)
            break;
        struct stack_frame *frame = &stack->frames[stack->count++];
        *frame = (struct stack_frame){
            .address = walk->pc, .code = mapping->code, .offset = walk->pc - mapping->bias};
        struct go_function function;
        if (go_name(frame, &function) != NULL) {
            if (step_by_go(walk, mapping, &function))
                continue;
            stack->finished = true;
            return;
        }
        bool stepped = step_by_table(walk, mapping);
        stack->finished = walk->outermost || (stepped && walk->pc == 0);
        if (stack->finished)
            return;
        if (stepped)
            continue;
        frame->guessed = true;
        if (scanned++ >= SCANNED_FOR || !step_by_scan(walk))
            return;
    }
}

// Which frame of a Go program called the library, and whether its runtime did.
static void blame_go(struct stack *stack)
{
    unsigned outside = 0;
    struct go_function function;
    enum go_part part = GO_CALLS;
    for (; outside < stack->count; outside++) {
        const char *name = go_name(&stack->frames[outside], &function);
        part = name != NULL ? go_part_of(name) : GO_PROGRAM;
        if (part != GO_CALLS)
            break;
    }
    bool below = outside != 0; // packages that make calls for others are between
    const char *first = below ? go_name(&stack->frames[outside - 1], &function) : NULL;
    bool inner = first != NULL && (strncmp(first, "internal/runtime/", 17) == 0 ||
                                   strncmp(first, "runtime/internal/", 17) == 0);
    stack->of_runtime = part == GO_RUNTIME && (!below || inner);
    stack->site = outside < stack->count ? outside : 0;
    for (unsigned i = outside; i < stack->count && !stack->of_runtime; i++) {
        const char *name = go_name(&stack->frames[i], &function);
        if (name != NULL && go_part_of(name) == GO_PROGRAM) {
            stack->site = i;
            return;
        }
    }
}

// The first frame behind the wrapper of the call; of a program that is linked dynamically, the
// first one outside of the C library. A C library without tables is left where there are some.
static void blame(struct stack *stack)
{
    unsigned at = 0;
    while (at < stack->count && stack->frames[at].code->loads)
        at++;
    stack->loading = at == stack->count;
    if (at == 0 && stack->count > 1)
        at = 1;
    if (at < stack->count && stack->frames[0].guessed) {
        unsigned table = at;
        while (table < stack->count && stack->frames[table].guessed)
            table++;
        at = table < stack->count ? table : at;
    }
    stack->site = at < stack->count ? at : 0;
}

void stack_read(struct address_space *space, const struct tracer_task *task,
                struct stack *ret_stack)
{
    struct walk walk = {.space = space, .task = task};
    struct user_regs_struct registers;
    *ret_stack = (struct stack){0};
    if (!tracer_get_registers(task, &registers))
        return;
    walk.i386 = registers.cs == CODE_SEGMENT_32;
    start(&walk, &registers);
    walk_frames(&walk, ret_stack);
    struct go_function function;
    if (ret_stack->count != 0 && go_name(&ret_stack->frames[0], &function) != NULL)
        blame_go(ret_stack);
    else
        blame(ret_stack);
}

bool stack_find_panic(struct stack *stack, bool *ret_error)
{
    struct go_function function;
    bool found = false;
    for (unsigned i = 0; i < stack->count; i++) {
        const char *name = go_name(&stack->frames[i], &function);
        if (name != NULL && strcmp(name, "runtime.gopanic") == 0) {
            const char *by =
                i + 1 < stack->count ? go_name(&stack->frames[i + 1], &function) : NULL;
            *ret_error = by != NULL && go_part_of(by) == GO_RUNTIME;
            stack->site = i;
            found = true;
        } else if (name != NULL && strcmp(name, "runtime.throw") == 0) {
            *ret_error = true;
            stack->site = i;
            found = true;
        }
    }
    while (found && *ret_error && stack->site + 1 < stack->count) {
        const char *name = go_name(&stack->frames[stack->site], &function);
        if (name == NULL || go_part_of(name) != GO_RUNTIME)
            break;
        stack->site++;
    }
    return found;
}

uint64_t stack_hash(const struct stack *stack)
{
    uint64_t hash = 1;
    for (unsigned i = stack->site; i < stack->count; i++) {
        const struct stack_frame *frame = &stack->frames[i];
        hash = hash_mix(hash, hash_text(frame->code->path != NULL ? frame->code->path : ""));
        hash = hash_mix(hash, frame->offset);
    }
    return hash | 1;
}

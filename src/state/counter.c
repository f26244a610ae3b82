// SPDX-License-Identifier: GPL-3.0-or-later
// The stub that counts. A jump to it takes five bytes, so it replaces some instructions around the
// stop address, all of one block: nothing jumps between them. The stub leaves the 128 bytes below
// the stack pointer alone, which belong to the function, and does not change the flags.
#include "state/program.h"

#include "isa/relocate.h"

#include <string.h>

#define JUMP_SIZE 5

#define LEAVE_RED_ZONE 0x48, 0x8d, 0x64, 0x24, 0x80                   // lea rsp, [rsp - 128]
#define ENTER_RED_ZONE 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00 // lea rsp, [rsp + 128]

// How a stub counts. Each piece but the last ends with a displacement to the counter.
struct counting {
    unsigned char pieces[WIRE_STATE_USES + 1][16];
    uint8_t sizes[WIRE_STATE_USES + 1];
    uint8_t uses;
    unsigned char end[16];
    uint8_t end_size;
};

// No instruction changes flags, so none are saved.
static const struct counting alone = {
    .pieces = {{LEAVE_RED_ZONE, 0x51, 0x48, 0x8b, 0x0d},   // push rcx; mov rcx, [rip + ...]
               {0x48, 0x8d, 0x49, 0xff, 0x48, 0x89, 0x0d}, // lea rcx, [rcx - 1]; mov [...], rcx
               {0xe3}},                                    // jrcxz
    .sizes = {9, 7, 1},
    .uses = 2,
    .end = {0x59, ENTER_RED_ZONE}, // pop rcx
    .end_size = 9,
};
static const struct counting shared = {
    .pieces = {{LEAVE_RED_ZONE, 0x9c, 0xf0, 0x48, 0xff,
                0x0d}, // pushfq; lock dec qword [rip + ...]
                       // jle, not jz: others come here until the tracer has heard of the one that
                       // was meant
               {0x7e}},
    .sizes = {10, 1},
    .uses = 1,
    .end = {0x9d, ENTER_RED_ZONE}, // popfq
    .end_size = 9,
};

struct window { // of instructions, by index
    uint32_t first, end;
};

static bool append(struct wire_state_counter *counter, const void *bytes, size_t size)
{
    if (counter->size + size > sizeof counter->code)
        return false;
    memcpy(counter->code + counter->size, bytes, size);
    counter->size += (uint32_t)size;
    return true;
}

static bool append_copy(const struct state_program *program, uint32_t index,
                        struct wire_state_counter *counter)
{
    const struct isa_insn *insn = &program->image->insns.items[index];
    struct isa_decoder decoder;
    struct isa_relocated copy;
    size_t size;
    const unsigned char *code = state_program_code(program, insn, &size);
    isa_decoder_init(&decoder);
    if (code == NULL ||
        !isa_relocate(&decoder, code, size, flow_address(program->image, insn), &copy))
        return false;
    if (copy.displacement != 0) {
        if (counter->fixup_count == WIRE_STATE_FIXUPS)
            return false;
        counter->fixups[counter->fixup_count++] = (struct wire_state_fixup){
            .at = counter->size + (uint32_t)copy.displacement,
            .end = counter->size + (uint32_t)copy.size,
            .target = copy.target,
        };
    }
    return append(counter, copy.bytes, copy.size);
}

static bool append_jump(struct wire_state_counter *counter, uint64_t target)
{
    const unsigned char jump[JUMP_SIZE] = {0xe9};
    if (counter->fixup_count == WIRE_STATE_FIXUPS)
        return false;
    counter->fixups[counter->fixup_count++] = (struct wire_state_fixup){
        .at = counter->size + 1, .end = counter->size + JUMP_SIZE, .target = target};
    return append(counter, jump, sizeof jump);
}

static bool append_count(const struct counting *counting, struct wire_state_counter *counter,
                         uint32_t *ret_branch)
{
    const unsigned char distance[4] = {0};
    for (uint32_t i = 0; i <= counting->uses; i++) {
        if (!append(counter, counting->pieces[i], counting->sizes[i]))
            return false;
        if (i == counting->uses)
            break;
        counter->uses[i] = counter->size;
        if (!append(counter, distance, sizeof distance))
            return false;
        counter->use_ends[i] = counter->size;
    }
    counter->use_count = counting->uses;
    if (!append(counter, distance, 1))
        return false;
    *ret_branch = counter->size;
    return append(counter, counting->end, counting->end_size);
}

static bool make(const struct state_program *program, struct window window, uint32_t stop,
                 const struct counting *counting, struct wire_state_counter *counter)
{
    const struct flow_image *image = program->image;
    const struct isa_insn *last = &image->insns.items[window.end - 1];
    const unsigned char breakpoint = 0xcc;
    uint32_t branch = 0;
    counter->start = flow_address(image, &image->insns.items[window.first]);
    counter->end = flow_address(image, last) + last->length;
    for (uint32_t i = window.first; i < window.end; i++) {
        if (i == stop && !append_count(counting, counter, &branch))
            return false;
        if (!append_copy(program, i, counter))
            return false;
    }
    if (!append_jump(counter, counter->end) || counter->size - branch > 127)
        return false;
    counter->code[branch - 1] = (unsigned char)(counter->size - branch);
    if (!append(counter, counting->end, counting->end_size))
        return false;
    counter->trap = counter->size;
    return append(counter, &breakpoint, 1);
}

static const struct flow_block *block_of(const struct flow_image *image, uint32_t insn)
{
    for (size_t i = 0; i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        if (insn >= block->first && insn - block->first < block->count)
            return block;
    }
    return NULL;
}

static uint32_t bytes_of(const struct flow_image *image, struct window window)
{
    uint32_t size = 0;
    for (uint32_t i = window.first; i < window.end; i++)
        size += image->insns.items[i].length;
    return size;
}

void state_program_make_counters(const struct state_program *program, uint32_t insn,
                                 struct wire_state_fault *fault)
{
    const struct flow_image *image = program->image;
    const struct flow_block *block = block_of(image, insn);
    if (block == NULL)
        return;
    uint32_t end = block->first + block->count;
    // First what follows the stop address, then also what comes before it.
    for (uint32_t first = insn + 1; first-- > block->first;) {
        struct window window = {first, insn + 1};
        while (window.end < end && bytes_of(image, window) < JUMP_SIZE)
            window.end++;
        struct wire_state_counter single = {0}, several = {0};
        if (bytes_of(image, window) < JUMP_SIZE || !make(program, window, insn, &alone, &single) ||
            !make(program, window, insn, &shared, &several))
            continue;
        fault->counter = single;
        fault->shared_counter = several;
        return;
    }
}

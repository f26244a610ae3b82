// SPDX-License-Identifier: GPL-3.0-or-later
// Call stacks: walks from the intercepted call outwards. A frame whose row is cached costs one
// look-up.
#include "runtime/unwind.h"

#include "runtime/assembly/stubs.h"
#include "runtime/call.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/fcntl.h>

// Which memory around sp is a stack and may be read without a probe.

// Reads /proc/self/maps through a small buffer: the current stack may be small.
struct mapping_reader {
    long file;
    uint32_t at, size;
    char window[64];
};

static int next_character(struct mapping_reader *reader)
{
    if (reader->at == reader->size) {
        long size = SYSTEM_3(__NR_read, reader->file, reader->window, sizeof reader->window);
        if (size <= 0)
            return -1;
        reader->size = (uint32_t)size;
        reader->at = 0;
    }
    return (unsigned char)reader->window[reader->at++];
}

static uint64_t next_address(struct mapping_reader *reader, int *ret_after)
{
    uint64_t value = 0;
    for (;;) {
        int c = next_character(reader);
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f')) {
            *ret_after = c;
            return value;
        }
        value = value * 16 + (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
}

__attribute__((noinline)) bool find_mapping(uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    struct mapping_reader reader;
    int after = 0;
    bool found = false;
    reader.file = SYSTEM_3(__NR_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    reader.at = reader.size = 0;
    if (system_failed(reader.file))
        return false;
    while (!found && after >= 0) {
        *ret_low = next_address(&reader, &after);
        *ret_high = next_address(&reader, &after);
        found = *ret_low <= address && address < *ret_high;
        while (after >= 0 && after != '\n')
            after = next_character(&reader);
    }
    SYSTEM_1(__NR_close, reader.file);
    return found;
}

// A thread's own stack lies below its control block and lives as long as the thread. Any other
// stack (coroutines, signal stacks) may go or shrink, so only the page in use is safe.
static void find_stack(struct walk *walk)
{
    struct thread *self = thread_self();
    if (walk->sp < runtime.stack_top && walk->sp > runtime.stack_top - WALK_REACH) {
        walk->stack_low = walk->sp;
        walk->stack_high = runtime.stack_top;
        return;
    }
    if (self->start_sp != 0 && self->stack_high == 0) {
        uint64_t low = 0, high = 0, block;
        __asm__("mov %%fs:0x10, %0" : "=r"(block));
        bool known =
            find_mapping(self->start_sp, &low, &high) && block > self->start_sp && block < high;
        self->stack_low = known ? low : 1;
        self->stack_high = known ? block : 1;
    }
    if (self->stack_low <= walk->sp && walk->sp < self->stack_high) {
        walk->stack_low = walk->sp;
        walk->stack_high = self->stack_high;
        return;
    }
    walk->stack_low = walk->sp;
    walk->stack_high = (walk->sp | 4095) + 1;
}

void walk_start(struct walk *walk, const struct call_frame *frame)
{
    walk->pc = frame->return_address;
    walk->sp = (uint64_t)frame->stack;
    walk->registers[RBX] = frame->rbx;
    walk->registers[RBP] = frame->rbp;
    walk->registers[R12] = frame->r12;
    walk->registers[R13] = frame->r13;
    walk->registers[R14] = frame->r14;
    walk->registers[R15] = frame->r15;
    walk->exact = false;
    walk->finished = false;
    find_stack(walk);
}

static bool walk_load(const struct walk *walk, uint64_t address, uint64_t *ret_value)
{
    if (address >= walk->stack_low && address < walk->stack_high &&
        walk->stack_high - address >= 8 && address % 8 == 0) {
        *ret_value = *(const uint64_t *)address;
        return true;
    }
    return system_peek((const void *)address, ret_value, 8);
}

static struct row walk_row(const struct walk *walk)
{
    // A return address may lie just past a call that never returns.
    return unwind_row(walk->exact ? walk->pc : walk->pc - 1);
}

static bool row_cfa(const struct row *row, const struct walk *walk, uint64_t *ret_cfa)
{
    if (row->flags != ROW_VALID)
        return false;
    uint64_t base = row->cfa_base == ROW_ON_STACK ? walk->sp : walk->registers[row->cfa_base];
    *ret_cfa = base + (uint64_t)(int64_t)row->cfa_offset;
    return true;
}

bool walk_cfa(struct walk *walk, uint64_t *ret_cfa)
{
    struct row row = walk_row(walk);
    return row_cfa(&row, walk, ret_cfa);
}

// The interrupted registers are in the ucontext at sp.
static bool walk_signal_frame(struct walk *walk)
{
    static const unsigned char at[SAVED] = {11, 10, 4, 5, 6, 7};
    const uint64_t registers = walk->sp + 40;
    for (int i = 0; i < SAVED; i++)
        if (!walk_load(walk, registers + 8u * at[i], &walk->registers[i]))
            return false;
    uint64_t sp;
    if (!walk_load(walk, registers + 8 * 15, &sp) ||
        !walk_load(walk, registers + 8 * 16, &walk->pc))
        return false;
    walk->sp = sp;
    walk->exact = true;
    if (sp < walk->stack_low || sp >= walk->stack_high)
        find_stack(walk);
    return walk->pc != 0;
}

bool walk_interrupted(struct walk *walk, const void *context)
{
    walk->sp = (uint64_t)context;
    walk->pc = 1;
    walk->finished = false;
    walk->stack_low = walk->stack_high = 0;
    if (!walk_signal_frame(walk) && walk->pc != 0)
        return false;
    walk->stack_low = walk->stack_high = 0;
    return true;
}

// Whether the code before an address is a call.
static bool follows_call(uint64_t pc)
{
    unsigned char code[7];
    if (!system_peek((const void *)(pc - sizeof code), code, sizeof code))
        return false;
    if (code[2] == 0xe8)
        return true;
    // ff /2: by a register, or by a word in memory, whose address has up to five bytes more.
    for (unsigned at = 0; at < sizeof code - 1; at++) {
        unsigned mode = code[at + 1] >> 6, place = code[at + 1] & 7;
        unsigned size = 2 + (mode != 3 && place == 4) + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
        size += mode == 0 && place == 5 ? 4 : 0;
        if (code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2 && at + size == sizeof code)
            return true;
    }
    return false;
}

static bool is_program_entry(uint64_t pc)
{
    const uint64_t longest = 64; // where the program's first code ends is not known
    return pc - 1 - auxiliary_value(AT_ENTRY) < longest;
}

// A step by the frame pointer, if that leads to a frame of this stack that made a call.
__attribute__((noinline)) static bool walk_by_guess(struct walk *walk)
{
    uint64_t rbp = walk->registers[RBP], outer, pc;
    if (rbp == 0 && is_program_entry(walk->pc)) {
        walk->finished = true;
        return false;
    }
    if (rbp < walk->sp || rbp - walk->sp > WALK_REACH || rbp % 8 != 0 ||
        !walk_load(walk, rbp, &outer) || !walk_load(walk, rbp + 8, &pc) || !follows_call(pc))
        return false;
    walk->registers[RBP] = outer;
    walk->pc = pc;
    walk->sp = rbp + 16;
    walk->exact = false;
    return true;
}

static bool walk_slowly(struct walk *walk)
{
    struct row row = walk_row(walk);
    uint64_t cfa, pc;
    if (row.flags == (ROW_VALID | ROW_SIGNAL))
        return walk_signal_frame(walk);
    if (row.flags == (ROW_VALID | ROW_GUESSED))
        return walk_by_guess(walk);
    walk->finished = row.flags == (ROW_VALID | ROW_END);
    if (!row_cfa(&row, walk, &cfa) || cfa <= walk->sp || !walk_load(walk, cfa - 8, &pc))
        return false;
    walk->finished = pc == 0;
    if (pc == 0)
        return false;
    for (int i = 0; i < SAVED; i++)
        if ((row.saved_mask >> i & 1) != 0 &&
            !walk_load(walk, cfa + (uint64_t)(int64_t)row.saved[i], &walk->registers[i]))
            return false;
    walk->pc = pc;
    walk->sp = cfa;
    walk->exact = false;
    return true;
}

// The common step, in a handful of loads: the row is cached, and everything is on the known stack.
bool walk_next(struct walk *walk)
{
    uint64_t at = walk->pc - !walk->exact;
    const struct cached_row *cached = unwind_entry(at);
    const struct row *row = &cached->row;
    uint64_t cfa;
    if (atomic_load(&cached->pc) != at || !row_cfa(row, walk, &cfa))
        return walk_slowly(walk);
    // Saved registers lie between the frame's stack pointer and its CFA.
    if (cfa <= walk->sp || cfa > walk->stack_high || walk->sp < walk->stack_low || cfa % 8 != 0)
        return walk_slowly(walk);
    uint64_t pc = *(const uint64_t *)(cfa - 8);
    uint64_t registers[SAVED];
    unsigned mask = row->saved_mask;
    for (unsigned left = mask; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        uint64_t address = cfa + (uint64_t)(int64_t)row->saved[i];
        if (address < walk->stack_low || address + 8 > walk->stack_high)
            return walk_slowly(walk);
        registers[i] = *(const uint64_t *)address;
    }
    __asm__ volatile("" ::: "memory");
    if (atomic_load(&cached->pc) != at)
        return walk_slowly(walk); // replaced while we read it
    for (unsigned left = mask; left != 0; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        walk->registers[i] = registers[i];
    }
    walk->pc = pc;
    walk->sp = cfa;
    walk->exact = false;
    walk->finished = pc == 0;
    return pc != 0;
}

uint32_t stack_collect(const struct call *call, uint64_t pcs[WIRE_FRAMES])
{
    struct last_walk *last = last_walk_take(call);
    if (last == NULL)
        return walk_collect(call->frame, pcs, WIRE_FRAMES);
    uint32_t count = last->count;
    for (uint32_t i = 0; i < count; i++)
        pcs[i] = last->frames[i].pc;
    last_walk_leave(last);
    return count;
}

uint32_t walk_collect(const struct call_frame *frame, uint64_t *pcs, uint32_t room)
{
    struct walk walk;
    uint32_t count = 0;
    walk_start(&walk, frame);
    do
        pcs[count++] = walk.pc;
    while (count < room && walk_next(&walk));
    return count;
}

uint64_t frames_hash_from(struct frame_start start)
{
    struct walk walk = {.pc = start.pc, .sp = start.sp};
    uint64_t pcs[WIRE_FRAMES];
    uint32_t count = 0;
    walk.registers[RBP] = start.rbp;
    find_stack(&walk);
    do
        pcs[count++] = walk.pc;
    while (count < WIRE_FRAMES && walk_next(&walk));
    return frames_hash(pcs, count);
}

// The hash is the same for the same stack of the same builds, wherever they are loaded. It is
// computed for every frame of every new stack, so it is cheap: a product, with its good upper half
// folded into the lower. Hashes are kept in files: if you change this, raise the format of
// trial/stacks.c.
static inline uint64_t hash_frame(uint64_t hash, uint64_t pc, const struct module *module)
{
    hash = (hash ^ (module != NULL ? module->fingerprint ^ (pc - module->bias) : 1)) *
           0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

uint64_t frames_hash(const uint64_t *pcs, uint32_t count)
{
    const struct module *module = NULL; // of the frame before: mostly the same
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (module == NULL || pcs[i] - module->low >= module->high - module->low)
            module = module_at(pcs[i]);
        hash = hash_frame(hash, pcs[i], module);
    }
    return hash != 0 ? hash : 1;
}

__attribute__((noinline)) static uint64_t walk_hash(const struct call_frame *frame)
{
    uint64_t pcs[WIRE_FRAMES];
    return frames_hash(pcs, walk_collect(frame, pcs, WIRE_FRAMES));
}

// Needs no room for the frames, which stand in the last walk: the target's stack may be small.
uint64_t stack_hash(const struct call *call)
{
    struct last_walk *last = last_walk_take(call);
    if (last == NULL)
        return walk_hash(call->frame);
    uint64_t hash = 0;
    for (uint32_t i = 0; i < last->count; i++)
        hash = hash_frame(hash, last->frames[i].pc, module_at(last->frames[i].pc));
    last_walk_leave(last);
    return hash != 0 ? hash : 1;
}

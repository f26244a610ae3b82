// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces a system call by a jump to a stub, and puts it back. Only the two forms that C libraries
// have, whose number is known, only in code that is mapped private and cannot be written, and only
// while all other threads of the process stand still, none of them in what is replaced.
#include "observe/inside.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#define CALL_SIZE  2u // syscall
#define MOVE_SIZE  5u // mov $n, %eax
#define JUMP_SIZE  5u
#define CHECK_SIZE 6u      // cmp $-4095, %rax
#define AROUND     0x1000u // bytes that are searched for jumps

enum form { FORM_NONE, FORM_MOVE, FORM_CHECK };

// Whether this byte may begin the instruction whose next byte looks like its first, and change what
// that means: `mov $n, %eax` would be `mov $n, %r8d`, or `mov $n, %ax`.
static bool may_be_prefix(unsigned char byte)
{
    return (byte & 0xf0) == 0x40 || byte == 0x66 || byte == 0x67;
}

// `code` gets what is replaced in one of the forms, from `mov` on.
static enum form form_of(const struct tracer_task *task, uint64_t place, int number,
                         unsigned char *code)
{
    static const unsigned char zero[] = {0x31, 0xc0}, call[] = {0x0f, 0x05}, check[] = {0x48, 0x3d},
                               most[] = {0xf0, 0xff, 0xff};
    unsigned char around[1 + MOVE_SIZE + CALL_SIZE + CHECK_SIZE], *at = code + MOVE_SIZE;
    if (tracer_read(task, place - CALL_SIZE - MOVE_SIZE - 1, around, sizeof around) !=
        sizeof around)
        return FORM_NONE;
    memcpy(code, around + 1, sizeof around - 1);
    if (memcmp(at, call, sizeof call) != 0)
        return FORM_NONE;
    uint32_t moved;
    memcpy(&moved, code + 1, sizeof moved);
    if (code[0] == 0xb8 && !may_be_prefix(around[0]) && moved == (uint32_t)number)
        return FORM_MOVE;
    if (number != 0 || memcmp(at - sizeof zero, zero, sizeof zero) != 0)
        return FORM_NONE; // the number may be another one next time
    at += CALL_SIZE;
    if (memcmp(at, check, sizeof check) == 0 && at[2] <= 1 &&
        memcmp(at + 3, most, sizeof most) == 0)
        return FORM_CHECK;
    return FORM_NONE;
}

static void read_private_code(const struct tracer_task *task, struct inside_space *space)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", task->tid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    space->code.count = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        struct inside_range range;
        char rights[5];
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &range.start, &range.end, rights) != 3 ||
            strcmp(rights, "r-xp") != 0)
            continue;
        struct inside_range *added = ARRAY_ADD(&space->code);
        if (added == NULL)
            return;
        *added = range;
    }
}

// Looks again only for code that was not there before. What has gone cannot call; what is there in
// its place is written as a debugger would, which never reaches a file.
static bool is_private_code(const struct tracer_task *task, struct inside_space *space,
                            uint64_t from, uint64_t to)
{
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < space->code.count; i++)
            if (from >= space->code.items[i].start && to <= space->code.items[i].end)
                return true;
        if (turn == 0)
            read_private_code(task, space);
    }
    return false;
}

// Whether any bytes around, taken as a jump or call, lead behind `from` and before `to`. Most of
// them are no such instruction; if one looks like it, the call is left alone. Nobody jumps into an
// instruction, so this is asked only where more than one is replaced.
static bool has_jumps_between(const struct tracer_task *task, uint64_t from, uint64_t to)
{
    static unsigned char code[2 * AROUND];
    uint64_t start = from > AROUND ? from - AROUND : 0;
    size_t below = tracer_read(task, start, code, (size_t)(from - start));
    if (below != from - start) { // the code begins nearer
        start = from & ~(uint64_t)4095;
        below = tracer_read(task, start, code, (size_t)(from - start));
    }
    if (below != from - start)
        return true;
    size_t size = below + tracer_read(task, from, code + below, AROUND);
    for (size_t i = 0; i + 6 < size; i++) {
        int32_t wide;
        uint64_t target = 0;
        bool near_condition = code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80;
        if (code[i] == 0xeb || (code[i] & 0xf0) == 0x70 || (code[i] & 0xfc) == 0xe0)
            target = start + i + 2 + (uint64_t)(int64_t)(signed char)code[i + 1];
        if (target > from && target < to)
            return true;
        if (code[i] != 0xe8 && code[i] != 0xe9 && !near_condition)
            continue;
        memcpy(&wide, code + i + 1 + near_condition, sizeof wide);
        target = start + i + 5 + near_condition + (uint64_t)(int64_t)wide;
        if (target > from && target < to)
            return true;
    }
    return false;
}

// Also where the program itself must not write.
static bool poke(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size; done += sizeof(long)) {
        long word;
        memcpy(&word, (const char *)bytes + done, sizeof word);
        if (ptrace(PTRACE_POKEDATA, task->tid, (void *)(uintptr_t)(address + done), (void *)word) <
            0)
            return false;
    }
    return true;
}

static void put_jump(unsigned char *code, uint64_t at, uint64_t to)
{
    uint32_t distance = (uint32_t)(to - (at + JUMP_SIZE));
    code[0] = 0xe9;
    memcpy(code + 1, &distance, sizeof distance);
}

static bool put_stub(const struct tracer_task *task, uint64_t stub, enum form form, uint64_t place,
                     const unsigned char *check, int number)
{
    static const unsigned char skip[] = {0x48, 0x8d, 0x64, 0x24, 0x80}; // lea -128(%rsp), %rsp
    static const unsigned char enter[] = {0xff, 0x15, INSIDE_STUB_ENTRY - INSIDE_STUB_BACK,
                                          0,    0,    0};
    static const unsigned char back[] = {0x48, 0x8d, 0xa4, 0x24,
                                         0x80, 0,    0,    0}; // lea 128(%rsp), %rsp
    _Static_assert(sizeof skip + sizeof enter == INSIDE_STUB_BACK, "the call ends there");
    _Static_assert(INSIDE_STUB_BACK + sizeof back == INSIDE_STUB_DONE, "then the stack is as ever");
    _Static_assert(INSIDE_STUB_DONE + CHECK_SIZE + JUMP_SIZE <= INSIDE_STUB_UNDONE, "it has room");
    unsigned char code[INSIDE_STUB];
    memset(code, 0xcc, sizeof code);
    memcpy(code, skip, sizeof skip);
    memcpy(code + sizeof skip, enter, sizeof enter);
    memcpy(code + INSIDE_STUB_BACK, back, sizeof back);
    memcpy(code + INSIDE_STUB_UNDONE, back, sizeof back);
    unsigned done = INSIDE_STUB_DONE, call = INSIDE_STUB_CALL;
    if (form == FORM_MOVE) {
        put_jump(code + done, stub + done, place);
        put_jump(code + call, stub + call, place - CALL_SIZE);
    } else {
        memcpy(code + done, check, CHECK_SIZE);
        put_jump(code + done + CHECK_SIZE, stub + done + CHECK_SIZE, place + CHECK_SIZE);
        code[call] = 0x0f;
        code[call + 1] = 0x05;
        code[call + 2] = 0xeb; // jmp
        code[call + 3] = (unsigned char)(done - (call + 4));
    }
    uint64_t entry = INSIDE_BASE + (uint64_t)(inside_entry - __start_ordeal_inside);
    memcpy(code + INSIDE_STUB_ENTRY, &entry, sizeof entry);
    memcpy(code + INSIDE_STUB_NUMBER, &number, sizeof number);
    return poke(task, stub, code, sizeof code);
}

bool inside_is_behind_call(const struct tracer_task *task, uint64_t place)
{
    unsigned char code[MOVE_SIZE + CALL_SIZE + CHECK_SIZE];
    return form_of(task, place, 0, code) == FORM_CHECK;
}

uint64_t inside_replace(struct tracer_task *task, struct inside_space *space,
                        struct inside_site *site, int number)
{
    unsigned char code[MOVE_SIZE + CALL_SIZE + CHECK_SIZE];
    size_t near;
    enum form form = form_of(task, site->place, number, code);
    if (form == FORM_NONE || !inside_near(space, site->place, &near))
        return 0;
    bool moves = form == FORM_MOVE;
    uint64_t start = site->place - CALL_SIZE - (moves ? MOVE_SIZE : 0);
    unsigned size = moves ? MOVE_SIZE : CALL_SIZE + CHECK_SIZE;
    uint64_t stub = space->nears[near].address + space->nears[near].used * INSIDE_STUB;
    // A jump to the call itself may bring another number.
    if (!is_private_code(task, space, start, start + 8) ||
        (!moves && has_jumps_between(task, start - 1, start + size)) ||
        !put_stub(task, stub, form, site->place, code + MOVE_SIZE + CALL_SIZE, number))
        return 0;
    space->nears[near].used++;
    unsigned char bytes[8];
    bool replaced = false;
    tracer_hold(task);
    if (!tracer_is_between(task, start, start + size) &&
        tracer_read(task, start, bytes, sizeof bytes) == sizeof bytes) {
        memcpy(site->original, bytes, sizeof bytes);
        if (!moves)
            memset(bytes, 0xcc, sizeof bytes);
        put_jump(bytes, start, stub);
        memcpy(site->put, bytes, sizeof bytes);
        replaced = poke(task, start, bytes, sizeof bytes);
    }
    tracer_release(task);
    if (!replaced)
        return 0;
    site->start = start;
    site->size = size;
    return moves ? site->place - CALL_SIZE : stub + INSIDE_STUB_CALL;
}

void inside_restore(const struct tracer_task *task, struct inside_space *space)
{
    for (size_t i = 0; i < space->sites.count; i++) {
        struct inside_site *site = &space->sites.items[i];
        unsigned char bytes[8];
        if (site->size == 0 ||
            tracer_read(task, site->start, bytes, sizeof bytes) != sizeof bytes ||
            memcmp(bytes, site->put, site->size) != 0) // the program has other code there now
            continue;
        memcpy(bytes, site->original, site->size);
        poke(task, site->start, bytes, sizeof bytes);
        site->size = 0;
    }
}

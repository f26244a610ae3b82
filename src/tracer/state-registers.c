// SPDX-License-Identifier: GPL-3.0-or-later
// Registers of a stopped task. General ones, flags and program counter come by PTRACE_GETREGS, all
// others as the processor saves them (XSAVE): CPUID says where each is.
#include "tracer/state.h"

#include "base/cleanup.h"

#include <cpuid.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define XSAVE_CPUID   0xd
#define XSAVE_HEADER  512 // which components are in use
#define XSAVE_LARGEST (64u << 10)

enum component { // of XSAVE, by number
    COMPONENT_X87 = 0,
    COMPONENT_SSE = 1,
    COMPONENT_AVX = 2,
    COMPONENT_MASK = 5,
    COMPONENT_ZMM_UPPER = 6,
    COMPONENT_ZMM_MORE = 7,
};

static const size_t general[] = {
    offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rdx),
    offsetof(struct user_regs_struct, rcx), offsetof(struct user_regs_struct, rbx),
    offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
    offsetof(struct user_regs_struct, rbp), offsetof(struct user_regs_struct, rsp),
    offsetof(struct user_regs_struct, r8),  offsetof(struct user_regs_struct, r9),
    offsetof(struct user_regs_struct, r10), offsetof(struct user_regs_struct, r11),
    offsetof(struct user_regs_struct, r12), offsetof(struct user_regs_struct, r13),
    offsetof(struct user_regs_struct, r14), offsetof(struct user_regs_struct, r15),
};
#define GENERAL (sizeof general / sizeof *general)

uint64_t state_general(const struct user_regs_struct *registers, unsigned number)
{
    uint64_t value = 0;
    if (number < GENERAL)
        memcpy(&value, (const char *)registers + general[number], sizeof value);
    return value;
}

void state_change_bytes(const struct wire_state_fault *fault, const unsigned char *before,
                        unsigned char *after)
{
    for (size_t i = 0; i < fault->size && i < WIRE_STATE_BYTES; i++)
        after[i] = (unsigned char)((before[i] & fault->keep[i]) ^ fault->change[i]);
}

static bool change_plain(const struct tracer_task *task, const struct wire_state_fault *fault,
                         unsigned char *before, unsigned char *after)
{
    struct user_regs_struct registers;
    size_t offset = fault->register_class == WIRE_STATE_PC ? offsetof(struct user_regs_struct, rip)
                    : fault->register_class == WIRE_STATE_FLAGS
                        ? offsetof(struct user_regs_struct, eflags)
                    : fault->register_number < GENERAL ? general[fault->register_number]
                                                       : SIZE_MAX;
    if (offset == SIZE_MAX || fault->size != 8 ||
        ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return false;
    memcpy(before, (char *)&registers + offset, 8);
    state_change_bytes(fault, before, after);
    memcpy((char *)&registers + offset, after, 8);
    if (ptrace(PTRACE_SETREGS, task->tid, NULL, &registers) < 0 ||
        ptrace(PTRACE_GETREGS, task->tid, NULL, &registers) < 0)
        return false;
    memcpy(after, (char *)&registers + offset, 8); // the kernel leaves out what it does not allow
    return true;
}

struct piece { // of a register
    unsigned component, offset, size;
};

static unsigned component_offset(unsigned component)
{
    unsigned size, offset, c, d;
    if (component < COMPONENT_AVX)
        return 0; // the first two have fixed places
    if (!__get_cpuid_count(XSAVE_CPUID, component, &size, &offset, &c, &d) || size == 0)
        return UINT32_MAX;
    return offset;
}

static size_t find_pieces(const struct wire_state_fault *fault, struct piece pieces[3])
{
    unsigned n = fault->register_number;
    size_t count = 0;
    switch (fault->register_class) {
    case WIRE_STATE_X87:
        pieces[count++] = (struct piece){COMPONENT_X87, 32 + 16 * n, 10};
        break;
    case WIRE_STATE_MXCSR:
        pieces[count++] = (struct piece){COMPONENT_SSE, 24, 4};
        break;
    case WIRE_STATE_MASK:
        pieces[count++] = (struct piece){COMPONENT_MASK, 8 * n, 8};
        break;
    case WIRE_STATE_VECTOR:
        if (n >= 16) {
            pieces[count++] = (struct piece){COMPONENT_ZMM_MORE, 64 * (n - 16), fault->size};
            break;
        }
        pieces[count++] = (struct piece){COMPONENT_SSE, 160 + 16 * n, 16};
        if (fault->size > 16)
            pieces[count++] = (struct piece){COMPONENT_AVX, 16 * n, 16};
        if (fault->size > 32)
            pieces[count++] = (struct piece){COMPONENT_ZMM_UPPER, 32 * n, 32};
        break;
    default:
        break;
    }
    return count;
}

static bool move_pieces(const struct wire_state_fault *fault, unsigned char *area, size_t size,
                        unsigned char *value, bool write)
{
    struct piece pieces[3];
    uint64_t used;
    size_t done = 0, count = find_pieces(fault, pieces);
    memcpy(&used, area + XSAVE_HEADER, sizeof used);
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        unsigned start = component_offset(piece->component);
        if (start == UINT32_MAX || (size_t)start + piece->offset + piece->size > size ||
            done + piece->size > WIRE_STATE_BYTES)
            return false;
        unsigned char *place = area + start + piece->offset;
        memcpy(write ? place : value + done, write ? value + done : place, piece->size);
        used |= 1ull << piece->component;
        done += piece->size;
    }
    if (write)
        memcpy(area + XSAVE_HEADER, &used, sizeof used);
    return done == fault->size;
}

static bool change_saved(const struct tracer_task *task, const struct wire_state_fault *fault,
                         unsigned char *before, unsigned char *after)
{
    _cleanup_free_ unsigned char *area = calloc(1, XSAVE_LARGEST);
    struct iovec all = {area, XSAVE_LARGEST};
    void *kind = (void *)(uintptr_t)NT_X86_XSTATE;
    if (area == NULL || ptrace(PTRACE_GETREGSET, task->tid, kind, &all) < 0 ||
        all.iov_len < XSAVE_HEADER + 64 || !move_pieces(fault, area, all.iov_len, before, false))
        return false;
    state_change_bytes(fault, before, after);
    if (!move_pieces(fault, area, all.iov_len, after, true) ||
        ptrace(PTRACE_SETREGSET, task->tid, kind, &all) < 0)
        return false;
    all.iov_len = XSAVE_LARGEST;
    return ptrace(PTRACE_GETREGSET, task->tid, kind, &all) == 0 &&
           move_pieces(fault, area, all.iov_len, after, false);
}

bool state_change_register(const struct tracer_task *task, const struct wire_state_fault *fault,
                           unsigned char *before, unsigned char *after)
{
    switch (fault->register_class) {
    case WIRE_STATE_GENERAL:
    case WIRE_STATE_PC:
    case WIRE_STATE_FLAGS:
        return change_plain(task, fault, before, after);
    default:
        return change_saved(task, fault, before, after);
    }
}

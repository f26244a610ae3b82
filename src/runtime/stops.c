// SPDX-License-Identifier: GPL-3.0-or-later
// Faults in registers and memory, injected at breakpoints: the kernel has saved all registers when
// it tells of one, and takes what is there when the handler returns. In a workload that forks each
// fault has a child. Where a later execution of the address is meant, the breakpoint is taken away
// for a single step.
#include "runtime/fork.h"
#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/system.h"
#include "wire/coverage.h"

#include <linux/mman.h>
#include <signal.h>
#include <ucontext.h>

#define BREAKPOINT  0xcc
#define PAGE        4096ul
#define STEP        0x100 // the trap flag
#define SAVED_KIND  464   // FP_XSTATE_MAGIC1 if there is more than FXSAVE has
#define SAVED_MAGIC 0x46505853u
#define SAVED_USED  512 // of XSAVE: which components are in use
#define SAVED_XMM   160
#define USED_SSE    2ull

struct site { // of a block
    uintptr_t address, bias;
    uint64_t executions;
    uint32_t next, end; // faults that are left
    unsigned char code; // under the breakpoint
    bool lifted;        // for a step
};

static struct {
    const struct wire_stop *all;
    uint32_t *marks;
    struct site *sites; // by block; NULL: there are no faults
    uint32_t count;
} stops;

void stops_start(const struct wire_coverage *file, uint32_t *marks)
{
    struct site *sites = arena_new(file->block_count * sizeof *sites);
    if (sites == NULL)
        return;
    memset(sites, 0, file->block_count * sizeof *sites);
    stops.all = (const void *)((const char *)file + file->stops);
    stops.marks = marks;
    stops.count = file->block_count;
    for (uint32_t i = 0; i < file->stop_count; i++) {
        struct site *site = &sites[stops.all[i].block];
        site->next = site->end == 0 ? i : site->next;
        site->end = i + 1;
    }
    stops.sites = sites;
}

static uint32_t *marks_of(uint32_t stop)
{
    return stops.marks + stop * WIRE_STOP_MARKS;
}

bool stops_place(uint32_t block, uintptr_t address, uintptr_t bias)
{
    if (stops.sites == NULL)
        return false;
    struct site *site = &stops.sites[block];
    if (site->next == site->end ||
        atomic_load(&marks_of(site->next)[WIRE_STOP_STATE]) != WIRE_STOP_NOT_REACHED)
        return false;
    site->address = address;
    site->bias = bias;
    site->code = *(unsigned char *)address;
    return true;
}

static uint32_t now_us(void)
{
    return (uint32_t)((clock_now() - runtime.region->start_ns) / 1000u);
}

// ---- The change ----

static greg_t *general(ucontext_t *where, uint32_t number)
{
    static const uint8_t places[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};
    return number < sizeof places ? &where->uc_mcontext.gregs[places[number]] : NULL;
}

// A register that nobody has used yet is not saved; it is 0.
static unsigned char *vector(ucontext_t *where, uint32_t number)
{
    unsigned char *saved = (unsigned char *)where->uc_mcontext.fpregs;
    uint32_t kind;
    uint64_t used;
    if (saved == NULL || number > 15)
        return NULL;
    memcpy(&kind, saved + SAVED_KIND, sizeof kind);
    if (kind == SAVED_MAGIC) {
        memcpy(&used, saved + SAVED_USED, sizeof used);
        if ((used & USED_SSE) == 0)
            memset(saved + SAVED_XMM, 0, 16 * 16);
        used |= USED_SSE;
        memcpy(saved + SAVED_USED, &used, sizeof used);
    }
    return saved + SAVED_XMM + 16 * number;
}

// Of memory that the program only reads, the kernel makes a copy for this process.
static bool write_anyway(uint64_t address, const void *bytes, size_t size)
{
    uint64_t low = address & ~(PAGE - 1), high = (address + size + PAGE - 1) & ~(PAGE - 1);
    if (system_poke((void *)address, bytes, size))
        return true;
    return !system_failed(SYSTEM_3(__NR_mprotect, low, high - low, PROT_READ | PROT_WRITE)) &&
           system_poke((void *)address, bytes, size) &&
           !system_failed(SYSTEM_3(__NR_mprotect, low, high - low, PROT_READ | PROT_EXEC));
}

static enum wire_stop_state change(const struct wire_state_fault *fault, const struct site *site,
                                   ucontext_t *where)
{
    unsigned char before[WIRE_STATE_BYTES], after[WIRE_STATE_BYTES];
    unsigned char *place = NULL;
    uint64_t address = (uint64_t)fault->offset;
    if (fault->memory) {
        const greg_t *base = general(where, fault->base_register),
                     *index = general(where, fault->index_register);
        if (fault->base == WIRE_STATE_MODULE)
            address += site->bias;
        if (fault->base == WIRE_STATE_REGISTER)
            address += (base != NULL ? (uint64_t)*base : 0) +
                       (index != NULL ? fault->scale * (uint64_t)*index : 0);
        if (!system_peek((const void *)address, before, fault->size))
            return WIRE_STOP_TAKEN;
    } else {
        place = fault->register_class == WIRE_STATE_GENERAL
                    ? (unsigned char *)general(where, fault->register_number)
                : fault->register_class == WIRE_STATE_FLAGS
                    ? (unsigned char *)&where->uc_mcontext.gregs[REG_EFL]
                : fault->register_class == WIRE_STATE_VECTOR ? vector(where, fault->register_number)
                                                             : NULL;
        if (place == NULL || fault->size > 16)
            return WIRE_STOP_TAKEN;
        memcpy(before, place, fault->size);
    }
    bool same = true;
    for (uint32_t i = 0; i < fault->size; i++) {
        after[i] = (unsigned char)((before[i] & fault->keep[i]) ^ fault->change[i]);
        same &= after[i] == before[i];
    }
    if (same)
        return WIRE_STOP_SAME;
    if (place == NULL)
        return write_anyway(address, after, fault->size) ? WIRE_STOP_INJECTED : WIRE_STOP_TAKEN;
    memcpy(place, after, fault->size);
    return WIRE_STOP_INJECTED;
}

// ---- Breakpoints ----

static void lift(const struct site *site)
{
    *(volatile unsigned char *)site->address = site->code;
}

static void lift_all(void)
{
    for (uint32_t i = 0; i < stops.count; i++) {
        struct site *site = &stops.sites[i];
        if (site->address != 0 && site->next != site->end)
            lift(site);
        site->lifted = false;
        site->next = site->end;
    }
}

static void inject(uint32_t stop, const struct site *site, ucontext_t *where)
{
    const struct wire_state_fault *fault = &stops.all[stop].fault;
    uint32_t *marks = marks_of(stop);
    enum wire_stop_state state = change(fault, site, where);
    // The instruction is the next one that is executed. A step would not tell so if it fails: the
    // program may handle that, or have no stack left for a handler.
    if (state == WIRE_STOP_INJECTED && fault->read == WIRE_STATE_READ_ALWAYS)
        state = WIRE_STOP_ACTIVATED;
    marks[WIRE_STOP_INJECTED_US] = now_us();
    atomic_store(&marks[WIRE_STOP_STATE], (uint32_t)state);
}

// Whether this process takes the fault: a child made for it, or the first one that comes here.
static bool is_taken(uint32_t stop)
{
    if (fork_mode)
        return fork_stop(stop);
    return atomic_swap_if(&marks_of(stop)[WIRE_STOP_STATE], (uint32_t)WIRE_STOP_NOT_REACHED,
                          (uint32_t)WIRE_STOP_TAKEN);
}

void stops_reached(uint32_t block, void *context)
{
    ucontext_t *where = context;
    struct site *site = &stops.sites[block];
    where->uc_mcontext.gregs[REG_RIP] = (greg_t)site->address;
    site->executions++;
    while (site->next < site->end && stops.all[site->next].fault.count <= site->executions) {
        uint32_t stop = site->next++;
        if (is_taken(stop)) {
            lift(site);
            lift_all();
            inject(stop, site, where);
            return;
        }
    }
    lift(site);
    if (fork_mode && !fork_stops())
        site->next = site->end;
    if (site->next == site->end)
        return;
    site->lifted = true;
    where->uc_mcontext.gregs[REG_EFL] |= STEP;
}

// A string instruction is stepped once for each of its elements.
static bool is_inside(const struct site *site, uintptr_t at)
{
    return site->lifted && site->address == at && stops.all[site->next].fault.repeats != 0;
}

bool stops_stepped(void *context)
{
    ucontext_t *where = context;
    uintptr_t at = (uintptr_t)where->uc_mcontext.gregs[REG_RIP];
    bool ours = false;
    if (stops.sites == NULL)
        return false;
    for (uint32_t i = 0; i < stops.count; i++) {
        struct site *site = &stops.sites[i];
        if (is_inside(site, at))
            return true;
        if (!site->lifted)
            continue;
        site->lifted = false;
        *(volatile unsigned char *)site->address = BREAKPOINT;
        ours = true;
    }
    if (ours)
        where->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STEP;
    return ours;
}

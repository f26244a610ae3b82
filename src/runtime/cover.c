// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks of code are executed, of those that the controller lists. Each gets a breakpoint;
// when it is first met, the block is marked and the breakpoint removed. Faults that the compiler
// has put into a module are switched on here, too, by replacing bytes; a breakpoint that stays for
// a while counts them. Faults in registers and memory are injected at breakpoints, too (stops.c).
// The code stays writable meanwhile, so that all this takes a store and no
// system call: it works where system calls are forbidden, without a lock, and in every forked copy.
// The C library is never among the modules, since it blocks signals while it runs.
#include "runtime/signals.h"

#include "runtime/hooks.h"
#include "runtime/journal.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"
#include "wire/coverage-check.h"

#include <linux/mman.h>
#include <signal.h>
#include <ucontext.h>

#define BREAKPOINT 0xcc
#define PAGE       4096ul

static const struct wire_coverage *coverage;
static uint32_t *module_marks, *block_marks; // in the region
static struct sigaction target_action;       // the target's own action for SIGTRAP

bool cover_is_on(void)
{
    return coverage != NULL;
}

void cover_start(void)
{
    if (runtime.region->coverage == 0)
        return;
    uint64_t size;
    const struct wire_coverage *file = system_map_file(region_at(runtime.region->coverage), &size);
    if (file == NULL)
        return;
    if (!wire_coverage_is_sound(file, size) ||
        (uint64_t)file->module_count + file->block_count +
                (uint64_t)file->stop_count * WIRE_STOP_MARKS !=
            runtime.region->mark_count) {
        SYSTEM_2(__NR_munmap, file, size);
        return;
    }
    coverage = file;
    module_marks = region_at(runtime.region->marks);
    block_marks = module_marks + file->module_count;
    if (file->stop_count != 0)
        stops_start(file, block_marks + file->block_count);
    const int unblock = 1;
    uint64_t trap = 1ull << (SIGTRAP - 1);
    SYSTEM_4(__NR_rt_sigprocmask, unblock, &trap, 0, 8);
}

// Valgrind does not notice that code changes; it is told by a request of its valgrind.h. Where the
// processor runs the code itself, these instructions do nothing.
static void code_changed(uintptr_t start, uint64_t size)
{
    const uint64_t discard_translations = 0x1002;
    volatile uint64_t request[6] = {discard_translations, start, size};
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi;"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(request)
                     : "cc", "memory");
}

static const struct wire_coverage_module *all_modules(void)
{
    return (const void *)((const char *)coverage + coverage->modules);
}

static const struct wire_coverage_block *all_blocks(void)
{
    return (const void *)((const char *)coverage + coverage->blocks);
}

static const struct wire_coverage_block *blocks_of(const struct wire_coverage_module *module)
{
    return all_blocks() + module->first;
}

static uint32_t *mark_of(const struct wire_coverage_block *block)
{
    return &block_marks[block - all_blocks()];
}

static bool is_code(const struct module *module, const struct wire_coverage_block *block)
{
    uint64_t address = block->address,
             size = (block->flags & WIRE_BLOCK_PUT) != 0 ? WIRE_BLOCK_BYTES : sizeof block->code;
    for (uint32_t i = 0; i < module->header_count; i++) {
        const Elf64_Phdr *header = &module->headers[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
            address >= header->p_vaddr && address - header->p_vaddr + size <= header->p_filesz)
            return true;
    }
    return false;
}

static bool is_same(const struct module *module, const struct wire_coverage_module *known)
{
    const struct wire_coverage_block *blocks = blocks_of(known);
    for (uint32_t i = 0; i < known->count; i++)
        if (!is_code(module, &blocks[i]) ||
            memcmp((const void *)(module->bias + blocks[i].address), &blocks[i].code, 4) != 0)
            return false;
    return true;
}

// By its path; or, since there may be many paths to one file, by its name and contents.
static const struct wire_coverage_module *find_module(const struct module *module, const char *path)
{
    const struct wire_coverage_module *modules = all_modules();
    for (uint32_t i = 0; i < coverage->module_count; i++)
        if (text_equal(modules[i].path, path))
            return &modules[i];
    for (uint32_t i = 0; i < coverage->module_count; i++)
        if (text_equal(text_base(modules[i].path), text_base(path)) && is_same(module, &modules[i]))
            return &modules[i];
    return NULL;
}

static bool make_writable(const struct module *module, const struct wire_coverage_module *known)
{
    const struct wire_coverage_block *blocks = blocks_of(known);
    uintptr_t low = module->bias + blocks[0].address,
              high = module->bias + blocks[known->count - 1].address + WIRE_BLOCK_BYTES;
    low &= ~(PAGE - 1);
    high = (high + PAGE - 1) & ~(PAGE - 1);
    return !system_failed(
        SYSTEM_3(__NR_mprotect, low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC));
}

// A breakpoint of the target's own cannot be told from one of ours.
static bool is_noted(const struct wire_coverage_block *block)
{
    return (block->flags & WIRE_BLOCK_QUIET) == 0 && (unsigned char)block->code != BREAKPOINT;
}

static void set_breakpoint(const struct module *module, const struct wire_coverage_block *block)
{
    volatile unsigned char *code = (unsigned char *)(module->bias + block->address);
    uint32_t most = (block->flags & WIRE_BLOCK_COUNT) != 0 ? WIRE_BLOCK_MOST : 1;
    if ((block->flags & WIRE_BLOCK_PUT) != 0)
        for (int i = 0; i < WIRE_BLOCK_BYTES; i++)
            code[i] = block->put[i];
    if ((block->flags & WIRE_BLOCK_STOP) != 0 &&
        !stops_place((uint32_t)(block - all_blocks()), (uintptr_t)code, module->bias))
        return;
    if (is_noted(block) && block->reached < most && atomic_load(mark_of(block)) < most)
        *code = BREAKPOINT;
}

void cover_module(struct module *module)
{
    char path[WIRE_MODULE_PATH];
    module->covered = NULL;
    if (coverage == NULL || module->ignored)
        return;
    module_put_path(module, path, sizeof path);
    const struct wire_coverage_module *known = find_module(module, path);
    if (known == NULL)
        return;
    atomic_store(&module_marks[known - all_modules()], 1);
    if (known->count == 0)
        return;
    // There are no breakpoints of ours yet: the code of a new program, or of a module that is
    // loaded again, is that of the file.
    if (!is_same(module, known) || !make_writable(module, known)) {
        journal_note(WIRE_NOTE_NOT_COVERED, path);
        return;
    }
    atomic_store(&module->covered, known);
    for (uint32_t i = 0; i < known->count; i++)
        set_breakpoint(module, &blocks_of(known)[i]);
    uint64_t first = blocks_of(known)[0].address,
             end = blocks_of(known)[known->count - 1].address + WIRE_BLOCK_BYTES;
    code_changed(module->bias + first, end - first);
}

static const struct wire_coverage_block *find_block(const struct wire_coverage_module *known,
                                                    uint64_t address)
{
    const struct wire_coverage_block *blocks = blocks_of(known);
    uint32_t low = 0, high = known->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (blocks[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < known->count && blocks[low].address == address ? &blocks[low] : NULL;
}

// Another thread may have come here at the same time and have restored the code already.
static bool is_ours(void *context)
{
    ucontext_t *where = context;
    uintptr_t at = (uintptr_t)where->uc_mcontext.gregs[REG_RIP] - 1;
    const struct module *module = module_at(at);
    const struct wire_coverage_module *known =
        module != NULL ? atomic_load(&module->covered) : NULL;
    const struct wire_coverage_block *block =
        known != NULL ? find_block(known, at - module->bias) : NULL;
    if (block == NULL || !is_noted(block))
        return false;
    if ((block->flags & WIRE_BLOCK_STOP) != 0) {
        stops_reached((uint32_t)(block - all_blocks()), where);
        return true;
    }
    if ((block->flags & WIRE_BLOCK_COUNT) != 0) {
        int32_t distance;
        memcpy(&distance, block->put + 1, sizeof distance);
        where->uc_mcontext.gregs[REG_RIP] = (greg_t)(at + WIRE_BLOCK_BYTES) + distance;
        if (atomic_add(mark_of(block), 1) + 1 < WIRE_BLOCK_MOST)
            return true;
        *(volatile unsigned char *)at = block->put[0];
        code_changed(at, 1);
        return true;
    }
    atomic_store(mark_of(block), 1);
    *(volatile unsigned char *)at =
        (block->flags & WIRE_BLOCK_PUT) != 0 ? block->put[0] : (unsigned char)block->code;
    code_changed(at, 1);
    where->uc_mcontext.gregs[REG_RIP] = (greg_t)at;
    return true;
}

bool cover_trap(int number, siginfo_t *info, void *context)
{
    if (coverage == NULL || number != SIGTRAP)
        return false;
    // Valgrind says TRAP_BRKPT.
    bool is_breakpoint = info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT;
    if ((is_breakpoint && is_ours(context)) ||
        (info->si_code == TRAP_TRACE && stops_stepped(context)))
        return true;
    if (target_action.sa_handler == SIG_DFL)
        return false;
    if (target_action.sa_handler == SIG_IGN)
        return true;
    if ((target_action.sa_flags & SA_SIGINFO) != 0)
        target_action.sa_sigaction(number, info, context);
    else
        target_action.sa_handler(number);
    return true;
}

void cover_keep_action(const struct sigaction *action, struct sigaction *ret_old)
{
    struct sigaction before = target_action;
    if (action != NULL)
        target_action = *action;
    if (ret_old != NULL)
        *ret_old = before;
}

// The target must not block the signal of breakpoints: the kernel would kill it. If it blocks those
// of faults, guarded reads are given up.

typedef int mask_function(int, const sigset_t *, sigset_t *);

static int change_mask(mask_function *real, int how, const sigset_t *set, sigset_t *ret_old)
{
    sigset_t changed;
    if (how != SIG_UNBLOCK)
        guarded_note_mask(set);
    if (set == NULL || how == SIG_UNBLOCK || !cover_is_on())
        return real(how, set, ret_old);
    memset(&changed, 0, sizeof changed);
    memcpy(&changed, set, 8);
    *(uint64_t *)&changed &= ~(1ull << (SIGTRAP - 1));
    return real(how, &changed, ret_old);
}

#define MASK_HOOK(name)                                                                            \
    static void *real_##name;                                                                      \
    static int hook_##name(int how, const sigset_t *set, sigset_t *ret_old)                        \
    {                                                                                              \
        return change_mask((mask_function *)hook_real(&real_##name, #name), how, set, ret_old);    \
    }
MASK_HOOK(sigprocmask)
MASK_HOOK(pthread_sigmask)

#define HOOK_ROW(name)                                                                             \
    {                                                                                              \
#name, (void *)hook_##name, &real_##name                                                   \
    }
const struct hook cover_hooks[COVER_HOOKS] = {HOOK_ROW(sigprocmask), HOOK_ROW(pthread_sigmask)};

// SPDX-License-Identifier: GPL-3.0-or-later
// The program's heap, below its break: memory that can be read without asking the kernel first. It
// is one readable mapping when it is first looked at, and stays one up to where the break is, which
// the C library keeps in a variable, unless somebody unmaps, replaces or protects a part of it. Who
// does so through the C library is seen here, and the heap is then asked about like all else. Who
// makes such system calls by hand is not seen; there a fault is caught, and the read has failed.
#include "runtime/heap.h"

#include <linux/mman.h>
#include <stdarg.h>
#include <ucontext.h>

static uint64_t heap_low = UINT64_MAX; // UINT64_MAX: not known
static bool torn;
static uint32_t tries;

__asm__(".pushsection .text, \"ax\"\n"
        ".type heap_load_8, @function\n"
        "heap_load_8: mov (%rdi), %rax\n"
        "ret\n"
        ".size heap_load_8, . - heap_load_8\n"
        ".type heap_load_4, @function\n"
        "heap_load_4: mov (%rdi), %eax\n"
        "ret\n"
        ".size heap_load_4, . - heap_load_4\n"
        "heap_load_failed: movl $1, (%rsi)\n"
        "ret\n"
        ".popsection");
uint64_t heap_load_8(uint64_t address, uint32_t *ret_failed) __attribute__((visibility("hidden")));
uint64_t heap_load_4(uint64_t address, uint32_t *ret_failed) __attribute__((visibility("hidden")));
extern const char heap_load_failed[] __attribute__((visibility("hidden")));

bool heap_recover(void *context)
{
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (*pc != (greg_t)heap_load_8 && *pc != (greg_t)heap_load_4)
        return false;
    heap_forget();
    *pc = (greg_t)heap_load_failed;
    return true;
}

void heap_forget(void)
{
    atomic_store(&torn, true);
    atomic_store(&heap_low, UINT64_MAX);
}

static void heap_changes(const void *start, size_t size)
{
    uint64_t low = (uint64_t)start;
    uint64_t heap_end = &__curbrk != NULL ? ((uint64_t)__curbrk | 4095) + 1 : 0;
    if (low < heap_end && low + size > heap_low)
        heap_forget();
}

// Where the mapping starts that ends at the break. Not often: it is only worth it if it succeeds.
__attribute__((noinline)) static void heap_find(void)
{
    const uint32_t patience = 8;
    uint64_t end = (uint64_t)SYSTEM_1(__NR_brk, 0), low, high;
    if (atomic_add(&tries, 1) >= patience || torn || end == 0 || end != (uint64_t)__curbrk)
        return;
    if (system_can_read((const void *)(end - 1), 1) && find_mapping(end - 1, &low, &high) &&
        high == ((end - 1) | 4095) + 1)
        atomic_store(&heap_low, low);
    if (torn) // meanwhile
        atomic_store(&heap_low, UINT64_MAX);
}

bool heap_read(uint64_t address, uint32_t width, uint64_t *ret_value)
{
    if (&__curbrk == NULL || (width != 8 && width != 4) || system_peek_by_copy)
        return false;
    uint64_t end = (uint64_t)atomic_load(&__curbrk);
    const uint64_t reach = 1ull << 36;
    if (address >= end || end - address < width || end - address > reach)
        return false;
    if (heap_low == UINT64_MAX && tries < 8)
        heap_find();
    if (address < atomic_load(&heap_low))
        return false;
    uint32_t failed = 0;
    uint64_t value = width == 8 ? heap_load_8(address, &failed) : heap_load_4(address, &failed);
    if (failed == 0)
        *ret_value = value;
    return failed == 0;
}

// What may take a part of it away.

static void *real_munmap, *real_mprotect, *real_pkey_mprotect, *real_madvise, *real_mremap;
static void *real_mmap, *real_mmap64, *real_shmat, *real_syscall;
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))

// Looked at before, when another thread may be reading, and after: it may have been found
// meanwhile.
#define WITH_CHANGE(start, size, call)                                                             \
    heap_changes(start, size);                                                                     \
    __typeof__(call) result = call;                                                                \
    heap_changes(start, size);                                                                     \
    return result

static int hook_munmap(void *start, size_t size)
{
    WITH_CHANGE(start, size, REAL(munmap)(start, size));
}

static int hook_mprotect(void *start, size_t size, int protection)
{
    WITH_CHANGE(start, size, REAL(mprotect)(start, size, protection));
}

static int hook_pkey_mprotect(void *start, size_t size, int protection, int key)
{
    WITH_CHANGE(start, size, REAL(pkey_mprotect)(start, size, protection, key));
}

// Pages that are given back are zero when they are read again; guards are not to be read.
static int hook_madvise(void *start, size_t size, int advice)
{
    const int last_harmless = 25;
    if (advice <= last_harmless)
        return REAL(madvise)(start, size, advice);
    WITH_CHANGE(start, size, REAL(madvise)(start, size, advice));
}

static void *hook_mremap(void *start, size_t size, size_t wanted, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *place = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void *) : NULL;
    va_end(rest);
    heap_changes(start, size);
    heap_changes(place, wanted);
    void *result = REAL(mremap)(start, size, wanted, flags, place);
    heap_changes(place, wanted);
    heap_changes(start, size);
    return result;
}

static void *hook_mmap(void *start, size_t size, int protection, int flags, int file, long offset)
{
    if ((flags & MAP_FIXED) == 0)
        return REAL(mmap)(start, size, protection, flags, file, offset);
    WITH_CHANGE(start, size, REAL(mmap)(start, size, protection, flags, file, offset));
}

static void *hook_mmap64(void *start, size_t size, int protection, int flags, int file, long offset)
{
    if ((flags & MAP_FIXED) == 0)
        return REAL(mmap64)(start, size, protection, flags, file, offset);
    WITH_CHANGE(start, size, REAL(mmap64)(start, size, protection, flags, file, offset));
}

static void *hook_shmat(int segment, const void *start, int flags)
{
    const int remap = 040000;
    if ((flags & remap) != 0)
        heap_forget();
    return REAL(shmat)(segment, start, flags);
}

// Ends in a jump: the call may be a vfork.
static long hook_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == __NR_munmap || number == __NR_mprotect || number == __NR_pkey_mprotect ||
        number == __NR_madvise || number == __NR_mremap || number == __NR_mmap ||
        number == __NR_brk || number == __NR_shmat || number == __NR_remap_file_pages)
        heap_forget();
    return REAL(syscall)(number, a, b, c, d, e, f);
}

#define HOOK_ROW(name)                                                                             \
    {                                                                                              \
#name, (void *)hook_##name, &real_##name                                                   \
    }
const struct hook heap_hooks[HEAP_HOOKS] = {
    HOOK_ROW(munmap),  HOOK_ROW(mprotect), HOOK_ROW(pkey_mprotect),
    HOOK_ROW(madvise), HOOK_ROW(mremap),   HOOK_ROW(mmap),
    HOOK_ROW(mmap64),  HOOK_ROW(shmat),    HOOK_ROW(syscall),
};

// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that can be read without asking the kernel first. The heap is one readable mapping when it
// is first looked at, and stays readable up to the break, which the C library keeps in a variable.
// Anonymous memory that the program has mapped itself stays readable if it was once, since the C
// library never unmaps it. Both hold until somebody unmaps, replaces or protects a part. The hooks
// below see that if it goes through the C library; then the kernel is asked again. System calls
// that the target makes itself are not seen; there the fault is caught, and the read has failed.
// The hooks also keep the target from unmapping the runtime: own.c.
#include "runtime/memory.h"

#include "runtime/descriptors.h"
#include "runtime/hooks.h"
#include "runtime/runtime.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

#include <errno.h>
#include <linux/mman.h>
#include <linux/shm.h>
#include <stdarg.h>

static uint64_t heap_low = UINT64_MAX; // UINT64_MAX: not known
static bool heap_unusable;
static uint32_t tries;

// What the program has mapped. If there is no room for an entry, the kernel is asked.
#define MAPPED 256
static struct mapped {
    uint64_t low, high; // low 0: free, 1: being written
} mapped[MAPPED];
static uint32_t mapped_end;

// Pages of it that were read, each with the number of changes to `mapped` before. A change makes
// all of them invalid.
#define PAGES     1024
#define PAGE_BITS 28 // the lower ones are the number of changes
static uint64_t pages[PAGES];
static uint32_t changes;

static uint64_t *page_entry(uint64_t page)
{
    return &pages[page * 0x9e3779b97f4a7c15ull >> 54];
}

static uint64_t page_mark(uint64_t page, uint32_t change)
{
    return page << PAGE_BITS | (change & ((1u << PAGE_BITS) - 1));
}

static void mapped_add(const void *start, size_t size)
{
    for (uint32_t i = 0; i < MAPPED; i++) {
        struct mapped *entry = &mapped[i];
        if (atomic_load(&entry->low) != 0 || !atomic_swap_if(&entry->low, 0, 1))
            continue;
        entry->high = (uint64_t)start + size;
        atomic_store(&entry->low, (uint64_t)start);
        uint32_t end = atomic_load(&mapped_end);
        while (end <= i && !atomic_swap_if(&mapped_end, end, i + 1))
            end = atomic_load(&mapped_end);
        return;
    }
}

static bool mapped_has(uint64_t low, uint64_t high)
{
    for (uint32_t i = 0; i < atomic_load(&mapped_end); i++) {
        uint64_t from = atomic_load(&mapped[i].low);
        if (from > 1 && from <= low && high <= atomic_load(&mapped[i].high) &&
            atomic_load(&mapped[i].low) == from)
            return true;
    }
    return false;
}

static void forget_pages(void)
{
    if ((atomic_add(&changes, 1) + 1) << (32 - PAGE_BITS) == 0)
        for (uint32_t i = 0; i < PAGES; i++)
            atomic_store(&pages[i], 0);
}

// The order matters: first the entry cannot be found any more, then its pages are forgotten, only
// then is it free. If an entry is being written, another thread may be removing a part of the same
// range: forget the pages, too.
static void mapped_remove(uint64_t low, uint64_t high)
{
    bool lost = false;
    for (uint32_t i = 0; i < atomic_load(&mapped_end); i++) {
        uint64_t from = atomic_load(&mapped[i].low);
        if (from == 0 || (from > 1 && (from >= high || low >= atomic_load(&mapped[i].high))))
            continue;
        if (from > 1 && atomic_swap_if(&mapped[i].low, from, 1)) {
            forget_pages();
            atomic_store(&mapped[i].low, 0);
        } else {
            lost = true;
        }
    }
    if (lost)
        forget_pages();
}

void heap_learn(uint64_t address, uint32_t width)
{
    uint64_t page = address / 4096;
    uint32_t change = atomic_load(&changes);
    if (system_peek_by_copy)
        return;
    if (page == (address + width - 1) / 4096 && mapped_has(address, address + width) &&
        system_can_read((const void *)address, 1))
        atomic_store(page_entry(page), page_mark(page, change));
}

void heap_forget(void)
{
    atomic_store(&heap_unusable, true);
    atomic_store(&heap_low, UINT64_MAX);
    mapped_remove(0, UINT64_MAX);
}

static void heap_changes(const void *start, size_t size)
{
    if (runtime.plan->variable_count == 0) // nothing is read
        return;
    uint64_t low = (uint64_t)start;
    uint64_t heap_end = &__curbrk != NULL ? ((uint64_t)__curbrk | 4095) + 1 : 0;
    if (low < heap_end && low + size > heap_low)
        heap_forget();
    // The kernel works in whole pages.
    mapped_remove(low & ~4095ul, (low + size + 4095) & ~4095ul);
}

#define MAX_TRIES 8

// Finds where the mapping starts that ends at the break. Tried a few times only: it is expensive.
__attribute__((noinline)) static void heap_find(void)
{
    uint64_t end = (uint64_t)SYSTEM_1(__NR_brk, 0), low, high;
    if (atomic_add(&tries, 1) >= MAX_TRIES || heap_unusable || end == 0 ||
        end != (uint64_t)__curbrk)
        return;
    if (system_can_read((const void *)(end - 1), 1) && find_mapping(end - 1, &low, &high) &&
        high == ((end - 1) | 4095) + 1)
        atomic_store(&heap_low, low);
    if (heap_unusable) // meanwhile
        atomic_store(&heap_low, UINT64_MAX);
}

static bool below_break(uint64_t address, uint32_t width)
{
    const uint64_t reach = 1ull << 36;
    uint64_t end = &__curbrk != NULL ? (uint64_t)atomic_load(&__curbrk) : 0;
    if (address >= end || end - address < width || end - address > reach)
        return false;
    if (heap_low == UINT64_MAX && tries < MAX_TRIES)
        heap_find();
    return address >= atomic_load(&heap_low);
}

static bool on_known_page(uint64_t address, uint32_t width)
{
    uint64_t page = address / 4096;
    return page == (address + width - 1) / 4096 &&
           atomic_load(page_entry(page)) == page_mark(page, atomic_load(&changes));
}

__attribute__((hot)) bool heap_read(uint64_t address, uint32_t width, uint64_t *ret_value)
{
    const uint64_t lowest = 65536, end = 1ull << 47; // as system_can_read() has it
    if ((width != 8 && width != 4) || system_peek_by_copy || address < lowest || address >= end)
        return false;
    if (!on_known_page(address, width) && !below_break(address, width))
        return false;
    uint32_t failed = 0;
    uint64_t value =
        width == 8 ? guarded_load_8(address, &failed) : guarded_load_4(address, &failed);
    if (failed == 0)
        *ret_value = value;
    else
        heap_forget();
    return failed == 0;
}

// Functions that may unmap or protect a part of it.

static void *real_munmap, *real_mprotect, *real_pkey_mprotect, *real_madvise, *real_mremap;
static void *real_mmap, *real_mmap64, *real_shmat;
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&real_##name, #name))
#define MAP_FAILED ((void *)-1l)

// Forgets the range before, since another thread may be reading, and after, since it may have been
// found again meanwhile.
#define WITH_CHANGE(start, size, call)                                                             \
    heap_changes(start, size);                                                                     \
    __typeof__(call) result = call;                                                                \
    heap_changes(start, size);                                                                     \
    return result

// For calls that are about a range. If memory of the runtime is in it, `call` is made for each of
// the parts [at, at + length) that are not.
#define IN_PARTS(name, start, size, call)                                                          \
    if (own_is_in((uint64_t)(start), size) && (uint64_t)(start) % 4096 == 0) {                     \
        uint64_t at = (uint64_t)(start), end = at + (((size) + 4095) & ~4095ul), length;           \
        own_note(name);                                                                            \
        heap_changes(start, size);                                                                 \
        int result = 0;                                                                            \
        for (; result == 0 && own_next_foreign(&at, end, &length); at += length)                   \
            result = call;                                                                         \
        return result;                                                                             \
    }

static int hook_munmap(void *start, size_t size)
{
    IN_PARTS("munmap", start, size, REAL(munmap)((void *)at, length));
    WITH_CHANGE(start, size, REAL(munmap)(start, size));
}

static int hook_mprotect(void *start, size_t size, int protection)
{
    IN_PARTS("mprotect", start, size, REAL(mprotect)((void *)at, length, protection));
    WITH_CHANGE(start, size, REAL(mprotect)(start, size, protection));
}

static int hook_pkey_mprotect(void *start, size_t size, int protection, int key)
{
    IN_PARTS("pkey_mprotect", start, size,
             REAL(pkey_mprotect)((void *)at, length, protection, key));
    WITH_CHANGE(start, size, REAL(pkey_mprotect)(start, size, protection, key));
}

// Most advice leaves pages readable. Guard pages are not, and what MADV_DONTFORK names is missing
// in a child.
static int hook_madvise(void *start, size_t size, int advice)
{
    const int last_harmless = 25;
    IN_PARTS("madvise", start, size, REAL(madvise)((void *)at, length, advice));
    if (advice <= last_harmless && advice != MADV_DONTFORK)
        return REAL(madvise)(start, size, advice);
    WITH_CHANGE(start, size, REAL(madvise)(start, size, advice));
}

// What would replace or move memory of the runtime fails, as if there were none left.
static void *refuse(const char *call)
{
    own_note(call);
    if (__errno_location != NULL)
        *__errno_location() = ENOMEM;
    return MAP_FAILED;
}

static void *hook_mremap(void *start, size_t size, size_t wanted, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *place = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void *) : NULL;
    va_end(rest);
    if (own_is_in((uint64_t)start, size) || (place != NULL && own_is_in((uint64_t)place, wanted)))
        return refuse("mremap");
    heap_changes(start, size);
    heap_changes(place, wanted);
    void *result = REAL(mremap)(start, size, wanted, flags, place);
    heap_changes(place, wanted);
    heap_changes(start, size);
    return result;
}

typedef void *map_function(void *, size_t, int, int, int, long);

static void *map(map_function *real, void *start, size_t size, int protection, int flags, int file,
                 long offset)
{
    if ((flags & MAP_FIXED) != 0) {
        if (own_is_in((uint64_t)start, size))
            return refuse("mmap");
        WITH_CHANGE(start, size, real(start, size, protection, flags, file, offset));
    }
    void *result = real(start, size, protection, flags, file, offset);
    if ((flags & MAP_ANONYMOUS) != 0 && (protection & PROT_READ) != 0 && result != MAP_FAILED &&
        runtime.plan->variable_count != 0)
        mapped_add(result, size);
    return result;
}

static void *hook_mmap(void *start, size_t size, int protection, int flags, int file, long offset)
{
    return map(REAL(mmap), start, size, protection, flags, file, offset);
}

static void *hook_mmap64(void *start, size_t size, int protection, int flags, int file, long offset)
{
    return map(REAL(mmap64), start, size, protection, flags, file, offset);
}

// UINT64_MAX would wrap around; 1 is enough to find out about the first page.
static uint64_t segment_size(int segment)
{
    struct shmid64_ds facts;
    return system_failed(SYSTEM_3(__NR_shmctl, segment, IPC_STAT, &facts)) ? 1 : facts.shm_segsz;
}

static void *hook_shmat(int segment, const void *start, int flags)
{
    if ((flags & SHM_REMAP) != 0) {
        if (own_is_in((uint64_t)start, segment_size(segment)))
            return refuse("shmat");
        heap_forget();
    }
    return REAL(shmat)(segment, start, flags);
}

// What a program asks syscall() for.

bool heap_call_hits_own(long number, long a, long b, long c, long d, long e)
{
    const uint64_t start = (uint64_t)a, size = (uint64_t)b;
    switch (number) {
    case __NR_munmap:
    case __NR_mprotect:
    case __NR_pkey_mprotect:
    case __NR_madvise:
        return own_is_in(start, size);
    case __NR_mmap:
        return (d & MAP_FIXED) != 0 && own_is_in(start, size);
    case __NR_mremap:
        return own_is_in(start, size) ||
               ((d & MREMAP_FIXED) != 0 && own_is_in((uint64_t)e, (uint64_t)c));
    case __NR_shmat:
        return (c & SHM_REMAP) != 0 && own_is_in(size, segment_size((int)a));
    default:
        return false;
    }
}

long heap_call(long number, long a, long b, long c, long d)
{
    void *start = (void *)a;
    const size_t size = (size_t)b;
    switch (number) {
    case __NR_munmap:
        return hook_munmap(start, size);
    case __NR_mprotect:
        return hook_mprotect(start, size, (int)c);
    case __NR_pkey_mprotect:
        return hook_pkey_mprotect(start, size, (int)c, (int)d);
    case __NR_madvise:
        return hook_madvise(start, size, (int)c);
    default:
        return (long)refuse(number == __NR_mmap    ? "mmap"
                            : number == __NR_shmat ? "shmat"
                                                   : "mremap");
    }
}

#define HOOK_ROW(name)                                                                             \
    {                                                                                              \
#name, (void *)hook_##name, &real_##name                                                   \
    }
const struct hook heap_hooks[HEAP_HOOKS] = {
    HOOK_ROW(munmap), HOOK_ROW(mprotect), HOOK_ROW(pkey_mprotect), HOOK_ROW(madvise),
    HOOK_ROW(mremap), HOOK_ROW(mmap),     HOOK_ROW(mmap64),        HOOK_ROW(shmat),
};

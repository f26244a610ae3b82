// SPDX-License-Identifier: GPL-3.0-or-later
// What the runtime uses instead of a C library: raw system calls, atomics and a few string helpers.
// Nothing here touches errno or can be intercepted.
#ifndef ORDEAL_RUNTIME_SYSTEM_H
#define ORDEAL_RUNTIME_SYSTEM_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// If not NULL: where to tell, as 1 + its number, which system call is being made. Calls in which a
// process may be killed for another reason than the call are left out.
extern uint64_t *system_mark;
#define SYSTEM_MAY_WAIT(number)                                                                    \
    ((number) == __NR_futex || (number) == __NR_clock_nanosleep || (number) == __NR_tgkill ||      \
     (number) == __NR_rt_tgsigqueueinfo)

static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    uint64_t *mark = system_mark;
    if (__builtin_expect(mark != NULL, 0))
        __atomic_store_n(mark, SYSTEM_MAY_WAIT(number) ? 0 : (uint64_t)number + 1,
                         __ATOMIC_RELEASE);
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (__builtin_expect(mark != NULL, 0))
        __atomic_store_n(mark, 0, __ATOMIC_RELEASE);
    return result;
}

#define SYSTEM_1(n, a)          system_call(n, (long)(a), 0, 0, 0, 0, 0)
#define SYSTEM_2(n, a, b)       system_call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYSTEM_3(n, a, b, c)    system_call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYSTEM_4(n, a, b, c, d) system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYSTEM_6(n, a, b, c, d, e, f)                                                              \
    system_call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

// The kernel reports failure as -4095..-1.
// Reads a place before it is written: for shared memory, the kernel maps neighbouring pages with a
// read, but not with a write.
static inline void system_touch(const void *place)
{
    (void)*(const volatile char *)place;
}

static inline bool system_failed(long result)
{
    return (unsigned long)result > -4096ul;
}

#define atomic_load(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define atomic_store(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define atomic_add(p, v)   __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define atomic_swap_if(p, o, n)                                                                    \
    ({                                                                                             \
        __typeof__(*(p)) expected_ = (o);                                                          \
        __atomic_compare_exchange_n(p, &expected_, n, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);      \
    })

void *memcpy(void *restrict target, const void *restrict source, size_t size);
void *memset(void *target, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *text, const char *prefix);
// Copies as much as fits, always terminated.
void text_copy(char *target, size_t room, const char *source);
// The part after the last slash.
const char *text_base(const char *path);
// Writes a number in decimal digits. Returns where it ends, which has a NUL.
char *text_put_number(char *text, unsigned number);
// Whether the text is a number, and which.
bool text_number(const char *text, int *ret_number);
// Shell pattern: * ? [a-z] [!a-z]. Linear apart from backing up to the last star.
bool text_glob(const char *pattern, const char *text);

// Reads or writes memory that a pointer of the target leads to, without the risk of a fault. If
// system_peek_by_copy is set, reads are made by the kernel's copy alone: valgrind would report the
// other way, or a fault could not be caught.
extern bool system_peek_by_copy;
bool system_copies(void); // whether the kernel's copy is permitted here
bool system_can_read(const void *address, size_t size);
bool system_peek(const void *address, void *target, size_t size);
bool system_poke(void *address, const void *source, size_t size);
// Copies a C string of the target, cut to room; false when the pointer is bad.
bool system_peek_text(const char *address, char *target, size_t room);

struct system_entry { // as getdents64() gives it
    uint64_t inode, offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

uint32_t system_pid(void);
uint32_t system_parent(void); // of this process
uint32_t system_tid(void);

// Shared futex: wait while *word == value, at most timeout_ms. False on timeout.
bool system_wait(uint32_t *word, uint32_t value, uint32_t timeout_ms);
void system_wake(uint32_t *word);

// A file as shared memory, or NULL.
void *system_map(long file, bool writable, uint64_t size);
const void *system_map_file(const char *path, uint64_t *ret_size); // read-only

void arena_reserve(void); // so that the next requests need no system call
// Memory that lives as long as the process, zero at first; NULL when there is none. Not for hot
// call_paths.
void *arena_new(size_t size);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Runs inside traced processes, in place of system calls that would stop: makes those that turn out
// to be invisible, records visible ones, answers for virtual clocks and numbers. Whatever is not as
// simple as that is left to the tracer. No data of its own, no other functions: the section is
// copied. A fault here is the program's, on an address it gave: the tracer then has the kernel
// answer.
#include "observe/inside/layout.h"
#include "observe/inside/virtual-clock.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define INSIDE  __attribute__((section("ordeal_inside"), noinline, used))
#define INLINE  static inline __attribute__((always_inline))
#define VECTORS 16u // buffers of one call

_Static_assert(offsetof(struct inside_slot, phase) == INSIDE_PHASE &&
                   offsetof(struct inside_slot, rdi) == INSIDE_RDI &&
                   offsetof(struct inside_slot, r15) == INSIDE_R15 &&
                   offsetof(struct inside_slot, rsp) == INSIDE_RSP &&
                   offsetof(struct inside_slot, near) == INSIDE_NEAR &&
                   offsetof(struct inside_slot, result) == INSIDE_RESULT &&
                   sizeof(struct inside_slot) < INSIDE_STACK - 0x1000,
               "as the assembly has it");
_Static_assert(INSIDE_SLOT_SIZE == 1 << INSIDE_SLOT_BITS, "as the assembly has it");

void inside_real(struct inside_slot *slot, uint64_t number) __attribute__((visibility("hidden")));
int64_t inside_kernel(uint64_t number, uint64_t first, void *second)
    __attribute__((visibility("hidden")));
int inside_call(struct inside_slot *slot, uint64_t number);

INLINE void copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

INLINE const struct inside_shared *shared(void)
{
    return (const struct inside_shared *)(INSIDE_BASE + INSIDE_CODE_SIZE);
}

// NULL: what the descriptor is open on is not known.
INLINE const struct inside_file *find_file(const struct inside_slot *slot, uint64_t descriptor)
{
    struct stat status;
    uint32_t number = (uint32_t)descriptor + 1;
    const struct inside_file *file = &slot->files[(uint32_t)descriptor % INSIDE_FILES];
    if (file->number != number ||
        file->generation != __atomic_load_n(&shared()->generation, __ATOMIC_ACQUIRE) ||
        inside_kernel(SYS_fstat, (uint32_t)descriptor, &status) != 0 ||
        status.st_dev != file->device || status.st_ino != file->inode ||
        status.st_nlink != file->links)
        return NULL;
    return file;
}

INLINE void put_record(struct inside_slot *slot, uint64_t number)
{
    char *at = (char *)slot + INSIDE_RECORDS + slot->used;
    struct inside_record *record = (struct inside_record *)at;
    // Another thread may have made the buffers of the call larger since has_room() looked.
    uint64_t room = INSIDE_RECORD_ROOM - sizeof *record - 8 - slot->used;
    uint64_t left = slot->result < room ? slot->result : room;
    record->number = (uint32_t)number;
    record->text = slot->text;
    record->data = (uint32_t)left;
    record->arguments[0] = slot->rdi;
    record->arguments[1] = slot->rsi;
    record->arguments[2] = slot->rdx;
    record->arguments[3] = slot->r10;
    record->result = (int64_t)slot->result;
    record->size = (uint32_t)((sizeof *record + left + 7) & ~7ull);
    char *data = at + sizeof *record;
    if (number == SYS_writev) {
        const struct iovec *vector = (const struct iovec *)slot->rsi;
        for (uint64_t i = 0; i < slot->rdx && left != 0; i++) {
            size_t step = vector[i].iov_len < left ? vector[i].iov_len : left;
            copy(data, vector[i].iov_base, step);
            data += step;
            left -= step;
        }
    } else {
        copy(data, (const void *)slot->rsi, left);
    }
    __atomic_store_n(&slot->used, slot->used + record->size, __ATOMIC_RELEASE);
}

// Whether a record of what is to be written has room.
INLINE int has_room(const struct inside_slot *slot, uint64_t number)
{
    uint64_t room = INSIDE_RECORD_ROOM - sizeof(struct inside_record) - 8, size = 0;
    if (slot->used > room)
        return 0;
    room -= slot->used;
    if (number != SYS_writev)
        return slot->rdx <= room;
    const struct iovec *vector = (const struct iovec *)slot->rsi;
    if (slot->rdx > VECTORS)
        return 0;
    for (uint64_t i = 0; i < slot->rdx; i++) {
        if (vector[i].iov_len > room - size)
            return 0;
        size += vector[i].iov_len;
    }
    return 1;
}

INLINE int transfer(struct inside_slot *slot, uint64_t number, int writes)
{
    const struct inside_file *file = find_file(slot, slot->rdi);
    if (file == NULL || (writes ? file->text == INSIDE_STOPS : !file->reads) ||
        (writes && file->text != INSIDE_INVISIBLE && !has_room(slot, number)))
        return 0;
    slot->text = writes ? file->text : INSIDE_INVISIBLE;
    inside_real(slot, number);
    if (slot->text != INSIDE_INVISIBLE && (int64_t)slot->result >= 0)
        put_record(slot, number);
    return 1;
}

// Paths that lead to what is virtual begin like this.
INLINE int is_proc(uint64_t address)
{
    const char *path = (const char *)address;
    return path != NULL && path[0] == '/' && path[1] == 'p' && path[2] == 'r' && path[3] == 'o' &&
           path[4] == 'c' && path[5] == '/';
}

INLINE int look(struct inside_slot *slot, uint64_t number, uint64_t path, uint64_t flags)
{
    if ((flags & (O_CREAT | O_TRUNC)) != 0 || is_proc(path))
        return 0;
    slot->text = INSIDE_INVISIBLE;
    inside_real(slot, number);
    return 1;
}

INLINE int answer_time(struct inside_slot *slot, uint64_t seconds, uint64_t *words, uint64_t unit)
{
    if (words == NULL)
        return 0;
    uint64_t now_ns = slot->now_ns + VIRTUAL_TICK_NS;
    words[0] = seconds + now_ns / 1000000000u;
    words[1] = now_ns % 1000000000u / unit;
    slot->now_ns = now_ns;
    slot->result = 0;
    return 1;
}

INLINE int answer(struct inside_slot *slot, uint64_t result)
{
    slot->result = result;
    return 1;
}

// Not 0: the call has been made, and slot->result is its result.
INSIDE int inside_call(struct inside_slot *slot, uint64_t number)
{
    slot->used_before = slot->used;
    slot->text = INSIDE_INVISIBLE;
    if (number == SYS_read || number == SYS_pread64 || number == SYS_readv)
        return transfer(slot, number, 0);
    if (number == SYS_write || number == SYS_pwrite64 || number == SYS_writev)
        return transfer(slot, number, 1);
    if (number == SYS_open)
        return look(slot, number, slot->rdi, slot->rsi);
    if (number == SYS_openat)
        return look(slot, number, slot->rsi, slot->rdx);
    if (number == SYS_stat || number == SYS_lstat || number == SYS_access || number == SYS_readlink)
        return look(slot, number, slot->rdi, 0);
    if (number == SYS_newfstatat || number == SYS_faccessat || number == SYS_faccessat2 ||
        number == SYS_statx || number == SYS_readlinkat)
        return look(slot, number, slot->rsi, 0);
    if (number == SYS_clock_gettime && slot->rdi < VIRTUAL_MOST_CLOCKS)
        return answer_time(slot, virtual_clock_start_s((int64_t)slot->rdi), (uint64_t *)slot->rsi,
                           1);
    if (number == SYS_gettimeofday && slot->rsi == 0)
        return answer_time(slot, VIRTUAL_START_S, (uint64_t *)slot->rdi, 1000);
    if (number == SYS_getpid && slot->shown_pid != 0)
        return answer(slot, slot->shown_pid);
    if (number == SYS_gettid && slot->shown_tid != 0)
        return answer(slot, slot->shown_tid);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// A constructor in programs built with `ordeal cc --counters`, once per linked file. It maps a
// shared file over the counters' memory before the program begins, so that counts survive however
// the process ends, and several processes add up. It is compiled to bitcode, which the compiler
// pass links into every module. It needs no library and changes nothing else: if something fails,
// the counters stay private memory.
#include "mutate/counts.h"

#include <stddef.h>

enum {
    SYS_read = 0,
    SYS_open = 2,
    SYS_close = 3,
    SYS_lseek = 8,
    SYS_mmap = 9,
    SYS_munmap = 11,
    SYS_pread = 17,
    SYS_pwrite = 18,
    SYS_mremap = 25,
    SYS_ftruncate = 77,
    SYS_getuid = 102,
    SYS_getgid = 104,
    SYS_geteuid = 107,
    SYS_getegid = 108,
    SYS_fallocate = 285,
};
#define OPEN_READ         0x80000 // O_RDONLY | O_CLOEXEC
#define OPEN_COUNTS       0xa0042 // O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
#define READ_WRITE        3       // PROT_READ | PROT_WRITE
#define MAP_SHARED        1
#define MREMAP_MOVE_FIXED 3     // MREMAP_MAYMOVE | MREMAP_FIXED
#define NOT_SUPPORTED     (-95) // -EOPNOTSUPP

extern char __start_ordeal_counts[], __stop_ordeal_counts[];

void ordeal_counters_start(int argument_count, char **arguments, char **environment);

static long ask(long number, long a, long b, long c, long d, long e)
{
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

static const char *directory(char **environment)
{
    static const char name[] = COUNTS_VARIABLE "=";
    for (; environment != NULL && *environment != NULL; environment++) {
        size_t i = 0;
        while (name[i] != '\0' && (*environment)[i] == name[i])
            i++;
        if (name[i] == '\0')
            return (*environment)[i] != '\0' ? *environment + i : NULL;
    }
    return NULL;
}

// Whether the program runs with more rights than its caller. Then it ignores the variable: the
// caller must not decide which file such a program writes.
static int is_privileged(void)
{
    return ask(SYS_getuid, 0, 0, 0, 0, 0) != ask(SYS_geteuid, 0, 0, 0, 0, 0) ||
           ask(SYS_getgid, 0, 0, 0, 0, 0) != ask(SYS_getegid, 0, 0, 0, 0, 0);
}

// The name of the counts file, a hash of the modules. Linked files with the same modules share a
// file, since their counters mean the same.
static uint64_t name_of(const char *start, const char *end)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = start; at < end;) {
        const struct counts_header *header = (const struct counts_header *)(const void *)at;
        if (header->magic != COUNTS_MAGIC || header->size == 0)
            return 0;
        hash = (hash ^ header->key) * 0x100000001b3u;
        hash ^= hash >> 29;
        at += header->size;
    }
    return hash;
}

static int make_path(const char *folder, uint64_t name, char *path, size_t room)
{
    size_t size = 0;
    for (; folder[size] != '\0'; size++) {
        if (size + 32 > room)
            return 0;
        path[size] = folder[size];
    }
    path[size++] = '/';
    for (int shift = 60; shift >= 0; shift -= 4)
        path[size++] = "0123456789abcdef"[(name >> shift) & 15];
    for (const char *ending = COUNTS_ENDING; *ending != '\0'; ending++)
        path[size++] = *ending;
    path[size] = '\0';
    return 1;
}

// The path of the linked file: of the mapping in /proc/self/maps ("START-END ... PATH\n") that
// holds the counters.
static size_t own_path(uint64_t address, char *path, size_t room)
{
    char chunk[1024];
    uint64_t number = 0, first = 0;
    size_t size = 0;
    int field = 0; // start, end, the rest up to a slash, the path
    long count, file = ask(SYS_open, (long)"/proc/self/maps", OPEN_READ, 0, 0, 0);
    while (file >= 0 && (count = ask(SYS_read, file, (long)chunk, sizeof chunk, 0, 0)) > 0)
        for (long i = 0; i < count; i++) {
            char byte = chunk[i];
            if (byte == '\n') {
                if (field == 3) {
                    ask(SYS_close, file, 0, 0, 0, 0);
                    return size;
                }
                field = 0;
                number = 0;
            } else if (field == 0 && byte == '-') {
                first = number;
                number = 0;
                field = 1;
            } else if (field == 1 && byte == ' ') {
                field = first <= address && address < number ? 2 : 4;
            } else if (field < 2) {
                number = number * 16 + (uint64_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
            } else if (field == 2 && byte == '/') {
                field = 3;
                path[size++] = byte;
            } else if (field == 3 && size + 1 < room) {
                path[size++] = byte;
            }
        }
    if (file >= 0)
        ask(SYS_close, file, 0, 0, 0, 0);
    return 0;
}

// Allocates storage for the whole file now: on a full disk, the program would get SIGBUS later.
static int make_room(long file, size_t wanted)
{
    long size = ask(SYS_lseek, file, 0, 2, 0, 0);
    if (size < 0 || size > (long)wanted)
        return 0;
    if (size == (long)wanted)
        return 1;
    long result = ask(SYS_fallocate, file, 0, 0, (long)wanted, 0);
    if (result == NOT_SUPPORTED)
        result = ask(SYS_ftruncate, file, (long)wanted, 0, 0, 0);
    return result == 0;
}

// Adds what constructors before this one have counted. Other processes may add at the same time.
// The headers are the same for all.
static void add_counts(const char *start, const char *end, char *shared)
{
    for (const char *at = start; at < end;) {
        const uint64_t *from = (const uint64_t *)(const void *)at;
        uint64_t *to = (uint64_t *)(void *)(shared + (at - start));
        size_t head = sizeof(struct counts_header) / sizeof *from;
        const struct counts_header *header = (const struct counts_header *)(const void *)at;
        for (size_t i = 0; i < head; i++)
            to[i] = from[i];
        for (size_t i = head; i < header->size / sizeof *from; i++)
            if (from[i] != 0)
                __atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
        at += header->size;
    }
}

static void note_path(long file, const char *start, size_t size)
{
    char path[COUNTS_PAGE];
    if (ask(SYS_pread, file, (long)path, 1, (long)size, 0) != 1 || path[0] != '\0')
        return;
    size_t length = own_path((uint64_t)(uintptr_t)start, path, sizeof path);
    if (length != 0)
        ask(SYS_pwrite, file, (long)path, (long)length, (long)size, 0);
}

static void share(long file, char *start, char *end)
{
    size_t size = (size_t)(end - start);
    if (!make_room(file, size + COUNTS_PAGE))
        return;
    note_path(file, start, size);
    long shared = ask(SYS_mmap, 0, (long)size, READ_WRITE, MAP_SHARED, file);
    if (shared < 0 && shared > -(long)COUNTS_PAGE)
        return;
    const uint64_t *theirs = (const uint64_t *)shared, *ours = (const uint64_t *)(void *)start;
    if (theirs[0] != 0 && theirs[0] != ours[0]) {
        ask(SYS_munmap, shared, (long)size, 0, 0, 0);
        return;
    }
    add_counts(start, end, (char *)shared);
    ask(SYS_mremap, shared, (long)size, (long)size, MREMAP_MOVE_FIXED, (long)start);
}

void ordeal_counters_start(int argument_count, char **arguments, char **environment)
{
    char *start = __start_ordeal_counts, *end = __stop_ordeal_counts;
    const char *folder = directory(environment);
    char path[COUNTS_PAGE];
    if (folder == NULL || start == end || is_privileged())
        return;
    uint64_t name = name_of(start, end);
    if (name == 0 || !make_path(folder, name, path, sizeof path))
        return;
    long file = ask(SYS_open, (long)path, OPEN_COUNTS, 0666, 0, 0);
    if (file < 0)
        return;
    share(file, start, end);
    ask(SYS_close, file, 0, 0, 0, 0);
}

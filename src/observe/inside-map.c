// SPDX-License-Identifier: GPL-3.0-or-later
// Puts our code, the shared memory and pages for stubs into a process: it makes the calls itself.
#include "observe/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE      4096u
#define BELOW     1024u        // of the stack pointer, outside the red zone
#define FAR       (1ull << 30) // what the program maps itself seldom comes so near
#define STEP      (1ull << 24)
#define TRIES     8
#define MOST_NEAR (INT32_MAX - (1 << 20))
#define ADDRESSES 0x7fffffff0000ull // end before

static bool has_room(pid_t pid)
{
    struct rlimit limit;
    return prlimit(pid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

static bool is_same_file(const struct inside *inside, const struct tracer_task *task, int number)
{
    char path[64];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", task->tid, number);
    return stat(path, &theirs) == 0 && fstat(inside->file, &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static bool map_parts(struct tracer_task *task, struct tracer_injection *injection, int file)
{
    const uint64_t code[] = {INSIDE_BASE,           INSIDE_CODE_SIZE,
                             PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                             (uint64_t)file,        0},
                   slots[] = {INSIDE_BASE + INSIDE_CODE_SIZE,
                              INSIDE_SIZE - INSIDE_CODE_SIZE,
                              PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED_NOREPLACE,
                              (uint64_t)file,
                              INSIDE_CODE_SIZE};
    int64_t result;
    if (!tracer_inject(task, injection, SYS_mmap, code, &result) || result != INSIDE_BASE)
        return false;
    if (!tracer_inject(task, injection, SYS_mmap, slots, &result))
        return false;
    if (result == INSIDE_BASE + INSIDE_CODE_SIZE)
        return true;
    const uint64_t undo[6] = {INSIDE_BASE, INSIDE_CODE_SIZE};
    tracer_inject(task, injection, SYS_munmap, undo, &result);
    return false;
}

// What is below the stack pointer is another one's, if the stack ends there: it is given back.
bool inside_map(const struct inside *inside, struct tracer_task *task,
                struct tracer_injection *injection)
{
    char path[64], below[sizeof path];
    uint64_t text = (injection->saved.rsp - BELOW) & ~(uint64_t)63;
    int64_t file, result;
    int size = snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), inside->file);
    const uint64_t open_it[6] = {(uint64_t)AT_FDCWD, text, O_RDWR | O_CLOEXEC};
    if (!has_room(task->pid) || tracer_read(task, text, below, sizeof below) != sizeof below ||
        !tracer_write(task, text, path, (size_t)size + 1))
        return false;
    bool opened = tracer_inject(task, injection, SYS_openat, open_it, &file) && file >= 0;
    tracer_write(task, text, below, sizeof below);
    if (!opened)
        return false;
    bool mapped = is_same_file(inside, task, (int)file) && map_parts(task, injection, (int)file);
    const uint64_t close_it[6] = {(uint64_t)file};
    return tracer_inject(task, injection, SYS_close, close_it, &result) && mapped;
}

bool inside_is_unused(const struct tracer_task *task, const struct inside_space *space)
{
    for (size_t i = 0; i < INSIDE_NEARS; i++)
        if (space->nears[i].address != 0 &&
            tracer_is_between(task, space->nears[i].address - 1, space->nears[i].address + PAGE))
            return false;
    return !tracer_is_between(task, INSIDE_BASE - 1, INSIDE_BASE + INSIDE_CODE_SIZE);
}

// Pages with stubs stay: handlers of signals may return to them.
void inside_unmap(struct tracer_task *task, struct tracer_injection *injection)
{
    const uint64_t arguments[6] = {INSIDE_BASE, INSIDE_SIZE};
    int64_t result;
    tracer_inject(task, injection, SYS_munmap, arguments, &result);
}

static bool is_near(uint64_t a, uint64_t b)
{
    uint64_t distance = a > b ? a - b : b - a;
    return distance < MOST_NEAR;
}

bool inside_near(const struct inside_space *space, uint64_t place, size_t *ret_index)
{
    for (size_t i = 0; i < INSIDE_NEARS; i++) {
        if (space->nears[i].address == 0 || !is_near(space->nears[i].address, place) ||
            space->nears[i].used == PAGE / INSIDE_STUB)
            continue;
        *ret_index = i;
        return true;
    }
    return false;
}

bool inside_map_near(struct tracer_task *task, struct tracer_injection *injection,
                     struct inside_space *space, uint64_t place)
{
    size_t index = 0;
    while (index < INSIDE_NEARS && space->nears[index].address != 0)
        index++;
    for (unsigned i = 0; i < 2 * TRIES && index < INSIDE_NEARS; i++) {
        uint64_t page = place & ~(uint64_t)(PAGE - 1), away = FAR + i / 2 * STEP;
        bool below = i % 2 == 0;
        if (below ? page < 2 * away : page + away > ADDRESSES)
            continue;
        page = below ? page - away : page + away;
        const uint64_t arguments[] = {page,
                                      PAGE,
                                      PROT_READ | PROT_EXEC,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                      (uint64_t)-1,
                                      0};
        int64_t result;
        if (!tracer_inject(task, injection, SYS_mmap, arguments, &result))
            return false;
        if (result != (int64_t)page)
            continue;
        space->nears[index].address = page;
        space->nears[index].used = 0;
        return true;
    }
    return false;
}

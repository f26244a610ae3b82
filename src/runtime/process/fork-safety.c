// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a fork makes a complete and independent copy of this process, and what the copy needs for
// itself: files with positions of its own.
#include "runtime/fork.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>

#define FILES 64 // regular files and directories that are open, at most

struct identity {
    uint32_t major, minor;
    uint64_t inode;
};

static struct identity streams[2]; // stdout and stderr at the start

static bool look(int descriptor, struct statx *status)
{
    return !system_failed(
        SYSTEM_6(__NR_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO, status, 0));
}

static struct identity identity_of(const struct statx *status)
{
    return (struct identity){status->stx_dev_major, status->stx_dev_minor, status->stx_ino};
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static bool is_stream(const struct identity *identity)
{
    return is_same(identity, &streams[0]) || is_same(identity, &streams[1]);
}

void fork_note_streams(void)
{
    struct statx status;
    for (int i = 0; i < 2; i++)
        if (look(i + 1, &status) && S_ISFIFO(status.stx_mode))
            streams[i] = identity_of(&status);
}

// Devices without state: null, zero, full, random, urandom.
static bool is_plain_device(const struct statx *status)
{
    const uint32_t memory = 1;
    uint32_t minor = status->stx_rdev_minor;
    return S_ISCHR(status->stx_mode) && status->stx_rdev_major == memory &&
           (minor == 3 || minor == 5 || minor == 7 || minor == 8 || minor == 9);
}

struct visit {
    struct identity files[FILES];
    uint32_t count;
    bool separate; // open the files again; otherwise only check
};

static struct opening {
    int descriptor, fresh;
    bool closes; // on exec
} fork_openings[FILES];
static uint32_t opening_count;

// Opens the same file again, at the same position, for the child to use under the same number. The
// workload does it, not the child: the first access below /proc is expensive in a new process, and
// here each child would pay.
static bool reopen(int descriptor, long flags)
{
    const int in_all = 0, here = 1;
    char path[32] = "/proc/self/fd/";
    text_put_number(path + text_length(path), (unsigned)descriptor);
    long closes = SYSTEM_2(__NR_fcntl, descriptor, F_GETFD);
    long at = SYSTEM_3(__NR_lseek, descriptor, 0, here);
    long wanted = flags & ~(long)(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY);
    long fresh = fork_system(__NR_open, (long)path, wanted | O_CLOEXEC, 0, 0);
    if (system_failed(fresh))
        return false;
    fork_openings[opening_count++] =
        (struct opening){descriptor, (int)fresh, (closes & FD_CLOEXEC) != 0};
    return !system_failed(closes) && !system_failed(at) &&
           SYSTEM_3(__NR_lseek, fresh, at, in_all) == at;
}

void fork_close_files(void)
{
    for (uint32_t i = 0; i < opening_count; i++)
        SYSTEM_1(__NR_close, fork_openings[i].fresh);
}

bool fork_take_files(void)
{
    bool placed = true;
    for (uint32_t i = 0; i < opening_count; i++)
        placed &= !system_failed(fork_system(__NR_dup3, fork_openings[i].fresh,
                                             fork_openings[i].descriptor,
                                             fork_openings[i].closes ? O_CLOEXEC : 0, 0));
    fork_close_files();
    return placed;
}

// The same file twice may be one open file under two numbers, which share their position.
static enum wire_fork_refusal visit_file(struct visit *visit, int descriptor,
                                         const struct statx *status, long flags)
{
    struct identity identity = identity_of(status);
    for (uint32_t i = 0; i < visit->count; i++)
        if (is_same(&visit->files[i], &identity))
            return WIRE_FORK_DESCRIPTORS;
    if (visit->count == FILES)
        return WIRE_FORK_DESCRIPTORS;
    visit->files[visit->count++] = identity;
    // A file that is open for reading and writing may be mapped, and made writable later.
    if (S_ISREG(status->stx_mode) && (flags & O_ACCMODE) == O_RDWR)
        return WIRE_FORK_DESCRIPTORS;
    if (visit->separate && !reopen(descriptor, flags))
        return WIRE_FORK_DESCRIPTORS;
    return WIRE_FORK_OK;
}

static enum wire_fork_refusal visit_one(struct visit *visit, int descriptor)
{
    struct statx status;
    long flags = SYSTEM_2(__NR_fcntl, descriptor, F_GETFL);
    if (system_failed(flags) || !look(descriptor, &status))
        return WIRE_FORK_DESCRIPTORS;
    struct identity identity = identity_of(&status);
    bool stream = S_ISFIFO(status.stx_mode) && is_stream(&identity);
    if (descriptor == 1 || descriptor == 2)
        return stream || is_plain_device(&status) ? WIRE_FORK_OK : WIRE_FORK_STREAMS;
    if ((flags & O_PATH) != 0 || is_plain_device(&status))
        return WIRE_FORK_OK;
    if (S_ISREG(status.stx_mode) || S_ISDIR(status.stx_mode))
        return visit_file(visit, descriptor, &status, flags);
    return WIRE_FORK_DESCRIPTORS;
}

// All numbers are read before anything is opened or closed.
static enum wire_fork_refusal visit_all(struct visit *visit)
{
    static int fork_numbers[4 * FILES];
    static char fork_entries[2048] __attribute__((aligned(8)));
    uint32_t count = 0;
    long directory = SYSTEM_3(__NR_open, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (system_failed(directory))
        return WIRE_FORK_DESCRIPTORS;
    enum wire_fork_refusal refusal = WIRE_FORK_OK;
    long size;
    while ((size = SYSTEM_3(__NR_getdents64, directory, fork_entries, sizeof fork_entries)) > 0)
        for (long at = 0; at < size;) {
            const struct system_entry *entry = (const struct system_entry *)(fork_entries + at);
            int number;
            at += entry->size;
            if (!text_number(entry->name, &number) || number == (int)directory)
                continue;
            if (count == sizeof fork_numbers / sizeof *fork_numbers)
                refusal = WIRE_FORK_DESCRIPTORS;
            else
                fork_numbers[count++] = number;
        }
    SYSTEM_1(__NR_close, directory);
    for (uint32_t i = 0; i < count && refusal == WIRE_FORK_OK; i++)
        refusal = visit_one(visit, fork_numbers[i]);
    return size < 0 ? WIRE_FORK_DESCRIPTORS : refusal;
}

enum wire_fork_refusal fork_open_files(void)
{
    struct visit visit;
    visit.count = 0;
    visit.separate = true;
    opening_count = 0;
    enum wire_fork_refusal refusal = visit_all(&visit);
    if (refusal != WIRE_FORK_OK)
        fork_close_files();
    return refusal;
}

static bool has_threads(void)
{
    const uint32_t alone = 3; // links of a directory with one directory in it
    struct statx status;
    return system_failed(
               SYSTEM_6(__NR_statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &status, 0)) ||
           status.stx_nlink != alone;
}

static bool has_children(void)
{
    const int any = 0;
    const long none = -10, no_wait = 0x41000005; // __WALL | WNOWAIT | WNOHANG | WEXITED
    return SYSTEM_6(__NR_waitid, any, 0, 0, no_wait, 0, 0) != none;
}

static bool has_timers(void)
{
    for (int kind = 0; kind < 3; kind++) {
        int64_t times[4] = {0, 0, 0, 0};
        if (system_failed(SYSTEM_2(__NR_getitimer, kind, times)) || times[2] != 0 || times[3] != 0)
            return true;
    }
    char byte;
    long file = SYSTEM_3(__NR_open, "/proc/self/timers", O_RDONLY | O_CLOEXEC, 0);
    if (system_failed(file)) // not every kernel has it
        return false;
    long size = SYSTEM_3(__NR_read, file, &byte, 1);
    SYSTEM_1(__NR_close, file);
    return size != 0;
}

static bool has_pending_signals(void)
{
    uint64_t pending = 0;
    return system_failed(SYSTEM_2(__NR_rt_sigpending, &pending, 8)) || pending != 0;
}

// A line of /proc/self/maps: "LOW-HIGH PERMISSIONS OFFSET …".
struct map_line {
    uint64_t low;
    bool low_done;
    int spaces;
    int column; // within the permissions
    bool writable, shared;
};

// False: writable memory that is shared and is not the region.
static bool map_take(struct map_line *line, char c)
{
    if (c == '\n') {
        bool bad = line->writable && line->shared &&
                   (line->low < (uint64_t)runtime.region ||
                    line->low >= (uint64_t)runtime.region + runtime.region->size);
        *line = (struct map_line){0};
        return !bad;
    }
    if (c == ' ') {
        line->spaces++;
        return true;
    }
    if (line->spaces == 0) {
        line->low_done |= c == '-';
        if (!line->low_done)
            line->low = line->low * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    } else if (line->spaces == 1) {
        line->writable |= line->column == 1 && c == 'w';
        line->shared |= line->column == 3 && c == 's';
        line->column++;
    }
    return true;
}

static bool shares_memory(void)
{
    static char fork_maps[4096];
    struct map_line line = {0};
    long size, file = SYSTEM_3(__NR_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (system_failed(file))
        return true;
    bool alone = true;
    while ((size = SYSTEM_3(__NR_read, file, fork_maps, sizeof fork_maps)) > 0)
        for (long i = 0; i < size; i++)
            alone &= map_take(&line, fork_maps[i]);
    SYSTEM_1(__NR_close, file);
    return size < 0 || !alone;
}

enum wire_fork_refusal fork_safety(void)
{
    struct visit visit;
    visit.count = 0;
    visit.separate = false;
    if (has_threads())
        return WIRE_FORK_THREADS;
    if (has_children())
        return WIRE_FORK_PROCESSES;
    if (has_timers())
        return WIRE_FORK_TIMERS;
    if (has_pending_signals())
        return WIRE_FORK_SIGNALS;
    if (shares_memory())
        return WIRE_FORK_MEMORY;
    return visit_all(&visit);
}

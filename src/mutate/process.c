// SPDX-License-Identifier: GPL-3.0-or-later
// Enables faults in a running process: stops all its threads, patches its memory and lets them go
// on. What changes is always within one instruction, so no thread can stand there; this is checked
// all the same.
#include "mutate/image.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "mutate/running.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

struct thread {
    pid_t id;
    int signal; // that it was about to receive when it was stopped; 0: none
};

struct stopped {
    ARRAY(struct thread) threads;
};

// ---- threads ----

static void let_go(struct stopped *stopped)
{
    for (size_t i = 0; i < stopped->threads.count; i++)
        ptrace(PTRACE_DETACH, stopped->threads.items[i].id, NULL,
               (void *)(intptr_t)stopped->threads.items[i].signal);
    ARRAY_DEINIT(&stopped->threads);
}

static bool has(const struct stopped *stopped, pid_t thread)
{
    for (size_t i = 0; i < stopped->threads.count; i++)
        if (stopped->threads.items[i].id == thread)
            return true;
    return false;
}

// Stops a thread. It is no error if the thread has ended.
static struct error *stop_thread(pid_t thread, struct stopped *stopped)
{
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0) {
        if (errno == ESRCH)
            return NULL;
        return error_from_errno(errno,
                                "cannot stop thread %d; is another debugger attached, or does it "
                                "belong to somebody else?",
                                thread);
    }
    struct thread *slot = ARRAY_ADD(&stopped->threads);
    if (slot == NULL) {
        ptrace(PTRACE_DETACH, thread, NULL, NULL);
        return error_no_memory();
    }
    slot->id = thread;
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    int status = 0;
    while (waitpid(thread, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (WIFSTOPPED(status) && status >> 16 == 0) // not our interruption
        slot->signal = WSTOPSIG(status);
    return NULL;
}

// Stops all threads. Threads may start others until all are stopped, so this repeats until there is
// no new one.
static struct error *stop_all(int process, struct stopped *stopped)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    for (size_t before = SIZE_MAX; before != stopped->threads.count;) {
        before = stopped->threads.count;
        DIR *directory = opendir(path);
        if (directory == NULL)
            return error_from_errno(errno, "there is no process %d", process);
        struct error *error = NULL;
        for (struct dirent *entry; error == NULL && (entry = readdir(directory)) != NULL;) {
            pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
            if (thread > 0 && !has(stopped, thread))
                error = stop_thread(thread, stopped);
        }
        closedir(directory);
        TRY(error);
    }
    return NULL;
}

// The bytes of an entry may begin before the instruction that is changed.
static size_t first_changed(const struct image_patch *patch)
{
    size_t first = 0;
    while (first < patch->size && patch->before[first] == patch->after[first])
        first++;
    return first;
}

// Changes of a plain file's code may hold calls; a thread must not come back into the midst of one.
static struct error *check_places(const struct stopped *stopped, const struct image *image,
                                  const struct image_patches *patches, int memory, uint64_t bias)
{
    for (size_t i = 0; i < stopped->threads.count; i++) {
        struct user_regs_struct registers;
        bool found = false;
        if (ptrace(PTRACE_GETREGS, stopped->threads.items[i].id, NULL, &registers) < 0)
            continue; // it has ended
        if (image->plain)
            TRY(running_returns_into(patches, memory, registers.rsp, bias, &found));
        if (found)
            return error_new("thread %d will return into bytes that would be changed; try again",
                             stopped->threads.items[i].id);
        for (size_t j = 0; j < patches->items.count; j++) {
            const struct image_patch *patch = &patches->items.items[j];
            uint64_t start = patch->address + bias + first_changed(patch);
            if (registers.rip > start && registers.rip < patch->address + bias + patch->size)
                return error_new("thread %d stands in bytes that would be changed; try again",
                                 stopped->threads.items[i].id);
        }
    }
    return NULL;
}

// ---- memory ----

// Where the image is loaded: the number to add to its link-time addresses.
static struct error *find_bias(int process, const struct image *image, uint64_t *ret_bias)
{
    struct stat wanted;
    if (stat(image->path, &wanted) < 0)
        return error_from_errno(errno, "cannot look at %s", image->path);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    _cleanup_fclose_ FILE *maps = fopen(path, "re");
    if (maps == NULL)
        return error_from_errno(errno, "there is no process %d", process);
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, maps) > 0) {
        uint64_t start, offset, inode;
        unsigned major, minor;
        if (sscanf(line, "%" SCNx64 "-%*x %*4c %" SCNx64 " %x:%x %" SCNu64, &start, &offset, &major,
                   &minor, &inode) != 5 ||
            inode != wanted.st_ino)
            continue;
        for (size_t i = 0; i < image->segments.count; i++) {
            const struct image_segment *segment = &image->segments.items[i];
            if (segment->offset / 4096 == offset / 4096) {
                *ret_bias = start - (segment->address & ~(uint64_t)4095);
                return NULL;
            }
        }
    }
    return error_new(
        "process %d does not have %s loaded; was the file replaced since it was started?", process,
        image->path);
}

static struct error *take_bytes(int memory, unsigned char *bytes, size_t size, uint64_t address,
                                uint64_t bias)
{
    for (size_t done = 0; done < size;) {
        uint64_t at = address + bias + done;
        ssize_t count = pread(memory, bytes + done, size - done, (off_t)at);
        if (count <= 0)
            return error_from_errno(count < 0 ? errno : EIO,
                                    "cannot read the process at 0x%" PRIx64, at);
        done += (size_t)count;
    }
    return NULL;
}

// Reads all patchable code of one segment at once: thousands of single reads would take longer than
// everything else.
static struct error *take_segment(int memory, struct image *image,
                                  const struct image_segment *segment, uint64_t bias)
{
    _cleanup_free_ unsigned char *code = malloc(segment->file_size + 1);
    if (code == NULL)
        return error_no_memory();
    TRY(take_bytes(memory, code, segment->file_size, segment->address, bias));
    for (size_t i = 0; i < image->changes.items.count; i++) {
        const struct image_patch *change = &image->changes.items.items[i];
        uint64_t inside = change->address - segment->address;
        if (change->address >= segment->address && inside < segment->file_size &&
            segment->file_size - inside >= change->size)
            memcpy(image_code(image, change->address, change->size), code + inside, change->size);
    }
    size_t places = image->markers.count + image->entries.count;
    for (size_t i = 0; i < places; i++) {
        uint64_t address = i < image->markers.count
                               ? image->markers.items[i].address
                               : image->entries.items[i - image->markers.count].address;
        uint64_t inside = address - segment->address;
        if (address >= segment->address && inside < segment->file_size &&
            segment->file_size - inside >= MARK_NOP_SIZE)
            memcpy(image_code(image, address, MARK_NOP_SIZE), code + inside, MARK_NOP_SIZE);
    }
    return NULL;
}

// Brings the image to the state of the process's memory, which may differ from the file.
static struct error *take_state(int memory, struct image *image, uint64_t bias)
{
    for (size_t i = 0; i < image->segments.count; i++)
        if (image->segments.items[i].code)
            TRY(take_segment(memory, image, &image->segments.items[i], bias));
    unsigned char *variable = image->decide == MAP_VARIABLE ? image_variable(image) : NULL;
    if (variable != NULL)
        TRY(take_bytes(memory, variable, sizeof(uint32_t), image->variable, bias));
    return NULL;
}

static struct error *put_patches(int memory, const struct image_patches *patches, uint64_t bias)
{
    for (size_t i = 0; i < patches->items.count; i++) {
        const struct image_patch *patch = &patches->items.items[i];
        if (pwrite(memory, patch->after, patch->size, (off_t)(patch->address + bias)) !=
            (ssize_t)patch->size)
            return error_from_errno(errno, "cannot change the process at 0x%" PRIx64,
                                    patch->address + bias);
    }
    return NULL;
}

// ---- what is running ----

static struct error *find_running(const struct image *image, const struct running_ranges *ranges,
                                  const struct stopped *stopped, int memory, uint64_t bias,
                                  bool **ret_running)
{
    _cleanup_free_ bool *running = calloc(image->functions.count + 1, sizeof *running);
    if (running == NULL)
        return error_no_memory();
    for (size_t i = 0; i < stopped->threads.count; i++) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_GETREGS, stopped->threads.items[i].id, NULL, &registers) < 0)
            continue; // it has ended
        TRY(running_mark(ranges, memory, registers.rip, registers.rsp, bias, running));
    }
    *ret_running = TAKE(running);
    return NULL;
}

// ---- all of it ----

static struct error *work_out(struct image *image, const bool *enabled, bool add,
                              struct image_patches *ret_patches)
{
    _cleanup_free_ bool *wanted = NULL;
    TRY(image_enabled(image, &wanted));
    for (size_t i = 0; i < image->candidates.count; i++)
        wanted[i] = enabled[i] || (add && wanted[i]);
    return image_enable(image, wanted, ret_patches);
}

static struct error *change(int process, int memory, struct image *image, const bool *enabled,
                            bool add, struct process_report *ret_report)
{
    _cleanup_(let_go) struct stopped stopped = {0};
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    _cleanup_(running_ranges_deinit) struct running_ranges ranges = {0};
    _cleanup_free_ bool *running = NULL;
    uint64_t bias;
    TRY(find_bias(process, image, &bias));
    TRY(take_state(memory, image, bias));
    if (!image->plain)
        TRY(running_ranges_find(image, &ranges));
    TRY(work_out(image, enabled, add, &patches));
    uint64_t start_ns = clock_ns();
    TRY(stop_all(process, &stopped));
    TRY(check_places(&stopped, image, &patches, memory, bias));
    TRY(find_running(image, &ranges, &stopped, memory, bias, &running));
    TRY(put_patches(memory, &patches, bias));
    ret_report->running = TAKE(running);
    ret_report->threads = stopped.threads.count;
    ret_report->patches = patches.items.count;
    let_go(&stopped);
    ret_report->stopped_ns = clock_ns() - start_ns;
    return NULL;
}

// ---- a program about to be started ----

static struct error *arm(pid_t process, struct image *image, const bool *enabled)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    _cleanup_close_ int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return error_from_errno(errno, "cannot reach into process %d", process);
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    uint64_t bias;
    TRY(find_bias(process, image, &bias));
    TRY(image_enable(image, enabled, &patches));
    return put_patches(memory, &patches, bias);
}

struct start {
    struct image *image;
    const bool *enabled;
};

static struct error *arm_loaded(void *data, pid_t process)
{
    const struct start *start = data;
    return arm(process, start->image, start->enabled);
}

struct error *process_run(char *const *command, struct image *image, const bool *enabled,
                          int *ret_status)
{
    struct start start = {image, enabled};
    return child_run(
        &(const struct child){.command = command, .loaded = arm_loaded, .data = &start},
        ret_status);
}

struct error *process_enable(int process, struct image *image, const bool *enabled, bool add,
                             struct process_report *ret_report)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    _cleanup_close_ int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0 && errno == ENOENT)
        return error_new("there is no process %d", process);
    if (memory < 0)
        return error_from_errno(errno, "cannot reach into process %d", process);
    return change(process, memory, image, enabled, add, ret_report);
}

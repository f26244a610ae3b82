// SPDX-License-Identifier: GPL-3.0-or-later
// Walks /proc from a command to the process and thread that hang, and reads the stack there. Errors
// end here: a hang without a stack is still a hang.
#include "oracle/hang.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "base/quote.h"
#include "base/timeouts.h"
#include "dwarf/live.h"
#include "injector/journal-reader.h"
#include "oracle/terminal-wait.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define DEPTH   32 // of a chain of processes that wait for each other
#define SAMPLES 5  // of the stack of a busy thread
#define GLANCES 3  // at a thread before it counts as busy

struct process {
    pid_t pid, parent;
    char state; // as ps shows it: R, S, D, Z, T
};

static bool read_line(const char *path, char *line, size_t size)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    return file != NULL && fgets(line, (int)size, file) != NULL;
}

// Reads the stat file of a process or thread. The name in parentheses may contain anything, so the
// last ')' ends it.
static bool read_stat(const char *path, struct process *ret_process)
{
    char line[1024];
    if (!read_line(path, line, sizeof line))
        return false;
    const char *name_end = strrchr(line, ')');
    int parent;
    if (name_end == NULL || sscanf(name_end + 1, " %c %d", &ret_process->state, &parent) != 2)
        return false;
    ret_process->pid = atoi(line);
    ret_process->parent = parent;
    return true;
}

static bool read_process(pid_t pid, struct process *ret_process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_stat(path, ret_process);
}

// The child that most likely keeps its parent waiting: a busy one, else the newest one alive.
static bool find_child(pid_t parent, struct process *ret_child)
{
    _cleanup_closedir_ DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool found = false;
    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !read_process(atoi(entry->d_name), &process) || process.parent != parent ||
            process.state == 'Z' || process.state == 'X')
            continue;
        bool better = !found || (process.state == 'R' && ret_child->state != 'R') ||
                      (process.state == ret_child->state && process.pid > ret_child->pid);
        if (better)
            *ret_child = process;
        found = true;
    }
    return found;
}

// A sleeping process with a busy child waits for that child, whichever system call it uses.
static pid_t find_hanging(pid_t pid)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        struct process process, child = {0};
        if (!read_process(pid, &process) || process.state == 'R' || !find_child(pid, &child))
            break;
        if (!waits_for_children(pid) && child.state != 'R')
            break;
        pid = child.pid;
    }
    return pid;
}

// A thread that wakes up now and then only to wait again is not busy. So look several times.
static bool is_busy(pid_t pid, pid_t thread)
{
    char path[64];
    struct process found;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)thread);
    for (int i = 0; i < GLANCES; i++) {
        if (!read_stat(path, &found) || found.state != 'R')
            return false;
        if (i + 1 < GLANCES)
            clock_sleep(STACK_GLANCE_PAUSE_NS);
    }
    return true;
}

static pid_t find_thread(pid_t pid, bool *ret_busy)
{
    char path[64];
    *ret_busy = is_busy(pid, pid);
    if (*ret_busy)
        return pid;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    _cleanup_closedir_ DIR *threads = opendir(path);
    const struct dirent *entry;
    while (threads != NULL && !*ret_busy && (entry = readdir(threads)) != NULL) {
        pid_t thread = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        *ret_busy = thread != 0 && is_busy(pid, thread);
        if (*ret_busy)
            return thread;
    }
    return pid;
}

// Whether a process or thread has this number in its own PID namespace: the last one in NSpid.
static bool is_inner(const char *status, pid_t inner)
{
    char line[256];
    _cleanup_fclose_ FILE *file = fopen(status, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        const char *last = strrchr(line, '\t');
        return last != NULL && atoi(last + 1) == inner;
    }
    return false;
}

static bool is_below(struct process process, pid_t above)
{
    for (int depth = 0; depth < DEPTH && process.parent > 1; depth++) {
        if (process.parent == above)
            return true;
        if (!read_process(process.parent, &process))
            return false;
    }
    return false;
}

// The entry of /proc, or of a task directory, that has this number inside; 0 if there is none.
static pid_t find_inner(const char *directory, pid_t inner, pid_t above)
{
    _cleanup_closedir_ DIR *numbers = opendir(directory);
    const struct dirent *entry;
    while (numbers != NULL && (entry = readdir(numbers)) != NULL) {
        char path[384];
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "%s/%s/status", directory, entry->d_name);
        if (!is_inner(path, inner))
            continue;
        snprintf(path, sizeof path, "%s/%s/stat", directory, entry->d_name);
        if (read_stat(path, &process) && process.state != 'Z' && process.state != 'X' &&
            is_below(process, above))
            return process.pid;
    }
    return 0;
}

pid_t hang_find_inner(pid_t above, pid_t inner)
{
    return find_inner("/proc", inner, above);
}

// Takes the thread that a fault was injected into, if it lives, else another of its process.
static void prefer_injected(const struct injected_thread *injected, pid_t *process, pid_t *thread,
                            bool *busy)
{
    char path[64];
    pid_t found = injected->process != 0 ? hang_find_inner(getpid(), injected->process) : 0;
    if (found == 0)
        return;
    *process = found;
    snprintf(path, sizeof path, "/proc/%d/task", (int)found);
    pid_t inner = find_inner(path, injected->thread, getpid());
    *busy = inner != 0 && is_busy(found, inner);
    *thread = inner != 0 ? inner : find_thread(found, busy);
}

#define NAMES 5

// The sandbox's own processes run this very program.
static bool is_another_program(pid_t pid)
{
    char path[64], own[512], other[512];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t own_size = readlink("/proc/self/exe", own, sizeof own);
    ssize_t size = readlink(path, other, sizeof other);
    return size > 0 && (size != own_size || memcmp(own, other, (size_t)size) != 0);
}

static struct error *put_name(struct buffer *names, pid_t pid)
{
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    if (!read_line(path, name, sizeof name))
        return NULL;
    name[strcspn(name, "\n")] = '\0';
    TRY(buffer_printf(names, "%s", names->size != 0 ? ", " : ""));
    return quote_put(names, name, strlen(name), sizeof name);
}

char *hang_names(void)
{
    _cleanup_closedir_ DIR *processes = opendir("/proc");
    _cleanup_(buffer_deinit) struct buffer names = {0};
    const struct dirent *entry;
    for (int count = 0;
         processes != NULL && count < NAMES && (entry = readdir(processes)) != NULL;) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !read_process(atoi(entry->d_name), &process) || process.state == 'Z' ||
            !is_below(process, getpid()) || !is_another_program(process.pid))
            continue;
        struct error *error = put_name(&names, process.pid);
        error_free(error);
        count++;
    }
    return names.size != 0 ? TAKE(names.data) : NULL;
}

// Writes a frame as injectors write stacks. `brief` leaves out what may vary.
static struct error *put_frame(struct buffer *text, const struct dwarf_live_frame *frame,
                               bool brief)
{
    struct frame_text known = {.offset = frame->offset};
    TRY(buffer_append(text, "\n", text->size == 0 ? 0 : 1));
    if (frame->module == NULL && brief)
        return buffer_append(text, "?", 1);
    if (frame->module != NULL)
        known.module = frame_part(file_base_name(frame->module));
    if (frame->symbol != NULL)
        known.function = frame_part_symbol(frame->symbol);
    if (frame->file != NULL && !brief) {
        known.file = frame_part(frame->file);
        known.line = frame->line;
    }
    return frame_text_put(text, &known);
}

// A busy thread may be met anywhere in its loop. What several samples have in common is the loop.
// Frames of Ordeal's own runtime do not belong to the program.
static struct error *look(pid_t pid, const char *root, const struct injected_thread *injected,
                          struct buffer *stack, struct buffer *key, bool *ret_busy)
{
    _cleanup_(dwarf_live_stack_deinit) struct dwarf_live_stack found = {0};
    pid_t process = find_hanging(pid);
    bool busy;
    pid_t thread = find_thread(process, &busy);
    if (!busy)
        prefer_injected(injected, &process, &thread, &busy);
    *ret_busy = busy;
    TRY(dwarf_live_stack(process, thread, root, busy ? SAMPLES : 1, STACK_WAIT_NS, &found));
    for (size_t i = 0; i < found.frames.count; i++) {
        const struct dwarf_live_frame *frame = &found.frames.items[i];
        if (frame->module != NULL && journal_reader_is_runtime(frame->module))
            continue;
        TRY(put_frame(stack, frame, false));
        TRY(put_frame(key, frame, true));
    }
    return NULL;
}

void hang_look(pid_t pid, const char *root, const struct injected_thread *injected,
               struct outcome_run *run)
{
    _cleanup_(buffer_deinit) struct buffer stack = {0}, key = {0};
    struct error *error = look(pid, root, injected, &stack, &key, &run->hang_busy);
    run->hang_stack = error == NULL ? TAKE(stack.data) : NULL;
    run->hang_key = error == NULL ? TAKE(key.data) : NULL;
    error_free(error);
}

bool hang_waits_for_events(const struct outcome_run *run)
{
    static const char *const functions[] = {"poll",       "ppoll",  "select",      "pselect",
                                            "epoll_wait", "accept", "epoll_pwait", "accept4",
                                            "recvfrom",   "recvmsg"};
    struct frame_text frame;
    if (run->hang_key == NULL || run->hang_busy || !frame_text_at(run->hang_key, 0, &frame) ||
        frame.function.text == NULL)
        return false;
    struct frame_part name = frame_part_plain(frame.function);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (frame_part_is(name, functions[i]))
            return true;
    return false;
}

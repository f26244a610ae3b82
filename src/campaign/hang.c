// SPDX-License-Identifier: GPL-3.0-or-later
// See hang.h. Errors end here: a hang without a stack is still a hang.
#include "campaign/hang.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "dwarf/live.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#define TIMEOUT_NS 3000000000u
#define DEPTH      32 // of processes that wait for each other
#define KEY_FRAMES 5

struct process {
    pid_t pid, parent;
    char state; // as ps shows it: R, S, D, Z, T
};

static bool read_line(const char *path, char *line, size_t size)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    return file != NULL && fgets(line, (int)size, file) != NULL;
}

// A stat file of a process or thread. Its name, in parentheses, may contain anything.
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

static void cleanup_closedir(DIR **directory)
{
    if (*directory != NULL)
        closedir(*directory);
}

// The child that most likely keeps its parent waiting: a busy one, else the newest that lives.
static bool find_child(pid_t parent, struct process *ret_child)
{
    _cleanup_(cleanup_closedir) DIR *processes = opendir("/proc");
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

// Whether it does nothing but wait for children, as far as its system call tells.
static bool waits_for_children(pid_t pid)
{
    static const long calls[] = {SYS_wait4, SYS_waitid, SYS_rt_sigsuspend, SYS_pause,
                                 SYS_rt_sigtimedwait};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    if (!read_line(path, line, sizeof line) || !isdigit((unsigned char)line[0]))
        return false;
    long call = atol(line);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (call == calls[i])
            return true;
    return false;
}

// A sleeper with a busy child waits for it, whatever system call it does that with.
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

static pid_t find_thread(pid_t pid)
{
    char path[384];
    struct process thread;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
    if (!read_stat(path, &thread) || thread.state == 'R')
        return pid;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    _cleanup_(cleanup_closedir) DIR *threads = opendir(path);
    const struct dirent *entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, entry->d_name);
        if (isdigit((unsigned char)entry->d_name[0]) && read_stat(path, &thread) &&
            thread.state == 'R')
            return thread.pid;
    }
    return pid;
}

static struct error *put_frame(struct buffer *stack, const struct dwarf_live_frame *frame)
{
    TRY(buffer_printf(stack, "%s", frame->symbol != NULL ? frame->symbol : "?"));
    if (frame->file != NULL)
        TRY(buffer_printf(stack, " at %s:%u", frame->file, frame->line));
    if (frame->module != NULL)
        TRY(buffer_printf(stack, " (%s+0x%llx)", frame->module, (unsigned long long)frame->offset));
    else
        TRY(buffer_printf(stack, " (0x%llx)", (unsigned long long)frame->offset));
    return buffer_append(stack, "\n", 1);
}

// Where exactly within the C library a loop was met is chance; who called it is not.
static bool is_libc(const struct dwarf_live_frame *frame)
{
    static const char *const names[] = {"libc.so", "ld-linux", "libpthread.so", "[vdso"};
    const char *module = frame->module != NULL ? file_base_name(frame->module) : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(module, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

// The innermost frame that tells something: the first one if all are of the C library.
static size_t first_of_key(const struct dwarf_live_stack *stack)
{
    size_t first = 0;
    while (first < stack->frames.count && is_libc(&stack->frames.items[first]))
        first++;
    return first < stack->frames.count ? first : 0;
}

static struct error *put_key(struct buffer *key, const struct dwarf_live_frame *frame)
{
    if (key->size != 0)
        TRY(buffer_append(key, " < ", 3));
    if (frame->symbol != NULL)
        return buffer_printf(key, "%s", frame->symbol);
    return buffer_printf(key, "%s", frame->module != NULL ? file_base_name(frame->module) : "?");
}

static struct error *look(pid_t pid, const char *root, struct buffer *stack, struct buffer *key)
{
    _cleanup_(dwarf_live_stack_deinit) struct dwarf_live_stack found = {0};
    pid_t process = find_hanging(pid);
    TRY(dwarf_live_stack(process, find_thread(process), root, TIMEOUT_NS, &found));
    size_t first = first_of_key(&found);
    for (size_t i = 0; i < found.frames.count; i++) {
        TRY(put_frame(stack, &found.frames.items[i]));
        if (i >= first && i - first < KEY_FRAMES)
            TRY(put_key(key, &found.frames.items[i]));
    }
    return NULL;
}

void hang_look(pid_t pid, const char *root, char **ret_stack, char **ret_key)
{
    _cleanup_(buffer_deinit) struct buffer stack = {0}, key = {0};
    struct error *error = look(pid, root, &stack, &key);
    *ret_stack = error == NULL ? TAKE(stack.data) : NULL;
    *ret_key = error == NULL ? TAKE(key.data) : NULL;
    error_free(error);
}

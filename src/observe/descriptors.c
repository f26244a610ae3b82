// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptors and paths of traced tasks, as /proc shows them.
#include "observe/descriptors.h"

#include "base/cleanup.h"
#include "observe/sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_link(pid_t tid, const char *what, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", tid, what);
    ssize_t length = readlink(path, text, size - 1);
    if (length < 0)
        return false;
    text[length] = '\0';
    return true;
}

static bool read_descriptor_link(pid_t tid, int number, char *text, size_t size)
{
    char what[32];
    snprintf(what, sizeof what, "fd/%d", number);
    return read_link(tid, what, text, size);
}

static bool stream_inode(const char *link, unsigned long *ret_inode)
{
    return sscanf(link, "pipe:[%lu]", ret_inode) == 1 ||
           sscanf(link, "socket:[%lu]", ret_inode) == 1;
}

struct error *surroundings_look(const struct tracer_task *task,
                                struct surroundings *ret_surroundings)
{
    _cleanup_(surroundings_deinit) struct surroundings found = {0};
    char path[64], link[256];
    if (!read_link(task->tid, "cwd", found.directory, sizeof found.directory))
        found.directory[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/fd", task->tid);
    _cleanup_closedir_ DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        int number = atoi(entry->d_name);
        unsigned long inode;
        if (entry->d_name[0] == '.' ||
            !read_descriptor_link(task->tid, number, link, sizeof link) ||
            !stream_inode(link, &inode))
            continue;
        struct inherited *added = ARRAY_ADD(&found.inherited);
        if (added == NULL)
            return error_no_memory();
        *added = (struct inherited){inode, number};
    }
    found.memo = calloc(1, sizeof *found.memo);
    if (found.memo == NULL)
        return error_no_memory();
    *ret_surroundings = found;
    found = (struct surroundings){0};
    return NULL;
}

void surroundings_deinit(struct surroundings *surroundings)
{
    ARRAY_DEINIT(&surroundings->inherited);
    free(surroundings->memo);
}

// By the lowest number that the command had it under.
static const struct inherited *find_inherited(const struct surroundings *surroundings,
                                              unsigned long inode)
{
    const struct inherited *best = NULL;
    for (size_t i = 0; i < surroundings->inherited.count; i++) {
        const struct inherited *one = &surroundings->inherited.items[i];
        if (one->inode == inode && (best == NULL || one->descriptor < best->descriptor))
            best = one;
    }
    return best;
}

static void shorten(const struct surroundings *surroundings, char *path)
{
    size_t size = strlen(surroundings->directory);
    if (size < 2 || strncmp(path, surroundings->directory, size) != 0)
        return;
    if (path[size] == '/')
        memmove(path, path + size + 1, strlen(path + size + 1) + 1);
    else if (path[size] == '\0')
        strcpy(path, ".");
}

bool path_is_own(const char *path)
{
    static const char *const sinks[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                        "/dev/urandom"};
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
        if (strcmp(path, sinks[i]) == 0)
            return true;
    return strncmp(path, "/proc/", 6) == 0 && strncmp(path, "/proc/sys/", 10) != 0;
}

bool path_is_random(const char *path)
{
    return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), other = strlen(end);
    return size >= other && strcmp(text + size - other, end) == 0;
}

static void describe_file(const struct surroundings *surroundings, const struct tracer_task *task,
                          int number, const char *link, struct descriptor *result)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", task->tid, number);
    bool known = stat(path, &status) == 0;
    result->kind = DESCRIPTOR_FILE;
    // Whoever has no descriptor yet cannot open a file without a name. Its text may have a number
    // that is another one in the next run.
    if (path_is_own(link) || strncmp(link, "/memfd:", 7) == 0 ||
        (known && status.st_nlink == 0 && ends_with(link, " (deleted)")))
        result->kind = DESCRIPTOR_OWN;
    else if (known && S_ISFIFO(status.st_mode))
        result->kind = DESCRIPTOR_STREAM;
    bool terminal = known && S_ISCHR(status.st_mode) &&
                    (strncmp(link, "/dev/pts/", 9) == 0 || strncmp(link, "/dev/tty", 8) == 0);
    snprintf(result->text, sizeof result->text, "%s", terminal ? "terminal" : link);
    shorten(surroundings, result->text);
}

static void describe(const struct surroundings *surroundings, const struct tracer_task *task,
                     int number, struct descriptor *ret_descriptor)
{
    char link[PATH_MAX + 32];
    unsigned long inode;
    struct descriptor *result = ret_descriptor;
    result->kind = DESCRIPTOR_NONE;
    strcpy(result->text, "nothing");
    if (!read_descriptor_link(task->tid, number, link, sizeof link))
        return;
    if (link[0] == '/') {
        describe_file(surroundings, task, number, link, result);
        return;
    }
    result->kind = DESCRIPTOR_OWN;
    snprintf(result->text, sizeof result->text, "%.*s", (int)strcspn(link, ":"), link);
    if (!stream_inode(link, &inode))
        return;
    const struct inherited *inherited = find_inherited(surroundings, inode);
    if (inherited != NULL) {
        result->kind = DESCRIPTOR_STREAM;
        snprintf(result->text, sizeof result->text, "%.*s %d", (int)strcspn(link, ":"), link,
                 inherited->descriptor);
    } else if (strncmp(link, "socket:", 7) == 0) {
        bool outside = socket_describe(task, number, result->text, sizeof result->text);
        result->kind = outside ? DESCRIPTOR_STREAM : DESCRIPTOR_OWN;
    }
}

void descriptor_describe(const struct surroundings *surroundings, const struct tracer_task *task,
                         int number, struct descriptor *ret_descriptor)
{
    struct descriptor_memo *memo = surroundings->memo;
    if (memo != NULL && memo->valid && memo->tid == task->tid && memo->number == number) {
        ret_descriptor->kind = memo->descriptor.kind;
        strcpy(ret_descriptor->text, memo->descriptor.text);
        return;
    }
    describe(surroundings, task, number, ret_descriptor);
    if (memo == NULL)
        return;
    memo->valid = true;
    memo->tid = task->tid;
    memo->number = number;
    memo->descriptor.kind = ret_descriptor->kind;
    strcpy(memo->descriptor.text, ret_descriptor->text);
}

bool path_of_argument(const struct surroundings *surroundings, const struct tracer_task *task,
                      int directory, uint64_t address, char *path, size_t size)
{
    char given[PATH_MAX], base[PATH_MAX];
    given[0] = '\0';
    if (address != 0 && !tracer_read_text(task, address, given, sizeof given))
        return false;
    if (given[0] == '/') {
        snprintf(path, size, "%s", given);
        shorten(surroundings, path);
        return true;
    }
    bool found = directory == AT_FDCWD
                     ? read_link(task->tid, "cwd", base, sizeof base)
                     : read_descriptor_link(task->tid, directory, base, sizeof base);
    const char *rest = given;
    while (rest[0] == '.' && rest[1] == '/') // ./x is x
        for (rest += 2; *rest == '/';)
            rest++;
    if (!found)
        snprintf(path, size, "%s", rest);
    else if (*rest == '\0')
        snprintf(path, size, "%s", base);
    else
        snprintf(path, size, "%s/%s", strcmp(base, "/") == 0 ? "" : base, rest);
    shorten(surroundings, path);
    return true;
}

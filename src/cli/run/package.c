// SPDX-License-Identifier: GPL-3.0-or-later
// Asks dpkg which package a file belongs to.
#include "cli/run/package.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ANSWER 4096

void package_deinit(struct package *package)
{
    free(package->name);
    free(package->version);
    *package = (struct package){0};
}

static struct error *read_answer(int file, struct buffer *answer)
{
    char bytes[512];
    for (;;) {
        ssize_t size = read(file, bytes, sizeof bytes);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return NULL;
        if (answer->size < MOST_ANSWER)
            TRY(buffer_append(answer, bytes, (size_t)size));
    }
}

static bool start(char *const *command, int out, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    bool made =
        posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnp(ret_pid, command[0], &actions, NULL, command, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return made;
}

// What a command prints; nothing if it fails.
static struct error *ask(char *const *command, struct buffer *answer)
{
    int ends[2], status = 0;
    pid_t pid;
    answer->size = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    bool started = start(command, ends[1], &pid);
    close(ends[1]);
    struct error *error = started ? read_answer(ends[0], answer) : NULL;
    close(ends[0]);
    if (!started)
        return error;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        answer->size = 0;
    return error;
}

// The line that names a package: others tell of diversions ("diversion by dash from: /bin/sh",
// "local diversion to: ...").
static const char *package_line(const char *lines)
{
    static const char by[] = "diversion by ", local[] = "local diversion ";
    for (; *lines != '\0'; lines += strcspn(lines, "\n"), lines += *lines == '\n')
        if (strncmp(lines, by, sizeof by - 1) != 0 && strncmp(lines, local, sizeof local - 1) != 0)
            break;
    return lines;
}

// "tree: /usr/bin/tree", "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6"
static struct error *ask_name(const char *path, struct package *package)
{
    _cleanup_(buffer_deinit) struct buffer answer = {0};
    char *const command[] = {"dpkg-query", "-S", "--", (char *)path, NULL};
    TRY(ask(command, &answer));
    const char *line = answer.size != 0 ? package_line(answer.data) : "";
    size_t size = strcspn(line, ":, \n");
    if (size == 0)
        return NULL;
    package->name = strndup(line, size);
    return package->name != NULL ? NULL : error_no_memory();
}

static struct error *ask_version(struct package *package)
{
    _cleanup_(buffer_deinit) struct buffer answer = {0};
    char *const command[] = {"dpkg-query", "-W", "-f=${Version}\n", "--", package->name, NULL};
    TRY(ask(command, &answer));
    size_t size = answer.size != 0 ? strcspn(answer.data, "\n") : 0;
    if (size == 0)
        return NULL;
    package->version = strndup(answer.data, size);
    return package->version != NULL ? NULL : error_no_memory();
}

struct error *package_find(const char *path, struct package *ret_package)
{
    static const char usr[] = "/usr";
    *ret_package = (struct package){0};
    // dpkg takes some characters for patterns.
    if (path == NULL || *path != '/' || strpbrk(path, "*?[\\") != NULL)
        return NULL;
    TRY(ask_name(path, ret_package));
    // /bin and /lib are links to directories in /usr; packages name either.
    if (ret_package->name == NULL && strncmp(path, usr, sizeof usr - 1) == 0)
        TRY(ask_name(path + sizeof usr - 1, ret_package));
    _cleanup_free_ char *below = NULL;
    if (ret_package->name == NULL && asprintf(&below, "%s%s", usr, path) < 0) {
        below = NULL;
        return error_no_memory();
    }
    if (below != NULL)
        TRY(ask_name(below, ret_package));
    return ret_package->name != NULL ? ask_version(ret_package) : NULL;
}

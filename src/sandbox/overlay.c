// SPDX-License-Identifier: GPL-3.0-or-later
// The overlay backend: starts the zygote, has it fork an init for each run, and talks to that init.
#include "sandbox/overlay.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "sandbox/changes.h"
#include "sandbox/groups.h"
#include "sandbox/message.h"
#include "sandbox/working-copy.h"
#include "sandbox/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// COPY: namespaces keep processes apart, but show the real file system.
static bool is_exposed(const struct sandbox *sandbox)
{
    return sandbox->kind == SANDBOX_COPY;
}

static void close_one(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void end_zygote(struct overlay *overlay)
{
    close_one(&overlay->socket);
    if (overlay->zygote > 0) {
        kill(overlay->zygote, SIGKILL);
        wait_for(overlay->zygote);
    }
    overlay->zygote = 0;
    for (size_t i = 0; i < overlay->layers.count; i++)
        free(overlay->layers.items[i]);
    overlay->layers.count = 0;
}

void overlay_renew(struct overlay *overlay)
{
    end_zygote(overlay);
}

void overlay_free(struct overlay *overlay)
{
    if (overlay == NULL)
        return;
    end_zygote(overlay);
    ARRAY_DEINIT(&overlay->layers);
    free(overlay);
}

void overlay_disown(struct overlay *overlay)
{
    overlay->zygote = overlay->init = 0;
}

static struct error *take_ready(struct sandbox *sandbox, const struct incoming *answer, bool again)
{
    struct overlay *overlay = sandbox->overlay;
    struct cursor cursor = {.data = (const unsigned char *)answer->payload.data,
                            .size = answer->payload.size};
    _cleanup_free_ char **layers = NULL, **warnings = NULL;
    TRY(message_list(&cursor, &layers));
    TRY(message_list(&cursor, &warnings));
    overlay->own_users = answer->head.values[0] != 0;
    overlay->lacks_directory = answer->head.values[1] != 0;
    for (size_t i = 0; layers[i] != NULL; i++) {
        char **place = ARRAY_ADD(&overlay->layers);
        if (place == NULL || (*place = strdup(layers[i])) == NULL)
            return error_no_memory();
    }
    for (size_t i = 0; !again && warnings[i] != NULL; i++)
        TRY(sandbox_warn(sandbox, "%s", warnings[i]));
    return NULL;
}

static struct error *start_zygote(struct sandbox *sandbox, bool again)
{
    struct overlay *overlay = sandbox->overlay;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_from_errno(errno, "cannot make a socket");
    struct zygote_options options = {.directory = sandbox->directory,
                                     .copy = is_exposed(sandbox) ? NULL : sandbox->copy.path,
                                     .network = sandbox->network && !is_exposed(sandbox),
                                     .exposed = is_exposed(sandbox),
                                     .attached = sandbox->attached,
                                     .groups = groups_descriptors(sandbox->groups)};
    pid_t parent = getpid();
    overlay->zygote = fork();
    if (overlay->zygote == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (syscall(SYS_getppid) != parent)
            _exit(0);
        zygote_serve(&options, ends[1]);
    }
    int code = errno;
    close(ends[1]);
    overlay->socket = ends[0];
    if (overlay->zygote < 0)
        return error_from_errno(code, "cannot start a process");
    _cleanup_(incoming_deinit) struct incoming answer;
    TRY(message_receive(overlay->socket, &answer));
    TRY(message_failure(&answer));
    return take_ready(sandbox, &answer, again);
}

struct error *overlay_new(struct sandbox *sandbox)
{
    struct overlay *overlay = calloc(1, sizeof *overlay);
    if (overlay == NULL)
        return error_no_memory();
    overlay->socket = overlay->init_socket = overlay->root = overlay->upper_layers = -1;
    sandbox->overlay = overlay;
    struct error *error = start_zygote(sandbox, false);
    if (error != NULL) {
        overlay_free(overlay);
        sandbox->overlay = NULL;
    }
    return error;
}

bool overlay_owns_users(const struct overlay *overlay)
{
    return overlay->own_users;
}

bool overlay_has_layers(const struct overlay *overlay)
{
    return overlay->layers.count != 0;
}

bool overlay_lacks_directory(const struct overlay *overlay)
{
    return overlay->lacks_directory;
}

// Whether a word of the list names something that exists below `place` ("/tmp/").
static bool mentions(char *const *list, const char *place)
{
    for (; list != NULL && *list != NULL; list++) {
        for (const char *at = *list; (at = strstr(at, place)) != NULL; at++) {
            char path[NAME_MAX + 16];
            size_t size = strcspn(at + strlen(place), "/ \t\n'\":;,&|<>()$`*?[") + strlen(place);
            if (size == strlen(place) || size >= sizeof path)
                continue;
            memcpy(path, at, size);
            path[size] = '\0';
            if (access(path, F_OK) == 0)
                return true;
        }
    }
    return false;
}

// /tmp and /dev/shm are empty in a run, unless its directory or files are there. Without overlays
// they would be read-only, so they are empty, too.
static void choose_places(struct sandbox *sandbox, const struct sandbox_step *steps, size_t count)
{
    struct overlay *overlay = sandbox->overlay;
    overlay->show_tmp = overlay->show_shm = false;
    if (overlay->layers.count == 0)
        return;
    overlay->show_tmp = path_below(sandbox->directory, "/tmp");
    overlay->show_shm = path_below(sandbox->directory, "/dev/shm");
    for (size_t i = 0; i < count; i++) {
        overlay->show_tmp |=
            mentions(steps[i].command, "/tmp/") || mentions(steps[i].environment, "/tmp/");
        overlay->show_shm |= mentions(steps[i].command, "/dev/shm/");
    }
}

static struct error *ask_zygote(struct sandbox *sandbox, const char *const *visible, int socket)
{
    struct overlay *overlay = sandbox->overlay;
    _cleanup_(buffer_deinit) struct buffer payload = {0};
    TRY(message_add_list(&payload, (char *const *)visible));
    struct message head = {.kind = MESSAGE_RUN, .values = {overlay->show_tmp, overlay->show_shm}};
    TRY(message_send(overlay->socket, &head, &payload, (int[]){socket, -1}));
    _cleanup_(incoming_deinit) struct incoming answer;
    TRY(message_receive(overlay->socket, &answer));
    TRY(message_failure(&answer));
    overlay->init = (pid_t)answer.head.values[0];
    return NULL;
}

static struct error *await_init(struct overlay *overlay, bool exposed)
{
    _cleanup_(incoming_deinit) struct incoming answer;
    TRY(message_receive(overlay->init_socket, &answer));
    TRY(message_failure(&answer));
    if (answer.head.kind != MESSAGE_READY || answer.descriptors[exposed ? 0 : 1] < 0)
        return error_new("the sandbox talks nonsense");
    overlay->root = answer.descriptors[0];
    overlay->upper_layers = answer.descriptors[1];
    answer.descriptors[0] = answer.descriptors[1] = -1;
    return NULL;
}

static struct error *overlay_begin(struct sandbox *sandbox, const struct sandbox_step *steps,
                                   size_t count, const char *const *visible)
{
    struct overlay *overlay = sandbox->overlay;
    // The zygote may have been killed, such as by the kernel for want of memory.
    if (overlay->zygote > 0 && waitpid(overlay->zygote, NULL, WNOHANG) == overlay->zygote)
        overlay->zygote = 0;
    if (overlay->zygote <= 0) {
        end_zygote(overlay);
        TRY(start_zygote(sandbox, true));
    }
    choose_places(sandbox, steps, count);
    if (sandbox->copy.path != NULL)
        TRY(working_copy_begin(sandbox));
    int ends[2], yes = 1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_from_errno(errno, "cannot make a socket");
    overlay->init_socket = ends[0];
    struct error *error = NULL;
    if (setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) < 0)
        error = error_from_errno(errno, "cannot set up a socket");
    if (error == NULL)
        error = ask_zygote(sandbox, visible, ends[1]);
    close(ends[1]);
    TRY(error);
    TRY(await_init(overlay, is_exposed(sandbox)));
    if (!is_exposed(sandbox))
        snprintf(sandbox->root, sizeof sandbox->root, "/proc/%ld/fd/%d", (long)getpid(),
                 overlay->root);
    return NULL;
}

static void overlay_end(struct sandbox *sandbox)
{
    struct overlay *overlay = sandbox->overlay;
    if (overlay->init > 0) {
        kill(overlay->init, SIGKILL);
        wait_for(overlay->init);
    }
    overlay->init = 0;
    close_one(&overlay->init_socket);
    close_one(&overlay->root);
    close_one(&overlay->upper_layers);
    working_copy_end(sandbox);
}

// Copies the input into memory without a name.
static struct error *copy_input(int input, off_t size, int *ret_input)
{
    _cleanup_close_ int copy = memfd_create("input", MFD_CLOEXEC);
    if (copy < 0)
        return error_from_errno(errno, "cannot copy the input");
    for (off_t at = 0; at < size;) {
        ssize_t got = sendfile(copy, input, &at, (size_t)(size - at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_from_errno(errno, "cannot copy the input");
        if (got == 0)
            break;
    }
    *ret_input = copy;
    copy = -1;
    return NULL;
}

// Opens the file that the inside has at this path; -1 if that is no regular file. An earlier step
// may have put links on the way that lead outside if we follow them, or a FIFO that blocks for
// ever.
static int open_inside(const struct overlay *overlay, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int inner = (int)syscall(SYS_openat2, overlay->root, path, &how, sizeof how);
    struct stat status;
    if (inner >= 0 &&
        (fstat(inner, &status) < 0 || !S_ISREG(status.st_mode) || fcntl(inner, F_SETFL, 0) < 0))
        close_one(&inner);
    return inner;
}

// An open file of the outside would be a way out: /proc/self/fd/0 can be opened again for writing.
// So the trial gets the file as its own view has it, or a copy.
static struct error *inner_input(struct overlay *overlay, int input, int *ret_input)
{
    struct stat status, named;
    char link[40], path[PATH_MAX];
    if (input < 0 || fstat(input, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", input);
    ssize_t size = readlink(link, path, sizeof path - 1);
    off_t at = lseek(input, 0, SEEK_CUR);
    int inner = -1;
    if (size > 1 && path[0] == '/') {
        path[size] = '\0';
        if (stat(path, &named) == 0 && named.st_dev == status.st_dev &&
            named.st_ino == status.st_ino)
            inner = open_inside(overlay, path);
    }
    if (inner < 0)
        TRY(copy_input(input, status.st_size, &inner));
    if (at >= 0)
        lseek(inner, at, SEEK_SET);
    *ret_input = inner;
    return NULL;
}

static struct error *await_start(struct overlay *overlay, pid_t *ret_pid)
{
    for (;;) {
        _cleanup_(incoming_deinit) struct incoming answer;
        TRY(message_receive(overlay->init_socket, &answer));
        TRY(message_failure(&answer));
        if (answer.head.kind == MESSAGE_HELLO)
            *ret_pid = answer.sender;
        if (answer.head.kind == MESSAGE_STARTED)
            return NULL;
    }
}

static struct error *overlay_start(struct sandbox *sandbox, struct spawn *spawn, bool linger,
                                   pid_t *ret_pid)
{
    struct overlay *overlay = sandbox->overlay;
    _cleanup_(buffer_deinit) struct buffer payload = {0};
    _cleanup_close_ int inner = -1;
    bool exposed = is_exposed(sandbox);
    if (!exposed)
        TRY(inner_input(overlay, spawn->input, &inner));
    TRY(buffer_append(&payload, &spawn->limits, sizeof spawn->limits));
    TRY(buffer_append(&payload, &spawn->signals, sizeof spawn->signals));
    TRY(message_add_text(&payload, exposed ? sandbox->copy.path : sandbox->directory));
    TRY(message_add_list(&payload, spawn->command));
    TRY(message_add_list(&payload, spawn->environment));
    struct message head = {.kind = MESSAGE_START,
                           .values = {linger, spawn->terminal, (intptr_t)spawn->inside,
                                      spawn->attached, spawn->fixed_addresses}};
    int given[] = {spawn->output, spawn->errors, inner >= 0 ? inner : spawn->input, -1};
    if (spawn->inside != NULL)
        given[2] = spawn->shared;
    TRY(message_send(overlay->init_socket, &head, &payload, given));
    return await_start(overlay, ret_pid);
}

static int overlay_descriptor(struct sandbox *sandbox)
{
    return sandbox->overlay->init_socket;
}

static void take_news(const struct message *head, struct progress *progress)
{
    progress->cpu_ns += (uint64_t)head->values[1];
    if ((uint64_t)head->values[2] > progress->peak_memory)
        progress->peak_memory = (uint64_t)head->values[2];
    if (head->kind == MESSAGE_COMMAND) {
        progress->command_gone = true;
        progress->status = (int)head->values[0];
    }
    if (progress->orphan == 0)
        progress->orphan = (int)head->values[4];
    if (head->values[3] != 0)
        progress->step_gone = true;
}

static struct error *overlay_news(struct sandbox *sandbox, struct progress *progress)
{
    struct overlay *overlay = sandbox->overlay;
    struct pollfd watched = {overlay->init_socket, POLLIN, 0};
    while (!progress->step_gone && poll(&watched, 1, 0) > 0) {
        _cleanup_(incoming_deinit) struct incoming news;
        TRY(message_receive(overlay->init_socket, &news));
        TRY(message_failure(&news));
        take_news(&news.head, progress);
    }
    return NULL;
}

// Sends an order and waits until it is done. News that were on their way may come first.
static struct error *order(struct overlay *overlay, enum message_kind kind,
                           struct progress *progress)
{
    TRY(message_send(overlay->init_socket, &(struct message){.kind = kind}, NULL, NULL));
    for (;;) {
        _cleanup_(incoming_deinit) struct incoming answer;
        TRY(message_receive(overlay->init_socket, &answer));
        TRY(message_failure(&answer));
        if (progress != NULL)
            take_news(&answer.head, progress);
        if (answer.head.kind == MESSAGE_DONE)
            return NULL;
    }
}

static struct error *overlay_kill_step(struct sandbox *sandbox, struct progress *progress)
{
    return order(sandbox->overlay, MESSAGE_KILL_STEP, progress);
}

static struct error *overlay_kill_all(struct sandbox *sandbox)
{
    return order(sandbox->overlay, MESSAGE_KILL_ALL, NULL);
}

// Everything that a run can write is on one file system.
struct error *overlay_usage(struct sandbox *sandbox, struct sandbox_usage *ret_usage)
{
    struct overlay *overlay = sandbox->overlay;
    struct statvfs status;
    if (overlay->upper_layers < 0 || sandbox->copy.path != NULL)
        return error_new("the sandbox has no private view");
    if (fstatvfs(overlay->upper_layers, &status) < 0)
        return error_from_errno(errno, "cannot look at a private view");
    TRY(message_send(overlay->init_socket, &(struct message){.kind = MESSAGE_COUNT}, NULL, NULL));
    _cleanup_(incoming_deinit) struct incoming answer;
    TRY(message_receive(overlay->init_socket, &answer));
    TRY(message_failure(&answer));
    if (answer.head.kind != MESSAGE_DONE)
        return error_new("the sandbox talks nonsense");
    *ret_usage = (struct sandbox_usage){.files = status.f_files - status.f_ffree,
                                        .blocks = status.f_blocks - status.f_bfree,
                                        .shared = (uint64_t)answer.head.values[0]};
    return NULL;
}

#define OVERLAY_BACKEND                                                                            \
    .begin = overlay_begin, .end = overlay_end, .start = overlay_start,                            \
    .descriptor = overlay_descriptor, .news = overlay_news, .kill_step = overlay_kill_step,        \
    .kill_all = overlay_kill_all

const struct backend overlay_backend = {OVERLAY_BACKEND, .each_change = overlay_each_change};
const struct backend exposed_backend = {OVERLAY_BACKEND, .each_change = working_copy_each_change};

// SPDX-License-Identifier: GPL-3.0-or-later
// The first process of a PID namespace: starts and kills commands and reports their ends. It adopts
// every orphan of the run, and everything in the namespace dies with it.
#include "sandbox/init.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/timeouts.h"
#include "sandbox/internal.h"
#include "sandbox/keeper.h"
#include "sandbox/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

struct init {
    int socket, signals;
    pid_list keepers;
    int keeper;               // socket of the keeper whose command still runs, or -1
    pid_t keeping;            // that keeper
    pid_t command;            // 0: none runs
    bool running;             // a step is not over yet
    struct progress progress; // since the last report
};

static bool is_keeper(const struct init *init, pid_t pid)
{
    for (size_t i = 0; i < init->keepers.count; i++)
        if (init->keepers.items[i] == pid)
            return true;
    return false;
}

static void forget_keeper(struct init *init, pid_t pid)
{
    for (size_t i = 0; i < init->keepers.count; i++)
        if (init->keepers.items[i] == pid)
            init->keepers.items[i--] = init->keepers.items[--init->keepers.count];
}

static struct error *send_progress(struct init *init, enum message_kind kind, bool over)
{
    struct progress *progress = &init->progress;
    struct message head = {.kind = kind,
                           .values = {progress->status, (int64_t)progress->cpu_ns,
                                      (int64_t)progress->peak_memory, over, progress->orphan}};
    *progress = (struct progress){0};
    return message_send(init->socket, &head, NULL, NULL);
}

static bool has_others(const struct init *init, const pid_list *children)
{
    for (size_t i = 0; i < children->count; i++)
        if (!is_keeper(init, children->items[i]))
            return true;
    return false;
}

// Whether processes are left besides the keepers and what they keep.
static struct error *processes_left(struct init *init, bool *ret_left)
{
    siginfo_t info;
    *ret_left = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (!*ret_left || init->keepers.count == 0)
        return NULL;
    pid_list children = {0};
    struct error *error = NULL;
    // The quick list may miss some.
    processes_children_quick(&children);
    *ret_left = has_others(init, &children);
    if (!*ret_left) {
        children.count = 0;
        error = processes_children(&children);
        *ret_left = has_others(init, &children);
    }
    ARRAY_DEINIT(&children);
    return error;
}

// Reaps what has ended. Returns whether the command was among it.
static bool reap(struct init *init)
{
    bool command = false;
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return command;
        if (is_keeper(init, pid)) {
            forget_keeper(init, pid);
            continue;
        }
        progress_count(&init->progress, &usage);
        if (pid == init->command) {
            command = true;
            init->progress.status = status;
            init->command = 0;
        } else {
            progress_note_orphan_signal(&init->progress, status);
        }
    }
}

static struct error *children_ended(struct init *init)
{
    bool command = reap(init), left = true;
    if (!init->running || init->keeper >= 0 || (init->command != 0 && !command))
        return NULL;
    TRY(processes_left(init, &left));
    init->running = left;
    if (command)
        return send_progress(init, MESSAGE_COMMAND, !left);
    return left ? NULL : send_progress(init, MESSAGE_STEP, true);
}

static struct error *kept_command_ended(struct init *init)
{
    struct error *error = keeper_news(init->keeper, &init->progress);
    close(init->keeper);
    init->keeper = -1;
    init->running = false;
    TRY(error);
    return send_progress(init, MESSAGE_COMMAND, true);
}

static struct error *start_command(struct init *init, const struct spawn *spawn, bool linger)
{
    pid_t pid;
    int handle;
    if (!linger) {
        TRY(spawn_start(spawn, &pid, &handle));
        close(handle);
        init->command = pid;
    } else {
        pid_t *place = ARRAY_ADD(&init->keepers);
        if (place == NULL)
            return error_no_memory();
        *place = -1;
        TRY(keeper_start(spawn, place, &init->keeper, &pid));
        init->keeping = *place;
    }
    init->running = true;
    init->progress = (struct progress){0};
    struct message head = {.kind = MESSAGE_STARTED, .values = {pid}};
    return message_send(init->socket, &head, NULL, NULL);
}

static struct error *start(struct init *init, const struct incoming *order)
{
    struct cursor cursor = {.data = (const unsigned char *)order->payload.data,
                            .size = order->payload.size};
    struct spawn spawn = {.output = order->descriptors[0],
                          .errors = order->descriptors[1],
                          .input = order->descriptors[2],
                          .terminal = order->head.values[1] != 0,
                          .fixed_addresses = order->head.values[4] != 0,
                          .attached = order->head.values[3] != 0,
                          .announce = init->socket};
    if (order->head.values[2] != 0) { // addresses are the same here: no exec since the fork
        spawn.inside = (int (*)(int))(intptr_t)order->head.values[2];
        spawn.shared = order->descriptors[2];
        spawn.input = -1;
    }
    _cleanup_free_ char **command = NULL, **environment = NULL;
    cursor_copy(&cursor, &spawn.limits, sizeof spawn.limits);
    cursor_copy(&cursor, &spawn.signals, sizeof spawn.signals);
    spawn.directory = message_text(&cursor);
    TRY(message_list(&cursor, &command));
    TRY(message_list(&cursor, &environment));
    spawn.command = command;
    spawn.environment = environment;
    return start_command(init, &spawn, order->head.values[0] != 0);
}

// Kills until no process is left except keepers and what they keep; `all`: those, too.
static struct error *end_processes(struct init *init, bool all)
{
    uint64_t deadline_ns = clock_ns() + KILL_WAIT_NS;
    if (init->keeper >= 0) { // it keeps the command of the step
        close(init->keeper);
        init->keeper = -1;
        forget_keeper(init, init->keeping);
    }
    if (all)
        init->keepers.count = 0;
    bool left = true;
    for (unsigned round = 1;; round++) {
        size_t count, refused = 0;
        reap(init);
        TRY(processes_left(init, &left));
        if (!left)
            break;
        if (init->keepers.count == 0)
            kill(-1, SIGKILL);
        else if (!processes_kill_children(&init->keepers, &refused) ||
                 round % KILL_THOROUGH_ROUNDS == 0)
            TRY(processes_signal(SIGKILL, &init->keepers, &count, &refused));
        if (clock_ns() > deadline_ns)
            return error_new("processes of the trial cannot be killed");
        clock_sleep(KILL_TREE_PAUSE_NS);
    }
    init->running = false;
    init->command = 0;
    return send_progress(init, MESSAGE_DONE, true);
}

// Lines in the kernel's lists, without their headings. No list: nothing can be there.
static int64_t count_shared(void)
{
    static const char *const lists[] = {"/proc/sysvipc/shm", "/proc/sysvipc/sem",
                                        "/proc/sysvipc/msg"};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        _cleanup_close_ int list = open(lists[i], O_RDONLY | O_CLOEXEC);
        char text[1024];
        for (ssize_t got; list >= 0 && (got = read(list, text, sizeof text)) > 0;)
            for (ssize_t j = 0; j < got; j++)
                count += text[j] == '\n';
    }
    return count;
}

static struct error *handle_message(struct init *init)
{
    _cleanup_(incoming_deinit) struct incoming order;
    struct error *error = message_receive(init->socket, &order);
    if (error != NULL) { // the sandbox is gone
        error_free(error);
        _exit(0);
    }
    switch (order.head.kind) {
    case MESSAGE_START:
        return start(init, &order);
    case MESSAGE_KILL_STEP:
        return end_processes(init, false);
    case MESSAGE_KILL_ALL:
        return end_processes(init, true);
    case MESSAGE_COUNT:
        return message_send(init->socket,
                            &(struct message){.kind = MESSAGE_DONE, .values = {count_shared()}},
                            NULL, NULL);
    default:
        return error_new("the sandbox was told nonsense");
    }
}

static void serve_once(struct init *init)
{
    struct pollfd polled[] = {
        {init->socket, POLLIN, 0}, {init->signals, POLLIN, 0}, {init->keeper, POLLIN, 0}};
    if (poll(polled, 3, -1) < 0)
        return;
    struct error *error = NULL;
    if (polled[1].revents != 0) {
        struct signalfd_siginfo info;
        if (read(init->signals, &info, sizeof info) > 0)
            error = children_ended(init);
    }
    if (error == NULL && init->keeper >= 0 && polled[2].revents != 0)
        error = kept_command_ended(init);
    if (error == NULL && polled[0].revents != 0)
        error = handle_message(init);
    if (error != NULL)
        message_fail(init->socket, error);
}

void init_serve(int socket)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, NULL);
    struct init init = {.socket = socket, .keeper = -1};
    init.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (init.signals < 0)
        _exit(1);
    for (;;)
        serve_once(&init);
}

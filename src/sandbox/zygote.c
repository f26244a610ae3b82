// SPDX-License-Identifier: GPL-3.0-or-later
// The zygote process: prepares the private view once, and forks the first process of each run into
// new namespaces.
#include "sandbox/zygote.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "sandbox/capabilities.h"
#include "sandbox/descriptors.h"
#include "sandbox/init.h"
#include "sandbox/keyrings.h"
#include "sandbox/message.h"
#include "sandbox/spawn.h"
#include "sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct zygote {
    int socket;
    bool network, exposed;
    mode_t mask; // the caller's umask, for the trials
    struct view view;
};

// Nothing of the caller's may show in /proc/1/fd, and none of its signal handlers may run here.
static struct error *detach(const struct zygote_options *options, int socket)
{
    for (const int *group = options->groups; group != NULL && *group >= 0; group++)
        if (pwrite(*group, "0", 1, 0) != 1)
            return error_from_errno(errno, "cannot enter a control group");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return error_from_errno(errno, "cannot open /dev/null");
    for (int i = 0; i < 3; i++)
        if (dup2(null, i) < 0)
            return error_from_errno(errno, "cannot set up a process");
    const struct spawn_signals standard = {.standard = UINT64_MAX,
                                           .mask = options->attached ? UINT64_MAX : 0};
    spawn_set_signals(&standard);
    if (options->attached) // the terminal's signals come here, too, but are blocked
        return descriptors_close_own(socket);
    descriptors_close_but(&socket, 1);
    setsid();
    return NULL;
}

static struct error *raise_loopback(void)
{
    _cleanup_close_ int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (any < 0 || ioctl(any, SIOCSIFFLAGS, &request) < 0)
        return error_from_errno(errno, "cannot set up the private network");
    return NULL;
}

static struct error *set_up_init(struct zygote *zygote, const struct view_request *request,
                                 int socket)
{
    int shown[3] = {-1, -1, -1};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_from_errno(errno, "cannot tie the sandbox to its user");
    if (zygote->network)
        TRY(raise_loopback());
    if (zygote->exposed) {
        TRY(view_expose(&shown[0]));
    } else {
        TRY(view_build(&zygote->view, request, &shown[0], &shown[1]));
        TRY(capabilities_drop(zygote->network));
    }
    umask(zygote->mask);
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return error_from_errno(errno, "cannot protect the sandbox");
    struct error *error =
        message_send(socket, &(struct message){.kind = MESSAGE_READY}, NULL, shown);
    close(shown[0]);
    if (shown[1] >= 0)
        close(shown[1]);
    return error;
}

__attribute__((noreturn)) static void run_init(struct zygote *zygote,
                                               const struct view_request *request, int socket)
{
    close(zygote->socket);
    struct error *error = set_up_init(zygote, request, socket);
    if (error != NULL) {
        message_fail(socket, error);
        _exit(1);
    }
    init_serve(socket);
}

static struct error *start_init(struct zygote *zygote, const struct incoming *order)
{
    struct cursor cursor = {.data = (const unsigned char *)order->payload.data,
                            .size = order->payload.size};
    _cleanup_free_ char **visible = NULL;
    TRY(message_list(&cursor, &visible));
    struct view_request request = {.show_tmp = order->head.values[0] != 0,
                                   .show_shm = order->head.values[1] != 0,
                                   .visible = visible};
    unsigned long flags = CLONE_PARENT | CLONE_NEWNS | CLONE_NEWPID |
                          (zygote->exposed ? 0 : CLONE_NEWIPC) |
                          (zygote->network ? CLONE_NEWNET : 0) | SIGCHLD;
    long pid = syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid == 0)
        run_init(zygote, &request, order->descriptors[0]);
    if (pid < 0)
        return error_from_errno(errno, "cannot begin a life in namespaces of its own");
    struct message head = {.kind = MESSAGE_STARTED, .values = {pid}};
    return message_send(zygote->socket, &head, NULL, NULL);
}

static struct error *report_ready(const struct zygote *zygote)
{
    const struct view *view = &zygote->view;
    _cleanup_(buffer_deinit) struct buffer payload = {0};
    uint64_t counts[2] = {view->layers.count, view->warnings.count};
    TRY(buffer_append(&payload, &counts[0], sizeof counts[0]));
    for (size_t i = 0; i < view->layers.count; i++)
        TRY(message_add_text(&payload, view->layers.items[i]));
    TRY(buffer_append(&payload, &counts[1], sizeof counts[1]));
    for (size_t i = 0; i < view->warnings.count; i++)
        TRY(message_add_text(&payload, view->warnings.items[i]));
    struct message head = {.kind = MESSAGE_READY,
                           .values = {view->own_users, view->lacks_directory}};
    return message_send(zygote->socket, &head, &payload, NULL);
}

static struct error *prepare(struct zygote *zygote, const struct zygote_options *options)
{
    TRY(detach(options, zygote->socket));
    zygote->mask = umask(0);
    if (options->exposed) {
        TRY(view_prepare_exposed());
        return report_ready(zygote);
    }
    TRY(view_prepare(&zygote->view, options->directory, options->copy));
    TRY(keyrings_leave());
    TRY(capabilities_bound(zygote->network));
    return report_ready(zygote);
}

void zygote_serve(const struct zygote_options *options, int socket)
{
    struct zygote zygote = {
        .socket = socket, .network = options->network, .exposed = options->exposed};
    // A process in a user namespace may not change its score any more. Of those with the same score
    // the one that uses most memory is ended, and this one uses little.
    spawn_be_ended_first();
    struct error *error = prepare(&zygote, options);
    if (error != NULL) {
        message_fail(socket, error);
        _exit(1);
    }
    for (;;) {
        _cleanup_(incoming_deinit) struct incoming order;
        error = message_receive(socket, &order);
        if (error != NULL)
            _exit(0); // the sandbox is gone
        error = start_init(&zygote, &order);
        if (error != NULL)
            message_fail(socket, error);
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The loop of the process that runs a server: passes output on, reaps children, follows a server
// into the background, and starts commands.
#include "engine/server-driver.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/processes.h"
#include "base/timeouts.h"
#include "sandbox/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

struct error *driver_open_stream(struct stream *stream, int to)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    *stream = (struct stream){.in = ends[0], .out = ends[1], .to = to};
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
        return error_from_errno(errno, "cannot set up a pipe");
    return NULL;
}

static void pass(const struct stream *stream, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(stream->to, bytes, size);
        if (written < 0 && errno != EINTR)
            return;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

// Matches the server's output line by line. Only the beginning of a long line is matched.
static void match_lines(struct driver *driver, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && !driver->matched; i++) {
        if (bytes[i] != '\n' && bytes[i] != '\0') {
            if (driver->line_size + 1 < LINE_MOST)
                driver->line[driver->line_size++] = bytes[i];
            continue;
        }
        driver->line[driver->line_size] = '\0';
        driver->matched = regexec(&driver->expression, driver->line, 0, NULL, 0) == 0;
        driver->line_size = 0;
    }
    if (!driver->matched) { // a prompt has no end of line
        driver->line[driver->line_size] = '\0';
        driver->matched = regexec(&driver->expression, driver->line, 0, NULL, 0) == 0;
    }
}

static void pump_one(struct driver *driver, struct stream *stream)
{
    char bytes[16384];
    ssize_t got;
    while ((got = read(stream->in, bytes, sizeof bytes)) > 0) {
        pass(stream, bytes, (size_t)got);
        stream->passed += (size_t)got;
        if (stream == &driver->other_output && !driver->ready &&
            driver->probe.ready.kind == READY_OUTPUT)
            match_lines(driver, bytes, (size_t)got);
    }
}

void driver_pump(struct driver *driver)
{
    pump_one(driver, &driver->load_output);
    pump_one(driver, &driver->other_output);
}

// A server that goes into the background exits and leaves a child, which is the server from then
// on. It may do so just after it was ready: servers that need root for their port open it first.
static void follow_daemon(struct driver *driver)
{
    pid_list children = {0};
    pid_t oldest = 0;
    bool well = WIFEXITED(driver->server.status) && WEXITSTATUS(driver->server.status) == 0;
    if (!well || (driver->ready && clock_ns() - driver->ready_at_ns > SERVER_DAEMON_WAIT_NS))
        return;
    error_free(processes_children(&children));
    for (size_t i = 0; i < children.count; i++)
        if (children.items[i] != driver->helper.pid && (oldest == 0 || children.items[i] < oldest))
            oldest = children.items[i];
    ARRAY_DEINIT(&children);
    if (oldest != 0)
        driver->server = (struct child){.pid = oldest};
}

void driver_reap(struct driver *driver)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return;
        struct child *child = pid == driver->server.pid   ? &driver->server
                              : pid == driver->helper.pid ? &driver->helper
                                                          : NULL;
        if (child == NULL)
            continue;
        child->gone = true;
        child->status = status;
        if (child == &driver->server)
            follow_daemon(driver);
    }
}

void driver_nap(struct driver *driver, uint64_t deadline_ns)
{
    struct pollfd polled[] = {{driver->signals, POLLIN, 0},
                              {driver->load_output.in, POLLIN, 0},
                              {driver->other_output.in, POLLIN, 0}};
    uint64_t now_ns = clock_ns(), left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;
    uint64_t nap_ns = driver->nap_ns != 0 ? driver->nap_ns : SERVER_NAP_NS;
    int ms = clock_poll_ms(nap_ns < left_ns ? nap_ns : left_ns);
    if (poll(polled, 3, ms) > 0 && polled[0].revents != 0) {
        struct signalfd_siginfo info;
        while (read(driver->signals, &info, sizeof info) > 0)
            ;
    }
}

enum driver_end driver_await(struct driver *driver, bool (*holds)(struct driver *), uint64_t ns,
                             bool alone)
{
    uint64_t deadline_ns = clock_ns() + ns;
    for (;;) {
        driver_reap(driver);
        driver_pump(driver);
        if (holds(driver))
            return HELD;
        if (driver->server.gone && !alone)
            return GONE;
        if (clock_ns() >= deadline_ns)
            return LATE;
        driver_nap(driver, deadline_ns);
    }
}

struct error *driver_run(struct driver *driver, char *const *command, char *const *environment,
                         int input, struct child *ret_child, bool quiet)
{
    _cleanup_close_ int nothing = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    bool is_load = command == driver->orders.load;
    if (quiet && nothing < 0)
        return error_from_errno(errno, "cannot open /dev/null");
    struct spawn spawn = {.command = command,
                          .environment = environment,
                          .input = input,
                          .output = quiet     ? nothing
                                    : is_load ? driver->load_output.out
                                              : driver->other_output.out,
                          .errors = quiet ? nothing : driver->other_output.out,
                          .limits = {.core = true}, // as this process has it
                          .signals.standard = 1ull << (SIGPIPE - 1),
                          .announce = -1};
    int handle;
    pid_t pid;
    TRY(spawn_start(&spawn, &pid, &handle));
    close(handle);
    *ret_child = (struct child){.pid = pid};
    return NULL;
}

struct error *driver_run_shell(struct driver *driver, const char *text, bool quiet)
{
    char *const command[] = {(char *)"/bin/sh", (char *)"-c", (char *)text, NULL};
    return driver_run(driver, command, driver->orders.environment, -1, &driver->helper, quiet);
}

bool driver_is_alone(struct driver *driver)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
}

void driver_end_all(struct driver *driver)
{
    uint64_t deadline_ns = clock_ns() + KILL_WAIT_NS;
    driver->nap_ns = KILL_SERVER_PAUSE_NS;
    while (!driver_is_alone(driver) && clock_ns() < deadline_ns) {
        size_t count, refused;
        error_free(processes_signal(SIGKILL, NULL, &count, &refused));
        driver_reap(driver);
        driver_pump(driver);
        driver_nap(driver, clock_ns() + KILL_SERVER_PAUSE_NS);
    }
    driver_pump(driver);
}

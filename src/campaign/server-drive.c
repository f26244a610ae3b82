// SPDX-License-Identifier: GPL-3.0-or-later
// See server-drive.h. One thread, one loop: output is passed on, children are reaped, and somebody
// is waited for until a deadline.
#include "campaign/server-drive.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/processes.h"
#include "campaign/server-orders.h"
#include "campaign/server-probe.h"
#include "campaign/server-switches.h"
#include "sandbox/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#define SHORT_NAP_MS 1 // between looks at a server that is to become ready
#define LONG_NAP_MS  20
#define DAEMON_NS    1000000000ull  // for a server to go into the background once it is ready
#define QUIET_NS     3000000ull     // of a server that has come to the end of its start
#define SETTLE_NS    300000000ull   // for that, once it listens
#define LEFTOVER_NS  300000000ull   // for what the server started, once it has ended itself
#define LOOK_NS      20000000000ull // for somebody who looks at a stack
#define KILL_NS      10000000000ull
#define PATIENCE_NS  60000000000ull // for the next wish
#define LINE_MOST    4096           // of the server's, for a match

struct stream { // a pipe whose content is passed on
    int in, out;
    int to;
    uint64_t passed;
};

struct child {
    pid_t pid; // 0: none
    bool gone;
    int status;
};

struct driver {
    struct server_state *state;
    struct server_orders orders;
    struct probe probe;
    struct stop stop;
    struct stream said, noise; // the load's stdout; everything else
    int signals;
    struct child server, helper; // helper: the load, or a command that asks or stops
    bool ready;
    uint64_t ready_at, listening_at, quiet_at; // 0: not yet, not now
    regex_t expression;                        // of READY_OUTPUT
    bool matched;
    char line[LINE_MOST];
    size_t line_size;
    int nap_ms;
    struct switches switches;
    uint32_t crashes; // so far
};

static struct error *stream_open(struct stream *stream, int to)
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

// Line by line; of a long line only the beginning is looked at.
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
        if (stream == &driver->noise && !driver->ready && driver->probe.ready.kind == READY_OUTPUT)
            match_lines(driver, bytes, (size_t)got);
    }
}

static void pump(struct driver *driver)
{
    pump_one(driver, &driver->said);
    pump_one(driver, &driver->noise);
}

// A server that puts itself into the background ends and leaves a child: that is the server then.
// It may do so just after it was ready: those who open their port as root open it first.
static void follow_daemon(struct driver *driver)
{
    pid_list children = {0};
    pid_t oldest = 0;
    bool well = WIFEXITED(driver->server.status) && WEXITSTATUS(driver->server.status) == 0;
    if (!well || (driver->ready && clock_ns() - driver->ready_at > DAEMON_NS))
        return;
    error_free(processes_children(&children));
    for (size_t i = 0; i < children.count; i++)
        if (children.items[i] != driver->helper.pid && (oldest == 0 || children.items[i] < oldest))
            oldest = children.items[i];
    ARRAY_DEINIT(&children);
    if (oldest != 0)
        driver->server = (struct child){.pid = oldest};
}

static void reap(struct driver *driver)
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

static void wait_a_moment(struct driver *driver, uint64_t deadline)
{
    struct pollfd polled[] = {
        {driver->signals, POLLIN, 0}, {driver->said.in, POLLIN, 0}, {driver->noise.in, POLLIN, 0}};
    uint64_t now = clock_ns();
    uint64_t left = now < deadline ? (deadline - now) / 1000000 + 1 : 0;
    int nap = driver->nap_ms > 0 && (uint64_t)driver->nap_ms < left ? driver->nap_ms
              : left < 1000                                         ? (int)left
                                                                    : 1000;
    if (poll(polled, 3, nap) > 0 && polled[0].revents != 0) {
        struct signalfd_siginfo info;
        while (read(driver->signals, &info, sizeof info) > 0)
            ;
    }
}

enum end { HELD, GONE, LATE };

// Until `holds`, the server's end (unless `alone` says that it does not matter) or the deadline.
static enum end await(struct driver *driver, bool (*holds)(struct driver *), uint64_t ns,
                      bool alone)
{
    uint64_t deadline = clock_ns() + ns;
    for (;;) {
        reap(driver);
        pump(driver);
        if (holds(driver))
            return HELD;
        if (driver->server.gone && !alone)
            return GONE;
        if (clock_ns() >= deadline)
            return LATE;
        wait_a_moment(driver, deadline);
    }
}

static struct error *run(struct driver *driver, char *const *command, char *const *environment,
                         int input, struct child *ret_child, bool quiet)
{
    _cleanup_close_ int nothing = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    bool is_load = command == driver->orders.load;
    struct spawn spawn = {.command = command,
                          .environment = environment,
                          .input = input,
                          .output = quiet     ? nothing
                                    : is_load ? driver->said.out
                                              : driver->noise.out,
                          .errors = quiet ? nothing : driver->noise.out,
                          .limits = {.core = true}, // as this process's own
                          .ignored = 1ull << (SIGPIPE - 1),
                          .announce = -1};
    int handle;
    pid_t pid;
    TRY(spawn_start(&spawn, &pid, &handle));
    close(handle);
    *ret_child = (struct child){.pid = pid};
    return NULL;
}

static struct error *run_shell(struct driver *driver, const char *text, bool quiet)
{
    char *const command[] = {(char *)"/bin/sh", (char *)"-c", (char *)text, NULL};
    return run(driver, command, driver->orders.environment, -1, &driver->helper, quiet);
}

static bool helper_gone(struct driver *driver)
{
    return driver->helper.gone;
}

static bool server_gone(struct driver *driver)
{
    return driver->server.gone;
}

// A command is asked again and again, one after the other.
static bool command_agrees(struct driver *driver)
{
    if (driver->helper.pid != 0 && !driver->helper.gone)
        return false;
    if (driver->helper.pid != 0 && driver->helper.status == 0)
        return true;
    struct error *error = run_shell(driver, driver->probe.ready.text, true);
    if (error != NULL)
        driver->helper = (struct child){0};
    error_free(error);
    return false;
}

static bool is_asleep(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    const char *end =
        file != NULL && fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    return end != NULL && strncmp(end, ") S", 3) == 0;
}

// Many listen long before they are done with their start, and a failure in between would be taken
// for one of the service: whoever waits for something has most likely come to its end.
static bool is_settled(struct driver *driver)
{
    uint64_t now = clock_ns();
    if (driver->listening_at == 0)
        driver->listening_at = now;
    if (!is_asleep(driver->server.pid) || driver->server.gone)
        driver->quiet_at = 0;
    else if (driver->quiet_at == 0)
        driver->quiet_at = now;
    driver->nap_ms = SHORT_NAP_MS;
    return now - driver->listening_at > SETTLE_NS ||
           (driver->quiet_at != 0 && now - driver->quiet_at > QUIET_NS);
}

static bool is_ready(struct driver *driver)
{
    driver->nap_ms = driver->nap_ms * 2 < LONG_NAP_MS ? driver->nap_ms * 2 : LONG_NAP_MS;
    if (driver->probe.ready.kind == READY_OUTPUT)
        return driver->matched;
    if (driver->probe.ready.kind == READY_COMMAND)
        return command_agrees(driver);
    bool holds = probe_holds(&driver->probe);
    bool listens =
        driver->probe.ready.kind == READY_PORT || driver->probe.ready.kind == READY_SOCKET;
    return holds && (!listens || is_settled(driver));
}

static struct error *start(struct driver *driver, enum end *ret_end)
{
    struct ready ready;
    bool taken;
    driver->state->phase = SERVER_START;
    TRY(ready_parse(driver->orders.ready, &ready));
    if (ready.kind == READY_OUTPUT &&
        regcomp(&driver->expression, ready.text, REG_EXTENDED | REG_NOSUB) != 0)
        return error_new("'%s' is no regular expression", ready.text);
    probe_begin(&driver->probe, &ready, &taken);
    if (taken)
        return error_new("somebody else has taken %s already; in a network of its own "
                         "(sandbox.network: private) the server would be alone",
                         driver->orders.ready);
    TRY(run(driver, driver->orders.server, driver->orders.server_environment, -1, &driver->server,
            false));
    driver->nap_ms = SHORT_NAP_MS;
    *ret_end = await(driver, is_ready, driver->orders.ready_ns, false);
    driver->nap_ms = 0;
    driver->ready = true;
    driver->ready_at = clock_ns();
    return NULL;
}

static struct error *run_load(struct driver *driver, struct server_load *load, enum end *ret_end)
{
    bool may_go = driver->stop.kind == STOP_NONE;
    _cleanup_close_ int input = -1;
    *load =
        (struct server_load){.out_begin = driver->said.passed, .err_begin = driver->noise.passed};
    if (driver->orders.input[0] != '\0' &&
        (input = open(driver->orders.input, O_RDONLY | O_CLOEXEC | O_NOCTTY)) < 0)
        return error_from_errno(errno, "cannot open %s for the load", driver->orders.input);
    driver->helper = (struct child){0};
    TRY(run(driver, driver->orders.load, driver->orders.environment, input, &driver->helper,
            false));
    *ret_end = await(driver, helper_gone, driver->orders.load_ns, may_go);
    pump(driver);
    load->status = driver->helper.status;
    load->ended = *ret_end == HELD;
    load->out_end = driver->said.passed;
    load->err_end = driver->noise.passed;
    reap(driver);
    if (*ret_end == HELD && driver->server.gone && !may_go)
        *ret_end = GONE;
    return NULL;
}

// On demand, the load runs again without the fault: what that one left behind shows then, and not
// when the next one is tried.
static struct error *drive_once(struct driver *driver, uint32_t number, bool twice,
                                enum end *ret_end)
{
    struct server_round *round = &driver->state->rounds[number];
    uint64_t begun = clock_ns();
    uint32_t rule = driver->state->rule;
    uint64_t before = switches_fired(&driver->switches, rule);
    driver->state->begun = number + 1;
    switches_set(&driver->switches, rule, true);
    struct error *error = run_load(driver, &round->load, ret_end);
    switches_set(&driver->switches, rule, false);
    round->fired = switches_fired(&driver->switches, rule) - before;
    if (error == NULL && *ret_end == HELD && twice && round->fired == 0)
        round->again = round->load; // nothing has happened
    else if (error == NULL && *ret_end == HELD && twice)
        error = run_load(driver, &round->again, ret_end);
    round->ns = clock_ns() - begun;
    uint32_t crashes = switches_crashes(&driver->switches);
    round->crashed = crashes > driver->crashes;
    driver->crashes = crashes;
    return error;
}

static bool is_wanted(struct driver *driver)
{
    return atomic_load(&driver->state->wanted) > driver->state->begun;
}

// The next round is wanted, or no more: not a matter of the server's time.
static struct error *await_wish(struct driver *driver, enum end *ret_end)
{
    driver->nap_ms = 1;
    *ret_end = await(driver, is_wanted, PATIENCE_NS, false);
    driver->nap_ms = 0;
    return *ret_end == LATE ? error_new("nobody asks for the next round") : NULL;
}

static struct error *drive(struct driver *driver, enum end *ret_end)
{
    bool on_demand = driver->orders.rounds == 0;
    uint32_t most = on_demand ? SERVER_ROUNDS : driver->orders.rounds;
    driver->state->phase = SERVER_LOAD;
    for (uint32_t i = 0; driver->orders.load != NULL && i < most; i++) {
        if (on_demand)
            TRY(await_wish(driver, ret_end));
        if (*ret_end != HELD || atomic_load(&driver->state->wanted) == SERVER_ENOUGH)
            return NULL;
        TRY(drive_once(driver, i, on_demand, ret_end));
        if (*ret_end != HELD)
            return NULL;
        atomic_store(&driver->state->done, i + 1);
    }
    return NULL;
}

static struct error *stop(struct driver *driver, enum end *ret_end)
{
    driver->state->phase = SERVER_STOP;
    driver->helper = (struct child){0};
    reap(driver);
    if (driver->server.gone && driver->stop.kind != STOP_NONE) {
        *ret_end = GONE;
        return NULL;
    }
    if (driver->stop.kind == STOP_SIGNAL)
        kill(driver->server.pid, driver->stop.signal);
    else if (driver->stop.kind == STOP_COMMAND)
        TRY(run_shell(driver, driver->stop.command, false));
    *ret_end = await(driver, server_gone, driver->orders.stop_ns, true);
    return NULL;
}

// While it is looked at, it may go on printing.
static void be_looked_at(struct driver *driver)
{
    uint64_t deadline = clock_ns() + LOOK_NS;
    driver->state->late = 1;
    driver->nap_ms = 5;
    atomic_store(&driver->state->look, SERVER_LATE);
    while (atomic_load(&driver->state->look) != SERVER_LOOKED && clock_ns() < deadline) {
        pump(driver);
        wait_a_moment(driver, deadline);
    }
}

static bool nobody_left(struct driver *driver)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
}

static void end_all(struct driver *driver)
{
    uint64_t deadline = clock_ns() + KILL_NS;
    driver->nap_ms = 1;
    while (!nobody_left(driver) && clock_ns() < deadline) {
        size_t count, refused;
        error_free(processes_signal(SIGKILL, NULL, &count, &refused));
        reap(driver);
        pump(driver);
        wait_a_moment(driver, clock_ns() + 1000000);
    }
    pump(driver);
}

static struct error *lead(struct driver *driver)
{
    enum end end = HELD;
    struct server_state *state = driver->state;
    TRY(stop_parse(driver->orders.stop, &driver->stop));
    TRY(switches_open(&driver->switches, driver->orders.switches, driver->orders.first_switch,
                      driver->orders.switch_count));
    TRY(start(driver, &end));
    state->server = driver->server.pid;
    if (end == HELD)
        TRY(drive(driver, &end));
    if (end == HELD)
        TRY(stop(driver, &end));
    state->server = driver->server.pid;
    if (end == LATE)
        be_looked_at(driver);
    state->gone = end == GONE;
    state->ended = driver->server.gone;
    state->status = driver->server.status;
    if (end == HELD) {
        driver->nap_ms = 1;
        await(driver, nobody_left, LEFTOVER_NS, true);
        state->phase = SERVER_DONE;
    }
    return NULL;
}

static struct error *prepare(struct driver *driver)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        sigprocmask(SIG_BLOCK, &child, NULL) < 0)
        return error_from_errno(errno, "cannot adopt processes");
    signal(SIGPIPE, SIG_IGN);
    driver->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (driver->signals < 0)
        return error_from_errno(errno, "cannot watch processes");
    TRY(stream_open(&driver->said, STDOUT_FILENO));
    return stream_open(&driver->noise, STDERR_FILENO);
}

int server_drive(int shared)
{
    struct driver driver = {0};
    struct error *error = server_orders_read(shared, &driver.state, &driver.orders);
    if (error != NULL) {
        error_free(error);
        return 127;
    }
    error = prepare(&driver);
    if (error == NULL)
        error = lead(&driver);
    if (error != NULL)
        snprintf(driver.state->trouble, sizeof driver.state->trouble, "%s", error_message(error));
    error_free(error);
    end_all(&driver);
    return 0; // the process ends here, and all that it has with it
}

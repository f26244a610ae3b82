// SPDX-License-Identifier: GPL-3.0-or-later
// The phases of a server's life, one after the other: start, load, stop. Runs in the driver process
// inside the sandbox.
#include "engine/server-drive.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "engine/server-driver.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#define FLAG_EXITING 4u // the kernel's PF_EXITING

static bool helper_gone(struct driver *driver)
{
    return driver->helper.gone;
}

static bool server_gone(struct driver *driver)
{
    return driver->server.gone;
}

// Runs the readiness command again and again, until it exits with 0.
static bool command_agrees(struct driver *driver)
{
    if (driver->helper.pid != 0 && !driver->helper.gone)
        return false;
    if (driver->helper.pid != 0 && driver->helper.status == 0)
        return true;
    struct error *error = driver_run_shell(driver, driver->probe.ready.text, true);
    if (error != NULL)
        driver->helper = (struct child){0};
    error_free(error);
    return false;
}

// Reads state and flags of a process or thread from its stat file; false if there is none.
static bool read_state(const char *path, char *ret_state, unsigned *ret_flags)
{
    char line[512];
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    const char *end =
        file != NULL && fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
    return end != NULL && sscanf(end, ") %c %*d %*d %*d %*d %*d %u", ret_state, ret_flags) == 2;
}

static bool is_sleeping(pid_t pid)
{
    unsigned flags;
    char state, path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return read_state(path, &state, &flags) && state == 'S';
}

// Whether a process is exiting (it called exit or was killed) but cannot be waited for yet: its
// connections are closed before that. All its threads must be exiting; the first one may end alone
// and leave the others.
static bool is_leaving(pid_t pid)
{
    char directory[32], path[320], state;
    unsigned flags, leaving = 0, staying = 0;
    snprintf(directory, sizeof directory, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(directory);
    for (const struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/stat", directory, entry->d_name);
        if (!isdigit((unsigned char)entry->d_name[0]) || !read_state(path, &state, &flags))
            continue;
        leaving += (flags & FLAG_EXITING) != 0;
        staying += (flags & FLAG_EXITING) == 0;
    }
    if (threads != NULL)
        closedir(threads);
    return leaving != 0 && staying == 0;
}

// Many servers listen long before their start is done. A failure in between would be taken for one
// of the service. A server that waits for something has most likely finished its start.
static bool is_settled(struct driver *driver)
{
    uint64_t now_ns = clock_ns();
    if (driver->listening_at_ns == 0)
        driver->listening_at_ns = now_ns;
    if (!is_sleeping(driver->server.pid) || driver->server.gone)
        driver->quiet_at_ns = 0;
    else if (driver->quiet_at_ns == 0)
        driver->quiet_at_ns = now_ns;
    driver->nap_ns = SERVER_READY_PAUSE_NS;
    return now_ns - driver->listening_at_ns > SERVER_SETTLE_WAIT_NS ||
           (driver->quiet_at_ns != 0 && now_ns - driver->quiet_at_ns > SERVER_QUIET_NS);
}

static bool is_ready(struct driver *driver)
{
    driver->nap_ns =
        driver->nap_ns * 2 < SERVER_READY_LAST_NS ? driver->nap_ns * 2 : SERVER_READY_LAST_NS;
    if (driver->probe.ready.kind == READY_OUTPUT)
        return driver->matched;
    if (driver->probe.ready.kind == READY_COMMAND)
        return command_agrees(driver);
    bool holds = probe_holds(&driver->probe);
    bool listens =
        driver->probe.ready.kind == READY_PORT || driver->probe.ready.kind == READY_SOCKET;
    return holds && (!listens || is_settled(driver));
}

static struct error *start(struct driver *driver, enum driver_end *ret_end)
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
    TRY(driver_run(driver, driver->orders.server, driver->orders.server_environment, -1,
                   &driver->server, false));
    driver->nap_ns = SERVER_READY_PAUSE_NS;
    *ret_end = driver_await(driver, is_ready, driver->orders.ready_ns, false);
    driver->nap_ns = 0;
    driver->ready = true;
    driver->ready_at_ns = clock_ns();
    return NULL;
}

static struct error *run_load(struct driver *driver, struct server_load *load,
                              enum driver_end *ret_end)
{
    bool may_go = driver->stop.kind == STOP_NONE;
    _cleanup_close_ int input = -1;
    *load = (struct server_load){.out_begin = driver->load_output.passed,
                                 .err_begin = driver->other_output.passed};
    if (driver->orders.input[0] != '\0' &&
        (input = open(driver->orders.input, O_RDONLY | O_CLOEXEC | O_NOCTTY)) < 0)
        return error_from_errno(errno, "cannot open %s for the load", driver->orders.input);
    driver->helper = (struct child){0};
    TRY(driver_run(driver, driver->orders.load, driver->orders.environment, input, &driver->helper,
                   false));
    *ret_end = driver_await(driver, helper_gone, driver->orders.load_ns, may_go);
    driver_pump(driver);
    load->status = driver->helper.status;
    load->ended = *ret_end == HELD;
    load->out_end = driver->load_output.passed;
    load->err_end = driver->other_output.passed;
    driver_reap(driver);
    if (*ret_end == HELD && !driver->server.gone && !may_go && is_leaving(driver->server.pid))
        driver_await(driver, server_gone, SERVER_LEAVE_WAIT_NS, true);
    if (*ret_end == HELD && driver->server.gone && !may_go)
        *ret_end = GONE;
    return NULL;
}

static struct error *open_switches(struct driver *driver)
{
    const struct server_orders *orders = &driver->orders;
    const struct injector *injector = injector_find(orders->injector);
    if (injector == NULL || injector->switches == NULL)
        return NULL;
    TRY(injector->switches->open(orders->switches, orders->first_switch, orders->switch_count,
                                 &driver->switches));
    driver->switching = injector->switches;
    return NULL;
}

static void close_switches(struct driver *driver)
{
    if (driver->switching != NULL)
        driver->switching->close(driver->switches);
}

static uint64_t times_fired(const struct driver *driver, uint32_t rule)
{
    return driver->switching != NULL ? driver->switching->fired(driver->switches, rule) : 0;
}

static void switch_fault(const struct driver *driver, uint32_t rule, bool on)
{
    if (driver->switching != NULL)
        driver->switching->set(driver->switches, rule, on);
}

// Runs one round. On demand (`twice`), the load runs again without the fault, so that damage shows
// now and not when the next fault is tried.
static struct error *drive_once(struct driver *driver, uint32_t number, bool twice,
                                enum driver_end *ret_end)
{
    struct server_round *round = &driver->state->rounds[number];
    uint64_t begun_ns = clock_ns();
    uint32_t rule = driver->state->rule;
    uint64_t before = times_fired(driver, rule);
    driver->state->begun = number + 1;
    switch_fault(driver, rule, true);
    struct error *error = run_load(driver, &round->load, ret_end);
    switch_fault(driver, rule, false);
    uint64_t after = times_fired(driver, rule);
    round->damaged = after < before || after - before > INT64_MAX;
    round->fired = round->damaged ? 0 : after - before;
    if (error == NULL && *ret_end == HELD && twice && round->fired == 0)
        round->again = round->load; // the fault did not fire
    else if (error == NULL && *ret_end == HELD && twice)
        error = run_load(driver, &round->again, ret_end);
    round->ns = clock_ns() - begun_ns;
    uint32_t crashes = driver->switching != NULL ? driver->switching->crashes(driver->switches) : 0;
    round->crashed = crashes > driver->crashes;
    driver->crashes = crashes;
    return error;
}

static bool is_wanted(struct driver *driver)
{
    return atomic_load(&driver->state->wanted) > driver->state->begun;
}

// Waits until the slot asks for the next round or for the end. The server's time does not count
// here.
static struct error *await_request(struct driver *driver, enum driver_end *ret_end)
{
    driver->nap_ns = SERVER_WISH_PAUSE_NS;
    *ret_end = driver_await(driver, is_wanted, SERVER_WISH_WAIT_NS, false);
    driver->nap_ns = 0;
    return *ret_end == LATE ? error_new("nobody asks for the next round") : NULL;
}

static struct error *drive(struct driver *driver, enum driver_end *ret_end)
{
    bool on_demand = driver->orders.rounds == 0;
    uint32_t most = on_demand ? SERVER_ROUNDS : driver->orders.rounds;
    driver->state->phase = SERVER_LOAD;
    for (uint32_t i = 0; driver->orders.load != NULL && i < most; i++) {
        if (on_demand)
            TRY(await_request(driver, ret_end));
        if (*ret_end != HELD || atomic_load(&driver->state->wanted) == SERVER_ENOUGH)
            return NULL;
        TRY(drive_once(driver, i, on_demand, ret_end));
        if (*ret_end != HELD)
            return NULL;
        atomic_store(&driver->state->done, i + 1);
    }
    return NULL;
}

static struct error *stop(struct driver *driver, enum driver_end *ret_end)
{
    driver->state->phase = SERVER_STOP;
    driver->helper = (struct child){0};
    driver_reap(driver);
    if (driver->server.gone && driver->stop.kind != STOP_NONE) {
        *ret_end = GONE;
        return NULL;
    }
    if (driver->stop.kind == STOP_SIGNAL)
        kill(driver->server.pid, driver->stop.signal);
    else if (driver->stop.kind == STOP_COMMAND)
        TRY(driver_run_shell(driver, driver->stop.command, false));
    *ret_end = driver_await(driver, server_gone, driver->orders.stop_ns, true);
    return NULL;
}

// Waits until the slot has looked at the server's stack. The server may go on printing.
static void wait_for_look(struct driver *driver)
{
    uint64_t deadline_ns = clock_ns() + SERVER_LOOK_WAIT_NS;
    driver->state->late = 1;
    driver->nap_ns = SERVER_LOOK_PAUSE_NS;
    atomic_store(&driver->state->look, SERVER_LATE);
    while (atomic_load(&driver->state->look) != SERVER_LOOKED && clock_ns() < deadline_ns) {
        driver_pump(driver);
        driver_nap(driver, deadline_ns);
    }
}

static struct error *run_server(struct driver *driver)
{
    enum driver_end end = HELD;
    struct server_state *state = driver->state;
    TRY(stop_parse(driver->orders.stop, &driver->stop));
    TRY(open_switches(driver));
    TRY(start(driver, &end));
    state->server = driver->server.pid;
    if (end == HELD)
        TRY(drive(driver, &end));
    if (end == HELD)
        TRY(stop(driver, &end));
    state->server = driver->server.pid;
    if (end == LATE)
        wait_for_look(driver);
    state->gone = end == GONE;
    state->ended = driver->server.gone;
    state->status = driver->server.status;
    if (end == HELD) {
        driver->nap_ns = KILL_SERVER_PAUSE_NS;
        driver_await(driver, driver_is_alone, SERVER_LEFTOVER_WAIT_NS, true);
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
    TRY(driver_open_stream(&driver->load_output, STDOUT_FILENO));
    return driver_open_stream(&driver->other_output, STDERR_FILENO);
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
        error = run_server(&driver);
    if (error != NULL)
        snprintf(driver.state->trouble, sizeof driver.state->trouble, "%s", error_message(error));
    error_free(error);
    driver_end_all(&driver);
    close_switches(&driver);
    return 0; // the process exits now, which frees everything
}

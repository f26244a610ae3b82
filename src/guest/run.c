// SPDX-License-Identifier: GPL-3.0-or-later
// Drives a guest through its phases. One loop waits for everything at once: the console, QEMU's
// events, breakpoints, the script that runs, and the time.
#include "guest/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "guest/console.h"
#include "guest/machine-check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define COUNT_MOST    100 // activations; then the breakpoints are removed
#define CONSOLE_SHOWN 25  // lines of the console in the report
#define ERRORS_KEPT   4096
#define BREAKPOINTS   4 // that a processor has

struct guest {
    const struct guest_system *system;
    const struct guest_run_options *options;
    struct guest_machine machine;
    struct console console;
    struct guest_report *report;
    char errors[ERRORS_KEPT]; // the beginning of QEMU's stderr
    size_t error_size;
    uint64_t start_ns;
    int signals;
    bool interrupted;
    bool ended;       // QEMU has
    uint64_t dead_ns; // when the guest gave up; 0: it has not
    bool armed;       // there are breakpoints
    bool gave_up;     // QEMU says that a processor did
    uint64_t due_ns;  // when machine checks are; 0: not any more, or not yet
    pid_t script;
    int script_ended; // its pidfd; -1: none runs
    int status;       // of the last script, as a shell has it
};

static bool is_hardware(const struct guest *guest)
{
    return guest->machine.debug && strcmp(guest->report->accelerator, "kvm") == 0;
}

static uint64_t answer_by(void)
{
    return clock_ns() + GUEST_ANSWER_WAIT_NS;
}

static void tell(const struct guest *guest)
{
    if (guest->options->progress != NULL)
        guest->options->progress(guest->options->data, guest->report);
}

// ---- Breakpoints ----

static struct error *set_breakpoints(struct guest *guest, bool set)
{
    for (size_t i = 0; i < guest->options->place_count; i++)
        TRY(guest_gdb_breakpoint(&guest->machine.gdb, set, is_hardware(guest),
                                 guest->options->places[i], answer_by()));
    guest->armed = set && guest->options->place_count != 0;
    return NULL;
}

static bool is_place(const struct guest *guest, uint64_t address)
{
    for (size_t i = 0; i < guest->options->place_count; i++)
        if (guest->options->places[i] == address)
            return true;
    return false;
}

// Executes the instruction below a breakpoint.
static struct error *step_over(struct guest *guest, uint64_t address)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    bool stopped = false, in_time = true;
    TRY(guest_gdb_breakpoint(gdb, false, is_hardware(guest), address, answer_by()));
    uint64_t deadline = answer_by();
    TRY(guest_gdb_continue(gdb, true));
    while (!stopped && in_time && gdb->link.socket >= 0) {
        TRY(guest_link_wait(&gdb->link, deadline, &in_time));
        TRY(guest_gdb_take_stop(gdb, &stopped));
    }
    return stopped ? guest_gdb_breakpoint(gdb, true, is_hardware(guest), address, answer_by())
                   : NULL;
}

static struct error *take_activation(struct guest *guest, uint64_t address)
{
    struct guest_report *report = guest->report;
    if (report->activations++ == 0) {
        report->activated_in = report->phase;
        report->activated_ns = clock_ns() - guest->start_ns;
        tell(guest);
    }
    if (report->activations < COUNT_MOST)
        return step_over(guest, address);
    report->more = true;
    return set_breakpoints(guest, false);
}

static struct error *take_stop(struct guest *guest)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    bool stopped;
    uint64_t address;
    TRY(guest_gdb_take_stop(gdb, &stopped));
    if (!stopped || gdb->link.socket < 0)
        return NULL;
    TRY(guest_gdb_place(gdb, answer_by(), &address));
    if (guest->armed && is_place(guest, address))
        TRY(take_activation(guest, address));
    return gdb->link.socket >= 0 ? guest_gdb_continue(gdb, false) : NULL;
}

// ---- Machine checks ----

// The guest stands still meanwhile, so that it sees all of them together. An error counts from when
// it is sent: QEMU may end because of it.
static struct error *inject_machine_checks(struct guest *guest)
{
    struct guest_qmp *qmp = &guest->machine.qmp;
    const struct mce_errors *errors = guest->options->machine_checks;
    struct guest_report *report = guest->report;
    TRY(guest_qmp_command(qmp, "stop", answer_by()));
    report->activated_in = report->phase;
    report->activated_ns = clock_ns() - guest->start_ns;
    for (size_t i = 0; i < errors->list.count && !guest->gave_up; i++) {
        report->activations++;
        TRY(guest_inject_error(qmp, &errors->list.items[i], answer_by(), &guest->gave_up));
    }
    tell(guest);
    return guest_qmp_command(qmp, "cont", answer_by());
}

static struct error *inject_if_due(struct guest *guest)
{
    if (guest->due_ns == 0 || clock_ns() < guest->due_ns)
        return NULL;
    guest->due_ns = 0;
    if (guest->ended || guest->dead_ns != 0 || guest->machine.qmp.events.panicked ||
        guest->script == 0)
        return NULL;
    struct error *error = inject_machine_checks(guest);
    // QEMU's end is noticed as such, also one that is on its way.
    if (error != NULL && guest->machine.qmp.link.socket >= 0 && !guest->gave_up)
        return error;
    error_free(error);
    return NULL;
}

// ---- Whatever comes ----

static struct error *take_console(struct guest *guest)
{
    char bytes[16384];
    ssize_t size = read(guest->machine.console, bytes, sizeof bytes);
    if (size > 0) {
        TRY(console_take(&guest->console, bytes, (size_t)size));
    } else if (size == 0) {
        close(guest->machine.console);
        guest->machine.console = -1;
    }
    if (guest->console.trouble == CONSOLE_PANIC && guest->dead_ns == 0)
        guest->dead_ns = clock_ns();
    return NULL;
}

static void take_errors(struct guest *guest)
{
    char bytes[4096];
    ssize_t size = read(guest->machine.errors, bytes, sizeof bytes);
    size_t room = sizeof guest->errors - 1 - guest->error_size;
    if (size > 0) {
        size_t kept = (size_t)size < room ? (size_t)size : room;
        memcpy(guest->errors + guest->error_size, bytes, kept);
        guest->error_size += kept;
    } else if (size == 0) {
        close(guest->machine.errors);
        guest->machine.errors = -1;
    }
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void take_script_end(struct guest *guest)
{
    int status = 0;
    kill(-guest->script, SIGKILL); // what it left running; its own end keeps the number taken
    while (waitpid(guest->script, &status, 0) < 0 && errno == EINTR)
        ;
    guest->status = status_of(status);
    close(guest->script_ended);
    guest->script_ended = -1;
    guest->script = 0;
}

// Handles what has come, or comes until then. QEMU's links may break at any moment, because QEMU
// may end at any moment: that is noticed by its end.
static struct error *pump(struct guest *guest, uint64_t deadline_ns)
{
    struct guest_machine *machine = &guest->machine;
    enum { CONSOLE, ERRORS, QMP, GDB, ENDED, SCRIPT, SIGNALS, COUNT };
    struct pollfd fds[COUNT] = {[CONSOLE] = {machine->console, POLLIN, 0},
                                [ERRORS] = {machine->errors, POLLIN, 0},
                                [QMP] = {machine->qmp.link.socket, POLLIN, 0},
                                [GDB] = {machine->gdb.link.socket, POLLIN, 0},
                                [ENDED] = {guest->ended ? -1 : machine->ended, POLLIN, 0},
                                [SCRIPT] = {guest->script_ended, POLLIN, 0},
                                [SIGNALS] = {guest->signals, POLLIN, 0}};
    uint64_t now = clock_ns();
    if (guest->dead_ns != 0 && guest->dead_ns + GUEST_DEATH_WAIT_NS < deadline_ns)
        deadline_ns = guest->dead_ns + GUEST_DEATH_WAIT_NS;
    if (guest->due_ns != 0 && guest->due_ns < deadline_ns)
        deadline_ns = guest->due_ns;
    if (poll(fds, COUNT, now < deadline_ns ? clock_poll_ms(deadline_ns - now) : 0) < 0)
        return errno == EINTR ? NULL : error_from_errno(errno, "cannot wait for the guest");
    struct signalfd_siginfo signal;
    if (fds[SIGNALS].revents != 0 &&
        read(guest->signals, &signal, sizeof signal) == (ssize_t)sizeof signal)
        guest->interrupted = true;
    if (fds[CONSOLE].revents != 0)
        TRY(take_console(guest));
    if (fds[ERRORS].revents != 0)
        take_errors(guest);
    if (fds[QMP].revents != 0)
        TRY(guest_qmp_take(&machine->qmp));
    if (fds[SCRIPT].revents != 0)
        take_script_end(guest);
    // The pipes are empty when the end is noticed.
    if (fds[ENDED].revents != 0 && fds[CONSOLE].revents == 0 && fds[QMP].revents == 0)
        guest->ended = true;
    if (fds[GDB].revents != 0) {
        struct error *error = take_stop(guest);
        if (error != NULL && machine->gdb.link.socket >= 0)
            return error;
        error_free(error);
    }
    if (guest->interrupted)
        return error_new("interrupted");
    return inject_if_due(guest);
}

// Whether there is no use in going on. A panic is given a moment to be reported.
static bool is_over(const struct guest *guest)
{
    return guest->ended ||
           (guest->dead_ns != 0 && clock_ns() >= guest->dead_ns + GUEST_DEATH_WAIT_NS);
}

// ---- Scripts ----

static _Noreturn void become(const struct guest *guest, char *const *command, bool quiet,
                             pid_t parent)
{
    char port[16];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(port, sizeof port, "%u", guest->machine.port);
    int nothing = open("/dev/null", O_RDONLY);
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        chdir(guest->system->directory) == 0 && nothing >= 0 && dup2(nothing, 0) >= 0 &&
        (!quiet || dup2(2, 1) >= 0) && setenv("GUEST_PORT", port, 1) == 0 &&
        setenv("GUEST_PHASE", guest_phase_names[guest->report->phase], 1) == 0) {
        execvp(command[0], command);
        dprintf(2, "ordeal guest: cannot run %s: %s\n", command[0], strerror(errno));
    }
    _exit(127);
}

static void end_script(struct guest *guest)
{
    if (guest->script == 0)
        return;
    kill(-guest->script, SIGKILL);
    kill(guest->script, SIGKILL);
    take_script_end(guest);
}

// Runs a script until it ends, the guest does, or its time is over. *ret_done: it ended by itself.
static struct error *run_script(struct guest *guest, char *const *command, bool quiet,
                                uint64_t deadline_ns, bool *ret_done)
{
    *ret_done = false;
    pid_t parent = getpid();
    guest->script = fork();
    if (guest->script < 0) {
        guest->script = 0;
        return error_from_errno(errno, "cannot start a process");
    }
    if (guest->script == 0)
        become(guest, command, quiet, parent);
    setpgid(guest->script, guest->script); // whichever of both is first
    guest->script_ended = pidfd_open(guest->script, 0);
    if (guest->script_ended < 0)
        return error_from_errno(errno, "cannot watch a process");
    while (guest->script != 0 && !is_over(guest) && clock_ns() < deadline_ns)
        TRY(pump(guest, deadline_ns));
    *ret_done = guest->script == 0;
    end_script(guest);
    return NULL;
}

static struct error *run_path(struct guest *guest, char *path, uint64_t deadline_ns, bool *ret_done)
{
    char *command[] = {path, NULL};
    return run_script(guest, command, true, deadline_ns, ret_done);
}

// ---- Phases ----

static struct error *set_reason(struct guest *guest, const char *text)
{
    free(guest->report->reason);
    guest->report->reason = strdup(text);
    return guest->report->reason != NULL ? NULL : error_no_memory();
}

// Why QEMU has ended, or the guest does not answer.
static struct error *find_crash(struct guest *guest, bool done)
{
    struct guest_report *report = guest->report;
    const struct guest_events *events = &guest->machine.qmp.events;
    char text[ERRORS_KEPT + 200];
    bool tripped = false;
    // A connection breaks before QEMU's end is noticed.
    uint64_t deadline = done ? clock_ns() + GUEST_END_WAIT_NS : 0;
    while (!guest->ended && clock_ns() < deadline)
        TRY(pump(guest, deadline));
    if (guest->ended)
        TRY(guest_machine_tripped(&guest->machine, &tripped));
    tripped |= guest->gave_up;
    if (guest->console.trouble == CONSOLE_PANIC || events->panicked) {
        report->crash = GUEST_PANIC;
        return set_reason(guest, *guest->console.what != '\0' ? guest->console.what
                                                              : "its panic device says so");
    }
    // What ends QEMU from outside says nothing about the guest.
    if (guest->ended && !(events->shutdown && events->by_guest)) {
        report->end = GUEST_NOT_RUN;
        guest->errors[strcspn(guest->errors, "\n")] = '\0';
        snprintf(text, sizeof text, "QEMU ended%s%s", *guest->errors != '\0' ? ": " : " by itself",
                 guest->errors);
        return set_reason(guest, text);
    }
    if (guest->ended) {
        report->crash = tripped ? GUEST_TRIPLE_FAULT : GUEST_RESET;
        snprintf(text, sizeof text, "%s",
                 tripped                                         ? "triple fault"
                 : strcmp(events->reason, "guest-shutdown") == 0 ? "it switched itself off"
                                                                 : "it restarted");
        return set_reason(guest, text);
    }
    if (guest->console.trouble == CONSOLE_OOPS) {
        report->crash = GUEST_OOPS;
        return set_reason(guest, guest->console.what);
    }
    report->crash = done ? GUEST_BROKEN : GUEST_HANG;
    if (done)
        snprintf(text, sizeof text, "the %s ends with exit status %d",
                 guest_phase_names[report->phase], guest->status);
    else
        snprintf(text, sizeof text, "no answer: the %s does not end",
                 guest_phase_names[report->phase]);
    return set_reason(guest, text);
}

static void enter(struct guest *guest, enum guest_phase phase, uint64_t *since_ns)
{
    uint64_t now = clock_ns();
    guest->report->phase_ns[guest->report->phase] += now - *since_ns;
    guest->report->phase = phase;
    *since_ns = now;
    tell(guest);
}

// Until the console says so; without such a text, until a pretest passes. *ret_ready is false if
// that was never so.
static struct error *boot(struct guest *guest, bool *ret_ready)
{
    uint64_t deadline = clock_ns() + guest->system->boot_ns;
    bool done = false;
    *ret_ready = false;
    TRY(guest_machine_go(&guest->machine, answer_by()));
    while (!is_over(guest) && clock_ns() < deadline) {
        if (guest->system->ready != NULL) {
            if (guest->console.is_ready) {
                *ret_ready = true;
                return NULL;
            }
            TRY(pump(guest, deadline));
            continue;
        }
        uint64_t try_by = clock_ns() + guest->system->pretest_ns;
        TRY(run_path(guest, guest->system->pretest, try_by < deadline ? try_by : deadline, &done));
        if (done && guest->status == 0) {
            *ret_ready = true;
            return NULL;
        }
        uint64_t pause = clock_ns() + GUEST_RETRY_PAUSE_NS;
        while (clock_ns() < pause && !is_over(guest))
            TRY(pump(guest, pause));
    }
    return NULL;
}

// The pretest, or the same as the posttest; what the run ends with if it does not pass.
static struct error *test(struct guest *guest, enum guest_end otherwise, bool *ret_passed)
{
    bool done = false;
    uint64_t deadline = clock_ns() + guest->system->pretest_ns;
    *ret_passed = false;
    TRY(run_path(guest, guest->system->pretest, deadline, &done));
    *ret_passed = done && guest->status == 0 && !guest->ended && guest->dead_ns == 0;
    if (*ret_passed)
        return NULL;
    guest->report->end = otherwise;
    return find_crash(guest, done);
}

static struct error *work(struct guest *guest)
{
    char *own[] = {guest->system->workload, NULL};
    char *const *command = guest->options->workload != NULL ? guest->options->workload : own;
    bool done;
    if (guest->options->machine_checks != NULL)
        guest->due_ns = clock_ns() + guest->options->machine_checks_ns;
    TRY(run_script(guest, command, false, clock_ns() + guest->system->workload_ns, &done));
    guest->due_ns = 0;
    guest->report->status = done ? guest->status : 124; // as timeout(1) has it
    return NULL;
}

static struct error *shut_down(struct guest *guest)
{
    uint64_t deadline = clock_ns() + guest->system->shutdown_ns;
    bool done;
    if (guest->system->shutdown == NULL)
        return NULL;
    TRY(run_path(guest, guest->system->shutdown, deadline, &done));
    while (!guest->ended && clock_ns() < deadline)
        TRY(pump(guest, deadline));
    return NULL;
}

static struct error *drive(struct guest *guest)
{
    struct guest_report *report = guest->report;
    uint64_t since = clock_ns();
    bool passed = false;
    guest->start_ns = since;
    report->end = GUEST_UNFINISHED;
    tell(guest);
    if (guest->options->place_count != 0)
        TRY(set_breakpoints(guest, true));
    TRY(boot(guest, &passed));
    if (!passed) {
        report->end = GUEST_PRETEST_FAILED;
        TRY(find_crash(guest, false));
        enter(guest, GUEST_BOOT, &since);
        return NULL;
    }
    enter(guest, GUEST_PRETEST, &since);
    TRY(test(guest, GUEST_PRETEST_FAILED, &passed));
    if (!passed) {
        enter(guest, GUEST_PRETEST, &since);
        return NULL;
    }
    enter(guest, GUEST_WORKLOAD, &since);
    TRY(work(guest));
    if (is_over(guest) || guest->dead_ns != 0) {
        report->end = GUEST_CRASHED;
        enter(guest, GUEST_WORKLOAD, &since);
        return find_crash(guest, false);
    }
    enter(guest, GUEST_POSTTEST, &since);
    TRY(test(guest, GUEST_CRASHED, &passed));
    if (!passed) {
        enter(guest, GUEST_POSTTEST, &since);
        return NULL;
    }
    report->end = GUEST_STABLE;
    enter(guest, GUEST_SHUTDOWN, &since);
    TRY(shut_down(guest));
    enter(guest, GUEST_SHUTDOWN, &since);
    return NULL;
}

static struct error *finish(struct guest *guest)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct guest_report *report = guest->report;
    static const enum guest_action actions[] = {[CONSOLE_NO_ACTION] = GUEST_NO_ACTION,
                                                [CONSOLE_OFFLINE] = GUEST_OFFLINE,
                                                [CONSOLE_KILL] = GUEST_KILL};
    report->action = report->crash == GUEST_PANIC && report->activations != 0
                         ? GUEST_PANICS
                         : actions[guest->console.action];
    if (*guest->console.rule != '\0' && (report->rule = strdup(guest->console.rule)) == NULL)
        return error_no_memory();
    TRY(console_put_last(&guest->console, CONSOLE_SHOWN, &text));
    report->console = TAKE(text.data);
    report->stack = TAKE(guest->console.stack.data);
    return NULL;
}

static struct error *run(struct guest *guest)
{
    enum guest_accelerator accelerator = guest->options->accelerator;
    if (guest->options->machine_checks != NULL)
        TRY(guest_check_errors(guest->system, guest->options->machine_checks));
    if (guest->options->trace != NULL) // only TCG knows what it executes
        accelerator = GUEST_TCG;
    TRY(guest_choose_accelerator(&accelerator));
    if (accelerator == GUEST_KVM && guest->options->place_count > BREAKPOINTS) {
        if (guest->options->accelerator == GUEST_KVM)
            return error_new("the fault has %zu copies, and the processor can watch %d places: use "
                             "emulation (tcg)",
                             guest->options->place_count, BREAKPOINTS);
        accelerator = GUEST_TCG;
    }
    strcpy(guest->report->accelerator, accelerator == GUEST_KVM ? "kvm" : "tcg");
    const struct guest_machine_options options = {
        .accelerator = accelerator,
        .kernel = guest->options->kernel,
        .debug = guest->options->place_count != 0,
        .trace = guest->options->trace,
    };
    TRY(guest_machine_open(guest->system, &options, clock_ns() + GUEST_START_WAIT_NS,
                           &guest->machine));
    TRY(drive(guest));
    return finish(guest);
}

struct error *guest_run(const struct guest_system *system, const struct guest_run_options *options,
                        struct guest_report *ret_report)
{
    struct guest guest = {.system = system,
                          .options = options,
                          .report = ret_report,
                          .console.ready = system->ready,
                          .signals = -1,
                          .script_ended = -1,
                          .machine = {.ended = -1, .console = -1, .errors = -1}};
    sigset_t ends, before;
    *ret_report =
        (struct guest_report){.status = -1, .machine_checks = options->machine_checks != NULL};
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    guest.signals = signalfd(-1, &ends, SFD_CLOEXEC);
    struct error *error =
        guest.signals >= 0 ? run(&guest) : error_from_errno(errno, "cannot wait for signals");
    end_script(&guest);
    guest_machine_close(&guest.machine);
    console_deinit(&guest.console);
    if (guest.signals >= 0)
        close(guest.signals);
    if (!guest.interrupted) // a second signal must not stop the caller from cleaning up
        sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

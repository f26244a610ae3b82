// SPDX-License-Identifier: GPL-3.0-or-later
// Drives a guest through its phases.
#include "guest/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "guest/machine-check.h"
#include "guest/run-internal.h"
#include "guest/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONSOLE_SHOWN 25 // lines of the console in the report
#define BREAKPOINTS   4  // that a processor has

static struct error *run_path(struct guest *guest, char *path, uint64_t deadline_ns, bool *ret_done)
{
    char *command[] = {path, NULL};
    return guest_script_run(guest, command, true, deadline_ns, ret_done);
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
    char text[GUEST_ERRORS_KEPT + 200];
    bool tripped = false;
    // A connection breaks before QEMU's end is noticed.
    uint64_t deadline = done ? clock_ns() + GUEST_END_WAIT_NS : 0;
    while (!guest->ended && clock_ns() < deadline)
        TRY(guest_pump(guest, deadline));
    if (guest->ended)
        TRY(guest_machine_tripped(&guest->machine, &tripped));
    tripped |= guest->gave_up;
    if (events->no_space) { // QEMU has stopped the guest, which would look like a hang
        report->end = GUEST_NOT_RUN;
        return set_reason(guest, "there is no space left for what it writes to its disk");
    }
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
    struct stat status;
    if (guest->options->trace != NULL && stat(guest->options->trace, &status) == 0)
        guest->report->trace_from[phase] = (uint64_t)status.st_size;
    guest_tell(guest);
}

// Until the console says so; without such a text, until a pretest passes. *ret_ready is false if
// that was never so.
static struct error *boot(struct guest *guest, bool *ret_ready)
{
    uint64_t deadline = clock_ns() + guest->system->boot_ns;
    bool done = false;
    *ret_ready = false;
    while (!guest_is_over(guest) && clock_ns() < deadline) {
        if (guest->system->ready != NULL) {
            if (guest->console.is_ready) {
                *ret_ready = true;
                return NULL;
            }
            TRY(guest_pump(guest, deadline));
            continue;
        }
        uint64_t try_by = clock_ns() + guest->system->pretest_ns;
        TRY(run_path(guest, guest->system->pretest, try_by < deadline ? try_by : deadline, &done));
        if (done && guest->status == 0) {
            *ret_ready = true;
            return NULL;
        }
        uint64_t pause = clock_ns() + GUEST_RETRY_PAUSE_NS;
        while (clock_ns() < pause && !guest_is_over(guest))
            TRY(guest_pump(guest, pause));
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
    TRY(guest_script_run(guest, command, false, clock_ns() + guest->system->workload_ns, &done));
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
        TRY(guest_pump(guest, deadline));
    return NULL;
}

// Boot and pretest. *ret_passed: the run is valid.
static struct error *begin(struct guest *guest, uint64_t *since_ns, bool *ret_passed)
{
    TRY(boot(guest, ret_passed));
    if (!*ret_passed) {
        guest->report->end = GUEST_PRETEST_FAILED;
        TRY(find_crash(guest, false));
        enter(guest, GUEST_BOOT, since_ns);
        return NULL;
    }
    enter(guest, GUEST_PRETEST, since_ns);
    TRY(test(guest, GUEST_PRETEST_FAILED, ret_passed));
    if (!*ret_passed)
        enter(guest, GUEST_PRETEST, since_ns);
    return NULL;
}

// Workload, posttest and shutdown.
static struct error *go_on(struct guest *guest, uint64_t since)
{
    struct guest_report *report = guest->report;
    bool passed;
    enter(guest, GUEST_WORKLOAD, &since);
    TRY(work(guest));
    if (guest_is_over(guest) || guest->dead_ns != 0) {
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

static struct error *drive(struct guest *guest)
{
    bool passed = true;
    guest->start_ns = clock_ns();
    uint64_t since = guest->start_ns;
    guest->report->end = GUEST_UNFINISHED;
    guest_tell(guest);
    if (guest->options->place_count != 0)
        TRY(guest_set_breakpoints(guest, true));
    TRY(guest_machine_go(&guest->machine, guest_answer_by()));
    if (!guest->report->snapshot)
        TRY(begin(guest, &since, &passed));
    return passed ? go_on(guest, since) : NULL;
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

// ---- Snapshots ----

// Boots, tests and saves the system. *ret_passed is false if it is not valid; then the report is
// complete.
static struct error *make_snapshot(struct guest *guest, struct guest_machine_options options,
                                   struct guest_snapshot *snapshot, bool *ret_passed)
{
    uint64_t since = clock_ns();
    options.save = true;
    options.debug = false;
    if (guest->options->patch_count != 0)
        TRY(guest->options->snapshot_kernel(guest->options->data, &options.kernel));
    guest->report->end = GUEST_UNFINISHED;
    guest_snapshot_clear(snapshot);
    TRY(guest_machine_open(guest->system, &options, since + GUEST_START_WAIT_NS, &guest->machine));
    TRY(guest_machine_go(&guest->machine, guest_answer_by()));
    TRY(begin(guest, &since, ret_passed));
    if (!*ret_passed)
        return NULL;
    TRY(guest_snapshot_save(&guest->machine.qmp, snapshot->folder,
                            clock_ns() + GUEST_SNAPSHOT_WAIT_NS));
    guest_machine_close(&guest->machine);
    console_deinit(&guest->console);
    guest->console = (struct console){.ready = guest->system->ready};
    memset(guest->report->phase_ns, 0, sizeof guest->report->phase_ns);
    guest->report->phase = GUEST_BOOT;
    return guest_snapshot_finish(snapshot);
}

// Entries lead to their twins already. What the file of the kernel has may not be what memory has:
// systems change their own code.
static struct error *enable_fault(struct guest *guest)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    for (size_t i = 0; i < guest->options->patch_count; i++) {
        const struct guest_patch *patch = &guest->options->patches[i];
        unsigned char bytes[sizeof patch->before];
        TRY(guest_gdb_read(gdb, patch->physical, bytes, patch->size, guest_answer_by()));
        if (memcmp(bytes, patch->after, patch->size) == 0)
            continue;
        if (memcmp(bytes, patch->before, patch->size) != 0)
            return error_new("the system has changed its code at %#llx while it booted: the fault "
                             "can be enabled before that only, without a snapshot",
                             (unsigned long long)patch->physical);
        TRY(guest_gdb_write(gdb, patch->physical, patch->after, patch->size, guest_answer_by()));
    }
    return NULL;
}

static struct error *run_from_snapshot(struct guest *guest, struct guest_machine_options options)
{
    _cleanup_(guest_snapshot_close) struct guest_snapshot snapshot;
    bool passed = true, faulty = guest->options->patch_count != 0;
    char kind[24];
    snprintf(kind, sizeof kind, "%s%s", guest->report->accelerator, faulty ? "-faults" : "");
    TRY(guest_snapshot_open(guest->options->snapshot, kind, guest->system, guest->signals,
                            &snapshot));
    options.snapshot = snapshot.folder;
    if (!snapshot.made)
        TRY(make_snapshot(guest, options, &snapshot, &passed));
    if (!passed)
        return NULL;
    guest->report->snapshot = true;
    TRY(guest_machine_open(guest->system, &options, clock_ns() + GUEST_START_WAIT_NS,
                           &guest->machine));
    TRY(enable_fault(guest));
    return drive(guest);
}

// ---- A run ----

// With hardware support, the processor's own registers have to do as breakpoints.
static struct error *choose_accelerator(const struct guest *guest,
                                        enum guest_accelerator *ret_accelerator)
{
    const struct guest_run_options *options = guest->options;
    *ret_accelerator = options->trace != NULL ? GUEST_TCG // only TCG knows what it executes
                                              : options->accelerator;
    TRY(guest_choose_accelerator(ret_accelerator));
    if (*ret_accelerator != GUEST_KVM || options->place_count <= BREAKPOINTS)
        return NULL;
    if (options->accelerator == GUEST_KVM)
        return error_new("the fault has %zu copies, and the processor can watch %d places: use "
                         "emulation (tcg)",
                         options->place_count, BREAKPOINTS);
    *ret_accelerator = GUEST_TCG;
    return NULL;
}

static struct error *run(struct guest *guest)
{
    enum guest_accelerator accelerator;
    if (guest->options->machine_checks != NULL)
        TRY(guest_check_errors(guest->system, guest->options->machine_checks,
                               guest->options->machine_checks_every_ns == 0));
    TRY(choose_accelerator(guest, &accelerator));
    strcpy(guest->report->accelerator, accelerator == GUEST_KVM ? "kvm" : "tcg");
    const struct guest_machine_options options = {
        .accelerator = accelerator,
        .kernel = guest->options->kernel,
        .debug = guest->options->place_count != 0 || guest->options->clear_bits != 0 ||
                 guest->options->severity_function != 0,
        .trace = guest->options->trace,
    };
    if (guest->options->snapshot != NULL) {
        TRY(run_from_snapshot(guest, options));
        return finish(guest);
    }
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
    guest_script_end(&guest);
    guest_machine_close(&guest.machine);
    console_deinit(&guest.console);
    if (guest.signals >= 0)
        close(guest.signals);
    if (!guest.interrupted) // a second signal must not stop the caller from cleaning up
        sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

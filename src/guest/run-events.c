// SPDX-License-Identifier: GPL-3.0-or-later
// What comes while a guest runs: its console, QEMU's events, breakpoints, the end of a script, and
// the moment at which machine checks are due. One loop waits for everything at once.
#include "guest/run-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "guest/machine-check.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define COUNT_MOST 100 // activations; then the breakpoints are removed

static bool is_hardware(const struct guest *guest)
{
    return guest->machine.debug && strcmp(guest->report->accelerator, "kvm") == 0;
}

uint64_t guest_answer_by(void)
{
    return clock_ns() + GUEST_ANSWER_WAIT_NS;
}

void guest_tell(const struct guest *guest)
{
    if (guest->options->progress != NULL)
        guest->options->progress(guest->options->data, guest->report);
}

// ---- Breakpoints ----

struct error *guest_set_breakpoints(struct guest *guest, bool set)
{
    for (size_t i = 0; i < guest->options->place_count; i++)
        TRY(guest_gdb_breakpoint(&guest->machine.gdb, set, is_hardware(guest),
                                 guest->options->places[i], guest_answer_by()));
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

struct error *guest_step_over(struct guest *guest, uint64_t address)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    bool stopped = false, in_time = true;
    TRY(guest_gdb_breakpoint(gdb, false, is_hardware(guest), address, guest_answer_by()));
    uint64_t deadline = guest_answer_by();
    TRY(guest_gdb_continue(gdb, true));
    while (!stopped && in_time && gdb->link.socket >= 0) {
        TRY(guest_link_wait(&gdb->link, deadline, &in_time));
        TRY(guest_gdb_take_stop(gdb, &stopped));
    }
    return stopped ? guest_gdb_breakpoint(gdb, true, is_hardware(guest), address, guest_answer_by())
                   : NULL;
}

static struct error *take_activation(struct guest *guest, uint64_t address)
{
    struct guest_report *report = guest->report;
    if (report->activations++ == 0) {
        report->activated_in = report->phase;
        report->activated_ns = clock_ns() - guest->start_ns;
        guest_tell(guest);
    }
    if (report->activations < COUNT_MOST)
        return guest_step_over(guest, address);
    report->more = true;
    return guest_set_breakpoints(guest, false);
}

static struct error *take_stop(struct guest *guest)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    bool stopped;
    struct guest_registers registers;
    TRY(guest_gdb_take_stop(gdb, &stopped));
    if (!stopped || gdb->link.socket < 0)
        return NULL;
    TRY(guest_gdb_registers(gdb, guest_answer_by(), &registers));
    if (guest->armed && is_place(guest, registers.place))
        TRY(take_activation(guest, registers.place));
    TRY(guest_take_grade(guest, &registers));
    return gdb->link.socket >= 0 ? guest_gdb_continue(gdb, false) : NULL;
}

// ---- Machine checks ----

static struct error *clear_bits(struct guest *guest)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    const struct guest_run_options *options = guest->options;
    unsigned char byte;
    if (options->clear_bits == 0)
        return NULL;
    TRY(guest_gdb_read(gdb, options->clear_physical, &byte, 1, guest_answer_by()));
    if ((byte & options->clear_bits) != options->clear_bits)
        return error_new("the byte at %#llx is %#x: it does not have the bits %#x, which are to be "
                         "cleared",
                         (unsigned long long)options->clear_physical, byte, options->clear_bits);
    byte &= (unsigned char)~options->clear_bits;
    return guest_gdb_write(gdb, options->clear_physical, &byte, 1, guest_answer_by());
}

// Before the first one.
static struct error *begin_machine_checks(struct guest *guest)
{
    struct guest_report *report = guest->report;
    TRY(clear_bits(guest));
    if (guest->options->severity_function != 0)
        TRY(guest_watch_grades(guest));
    report->activated_in = report->phase;
    report->activated_ns = clock_ns() - guest->start_ns;
    return NULL;
}

// The guest stands still meanwhile, so that it sees all of them together. An error counts from when
// it is sent: QEMU may end because of it.
static struct error *inject_machine_checks(struct guest *guest)
{
    struct guest_qmp *qmp = &guest->machine.qmp;
    const struct guest_run_options *options = guest->options;
    const struct mce_errors *errors = options->machine_checks;
    TRY(guest_qmp_command(qmp, "stop", guest_answer_by()));
    if (guest->next_check == 0)
        TRY(begin_machine_checks(guest));
    do {
        const struct mce_error *error = &errors->list.items[guest->next_check++];
        guest->report->activations++;
        TRY(guest_inject_error(qmp, error, guest_answer_by(), &guest->gave_up));
    } while (guest->next_check < errors->list.count && !guest->gave_up &&
             options->machine_checks_every_ns == 0);
    guest_tell(guest);
    if (guest->next_check < errors->list.count && !guest->gave_up)
        guest->due_ns = clock_ns() + options->machine_checks_every_ns;
    return guest_qmp_command(qmp, "cont", guest_answer_by());
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

struct error *guest_pump(struct guest *guest, uint64_t deadline_ns)
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
        guest_script_take_end(guest);
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

bool guest_is_over(const struct guest *guest)
{
    return guest->ended || guest->machine.qmp.events.no_space ||
           (guest->dead_ns != 0 && clock_ns() >= guest->dead_ns + GUEST_DEATH_WAIT_NS);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// How severe a Linux guest takes machine-check errors to be, whatever it does then: breakpoints at
// the beginning of its function mce_severity(struct mce *, ...) and where that returns.
#include "guest/run-internal.h"

#include "base/cleanup.h"

#include <string.h>

// Linux' struct mce, which programs see, too: what is read of it.
struct linux_mce {
    uint64_t status, misc, address, mcgstatus, ip, tsc, time;
    uint8_t vendor, inject_flags, severity, pad;
    uint32_t cpuid;
    uint8_t cs, bank, others[6];
};

static bool is_hardware(const struct guest *guest)
{
    return strcmp(guest->report->accelerator, "kvm") == 0;
}

struct error *guest_watch_grades(struct guest *guest)
{
    return guest_gdb_breakpoint(&guest->machine.gdb, true, is_hardware(guest),
                                guest->options->severity_function, guest_answer_by());
}

// What is asked of the rules is what the kernel asks of its own: it knows the place only if one of
// RIPV and EIPV is set.
static struct error *read_check(struct guest *guest, uint64_t address, struct guest_grade *ret)
{
    struct linux_mce check;
    const char *rule;
    for (size_t at = 0; at < sizeof check; at += GUEST_GDB_MOST) {
        size_t left = sizeof check - at;
        TRY(guest_gdb_read_virtual(&guest->machine.gdb, address + at, (char *)&check + at,
                                   left < GUEST_GDB_MOST ? left : GUEST_GDB_MOST,
                                   guest_answer_by()));
    }
    const struct mce_error error = {.status = check.status, .global = (unsigned)check.mcgstatus};
    *ret = (struct guest_grade){.status = check.status,
                                .global = check.mcgstatus,
                                .bank = check.bank,
                                .in_user = (check.cs & 3) == 3};
    ret->wanted = mce_severity(&error, ret->in_user ? MCE_IN_USER : MCE_IN_KERNEL,
                               guest->options->clear_bits == 0, &rule);
    return NULL;
}

static bool is_return(const struct guest_grading *grading, uint64_t address)
{
    for (size_t i = 0; i < grading->return_count; i++)
        if (grading->returns[i] == address)
            return true;
    return false;
}

static struct error *begin(struct guest *guest, const struct guest_registers *registers)
{
    struct guest_gdb *gdb = &guest->machine.gdb;
    struct guest_grading *grading = &guest->grading;
    struct guest_call call = {.stack = registers->general[GUEST_RSP]};
    uint64_t back;
    TRY(guest_gdb_read_virtual(gdb, call.stack, &back, sizeof back, guest_answer_by()));
    TRY(read_check(guest, registers->general[GUEST_RDI], &call.grade));
    if (!is_return(grading, back)) {
        if (grading->return_count == GUEST_MOST_CALLS)
            return NULL;
        TRY(guest_gdb_breakpoint(gdb, true, is_hardware(guest), back, guest_answer_by()));
        grading->returns[grading->return_count++] = back;
    }
    if (grading->call_count < GUEST_MOST_CALLS)
        grading->calls[grading->call_count++] = call;
    return NULL;
}

static void keep(struct guest_report *report, const struct guest_grade *grade)
{
    for (size_t i = 0; i < report->grade_count; i++) {
        const struct guest_grade *known = &report->grades[i];
        if (known->status == grade->status && known->global == grade->global &&
            known->bank == grade->bank && known->in_user == grade->in_user &&
            known->severity == grade->severity)
            return;
    }
    if (report->grade_count < GUEST_MOST_GRADES)
        report->grades[report->grade_count++] = *grade;
}

// The return address is gone from the stack then.
static void end(struct guest *guest, const struct guest_registers *registers)
{
    struct guest_grading *grading = &guest->grading;
    for (size_t i = 0; i < grading->call_count; i++) {
        struct guest_call *call = &grading->calls[i];
        if (call->stack + 8 != registers->general[GUEST_RSP])
            continue;
        call->grade.severity = (int)registers->general[GUEST_RAX];
        keep(guest->report, &call->grade);
        *call = grading->calls[--grading->call_count];
        return;
    }
}

struct error *guest_take_grade(struct guest *guest, const struct guest_registers *registers)
{
    uint64_t function = guest->options->severity_function;
    if (function == 0)
        return NULL;
    if (registers->place == function)
        TRY(begin(guest, registers));
    else if (is_return(&guest->grading, registers->place))
        end(guest, registers);
    else
        return NULL;
    return guest_step_over(guest, registers->place);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What became of a guest in one run, and the file by which one process tells another.
#ifndef ORDEAL_GUEST_REPORT_H
#define ORDEAL_GUEST_REPORT_H

#include "base/array.h"
#include "base/error.h"
#include "mce/severity.h"

#include <stdbool.h>
#include <stdint.h>

enum guest_phase {
    GUEST_BOOT,
    GUEST_PRETEST,
    GUEST_WORKLOAD,
    GUEST_POSTTEST,
    GUEST_SHUTDOWN,
    GUEST_PHASES
};
enum guest_end {
    GUEST_STABLE,         // the posttest passed
    GUEST_NOT_RUN,        // QEMU could not run it: says nothing about the system
    GUEST_PRETEST_FAILED, // or was never reached: the run is not valid
    GUEST_CRASHED,        // the pretest passed, and the posttest failed or was never reached
    GUEST_UNFINISHED,     // it is still running
    GUEST_ENDS
};
enum guest_crash { // how it crashed; also before the pretest
    GUEST_NO_CRASH,
    GUEST_PANIC,
    GUEST_OOPS,         // and the posttest failed
    GUEST_TRIPLE_FAULT, // the processor gave up
    GUEST_RESET,        // it restarted, or switched itself off
    GUEST_HANG,         // it does not answer any more
    GUEST_BROKEN,       // it answers, and the posttest failed
    GUEST_CRASHES
};

enum guest_action { // what the kernel did about machine-check errors
    GUEST_NO_ACTION,
    GUEST_OFFLINE, // the page of memory is used no more
    GUEST_KILL,
    GUEST_PANICS,
    GUEST_ACTIONS
};

// How severe the kernel took an error to be that it found in a bank of registers. It grades an
// error more than once; equal grades are kept once.
#define GUEST_MOST_GRADES 16
struct guest_grade {
    uint64_t status, global; // as the kernel read them
    unsigned bank;
    bool in_user;             // as far as the kernel knows
    int severity;             // a number that is no level is possible
    enum mce_severity wanted; // by its rules
};

struct guest_report {
    enum guest_end end;
    enum guest_crash crash;
    enum guest_phase phase;        // the last one that was reached
    char *reason;                  // one line, or NULL
    char *console;                 // the last lines of the console
    char *stack;                   // frames of the kernel's own report, or NULL
    uint64_t activations;          // of the fault; see `more`
    bool more;                     // it was not counted any further
    enum guest_phase activated_in; // the first time
    uint64_t activated_ns;         // after the start
    bool machine_checks;           // that was the fault
    enum guest_action action;      // then
    char *rule;                    // by which the kernel panicked, as it says, or NULL
    struct guest_grade grades[GUEST_MOST_GRADES];
    size_t grade_count;
    int status;                      // of the workload, as a shell has it; -1: not reached
    uint64_t phase_ns[GUEST_PHASES]; // how long each took
    char accelerator[8];
    bool snapshot; // it began with one, after the pretest
    // How long the log of executed code was when a phase began; not in files.
    uint64_t trace_from[GUEST_PHASES];
};
void guest_report_deinit(struct guest_report *report);

// By number: "boot", "pretest", …; "stable", …; "none", "panic", ….
extern const char *const guest_phase_names[GUEST_PHASES];
extern const char *const guest_end_names[GUEST_ENDS];
extern const char *const guest_crash_names[GUEST_CRASHES];
extern const char *const guest_action_names[GUEST_ACTIONS]; // "none", "offline", "kill", "panic"

// As JSON, one object on one line.
_must_check_ struct error *guest_report_write(const struct guest_report *report,
                                              struct buffer *text);
// Reads the same, but for the grades. The text may be anything.
_must_check_ struct error *guest_report_read(const char *text, size_t size,
                                             struct guest_report *ret_report);

#endif

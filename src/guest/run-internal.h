// SPDX-License-Identifier: GPL-3.0-or-later
// A run while it goes on: shared by run.c (phases), run-events.c (what comes meanwhile) and
// run-script.c (what runs on this side).
#ifndef ORDEAL_GUEST_RUN_INTERNAL_H
#define ORDEAL_GUEST_RUN_INTERNAL_H

#include "guest/console.h"
#include "guest/run.h"

#include <sys/types.h>

#define GUEST_ERRORS_KEPT 4096 // bytes of QEMU's stderr

#define GUEST_MOST_CALLS 8 // of the kernel's function of severity that have not returned

struct guest_grading {
    struct guest_call {
        uint64_t stack; // where its return address is
        struct guest_grade grade;
    } calls[GUEST_MOST_CALLS];
    size_t call_count;
    uint64_t returns[GUEST_MOST_CALLS]; // places with a breakpoint
    size_t return_count;
};

struct guest {
    const struct guest_system *system;
    const struct guest_run_options *options;
    struct guest_machine machine;
    struct console console;
    struct guest_report *report;
    char errors[GUEST_ERRORS_KEPT]; // the beginning of QEMU's stderr
    size_t error_size;
    uint64_t start_ns;
    int signals;
    bool interrupted;
    bool ended;        // QEMU has
    uint64_t dead_ns;  // when the guest gave up; 0: it has not
    bool armed;        // there are breakpoints
    bool gave_up;      // QEMU says that a processor did
    uint64_t due_ns;   // when machine checks are; 0: not any more, or not yet
    size_t next_check; // that is due
    struct guest_grading grading;
    pid_t script;
    int script_ended; // its pidfd; -1: none runs
    int status;       // of the last script, as a shell has it
};

// ---- run-events.c ----

// When an answer of QEMU must have come.
uint64_t guest_answer_by(void);
// Tells the caller what is known so far.
void guest_tell(const struct guest *guest);
_must_check_ struct error *guest_set_breakpoints(struct guest *guest, bool set);
// Executes the instruction below a breakpoint.
_must_check_ struct error *guest_step_over(struct guest *guest, uint64_t address);
// Handles what has come, or comes until then. QEMU's links may break at any moment, because QEMU
// may end at any moment: that is noticed by its end.
_must_check_ struct error *guest_pump(struct guest *guest, uint64_t deadline_ns);
// Whether there is no use in going on. A panic is given a moment to be reported.
bool guest_is_over(const struct guest *guest);

// ---- run-grades.c ----

// From now on each severity that the kernel decides is taken.
_must_check_ struct error *guest_watch_grades(struct guest *guest);
// If the processor that has stopped is about to decide one or has done so, notes that, and lets it
// execute the next instruction.
_must_check_ struct error *guest_take_grade(struct guest *guest,
                                            const struct guest_registers *registers);

// ---- run-script.c ----

// Runs a script until it ends, the guest does, or its time is over. *ret_done: it ended by itself.
// What it prints goes to stderr if it is `quiet`.
_must_check_ struct error *guest_script_run(struct guest *guest, char *const *command, bool quiet,
                                            uint64_t deadline_ns, bool *ret_done);
// Ends the script that runs, and all that it started.
void guest_script_end(struct guest *guest);
// Notes that it has ended.
void guest_script_take_end(struct guest *guest);

#endif

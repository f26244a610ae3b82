// SPDX-License-Identifier: GPL-3.0-or-later
// How a trial can end. Reports, the store and oracle commands use the same words.
#ifndef ORDEAL_STORE_VERDICT_H
#define ORDEAL_STORE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

// Most severe first.
enum verdict {
    // A process died of a signal, or a sanitizer or valgrind reported an error
    VERDICT_CRASH,
    VERDICT_HANG,   // killed because its time was up
    VERDICT_SILENT, // visible behaviour changed, and nothing was reported
    // The same, but something was reported and the program claimed success; or the failure was
    // reported, but data was destroyed
    VERDICT_WRONG_OUTPUT,
    VERDICT_UNSTABLE,      // the posttest failed
    VERDICT_DELIBERATE,    // it decided to abort, and said so
    VERDICT_GRACEFUL,      // the error was reported by the exit status or a message
    VERDICT_PASS,          // same as the reference
    VERDICT_NOT_ACTIVATED, // the fault was never hit: says nothing about the target
    VERDICT_INVALID,       // the pretest failed, or the trial could not be run
    VERDICTS
};

struct verdict_facts {
    const char *name; // "crash", "wrong-output"
    const char *meaning;
    bool counts; // it tested the target: part of the denominator of every proportion
    bool
        failure; // part of the numerator, too; `ordeal test` fails, unless --fail-on says otherwise
    bool finding; // shown as a finding
};
// By verdict.
extern const struct verdict_facts verdict_facts[VERDICTS];

// The verdict with this name, or VERDICTS.
enum verdict verdict_named(const char *name, size_t size);

#endif

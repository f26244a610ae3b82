// SPDX-License-Identifier: GPL-3.0-or-later
// How a trial can end. The words are those of reports, of the store and of oracle commands.
#ifndef ORDEAL_STORE_VERDICT_H
#define ORDEAL_STORE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

// Most severe first.
enum verdict {
    VERDICT_CRASH,         // a process died of a signal, or a sanitizer or valgrind complained
    VERDICT_HANG,          // killed after its time
    VERDICT_SILENT,        // visible behaviour changed and nothing was reported
    VERDICT_WRONG_OUTPUT,  // likewise, though something was reported; claimed to have succeeded
    VERDICT_UNSTABLE,      // the posttest failed
    VERDICT_GRACEFUL,      // the error was reported: by the exit status or a message
    VERDICT_PASS,          // as the reference
    VERDICT_NOT_ACTIVATED, // the fault was never hit: says nothing about the target
    VERDICT_INVALID,       // the pretest failed, or the trial could not be run
    VERDICTS
};

struct verdict_facts {
    const char *name; // "crash", "wrong-output"
    const char *meaning;
    bool counts;  // was a test of the target: part of every proportion's denominator
    bool failure; // a finding, unless the user says otherwise (--fail-on)
};
extern const struct verdict_facts verdict_facts[VERDICTS];

// VERDICTS if there is none of that name.
enum verdict verdict_named(const char *name, size_t size);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The names of verdicts and what they mean. The schema has the same names (schema.c); a test
// compares them.
#include "store/verdict.h"

#include <string.h>

const struct verdict_facts verdict_facts[VERDICTS] = {
    [VERDICT_CRASH] = {"crash", "a process died of a signal, or a checker reported an error", true,
                       true, true},
    [VERDICT_HANG] = {"hang", "still running when its time was over", true, true, true},
    [VERDICT_SILENT] = {"silent", "results changed and nothing was reported", true, true, true},
    [VERDICT_WRONG_OUTPUT] = {"wrong-output",
                              "results changed though success was claimed, or data was lost", true,
                              true, true},
    [VERDICT_UNSTABLE] = {"unstable", "the posttest failed", true, true, true},
    [VERDICT_DELIBERATE] = {"deliberate", "it decided to abort, and said so", true, false, true},
    [VERDICT_GRACEFUL] = {"graceful", "the error was reported", true, false, false},
    [VERDICT_PASS] = {"pass", "as without the fault", true, false, false},
    [VERDICT_NOT_ACTIVATED] = {"not-activated", "the fault was never hit", false, false, false},
    [VERDICT_INVALID] = {"invalid", "the trial could not be run", false, false, false},
};

enum verdict verdict_named(const char *name, size_t size)
{
    for (unsigned i = 0; i < VERDICTS; i++)
        if (strlen(verdict_facts[i].name) == size && memcmp(verdict_facts[i].name, name, size) == 0)
            return (enum verdict)i;
    return VERDICTS;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injector `syscall`, shared by its parts.
#ifndef ORDEAL_INJECTORS_SYSCALL_INTERNAL_H
#define ORDEAL_INJECTORS_SYSCALL_INTERNAL_H

#include "base/words.h"
#include "injector/call-candidates.h"
#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "injector/realism.h"
#include "scenario/scenario.h"
#include "trial/runtime-session.h"

struct system_calls {
    struct injector_setup setup;
    bool automatic;
    struct call_plan plan;     // its recording has places, of all runs but the second
    struct recording stacks;   // of the second run
    struct scenario *watching; // records calls, injects nothing
    struct scenario *current;  // of this shot, unless it is a reference run
    struct runtime_session *session;
    struct journal_reader *reader;
    char *tracer;
    struct words command;     // tracer, region, and the workload's
    const char **environment; // of the workload, with what Go programs get
    bool is_reference;
    const char *visible[2];
};

static inline void freep_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

// ---- kernel.c ----

// The row of the realism table that says how a system call fails; NULL: it does not.
const struct realism *kernel_call_realism(const char *call);
// Whether the kernel's profile has the error for this call. Calls that the profile lacks can have
// any.
bool kernel_call_can(const char *call, const struct realism_error *error);
// Number of the argument that is a descriptor, or 0.
unsigned kernel_call_descriptor(const char *call);
// Writes the action of a rule, "-1/EIO" or "short 1". False: there is none for a system call.
bool kernel_call_action(const struct realism_error *error, char action[REALISM_ACTION]);

// ---- choice.c ----

// Adds rules that watch every call that can fail.
_must_check_ struct error *system_calls_watch(struct scenario *scenario, bool paranoid);
// Makes candidates of what was recorded, the most promising first.
_must_check_ struct error *system_calls_choose(struct system_calls *self, candidate_add *add,
                                               void *data);

// ---- texts.c ----

_must_check_ struct error *system_calls_describe(void *self, const char *fault,
                                                 const struct injection *injection,
                                                 struct buffer *text);
_must_check_ struct error *system_calls_reproduce(void *self, const char *spec, uint64_t seed,
                                                  uint64_t timeout_ns, char **ret_command);
extern const struct injector_stored system_calls_stored;

// ---- syscall.c ----

bool system_calls_paranoid(const struct injector_setup *setup);
// Makes a scenario of the rules of a spec.
_must_check_ struct error *system_calls_scenario(const char *spec, struct scenario **ret_scenario);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injector `library`, shared by its parts: parameters (open.c), shots and
// measurements (library.c), observations (observe.c), many shots in one run (forks.c).
#ifndef ORDEAL_INJECTORS_LIBRARY_INTERNAL_H
#define ORDEAL_INJECTORS_LIBRARY_INTERNAL_H

#include "injector/call-candidates.h"
#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "injectors/library/choice.h"
#include "injectors/library/coverage.h"
#include "injectors/library/untested.h"
#include "injectors/library/watch.h"
#include "scenario/scenario.h"
#include "trial/runtime-session.h"

struct library {
    struct injector_setup setup;
    bool automatic;
    struct call_plan plan;
    struct untested_faults untested;
    struct scenario *watching; // records the faults' functions, injects nothing
    // For automatic faults. Made after the first reference run: which stacks and kinds of
    // descriptors to record. And what the second run recorded.
    struct scenario *watching_stacks;
    struct recording stacks;
    struct descriptor_kinds kinds;
    struct choice_followed followed; // the calls of followed shots
    struct scenario *current;        // of this shot, unless it is a reference run
    struct runtime_session *session; // NULL before the first shot
    struct journal_reader *reader;
    bool is_reference;
    const char *following; // the spec of a shot that is followed, or NULL
    bool observing;        // a rule of the shot observes a call
    // With many shots in one run:
    struct library_fork {
        size_t shot; // index of the rule's shot
        uint64_t plan_hash;
    } * branches;
    size_t branch_count;
    const char *visible[4];
    struct analysis analysis; // of what the first run called, until there are candidates
    bool analysed;
    struct cover cover;          // recovery code; only in the controller
    const struct cover *covered; // the controller's, whose file all job slots share; or NULL
    const struct gcov *lines;    // the controller's, likewise
    const char **environment;    // of the shot, with GCOV_PREFIX
};

// Whether the next reference run, or the one that has just ended, records stacks.
static inline bool library_tells_stacks(const struct library *library)
{
    return library->watching_stacks != NULL && library->stacks.runs == 0;
}

static inline const struct scenario *library_watching(const struct library *library)
{
    return library_tells_stacks(library) ? library->watching_stacks : library->watching;
}

static inline void freep_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

// ---- open.c ----

// Reads and checks the parameters of library->setup. The rest of `library` is zero.
_must_check_ struct error *library_fill(struct library *library);
_must_check_ struct error *library_check_value(const char *parameter, const struct source *source);
// Whether rare errors are wanted, too.
bool library_is_paranoid(const struct injector_setup *setup);
// Writes the absolute path of a plug-in that a parameter names.
_must_check_ struct error *library_put_plugin(const struct injector_setup *setup, const char *file,
                                              struct buffer *path);
_must_check_ struct error *library_add_plugins(const struct injector_setup *setup,
                                               struct scenario *scenario);
struct choice_options library_choice_options(const struct library *library);

// ---- library.c ----

_must_check_ struct error *library_analyse(struct library *library); // the code of recorded calls
// Makes a scenario of the rules of a spec, with the campaign's plug-ins.
_must_check_ struct error *library_make_scenario(const struct library *library, const char *spec,
                                                 struct scenario **ret_scenario);

// ---- observe.c ----

struct injected_thread library_last_injected(void *self);
_must_check_ struct error *library_observe(void *self, const char *root,
                                           struct observation *observation);

// ---- forks.c ----

extern const struct injector_forks library_forks;

// ---- texts.c ----

_must_check_ struct error *library_describe(void *self, const char *fault,
                                            const struct injection *injection, struct buffer *text);
_must_check_ struct error *library_reproduce(void *self, const char *spec, uint64_t seed,
                                             uint64_t timeout_ns, char **ret_command);
extern const struct injector_stored library_stored;

// ---- prove.c ----

extern const struct injector_proof library_proof;

// ---- servers.c ----

extern const struct injector_switches library_switches;

#endif

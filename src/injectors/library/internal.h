// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the injector `library` share: opening it (open.c), shots and what is
// measured (library.c), what was seen of them (observe.c), many in one run
// (forks.c).
#ifndef ORDEAL_INJECTORS_LIBRARY_INTERNAL_H
#define ORDEAL_INJECTORS_LIBRARY_INTERNAL_H

#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "injectors/library/candidates.h"
#include "injectors/library/choice.h"
#include "injectors/library/coverage.h"
#include "injectors/library/gaps.h"
#include "injectors/library/watch.h"
#include "scenario/scenario.h"
#include "trial/runtime-session.h"

struct library {
    struct injector_setup setup;
    bool automatic;
    struct library_plan plan;
    struct gaps gaps;
    struct scenario *watching; // the faults' functions, without faults
    // Of automatic faults, after the first reference run: functions whose stacks are of interest,
    // and kinds of descriptors; and what the second run recorded of them.
    struct scenario *watching_stacks;
    struct recording stacks;
    struct kinds kinds;
    struct choice_followed followed; // what shots called in consequence of their faults
    struct scenario *current;        // of this shot, if it is not a reference run
    struct runtime_session *session; // made for the first shot
    struct journal_reader *reader;
    bool is_reference;
    const char *following; // the spec of a shot that is followed, or NULL
    // Of many shots in one run:
    struct library_fork {
        size_t shot; // the rule's
        uint64_t plan_hash;
    } * branches;
    size_t branch_count;
    const char *visible[4];
    struct analysis analysis; // of what the first run called, until there are candidates
    bool analysed;
    struct cover cover;          // of recovery code, in the controller
    const struct cover *covered; // the one whose file all job slots share, or NULL
    const struct gcov *lines;    // likewise where lines are counted
    const char **environment;    // of the shot, changed for that
};

// Whether the next reference run, or the one that has just ended, is the one that tells stacks
// apart.
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

// What the setup asks for. The rest of `library` is zero.
_must_check_ struct error *library_fill(struct library *library);
_must_check_ struct error *library_check_value(const char *parameter, const struct source *source);
// Rare errors are wanted, too.
bool library_is_paranoid(const struct injector_setup *setup);
// The path of a plug-in that a parameter names.
_must_check_ struct error *library_put_plugin(const struct injector_setup *setup, const char *file,
                                              struct buffer *path);
_must_check_ struct error *library_add_plugins(const struct injector_setup *setup,
                                               struct scenario *scenario);
struct choice_options library_choice_options(const struct library *library);

// ---- library.c ----

_must_check_ struct error *library_analyse(struct library *library); // what the first run called
// The rules of a spec, with the plug-ins that they may need.
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
// Fills in which errno each fault has injected.
void library_note_errors(struct observation *observation);
extern const struct injector_stored library_stored;

// ---- servers.c ----

extern const struct injector_switches library_switches;

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Many shots in one run: the workload forks for each of them (trial/forking.h).
#include "injectors/library/internal.h"

#include "base/cleanup.h"
#include "injector/fault-text.h"
#include "scenario/rule.h"
#include "store/spec.h"
#include "trial/forking.h"

#include <stdlib.h>
#include <string.h>

// Compiles the plan that the shot would have on its own, for its hash. A shot with two rules does
// not suit: both would have to fire in the same child.
static struct error *plan_alone(const struct fork_shot *shot, bool *ret_suits, uint64_t *ret_hash)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    *ret_suits = false;
    size_t size;
    if (spec_part(shot->spec, 1, &size) != NULL)
        return NULL;
    TRY(scenario_new(&scenario));
    TRY(scenario_add_spec(scenario, shot->spec));
    if (scenario_uses_plugins(scenario))
        return NULL;
    TRY(scenario_compile(scenario, shot->seed, &plan));
    *ret_hash = wire_fingerprint(plan.data, plan.size);
    *ret_suits = scenario_rule_count(scenario) == 1 &&
                 forking_suits((const struct wire_plan *)(const void *)plan.data, 0);
    return NULL;
}

static struct error *add_branches(struct library *library, const struct fork_shot *shots,
                                  size_t count, bool *suits)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    struct library_fork *branches = realloc(library->branches, (count + 1) * sizeof *branches);
    if (branches == NULL)
        return error_no_memory();
    library->branches = branches;
    library->branch_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = 0;
        TRY(plan_alone(&shots[i], &suits[i], &hash));
        if (!suits[i])
            continue;
        TRY(scenario_add_spec(scenario, shots[i].spec));
        branches[library->branch_count++] = (struct library_fork){i, hash};
    }
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static struct error *prepare_branches(void *self, struct shot *shot, const struct fork_shot *shots,
                                      size_t count, bool *suits)
{
    struct library *library = self;
    if (library->session == NULL)
        TRY(runtime_session_new(&library->session));
    library->is_reference = false;
    library->following = NULL;
    TRY(add_branches(library, shots, count, suits));
    const struct runtime_session_options options = {
        .scenario = library->current,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .forks = true,
    };
    TRY(runtime_session_prepare(library->session, &options));
    library->visible[0] = runtime_session_file(library->session);
    library->visible[1] = NULL;
    shot->use_environment = runtime_session_environment(library->session);
    shot->visible = library->visible;
    return NULL;
}

static struct forking *forking_of(void *self)
{
    struct library *library = self;
    return runtime_session_forking(library->session);
}

static size_t which(void *self, uint32_t rule)
{
    struct library *library = self;
    return rule < library->branch_count ? library->branches[rule].shot : 0;
}

// Reports the child's injections as rule 0, as in a run with this rule only.
static struct error *observe_branch(void *self, const char *root, size_t index,
                                    struct observation *observation)
{
    struct library *library = self;
    struct wire_view view;
    TRY(runtime_session_end_branch(library->session, &view));
    TRY(journal_reader_begin(library->reader, root));
    for (size_t i = 0; i < library->branch_count; i++)
        if (library->branches[i].shot == index)
            observation->plan_hash = library->branches[i].plan_hash;
    TRY(journal_reader_observe(library->reader, &view, library->current, observation));
    fault_text_note_errors(observation);
    for (size_t i = 0; i < observation->injections.count; i++)
        observation->injections.items[i].rule = 0;
    return NULL;
}

// A forked child has no shared memory in which to mark what it reached.
static const char *obstacle(void *self)
{
    const struct library *library = self;
    const char *coverage = parameters_value(library->setup.parameters, "coverage", "none");
    return strcmp(coverage, "none") != 0 ? "coverage is measured" : NULL;
}

const struct injector_forks library_forks = {
    .obstacle = obstacle,
    .prepare = prepare_branches,
    .forking = forking_of,
    .which = which,
    .observe = observe_branch,
};

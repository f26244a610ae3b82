// SPDX-License-Identifier: GPL-3.0-or-later
// Forking is off where it cannot work or gains little, and is given up when most tries fail or a
// check finds another result.
#include "engine/fork-policy.h"

#include "engine/fork-batch.h"

#define SHORT_S     1.0 // a workload that takes longer than this gains little
#define LEAST_LOT   16  // every lot costs a sandbox run and the workload up to its forks
#define LOT_S       2.0 // what a lot may take altogether
#define FIRST_LOOK  16  // tries before the gain is judged
#define SURE_LOOK   4   // likewise, if the refusal is due to the workload and not to a fault
#define LEAST_SHARE 3   // one try of so many must succeed

const char *fork_policy_refusal(enum wire_fork_refusal refusal)
{
    static const char *const reasons[WIRE_FORK_REFUSALS] = {
        [WIRE_FORK_OK] = "does more than read files and write to its standard output",
        [WIRE_FORK_THREADS] = "has several threads",
        [WIRE_FORK_PROCESSES] = "has other processes",
        [WIRE_FORK_STREAMS] = "has its standard output somewhere else",
        [WIRE_FORK_DESCRIPTORS] = "has pipes, sockets, or files for reading and writing open",
        [WIRE_FORK_MEMORY] = "shares memory",
        [WIRE_FORK_TIMERS] = "has timers",
        [WIRE_FORK_SIGNALS] = "has pending signals",
        [WIRE_FORK_FILTER] = "cannot have its system calls filtered here",
        [WIRE_FORK_FAILED] = "cannot be forked",
    };
    return reasons[refusal < WIRE_FORK_REFUSALS ? refusal : WIRE_FORK_FAILED];
}

static const char *obstacle(const struct definition *definition, const struct injector *injector,
                            void *self)
{
    if (definition->forks == FORKS_NEVER)
        return "that was asked for";
    if (injector->forks == NULL)
        return "the injector cannot do that";
    if (definition->setup.count + definition->pretest.count + definition->posttest.count +
            definition->teardown.count + definition->oracle.command.count !=
        0)
        return "there are other commands in every trial than the workload";
    if (definition_is_server(definition))
        return "the workload is a server";
    if (oracle_has_behaviour(&definition->oracle))
        return "behaviour is recorded from the start of the workload";
    if (definition->oracle.interface.count != 0)
        return "what libraries give their user is recorded from the start of the workload";
    return injector->forks->obstacle(self);
}

struct fork_policy fork_policy(const struct definition *definition, const struct injector *injector,
                               void *self, const struct reference *reference)
{
    double seconds = reference_seconds(reference)->mean;
    struct fork_policy policy = {.wanted = definition->forks == FORKS_ALWAYS};
    policy.why = obstacle(definition, injector, self);
    if (policy.why == NULL && !policy.wanted && definition->until_interval > 0)
        policy.why = "the campaign is to end with the trial that narrows the interval enough";
    if (policy.why == NULL && !policy.wanted && seconds > SHORT_S)
        policy.why = "the workload takes long";
    policy.on = policy.why == NULL;
    double most = seconds > 0 ? LOT_S / seconds : FORK_BATCH_MOST;
    policy.most = most >= FORK_BATCH_MOST    ? FORK_BATCH_MOST
                  : most <= FORK_BATCH_LEAST ? FORK_BATCH_LEAST
                                             : (size_t)most;
    return policy;
}

// Lots get smaller towards the end, so that no slot has many jobs left when the others have none.
// The longer a trial may take, the smaller the lots.
size_t fork_policy_lot(const struct fork_policy *policy, uint64_t left, unsigned slots)
{
    if (!policy->on)
        return 1;
    size_t least = policy->most / 8;
    if (least > LEAST_LOT)
        least = LEAST_LOT;
    if (least < FORK_BATCH_LEAST)
        least = FORK_BATCH_LEAST;
    uint64_t share = left > UINT64_MAX / 2 ? policy->most : 2 * left / (3ull * slots) + 1;
    if (left == 0 || share >= policy->most)
        return policy->most;
    return share > least ? (size_t)share : least;
}

bool fork_policy_note(struct fork_policy *policy, const struct engine_result *result)
{
    bool forked = result->way == WAY_FORKED || result->way == WAY_CHECKED;
    policy->tried += forked || result->way == WAY_REFUSED;
    policy->in_vain += result->way == WAY_REFUSED;
    policy->disputed += result->way == WAY_DISPUTED;
    uint64_t look = result->refusal == WIRE_FORK_OK ? FIRST_LOOK : SURE_LOOK;
    if (!policy->on)
        return false;
    if (result->way == WAY_DISPUTED) {
        policy->why = "a trial told something else than its run in full";
        policy->on = false;
    } else if (!policy->wanted && result->way == WAY_REFUSED && policy->tried >= look &&
               (policy->tried - policy->in_vain) * LEAST_SHARE < policy->tried) {
        policy->why = fork_policy_refusal(result->refusal);
        policy->on = false;
    }
    return !policy->on;
}

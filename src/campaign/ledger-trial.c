// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a trial's result in the store.
#include "campaign/ledger-trial.h"

#include "base/cleanup.h"

static struct error *add_injections(const struct ledger *ledger, int64_t trial,
                                    const struct engine_result *result)
{
    for (size_t i = 0; i < result->observation.injections.count; i++) {
        const struct injection *injection = &result->observation.injections.items[i];
        struct store_injection row = {
            .trial = trial,
            .fault = injection->fault,
            .function = injection->function,
            .module = injection->module,
            .file = injection->file,
            .offset = injection->offset,
            .line = injection->line,
            .symbol = injection->symbol,
            .occurrence = injection->occurrence,
            .process = injection->process,
            .thread = injection->thread,
            .program = injection->program,
            .seconds = injection->seconds,
            .stack = injection->stack,
        };
        TRY(store_add_injection(ledger->store, &row));
    }
    return NULL;
}

static enum store_damage damage_of(enum wire_damage damage)
{
    static const enum store_damage damages[WIRE_DAMAGES] = {
        [WIRE_DAMAGE_FIRED] = STORE_DAMAGE_FIRED, [WIRE_DAMAGE_FELL] = STORE_DAMAGE_FELL,
        [WIRE_DAMAGE_TIME] = STORE_DAMAGE_TIME,   [WIRE_DAMAGE_RECORD] = STORE_DAMAGE_RECORD,
        [WIRE_DAMAGE_MARK] = STORE_DAMAGE_MARK,   [WIRE_DAMAGE_HEADER] = STORE_DAMAGE_HEADER,
    };
    return damages[damage];
}

static enum store_way way_of(enum trial_way way)
{
    static const enum store_way ways[WAYS] = {[WAY_FORKED] = STORE_WAY_FORKED,
                                              [WAY_CHECKED] = STORE_WAY_CHECKED,
                                              [WAY_DISPUTED] = STORE_WAY_DISPUTED};
    return ways[way];
}

static struct error *add_invocations(const struct ledger *ledger, int64_t trial,
                                     const struct engine_result *result)
{
    for (size_t i = 0; i < result->judgement.deviations.list.count; i++) {
        const struct deviation *deviation = &result->judgement.deviations.list.items[i];
        struct store_invocation row = {
            .trial = trial,
            .number = deviation->number,
            .differing = deviation->count,
            .same_status = deviation->same_status,
            .same_time = deviation->same_time,
            .call = deviation->call,
            .about = deviation->sentence,
            .trace = deviation->trace.data,
            .trace_size = deviation->trace.size,
            .calls = deviation->calls,
            .seconds = deviation->seconds,
        };
        if (deviation->activated)
            TRY(store_add_invocation(ledger->store, &row));
    }
    return NULL;
}

static struct error *add_propagation(const struct ledger *ledger, int64_t trial,
                                     const struct engine_result *result)
{
    const struct propagation *propagation = &result->judgement.propagation;
    struct store_propagation row = {
        .trial = trial,
        .outcome = propagation->outcome,
        .call = propagation->call,
        .function = propagation->function,
        .corrupted = propagation->corrupted,
        .wrong = propagation->wrong,
        .omitted = propagation->omitted,
        .spurious = propagation->spurious,
        .result = propagation->result,
        .profile = propagation->profile,
    };
    return propagation->known ? store_add_propagation(ledger->store, &row) : NULL;
}

struct error *ledger_add_trial(const struct ledger *ledger, const struct trial_job *job,
                               const struct engine_result *result, int64_t finding,
                               bool confirmation, int64_t *ret_id)
{
    double started = ledger_elapsed_s(ledger) - result->seconds;
    struct store_trial row = {
        .campaign = ledger->campaign->id,
        .candidate = job->candidate,
        .number = job->number,
        .seed = job->seed,
        .spec = job->spec,
        .verdict = result->judgement.verdict,
        .reason = result->judgement.reason != NULL ? result->judgement.reason : "",
        .outcome = outcome_of(result->end),
        .status = result->status,
        .seconds = result->seconds,
        .started_s = started > 0 ? started : 0,
        .activations = result->observation.activations,
        .plan_hash = result->observation.plan_hash,
        .crash = result->observation.crash,
        .stack = result->stack,
        .output = result->output,
        .finding = finding,
        .confirmation = confirmation,
        .proving = job->proving,
        .way = way_of(result->way),
        .round = result->round,
        .damage = damage_of(result->observation.damage),
    };
    TRY(store_add_trial(ledger->store, &row));
    *ret_id = row.id;
    TRY(add_invocations(ledger, row.id, result));
    TRY(add_propagation(ledger, row.id, result));
    if (result->observation.crash_delay > 0)
        TRY(store_add_latency(ledger->store, row.id, result->observation.crash_delay));
    return add_injections(ledger, row.id, result);
}

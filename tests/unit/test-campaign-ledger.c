// SPDX-License-Identifier: GPL-3.0-or-later
// Tests how findings are confirmed: which trial is the example, how often it is run again, and what
// happens if it does not repeat.
#include "campaign/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

struct bench {
    char directory[32], path[64];
    struct definition definition;
    struct store_campaign campaign;
    struct store_candidate candidate;
    struct campaign_control control;
    struct ledger ledger;
};

// A proof of one trial, which ends as `proof_ends` says.
static enum store_proof proof_ends;

static struct error *proof_begins(const struct proof_subject *subject, void **ret_prover)
{
    (void)subject;
    *ret_prover = calloc(1, sizeof(int));
    return NULL;
}

static struct error *proof_next(void *prover, char **ret_spec)
{
    int *trials = prover;
    *ret_spec = (*trials)++ == 0 ? strdup("f=observe") : NULL;
    return NULL;
}

static struct error *proof_takes(void *prover, const struct observation *observation, bool shows)
{
    (void)prover, (void)observation, (void)shows;
    return NULL;
}

static struct proof_result proof_result(const void *prover)
{
    (void)prover;
    return (struct proof_result){.proof = proof_ends, .tries = 1};
}

static void bench_start(struct bench *bench)
{
    static const struct injector_proof proof = {.begin = proof_begins,
                                                .end = free,
                                                .next = proof_next,
                                                .take = proof_takes,
                                                .result = proof_result};
    static const struct injector injector = {.name = "none", .proof = &proof};
    *bench = (struct bench){.directory = "/tmp/ordeal-unit-XXXXXX"};
    assert_non_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof bench->path, "%s/x.db", bench->directory);
    ok(definition_new(&bench->definition));
    struct ledger *ledger = &bench->ledger;
    ok(store_open(bench->path, STORE_WRITE, &ledger->store));
    bench->campaign = (struct store_campaign){.name = "x",
                                              .injector = "none",
                                              .definition = "",
                                              .command = "x",
                                              .directory = "/",
                                              .version = "0",
                                              .machine = ""};
    ok(store_add_campaign(ledger->store, &bench->campaign));
    bench->candidate = (struct store_candidate){
        .campaign = bench->campaign.id, .number = 1, .spec = "f=1", .type = "f=1", .weight = 1};
    ok(store_add_candidate(ledger->store, &bench->candidate));
    ledger->campaign = &bench->campaign;
    ledger->control = &bench->control;
    ledger->confirm = true;
    ledger->options =
        (struct finding_options){.definition = &bench->definition, .injector = &injector};
    ok(ledger_init(ledger));
}

static void bench_end(struct bench *bench)
{
    ledger_deinit(&bench->ledger);
    store_close(bench->ledger.store);
    definition_deinit(&bench->definition);
    unlink(bench->path);
    assert_int_equal(rmdir(bench->directory), 0);
}

static struct engine_result result_of(enum verdict verdict, uint64_t activations)
{
    struct engine_result result = {.end = SANDBOX_EXIT, .seconds = 1};
    result.judgement.verdict = verdict;
    result.judgement.reason = strdup("why");
    result.judgement.cause = strdup(verdict == VERDICT_CRASH ? "crash in f" : "pass");
    result.observation.activations = activations;
    return result;
}

static struct trial_job job_of(const struct bench *bench, uint64_t number)
{
    return (struct trial_job){
        .candidate = bench->candidate.id, .number = number, .seed = number, .spec = strdup("f=1")};
}

static void keep(struct bench *bench, uint64_t number, uint64_t activations)
{
    struct trial_job job = job_of(bench, number);
    struct engine_result result = result_of(VERDICT_CRASH, activations);
    ok(ledger_keep(&bench->ledger, &job, NULL, &result));
    trial_job_deinit(&job);
    engine_result_deinit(&result);
}

static void confirm(struct bench *bench, size_t index, uint64_t number, enum verdict verdict)
{
    struct trial_job job = job_of(bench, number);
    struct engine_result result = result_of(verdict, 1);
    ok(ledger_confirm(&bench->ledger, index, &job, &result));
    trial_job_deinit(&job);
    engine_result_deinit(&result);
}

static struct error *note_finding(void *data, const struct store_finding *row)
{
    struct store_finding *finding = data;
    assert_int_equal(finding->id, 0);
    finding->id = row->id;
    finding->trials = row->trials;
    finding->trial = row->trial;
    finding->confirmed = row->confirmed;
    return NULL;
}

static void finding_is(struct bench *bench, uint64_t trials, enum store_confirmed confirmed)
{
    struct store_finding finding = {0};
    ok(store_each_finding(bench->ledger.store, bench->campaign.id, note_finding, &finding));
    assert_int_equal(finding.trials, trials);
    assert_int_equal(finding.confirmed, confirmed);
}

static void test_confirmation(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    keep(&bench, 1, 5);
    struct finding_group *group = ledger_unconfirmed(&bench.ledger, &index);
    assert_int_equal(group->number, 1);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    // Once is not enough.
    confirm(&bench, index, 1, VERDICT_CRASH);
    finding_is(&bench, 1, STORE_NOT_CONFIRMED);
    group = ledger_unconfirmed(&bench.ledger, &index);
    assert_int_equal(group->number, 1);
    confirm(&bench, index, 1, VERDICT_CRASH);
    finding_is(&bench, 1, STORE_CONFIRMED);
    keep(&bench, 2, 5);
    finding_is(&bench, 2, STORE_CONFIRMED);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    // A simpler example has not been confirmed yet.
    keep(&bench, 3, 1);
    finding_is(&bench, 3, STORE_NOT_CONFIRMED);
    group = ledger_unconfirmed(&bench.ledger, &index);
    assert_int_equal(group->number, 3);
    // If it does not repeat, the other one is tried before the finding is called flaky.
    confirm(&bench, index, 3, VERDICT_PASS);
    finding_is(&bench, 3, STORE_NOT_CONFIRMED);
    group = ledger_unconfirmed(&bench.ledger, &index);
    assert_int_equal(group->number, 2);
    confirm(&bench, index, 2, VERDICT_PASS);
    finding_is(&bench, 3, STORE_FLAKY);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    // A third trial is tried, a fourth is not.
    keep(&bench, 4, 5);
    group = ledger_unconfirmed(&bench.ledger, &index);
    assert_int_equal(group->number, 4);
    confirm(&bench, index, 4, VERDICT_PASS);
    finding_is(&bench, 4, STORE_FLAKY);
    keep(&bench, 5, 5);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    bench_end(&bench);
}

// When processes wait for each other, the next run may show another one's stack.
static void test_hangs_elsewhere(void **state)
{
    struct bench bench;
    bench_start(&bench);
    struct trial_job job = job_of(&bench, 1);
    const char *causes[] = {"hang in worker", "hang in master", "hang in worker"};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        struct engine_result result = result_of(VERDICT_HANG, 1);
        size_t index;
        free(result.judgement.cause);
        result.judgement.cause = strdup(causes[i]);
        if (i == 0)
            ok(ledger_keep(&bench.ledger, &job, NULL, &result));
        else {
            assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
            ok(ledger_confirm(&bench.ledger, index, &job, &result));
        }
        engine_result_deinit(&result);
    }
    finding_is(&bench, 1, STORE_CONFIRMED);
    trial_job_deinit(&job);
    bench_end(&bench);
}

static struct error *note_counts(void *data, const struct store_count *row)
{
    *(struct store_count *)data = *row;
    return NULL;
}

static struct error *note_severity(void *data, const struct store_finding *row)
{
    struct store_finding *finding = data;
    finding->verdict = row->verdict;
    finding->severity = row->severity;
    finding->confirmed = row->confirmed;
    return NULL;
}

// Keeps a trial, or runs the current one again, that ends as wrong results of this severity.
static void wrong(struct bench *bench, uint64_t number, enum verdict verdict,
                  enum severity severity)
{
    size_t index;
    struct trial_job job = job_of(bench, number != 0 ? number : 1);
    struct engine_result result = result_of(verdict, 1);
    result.judgement.severity = severity;
    free(result.judgement.cause);
    result.judgement.cause = strdup("silent result after f");
    if (number != 0)
        ok(ledger_keep(&bench->ledger, &job, NULL, &result));
    else {
        struct finding_group *group = ledger_unconfirmed(&bench->ledger, &index);
        assert_non_null(group);
        job.number = group->number;
        ok(ledger_confirm(&bench->ledger, index, &job, &result));
    }
    trial_job_deinit(&job);
    engine_result_deinit(&result);
}

static void severity_is(struct bench *bench, enum verdict verdict, enum severity severity,
                        enum store_confirmed confirmed)
{
    struct store_finding finding = {0};
    ok(store_each_finding(bench->ledger.store, bench->campaign.id, note_severity, &finding));
    assert_int_equal(finding.verdict, verdict);
    assert_int_equal(finding.severity, severity);
    assert_int_equal(finding.confirmed, confirmed);
}

// The worst that was repeated counts. Wrong results are one finding, reported or not.
static void test_severity(void **state)
{
    struct bench bench;
    bench_start(&bench);
    wrong(&bench, 1, VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM);
    wrong(&bench, 0, VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM);
    wrong(&bench, 0, VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM);
    severity_is(&bench, VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM, STORE_CONFIRMED);
    // Worse, and it repeats.
    wrong(&bench, 2, VERDICT_SILENT, SEVERITY_HIGH);
    severity_is(&bench, VERDICT_SILENT, SEVERITY_HIGH, STORE_NOT_CONFIRMED);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_HIGH);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_HIGH);
    severity_is(&bench, VERDICT_SILENT, SEVERITY_HIGH, STORE_CONFIRMED);
    // Worse, but only once: a repetition shows less.
    wrong(&bench, 3, VERDICT_SILENT, SEVERITY_LOSS);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_LOSS);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_HIGH);
    severity_is(&bench, VERDICT_SILENT, SEVERITY_HIGH, STORE_CONFIRMED);
    // Worse, but nothing of it repeats: the example before is tried again.
    wrong(&bench, 4, VERDICT_SILENT, SEVERITY_LOSS);
    confirm(&bench, 0, 4, VERDICT_PASS);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_HIGH);
    wrong(&bench, 0, VERDICT_SILENT, SEVERITY_HIGH);
    severity_is(&bench, VERDICT_SILENT, SEVERITY_HIGH, STORE_CONFIRMED);
    bench_end(&bench);
}

// The trial that repeats becomes the example.
static void test_next_trial_confirms(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    keep(&bench, 1, 5);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    keep(&bench, 2, 5);
    confirm(&bench, index, 1, VERDICT_PASS);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    confirm(&bench, index, 2, VERDICT_CRASH);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    confirm(&bench, index, 2, VERDICT_CRASH);
    finding_is(&bench, 2, STORE_CONFIRMED);
    struct store_finding finding = {0};
    ok(store_each_finding(bench.ledger.store, bench.campaign.id, note_finding, &finding));
    assert_int_equal(finding.trial, bench.ledger.groups.items.items[0].trial);
    assert_int_not_equal(finding.trial, 1);
    bench_end(&bench);
}

// Without the fault it was like this, too: nothing is known of that trial, nor of those that said
// the same.
static void test_by_chance(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    wrong(&bench, 1, VERDICT_SILENT, SEVERITY_HIGH);
    wrong(&bench, 2, VERDICT_SILENT, SEVERITY_HIGH);
    keep(&bench, 3, 1);
    assert_int_equal(bench.ledger.counted, 3);
    struct finding_group *group = ledger_unconfirmed(&bench.ledger, &index);
    assert_non_null(group);
    struct trial_job job = job_of(&bench, group->number);
    struct engine_result result = result_of(VERDICT_INVALID, 1);
    result.judgement.by_chance = true;
    free(result.judgement.reason);
    result.judgement.reason = strdup("without the fault, too");
    ok(ledger_confirm(&bench.ledger, index, &job, &result));
    trial_job_deinit(&job);
    engine_result_deinit(&result);
    struct store_count counts = {0};
    ok(store_each_count(bench.ledger.store, bench.campaign.id, NULL, note_counts, &counts));
    for (int i = 0; i < VERDICTS; i++)
        assert_int_equal(counts.verdicts[i], bench.ledger.verdicts[i]);
    assert_int_equal(counts.verdicts[VERDICT_INVALID], 2);
    assert_int_equal(counts.verdicts[VERDICT_CRASH], 1);
    assert_int_equal(bench.ledger.trials, 3);
    assert_int_equal(bench.ledger.counted, 1);
    assert_int_equal(bench.ledger.failures, 1);
    bench_end(&bench);
}

static void test_overtaken_confirmation(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    keep(&bench, 1, 5);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    keep(&bench, 2, 1); // while the first is run again
    confirm(&bench, index, 1, VERDICT_CRASH);
    finding_is(&bench, 2, STORE_NOT_CONFIRMED);
    struct finding_group *group = ledger_unconfirmed(&bench.ledger, &index);
    assert_non_null(group);
    assert_int_equal(group->number, 2);
    confirm(&bench, index, 2, VERDICT_CRASH);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    confirm(&bench, index, 2, VERDICT_CRASH);
    finding_is(&bench, 2, STORE_CONFIRMED);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    bench_end(&bench);
}

// Runs the trial to be confirmed; its spec must be `spec`.
static void run_again(struct bench *bench, const char *spec, enum verdict verdict)
{
    size_t index;
    struct finding_group *group = ledger_unconfirmed(&bench->ledger, &index);
    assert_non_null(group);
    assert_string_equal(group->spec, spec);
    struct trial_job job = {.candidate = bench->candidate.id, .number = 1, .seed = 1};
    job.spec = strdup(group->spec);
    struct engine_result result = result_of(verdict, 1);
    ok(ledger_confirm(&bench->ledger, index, &job, &result));
    trial_job_deinit(&job);
    engine_result_deinit(&result);
}

// Of two faults each is tried alone. If one is enough, it becomes the example.
static void test_fewest_faults(void **state)
{
    for (int enough = 0; enough < 2; enough++) {
        struct bench bench;
        size_t index;
        bench_start(&bench);
        struct trial_job job = {.candidate = bench.candidate.id, .number = 1, .seed = 1};
        job.spec = strdup("f=1 when caller(\"a then b\"+0x1) then g=2");
        struct engine_result result = result_of(VERDICT_CRASH, 2);
        ok(ledger_keep(&bench.ledger, &job, NULL, &result));
        run_again(&bench, job.spec, VERDICT_CRASH);
        run_again(&bench, job.spec, VERDICT_CRASH);
        finding_is(&bench, 1, STORE_CONFIRMED);
        int64_t before = bench.ledger.groups.items.items[0].trial;
        run_again(&bench, "f=1 when caller(\"a then b\"+0x1)", VERDICT_PASS);
        run_again(&bench, "g=2", enough != 0 ? VERDICT_CRASH : VERDICT_NOT_ACTIVATED);
        assert_null(ledger_unconfirmed(&bench.ledger, &index));
        finding_is(&bench, 1, STORE_CONFIRMED);
        if (enough != 0)
            assert_int_not_equal(bench.ledger.groups.items.items[0].trial, before);
        else
            assert_int_equal(bench.ledger.groups.items.items[0].trial, before);
        trial_job_deinit(&job);
        engine_result_deinit(&result);
        bench_end(&bench);
    }
}

static void keep_based(struct bench *bench, uint64_t number, int64_t candidate,
                       uint64_t activations, enum store_basis basis)
{
    struct trial_job job = job_of(bench, number);
    struct engine_result result = result_of(VERDICT_CRASH, activations);
    job.candidate = candidate;
    job.basis = basis;
    ok(ledger_keep(&bench->ledger, &job, NULL, &result));
    trial_job_deinit(&job);
    engine_result_deinit(&result);
}

static void keep_guessed(struct bench *bench, uint64_t number, int64_t candidate,
                         uint64_t activations)
{
    keep_based(bench, number, candidate, activations, STORE_BASIS_CALLS);
}

static struct error *note_proof(void *data, const struct store_finding *row)
{
    *(enum store_proof *)data = row->proof;
    return NULL;
}

static void proof_is(struct bench *bench, enum store_proof expected)
{
    enum store_proof proof = STORE_PROOF_NONE;
    ok(store_each_finding(bench->ledger.store, bench->campaign.id, note_proof, &proof));
    assert_int_equal(proof, expected);
}

static void confirm_and_prove(struct bench *bench, enum store_proof ends)
{
    size_t index;
    proof_ends = ends;
    for (int i = 0; i < 3; i++) {
        const struct finding_group *group = ledger_unconfirmed(&bench->ledger, &index);
        assert_non_null(group);
        confirm(bench, index, group->number, i < 2 ? VERDICT_CRASH : VERDICT_PASS);
    }
    assert_null(ledger_unconfirmed(&bench->ledger, &index));
}

// What is impossible for one fault says nothing about another one that shows the same.
static void test_proof_of_several(void **state)
{
    struct bench bench;
    bench_start(&bench);
    struct store_candidate other = bench.candidate;
    other.id = 0;
    other.number = 2;
    ok(store_add_candidate(bench.ledger.store, &other));
    keep_guessed(&bench, 1, bench.candidate.id, 1);
    confirm_and_prove(&bench, STORE_PROOF_IMPOSSIBLE);
    proof_is(&bench, STORE_PROOF_IMPOSSIBLE);
    keep_guessed(&bench, 2, bench.candidate.id, 5);
    proof_is(&bench, STORE_PROOF_IMPOSSIBLE);
    keep_guessed(&bench, 3, other.id, 5);
    proof_is(&bench, STORE_PROOF_UNPROVEN);
    bench_end(&bench);

    bench_start(&bench);
    other.id = 0;
    ok(store_add_candidate(bench.ledger.store, &other));
    keep_guessed(&bench, 1, bench.candidate.id, 1);
    keep_guessed(&bench, 2, other.id, 5);
    confirm_and_prove(&bench, STORE_PROOF_IMPOSSIBLE);
    proof_is(&bench, STORE_PROOF_UNPROVEN);
    bench_end(&bench);
    (void)state;
}

// An example that was proven is better than a simpler one that may not be.
static void test_proof_stays(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    keep_guessed(&bench, 1, bench.candidate.id, 5);
    confirm_and_prove(&bench, STORE_PROOF_CAUSED);
    keep_guessed(&bench, 2, bench.candidate.id, 1);
    proof_is(&bench, STORE_PROOF_CAUSED);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    bench_end(&bench);
    (void)state;
}

// If only a guessed fault repeats, the finding is no longer certain.
static void test_proof_of_spare(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    keep_based(&bench, 1, bench.candidate.id, 1, STORE_BASIS_SYSTEM);
    proof_is(&bench, STORE_PROOF_CERTAIN);
    keep_guessed(&bench, 2, bench.candidate.id, 1);
    assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
    confirm(&bench, index, 1, VERDICT_PASS);
    for (int i = 0; i < 2; i++) {
        assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
        confirm(&bench, index, 2, VERDICT_CRASH);
    }
    proof_is(&bench, STORE_PROOF_UNPROVEN);
    bench_end(&bench);
    (void)state;
}

// A resumed campaign begins the proofs that the earlier session had no time for. What it spent on
// others counts.
static void test_resumed_proof(void **state)
{
    struct bench bench;
    size_t index;
    bench_start(&bench);
    struct store_candidate guessed = bench.candidate;
    guessed.id = 0;
    guessed.number = 2;
    guessed.basis = STORE_BASIS_CALLS;
    ok(store_add_candidate(bench.ledger.store, &guessed));
    keep_guessed(&bench, 1, guessed.id, 1);
    for (int i = 0; i < 2; i++) {
        assert_non_null(ledger_unconfirmed(&bench.ledger, &index));
        confirm(&bench, index, 1, VERDICT_CRASH);
    }
    struct store_trial spent = {.campaign = bench.campaign.id,
                                .candidate = guessed.id,
                                .spec = "f=observe",
                                .verdict = VERDICT_PASS,
                                .reason = "",
                                .confirmation = true,
                                .proving = true};
    ok(store_add_trial(bench.ledger.store, &spent));
    ok(ledger_flush(&bench.ledger, true));
    struct ledger resumed = bench.ledger;
    ledger_deinit(&bench.ledger);
    bench.ledger = (struct ledger){.store = resumed.store,
                                   .options = resumed.options,
                                   .control = resumed.control,
                                   .campaign = resumed.campaign,
                                   .confirm = true};
    ok(ledger_init(&bench.ledger));
    assert_int_equal(bench.ledger.proving, 1);
    proof_ends = STORE_PROOF_IMPOSSIBLE;
    const struct finding_group *group = ledger_unconfirmed(&bench.ledger, &index);
    assert_non_null(group);
    assert_string_equal(group->spec, "f=observe");
    assert_int_equal(bench.ledger.proving, 2);
    confirm(&bench, index, 1, VERDICT_PASS);
    proof_is(&bench, STORE_PROOF_IMPOSSIBLE);
    assert_null(ledger_unconfirmed(&bench.ledger, &index));
    bench_end(&bench);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confirmation),
        cmocka_unit_test(test_hangs_elsewhere),
        cmocka_unit_test(test_next_trial_confirms),
        cmocka_unit_test(test_severity),
        cmocka_unit_test(test_overtaken_confirmation),
        cmocka_unit_test(test_fewest_faults),
        cmocka_unit_test(test_proof_of_several),
        cmocka_unit_test(test_proof_stays),
        cmocka_unit_test(test_by_chance),
        cmocka_unit_test(test_resumed_proof),
        cmocka_unit_test(test_proof_of_spare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which candidates and findings are carried over from an earlier campaign, and the sentence
// about them.
#include "campaign-help.h"

#include "base/cleanup.h"
#include "campaign/since.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define BEGINNING                                                                                  \
    "carried over from old.db and not tried again, since the code of the caller is the same: "
#define REASON                                                                                     \
    " tried: of the call only the number or stack is known, or nothing of the code around it"

static void says(const struct since *since, const char *expected)
{
    char *sentence = NULL;
    assert_null(since_tell(since, "old.db", 9, &sentence));
    if (expected == NULL)
        assert_null(sentence);
    else
        assert_string_equal(sentence, expected);
    free(sentence);
}

static void sentences(void **state)
{
    struct since since = {0};
    says(&since, NULL);
    since.unidentified = 2;
    says(&since, BEGINNING "0 of 9; 2 cannot be matched to the earlier build and are" REASON);
    since.unidentified = 1;
    since.verdicts[VERDICT_PASS] = 4;
    since.verdicts[VERDICT_CRASH] = 1;
    says(&since, BEGINNING "5 of 9 (1 crash, 4 pass); 1 cannot be matched to the earlier build and "
                           "is" REASON);
    since.unidentified = 0;
    says(&since, BEGINNING "5 of 9 (1 crash, 4 pass)");
}

static char directory[] = "/tmp/ordeal-since-XXXXXX";
static char before[64], after[64];

static int set_up(void **state)
{
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(before, sizeof before, "%s/before.db", directory);
    snprintf(after, sizeof after, "%s/after.db", directory);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

// What an earlier campaign has. Candidates are "a", "b", …; their contents are 1, 2, ….
struct made_candidate {
    uint64_t content;
    const char *carried;
};
struct made_failure {
    int candidate; // from 0
    enum verdict verdict;
    const char *cause; // the first one is the finding's example
};

static void make_before(const struct made_candidate *candidates, int count,
                        const struct made_failure *failures, int failure_count)
{
    struct maker maker = {0};
    int64_t ids[8];
    unlink(before);
    maker_start(&maker, before, "made", (uint64_t)count, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        char spec[2] = {(char)('a' + i)};
        struct store_candidate row = {.campaign = maker.campaign,
                                      .number = (uint64_t)i + 1,
                                      .spec = spec,
                                      .type = "t",
                                      .file = "f.c",
                                      .line = (unsigned)i + 10,
                                      .weight = 1,
                                      .selected = candidates[i].carried == NULL,
                                      .content = candidates[i].content,
                                      .carried = candidates[i].carried};
        must_work(store_add_candidate(maker.store, &row));
        ids[i] = row.id;
    }
    for (int i = 0; i < failure_count; i++) {
        char spec[2] = {(char)('a' + failures[i].candidate)};
        struct store_trial trial = {.campaign = maker.campaign,
                                    .candidate = ids[failures[i].candidate],
                                    .number = (uint64_t)i + 1,
                                    .spec = spec,
                                    .verdict = failures[i].verdict,
                                    .reason = "",
                                    .activations = 1,
                                    .plan_hash = 7};
        must_work(store_add_trial(maker.store, &trial));
        if (failures[i].cause == NULL)
            continue;
        struct store_finding finding = {.campaign = maker.campaign,
                                        .verdict = failures[i].verdict,
                                        .cause = failures[i].cause,
                                        .title = failures[i].cause,
                                        .site = "",
                                        .file = "f.c",
                                        .line = (unsigned)failures[i].candidate + 10,
                                        .trial = trial.id,
                                        .command = "ordeal run",
                                        .severity = SEVERITY_HIGH};
        must_work(store_add_finding(maker.store, &finding));
        must_work(store_set_trial_finding(maker.store, trial.id, finding.id));
    }
    maker_end(&maker);
    store_close(maker.store);
}

#define NEW_LINES 100 // the code has moved down

// Carries over to a campaign with candidates of these contents. Returns a text such as "a:crash
// b:-".
static char *carry_over(const char *path, const uint64_t *contents, int count)
{
    struct candidate candidates[8] = {0};
    int64_t rows[8];
    static char text[256];
    char specs[8][8];
    struct maker maker = {0};
    struct since since = {0};
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        snprintf(specs[i], sizeof specs[i], "new %c", 'a' + i);
        candidates[i] = (struct candidate){.spec = specs[i],
                                           .type = (char *)"t",
                                           .file = (char *)"f.c",
                                           .line = (unsigned)i + 10 + NEW_LINES,
                                           .content = contents[i]};
    }
    must_work(since_look(path, "cp in out", NULL, candidates, (size_t)count, &since));
    unlink(after);
    maker_start(&maker, after, "made", (uint64_t)count, 1);
    for (int i = 0; i < count; i++) {
        struct store_candidate row =
            candidate_row(&candidates[i], maker.campaign, (uint64_t)i + 1, true);
        unsigned char carried = since.carried.items[i];
        row.carried = carried != 0 ? verdict_facts[carried - 1].name : NULL;
        must_work(store_add_candidate(maker.store, &row));
        rows[i] = row.id;
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%s%c:%s", i != 0 ? " " : "", 'a' + i,
                 row.carried != NULL ? row.carried : "-");
    }
    must_work(since_copy_findings(&since, maker.store, maker.campaign, candidates, rows));
    maker_end(&maker);
    store_close(maker.store);
    since_deinit(&since);
    return text;
}

static struct error *put_finding(void *data, const struct store_finding *row)
{
    struct buffer *text = data;
    return buffer_printf(text, "%s%s %llux line %u", text->size != 0 ? ", " : "", row->cause,
                         (unsigned long long)row->trials, row->line);
}

static void findings_are(const char *expected)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct store *store = NULL;
    must_work(store_open(after, STORE_READ, &store));
    must_work(store_each_finding(store, 1, put_finding, &text));
    assert_string_equal(text.data != NULL ? text.data : "", expected);
    store_close(store);
}

static struct error *check_copy(void *data, const struct store_finding *row)
{
    struct store_trial trial;
    struct store_candidate candidate;
    assert_string_equal(row->carried, "before.db");
    assert_int_equal(row->carried_s, 1700000000);
    assert_string_equal(row->command, ""); // of another build
    must_work(store_find_trial(data, row->trial, &trial, &candidate));
    assert_true(trial.carried && trial.confirmation);
    assert_int_equal(trial.finding, row->id);
    assert_int_equal(trial.plan_hash, 0);
    assert_string_equal(trial.spec, candidate.spec);
    assert_memory_equal(trial.spec, "new ", 4);
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    return NULL;
}

struct carried_proof {
    enum store_proof before, now;
};

static struct error *note_id(void *data, const struct store_finding *row)
{
    *(int64_t *)data = row->id;
    return NULL;
}

static struct error *check_proof(void *data, const struct store_finding *row)
{
    const struct carried_proof *proof = data;
    assert_int_equal(row->proof, proof->now);
    assert_int_equal(row->proof_trial, 0);
    assert_string_equal(row->command, "");
    return NULL;
}

static const struct made_failure two_crashes[] = {
    {0, VERDICT_CRASH, "crash x"}, {1, VERDICT_CRASH, "crash x"}, {2, VERDICT_PASS, NULL}};

static void findings_come_along(void **state)
{
    const struct made_candidate candidates[] = {{1, NULL}, {2, NULL}, {3, NULL}};
    make_before(candidates, 3, two_crashes, 3);
    assert_string_equal(carry_over(before, (uint64_t[]){1, 2, 3}, 3), "a:crash b:crash c:pass");
    findings_are("crash x 2x line 110");
    struct store *store = NULL;
    must_work(store_open(after, STORE_READ, &store));
    must_work(store_each_finding(store, 1, check_copy, store));
    store_close(store);
    // And from there, with where they were found first.
    assert_int_equal(rename(after, before), 0);
    assert_string_equal(carry_over(before, (uint64_t[]){3, 1, 2}, 3), "a:pass b:crash c:crash");
    findings_are("crash x 2x line 111");
    must_work(store_open(after, STORE_READ, &store));
    must_work(store_each_finding(store, 1, check_copy, store));
    store_close(store);
}

// The trials of a proof stay where they are, and what is impossible with one build may not be with
// the next.
static void proofs_come_along(void **state)
{
    const struct made_candidate candidates[] = {{1, NULL}, {2, NULL}, {3, NULL}};
    static const struct carried_proof proofs[] = {
        {STORE_PROOF_CAUSED, STORE_PROOF_CAUSED},
        {STORE_PROOF_UNPROVEN, STORE_PROOF_UNPROVEN},
        {STORE_PROOF_IMPOSSIBLE, STORE_PROOF_UNPROVEN},
    };
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++) {
        struct store_finding row = {.cause = "", .title = "", .site = "", .command = ""};
        struct store *store = NULL;
        make_before(candidates, 3, two_crashes, 3);
        must_work(store_open(before, STORE_WRITE, &store));
        must_work(store_each_finding(store, 1, note_id, &row.id));
        row.proof = proofs[i].before;
        row.proof_trial = 3;
        row.command = "ordeal run of the cause";
        must_work(store_prove_finding(store, &row));
        store_close(store);
        carry_over(before, (uint64_t[]){1, 2, 3}, 3);
        must_work(store_open(after, STORE_READ, &store));
        must_work(store_each_finding(store, 1, check_proof, (void *)&proofs[i]));
        store_close(store);
    }
}

static void the_example_decides(void **state)
{
    const struct made_candidate candidates[] = {{1, NULL}, {2, NULL}, {3, NULL}};
    make_before(candidates, 3, two_crashes, 3);
    // One that only shows it, too, has changed.
    assert_string_equal(carry_over(before, (uint64_t[]){1, 22, 3}, 3), "a:crash b:- c:pass");
    findings_are("crash x 1x line 110");
    // The one that describes it has changed.
    assert_string_equal(carry_over(before, (uint64_t[]){11, 2, 3}, 3), "a:- b:- c:pass");
    findings_are("");
    // Which, repeated, describes another one.
    const struct made_failure tangled[] = {{0, VERDICT_CRASH, "crash x"},
                                           {1, VERDICT_CRASH, "crash x"},
                                           {1, VERDICT_HANG, "hang y"},
                                           {2, VERDICT_HANG, "hang y"}};
    make_before(candidates, 3, tangled, 4);
    assert_string_equal(carry_over(before, (uint64_t[]){1, 2, 3}, 3), "a:crash b:crash c:hang");
    findings_are("crash x 2x line 110, hang y 2x line 111");
    assert_string_equal(carry_over(before, (uint64_t[]){11, 2, 3}, 3), "a:- b:- c:-");
    findings_are("");
}

static void what_cannot_be_told_is_tried(void **state)
{
    // Twins, then and now.
    const struct made_candidate twins[] = {{1, NULL}, {1, NULL}, {3, NULL}};
    make_before(twins, 3, two_crashes, 3);
    assert_string_equal(carry_over(before, (uint64_t[]){1, 2, 3}, 3), "a:- b:- c:pass");
    const struct made_candidate candidates[] = {{1, NULL}, {2, NULL}, {3, NULL}};
    make_before(candidates, 3, two_crashes, 3);
    assert_string_equal(carry_over(before, (uint64_t[]){3, 3, 0}, 3), "a:- b:- c:-");
    findings_are("");
    // A failure that a version without findings carried over.
    const struct made_candidate lost[] = {{1, "crash"}, {2, "pass"}};
    make_before(lost, 2, NULL, 0);
    assert_string_equal(carry_over(before, (uint64_t[]){1, 2}, 2), "a:- b:pass");
    findings_are("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),
        cmocka_unit_test(findings_come_along),
        cmocka_unit_test(proofs_come_along),
        cmocka_unit_test(the_example_decides),
        cmocka_unit_test(what_cannot_be_told_is_tried),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What is put into a file of campaigns comes out again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store-help.h"
#include "store/remark.h"

static void campaigns(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign first = some_campaign(), second = some_campaign(), found;
    must_fail(store_find_campaign(store, 0, &found), "no campaign was stored");
    must(store_add_campaign(store, &first));
    second.name = "second";
    second.selection = STORE_SELECT_SAMPLE;
    second.per = "type";
    second.environment_key = "key";
    second.automatic = second.weighted = second.listed = true;
    second.changes_only = second.long_lived = second.filtered = true;
    must(store_add_campaign(store, &second));
    assert_int_not_equal(first.id, second.id);
    second.state = STORE_INTERRUPTED;
    second.elapsed_s = 1.5;
    second.candidates = 7;
    second.planned = 5;
    second.stopped_by = STORE_STOP_TIME;
    must(store_update_campaign(store, &second));

    must(store_find_campaign(store, 0, &found));
    assert_int_equal(found.id, second.id);
    assert_string_equal(found.name, "second");
    assert_string_equal(found.injector, first.injector);
    assert_string_equal(found.definition, first.definition);
    assert_string_equal(found.command, first.command);
    assert_string_equal(found.directory, first.directory);
    assert_string_equal(found.environment_key, "key");
    assert_null(first.environment_key);
    assert_string_equal(found.version, first.version);
    assert_string_equal(found.machine, first.machine);
    assert_int_equal(found.stopped_by, STORE_STOP_TIME);
    assert_int_equal(found.selection, STORE_SELECT_SAMPLE);
    assert_string_equal(found.per, "type");
    assert_true(found.automatic && found.weighted && found.listed && found.changes_only &&
                found.long_lived && found.filtered);
    assert_true(found.seed == 0xfedcba9876543210 && found.created_s == 1700000000);
    assert_true(found.elapsed_s == 1.5 && found.candidates == 7 && found.planned == 5);
    assert_int_equal(found.state, STORE_INTERRUPTED);
    store_campaign_deinit(&found);
    store_campaign_deinit(&found);

    must(store_find_campaign(store, first.id, &found));
    assert_true(found.stopped_by == STORE_STOP_NONE && found.selection == STORE_SELECT_ALL);
    assert_null(found.per);
    assert_false(found.automatic || found.weighted || found.listed || found.changes_only ||
                 found.long_lived || found.filtered);
    assert_true(found.planned == 0 && found.state == STORE_RUNNING);
    store_campaign_deinit(&found);
    must_fail(store_find_campaign(store, 99, &found), "there is no campaign 99");
    second.id = 99;
    must_fail(store_update_campaign(store, &second), "there is no campaign 99");
}

static struct error *see_remark(void *data, const struct store_remark *row)
{
    struct buffer *text = data;
    must(remark_put(text, row));
    return buffer_printf(text, " (%s, %s)\n", enum_name(&remark_names, row->kind),
                         row->about != NULL ? row->about : "-");
}

static void remarks(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    struct store_remark rows[] = {
        {.kind = REMARK_UNTESTED, .about = "wirte=-1/EIO", .text = "no such function"},
        {.kind = REMARK_UNTESTED, .about = "dup=-1/EIO", .text = ""},
        {.kind = REMARK_VARIES, .about = "<stdout>", .text = "stdout varies"},
        {.kind = REMARK_NOTE, .text = "a note"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].campaign = campaign.id;
        must(store_add_remark(store, &rows[i]));
    }
    _cleanup_(buffer_deinit) struct buffer text = {0};
    must(store_each_remark(store, campaign.id, see_remark, &text));
    assert_string_equal(text.data,
                        "not tested: wirte=-1/EIO: no such function (untested, wirte=-1/EIO)\n"
                        "not tested: dup=-1/EIO (untested, dup=-1/EIO)\n"
                        "stdout varies (varies, <stdout>)\na note (note, -)\n");
    rows[0].kind = REMARK_KINDS;
    rows[0].id = 0;
    must_fail(store_add_remark(store, &rows[0]), "there is no kind of remark 3");
    must(store_remove_campaign(store, campaign.id));
    assert_int_equal(query_number(store, "SELECT count(*) FROM remark"), 0);
}

static struct error *see_reference(void *data, const struct store_reference *row)
{
    assert_int_equal(row->number, ++*(unsigned *)data);
    assert_int_equal(row->outcome, STORE_OUTCOME_SIGNAL);
    assert_int_equal(row->status, 11);
    assert_true(row->seconds == 0.5);
    return NULL;
}

static struct error *see_artifact(void *data, const struct store_artifact *row)
{
    unsigned number = ++*(unsigned *)data;
    assert_string_equal(row->path, number == 1 ? "<stdout>" : "/gone");
    assert_int_equal(row->kind, number == 1 ? ARTIFACT_STREAM : ARTIFACT_DIRECTORY);
    assert_int_equal(row->mode, number == 1 ? ARTIFACT_NO_MODE : 0);
    assert_true(row->hash == UINT64_MAX && row->size == 1000);
    assert_int_equal(row->content_size, number == 1 ? 4 : 0);
    if (number == 1)
        assert_null(row->format);
    else
        assert_string_equal(row->format, "gzip");
    assert_int_equal(row->decoded, number == 2);
    assert_true(row->inside == (number == 1 ? 0 : UINT64_MAX - 1));
    if (number == 1)
        assert_memory_equal(row->content, "a\0\xff\n", 4);
    else
        assert_null(row->content);
    return NULL;
}

static void references(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    struct store_reference reference = {.campaign = campaign.id,
                                        .number = 2,
                                        .outcome = STORE_OUTCOME_SIGNAL,
                                        .status = 11,
                                        .seconds = 0.5};
    must(store_add_reference(store, &reference));
    int64_t second = reference.id;
    reference.id = 0;
    reference.number = 1;
    must(store_add_reference(store, &reference));
    const struct store_artifact artifacts[] = {
        {"<stdout>", ARTIFACT_STREAM, ARTIFACT_NO_MODE, 1000, UINT64_MAX, "a\0\xff\n", 4, NULL,
         false, 0},
        {"/gone", ARTIFACT_DIRECTORY, 0, 1000, UINT64_MAX, NULL, 0, "gzip", true, UINT64_MAX - 1}};
    must(store_add_artifact(store, second, &artifacts[0]));
    must(store_add_artifact(store, second, &artifacts[1]));
    unsigned seen = 0;
    must(store_each_reference(store, campaign.id, see_reference, &seen));
    assert_int_equal(seen, 2);
    seen = 0;
    must(store_each_artifact(store, second, see_artifact, &seen));
    assert_int_equal(seen, 2);
    must(store_each_artifact(store, reference.id, see_artifact, &seen));
    assert_int_equal(seen, 2);
    must_fail(store_add_artifact(store, 77, &artifacts[0]), "FOREIGN KEY");
}

static struct error *list_numbers(void *data, const struct store_candidate *row)
{
    char *text = data;
    sprintf(text + strlen(text), "%lu%s ", row->number, row->selected ? "" : "-");
    return NULL;
}

static void candidates_by_number(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    for (unsigned i = 1; i <= 6; i++) {
        struct store_candidate candidate = some_candidate(campaign.id, i);
        candidate.selected = i != 2;
        must(store_add_candidate(store, &candidate));
    }
    char text[100] = "";
    must(store_each_candidate(store, campaign.id, 1, 3, list_numbers, text));
    assert_string_equal(text, "2- 3 4 ");
    text[0] = '\0';
    must(store_each_candidate(store, campaign.id, 4, 0, list_numbers, text));
    assert_string_equal(text, "5 6 ");
}

static struct error *see_injection(void *data, const struct store_injection *row)
{
    ++*(unsigned *)data;
    assert_string_equal(row->fault, "read=-1/EIO");
    assert_string_equal(row->module, "/usr/bin/cp");
    assert_string_equal(row->file, "src/copy.c");
    assert_string_equal(row->symbol, "copy");
    assert_string_equal(row->program, "cp");
    assert_string_equal(row->stack, "copy\nmain");
    assert_true(row->offset == 0x1234 && row->line == 12 && row->occurrence == 3);
    assert_true(row->process == 1 && row->thread == 1);
    return NULL;
}

static void trials(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    struct store_candidate candidate = some_candidate(campaign.id, 1), its;
    candidate.line = 17;
    candidate.component = "net";
    must(store_add_candidate(store, &candidate));
    struct store_trial trial = some_trial(campaign.id, candidate.id, 1), found;
    trial.verdict = VERDICT_CRASH;
    trial.reason = "caf\xe9 \xf0\x9f\x98\x80"; // Latin-1, and a sound character
    trial.crash = "SIGSEGV at 0x0";
    trial.stack = "copy\nmain";
    trial.output = "";
    trial.plan_hash = UINT64_MAX;
    trial.way = STORE_WAY_CHECKED;
    trial.damage = STORE_DAMAGE_TIME;
    trial.round = 7;
    must(store_add_trial(store, &trial));
    struct store_injection injection = some_injection(trial.id);
    must(store_add_injection(store, &injection));

    must(store_find_trial(store, trial.id, &found, &its));
    assert_string_equal(found.reason, "caf\xef\xbf\xbd \xf0\x9f\x98\x80");
    assert_string_equal(found.crash, "SIGSEGV at 0x0");
    assert_string_equal(found.stack, "copy\nmain");
    assert_string_equal(found.output, "");
    assert_int_equal(found.outcome, STORE_OUTCOME_EXIT);
    assert_true(found.way == STORE_WAY_CHECKED && found.round == 7 &&
                found.damage == STORE_DAMAGE_TIME);
    assert_true(found.seed == 0x8000000000000001 && found.plan_hash == UINT64_MAX);
    assert_true(found.verdict == VERDICT_CRASH && found.finding == 0 && !found.confirmation);
    assert_true(found.candidate == candidate.id && found.seconds == 0.25);
    assert_string_equal(its.spec, candidate.spec);
    assert_string_equal(its.component, "net");
    assert_null(its.series);
    assert_int_equal(its.line, 17);
    store_trial_deinit(&found);
    store_candidate_deinit(&its);
    unsigned seen = 0;
    must(store_each_injection(store, trial.id, see_injection, &seen));
    assert_int_equal(seen, 1);
    // The trial's and the injection's are the same.
    assert_int_equal(query_number(store, "SELECT count(*) FROM stack"), 1);
    must_fail(store_find_trial(store, 99, &found, &its), "there is no trial 99");

    trial.id = 0;
    must_fail(store_add_trial(store, &trial), "UNIQUE");
    trial.confirmation = true;
    must(store_add_trial(store, &trial));
    trial.id = 0;
    trial.candidate = 99;
    must_fail(store_add_trial(store, &trial), "FOREIGN KEY");
    trial.candidate = candidate.id;
    trial.outcome = STORE_OUTCOMES;
    must_fail(store_add_trial(store, &trial), "there is no outcome 4");
    trial.outcome = STORE_OUTCOME_EXIT;
    trial.verdict = VERDICTS;
    must_fail(store_add_trial(store, &trial), "NOT NULL");
}

static struct error *list_findings(void *data, const struct store_finding *row)
{
    char *text = data;
    sprintf(text + strlen(text), "%s:%s:%lu ", row->cause, verdict_facts[row->verdict].name,
            row->trials);
    assert_string_equal(row->title, row->id == 2 ? "simpler" : "SIGSEGV in copy");
    return NULL;
}

static void findings(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    int64_t campaign = fill(store, 3);
    static const struct {
        const char *cause;
        enum verdict verdict;
        uint64_t trials;
    } steps[] = {{"a", VERDICT_SILENT, 1}, {"b", VERDICT_CRASH, 1}, {"c", VERDICT_CRASH, 1},
                 {"c", VERDICT_CRASH, 2},  {"d", VERDICT_HANG, 1},  {"a", VERDICT_SILENT, 2}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct store_finding row = some_finding(campaign, steps[i].cause);
        row.verdict = steps[i].verdict;
        row.trial = (int64_t)i % 3 + 1;
        must(store_add_finding(store, &row));
        assert_true(row.trials == steps[i].trials);
        assert_true(row.trials > 1 || row.trial == (int64_t)i % 3 + 1);
        assert_true(i != 5 || (row.trial == 1 && row.id == 1)); // the row's, not ours
        must(store_set_trial_finding(store, (int64_t)i % 3 + 1, row.id));
    }
    struct store_finding simpler = some_finding(campaign, "b");
    simpler.id = 2;
    simpler.title = "simpler";
    simpler.trial = 3;
    must(store_update_finding(store, &simpler));
    char text[200] = "";
    must(store_each_finding(store, campaign, list_findings, text));
    assert_string_equal(text, "c:crash:2 b:crash:1 d:hang:1 a:silent:2 ");
    assert_int_equal(query_number(store, "SELECT trial FROM finding WHERE id = 2"), 3);
    assert_int_equal(query_number(store, "SELECT finding FROM trial WHERE id = 3"), 1);
    must(store_set_trial_finding(store, 3, 0));
    assert_int_equal(query_number(store, "SELECT finding IS NULL FROM trial WHERE id = 3"), 1);
    // The same cause in another campaign is another finding.
    int64_t other = fill(store, 1);
    struct store_finding row = some_finding(other, "a");
    must(store_add_finding(store, &row));
    assert_int_equal(row.trials, 1);
}

static struct error *list_causes(void *data, const struct store_finding *row)
{
    char *text = data;
    sprintf(text + strlen(text), "%s%s ", row->cause,
            store_scope_of(row) == STORE_SCOPE_LIBRARY ? ":library" : "");
    return NULL;
}

// Lost data comes first and is the program's own matter, whichever library is to blame.
static void order_of_findings(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    int64_t campaign = fill(store, 3);
    static const struct {
        const char *cause, *library;
        enum severity severity;
        enum store_proof proof;
    } rows[] = {{"library", "libx.so", SEVERITY_HIGH, STORE_PROOF_CERTAIN},
                {"guess", NULL, SEVERITY_LOSS, STORE_PROOF_UNPROVEN},
                {"own", NULL, SEVERITY_HIGH, STORE_PROOF_CERTAIN},
                {"lost", "libx.so", SEVERITY_LOSS, STORE_PROOF_CERTAIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store_finding row = some_finding(campaign, rows[i].cause);
        row.library = rows[i].library;
        row.severity = rows[i].severity;
        row.proof = rows[i].proof;
        row.trial = 1;
        must(store_add_finding(store, &row));
    }
    char text[200] = "";
    must(store_each_finding(store, campaign, list_causes, text));
    assert_string_equal(text, "lost own library:library guess ");
}

// Invalid are the trial itself and those of its finding with the same reason.
static void invalidated_trials(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    int64_t campaign = fill(store, 4);
    struct store_finding row = some_finding(campaign, "a");
    row.trial = 1;
    must(store_add_finding(store, &row));
    for (int64_t id = 1; id <= 3; id++)
        must(store_set_trial_finding(store, id, row.id));
    must(store_execute(store, "UPDATE trial SET reason = 'another' WHERE id = 3"));
    struct store_count before = {0};
    must(store_invalidate_trials(
        store, campaign, (uint64_t)query_number(store, "SELECT number FROM trial WHERE id = 1"),
        "without the fault, too", &before));
    uint64_t all = 0;
    for (int i = 0; i < VERDICTS; i++)
        all += before.verdicts[i];
    assert_int_equal(all, 2);
    assert_int_equal(query_number(store, "SELECT count(*) FROM trial WHERE verdict = 'invalid' AND "
                                         "reason = 'without the fault, too' AND id IN (1, 2)"),
                     2);
    assert_int_equal(query_number(store, "SELECT count(*) FROM trial WHERE verdict = 'invalid'"),
                     2);
}

static struct error *list_counts(void *data, const struct store_count *row)
{
    char *text = data;
    sprintf(text + strlen(text), "%s:", row->group != NULL ? row->group : "?");
    for (unsigned i = 0; i < VERDICTS; i++)
        sprintf(text + strlen(text), "%lu", row->verdicts[i]);
    strcat(text, " ");
    return NULL;
}

static void counts(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    char text[400] = "";
    must(store_each_count(store, campaign.id, NULL, list_counts, text));
    must(store_each_count(store, campaign.id, "type", list_counts, text));
    assert_string_equal(text, "?:0000000000 ");
    static const char *const functions[] = {"write", NULL, "read", "write"};
    for (unsigned i = 0; i < 4; i++) {
        struct store_candidate candidate = some_candidate(campaign.id, i + 1);
        candidate.function = functions[i];
        candidate.file = "x.c";
        must(store_add_candidate(store, &candidate));
        struct store_trial trial = some_trial(campaign.id, candidate.id, i + 1);
        trial.verdict = i == 3 ? VERDICT_INVALID : (enum verdict)i;
        must(store_add_trial(store, &trial));
        struct store_injection injection = some_injection(trial.id);
        injection.program = i == 0 ? "sh" : "cp";
        for (unsigned k = 0; k < 2 && i < 3; k++, injection.id = 0)
            must(store_add_injection(store, &injection));
        trial.id = 0;
        trial.confirmation = true;
        must(store_add_trial(store, &trial));
    }
    fill(store, 20); // another campaign
    static const char *const wanted[][2] = {
        {NULL, "?:1110000001 "},
        {"type", "read=-1/EIO:1110000001 "},
        {"function", "?:0100000000 read:0010000000 write:1000000001 "},
        {"module", "?:1110000001 "},
        {"file", "x.c:1110000001 "},
        {"component", "?:1110000001 "},
        {"program", "?:0000000001 cp:0110000000 sh:1000000000 "},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        text[0] = '\0';
        must(store_each_count(store, campaign.id, wanted[i][0], list_counts, text));
        assert_string_equal(text, wanted[i][1]);
    }
    must_fail(store_each_count(store, campaign.id, "colour", list_counts, text), "'colour'");
}

struct nest {
    struct store *store;
    unsigned depth, seen;
};

static struct error *nested(void *data, const struct store_trial *row)
{
    struct nest *nest = data;
    nest->seen++;
    const char *before = row->spec;
    unsigned seen = 0;
    TRY(store_each_injection(nest->store, row->id, see_injection, &seen));
    assert_int_equal(seen, 1);
    if (nest->depth < 2) {
        nest->depth++;
        TRY(store_each_trial(nest->store, row->campaign, false, nested, nest));
        nest->depth--;
    }
    assert_string_equal(before, "read=-1/EIO when count == 3");
    return NULL;
}

static struct error *stop(void *data, const struct store_trial *row)
{
    ++*(unsigned *)data;
    return error_new("enough");
}

static void callbacks(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct nest nest = {.store = store};
    int64_t campaign = fill(store, 3);
    must(store_each_trial(store, campaign, false, nested, &nest));
    assert_int_equal(nest.seen, 3 + 9 + 27);
    unsigned seen = 0;
    must_fail(store_each_trial(store, campaign, true, stop, &seen), "enough");
    assert_int_equal(seen, 1);
}

static struct error *count_trial(void *data, const struct store_trial *row)
{
    ++*(unsigned *)data;
    return NULL;
}

static unsigned count_trials(struct store *store, int64_t campaign)
{
    unsigned count = 0;
    must(store_each_trial(store, campaign, true, count_trial, &count));
    return count;
}

static void transactions(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    int64_t campaign = fill(store, 2);
    must_fail(store_commit(store), "no transaction");
    must(store_begin(store));
    must_fail(store_begin(store), "open already");
    struct store_trial trial = some_trial(campaign, 1, 10);
    must(store_add_trial(store, &trial));
    store_rollback(store);
    assert_int_equal(count_trials(store, campaign), 2);

    // What is in the transaction with a failure is not stored, even if somebody goes on.
    must(store_begin(store));
    trial.id = 0;
    must(store_add_trial(store, &trial));
    trial.id = 0;
    must_fail(store_add_trial(store, &trial), "UNIQUE");
    trial.id = 0;
    trial.number = 11;
    must_fail(store_add_trial(store, &trial), "given up");
    must_fail(store_commit(store), "given up");
    assert_int_equal(count_trials(store, campaign), 2);

    must(store_begin(store));
    must(store_add_trial(store, &trial));
    must(store_commit(store));
    assert_int_equal(count_trials(store, campaign), 3);
}

static void readers(void **state)
{
    _cleanup_(store_closep) struct store *writer = open_store(STORE_WRITE);
    int64_t campaign = fill(writer, 2);
    _cleanup_(store_closep) struct store *reader = open_store(STORE_READ);
    must(store_begin(reader));
    assert_int_equal(count_trials(reader, campaign), 2);
    struct store_trial trial = some_trial(campaign, 1, 10);
    must(store_add_trial(writer, &trial));
    assert_int_equal(count_trials(reader, campaign), 2);
    must(store_commit(reader));
    assert_int_equal(count_trials(reader, campaign), 3);
    must_fail(store_add_trial(reader, &trial), "reading only");
    must_fail(store_set_trial_finding(reader, 1, 1), "reading only");
}

int main(void)
{
#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        STORE_TEST(campaigns),
        STORE_TEST(remarks),
        STORE_TEST(references),
        STORE_TEST(candidates_by_number),
        STORE_TEST(trials),
        STORE_TEST(findings),
        STORE_TEST(counts),
        STORE_TEST(callbacks),
        STORE_TEST(order_of_findings),
        STORE_TEST(invalidated_trials),
        STORE_TEST(transactions),
        STORE_TEST(readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

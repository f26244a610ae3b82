// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of campaigns from stores made up here. With arguments KIND FILE [NUMBER] it makes such a
// store for an end-to-end test (tests/e2e/report-*.test).
#include "campaign-help.h"

#include "report/campaign/compare.h"
#include "report/campaign/trials.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/ordeal-report-XXXXXX";
static char path[64];

static void fresh(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
}

static struct store *open_made(const char *kind, const char *number)
{
    struct store *store = NULL;
    fresh(kind);
    if (access(path, F_OK) != 0)
        assert_int_equal(make_store(kind, path, number), 0);
    must_work(store_open(path, STORE_READ, &store));
    return store;
}

static bool says(const struct campaign_facts *facts, const char *words)
{
    for (size_t i = 0; i < facts->limits.count; i++)
        if (strstr(facts->limits.items[i], words) != NULL)
            return true;
    return false;
}

static void counts_and_shares(void **state)
{
    const struct report_options options = {.confidence = 0.99};
    struct report_subject subject = {.store = open_made("plain", "12")};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    assert_int_equal(campaign_trial_count(&facts.counts), 200);
    assert_int_equal(facts.counts.verdicts[VERDICT_NOT_ACTIVATED], 17);
    assert_int_equal(facts.counts.verdicts[VERDICT_INVALID], 1);
    // Neither of those is in the denominator.
    assert_int_equal(facts.n, 182);
    assert_int_equal(facts.shares[VERDICT_CRASH].n, 182);
    assert_int_equal(facts.shares[VERDICT_NOT_ACTIVATED].n, 0);
    assert_int_equal(facts.failures.hits, 20);
    struct stats_interval interval = stats_wilson(20, 182, 0.99);
    assert_true(facts.failures.interval.low == interval.low);
    assert_true(facts.failures.interval.high == interval.high);
    assert_int_equal(facts.selected, 200);
    assert_int_equal(facts.findings.count, 4);
    assert_int_equal(facts.findings.items[0].verdict, VERDICT_CRASH);
    assert_int_equal(facts.references.count, 5);
    assert_int_equal(facts.references.outputs, 2);
    assert_int_equal(facts.references.outputs_differ, 1);
    assert_int_equal(facts.references.differing.count, 1);
    assert_string_equal(facts.references.differing.items[0], "/nowhere/out");
    assert_string_equal(facts.references.ending, "exit status 0");
    assert_true(says(&facts, "A sample: 200 of 300"));
    assert_true(says(&facts, "17 of 200 trials never reached"));
    assert_true(says(&facts, "Nondeterministic output: 1 of 2"));
    assert_false(says(&facts, "Only"));
    campaign_facts_deinit(&facts);
    store_close(subject.store);
}

static void groups_against_the_rest(void **state)
{
    const struct report_options options = {0};
    struct report_subject subject = {.store = open_made("plain", "12")};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    struct campaign_grouping grouping = {0};
    must_work(campaign_grouping_load(&facts, "type", &grouping));
    assert_int_equal(grouping.groups.count, 3);
    const struct campaign_group *first = &grouping.groups.items[0];
    assert_string_equal(first->name, "read=-1/EIO");
    assert_int_equal(first->failures.hits, 12);
    assert_int_equal(first->failures.n, 61);
    // 12 of 61 against 8 of 121, by the same test from its four numbers.
    const uint64_t rows[2][2] = {{12, 49}, {8, 113}};
    struct stats_test test;
    must_work(stats_independence(rows, 2, &test));
    assert_true(first->test.p == test.p);
    assert_true(test.p < 0.05);
    campaign_grouping_deinit(&grouping);
    must_work(campaign_grouping_load(&facts, "component", &grouping));
    uint64_t unnamed = 0;
    for (size_t i = 0; i < grouping.groups.count; i++)
        unnamed += grouping.groups.items[i].unnamed;
    assert_int_equal(unnamed, 1);
    campaign_grouping_deinit(&grouping);
    campaign_facts_deinit(&facts);
    store_close(subject.store);
}

static void nothing_tested_is_said(void **state)
{
    const struct report_options options = {0};
    struct report_subject subject = {.store = open_made("idle", NULL)};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    assert_int_equal(facts.n, 0);
    assert_true(says(&facts, "Nothing was tested"));
    assert_true(says(&facts, "no reference run"));
    assert_false(says(&facts, "Exhaustive"));
    campaign_facts_deinit(&facts);
    // First of all, and without a table of zeros.
    struct buffer text = {0};
    must_work(report_campaign_text(subject.store, 0, &options, &text));
    assert_non_null(strstr(text.data, "\n\nNothing was tested\n"));
    assert_null(strstr(text.data, "failures"));
    assert_non_null(strstr(text.data, "not-activated         3"));
    buffer_deinit(&text);
    store_close(subject.store);
}

static void strange_commands_are_replaced(void **state)
{
    const struct report_options options = {.database = "a b.db"};
    struct report_subject subject = {.store = open_made("nasty", NULL)};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    assert_int_equal(facts.findings.count, 2);
    for (size_t i = 0; i < 2; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "ordeal replay %lld --db 'a b.db'",
                 (long long)facts.findings.items[i].trial);
        assert_string_equal(facts.findings.items[i].command, expected);
    }
    assert_true(says(&facts, "second warning"));
    campaign_facts_deinit(&facts);
    store_close(subject.store);
}

// Commands name their store, whatever is stored for them.
static void commands_name_the_store(void **state)
{
    const struct report_options options = {0};
    struct report_subject subject = {.store = open_made("plain", "12")};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    unsigned replays = 0;
    for (size_t i = 0; i < facts.findings.count; i++) {
        const struct campaign_finding *finding = &facts.findings.items[i];
        char expected[128];
        snprintf(expected, sizeof expected, "ordeal replay %lld --db %s", (long long)finding->trial,
                 path);
        replays += strcmp(finding->command, expected) == 0;
    }
    assert_int_equal(replays, 1);
    campaign_facts_deinit(&facts);
    const struct report_options here = {.database = "./ordeal.db"};
    must_work(campaign_facts_load(&facts, &subject, &here));
    struct buffer text = {0};
    must_work(campaign_put_resume(&facts, &text));
    assert_string_equal(text.data, "ordeal campaign --resume");
    buffer_deinit(&text);
    campaign_facts_deinit(&facts);
    store_close(subject.store);
}

// `size` candidates of a type, of which the first `chosen` are run; all trials end the same way.
static void add_stratum(struct maker *maker, const char *type, unsigned size, unsigned chosen,
                        double weight, enum verdict verdict)
{
    for (unsigned i = 0; i < size; i++) {
        maker->weight = weight;
        int64_t id = maker_candidate(maker, type, type, NULL, 0, i < chosen);
        if (i < chosen)
            maker_trial(maker,
                        &(struct made_trial){.candidate = id, .type = type, .verdict = verdict});
    }
}

static struct campaign_facts load_sample(const char *name, const char *per, bool weighted,
                                         double weight, struct store **ret_store)
{
    static const struct report_options options = {0};
    struct maker maker = {.selection = STORE_SELECT_SAMPLE, .per = per, .weighted = weighted};
    fresh(name);
    maker_start(&maker, path, name, 211, 10);
    add_stratum(&maker, "malloc", 206, 5, 1, VERDICT_PASS);
    add_stratum(&maker, "strdup", 5, 5, weight, VERDICT_CRASH);
    maker_end(&maker);
    store_close(maker.store);
    must_work(store_open(path, STORE_READ, ret_store));
    const struct report_subject subject = {.store = *ret_store};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    return facts;
}

static void groups_are_weighted_by_their_size(void **state)
{
    struct store *store;
    struct campaign_facts facts = load_sample("strata", "function", false, 1, &store);
    assert_int_equal(facts.design.kind, CAMPAIGN_ESTIMATED);
    assert_int_equal(facts.failures.hits, 5);
    assert_int_equal(facts.failures.n, 10);
    assert_true(fabs(facts.failures.part - 5.0 / 211) < 1e-9);
    // (206 + 5)² / (5 × 41.2² + 5 × 1²) equal trials.
    assert_true(fabs(facts.design.effective - 211.0 * 211 / (5 * 41.2 * 41.2 + 5)) < 1e-6);
    struct stats_interval interval = stats_wilson_share(5.0 / 211, facts.design.effective, 0.95);
    assert_true(facts.failures.interval.high == interval.high && interval.high < 0.5);
    assert_true(says(&facts, "so many per function"));
    assert_false(says(&facts, "the intervals say how far"));
    campaign_facts_deinit(&facts);
    store_close(store);
}

static void weights_are_made_up_for(void **state)
{
    struct store *store;
    struct campaign_facts facts = load_sample("weighted", NULL, true, 1000, &store);
    assert_int_equal(facts.design.kind, CAMPAIGN_ESTIMATED);
    // The heavy ones were chosen for sure; each of the five others stands for 41.2.
    assert_true(fabs(facts.failures.part - 5.0 / 211) < 1e-6);
    assert_true(says(&facts, "by weight"));
    campaign_facts_deinit(&facts);
    store_close(store);
    // Weights that nobody knows: no share is better than a wrong one.
    facts = load_sample("unknown", NULL, true, 1, &store);
    assert_int_equal(facts.design.kind, CAMPAIGN_UNKNOWN);
    assert_false(campaign_has_share(&facts.failures));
    assert_int_equal(facts.failures.hits, 5);
    assert_true(says(&facts, "cannot be told"));
    campaign_facts_deinit(&facts);
    store_close(store);
}

// All candidates are chosen and run; the last trial ends with `last`.
static bool is_exhaustive(const char *name, enum verdict last, const char *untested,
                          enum store_stop stopped_by, const char *words)
{
    static const struct report_options options = {0};
    struct maker maker = {0};
    fresh(name);
    maker_start(&maker, path, name, 2, 2);
    add_stratum(&maker, "malloc", 1, 1, 1, VERDICT_PASS);
    add_stratum(&maker, "strdup", 1, 1, 1, last);
    const struct store_campaign campaign = {.id = maker.campaign,
                                            .state = STORE_FINISHED,
                                            .candidates = 2,
                                            .planned = stopped_by != STORE_STOP_NONE ? 9 : 2,
                                            .stopped_by = stopped_by};
    must_work(store_update_campaign(maker.store, &campaign));
    maker_remark(&maker, &(struct store_remark){.text = "x"});
    if (untested != NULL)
        maker_remark(&maker, &(struct store_remark){
                                 .kind = REMARK_UNTESTED, .about = untested, .text = "no such"});
    maker_end(&maker);
    store_close(maker.store);
    struct report_subject subject = {0};
    must_work(store_open(path, STORE_READ, &subject.store));
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    bool exhaustive = says(&facts, "Exhaustive");
    if (words != NULL && !says(&facts, words))
        fail_msg("%s does not say: %s", name, words);
    campaign_facts_deinit(&facts);
    store_close(subject.store);
    return exhaustive;
}

static void exhaustive_means_all(void **state)
{
    assert_true(is_exhaustive("all", VERDICT_CRASH, NULL, STORE_STOP_NONE, NULL));
    assert_false(is_exhaustive("missed", VERDICT_NOT_ACTIVATED, NULL, STORE_STOP_NONE,
                               "1 trial tested nothing"));
    assert_false(is_exhaustive("untested", VERDICT_PASS, "wirte=-1/EIO", STORE_STOP_NONE,
                               "not all faults that were asked for"));
    assert_false(is_exhaustive("reached", VERDICT_PASS, NULL, STORE_STOP_INTERVAL,
                               "known as well as was asked for: 2 of 9 planned trials"));
    assert_false(
        is_exhaustive("late", VERDICT_PASS, NULL, STORE_STOP_TIME,
                      "its time was over: 2 of 9 planned trials are done; 'ordeal campaign "
                      "--resume --db"));
}

// What filters make equal does not count as differing; the campaign's remarks tell.
static void filters_quiet_the_notes(void **state)
{
    for (int i = 0; i < 2; i++) {
        static const struct report_options options = {0};
        struct maker maker = {.filtered = true};
        fresh(i == 0 ? "filtered" : "warned");
        maker_start(&maker, path, "filtered", 1, 1);
        maker_reference(&maker, 1, 0, 8);
        maker_reference(&maker, 2, 0, 9);
        if (i == 1)
            maker_remark(&maker, &(struct store_remark){.kind = REMARK_VARIES,
                                                        .about = "/nowhere/out",
                                                        .text = "'/nowhere/out' varies"});
        maker_end(&maker);
        const struct report_subject subject = {.store = maker.store};
        struct campaign_facts facts;
        must_work(campaign_facts_load(&facts, &subject, &options));
        assert_int_equal(facts.references.outputs_differ, i);
        assert_true(says(&facts, "Nondeterministic output: 1 of 2") == (i == 1));
        campaign_facts_deinit(&facts);
        store_close(maker.store);
    }
}

static void same_titles_are_told_apart(void **state)
{
    static const struct {
        const char *title, *called_from, *expected;
    } rows[] = {
        {"malloc", "getpwuid (libc.so.6)\ncp+0x27d02", "malloc, called from cp+0x27d02"},
        {"malloc", "getpwuid (libc.so.6)\ncp+0x27d92", "malloc, called from cp+0x27d92"},
        {"read", "one (libx.so)\nmain at src/cp.c:1 (cp)", "read, in one in libx.so"},
        {"read", "two at a/b.c:3 (libx.so)\nmain at src/cp.c:1 (cp)", "read, in two at b.c:3"},
        {"open", "same (cp)", "open, as in trial 5"},
        {"open", "same (cp)", "open, as in trial 6"},
        {"close", "same (cp)", "close"},
    };
    size_t count = sizeof rows / sizeof *rows;
    static const struct report_options options = {0};
    struct maker maker = {0};
    fresh("titles");
    maker_start(&maker, path, "titles", count, count);
    for (size_t i = 0; i < count; i++) {
        char cause[8];
        snprintf(cause, sizeof cause, "%zu", i);
        maker_trial(&maker, &(struct made_trial){
                                .candidate = maker_candidate(&maker, "x", "x", NULL, 0, true),
                                .verdict = VERDICT_CRASH,
                                .type = "x",
                                .cause = cause,
                                .title = rows[i].title,
                                .command = "ordeal replay 1",
                                .called_from = rows[i].called_from});
    }
    maker_end(&maker);
    const struct report_subject subject = {.store = maker.store};
    struct campaign_facts facts;
    must_work(campaign_facts_load(&facts, &subject, &options));
    assert_int_equal(facts.findings.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(facts.findings.items[i].title,
                            rows[facts.findings.items[i].id - 1].expected);
    campaign_facts_deinit(&facts);
    // That a finding did not repeat does not move its title.
    must_work(store_confirm_finding(maker.store, 7, STORE_FLAKY));
    struct buffer text = {0};
    must_work(report_campaign_text(maker.store, 0, &options, &text));
    assert_non_null(strstr(text.data, "F7 1x      close; severity: high (not repeated)\n"));
    buffer_deinit(&text);
    store_close(maker.store);
}

// A crash is shown even if it did not repeat. Other results and hangs are chance.
static void chance_is_hidden(void **state)
{
    static const enum verdict verdicts[] = {VERDICT_CRASH, VERDICT_HANG, VERDICT_SILENT,
                                            VERDICT_WRONG_OUTPUT, VERDICT_SILENT};
    const size_t count = sizeof verdicts / sizeof *verdicts;
    struct report_options options = {0};
    struct maker maker = {0};
    fresh("unrepeated");
    maker_start(&maker, path, "unrepeated", count, count);
    for (size_t i = 0; i < count; i++) {
        char cause[8];
        snprintf(cause, sizeof cause, "%zu", i);
        maker_trial(&maker, &(struct made_trial){
                                .candidate = maker_candidate(&maker, "x", "x", NULL, 0, true),
                                .verdict = verdicts[i],
                                .type = "x",
                                .cause = cause,
                                .title = cause,
                                .command = "ordeal replay 1"});
        must_work(store_confirm_finding(maker.store, (int64_t)i + 1,
                                        i + 1 < count ? STORE_FLAKY : STORE_CONFIRMED));
    }
    maker_end(&maker);
    struct report_shown shown;
    must_work(report_count_shown(maker.store, 1, options.proof, REPORT_SCOPE_STORED, &shown));
    assert_int_equal(shown.shown[VERDICT_CRASH], 1);
    assert_int_equal(shown.hidden[VERDICT_HANG], 1);
    assert_int_equal(shown.shown[VERDICT_SILENT], 1);
    assert_int_equal(shown.hidden[VERDICT_SILENT], 1);
    for (int all = 0; all < 2; all++) {
        struct buffer text = {0};
        options.proof = all ? REPORT_PROOF_ALL : REPORT_PROOF_USUAL;
        must_work(report_campaign_text(maker.store, 0, &options, &text));
        assert_non_null(strstr(text.data, all ? "5 findings" : "2 findings"));
        assert_int_equal(strstr(text.data, "not shown: 3 that did not repeat") != NULL, !all);
        buffer_deinit(&text);
    }
    store_close(maker.store);
}

// Columns of a line of UTF-8: wide characters are in the tests' stores, but no combining ones.
static size_t columns(const char *line, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80)
            used += (unsigned char)line[i] >= 0xe3 && (unsigned char)line[i] < 0xef ? 2 : 1;
    return used;
}

static void text_fits_and_is_inert(void **state)
{
    static const char *const kinds[] = {"plain", "nasty", "idle", "large"};
    for (size_t i = 0; i < 4; i++) {
        struct store *store = open_made(kinds[i], i == 3 ? "3000" : "12");
        for (size_t j = 0; j < 7; j++) {
            const struct report_options options = {
                .all = true,
                .group_by = report_groupings[j],
                .database = "a/very/long/path/to/a/store/that/does/not/fit/into/a/line/of/eighty/"
                            "columns/at/all.db"};
            struct buffer text = {0};
            must_work(report_campaign_text(store, 0, &options, &text));
            for (const char *line = text.data; *line != '\0';) {
                size_t size = strcspn(line, "\n");
                if (columns(line, size) > 80)
                    fail_msg("%s: %.*s", kinds[i], (int)size, line);
                assert_true(size == 0 || line[size - 1] != ' ');
                line += size + 1;
            }
            assert_null(strpbrk(text.data, "\33\7\r\t"));
            buffer_deinit(&text);
        }
        store_close(store);
    }
}

static void colours_when_asked(void **state)
{
    const struct report_options options = {.colour = true};
    struct store *store = open_made("plain", "12");
    struct buffer text = {0};
    must_work(report_campaign_text(store, 0, &options, &text));
    assert_non_null(strstr(text.data, "\33[1;31m  crash"));
    buffer_deinit(&text);
    store_close(store);
}

static void one_pass_keeps_little(void **state)
{
    const struct report_options options = {0};
    struct report_subject subject = {.store = open_made("large", "3000")};
    struct campaign_facts facts;
    struct campaign_candidates candidates = {0};
    struct campaign_trials trials = {0};
    must_work(campaign_facts_load(&facts, &subject, &options));
    must_work(campaign_candidates_load(facts.store, facts.campaign.id, &candidates));
    must_work(campaign_trials_load(&facts, &candidates, &trials));
    assert_int_equal(candidates.rows.count, 3000);
    // 37 types, 211 files, a function, a module, a component.
    assert_int_equal(candidates.strings.list.count, 37 + 211 + 3);
    uint64_t sum = 0;
    for (size_t i = 0; i < trials.columns; i++)
        sum += campaign_trial_count(&trials.timeline[i]);
    assert_int_equal(sum, 3000);
    assert_true(trials.columns * trials.width_s >= 60 && trials.columns > CAMPAIGN_TIMELINE / 2);
    assert_int_equal(trials.samples.count, 4 * CAMPAIGN_SAMPLES);
    assert_int_equal(trials.samples.items[0].verdict, VERDICT_CRASH);
    sum = 0;
    for (size_t i = 0; i < trials.sites.groups.count; i++)
        sum += campaign_trial_count(&trials.sites.groups.items[i].counts);
    assert_int_equal(sum, 3000);
    assert_int_equal(trials.sites.groups.count, 2001);
    campaign_trials_deinit(&trials);
    campaign_candidates_deinit(&candidates);
    campaign_facts_deinit(&facts);
    store_close(subject.store);
}

static void comparison_pairs_causes(void **state)
{
    const struct report_options options = {0};
    struct maker maker = {0};
    fresh("two");
    make_plain(&maker, path, "first", 12);
    make_plain(&maker, path, "second", 0);
    store_close(maker.store);
    struct store *store;
    must_work(store_open(path, STORE_READ, &store));
    const struct report_subject before = {store, 1, "two:1"}, after = {store, 2, "two:2"};
    struct campaign_comparison comparison;
    must_work(campaign_comparison_load(&comparison, &before, &after, &options));
    assert_int_equal(comparison.changes[CAMPAIGN_NEW], 0);
    assert_int_equal(comparison.changes[CAMPAIGN_GONE], 1);
    assert_int_equal(comparison.changes[CAMPAIGN_SAME], 3);
    assert_int_equal(comparison.pairs.items[0].change, CAMPAIGN_GONE);
    assert_int_equal(comparison.pairs.items[0].before->verdict, VERDICT_CRASH);
    assert_null(comparison.pairs.items[0].after);
    assert_true(comparison.verdicts[VERDICT_CRASH].test.p < 0.001);
    assert_true(comparison.verdicts[VERDICT_HANG].test.p > 0.5);
    campaign_comparison_deinit(&comparison);
    must_work(campaign_comparison_load(&comparison, &after, &before, &options));
    assert_int_equal(comparison.changes[CAMPAIGN_NEW], 1);
    assert_int_equal(comparison.changes[CAMPAIGN_GONE], 0);
    campaign_comparison_deinit(&comparison);
    store_close(store);
}

static struct error *full(void *data, const struct buffer *text)
{
    return error_new("no room");
}

static void formats_pass_on_errors(void **state)
{
    const struct report_options options = {0};
    const struct report_format *const formats[] = {&report_text,
#define FORMAT(symbol, kind, help) &report_##symbol,
                                                   REPORT_FORMATS(FORMAT)
#undef FORMAT
    };
    const struct report_subject subject = {.store = open_made("plain", "12")};
    const struct report_subject missing = {.store = subject.store, .campaign = 77};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct report_sink sink = {.write = full};
        struct error *error = formats[i]->write(&subject, &options, &sink);
        assert_non_null(error);
        assert_string_equal(error_message(error), "no room");
        error_free(error);
        report_sink_deinit(&sink);
        sink = (struct report_sink){0};
        error = formats[i]->write(&missing, &options, &sink);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), "no campaign 77"));
        error_free(error);
        report_sink_deinit(&sink);
    }
    store_close(subject.store);
}

static int set_up(void **state)
{
    return mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf /tmp/ordeal-report-%s", strrchr(directory, '-') + 1);
    return system(command);
}

int main(int count, char **arguments)
{
    if (count > 2)
        return make_store(arguments[1], arguments[2], count > 3 ? arguments[3] : NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_shares),
        cmocka_unit_test(groups_against_the_rest),
        cmocka_unit_test(nothing_tested_is_said),
        cmocka_unit_test(strange_commands_are_replaced),
        cmocka_unit_test(text_fits_and_is_inert),
        cmocka_unit_test(colours_when_asked),
        cmocka_unit_test(one_pass_keeps_little),
        cmocka_unit_test(comparison_pairs_causes),
        cmocka_unit_test(formats_pass_on_errors),
        cmocka_unit_test(commands_name_the_store),
        cmocka_unit_test(groups_are_weighted_by_their_size),
        cmocka_unit_test(weights_are_made_up_for),
        cmocka_unit_test(exhaustive_means_all),
        cmocka_unit_test(filters_quiet_the_notes),
        cmocka_unit_test(same_titles_are_told_apart),
        cmocka_unit_test(chance_is_hidden),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

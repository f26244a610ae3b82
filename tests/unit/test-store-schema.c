// SPDX-License-Identifier: GPL-3.0-or-later
// Files of older versions become files of today, the schema and the code agree, and every query has
// its index.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "store-help.h"

static void execute(const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(help_path, &database), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(database);
}

static int collect(void *data, int columns, char **values, char **names)
{
    struct buffer *text = data;
    for (int i = 0; i < columns; i++)
        must(buffer_printf(text, "%s%s", i > 0 ? "|" : "", values[i] != NULL ? values[i] : ""));
    must(buffer_printf(text, "\n"));
    return 0;
}

static struct buffer ask(struct store *store, const char *sql)
{
    struct buffer text = {0};
    must(buffer_append(&text, "", 0));
    assert_int_equal(sqlite3_exec(store->database, sql, collect, &text, NULL), SQLITE_OK);
    return text;
}

static struct buffer golden(unsigned version)
{
    char path[300];
    struct buffer text = {0};
    snprintf(path, sizeof path, "%s/tests/golden/store-%u.sql", getenv("ORDEAL_SOURCE_ROOT"),
             version);
    must(buffer_read_file(path, 1 << 20, &text));
    return text;
}

static const char all_objects[] =
    "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name;"
    "SELECT * FROM verdict ORDER BY severity; PRAGMA user_version; PRAGMA application_id";

// tests/golden/store-N.sql is what version N made, with a campaign in it.
static void older_files_are_migrated(void **state)
{
    struct store *store = open_store(STORE_WRITE);
    _cleanup_(buffer_deinit) struct buffer fresh = ask(store, all_objects);
    store_close(store);
    for (int version = 1; version < schema_version; version++) {
        unlink(help_path);
        _cleanup_(buffer_deinit) struct buffer old = golden((unsigned)version);
        execute(old.data);

        // Readers take it as it is, and leave it so.
        store = open_store(STORE_READ);
        struct store_trial trial;
        struct store_candidate candidate;
        must(store_find_trial(store, 1, &trial, &candidate));
        assert_string_equal(trial.stack, "copy\nmain");
        store_trial_deinit(&trial);
        store_candidate_deinit(&candidate);
        struct store_campaign campaign;
        must(store_find_campaign(store, 1, &campaign));
        assert_string_equal(campaign.name, "copy");
        assert_int_equal(campaign.stopped_by, STORE_STOP_NONE);
        store_campaign_deinit(&campaign);
        assert_int_equal(query_number(store, "PRAGMA user_version"), version);
        store_close(store);

        store = open_store(STORE_WRITE);
        _cleanup_(buffer_deinit) struct buffer migrated = ask(store, all_objects);
        assert_string_equal(migrated.data, fresh.data);
        must(store_find_trial(store, 1, &trial, &candidate));
        assert_int_equal(trial.verdict, VERDICT_CRASH);
        store_trial_deinit(&trial);
        store_candidate_deinit(&candidate);
        assert_int_equal(query_number(store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        store_close(store);
    }
}

static struct error *put_remark(void *data, const struct store_remark *row)
{
    return buffer_printf(data, "%s|%s|%s\n", enum_name(&remark_names, row->kind),
                         row->about != NULL ? row->about : "", row->text);
}

static struct error *put_artifact(void *data, const struct store_artifact *row)
{
    return buffer_printf(data, "%s %s %o\n", row->path, enum_name(&artifact_names, row->kind),
                         row->mode == ARTIFACT_NO_MODE ? 07777 : row->mode);
}

static struct error *put_round(void *data, const struct store_trial *row)
{
    return buffer_printf(data, "%u ", row->round);
}

static struct error *put_severity(void *data, const struct store_finding *row)
{
    return buffer_printf(data, "%lld %s\n", (long long)row->id,
                         enum_name(&severity_names, row->severity));
}

static void campaign_is(struct store *store, int64_t id, const char *expected)
{
    struct store_campaign row;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    must(store_find_campaign(store, id, &row));
    must(buffer_printf(&text, "%s %s%s%s%s%s%s%s", enum_name(&selection_names, row.selection),
                       row.per != NULL ? row.per : "", row.automatic ? " automatic" : "",
                       row.weighted ? " weighted" : "", row.listed ? " listed" : "",
                       row.changes_only ? " changes" : "", row.long_lived ? " long-lived" : "",
                       row.filtered ? " filtered" : ""));
    assert_string_equal(text.data, expected);
    store_campaign_deinit(&row);
}

static void facts_are(struct store *store)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    campaign_is(store, 1, "all ");
    campaign_is(store, 2, "sample function listed long-lived filtered");
    campaign_is(store, 3, "all  automatic weighted listed changes filtered");
    must(store_each_remark(store, 2, put_remark, &text));
    must(store_each_remark(store, 3, put_remark, &text));
    must(store_each_artifact(store, 1, put_artifact, &text));
    must(store_each_trial(store, 2, false, put_round, &text));
    must(store_each_finding(store, 2, put_severity, &text));
    assert_string_equal(text.data,
                        "untested|wirte=-1/EIO|wirte is never called, but write is\n"
                        "varies|/home/out|'/home/out' varies and is no text; it is not compared\n"
                        "varies|<stdout>|stdout: lines 3 and 4 vary; they are not compared\n"
                        "note||trials run one at a time\n"
                        "varies||7 more outputs vary between reference runs\n"
                        "<stdout> stream 7777\n/home/log file 640\n/home/out file 4755\n"
                        "/home/new directory 755\n/home/old deleted 7777\n/home/plain file 7777\n"
                        "/home/none file 0\n/home/pipe other 7777\n"
                        "1 12 1 0 2 critical\n4 high\n3 high\n5 medium\n");
}

// What version 5 only said in sentences and in the definition, a reader finds, and a writer keeps.
static void sentences_become_columns(void **state)
{
    _cleanup_(buffer_deinit) struct buffer old = golden(5);
    execute(old.data);
    static const enum store_mode modes[] = {STORE_READ, STORE_WRITE, STORE_READ};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct store *store = open_store(modes[i]);
        facts_are(store);
        assert_int_equal(query_number(store, "PRAGMA user_version"), i == 0 ? 5 : schema_version);
        store_close(store);
    }
}

// A step that fails leaves the file as it was.
static void migration_is_all_or_nothing(void **state)
{
    _cleanup_(buffer_deinit) struct buffer old = golden(1);
    execute(old.data);
    execute("CREATE TABLE failures (in_the_way)");
    struct store *store = NULL;
    must_fail(store_open(help_path, STORE_WRITE, &store), "failures");
    assert_null(store);
    store = open_store(STORE_READ);
    assert_int_equal(query_number(store, "PRAGMA user_version"), 1);
    assert_int_equal(query_number(store, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'"),
                     0);
    store_close(store);
}

// The schema takes every word of the table, and no other.
static void names_pass(struct store *store, const struct enum_names *names, const char *table,
                       const char *column)
{
    for (unsigned i = 0; i <= names->count; i++) {
        const char *word = i < names->count ? enum_name(names, i) : "fine";
        char *sql = sqlite3_mprintf("UPDATE %s SET %s = %Q", table, column, word);
        bool taken = sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK &&
                     sqlite3_changes(store->database) > 0;
        assert_true(taken == (i < names->count));
        sqlite3_free(sql);
    }
}

static void words_agree(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    _cleanup_(buffer_deinit) struct buffer wanted = {0};
    for (unsigned i = 0; i < VERDICTS; i++) {
        const struct verdict_facts *facts = &verdict_facts[i];
        must(buffer_printf(&wanted, "%s|%u|%d|%d|%s\n", facts->name, i + 1, facts->counts,
                           facts->failure, facts->meaning));
        assert_int_equal(verdict_named(facts->name, strlen(facts->name)), i);
        assert_int_equal(verdict_named(facts->name, strlen(facts->name) - 1), VERDICTS);
        assert_true(!facts->failure || facts->counts);
        assert_true(!facts->failure || facts->finding);
    }
    _cleanup_(buffer_deinit) struct buffer found =
        ask(store, "SELECT * FROM verdict ORDER BY severity");
    assert_string_equal(found.data, wanted.data);
    fill(store, 2 * VERDICTS); // every word passes the check
    assert_int_not_equal(
        sqlite3_exec(store->database, "UPDATE trial SET verdict = 'fine'", NULL, NULL, NULL),
        SQLITE_OK);
    struct store_finding finding = some_finding(1, "cause");
    must(store_add_finding(store, &finding));
    must(store_add_remark(store, &(struct store_remark){.campaign = 1, .text = "note"}));
    names_pass(store, &state_names, "campaign", "state");
    names_pass(store, &selection_names, "campaign", "selection");
    names_pass(store, &outcome_names, "trial", "outcome");
    names_pass(store, &way_names, "trial", "way");
    names_pass(store, &damage_names, "trial", "damage");
    names_pass(store, &severity_names, "finding", "severity");
    names_pass(store, &remark_names, "remark", "kind");
}

static void views(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    fill(store, 2 * VERDICTS + 1); // three crashes, two of each other
    _cleanup_(buffer_deinit) struct buffer verdicts =
        ask(store, "SELECT verdict, trials, percent FROM verdicts");
    assert_string_equal(verdicts.data, "crash|3|17.6\nhang|2|11.8\nsilent|2|11.8\n"
                                       "wrong-output|2|11.8\nunstable|2|11.8\n"
                                       "deliberate|2|11.8\ngraceful|2|11.8\npass|2|11.8\n"
                                       "not-activated|2|\ninvalid|2|\n");
    _cleanup_(buffer_deinit) struct buffer failures =
        ask(store, "SELECT verdict, count(*) FROM failures GROUP BY verdict");
    assert_string_equal(failures.data, "crash|3\nhang|2\nsilent|2\nunstable|2\nwrong-output|2\n");
    _cleanup_(buffer_deinit) struct buffer sites =
        ask(store, "SELECT symbol, line, fault, trials, failures FROM sites");
    assert_string_equal(sites.data, "copy|12|read=-1/EIO|21|11\n");
}

// The queries of the manual page; its last one deletes the campaign.
static void the_manual_is_right(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    struct store_finding finding = some_finding(fill(store, 20), "cause");
    finding.trial = 1;
    must(store_add_finding(store, &finding));
    must(store_set_trial_finding(store, 1, finding.id));
    char path[300];
    struct buffer page = {0};
    snprintf(path, sizeof path, "%s/docs/ordeal-store.5", getenv("ORDEAL_SOURCE_ROOT"));
    must(buffer_read_file(path, 1 << 20, &page));
    unsigned queries = 0;
    for (char *at = page.data, *end; (at = strstr(at, ".Bd -literal")) != NULL; at = end + 1) {
        at = strchr(at, '\n') + 1;
        end = strstr(at, ".Ed");
        *end = '\0';
        if (strncmp(at, "sqlite3", 7) == 0)
            continue;
        char *message = NULL;
        if (sqlite3_exec(store->database, at, NULL, NULL, &message) != SQLITE_OK)
            fail_msg("%s\n%s", at, message);
        queries++;
    }
    assert_true(queries >= 4);
    static const char *const tables[] = {"campaign", "candidate", "trial", "injection", "finding"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[60];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        assert_int_equal(query_number(store, sql), 0);
    }
    buffer_deinit(&page);
}

// Whether a plan reads a whole table. What a query inside of it found is no table.
static bool scans(const char *plan)
{
    while ((plan = strstr(plan, "SCAN ")) != NULL) {
        plan += strlen("SCAN ");
        if (strncmp(plan, "(subquery", strlen("(subquery")) != 0)
            return true;
    }
    return false;
}

// No query reads a whole table, but the two that want all campaigns.
static void queries_use_indexes(void **state)
{
    _cleanup_(store_closep) struct store *store = open_store(STORE_WRITE);
    for (enum query query = 0; query < QUERIES; query++) {
        _cleanup_free_ char *sql = NULL;
        _cleanup_(buffer_deinit) struct buffer explain = {0};
        must(query_text(query, &sql));
        must(buffer_printf(&explain, "EXPLAIN QUERY PLAN %s", sql));
        _cleanup_(buffer_deinit) struct buffer plan = ask(store, explain.data);
        bool all = query == EACH_CAMPAIGN || query == NEWEST_CAMPAIGN;
        if (!all && scans(plan.data))
            fail_msg("%s\n%s", sql, plan.data);
        if (query == COUNT_ALL && strstr(plan.data, "COVERING INDEX trial_verdict") == NULL)
            fail_msg("%s\n%s", sql, plan.data);
        if (query == EACH_TRIAL && strstr(plan.data, "TEMP B-TREE") != NULL)
            fail_msg("%s\n%s", sql, plan.data);
    }
}

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(help_path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void both_fail(const char *part)
{
    struct store *store = NULL;
    must_fail(store_open(help_path, STORE_READ, &store), part);
    must_fail(store_open(help_path, STORE_WRITE, &store), part);
    assert_null(store);
}

static void other_files_are_refused(void **state)
{
    struct store *store = NULL;
    must_fail(store_open(help_path, STORE_READ, &store), "No such file");
    must_fail(store_open("", STORE_WRITE, &store), "empty");
    must_fail(store_open("/nonexistent/x.db", STORE_WRITE, &store), "/nonexistent/x.db");
    must_fail(store_open(help_directory, STORE_WRITE, &store), "not a file");
    must_fail(store_open("/dev/null", STORE_READ, &store), "not a file");
    static char text[5000];
    memset(text, 'x', sizeof text);
    write_bytes(text, sizeof text);
    both_fail("not an SQLite database");
    write_bytes("short", 5);
    both_fail("not an SQLite database");
    write_bytes("", 0);
    must_fail(store_open(help_path, STORE_READ, &store), "the file is empty");
    execute("CREATE TABLE mine (a)");
    both_fail("not a file of campaigns");
    execute("DROP TABLE mine; PRAGMA user_version = 3");
    both_fail("not a file of campaigns");
    unlink(help_path);
    store = open_store(STORE_WRITE);
    store_close(store);
    store = NULL;
    execute("PRAGMA user_version = 1000");
    both_fail("made by a newer version");
    execute("PRAGMA user_version = 0");
    both_fail("damaged");
    unlink(help_path);
    mkfifo(help_path, 0600);
    both_fail("not a file");
}

// An empty file, as `touch` or mktemp makes it, is a new one for a writer.
static void empty_files_are_filled(void **state)
{
    write_bytes("", 0);
    struct store *store = open_store(STORE_WRITE);
    fill(store, 1);
    store_close(store);
}

static struct error *look_at_trial(void *data, const struct store_trial *row)
{
    ++*(unsigned *)data;
    return NULL;
}

static void damaged_files(void **state)
{
    struct store *store = open_store(STORE_WRITE);
    fill(store, 300);
    store_close(store);
    struct buffer whole = {0};
    must(buffer_read_file(help_path, 1 << 24, &whole));
    unsigned failures = 0, rows = 0;
    for (size_t size = 100; size < whole.size; size += 4096 * 3 + 1000) {
        write_bytes(whole.data, size);
        struct error *error = store_open(help_path, STORE_READ, &store);
        if (error == NULL) {
            error = store_each_trial(store, 1, false, look_at_trial, &rows);
            store_close(store);
        }
        if (error != NULL) {
            failures++;
            assert_non_null(strstr(error_message(error), help_path));
            error_free(error);
        }
    }
    assert_true(failures > 5);
    // A verdict that is none, written behind the check's back.
    write_bytes(whole.data, whole.size);
    execute("PRAGMA ignore_check_constraints = ON; UPDATE trial SET verdict = 'fine' WHERE id = 3");
    store = open_store(STORE_READ);
    must_fail(store_each_trial(store, 1, false, look_at_trial, &rows), "damaged");
    store_close(store);
    buffer_deinit(&whole);
}

int main(void)
{
#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        STORE_TEST(older_files_are_migrated),
        STORE_TEST(sentences_become_columns),
        STORE_TEST(migration_is_all_or_nothing),
        STORE_TEST(words_agree),
        STORE_TEST(views),
        STORE_TEST(queries_use_indexes),
        STORE_TEST(other_files_are_refused),
        STORE_TEST(empty_files_are_filled),
        STORE_TEST(the_manual_is_right),
        STORE_TEST(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

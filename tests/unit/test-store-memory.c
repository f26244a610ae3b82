// SPDX-License-Identifier: GPL-3.0-or-later
// The n-th allocation fails, for every n, alone and with all that follow: nothing crashes, what was
// taken is given back, and the file holds what was committed and nothing else.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing-memory.h"
#include "store-help.h"

static struct error *add_rows(struct store *store)
{
    struct store_campaign campaign = some_campaign();
    TRY(store_begin(store));
    TRY(store_add_campaign(store, &campaign));
    struct store_candidate candidate = some_candidate(campaign.id, 1);
    TRY(store_add_candidate(store, &candidate));
    struct store_trial trial = some_trial(campaign.id, candidate.id, 1);
    trial.reason = "\xff";
    trial.stack = "a\nb";
    TRY(store_add_trial(store, &trial));
    struct store_injection injection = some_injection(trial.id);
    TRY(store_add_injection(store, &injection));
    struct store_finding finding = some_finding(campaign.id, "cause");
    TRY(store_add_finding(store, &finding));
    TRY(store_set_trial_finding(store, trial.id, finding.id));
    return store_commit(store);
}

static struct error *write_rows(void)
{
    _cleanup_(store_closep) struct store *store = NULL;
    TRY(store_open(help_path, STORE_WRITE, &store));
    return add_rows(store);
}

static struct error *see_trial(void *data, const struct store_trial *row)
{
    return strlen(row->reason) > 0 ? NULL : error_new("no reason");
}

static struct error *see_count(void *data, const struct store_count *row)
{
    return NULL;
}

static struct error *read_rows(void)
{
    _cleanup_(store_closep) struct store *store = NULL;
    struct store_campaign campaign;
    struct store_trial trial;
    struct store_candidate candidate;
    TRY(store_open(help_path, STORE_READ, &store));
    TRY(store_find_campaign(store, 0, &campaign));
    store_campaign_deinit(&campaign);
    TRY(store_find_trial(store, 1, &trial, &candidate));
    store_trial_deinit(&trial);
    store_candidate_deinit(&candidate);
    TRY(store_each_trial(store, 1, true, see_trial, NULL));
    return store_each_count(store, 1, "function", see_count, NULL);
}

static void exhaust(struct error *(*work)(void), void (*check)(bool failed))
{
    error_free(work()); // what SQLite takes once
    for (int mode = 0; mode < 2; mode++) {
        persistent = mode;
        unsigned long refused = 0;
        for (fail_at = 1;; fail_at += 1 + fail_at / 100) {
            asked = 0;
            living = 0;
            armed = true;
            struct error *error = work();
            bool reached = asked >= fail_at, failed = error != NULL;
            error_free(error);
            armed = false;
#ifndef UNDER_ASAN // which has its own strdup() and its own search for leaks
            assert_int_equal(living, 0);
#endif
            check(failed);
            refused += failed;
            if (!reached) {
                assert_false(failed);
                break;
            }
        }
        assert_true(fail_at > 50 && refused > 20);
    }
}

// A campaign comes with all of its rows or not at all.
static void check_whole(bool failed)
{
    static int64_t before;
    struct store *store = open_store(STORE_READ);
    int64_t campaigns = query_number(store, "SELECT count(*) FROM campaign");
    assert_int_equal(query_number(store, "SELECT count(*) FROM trial"), campaigns);
    assert_int_equal(query_number(store, "SELECT count(*) FROM injection"), campaigns);
    assert_int_equal(
        query_number(store, "SELECT count(*) FROM finding JOIN trial ON finding.id = finding"),
        campaigns);
    if (!failed && before > 0)
        assert_int_equal(campaigns, before + 1);
    before = campaigns;
    store_close(store);
}

static void check_nothing(bool failed) {}

static void writing(void **state)
{
    exhaust(write_rows, check_whole);
}

static void reading(void **state)
{
    must(write_rows());
    exhaust(read_rows, check_nothing);
}

int main(void)
{
#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {STORE_TEST(writing), STORE_TEST(reading)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

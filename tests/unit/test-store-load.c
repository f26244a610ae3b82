// SPDX-License-Identifier: GPL-3.0-or-later
// Many trials: the file grows in proportion, and a report's questions are answered at once. The
// times allowed are many times those measured (bench/campaign measures).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store-help.h"

#include <time.h>

#define TRIALS 20000u

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Candidates and trials number `from`…, a hundred in a transaction; a third of them with one of
// fifty stacks.
static void add(struct store *store, unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        char spec[80], stack[100];
        snprintf(spec, sizeof spec, "read=-1/EIO when process(1) and count == %u and once", i);
        snprintf(stack, sizeof stack, "copy at src/copy.c:%u (cp)\nmain at src/cp.c:3 (cp)",
                 i % 50);
        if (i % 100 == 0)
            must(store_begin(store));
        struct store_candidate candidate = some_candidate(1, i + 1);
        candidate.spec = spec;
        must(store_add_candidate(store, &candidate));
        struct store_trial trial = some_trial(1, candidate.id, i + 1);
        trial.spec = spec;
        trial.verdict = (enum verdict)(i % VERDICTS);
        trial.stack = i % 3 == 0 ? stack : NULL;
        trial.output = "cp: error reading 'in': Input/output error\n";
        must(store_add_trial(store, &trial));
        struct store_injection injection = some_injection(trial.id);
        injection.stack = stack;
        must(store_add_injection(store, &injection));
        if (i % 100 == 99)
            must(store_commit(store));
    }
}

static int64_t bytes(struct store *store)
{
    return query_number(store, "PRAGMA page_count") * query_number(store, "PRAGMA page_size");
}

static struct error *see_trial(void *data, const struct store_trial *row)
{
    ++*(unsigned *)data;
    return NULL;
}

static struct error *see_count(void *data, const struct store_count *row)
{
    for (unsigned i = 0; i < VERDICTS; i++)
        *(unsigned *)data += (unsigned)row->verdicts[i];
    return NULL;
}

static struct error *see_candidate(void *data, const struct store_candidate *row)
{
    ++*(unsigned *)data;
    return NULL;
}

static void many_trials(void **state)
{
    static const char *const groups[] = {NULL,   "type",      "function", "module",
                                         "file", "component", "program"};
    struct store *store = open_store(STORE_WRITE);
    struct store_campaign campaign = some_campaign();
    must(store_add_campaign(store, &campaign));
    int64_t empty = bytes(store);
    double start = cpu_seconds();
    add(store, 0, TRIALS / 2);
    int64_t half = bytes(store) - empty;
    add(store, TRIALS / 2, TRIALS / 2);
    int64_t whole = bytes(store) - empty;
    print_message("%.1f us for candidate, trial and injection; %.0f bytes\n",
                  (cpu_seconds() - start) / TRIALS * 1e6, (double)whole / TRIALS);
    assert_true(whole > half * 18 / 10 && whole < half * 22 / 10);
    assert_true(whole / TRIALS < 1500);
    assert_int_equal(query_number(store, "SELECT count(*) FROM stack"), 50);
    store_close(store);

    store = open_store(STORE_READ);
    start = cpu_seconds();
    unsigned count = 0, seen = 0;
    must(store_each_trial(store, 1, false, see_trial, &count));
    assert_int_equal(count, TRIALS);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        count = 0;
        must(store_each_count(store, 1, groups[i], see_count, &count));
        assert_int_equal(count, TRIALS);
    }
    print_message("%.1f ms for all questions\n", (cpu_seconds() - start) * 1e3);
    assert_true(cpu_seconds() - start < 5);
    // One by one in any order, as a campaign in random order does.
    start = cpu_seconds();
    for (unsigned i = 0; i < 10000; i++)
        must(store_each_candidate(store, 1, i * 7919u % TRIALS, 1, see_candidate, &seen));
    print_message("%.1f us for a candidate by its number\n", (cpu_seconds() - start) / 1e4 * 1e6);
    assert_int_equal(seen, 10000);
    assert_true(cpu_seconds() - start < 5);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_trials, help_setup, help_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

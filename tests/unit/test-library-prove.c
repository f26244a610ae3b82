// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which shots a proof asks for, and what it makes of their results.
#include "base/cleanup.h"
#include "injectors/library/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OBSERVING "f=observe when caller(/bin/p+0x10) and once"

static void ok(struct error *error)
{
    assert_null(error);
}

static void *begin(enum store_basis basis, const char *spec)
{
    void *prover = NULL;
    const struct proof_subject subject = {.spec = spec, .basis = basis};
    ok(library_proof.begin(&subject, &prover));
    return prover;
}

static void *begin_usual(enum store_basis basis)
{
    return begin(basis, "f=NULL when caller(/bin/p+0x10) and once");
}

static void expect_next(void *prover, const char *expected)
{
    char *spec = NULL;
    ok(library_proof.next(prover, &spec));
    if (expected == NULL)
        assert_null(spec);
    else
        assert_string_equal(spec, expected);
    free(spec);
}

static struct observation seen(int64_t result)
{
    struct observation observation = {.activations = 1};
    observation.observed =
        (struct observed_call){.began = true, .returned = true, .result = result};
    int64_t *added = ARRAY_ADD(&observation.observed.results);
    *added = result;
    return observation;
}

static void add_call(struct observation *observation, const char *function, uint64_t first,
                     uint64_t order)
{
    struct inner_call *call = ARRAY_ADD(&observation->observed.calls);
    *call = (struct inner_call){.function = strdup(function),
                                .module = strdup("/lib/libf.so"),
                                .symbol = strdup("inner"),
                                .offset = 0x100 * order,
                                .first = first,
                                .count = 1,
                                .order = order};
}

static void take(void *prover, struct observation observation, bool shows)
{
    ok(library_proof.take(prover, &observation, shows));
    observation_deinit(&observation);
}

static void a_cause_is_found(void **state)
{
    (void)state;
    void *prover = begin_usual(STORE_BASIS_INPUT);
    struct observation first = seen(0x5000);
    add_call(&first, "malloc", 1, 1);
    expect_next(prover, OBSERVING);
    take(prover, first, false);
    expect_next(prover, OBSERVING " then malloc=NULL/ENOMEM when inside and match == 1");
    take(prover, seen(0), true);
    expect_next(prover, NULL);
    struct proof_result result = library_proof.result(prover);
    assert_int_equal(result.proof, STORE_PROOF_CAUSED);
    assert_int_equal(result.tries, 2);
    assert_string_equal(result.call, "malloc");
    assert_string_equal(result.error, "ENOMEM");
    assert_string_equal(result.caller, "inner");
    assert_string_equal(result.returned, "NULL");
    assert_false(result.lasting);
    library_proof.end(prover);
}

// What is called after a failed call, and may fail for the same reason, fails with it.
static void later_calls_fail_too(void **state)
{
    (void)state;
    void *prover = begin_usual(STORE_BASIS_CALLS);
    struct observation first = seen(0x5000), second = seen(0x5000);
    add_call(&first, "malloc", 2, 1);
    add_call(&second, "malloc", 2, 1);
    add_call(&second, "open", 1, 2); // not because memory is short
    add_call(&second, "calloc", 3, 3);
    expect_next(prover, OBSERVING);
    take(prover, first, false);
    expect_next(prover, OBSERVING " then malloc=NULL/ENOMEM when inside and match == 2");
    take(prover, second, false);
    expect_next(prover, OBSERVING " then malloc=NULL/ENOMEM when inside and match >= 2"
                                  " then calloc=NULL/ENOMEM when inside and match >= 3");
    take(prover, seen(-1), true);
    expect_next(prover, NULL);
    struct proof_result result = library_proof.result(prover);
    assert_int_equal(result.proof, STORE_PROOF_CAUSED);
    assert_true(result.lasting);
    assert_string_equal(result.returned, "-1");
    library_proof.end(prover);
}

static void nothing_causes_it(void **state)
{
    (void)state;
    void *prover = begin_usual(STORE_BASIS_CALLS);
    struct observation first = seen(0x5000);
    add_call(&first, "malloc", 1, 1);
    add_call(&first, "strlen", 1, 2);
    expect_next(prover, OBSERVING);
    take(prover, first, false);
    expect_next(prover, OBSERVING " then malloc=NULL/ENOMEM when inside and match == 1");
    take(prover, seen(0x5000), false);
    expect_next(prover, NULL);
    assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_IMPOSSIBLE);
    library_proof.end(prover);
}

// A function with errors that are not tried may cause it with those: rare ones, signals, parts of a
// transfer, the third one; or it is the end of the input that does.
static void errors_that_are_left_out(void **state)
{
    (void)state;
    static const char *const calls[] = {"open",    "send",     "write",       "closedir",
                                        "usleep",  "fgets",    "getaddrinfo", "getc_unlocked",
                                        "regcomp", "getpwnam", "readdir64"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *prover = begin_usual(STORE_BASIS_CALLS);
        struct observation first = seen(0x5000);
        add_call(&first, calls[i], 1, 1);
        expect_next(prover, OBSERVING);
        take(prover, first, false);
        for (char *spec = NULL;;) {
            ok(library_proof.next(prover, &spec));
            if (spec == NULL)
                break;
            free(spec);
            take(prover, seen(0x5000), false);
        }
        assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_UNPROVEN);
        library_proof.end(prover);
    }
}

// The call can fail like that, but something else comes of it. If it changes its outputs, too, that
// is another failure.
static void the_failure_alone_is_caused(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *prover = i < 2 ? begin_usual(STORE_BASIS_CALLS)
                             : begin(STORE_BASIS_CALLS, "f=NULL, out(2:8)=0 when "
                                                        "caller(/bin/p+0x10) and once");
        struct observation first = seen(0x5000), second = seen(0);
        add_call(&first, "malloc", 1, 1);
        expect_next(prover, OBSERVING);
        take(prover, first, false);
        second.observed.changed = i == 0 ? 0 : 2;
        expect_next(prover, OBSERVING " then malloc=NULL/ENOMEM when inside and match == 1");
        take(prover, second, false);
        expect_next(prover, i == 1 ? NULL : "f=observe when caller(/bin/p+0x10)");
        if (i != 1)
            take(prover, seen(0x5000), false);
        assert_int_equal(library_proof.result(prover).proof,
                         i == 1 ? STORE_PROOF_IMPOSSIBLE : STORE_PROOF_UNPROVEN);
        library_proof.end(prover);
    }
}

static void what_is_seen_without_a_fault(void **state)
{
    (void)state;
    void *prover = begin_usual(STORE_BASIS_CALLS);
    expect_next(prover, OBSERVING);
    take(prover, seen(0x5000), true);
    expect_next(prover, NULL);
    assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_UNPROVEN);
    library_proof.end(prover);
}

// Where other things may decide, or not everything was tried, nothing is said to be impossible.
static void not_all_was_tried(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *prover = begin_usual(i == 0 ? STORE_BASIS_INPUT : STORE_BASIS_CALLS);
        struct observation first = seen(0x5000);
        expect_next(prover, OBSERVING);
        if (i == 1)
            first.observed.lost = true;
        if (i == 2)
            for (unsigned k = 1; k <= 9; k++)
                add_call(&first, "malloc", k, k);
        take(prover, first, false);
        for (unsigned k = 0; i == 2 && k < 8; k++) {
            char *spec = NULL;
            ok(library_proof.next(prover, &spec));
            assert_non_null(strstr(spec, "malloc"));
            free(spec);
            take(prover, seen(0x5000), false);
        }
        // All calls from there are looked at in the end.
        expect_next(prover, "f=observe when caller(/bin/p+0x10)");
        take(prover, seen(0x5000), false);
        expect_next(prover, NULL);
        assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_UNPROVEN);
        library_proof.end(prover);
    }
}

// That other calls return it proves nothing about this one.
static void an_ordinary_result_is_told(void **state)
{
    (void)state;
    void *prover = begin(STORE_BASIS_INPUT, "f=-1 when caller(/bin/p+0x10) and once");
    expect_next(prover, OBSERVING);
    take(prover, seen(5), false);
    expect_next(prover, "f=observe when caller(/bin/p+0x10)");
    take(prover, seen(0xffffffff), false); // an int; the upper half is zero
    expect_next(prover, NULL);
    struct proof_result result = library_proof.result(prover);
    assert_int_equal(result.proof, STORE_PROOF_UNPROVEN);
    assert_string_equal(result.returned, "-1");
    library_proof.end(prover);
}

static void what_was_not_hit_proves_nothing(void **state)
{
    (void)state;
    void *prover = begin_usual(STORE_BASIS_CALLS);
    struct observation none = {0};
    expect_next(prover, OBSERVING);
    take(prover, none, false);
    expect_next(prover, NULL);
    assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_UNPROVEN);
    library_proof.end(prover);
    prover = begin(STORE_BASIS_CALLS, "f=NULL when once then g=NULL when once");
    expect_next(prover, NULL);
    assert_int_equal(library_proof.result(prover).proof, STORE_PROOF_UNPROVEN);
    library_proof.end(prover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cause_is_found),
        cmocka_unit_test(later_calls_fail_too),
        cmocka_unit_test(nothing_causes_it),
        cmocka_unit_test(errors_that_are_left_out),
        cmocka_unit_test(the_failure_alone_is_caused),
        cmocka_unit_test(what_is_seen_without_a_fault),
        cmocka_unit_test(not_all_was_tried),
        cmocka_unit_test(an_ordinary_result_is_told),
        cmocka_unit_test(what_was_not_hit_proves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

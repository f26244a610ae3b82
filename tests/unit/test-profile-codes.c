// SPDX-License-Identifier: GPL-3.0-or-later
// Which positive numbers are codes of failures: those that something says so of, in the function,
// in others of the library, or in the names of an enumeration.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile-help.h"
#include "profile/failures.h"
#include "profile/header/declarations.h"
#include "profile/header/documented.h"

// ---- names of enumerations ----

static const char header[] =
    "typedef enum { X_OK, X_NO_MEMORY, X_MORE, X_TOO_BIG = 9, X_BIGGER, X_LATE = X_BIGGER + 4,\n"
    "               X_LATER, X_EARLY = -3, X_COMPLETE = 20 } x_status;\n"
    "x_status x_go(int number); typedef x_status x_other; x_other x_went(void);\n"
    "typedef enum { K_UNKNOWN, K_FILE, K_PIPE, K_NOWHERE = -1 } k_kind;\n"
    "k_kind k_of(int number); k_kind *k_all(void); int k_number(void);\n"
    "enum s_state { S_IDLE, S_ERR_LOST, S_ERROR_NONE, SBusy, SReadFailed };\n"
    "enum s_state s_next(void); struct s_state s_whole(void);\n"
    "typedef enum { Y_NO, Y_YES } y_answer; y_answer y_ask(void);\n"
    "typedef enum z_late z_late; enum z_late { Z_SUCCESS, Z_B, Z_C }; z_late z_do(void);\n"
    "enum { SOLE_ERROR = 1, SOLE_B, SOLE_C }; enum unknown u_do(void);\n"
    "typedef struct { int members, of, it; } w_thing; w_thing w_do(void);\n"
    "typedef enum { F_BOOT = 1, F_ROOT, F_SWAP, F_LAST = 9 } f_flag; f_flag f_of(int number);\n"
    "typedef enum { B_A = 1, B_B = 2, B_C = 4 } b_bits; b_bits b_of(int number);\n"
    "typedef enum { C_ERROR_A = 1, C_B, C_C } c_code; c_code c_do(int number);\n"
    "typedef enum { L_OK, L_ERROR = 0x7fffffffffffffff, L_NEXT, L_A = 1 } l_kind; l_kind "
    "l_do(void);\n"
    "typedef enum { O_A = 1, O_B, O_C, O_D = O_FIRST } o_kind; o_kind o_of(int number);\n";

static void test_enumerations(void **state)
{
    enum { SAYS = ENUMERATION_SILENT, FAILS = ENUMERATION_FAILURE, ANSWERS = ENUMERATION_ANSWER };
    static const struct {
        const char *function;
        int64_t number;
        int wanted;
    } rows[] = {
        {"x_go", 0, ANSWERS},      {"x_go", 1, FAILS},     {"x_go", 2, ANSWERS},
        {"x_go", 9, FAILS},        {"x_go", 10, FAILS},    {"x_go", 3, SAYS},
        {"x_go", 14, SAYS},        {"x_go", -3, FAILS},    {"x_go", 100, SAYS},
        {"x_go", INT64_MIN, SAYS}, {"x_went", 1, FAILS},   {"k_of", 0, SAYS},
        {"k_of", 1, ANSWERS},      {"k_of", -1, ANSWERS},  {"s_next", 0, SAYS},
        {"s_next", 1, FAILS},      {"s_next", 2, ANSWERS}, {"s_next", 3, SAYS},
        {"s_next", 4, FAILS},      {"z_do", 1, FAILS},     {"x_go", 20, SAYS},
        {"l_do", INT64_MAX, SAYS}, // nothing comes after the largest one
    };
    static const char *const none[] = {"k_all", "k_number", "s_whole", "u_do", "w_do", "missing"};
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    assert_null(declarations_parse(&declarations, header, strlen(header)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].function;
        const struct enumeration *found =
            declarations_enumeration(&declarations, name, strlen(name));
        assert_non_null(found);
        if ((int)enumeration_tells(found, rows[i].number) != rows[i].wanted)
            fail_msg("%s, %lld: not %d", name, (long long)rows[i].number, rows[i].wanted);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(declarations_enumeration(&declarations, none[i], strlen(none[i])));
    // Zero stands for none, if the members are 1, 2, 3.
    static const struct {
        const char *function;
        int64_t number;
        bool lacks;
    } members[] = {{"f_of", 0, true},  {"f_of", -1, true},  {"f_of", 2, false}, {"f_of", 99, false},
                   {"k_of", 5, false}, {"b_of", 0, false},  {"c_do", 0, false}, {"o_of", 0, false},
                   {"x_go", 5, false}, {"s_next", 7, false}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *name = members[i].function;
        const struct enumeration *found =
            declarations_enumeration(&declarations, name, strlen(name));
        assert_non_null(found);
        if (enumeration_lacks(found, members[i].number) != members[i].lacks)
            fail_msg("%s, %lld", name, (long long)members[i].number);
    }
    // A yes and a no tell nothing.
    const struct enumeration *two = declarations_enumeration(&declarations, "y_ask", 5);
    assert_non_null(two);
    assert_int_equal(enumeration_tells(two, 1), ENUMERATION_SILENT);
}

// Whether a number beside 0 is a failure of a function of some type.
static bool fails(const char *name, int64_t number, const struct enumeration *enumeration)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = DECLARED_NUMBER,
                                                        .enumeration = enumeration};
    _cleanup_(failures_deinit) struct failures failures = {0};
    const int64_t numbers[] = {0, number};
    for (size_t i = 0; i < 2; i++) {
        const struct return_outcome outcome = {
            .result = {.kind = VALUE_CONSTANT, .number = numbers[i]}, .after = OUTCOME_UNFORCED};
        assert_null(summary_add(&summary, &outcome));
    }
    assert_null(failures_of(&summary, HINT_MADE | HINT_ACTS | HINT_WORKS, name, &failures));
    for (size_t i = 0; i < failures.items.count; i++)
        if (failures.items.items[i].result.number == number)
            return failures.items.items[i].confidence >= FAILURE_LIKELY;
    return false;
}

static void test_named_results(void **state)
{
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    assert_null(declarations_parse(&declarations, header, strlen(header)));
    const struct enumeration *status = declarations_enumeration(&declarations, "x_go", 4);
    const struct enumeration *kind = declarations_enumeration(&declarations, "k_of", 4);
    assert_true(fails("f", 1, status));
    assert_false(fails("f", 2, status));
    assert_true(fails("f", -1, NULL));
    assert_false(fails("f", -1, kind));
    // What an error that was before is called says nothing about this call.
    assert_false(fails("f_get_error", 2, NULL) != fails("f_get_error", 2, status));
}

// ---- what other functions tell ----

static void write_some(FILE *file, const char *format, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_true(fprintf(file, format, i) > 0);
}

// A library with functions of which something is known, as many as are asked for, and the one in
// question.
static void check(const char *format, unsigned count, const char *asked, const char *name,
                  const char *wanted)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/judged.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("#include <stdlib.h>\nextern int sink; void touch(void); int work(void);\n"
                      "extern void *kept; extern long sum;\n",
                      file) >= 0);
    write_some(file, format, count);
    assert_true(fputs(asked, file) >= 0);
    assert_int_equal(fclose(file), 0);
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of("gcc -O2", directory, path, sizeof path, &item);
    expect(&item.profile, name, wanted);
    unlink(path);
    snprintf(path, sizeof path, "%s/judged.c", directory);
    unlink(path);
    rmdir(directory);
}

// Steps, counts and states look like codes.
static void test_proofs(void **state)
{
    static const char steps[] = "int go(int x) { touch(); sum += x;\n"
                                "    if (x == 7) return 1; if (x == 9) return 2; return 0; }\n";
    static const char proof[] =
        "int code%u(int x) { void *memory = malloc(x); if (memory == NULL) return 2;\n"
        "    kept = memory; touch(); if (x == 5) return 7; return 0; }\n";
    check(proof, 0, steps, "go", "");
    check(proof, 2, steps, "go", "");
    check(proof, 3, steps, "go", "2");
    check(proof, 1, "", "code0", "7 2");
}

// A number that is large for a code is one that many functions have.
static void test_large(void **state)
{
    static const char large[] = "int read%u(int x) { touch(); if (x == 9) return -1094995529;\n"
                                "    sum += x; return 0; }\n";
    check(large, 7, "", "read0", "");
    check(large, 8, "", "read0", "-1094995529");
}

// 0 or 1 may be the failure: the library tells which.
static void test_polarity(void **state)
{
    static const char put[] = "int put(int x) { touch(); sum += x; return x == 7; }\n";
    static const char ones[] = "int make%u(int x) { void *memory = malloc(x);\n"
                               "    if (memory == NULL) return 1; kept = memory; return 0; }\n";
    static const char zeros[] = "int make%u(int x) { void *memory = malloc(x);\n"
                                "    if (memory == NULL) return 0; kept = memory; return 1; }\n";
    check(ones, 0, put, "put", "0");
    check(ones, 3, put, "put", "");
    check(ones, 8, put, "put", "1");
    check(zeros, 8, put, "put", "0");
    // Zero is the success elsewhere, beside -1.
    static const char statuses[] =
        "int make%u(int x) { void *memory = malloc(x);\n"
        "    if (memory == NULL) return -1; kept = memory; return 0; }\n";
    check(statuses, 3, put, "put", "0");
    check(statuses, 4, put, "put", "");
    // Zero that follows a failure is one, unless that would be the only one of many functions.
    static const char plain[] = "__attribute__((noinline)) int make%u(int x) { touch();\n"
                                "    if (x == 9) return -1; sum += x; return 0; }\n";
    static const char after[] =
        "int waits(int x) { if (make0(x) < 0) return 0; touch(); return 1; }\n";
    check(plain, 1, after, "waits", "0");
    check(plain, 7, after, "waits", "0");
    check(plain, 8, after, "waits", "");
}

// One of the results is the success.
static void test_success_is_left(void **state)
{
    static const struct {
        unsigned documented;
        int64_t fails;
    } rows[] = {{0, 1}, {DOCUMENTED_POSITIVE_FAILS, 1}, {DOCUMENTED_ZERO_FAILS, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_(summary_deinit) struct summary summary = {.documented =
                                                                (uint16_t)rows[i].documented};
        _cleanup_(failures_deinit) struct failures failures = {0};
        for (int64_t number = 0; number < 3; number++) {
            const struct return_outcome outcome = {
                .result = {.kind = VALUE_CONSTANT, .number = number},
                .after = OUTCOME_UNFORCED | OUTCOME_AFTER_FAILURE,
                .sets_error = true,
                .error = {.kind = VALUE_CONSTANT, .number = ENOMEM}};
            assert_null(summary_add(&summary, &outcome));
        }
        assert_null(failures_of(&summary, HINT_MADE | HINT_ACTS | HINT_WORKS, "f", &failures));
        for (size_t k = 0; k < failures.items.count; k++) {
            const struct failure *failure = &failures.items.items[k];
            if (failure->confidence >= FAILURE_LIKELY)
                assert_true((failure->result.number == 0) == (rows[i].fails == 0));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumerations), cmocka_unit_test(test_named_results),
        cmocka_unit_test(test_proofs),       cmocka_unit_test(test_large),
        cmocka_unit_test(test_polarity),     cmocka_unit_test(test_success_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

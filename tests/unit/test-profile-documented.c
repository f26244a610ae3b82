// SPDX-License-Identifier: GPL-3.0-or-later
// What comments in headers say about results, which comment is about which function, and what that
// changes in what is called a failure.
#include "profile/header/documented.h"

#include "base/cleanup.h"
#include "profile/failures.h"
#include "profile/header/declarations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define Z  DOCUMENTED_ZERO_FAILS
#define N  DOCUMENTED_NEGATIVE_FAILS
#define P  DOCUMENTED_POSITIVE_FAILS
#define ZS DOCUMENTED_ZERO_SUCCEEDS
#define NS DOCUMENTED_NEGATIVE_SUCCEEDS
#define PS DOCUMENTED_POSITIVE_SUCCEEDS

static const struct {
    const char *comment;
    unsigned wanted;
} rows[] = {
    {"/** @return 0 on success, -1 on error */", ZS | N},
    {"/* Returns NULL if an error occurred. */", Z},
    {"/** @return zero if successful, otherwise a negative error code */", ZS | N},
    {"/** \\return \\c 0 on success.\n * \\return A negative error code on failure. */", ZS | N},
    {"/** @retval 0 success\n * @retval -1 failure, for less than 5 */", ZS | N},
    {"/* Returns: (transfer full): the object, or %NULL on error */", Z},
    {"/** @return TRUE on success, FALSE otherwise */", Z | PS},
    {"/** @return true if it succeeded */", Z | PS},
    {"/** @return EINA_TRUE if it is enabled, EINA_FALSE otherwise */", DOCUMENTED_TRUTH},
    {"/** @return the number of packets successfully sent */",
     DOCUMENTED_ANSWER | DOCUMENTED_COUNT},
    {"/** @return The delay */", DOCUMENTED_ANSWER},
    {"/** @return the size in bytes upon success, 0 otherwise */", Z},
    {"/** @return the handle if it is there, 0 otherwise */", Z},
    {"// On success, 0 is returned; on error, -1 is returned and errno set.", ZS | N},
    {"/* Return value: 0 if OK, else an error code */", ZS | DOCUMENTED_CODES},
    {"/** @return >= 0 on success, < 0 on failure */", ZS | PS | N},
    {"/** @return 0 on success, != 0 on failure */", ZS | P | N},
    {"/* Returns 1 on success and 0 on failure */", Z | PS},
    {"/* Returns: NULL when the iteration is finished */", ZS},
    {"/* Returns: a message, or NULL if it failed or ran out of messages */", 0},
    {"/** @returns 0 for success, non-0 for failure (out of range) */", ZS | P | N},
    {"/* returns 0 unless there is an error */", ZS},
    {"/** @return 0 if all went well, any other number tells where it went wrong */", ZS | P | N},
    {"/* Returns 0 if no errors occurred. If an error occurred, returns nonzero. */", ZS | P | N},
    {"/** @return 0, or a negative AVERROR */", N},
    {"/* Returns:\n *  0: success\n * -1: error */", ZS | N},
    {"/* Return values:\n *   0 - success\n *   -1 - failure */", ZS | N},
    {"/** @return\n *   On success - 0\n *   On error - 1 with error code set in x */", ZS | P},
    {"/* returns 1 on pass, 0 on fail, -1 on error */", N},
    {"/* returns 1 on pass, 0 on fail */", Z},
    {"/* If it succeeds, 0 is returned and x describes the error. */", ZS},
    {"/* @returns 1 if it was found (and removed), else 0. */", Z | PS},
    {"/* @returns 0 if an error was found, -1 if none is found */", Z},
    {"/* Returns 0 if the buffer was not large enough. */", Z},
    {"/* returns the length, or 0 if arguments are erroneous */", Z},
    {"/* return (1) if OK, (0) otherwise */", Z | PS},
    {"/** @return -EINVAL if it is wrong, 0 if not */", N},
    {"/** @retval X_OK done\n * @retval X_INVALID it was wrong */", 0},
    {"/** @return -1 on error\n * @since 0 fails */", N},
    {"/** @return -1 on error\n *\n * 0 fails. */", N},
    {"/* 0 on failure */", 0}, // it does not say that this is returned
    {"/** @return 0 on success or 0 on failure */", 0},
    {"", 0},
};

static void test_comments(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned found = documented_results(rows[i].comment, strlen(rows[i].comment));
        if (found != rows[i].wanted)
            fail_msg("%s: %#x, not %#x", rows[i].comment, found, rows[i].wanted);
    }
}

// Every prefix of every comment is read without harm: copies end where they end.
static void test_cut(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t size = 0; size <= strlen(rows[i].comment); size++) {
            _cleanup_free_ char *exact = malloc(size + 1);
            assert_non_null(exact);
            memcpy(exact, rows[i].comment, size);
            (void)documented_results(exact, size);
        }
}

static const char header[] = "namespace x { extern \"C\" {\n"
                             "/** @return -1 on error */\n"
                             "#ifdef X\n"
                             "X_API int x_marked(int a /* returns NULL on error */);\n"
                             "int x_next(void); // returns NULL on error\n"
                             "int x_trailed(void);\n"
                             "/* Returns NULL on error. */\n\n"
                             "void *x_apart(void);\n"
                             "/* Returns NULL on error. */\n"
                             "void *x_near(void);\n"
                             "// Returns NULL if it failed,\n"
                             "// -1 on error.\n"
                             "void *x_lines(void);\n"
                             "/** @return -1 on error */\n"
                             "#define X 1\n"
                             "int x_defined(void);\n"
                             "int x_behind(void); /**< @return -1 on error */\n"
                             "/**< @return -1 on error */\n"
                             "int x_member(void);\n"
                             "X_BEGIN_DECLS\n"
                             "/** @return -1 on error */\n"
                             "int x_begun(void);\n"
                             "size_t x_inside\t/* returns the length, */\n"
                             "\t\t/* or 0 if arguments are erroneous */\n(int a);\n"
                             "int x_parted /* return (1) if OK, (0) otherwise */\n"
                             "(int a /* returns -1 on error */);\n"
                             "void x_stop(void) { /* Returns -1 on error. */ }\n"
                             "int x_after(void);\n"
                             "typedef enum { x_error = -1, x_no, x_yes } x_bool;\n"
                             "typedef enum { y_no, y_yes } y_bool;\n"
                             "typedef enum { z_no, z_yes, z_perhaps } z_bool;\n"
                             "x_bool x_three(void); y_bool x_two(void); z_bool x_perhaps(void);\n"
                             "}}\n";

static void test_places(void **state)
{
    static const struct {
        const char *name;
        unsigned wanted;
    } functions[] = {{"x_marked", N},      {"x_next", 0},      {"x_trailed", 0}, {"x_apart", 0},
                     {"x_near", Z},        {"x_lines", Z | N}, {"x_defined", 0}, {"x_behind", 0},
                     {"x_member", 0},      {"x_begun", N},     {"x_missing", 0}, {"x_inside", Z},
                     {"x_parted", Z | PS}, {"x_after", 0}};
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    assert_null(declarations_parse(&declarations, header, strlen(header)));
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *name = functions[i].name;
        unsigned found = declarations_documented(&declarations, name, strlen(name));
        if (found != functions[i].wanted)
            fail_msg("%s: %#x, not %#x", name, found, functions[i].wanted);
    }
    // More than yes and no.
    assert_int_equal(declarations_find(&declarations, "x_three", 7), DECLARED_NUMBER);
    assert_int_equal(declarations_find(&declarations, "x_perhaps", 9), DECLARED_NUMBER);
    assert_int_equal(declarations_find(&declarations, "x_two", 5), DECLARED_TRUTH);
}

// Confidence of a number, beside a result that is not known if `open`. 0 if it is not named.
static unsigned confidence(const char *name, unsigned documented, enum declared_result declared,
                           int64_t number, bool returned, bool open)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = (uint8_t)declared,
                                                        .documented = (uint16_t)documented};
    _cleanup_(failures_deinit) struct failures failures = {0};
    const struct return_outcome outcomes[] = {
        {.result = {.kind = VALUE_CONSTANT, .number = returned ? number : 77}},
        {.result = {.kind = open ? VALUE_OTHER : VALUE_CONSTANT}}};
    for (size_t i = 0; i < 2; i++)
        assert_null(summary_add(&summary, &outcomes[i]));
    unsigned hints = hints_with_declaration(HINT_MADE | HINT_ACTS | HINT_WORKS, declared);
    assert_null(failures_of(&summary, hints, name, &failures));
    unsigned most = 0;
    for (size_t i = 0; i < failures.items.count; i++)
        if (failures.items.items[i].result.number == number &&
            failures.items.items[i].confidence > most)
            most = failures.items.items[i].confidence;
    return most;
}

static bool fails(const char *name, unsigned documented, enum declared_result declared,
                  int64_t number, bool open)
{
    return confidence(name, documented, declared, number, true, open) >= FAILURE_LIKELY;
}

// Whether 0 of a function is a failure that returns -1, too.
static bool check_fails(const char *name, unsigned documented)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = DECLARED_NUMBER,
                                                        .documented = (uint16_t)documented};
    _cleanup_(failures_deinit) struct failures failures = {0};
    for (int64_t number = -1; number < 2; number++) {
        const struct return_outcome outcome = {
            .result = {.kind = VALUE_CONSTANT, .number = number}};
        assert_null(summary_add(&summary, &outcome));
    }
    assert_null(failures_of(&summary, HINT_MADE | HINT_ACTS | HINT_WORKS, name, &failures));
    for (size_t i = 0; i < failures.items.count; i++)
        if (failures.items.items[i].result.number == 0)
            return failures.items.items[i].confidence >= FAILURE_LIKELY;
    return false;
}

static bool is_added(const char *name, unsigned documented, enum declared_result declared,
                     int64_t number, bool open)
{
    return confidence(name, documented, declared, number, false, open) >= FAILURE_LIKELY;
}

static void test_judgement(void **state)
{
    // Comments decide where code alone is taken for the opposite.
    assert_false(fails("f", 0, DECLARED_NUMBER, 0, true));
    assert_true(fails("f", Z, DECLARED_NUMBER, 0, true));
    assert_true(fails("f", 0, DECLARED_POINTER, 0, true));
    assert_false(fails("f", ZS, DECLARED_POINTER, 0, true));
    assert_true(fails("f", 0, DECLARED_NUMBER, 9, false));
    assert_false(fails("f", PS, DECLARED_NUMBER, 9, false));
    assert_false(fails("f", Z, DECLARED_NUMBER, 9, false)); // zero alone fails
    assert_true(fails("f", 0, DECLARED_NUMBER, -1, true));
    assert_false(fails("f", NS, DECLARED_NUMBER, -1, true));
    assert_true(fails("f_get", DOCUMENTED_CODES | ZS, DECLARED_NUMBER, 9, false));
    assert_true(fails("f_put", 0, DECLARED_TRUTH, 0, true));
    assert_false(fails("f_get", DOCUMENTED_TRUTH, DECLARED_TRUTH, 0, true));
    // No is the answer of a check that may fail as well.
    assert_false(check_fails("f_check", Z));
    assert_true(check_fails("f_open", Z));
    // A question is one, whatever the comment calls its answers.
    assert_false(fails("f_is_x", Z, DECLARED_NUMBER, 0, true));
    // A comment about an error that was before says nothing about this call.
    assert_false(fails("f_get_error", Z, DECLARED_NUMBER, 0, true));
    // What is not found in the code is added if there are results that are not known.
    assert_true(is_added("f", N, DECLARED_NUMBER, -1, true));
    assert_false(is_added("f", N, DECLARED_NUMBER, -1, false));
    assert_true(is_added("f", Z, DECLARED_POINTER, 0, true));
    assert_false(is_added("f", N, DECLARED_TRUTH, -1, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_judgement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

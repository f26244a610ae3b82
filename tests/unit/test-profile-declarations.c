// SPDX-License-Identifier: GPL-3.0-or-later
// Types of results from C headers, and what they change in what is called a failure.
#include "profile/header/declarations.h"

#include "base/cleanup.h"
#include "profile/failures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static enum declared_result result_of(const struct declarations *declarations, const char *name)
{
    return declarations_find(declarations, name, strlen(name));
}

static const char header[] =
    "#ifndef X_H /* int hidden(void); */\n"
    "#define API(type) extern type \\\n"
    "    int continued(void);\n"
    "#ifdef __cplusplus\n"
    "extern \"C\" {\n"
    "#endif\n"
    "G_BEGIN_DECLS\n"
    "typedef struct x_object { int (*read)(int); } x_object, *x_handle;\n"
    "typedef enum { X_GOOD, X_BAD } x_status;\n"
    "typedef unsigned long x_size;\n"
    "typedef x_size x_length;\n"
    "typedef int (*x_callback)(void *);\n"
    "typedef x_loop x_circle; typedef x_circle x_loop;\n"
    "void x_close(x_object *object);\n"
    "const char *x_name(const x_object *object) __attribute__((pure));\n"
    "X_AVAILABLE_IN_2_4\n"
    "gboolean x_ready(x_object *object) G_GNUC_WARN_UNUSED_RESULT;\n"
    "XPUBLIC int XCALL x_read(x_object *object, void (*done)(int));\n"
    "__attribute__((visibility(\"default\"))) x_status x_state(void);\n"
    "API(void) x_reset(void);\n"
    "API(char *) x_text(void);\n"
    "long long x_position(void); GType x_get_type(void);\n"
    "double x_scale(void);\n"
    "x_handle x_open(const char *path), *x_unclear(void);\n"
    "x_length x_measure(void);\n"
    "x_callback x_hook(void);\n"
    "x_object x_copy(void);\n"
    "x_loop x_endless(void);\n"
    "int (x_shielded)(int);\n"
    "static inline int x_inner(void) { void x_nested(int); return x_called(1); }\n"
    "#if 1\n"
    "int x_either(void);\n"
    "#else\n"
    "void x_either(void);\n"
    "#endif\n"
    "struct x_members { void x_member(int); };\n"
    "EAPI Eina_Bool x_named(void); GLvoid x_nothing(void); y_slong x_far(void);\n"
    "// void x_commented(void);\n"
    "extern int x_variable; other_type x_other(void);\n"
    "int x_quoted(const char *a, char b /* ')' ; */) __asm__(\"a;b\");\n"
    "#ifdef __cplusplus\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "int x_last(void);\n";

static void test_types(void **state)
{
    static const struct {
        const char *name;
        enum declared_result wanted;
    } rows[] = {
        {"x_close", DECLARED_VOID},       {"x_name", DECLARED_POINTER},
        {"x_ready", DECLARED_TRUTH},      {"x_read", DECLARED_NUMBER},
        {"x_state", DECLARED_NUMBER},     {"x_reset", DECLARED_VOID},
        {"x_text", DECLARED_POINTER},     {"x_position", DECLARED_LONG},
        {"x_scale", DECLARED_OTHER},      {"x_get_type", DECLARED_OTHER},
        {"x_open", DECLARED_POINTER},     {"x_measure", DECLARED_LONG},
        {"x_hook", DECLARED_POINTER},     {"x_copy", DECLARED_STRUCTURE},
        {"x_endless", DECLARED_UNKNOWN},  {"x_shielded", DECLARED_NUMBER},
        {"x_inner", DECLARED_NUMBER},     {"x_nested", DECLARED_UNKNOWN},
        {"x_called", DECLARED_UNKNOWN},   {"x_either", DECLARED_UNKNOWN},
        {"x_member", DECLARED_UNKNOWN},   {"x_named", DECLARED_TRUTH},
        {"x_nothing", DECLARED_VOID},     {"x_commented", DECLARED_UNKNOWN},
        {"x_variable", DECLARED_UNKNOWN}, {"x_other", DECLARED_UNKNOWN},
        {"x_quoted", DECLARED_NUMBER},    {"x_last", DECLARED_NUMBER},
        {"hidden", DECLARED_UNKNOWN},     {"continued", DECLARED_UNKNOWN},
    };
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    assert_null(declarations_parse(&declarations, header, strlen(header)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (result_of(&declarations, rows[i].name) != rows[i].wanted)
            fail_msg("%s: %d, not %d", rows[i].name, result_of(&declarations, rows[i].name),
                     rows[i].wanted);
    assert_int_equal(declarations_find(&declarations, "x_readXX", 6), DECLARED_NUMBER);
    assert_int_equal(declarations_find(&declarations, "x_rea", 5), DECLARED_UNKNOWN);
}

// Every prefix of a header, and every header with a byte removed, is read without harm.
static void test_broken(void **state)
{
    for (size_t size = 0; size < sizeof header; size++) {
        _cleanup_(declarations_deinit) struct declarations cut = {0}, damaged = {0};
        _cleanup_free_ char *text = malloc(sizeof header);
        assert_non_null(text);
        memcpy(text, header, size);
        _cleanup_free_ char *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, header, size);
        assert_null(declarations_parse(&cut, exact, size));
        memcpy(text + size, header + size + 1, sizeof header - 1 - size);
        assert_null(declarations_parse(&damaged, text, sizeof header - 2));
    }
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_directory(void **state)
{
    char directory[] = "/tmp/declarations.XXXXXX", path[64], below[48], other[64];
    assert_non_null(mkdtemp(directory));
    snprintf(below, sizeof below, "%s/below", directory);
    snprintf(path, sizeof path, "%s/a.h", below);
    snprintf(other, sizeof other, "%s/a.c", directory);
    assert_int_equal(mkdir(below, 0700), 0);
    put(path, "void a_h(void);");
    put(other, "void a_c(void);");
    _cleanup_(declarations_deinit) struct declarations all = {0}, one = {0}, none = {0};
    assert_null(declarations_read(&all, directory));
    assert_int_equal(result_of(&all, "a_h"), DECLARED_VOID);
    assert_int_equal(result_of(&all, "a_c"), DECLARED_UNKNOWN);
    assert_null(declarations_read(&one, other)); // a file is read whatever its name
    assert_int_equal(result_of(&one, "a_c"), DECLARED_VOID);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(rmdir(below), 0);
    assert_int_equal(rmdir(directory), 0);
    struct error *error = declarations_read(&none, directory);
    assert_non_null(error);
    error_free(error);
}

// Confidence of a constant result beside another constant, or beside none and one that is not
// known.
static unsigned confidence(const char *name, unsigned hints, enum declared_result declared,
                           int64_t result, const int64_t *beside)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = (uint8_t)declared};
    _cleanup_(failures_deinit) struct failures failures = {0};
    struct return_outcome outcomes[2] = {{.result = {.kind = VALUE_CONSTANT, .number = result}}};
    if (beside != NULL)
        outcomes[1].result = (struct value){.kind = VALUE_CONSTANT, .number = *beside};
    for (size_t i = 0; i < 2; i++)
        assert_null(summary_add(&summary, &outcomes[i]));
    hints = hints_with_declaration(hints, declared);
    assert_null(failures_of(&summary, hints, name, &failures));
    for (size_t i = 0; i < failures.items.count; i++)
        if (failures.items.items[i].result.number == result)
            return failures.items.items[i].confidence;
    return 0;
}

static void test_judgement(void **state)
{
    const int64_t zero = 0;
    const unsigned acts = HINT_MADE | HINT_ACTS | HINT_WORKS;
    assert_true(hints_say_void(hints_with_declaration(acts | HINT_USED, DECLARED_VOID)));
    assert_true(hints_say_void(hints_with_declaration(acts | HINT_USED, DECLARED_OTHER)));
    assert_false(hints_say_void(hints_with_declaration(HINT_CALLED, DECLARED_NUMBER)));
    assert_true(hints_say_pointer(hints_with_declaration(HINT_NARROW, DECLARED_POINTER)));
    assert_true(hints_say_narrow(hints_with_declaration(HINT_WIDE, DECLARED_NUMBER)));
    assert_true(hints_say_wide(hints_with_declaration(HINT_NARROW, DECLARED_LONG)));
    assert_false(hints_say_pointer(hints_with_declaration(HINT_DEREFERENCED, DECLARED_LONG)));
    // NULL beside what is not known: a failure of a pointer, an answer of a number.
    assert_true(confidence("f", acts, DECLARED_POINTER, 0, NULL) >= FAILURE_LIKELY);
    assert_true(confidence("f", acts | HINT_WIDE, DECLARED_NUMBER, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts | HINT_WIDE, DECLARED_UNKNOWN, 0, NULL) >= FAILURE_LIKELY);
    // A positive number beside zero: a code of an int, an answer of a long.
    assert_true(confidence("f", acts, DECLARED_NUMBER, 7, &zero) >= FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_LONG, 7, &zero) < FAILURE_LIKELY);
    // -1 stands for no pointer; other negative numbers do not.
    assert_true(confidence("f", acts, DECLARED_POINTER, -1, NULL) >= FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_POINTER, -2, NULL) < FAILURE_LIKELY);
    // Nothing but NULL: a function that is not implemented.
    assert_true(confidence("f", HINT_MADE, DECLARED_POINTER, 0, &zero) >= FAILURE_LIKELY);
    assert_true(confidence("f", HINT_MADE, DECLARED_NUMBER, 0, &zero) < FAILURE_LIKELY);
    // An int is no limit of a long.
    assert_true(confidence("f", acts, DECLARED_LONG, INT64_MIN, NULL) != 0);
    assert_true(confidence("f", acts, DECLARED_NUMBER, INT64_MIN, NULL) == 0);
    // A structure is no number.
    assert_true(confidence("f", acts | HINT_WIDE, DECLARED_STRUCTURE, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_STRUCTURE, -1, NULL) < FAILURE_LIKELY);
    // No of what does something, beside an answer that is not known.
    assert_true(confidence("f_send", acts, DECLARED_TRUTH, 0, NULL) >= FAILURE_LIKELY);
    assert_true(confidence("f_negotiate", acts, DECLARED_TRUTH, 0, NULL) >= FAILURE_LIKELY);
    assert_true(confidence("f_negotiate", acts, DECLARED_NUMBER, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_TRUTH, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f_is_x", acts, DECLARED_TRUTH, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_NUMBER, 0, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_TRUTH, -1, NULL) < FAILURE_LIKELY);
    assert_true(confidence("f", acts, DECLARED_NUMBER, -1, NULL) >= FAILURE_LIKELY);
}

// Confidence of 0 beside 1.
static unsigned no_confidence(const char *name, unsigned after, unsigned documented)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = DECLARED_TRUTH,
                                                        .documented = (uint16_t)documented};
    _cleanup_(failures_deinit) struct failures failures = {0};
    for (int64_t i = 0; i < 2; i++) {
        const struct return_outcome outcome = {.result = {.kind = VALUE_CONSTANT, .number = i},
                                               .after = i == 0 ? (uint16_t)after : 0};
        assert_null(summary_add(&summary, &outcome));
    }
    assert_null(failures_of(&summary, HINT_MADE | HINT_ACTS | HINT_WORKS, name, &failures));
    for (size_t i = 0; i < failures.items.count; i++)
        if (failures.items.items[i].result.number == 0)
            return failures.items.items[i].confidence;
    return 0;
}

// What no may mean besides a failure: nothing changed, or what was checked is not valid.
static void test_no(void **state)
{
    const unsigned misuse = OUTCOME_MISUSE | OUTCOME_PROPER | OUTCOME_UNFORCED;
    assert_true(no_confidence("f_set_state", OUTCOME_UNFORCED, 0) >= FAILURE_LIKELY);
    assert_true(no_confidence("f_set_state", misuse, 0) < FAILURE_LIKELY);
    assert_true(no_confidence("f_send", misuse, 0) >= FAILURE_LIKELY);
    assert_true(no_confidence("f_set_state", misuse | OUTCOME_AFTER_REPORT, 0) >= FAILURE_LIKELY);
    assert_true(no_confidence("f_send", OUTCOME_UNFORCED, DOCUMENTED_ZERO_FAILS) == 75);
    assert_true(no_confidence("f_check", OUTCOME_UNFORCED, DOCUMENTED_ZERO_FAILS) < FAILURE_LIKELY);
    const unsigned fails = OUTCOME_UNFORCED | OUTCOME_AFTER_FAILURE;
    assert_true(no_confidence("f_check", fails, DOCUMENTED_ZERO_FAILS) >= FAILURE_LIKELY);
}

// That nothing says whether 0 or 1 is a failure is told, unless it is an int.
static void test_undecided(void **state)
{
    static const struct {
        const char *name;
        enum declared_result declared;
        bool unknown;
    } rows[] = {{"f_break", DECLARED_TRUTH, true},
                {"f_break", DECLARED_UNKNOWN, true},
                {"f_break", DECLARED_NUMBER, false},
                {"f_is_it", DECLARED_TRUTH, false},
                {"f_write", DECLARED_TRUTH, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        _cleanup_(summary_deinit) struct summary summary = {.declared = (uint8_t)rows[i].declared};
        _cleanup_(failures_deinit) struct failures failures = {0};
        for (int64_t number = 0; number < 2; number++) {
            const struct return_outcome outcome = {
                .result = {.kind = VALUE_CONSTANT, .number = number}, .after = OUTCOME_UNFORCED};
            assert_null(summary_add(&summary, &outcome));
        }
        const unsigned acts = HINT_MADE | HINT_ACTS | HINT_WORKS;
        assert_null(failures_of(&summary, hints_with_declaration(acts, rows[i].declared),
                                rows[i].name, &failures));
        if ((failures.unknown != NULL) != rows[i].unknown)
            fail_msg("%s: %s", rows[i].name, failures.unknown);
    }
}

// The steps of an iteration are numbered: cmark_iter_next().
static void test_steps(void **state)
{
    const int64_t zero = 0;
    const unsigned acts = HINT_MADE | HINT_ACTS | HINT_WORKS;
    assert_true(confidence("f_go", acts, DECLARED_NUMBER, 7, &zero) >= FAILURE_LIKELY);
    assert_true(confidence("f_next", acts, DECLARED_NUMBER, 7, &zero) >= FAILURE_LIKELY);
    const int64_t two = 2;
    assert_true(confidence("f_next", acts, DECLARED_NUMBER, 1, &two) < FAILURE_LIKELY);
}

// Whether 0 beside what is not known is a failure.
static bool zero_fails(const char *name, unsigned hints, enum declared_result declared,
                       unsigned after, bool through_pointer)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = (uint8_t)declared,
                                                        .through_pointer = through_pointer};
    _cleanup_(failures_deinit) struct failures failures = {0};
    const struct return_outcome outcomes[] = {
        {.result = {.kind = VALUE_CONSTANT}, .after = (uint16_t)(after | OUTCOME_UNFORCED)},
        {.result = {.kind = VALUE_OTHER}}};
    for (size_t i = 0; i < 2; i++)
        assert_null(summary_add(&summary, &outcomes[i]));
    hints = hints_with_declaration(HINT_MADE | HINT_ACTS | HINT_WORKS | hints, declared);
    assert_null(failures_of(&summary, hints, name, &failures));
    return failures.items.count != 0 && failures.items.items[0].confidence >= FAILURE_LIKELY;
}

static void test_zero(void **state)
{
    const unsigned failed = OUTCOME_AFTER_FAILURE;
    // A number that follows failures stands for none, unless what a pointer leads to may give it.
    assert_true(zero_fails("f", 0, DECLARED_NUMBER, failed, false));
    assert_false(zero_fails("f", 0, DECLARED_NUMBER, failed, true));
    // What is looked for may not be there.
    assert_true(zero_fails("row_find", 0, DECLARED_NUMBER, 0, false));
    assert_false(zero_fails("row_count", 0, DECLARED_NUMBER, 0, false));
    assert_true(zero_fails("row_get_by_name", 0, DECLARED_NUMBER, 0, false));
    assert_false(zero_fails("row_get_by_name_size", 0, DECLARED_NUMBER, 0, false));
    assert_false(zero_fails("row_get_name", 0, DECLARED_NUMBER, 0, false));
    // Who reports an error returns what it likes.
    assert_true(zero_fails("agers", 0, DECLARED_NUMBER, failed, false));
    assert_false(zero_fails("agerr", 0, DECLARED_NUMBER, failed, false));
    // One thing after the other is taken out. A property is not there for what is no such object.
    assert_false(zero_fails("list_drain", HINT_CHANGES, DECLARED_POINTER, 0, false));
    assert_false(zero_fails("slot_get_bus", HINT_CHANGES, DECLARED_POINTER, 0, false));
    assert_true(zero_fails("slot_get_bus", HINT_CHANGES | HINT_KEY(2), DECLARED_POINTER, 0, false));
    // No of a property that has no key is an answer.
    assert_false(zero_fails("slot_cork_get", 0, DECLARED_TRUTH, failed, false));
    assert_false(zero_fails("slot_cork_get", HINT_KEY(2), DECLARED_TRUTH, failed, true));
    assert_true(zero_fails("slot_cork_get", HINT_KEY(2), DECLARED_TRUTH, failed, false));
    assert_true(zero_fails("slot_cork", 0, DECLARED_TRUTH, failed, true));
}

// Whether NULL fails, if it is all that a function with a pointer for its result returns.
static bool null_fails(enum declared_result declared, unsigned after)
{
    _cleanup_(summary_deinit) struct summary summary = {.declared = (uint8_t)declared};
    _cleanup_(failures_deinit) struct failures failures = {0};
    const struct return_outcome outcome = {.result = {.kind = VALUE_CONSTANT},
                                           .after = (uint16_t)(after | OUTCOME_UNFORCED)};
    assert_null(summary_add(&summary, &outcome));
    unsigned hints = hints_with_declaration(HINT_MADE | HINT_ACTS | HINT_WORKS, declared);
    assert_null(failures_of(&summary, hints, "thing_get_key", &failures));
    return failures.items.count != 0 && failures.items.items[0].confidence >= FAILURE_LIKELY;
}

// That something is not implemented is reported.
static void test_stub(void **state)
{
    assert_true(null_fails(DECLARED_POINTER, OUTCOME_AFTER_REPORT));
    assert_false(null_fails(DECLARED_POINTER, 0));
    assert_false(null_fails(DECLARED_NUMBER, OUTCOME_AFTER_REPORT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),     cmocka_unit_test(test_broken),
        cmocka_unit_test(test_directory), cmocka_unit_test(test_judgement),
        cmocka_unit_test(test_no),        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_stub),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

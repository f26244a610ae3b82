// SPDX-License-Identifier: GPL-3.0-or-later
// Corruption profiles: what is written is read back the same, and nothing else is read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "interface/accesses.h"
#include "interface/corruption.h"

#include <stdio.h>
#include <string.h>

static const char all[] =
    "call deflate 12 unfinished\n"
    "result 4 0 ffffffff zero minus-one\n"
    "memory wrong-value arg1+48>-8>+0 8 1 2 small pointer-other-area HEAP-a.c:3+10\n"
    "memory omitted-store result+0 64 0 0 null text STACK+8\n"
    "memory spurious-store - 1 ff 0 other pointer-same-area GLOBAL-x+0\n"
    "more 700\n"
    "bytes 00000000000000ff -8 16\n";

static void test_round_trip(void **state)
{
    struct corruption corruption;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    assert_null(corruption_read("x", 1, all, strlen(all), &corruption));
    assert_int_equal(corruption.memory.count, 3);
    assert_int_equal(corruption.memory.items[0].path.steps, 3);
    assert_int_equal(corruption.memory.items[0].path.offsets[1], -8);
    assert_null(corruption_write(&corruption, &text));
    assert_string_equal(text.data, all);
    corruption_deinit(&corruption);
}

// Names of templates, and of symbols that somebody has given a blank.
static void test_names(void **state)
{
    char name[INTERFACE_TEXT_LIMIT + 1], area[INTERFACE_TEXT_LIMIT + 32], blank[] = "operator new",
                                                                          none[] = "";
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(area, sizeof area, "GLOBAL-%s+ffffffff", name);
    struct corruption_memory memory = {.path = {.root = 5, .steps = CORRUPTION_STEPS},
                                       .size = 64,
                                       .old = UINT64_MAX,
                                       .new = UINT64_MAX,
                                       .old_class = CLASS_POINTER_OTHER,
                                       .new_class = CLASS_POINTER_OTHER,
                                       .area = area};
    for (unsigned i = 0; i < CORRUPTION_STEPS; i++)
        memory.path.offsets[i] = INT32_MIN + 1;
    struct {
        char *name;
        const char *read;
    } rows[] = {{name, name}, {blank, "operator?new"}, {none, "?"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct corruption written = {.function = rows[i].name,
                                           .number = UINT64_MAX,
                                           .unfinished = true,
                                           .memory = {.items = &memory, .count = 1}};
        struct corruption read;
        _cleanup_(buffer_deinit) struct buffer text = {0};
        assert_null(corruption_write(&written, &text));
        struct error *error = corruption_read("x", 1, text.data, text.size, &read);
        if (error != NULL)
            fail_msg("%s", error_message(error));
        assert_string_equal(read.function, rows[i].read);
        assert_string_equal(read.memory.items[0].area, area);
        corruption_deinit(&read);
    }
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "result 4 0 1 zero small\n", // before the call
        "call f\n",
        "call f 0\n",
        "call f 1 2\n",
        "call f 1\ncall g 1\n",
        "call f 1\nresult 9 0 1 zero small\n",
        "call f 1\nresult 4 0 1 zero tiny\n",
        "call f 1\nresult 4 0 10000000000000000 zero small\n",
        "call f 1\nmemory wrong-value arg7+0 8 0 0 zero zero x\n", // there are six
        "call f 1\nmemory wrong-value arg1 8 0 0 zero zero x\n",
        "call f 1\nmemory wrong-value arg1+0> 8 0 0 zero zero x\n",
        "call f 1\nmemory wrong-value arg1+1>+1>+1>+1>+1 8 0 0 zero zero x\n",
        "call f 1\nmemory wrong-value arg1+99999999999 8 0 0 zero zero x\n",
        "call f 1\nmemory wrong-value arg1+0 65 0 0 zero zero x\n",
        "call f 1\nmemory wrong-result arg1+0 8 0 0 zero zero x\n",
        "call f 1\nmemory wrong-value arg1+0 8 0 0 zero zero x y\n",
        "call f 1\nbytes 0 x 1\n",
        "call f 1\nsomething\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct corruption corruption;
        struct error *error = corruption_read("x", 1, texts[i], strlen(texts[i]), &corruption);
        if (error == NULL)
            fail_msg("accepted: %s", texts[i]);
        error_free(error);
    }
}

static void test_accesses(void **state)
{
    static const char text[] = "1 -8 0 3\n1 0 4 1\n2 0 8 9\n";
    struct accesses accesses;
    _cleanup_(buffer_deinit) struct buffer written = {0};
    assert_null(accesses_read(text, strlen(text), &accesses));
    assert_null(accesses_write(&accesses, &written));
    assert_string_equal(written.data, text);
    accesses_deinit(&accesses);
    static const char *const bad[] = {"1 0 0 3\n",
                                      "1 0 8 3\n1 4 9 1\n",
                                      "2 0 1 1\n1 0 1 1\n",
                                      "1 -9223372036854775808 9223372036854775807 1\n",
                                      "1 -2305843009213693953 0 1\n",
                                      "1 0 1 9223372036854775808\n",
                                      "1 0 1 0\n",
                                      "x\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error *error = accesses_read(bad[i], strlen(bad[i]), &accesses);
        assert_non_null(error);
        error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_names), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

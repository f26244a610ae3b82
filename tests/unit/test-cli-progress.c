// SPDX-License-Identifier: GPL-3.0-or-later
// The bar fits, whatever the width; the log's line says the same.
#include "cli/campaign/progress.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct campaign_progress example(void)
{
    struct campaign_progress now = {
        .phase = "trials", .done = 250, .planned = 1000, .elapsed_s = 10, .left_s = 3725};
    now.verdicts[VERDICT_CRASH] = 3;
    now.verdicts[VERDICT_PASS] = 240;
    now.verdicts[VERDICT_NOT_ACTIVATED] = 7;
    return now;
}

static void bar_is(const struct campaign_progress *now, unsigned width, const char *expected)
{
    struct buffer text = {0};
    assert_null(progress_bar(now, width, false, &text));
    assert_string_equal(text.data, expected);
    buffer_deinit(&text);
}

static void test_line(void **state)
{
    struct campaign_progress now = example();
    struct buffer text = {0};
    assert_null(progress_line(&now, &text));
    assert_string_equal(text.data,
                        "250/1000 trials  3 crash  240 pass  7 not-activated  1:02:05 left");
    buffer_deinit(&text);
}

static void test_bar(void **state)
{
    struct campaign_progress now = example();
    bar_is(&now, 100,
           "[=======>                      ] 250/1000 trials  3 crash  240 pass  7 not-activated"
           "  1:02:05 left");
    bar_is(&now, 80,
           "[===>        ] 250/1000 trials  3 crash  240 pass  7 not-activated  1:02:05 left");
    bar_is(&now, 70, "250/1000 trials  3 crash  240 pass  7 not-activated  1:02:05 left");
    bar_is(&now, 40, "250/1000 trials  1:02:05 left");
    bar_is(&now, 10, "250/1000 t");
    now.planned = 0;
    now.left_s = -1;
    bar_is(&now, 100, "250 trials  3 crash  240 pass  7 not-activated");
    now = (struct campaign_progress){.phase = "reference", .done = 1, .planned = 5, .left_s = -1};
    bar_is(&now, 22, "reference run 2 of 5");
}

static void test_widths(void **state)
{
    struct campaign_progress now = example();
    for (unsigned width = 1; width < 200; width++)
        for (int colour = 0; colour < 2; colour++) {
            struct buffer text = {0};
            assert_null(progress_bar(&now, width, colour, &text));
            size_t columns = text.size;
            for (const char *at = text.data; (at = strchr(at, '\033')) != NULL; at++)
                columns -= strcspn(at, "m") + 1;
            assert_true(columns <= width);
            assert_int_equal(strstr(text.data, "\033[") != NULL,
                             colour && strstr(text.data, "crash") != NULL);
            buffer_deinit(&text);
        }
}

static void wraps_to(const char *line, const char *expected)
{
    struct buffer one = {0}, text = {0};
    assert_null(buffer_append(&one, line, strlen(line)));
    assert_null(progress_wrap(&one, 20, &text));
    assert_string_equal(text.data, expected);
    buffer_deinit(&text);
    buffer_deinit(&one);
}

static void test_wrap(void **state)
{
    wraps_to("F1 crash: short", "F1 crash: short");
    wraps_to("F1 crash: exactly 20", "F1 crash: exactly 20");
    wraps_to("F1 crash: SIGSEGV in copy after read fails",
             "F1 crash: SIGSEGV in\n    copy after read\n    fails");
    wraps_to("F1 /a/path/that/is/wider/than/the/terminal x",
             "F1\n    /a/path/that/is/wider/than/the/terminal\n    x");
}

// They are counted together: none may come while another is handled.
static void test_signals(void **state)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct progress *progress = NULL;
    for (size_t i = 0; i < 3; i++)
        signal(caught[i], SIG_DFL);
    assert_null(progress_new(true, &progress));
    for (size_t i = 0; i < 3; i++) {
        struct sigaction action;
        assert_int_equal(sigaction(caught[i], NULL, &action), 0);
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(sigismember(&action.sa_mask, caught[j]), 1);
    }
    progress_free(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line), cmocka_unit_test(test_bar),     cmocka_unit_test(test_widths),
        cmocka_unit_test(test_wrap), cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

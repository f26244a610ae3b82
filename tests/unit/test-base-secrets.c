// SPDX-License-Identifier: GPL-3.0-or-later
// Which variables hold secrets, and the filter that hides them and puts them back.
#include "trial-help.h"

#include "base/quote.h"
#include "base/secrets.h"

static int forget(void **state)
{
    secrets_forget();
    return 0;
}

static void names(void **state)
{
    static const struct {
        const char *name;
        bool secret;
    } cases[] = {
        {"GITHUB_TOKEN", true},
        {"ACTIONS_ID_TOKEN_REQUEST_TOKEN", true},
        {"PGPASSWORD", true},
        {"MYSQL_PWD", true},
        {"AWS_SECRET_ACCESS_KEY", true},
        {"SIGNING_KEY", true},
        {"OPENAI_API_KEY", true},
        {"openai_apikey", true},
        {"NPM_AUTH", true},
        {"CREDENTIALS", true},
        {"DB_PASS", true},
        {"SENTRY_DSN", true},
        {"GIT_AUTHOR_NAME", false},
        {"KEYBOARD", false},
        {"COMPASS", false},
        {"PWD", false},
        {"OLDPWD", false},
        {"EDITOR", false},
        {"PATTERN", false},
        {"", false},
        {"_", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (variable_looks_secret(cases[i].name, strlen(cases[i].name)) != cases[i].secret)
            fail_msg("%s", cases[i].name);
    assert_true(variable_is_public("PATH", 4) && variable_is_public("LC_ALL", 6));
    assert_false(variable_is_public("PATHS", 5) || variable_is_public("PAT", 3) ||
                 variable_is_public("LC_", 3) || variable_is_public("LD_PRELOAD", 10));
}

static void learn(const char *variable, const char *mark, const char *kept)
{
    char *variables[] = {(char *)variable, NULL};
    struct words marks = {0}, keeps = {0};
    if (mark != NULL)
        must(words_add(&marks, mark, strlen(mark)));
    if (kept != NULL)
        must(words_add(&keeps, kept, strlen(kept)));
    must(secrets_learn(variables, &marks, &keeps));
    words_deinit(&marks);
    words_deinit(&keeps);
}

static void masks(const char *text, const char *expected)
{
    for (int times = 0; times < 2; times++) { // what is masked stays as it is
        char *copy = strdup(times == 0 ? text : expected);
        must(secrets_mask(&copy));
        assert_string_equal(copy, expected);
        free(copy);
    }
}

static void restores(const char *text, const char *expected)
{
    char *copy = strdup(text);
    must(secrets_restore(&copy));
    assert_string_equal(copy, expected);
    free(copy);
}

static void values(void **state)
{
    learn("A_TOKEN=abcdefgh", NULL, NULL);
    learn("B_TOKEN=abcdefghij", NULL, NULL);
    learn("SHORT_TOKEN=abc", NULL, NULL);
    learn("PLAIN=not-a-secret", NULL, NULL);
    learn("MARKED=1234", "MARK*", NULL);
    learn("KEPT_TOKEN=value-of-kept", NULL, "KEPT_TOKEN");
    learn("PLACE_KEY=/etc/passwd", NULL, NULL);
    learn("OTHER_KEY=/no such file/", NULL, NULL);
    learn("SELF_TOKEN=SELF_TOKEN", NULL, NULL);
    learn("NAME_TOKEN=B_TOKEN>", NULL, NULL);
    learn("LINK=https://user:word-pass@host/x", NULL, NULL);
    learn("PAGE=https://host:8080/", NULL, NULL);
    learn("TWO_TOKEN=abcdefgh", NULL, NULL); // the first name stands for it
    masks("abcdefghij abcdefgh abcdefg", "<secret:B_TOKEN> <secret:A_TOKEN> abcdefg");
    masks("xabcdefghabcdefghx", "x<secret:A_TOKEN><secret:A_TOKEN>x");
    masks("abc not-a-secret 1234 value-of-kept", "abc not-a-secret <secret:MARKED> value-of-kept");
    masks("/etc/passwd, /no such file/", "/etc/passwd, <secret:OTHER_KEY>");
    masks("SELF_TOKEN", "SELF_TOKEN");
    masks("https://user:word-pass@host/x https://host:8080/", "<secret:LINK> https://host:8080/");
    masks("", "");
    assert_true(secrets_has("SHORT_TOKEN", 11) && !secrets_has("PLAIN", 5));
    restores("<secret:B_TOKEN><secret:<secret:A_TOKEN>", "abcdefghij<secret:abcdefgh");
    restores("<secret:> <secret:A TOKEN> <secret:A_TOKEN",
             "<secret:> <secret:A TOKEN> <secret:A_TOKEN");
    char *text = strdup("<secret:NOBODY_HAS_IT>");
    must_say(secrets_restore(&text), "set NOBODY_HAS_IT in the environment");
    free(text);
}

static void lines(void **state)
{
    learn("PEM_KEY=-----BEGIN-----\nabcdefghijkl\nshort\nmnopqrstuvwx", NULL, NULL);
    masks("-----BEGIN-----\nabcdefghijkl\nshort\nmnopqrstuvwx", "<secret:PEM_KEY>");
    masks("read mnopqrstuvwx, abcdefghijkl", "read <secret:PEM_KEY:4>, <secret:PEM_KEY:2>");
    restores("<secret:PEM_KEY:4> <secret:PEM_KEY:9>", "mnopqrstuvwx ");
}

static void edges(void **state)
{
    learn("A_TOKEN=abcdefgh", NULL, NULL);
    assert_int_equal(secrets_whole("xx abcdefg", 10), 3);
    assert_int_equal(secrets_whole("xx abcd", 7), 3);
    assert_int_equal(secrets_whole("xx abc", 6), 6);
    assert_int_equal(secrets_whole("bcdefgh", 7), 7);
    assert_int_equal(secrets_whole("", 0), 0);
    // Masked first, cut afterwards.
    struct buffer text = {0};
    must(quote_put(&text, "0123456789abcdefgh", 18, 14));
    assert_null(strstr(text.data, "abc"));
    buffer_deinit(&text);
}

static void shell(void **state)
{
    learn("A_TOKEN=ab'c d$e f", NULL, NULL);
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"Bearer ab'c d$e f", "'Bearer '\"$A_TOKEN\""},
        {"ab'c d$e f", "\"$A_TOKEN\""},
        {"<secret:A_TOKEN>x", "\"$A_TOKEN\"x"},
        {"", "''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        must(secrets_put_shell_word(&text, cases[i][0]));
        assert_string_equal(text.data, cases[i][1]);
        buffer_deinit(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test_teardown(values, forget),
        cmocka_unit_test_teardown(lines, forget),
        cmocka_unit_test_teardown(edges, forget),
        cmocka_unit_test_teardown(shell, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Regular expressions for names of functions match what those of the C library match.
#include "wire/name-regex.h"

#include "trial-help.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    "",     "read",  "pread64", "write", "malloc", "__read_chk",  "fopen64", "aab", "ab",
    "abab", "aaaab", "b",       "x.y",   "a-b",    "SSL_read_ex", "]",       "^",   "ca",
};

static void agree(const char *expression)
{
    char pattern[300];
    regex_t compiled;
    assert_int_equal(regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB), 0);
    snprintf(pattern, sizeof pattern, "/%s/", expression);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool bad, wanted = regexec(&compiled, names[i], 0, NULL, 0) == 0,
                  found = wire_regex_match(pattern, names[i], &bad);
        if (bad || found != wanted)
            fail_msg("/%s/ and '%s': %d instead of %d%s", expression, names[i], found, wanted,
                     bad ? ", refused" : "");
    }
    regfree(&compiled);
}

static void known_expressions(void **state)
{
    (void)state;
    static const char *const expressions[] = {
        "read",      "^read",      "read$",     "^read$",  "^(read|write)",
        "re?ad",     "a+b$",       "^(a|b)*$",  "^(ab)+$", "x\\.y",
        "x.y",       "[a-c]$",     "[^a-z]",    "[]]",     "^_*read.*",
        "(_ex|64)$", "^((a)+b)*$", ".",         "^$",      "a|^b",
        "(a*)*b",    "[a-]",       "^(a*|b)+$", "\\^",     "(a|ab)(b|)$",
    };
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        agree(expressions[i]);
}

// Of whatever letters, as long as the C library takes it and it is none of what is not supported.
static void random_expressions(void **state)
{
    (void)state;
    static const char letters[] = "ab.*+?|()^$[]r";
    unsigned tried = 0;
    srandom(1);
    for (unsigned i = 0; i < 200000 && tried < 3000; i++) {
        char expression[12], pattern[16];
        size_t size = 1 + (size_t)random() % 8;
        for (size_t j = 0; j < size; j++)
            expression[j] = letters[(size_t)random() % (sizeof letters - 1)];
        expression[size] = '\0';
        snprintf(pattern, sizeof pattern, "/%s/", expression);
        bool bad;
        wire_regex_match(pattern, "", &bad); // never reads beyond its end
        regex_t compiled;
        if (bad || regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) != 0)
            continue;
        regfree(&compiled);
        agree(expression);
        tried++;
    }
    assert_true(tried >= 1000);
}

static void refused(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "/",     "//",   "/a",   "/(/",    "/)/",
        "/a)/",  "/[a/", "/*a/", "/a{2}/", "/(((((((((a)))))))))/",
        "/a\\/", "/a|*/"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        bool bad;
        assert_false(wire_regex_match(patterns[i], "a", &bad));
        if (!bad)
            fail_msg("%s is taken", patterns[i]);
    }
    char longest[400], name[600];
    memset(longest, 'a', sizeof longest);
    longest[0] = longest[398] = '/';
    longest[399] = '\0';
    memset(name, 'a', sizeof name - 1);
    name[599] = '\0';
    bool bad;
    assert_false(wire_regex_match(longest, name, &bad));
    assert_true(bad);
    assert_false(wire_regex_fits("/a/", name)); // no function has such a name
    assert_false(wire_is_regex("/usr/lib/*"));
    assert_false(wire_is_regex("read"));
    assert_true(wire_is_regex("/read/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_expressions),
        cmocka_unit_test(random_expressions),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

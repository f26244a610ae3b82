// SPDX-License-Identifier: GPL-3.0-or-later
// What functions of a library come back with, for code whose truth is known, as gcc and clang
// compile it at every level.
#include "profile/library.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "#include <errno.h>\n"
    "#include <stdlib.h>\n"
    "#include <unistd.h>\n"
    "#define APART __attribute__((noinline, noclone))\n"
    "volatile int sink;\n"
    "int plain(int x) { if (x < 0) return -1; return x; }\n"
    "APART int invalid(int x) { if (x == 3) { errno = EINVAL; return -1; } sink = x; return 0; }\n"
    "int chained(int x) { if (invalid(x) < 0) return -2; sink = 1; return 0; }\n"
    "int checked(int x) { int r = invalid(x); if (r == 0) return 5; return r; }\n"
    "void *pointer(size_t n) { if (n > 100) { errno = E2BIG; return NULL; } return &sink + n; }\n"
    "int tail(int fd) { return close(fd); }\n"
    "int out(int *place) { if (place == NULL) return -1; *place = 7; return -5; }\n"
    "int stops(int x) { if (x) abort(); return 4; }\n"
    "int negated(int x) { return x == 9 ? -EBUSY : -EINTR; }\n"
    "APART static int step(int x) { return sink + x; }\n"
    "int cases(int x) {\n"
    "    switch (x) {\n"
    "    case 0: step(1); return -11;\n"
    "    case 1: sink = 5; return -40;\n"
    "    case 2: step(9); sink = 1; return -3;\n"
    "    case 3: sink += 2; return -14;\n"
    "    case 4: step(4); step(5); return -90;\n"
    "    case 5: sink = -1; step(3); return -16;\n"
    "    case 6: sink ^= 7; return -2;\n"
    "    default: return 0;\n"
    "    }\n"
    "}\n";

static struct error_set close_errors;

// close is 3; nothing is known of the others.
static const struct error_set *system_call(const void *data, int64_t number)
{
    (void)data;
    return number == 3 ? &close_errors : NULL;
}

struct wanted {
    const char *name;
    struct buffer text;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *put_value(struct buffer *text, const struct error_sets *sets,
                               const struct value *value)
{
    if (value->kind == VALUE_CONSTANT)
        return buffer_printf(text, "%lld", (long long)value->number);
    if (value->kind != VALUE_ERRORS)
        return buffer_printf(text, "other");
    for (unsigned i = 0; i < ERROR_NUMBERS; i++)
        if (error_set_has(&sets->items.items[value->set], i))
            TRY(buffer_printf(text, "%s%u,", value->negative ? "-" : "", i));
    return NULL;
}

struct asking {
    struct wanted *wanted;
    const struct error_sets *sets;
};

// "-1/22 0 other": the ways of one function, sorted.
static struct error *note(void *data, const struct profile_export *export)
{
    struct asking *asking = data;
    char *words[64];
    size_t count = 0;
    if (strcmp(export->name, asking->wanted->name) != 0)
        return NULL;
    assert_non_null(export->summary);
    assert_false(export->summary->cut);
    for (size_t i = 0; i < export->summary->outcomes.count && count < 64; i++) {
        const struct return_outcome *way = &export->summary->outcomes.items[i];
        struct buffer word = {0};
        TRY(put_value(&word, asking->sets, &way->result));
        if (way->sets_error) {
            TRY(buffer_append(&word, "/", 1));
            TRY(put_value(&word, asking->sets, &way->error));
        }
        for (unsigned e = 0; e < way->effect_count; e++)
            if (way->effects[e].kind == EFFECT_ARGUMENT)
                TRY(buffer_printf(&word, "[%u]=%lld", way->effects[e].argument,
                                  (long long)way->effects[e].value));
        words[count++] = word.data;
    }
    qsort(words, count, sizeof *words, compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(words[i], words[i - 1]) != 0)
            TRY(buffer_printf(&asking->wanted->text, "%s%s", i != 0 ? " " : "", words[i]));
    }
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    return NULL;
}

static void expect_ways(struct profile_set *set, size_t module, const char *compiler,
                        const char *name, const char *ways)
{
    struct wanted wanted = {.name = name};
    struct asking asking = {&wanted, profile_sets(set)};
    assert_null(profile_each_export(set, module, note, &asking));
    if (wanted.text.data == NULL || strcmp(wanted.text.data, ways) != 0)
        fail_msg("%s: %s comes back with '%s', not '%s'", compiler, name,
                 wanted.text.data != NULL ? wanted.text.data : "(nothing)", ways);
    buffer_deinit(&wanted.text);
}

static void check(const char *compiler, const char *directory)
{
    char command[1024], path[512];
    snprintf(path, sizeof path, "%s/lib.so", directory);
    snprintf(command, sizeof command, "%s -shared -fPIC -w -o %s %s/lib.c", compiler, path,
             directory);
    assert_int_equal(system(command), 0);
    const struct profile_options options = {.system_call = system_call};
    struct profile_set *set;
    size_t module;
    assert_null(profile_set_new(&options, &set));
    assert_null(profile_set_add(set, path, &module));
    assert_null(profile_set_analyse(set, module));
    expect_ways(set, module, compiler, "plain", "-1 other");
    expect_ways(set, module, compiler, "invalid", "-1/22 0");
    expect_ways(set, module, compiler, "chained", "-2/22 0");
    expect_ways(set, module, compiler, "checked", "-1/22 5");
    expect_ways(set, module, compiler, "pointer", "0/7 other");
    expect_ways(set, module, compiler, "tail", "-1/4,5,9, other");
    expect_ways(set, module, compiler, "out", "-1 -5[0]=7");
    expect_ways(set, module, compiler, "stops", "4");
    expect_ways(set, module, compiler, "negated", "-16 -4");
    expect_ways(set, module, compiler, "cases", "-11 -14 -16 -2 -3 -40 -90 0");
    profile_set_free(set);
}

static void test_known_library(void **state)
{
    static const char *const compilers[] = {"gcc -O0",   "gcc -O1",   "gcc -O2",   "gcc -O3",
                                            "gcc -Os",   "clang -O0", "clang -O1", "clang -O2",
                                            "clang -O3", "clang -Os"};
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[512], command[600];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/lib.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    error_set_add(&close_errors, EBADF);
    error_set_add(&close_errors, EIO);
    error_set_add(&close_errors, EINTR);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        check(compilers[i], directory);
    snprintf(command, sizeof command, "%s/lib.so", directory);
    unlink(command);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Which results of compiled functions are called failures: 0 or 1, codes beside -1, what is left
// behind by functions without a result, results of what a variable points to.
#include "profile/batch.h"

#include "base/cleanup.h"
#include "profile/system-calls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile-help.h"

static const char source[] =
    "#include <errno.h>\n"
    "#include <fcntl.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <unistd.h>\n"
    "volatile int sink;\n"
    "struct list { struct list *next; void (*done)(struct list *); int *numbers; };\n"
    "void *(*allocate)(size_t) = malloc;\n" // as the loader leaves it
    "void say(const char *text);\n"
    "int append(struct list **list) {\n" // 1 is the failure: it follows one
    "    struct list *added = allocate(sizeof *added);\n"
    "    if (added == NULL) { say(\"memory\"); say(\"list\"); return 1; }\n"
    "    added->next = *list; *list = added; return 0;\n"
    "}\n"
    "int keep(struct list *list, int n) {\n" // 0 is
    "    int *numbers = realloc(list->numbers, n * sizeof *numbers);\n"
    "    if (numbers == NULL) return 0;\n"
    "    list->numbers = numbers; return 1;\n"
    "}\n"
    "int extend(struct list *list, int n) {\n" // -1 and 2 are
    "    if (list == NULL) return -1;\n"
    "    if (!keep(list, n)) { say(\"memory\"); return 2; }\n"
    "    sink = n; return 0;\n"
    "}\n"
    "void *fresh(void) { return allocate(100); }\n" // NULL is
    "struct list *start(void) {\n"                  // NULL is: what is got is not put elsewhere
    "    struct list *list = malloc(sizeof *list);\n"
    "    if (list != NULL) { list->next = NULL; list->numbers = NULL; }\n"
    "    return list;\n"
    "}\n"
    "struct list *spare;\n"
    "void prepare(void) {\n" // nothing is returned: it is
    "    struct list *list = malloc(sizeof *list);\n"
    "    if (list != NULL) { list->next = spare; spare = list; }\n"
    "}\n"
    "int announce(struct list *list);\n"
    "__attribute__((noinline, visibility(\"protected\")))\n"
    "void stock(void) {\n" // likewise, and what is in the result's place then is a callee's
    "    struct list *list = malloc(sizeof *list);\n"
    "    if (list == NULL) return;\n"
    "    spare = list; announce(list); sink = 1;\n"
    "}\n"
    "int restock(void) { stock(); return 7; }\n"
    "int **last;\n"
    "void lengthen(void) {\n" // likewise; an address in it is what is stored
    "    struct list *list = malloc(sizeof *list);\n"
    "    if (list == NULL) return;\n"
    "    list->next = NULL; last = &list->numbers;\n"
    "}\n"
    "struct list *announced(void) {\n" // NULL is: it is handed over, then returned
    "    struct list *list = malloc(sizeof *list);\n"
    "    if (list == NULL) return NULL;\n"
    "    announce(list); return list;\n"
    "}\n"
    "void look_where(void) {\n" // nothing is returned: there are more reasons than memory
    "    char *path = getcwd(NULL, 0);\n"
    "    if (path == NULL) return;\n"
    "    sink = *path;\n"
    "}\n"
    "void empty(struct list *list) {\n" // nothing is returned
    "    if (list == NULL) return;\n"
    "    if (list->numbers != NULL) list->numbers[0] = 0;\n"
    "    list->next = NULL;\n"
    "}\n"
    "void finish(struct list *list) {\n" // a pointer is asked for, not returned
    "    sink = 1;\n"
    "    if (list->done != NULL) list->done(list);\n"
    "}\n"
    "int level(int x) {\n" // all there is
    "    switch (x) { case 1: sink = 1; return 3; case 2: return 2; default: return 1; }\n"
    "}\n"
    "int walk(struct list *list, int (*each)(struct list *)) {\n" // a negative number is
    "    for (; list != NULL; list = list->next) {\n"
    "        int answer = each(list);\n"
    "        if (answer < 0) return answer;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "void set_error(int number);\n"
    "int admit(struct list *list, int n) {\n" // 0 and -1 are: an error is reported before 0
    "    if (n > 7) { set_error(n); return 0; }\n"
    "    if (list->numbers == NULL && !keep(list, n)) return -1;\n"
    "    list->numbers[n] = n; return 1;\n"
    "}\n"
    "int zfetch(struct list *list) { if (list->numbers == NULL) return -7; sink = 2; return 0; }\n"
    "__attribute__((noinline)) static int lapped(struct list *list, int (*way)(struct list *)) {\n"
    "    int failed;\n"
    "    say(\"lap\");\n"
    "    failed = way(list);\n"
    "    if (failed) return failed;\n"
    "    sink = 3; return 0;\n"
    "}\n"
    "int lap(struct list *list) { return lapped(list, zfetch); }\n" // -7 of what it hands over is
    "int lap_again(struct list *list) { return lapped(list, append) ? -3 : 0; }\n"
    "struct list *find(struct list *list) {\n" // NULL is: it does nothing but look
    "    if (list == NULL) __builtin_trap();\n"
    "    for (list = list->next; list != NULL && list->numbers == NULL;) list = list->next;\n"
    "    return list;\n"
    "}\n"
    "int decide(struct list *list, int n) {\n" // 1 is: an error is reported before it
    "    if (n > 7) { set_error(n); return 1; }\n"
    "    list->numbers = NULL; return 0;\n"
    "}\n"
    "int blame(struct list *list, int n) {\n" // what is wrong is left in the list
    "    if (n > 7) { list->numbers = (int *)5; return -1; }\n"
    "    say(\"fine\"); return 0;\n"
    "}\n"
    "int shut(volatile struct list *list, int n) {\n" // the list is cleared, nothing is told by
                                                      // that
    "    if (n > 7) {\n"
    "        list->next = NULL; list->done = NULL; list->numbers = (int *)-1; return -1;\n"
    "    }\n"
    "    say(\"fine\"); return 0;\n"
    "}\n"
    "int measure(struct list *list, int n) {\n" // -1 is; nobody says that 0 is
    "    if (n > 7) return 0;\n"
    "    if (list->numbers == NULL && !keep(list, n)) return -1;\n"
    "    list->numbers[n] = n; return 1;\n"
    "}\n"
    "unsigned long list_last_error(void) {\n" // 0 is the answer that there was none
    "    struct list *list = start();\n"
    "    return list != NULL ? (unsigned long)list->numbers : 0;\n"
    "}\n"
    "const char *label(struct list *list) {\n" // NULL is, and -1 beside a pointer is not
    "    if (list->done == NULL) { say(\"none\"); return (const char *)-1; }\n"
    "    if (list->next == NULL) { say(\"end\"); return NULL; }\n"
    "    say(\"one\"); return \"label\";\n"
    "}\n"
    "int spin(struct list *list) {\n" // what is called is not known
    "    sink = 4;\n"
    "    return ((int (*)(struct list *))list->done)(list);\n"
    "}\n"
    "int spin_twice(struct list *list) { sink = 5; return spin(list) == 0 ? 0 : spin(list); }\n"
    "int spin_checked(struct list *list) { return spin(list) == 0 ? 7 : 8; }\n" // what it returns
                                                                                // is
    "unsigned component(struct list *list, int n) {\n" // codes are, with a source above them
    "    if (list->next == NULL) return 0x1000042;\n"
    "    if (!keep(list, n)) return 0x1000056;\n"
    "    sink = n; return 0;\n"
    "}\n"
    "size_t span(const char *from, const char *to) {\n" // nothing may be between them
    "    while (from < to && *from == 7) from++;\n"
    "    if (*from == 8) { say(\"none\"); return 0; }\n"
    "    return to - from;\n"
    "}\n"
    "int bits(struct list *list, int n) {\n" // how many there are may be 0
    "    if (list->numbers == NULL) return 0;\n"
    "    return n * 64 + list->numbers[n];\n"
    "}\n"
    "int move_to(const char *path) { return chdir(path) == 0 ? 0 : -errno; }\n"
    "int attach(const char *path, int *file) {\n" // what the call that failed left in errno
    "    *file = open(path, O_RDONLY);\n"
    "    if (*file < 0) return errno;\n"
    "    return 0;\n"
    "}\n"
    "int deliver(int file, const void *text, size_t size) {\n" // errno is kept over another call
    "    if (write(file, text, size) < 0) {\n"
    "        int wrong = -errno;\n"
    "        close(file);\n"
    "        return wrong;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "int refuse(int file) {\n" // errno was set here
    "    if (file > 7) { errno = EBUSY; return -errno; }\n"
    "    sink = file; return 0;\n"
    "}\n"
    "int insist(int file, char *byte) {\n" // all but EINTR, and a call that was tried again
    "    ssize_t got;\n"
    "    do got = read(file, byte, 1); while (got < 0 && errno == EINTR);\n"
    "    if (got < 0) return -errno;\n"
    "    sink = file; return 0;\n"
    "}\n"
    "int consult(struct list *list) {\n" // which errors is not known
    "    if (announce(list) < 0) return -errno;\n"
    "    return 0;\n"
    "}\n"
    "int wrong_now(void) { return errno; }\n" // a question
    "__attribute__((noinline)) static int translated(void) { return -errno; }\n"
    "int move_back(void) { if (chdir(\"..\") < 0) return translated(); sink = 1; return 0; }\n"
    "int tidy(int file) {\n" // errno is restored, so that nothing is known to have set it
    "    int saved = errno;\n"
    "    close(file);\n"
    "    errno = saved;\n"
    "    if (file > 7) return -1;\n"
    "    return 0;\n"
    "}\n";

// Where functions return codes, 0 is no failure beside 1 without a sign; elsewhere it is.
static const char one_truth[] = "extern int sink; void touch(void);\n"
                                "int select_one(int x) { touch(); return x == 7 || x == 9; }\n";
static const char one_code[] =
    "int code%d(int x) { touch(); if (x == 1) return %d; if (x == 2) return %d; return 0; }\n";

// How many things its only failure leaves for the caller to see.
static void expect_effects(const struct profile *profile, const char *name, unsigned wanted)
{
    expect(profile, name, "-1");
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        if (strcmp(profile_text(profile, function->name), name) == 0)
            assert_int_equal(profile->failures.items[function->first].effect_count, wanted);
    }
}

static void check(const char *compiler, const char *directory)
{
    char path[64];
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of(compiler, directory, path, sizeof path, &item);
    expect(&item.profile, "append", "1");
    expect(&item.profile, "keep", "0");
    expect(&item.profile, "extend", "-1 2");
    expect(&item.profile, "fresh", "0");
    expect(&item.profile, "start", "0");
    expect(&item.profile, "prepare", "");
    expect(&item.profile, "stock", "");
    expect(&item.profile, "lengthen", "");
    expect(&item.profile, "announced", "0");
    expect(&item.profile, "look_where", "");
    expect(&item.profile, "empty", "");
    expect(&item.profile, "finish", "");
    expect(&item.profile, "level", "");
    expect(&item.profile, "walk", "-1");
    expect(&item.profile, "admit", "-1 0");
    expect(&item.profile, "measure", "-1");
    expect(&item.profile, "decide", "1");
    expect_effects(&item.profile, "blame", 1);
    expect_effects(&item.profile, "shut", 0);
    expect(&item.profile, "lap", "-7");
    expect(&item.profile, "lap_again", "-3");
    expect(&item.profile, "find", "0");
    expect(&item.profile, "list_last_error", "");
    if (strncmp(compiler, "gcc", 3) == 0)
        expect(&item.profile, "label", "0");
    expect(&item.profile, "bits", "");
    expect(&item.profile, "component", "16777302 16777282");
    expect(&item.profile, "span", "");
    expect_unknown(&item.profile, "bits", false);
    expect_unknown(&item.profile, "spin", true);
    expect_unknown(&item.profile, "spin_twice", true);
    expect_unknown(&item.profile, "spin_checked", false);
    unlink(path);
}

static const struct failure *only_failure(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->functions.count; i++)
        if (strcmp(profile_text(profile, profile->functions.items[i].name), name) == 0)
            return &profile->failures.items[profile->functions.items[i].first];
    return NULL;
}

// Whether error numbers are among the results of a function.
static void expect_numbers(const struct profile *profile, const char *name, int in, int out)
{
    const struct error_set *set =
        &profile->sets.items.items[only_failure(profile, name)->result.set];
    if (!error_set_has(set, (unsigned)in) || error_set_has(set, (unsigned)out))
        fail_msg("%s: error number %d or %d", name, in, out);
}

static void check_errno(const char *compiler, const char *directory)
{
    char path[64];
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of(compiler, directory, path, sizeof path, &item);
    expect(&item.profile, "move_to", "-errno");
    expect_numbers(&item.profile, "move_to", ENOENT, EINPROGRESS);
    expect(&item.profile, "attach", "errno");
    expect_numbers(&item.profile, "attach", EMFILE, EPIPE);
    expect(&item.profile, "deliver", "-errno");
    expect_numbers(&item.profile, "deliver", EPIPE, ENOTDIR);
    expect(&item.profile, "refuse", "-16");
    expect(&item.profile, "insist", "-errno");
    expect_numbers(&item.profile, "insist", EIO, EINTR);
    expect(&item.profile, "consult", "-errno...");
    expect(&item.profile, "wrong_now", "");
    expect(&item.profile, "move_back", "-errno");
    expect_numbers(&item.profile, "move_back", ENOENT, EINPROGRESS);
    expect(&item.profile, "tidy", "-1");
    assert_false(only_failure(&item.profile, "tidy")->sets_error);
    unlink(path);
}

static void test_judged(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/judged.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    check("gcc -O2", directory);
    check("clang -O2", directory);
    check_errno("gcc -O2", directory);
    check_errno("gcc -O1", directory);
    check_errno("gcc -O0", directory);
    check_errno("clang -O2", directory);
    check_errno("clang -O1", directory);
    unlink(path);
    rmdir(directory);
}

// A library with one function that returns 0 or 1 beside some that return codes.
static void check_habit(unsigned codes, const char *wanted)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64], command[256];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/habit.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(one_truth, file) >= 0);
    for (unsigned i = 0; i < codes; i++)
        assert_true(fprintf(file, one_code, i, 20 + i, 40 + i) > 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "gcc -O2 -shared -fPIC -w -o %s/habit.so %s", directory,
             path);
    assert_int_equal(system(command), 0);
    unlink(path);
    snprintf(path, sizeof path, "%s/habit.so", directory);
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    const struct batch batch = {.jobs = 1};
    assert_null(profile_batch(&batch, &item, 1));
    assert_null(item.error);
    expect(&item.profile, "select_one", wanted);
    unlink(path);
    rmdir(directory);
}

static void test_habits(void **state)
{
    check_habit(2, "0");
    check_habit(12, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_judged),
                                       cmocka_unit_test(test_habits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

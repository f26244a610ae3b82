// SPDX-License-Identifier: GPL-3.0-or-later
// Signs of failure and success in compiled functions: tables of functions in objects,
// out-parameters, reports, names, numbers that were kept.
#include "profile/batch.h"

#include "base/cleanup.h"

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
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <sys/ioctl.h>\n"
    "#include <libintl.h>\n"
    "volatile int sink;\n"
    "struct ops;\n"
    "struct thing { int kind; const struct ops *ops; char *text; size_t "
    "size; int code; int *numbers;"
    " struct thing *next; };\n"
    "struct ops { const char *name; int (*start)(struct thing *, int); "
    "void (*stop)(struct thing *); };\n"
    "void set_error(const char *text);\n"
    "void touch(struct thing *thing);\n"
    "static int start_disk(struct thing *thing, int n) { if (n > 7) "
    "return -4; thing->kind = n; return 0; }\n"
    "static int start_tape(struct thing *thing, int n) { if (n > 3) "
    "return -5; thing->kind = -n; return 0; }\n"
    "static void stop_disk(struct thing *thing) { thing->kind = 0; "
    "touch(thing); }\n"
    "static void stop_tape(struct thing *thing) { thing->kind = 1; "
    "touch(thing); }\n"
    "static const struct ops disk = {\"disk\", start_disk, stop_disk}, "
    "tape = {\"tape\", start_tape, stop_tape};\n"
    "void make_disk(struct thing *thing) { thing->ops = &disk; "
    "touch(thing); }\n"
    "void make_tape(struct thing *thing) { thing->ops = &tape; "
    "touch(thing); }\n"
    "int start(struct thing *thing, int n) { return "
    "thing->ops->start(thing, n); }\n" // those of both tables are
    "int start_checked(struct thing *thing, int n)\n"
    "{\n"
    "    int result = thing->ops->start(thing, n);\n"
    "    if (result < 0) { touch(thing); return result; }\n"
    "    sink = n; return 0;\n"
    "}\n"
    "int next(struct thing *thing, char **text)\n" // 1 is: there is
                                                   // something only with 0
    "{\n"
    "    touch(thing);\n"
    "    if (thing->kind == 0) return 1;\n"
    "    *text = thing->text; return 0;\n"
    "}\n"
    "unsigned get_hIST(struct thing *thing, int **numbers)\n" // 0 is, and
                                                              // the name
                                                              // asks
                                                              // nothing
    "{\n"
    "    if (thing == NULL || (thing->kind & 64) == 0 || numbers == NULL) "
    "return 0;\n"
    "    *numbers = thing->numbers; return 64;\n"
    "}\n"
    "int look_up(struct thing *thing, int n, int *number)\n" // likewise
    "{\n"
    "    switch (thing->kind) {\n"
    "    case 3: *number = thing->numbers[n]; return 1;\n"
    "    case 4: if ((thing->code & 1) == 0) return 0; *number = "
    "thing->code; return thing->code & 1;\n"
    "    default: return 0;\n"
    "    }\n"
    "}\n"
    "int at_end(struct thing *thing) { touch(thing); return thing->kind & "
    "1; }\n"                                           // a question
    "int put(struct thing *thing, const char *text)\n" // 0 is; an error is
                                                       // reported, and
                                                       // then it goes on
    "{\n"
    "    if (thing->kind > 3) return 0;\n"
    "    char *copy = strdup(text);\n"
    "    if (copy == NULL) set_error(\"memory\");\n"
    "    thing->text = copy; return 1;\n"
    "}\n"
    "size_t text_size(struct thing *thing) { return thing == NULL ? 0 : "
    "thing->size; }\n"                       // nothing may be in it
    "size_t row_size(struct thing *thing)\n" // 0 is reported
    "{\n"
    "    if (thing->size == 0) { set_error(\"empty\"); return 0; }\n"
    "    return thing->size * 8;\n"
    "}\n"
    "unsigned sector(int file) { int n; if (ioctl(file, 7, &n) < 0) "
    "return 512; return n; }\n" // a number that will do
    "const char *message(struct thing *thing) { return dcgettext(\"x\", "
    "thing->text, 5); }\n" // never NULL
    "void complain(struct thing *thing) { fprintf(stderr, \"%s\\n\", "
    "thing->text); }\n"                      // nothing is returned
    "int step(struct thing *thing, int n)\n" // negative codes are, 1 is
                                             // the end
    "{\n"
    "    if (n == 1) return -10;\n"
    "    if (n == 2) return -20;\n"
    "    if (n == 3) return -30;\n"
    "    touch(thing);\n"
    "    if (thing->kind == 0) return 1;\n"
    "    set_error(\"odd\"); thing->kind = 2; return 0;\n"
    "}\n"
    "int perform(struct thing *thing)\n" // codes are, and others that were
                                         // kept
    "{\n"
    "    if (thing == NULL) return 43;\n"
    "    if (thing->ops == NULL) { touch(thing); return 27; }\n"
    "    touch(thing);\n"
    "    if (thing->kind == 0) return 0;\n"
    "    touch(thing); return thing->code;\n"
    "}\n"
    "#include <pthread.h>\n"
    "static pthread_mutex_t lock;\n"
    "int poll_for(struct thing *thing, char **text);\n"
    "void release(struct thing *thing) { touch(thing); pthread_mutex_unlock(&lock); }\n" // nothing
                                                                                         // is
                                                                                         // returned
    "char *wait_for(struct thing *thing)\n" // NULL is, and what is put there is not known
    "{\n"
    "    char *text = NULL, **where = &text;\n"
    "    __asm__(\"\" : \"+r\"(where));\n"
    "    touch(thing);\n"
    "    while (!poll_for(thing, where)) { touch(thing); if (thing->kind == 0) break; }\n"
    "    return text;\n"
    "}\n"
    "int action_of(struct thing *thing)\n" // 0 is no action, whatever the reason
    "{\n"
    "    int *numbers = malloc(64);\n"
    "    if (numbers != NULL) {\n"
    "        free(numbers);\n"
    "        for (; thing != NULL; thing = thing->next)\n"
    "            if (thing->kind == 7) return thing->code;\n"
    "    }\n"
    "    return 0;\n"
    "}\n"
    "unsigned begin(struct thing *thing)\n" // codes are, though they are large
    "{\n"
    "    if (thing->next == NULL) { touch(thing); return 0xf003ffe; }\n"
    "    thing->numbers = malloc(8);\n"
    "    if (thing->numbers == NULL) return 0xf003fff;\n"
    "    sink = 1; return 0;\n"
    "}\n"
    "struct thing *thing_unref(struct thing *thing)\n" // nothing is left
    "{\n"
    "    if (--thing->kind > 0) return thing;\n"
    "    free(thing); return NULL;\n"
    "}\n"
    // if (kind == 4) set; else if (flags & 1) set, and the bit is
    // returned; else 0, as gcc 12 makes it
    "__asm__(\".text; .globl set_bit; .type set_bit, @function; set_bit: "
    "cmpl $4, (%rdi); je 2f;\"\n"
    "        \"movl 32(%rdi), %eax; andl $1, %eax; je 1f; movl %esi, "
    "36(%rdi); 1: ret;\"\n"
    "        \"2: movl %esi, 36(%rdi); movl $1, %eax; ret; .size set_bit, "
    ". - set_bit\");\n";

static bool is_open(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->functions.count; i++)
        if (strcmp(profile_text(profile, profile->functions.items[i].name), name) == 0)
            return profile->functions.items[i].cut != 0;
    fail_msg("no function %s", name);
    return false;
}

static void check(const char *compiler, const char *directory)
{
    char path[64];
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of(compiler, directory, path, sizeof path, &item);
    expect(&item.profile, "start", "-4 -5");
    expect(&item.profile, "start_checked", "-4 -5");
    expect(&item.profile, "next", "1");
    expect(&item.profile, "get_hIST", "0");
    expect(&item.profile, "look_up", "0");
    expect(&item.profile, "set_bit", "0");
    expect(&item.profile, "at_end", "");
    expect(&item.profile, "put", "0");
    expect(&item.profile, "text_size", "");
    expect(&item.profile, "row_size", "0");
    expect(&item.profile, "sector", "");
    expect_unknown(&item.profile, "message", false);
    expect(&item.profile, "complain", "");
    expect(&item.profile, "step", "-10 -20 -30");
    expect(&item.profile, "perform", "43 27");
    expect(&item.profile, "release", "");
    expect(&item.profile, "thing_unref", "");
    expect(&item.profile, "wait_for", "0");
    expect(&item.profile, "action_of", "");
    expect(&item.profile, "begin", "251674623 251674622");
    assert_true(is_open(&item.profile, "perform"));
    assert_false(is_open(&item.profile, "step"));
    unlink(path);
}

static void test_signs(void **state)
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
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

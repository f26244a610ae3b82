// SPDX-License-Identifier: GPL-3.0-or-later
// Which findings are one missing check.
#include "base/cleanup.h"
#include "campaign/finding-same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct finding_members none;

static bool same(struct finding_member a, struct finding_member b)
{
    bool left = finding_member_is_same(&none, &a, &b),
         right = finding_member_is_same(&none, &b, &a);
    assert_int_equal(left, right);
    return left;
}

static struct finding_member member(enum verdict verdict, char *function, char *result, char *stack)
{
    return (struct finding_member){.verdict = verdict,
                                   .cause = "silent result after something",
                                   .function = function,
                                   .result = result,
                                   .stack = stack};
}

static void read_errors_of_one_call(void **state)
{
    char *here = "x+0x10 {aaaaaaaa+0x10}\nx+0x50 {bbbbbbbb+0x50}",
         *by_another = "x+0x10 {aaaaaaaa+0x10}\nx+0x70 {bbbbbbbb+0x70}",
         *by_turns = "x+0x99 {cccccccc+0x9}\nx+0x50 {bbbbbbbb+0x50}",
         *elsewhere = "x+0x99 {cccccccc+0x9}\nx+0x70 {bbbbbbbb+0x70}";
    struct finding_member lost = member(VERDICT_SILENT, "fgets", "NULL/EIO", here);
    assert_true(same(lost, member(VERDICT_WRONG_OUTPUT, "fgets", "NULL/EIO", by_another)));
    assert_true(same(lost, member(VERDICT_HANG, "fgets", "NULL/EIO", by_another)));
    assert_true(same(lost, member(VERDICT_SILENT, "getc", "EOF/EIO", by_turns)));
    assert_false(same(lost, member(VERDICT_SILENT, "getc", "EOF/EIO", elsewhere)));
    assert_false(same(lost, member(VERDICT_CRASH, "fgets", "NULL/EIO", by_another)));
    // A stream keeps its errors; whoever reads by other means has them checked by callers.
    lost = member(VERDICT_SILENT, "read", "-1/EIO", here);
    assert_true(same(lost, member(VERDICT_HANG, "read", "-1/EIO", by_another)));
    assert_true(same(lost, member(VERDICT_WRONG_OUTPUT, "read", "-1/EIO", here)));
    assert_false(same(lost, member(VERDICT_SILENT, "read", "-1/EIO", by_another)));
    assert_false(same(lost, member(VERDICT_HANG, "read", "-1/EIO", by_turns)));
    // The first entry and the next ones.
    char *next = "x+0x50 {aaaaaaaa+0x50}\nx+0x50 {bbbbbbbb+0x50}";
    lost = member(VERDICT_SILENT, "readdir", "NULL/EIO", here);
    assert_true(same(lost, member(VERDICT_WRONG_OUTPUT, "readdir", "NULL/EIO", next)));
    assert_false(same(lost, member(VERDICT_SILENT, "readdir", "NULL/EIO", elsewhere)));
    assert_false(same(lost, member(VERDICT_CRASH, "readdir", "NULL/EIO", next)));
    assert_false(same(member(VERDICT_SILENT, "close", "-1/EIO", here),
                      member(VERDICT_HANG, "close", "-1/EIO", here)));
}

static void answers_of_two_calls(void **state)
{
    struct finding_member a =
        member(VERDICT_SILENT, "popen", "NULL/EMFILE", "x+0x10 {aaaaaaaa+0x10}");
    struct finding_member b =
        member(VERDICT_SILENT, "fopen", "NULL/EACCES", "x+0x40 {aaaaaaaa+0x40}");
    a.tested = b.tested = true;
    a.handed_to = b.handed_to = "/bin/x";
    a.handed_offset = b.handed_offset = 0x800;
    assert_true(same(a, b));
    b.handed = -1;
    assert_false(same(a, b));
    b.handed = 0;
    b.handed_offset = 0x900;
    assert_false(same(a, b));
    b.handed_offset = 0x800;
    b.tested = false;
    assert_false(same(a, b));
    b.tested = true;
    b.verdict = VERDICT_HANG;
    assert_false(same(a, b));
    b.verdict = VERDICT_WRONG_OUTPUT;
    assert_true(same(a, b));
    a.handed_to = b.handed_to = NULL;
    assert_false(same(a, b));
}

// The call of the program is the same, whether it fails or something inside it.
static void calls_and_what_is_inside(void **state)
{
    struct finding_member outer =
        member(VERDICT_CRASH, "fopen", "NULL/EACCES", "x+0x10 {aaaaaaaa+0x10}");
    struct finding_member inner = member(VERDICT_CRASH, "malloc", "0",
                                         "__fopen_internal at iofopen.c:65 (libc.so.6)\n"
                                         "x+0x10 {aaaaaaaa+0x10}");
    outer.untested = inner.untested = true;
    assert_true(same(outer, inner));
    inner.result = "-1";
    assert_false(same(outer, inner));
    inner.result = "NULL/ENOMEM";
    inner.stack = "__fopen_internal at iofopen.c:65 (libc.so.6)\nx+0x20 {aaaaaaaa+0x20}";
    assert_false(same(outer, inner));
    // A line may have several calls.
    outer.stack = "f at a.c:1 (x)";
    inner.stack = "__fopen_internal at iofopen.c:65 (libc.so.6)\nf at a.c:1 (x)";
    assert_true(same(outer, inner));
    inner.stack = "regcomp at r.c:1 (libc.so.6)\nf at a.c:1 (x)";
    assert_false(same(outer, inner));
    // So may the C++ library be between.
    inner.stack =
        "fopen at f.c:1 (libc.so.6)\nstd::basic_file::open (libstdc++.so.6)\nf at a.c:1 (x)";
    assert_false(same(outer, inner));
}

static void one_effect_of_several_calls(void **state)
{
    struct finding_member open = member(VERDICT_SILENT, "fopen", "NULL/EACCES",
                                        "x+0x705 {cccccccc+0x75}\nx+0x50 {bbbbbbbb+0x50}"),
                          memory = member(VERDICT_SILENT, "malloc", "NULL/ENOMEM",
                                          "x+0x384 {dddddddd+0x34}\nx+0x71d {cccccccc+0x8d}");
    open.tested = memory.tested = true;
    open.program = memory.program = "x";
    open.reason = "archive differs at line 4: 'x' instead of 'sum'";
    memory.reason = strdup(open.reason);
    assert_true(same(open, memory));
    memory.tested = false;
    assert_false(same(open, memory));
    memory.tested = true;
    memory.verdict = VERDICT_HANG;
    assert_false(same(open, memory));
    memory.verdict = VERDICT_SILENT;
    memory.stack = "x+0x384 {dddddddd+0x34}\nx+0x91d {eeeeeeee+0x8d}\nx+0x71d {cccccccc+0x8d}";
    assert_false(same(open, memory));
    memory.stack = open.stack;
    assert_true(same(open, memory));
    memory.function = "fopen";
    memory.stack = "x+0x725 {cccccccc+0x95}\nx+0x50 {bbbbbbbb+0x50}";
    assert_false(same(open, memory)); // another call of the same function
    memory.function = "malloc";
    assert_true(same(open, memory));
    memory.proof = STORE_PROOF_CAUSED;
    assert_false(same(open, memory));
    memory.proof = open.proof;
    // Two conditions of one function; the end of what is read is another matter, too.
    memory.stack = "x+0x805 {cccccccc+0x175}\nx+0x50 {bbbbbbbb+0x50}";
    assert_false(same(open, memory));
    memory.stack = "x+0x71d {cccccccc+0x8d}\nx+0x50 {bbbbbbbb+0x50}";
    assert_true(same(open, memory));
    memory.function = "readdir64";
    assert_false(same(open, memory));
    memory.function = "malloc";
    open.stack = "f at f.c:7 (x)\nmain at f.c:20 (x)";
    memory.stack = "f at f.c:8 (x)\nmain at f.c:20 (x)";
    assert_true(same(open, memory));
    memory.stack = "f at f.c:9 (x)\nmain at f.c:20 (x)";
    assert_false(same(open, memory));
    // Two functions that one calls test for themselves.
    open.stack = "x+0x384 {dddddddd+0x34}\nx+0x705 {cccccccc+0x75}";
    memory.stack = "x+0x984 {eeeeeeee+0x94}\nx+0x725 {cccccccc+0x95}";
    assert_false(same(open, memory));
    // The C library's start of a program is in all of them.
    open.stack = "x+0x705 {cccccccc+0x75}\n__libc_start_call_main at l.h:58 (libc.so.6)";
    memory.stack = "x+0x384 {dddddddd+0x34}\n__libc_start_call_main at l.h:58 (libc.so.6)";
    assert_false(same(open, memory));
    memory.stack = open.stack;
    memory.program = "y";
    assert_false(same(open, memory));
    memory.program = "x";
    memory.reason[0] = 'A';
    assert_false(same(open, memory));
    free(memory.reason);
}

// The same function is in several programs of a project.
static void streams_closed_in_one_place(void **state)
{
    char *one = "fclose at f.c:1 (libc.so.6)\ndel+0x51f9 {aaaaaaaa+0x8b}\ndel+0x40 {bbbbbbbb+0x8}",
         *other =
             "fclose at f.c:1 (libc.so.6)\nset+0x5acb {aaaaaaaa+0x8b}\nset+0x90 {cccccccc+0x9}",
         *next = "fclose at f.c:1 (libc.so.6)\nset+0x5adb {aaaaaaaa+0x9b}\nset+0x90 {cccccccc+0x9}";
    struct finding_member a = member(VERDICT_SILENT, "_IO_file_write", NULL, one),
                          b = member(VERDICT_WRONG_OUTPUT, "_IO_file_write", NULL, other);
    assert_true(same(a, b));
    b.stack = next;
    assert_false(same(a, b));
    b.stack = other;
    b.verdict = VERDICT_CRASH;
    assert_false(same(a, b));
    // When a process ends, all its streams are flushed at one place.
    a.stack = b.stack = "exit at e.c:1 (libc.so.6)\ndel+0x51f9 {aaaaaaaa+0x8b}";
    b.verdict = VERDICT_SILENT;
    assert_false(same(a, b));
    a.stack = b.stack = "__libc_start_main at s.c:1 (libc.so.6)\ndel+0x9 {3d5f15b7+0x21}";
    assert_false(same(a, b));
    a.stack = one;
    b = member(VERDICT_SILENT, "fclose", NULL, other);
    assert_false(same(a, b));
}

static void one_template(void **state)
{
    char *copy = "memcpy at m.S:1 (libc.so.6)\n";
    char crashes[3][100];
    snprintf(crashes[0], sizeof crashes[0], "%s%s", copy, "x+0x292 {aaaaaaaa+0x102}");
    snprintf(crashes[1], sizeof crashes[1], "%s%s", copy, "x+0x992 {bbbbbbbb+0x102}");
    snprintf(crashes[2], sizeof crashes[2], "%s%s", copy, "x+0x99a {bbbbbbbb+0x10a}");
    struct finding_member a = member(VERDICT_CRASH, "malloc", "NULL", "x+0x286 {aaaaaaaa+0xf6}"),
                          b = member(VERDICT_CRASH, "malloc", "NULL", "x+0x986 {bbbbbbbb+0xf6}");
    a.cause = "crash a";
    b.cause = "crash b";
    a.crash_stack = crashes[0];
    b.crash_stack = crashes[1];
    a.untested = b.untested = true;
    a.program = b.program = "x";
    assert_true(same(a, b));
    b.crash_stack = crashes[2];
    assert_false(same(a, b));
    b.crash_stack = crashes[1];
    b.program = "y"; // of another project
    assert_false(same(a, b));
    b.program = "x";
    b.untested = false;
    assert_false(same(a, b));
    b.untested = true;
    b.stack = "x+0x986 {cccccccc+0xf6}"; // it crashes in another function
    assert_false(same(a, b));
    b.stack = "x+0x986 {bbbbbbbb+0xe6}";
    assert_false(same(a, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_errors_of_one_call),
        cmocka_unit_test(answers_of_two_calls),
        cmocka_unit_test(one_effect_of_several_calls),
        cmocka_unit_test(streams_closed_in_one_place),
        cmocka_unit_test(one_template),
        cmocka_unit_test(calls_and_what_is_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

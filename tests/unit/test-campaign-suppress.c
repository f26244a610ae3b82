// SPDX-License-Identifier: GPL-3.0-or-later
// Tests what suppressions match. tests/e2e/test-suppressions.test tests errors in files.
#include "base/cleanup.h"
#include "campaign/suppress.h"
#include "injector/injector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STACK                                                                                      \
    "xmalloc at /src/lib/xmalloc.c:41 (tool)\nread_all at /src/tool.c:12 (tool)\n"                 \
    "main at /src/tool.c:99 (tool)\nlibc.so.6+0x2724a\n_start (tool)"

static bool matches(const char *block, const char *verdict, const char *fault, const char *stack)
{
    struct suppressions list = {0};
    struct error *error = suppressions_parse(&list, "test", block, strlen(block));
    if (error != NULL)
        fail_msg("%s", error_message(error));
    assert_int_equal(list.items.count, 1);
    char call[128], code[32];
    injector_find("library")->stored->split(fault, call, code);
    const struct suppress_about about = {
        .verdict = verdict, .call = call, .error = code, .stack = stack};
    bool result = suppression_matches(&list.items.items[0], &about);
    suppressions_deinit(&list);
    return result;
}

#define BLOCK(lines)   "# a comment\n\n{\n  name\n" lines "}\n"
#define MATCHES(lines) assert_true(matches(BLOCK(lines), "crash", "malloc=NULL/ENOMEM", STACK))
#define DIFFERS(lines) assert_false(matches(BLOCK(lines), "crash", "malloc=NULL/ENOMEM", STACK))

static void facts(void **state)
{
    MATCHES("ordeal:crash\n");
    MATCHES("ordeal:*\n");
    DIFFERS("ordeal:hang\n");
    MATCHES("ordeal:crash\n call:*alloc\n errno:ENOMEM\n");
    DIFFERS("ordeal:crash\n call:calloc\n");
    DIFFERS("ordeal:crash\n errno:EIO\n");
    // Without an errno, and with other actions.
    assert_true(matches(BLOCK("ordeal:*\ncall:getc\n"), "silent", "getc=-1", ""));
    assert_false(matches(BLOCK("ordeal:*\nerrno:EIO\n"), "silent", "getc=-1", ""));
    assert_true(matches(BLOCK("ordeal:*\ncall:write\n"), "silent", "write short 1", ""));
}

static void frames(void **state)
{
    MATCHES("ordeal:*\nfun:xmalloc\n");
    MATCHES("ordeal:*\nfun:xmalloc\nfun:read_*\nfun:main\n");
    DIFFERS("ordeal:*\nfun:read_all\n");
    MATCHES("ordeal:*\n...\nfun:read_all\n");
    MATCHES("ordeal:*\nfun:xmalloc\n...\nfun:_start\n");
    MATCHES("ordeal:*\nfun:xmalloc\n...\n");
    DIFFERS("ordeal:*\n...\nfun:other\n...\n");
    MATCHES("ordeal:*\nobj:tool\nsrc:tool.c:12\n");
    MATCHES("ordeal:*\nsrc:/src/lib/*\n");
    DIFFERS("ordeal:*\nsrc:tool.c:13\n");
    MATCHES("ordeal:*\n...\nfun:main\nobj:libc.so*\nfun:_start\n");
    // A stack that is shorter than the suppression's.
    DIFFERS("ordeal:*\n...\nfun:_start\nfun:before_that\n");
    assert_false(matches(BLOCK("ordeal:*\nfun:main\n"), "crash", "read=-1/EIO", ""));
    assert_true(matches(BLOCK("ordeal:*\n...\n"), "crash", "read=-1/EIO", ""));
    assert_true(matches(BLOCK("ordeal:*\nfun:f\n"), "crash", "read=-1/EIO", "f at (x)"));
    assert_true(matches(BLOCK("ordeal:*\nobj:x\n"), "crash", "read=-1/EIO", "f at (x)"));
}

// There are too many ways to match so many "..." with so many equal frames: trying all would never
// end.
static void many_gaps(void **state)
{
    char block[1024] = "{\nname\nordeal:*\n", stack[1024] = "";
    for (int i = 0; i < 24; i++)
        strcat(block, "...\nfun:again\n");
    for (int i = 0; i < 60; i++)
        strcat(stack, "again (tool)\n");
    strcat(stack, "last (tool)");
    char *end = block + strlen(block);
    strcpy(end, "fun:again\nfun:last\n}\n");
    assert_true(matches(block, "crash", "read=-1/EIO", stack));
    strcpy(end, "fun:other\n}\n");
    assert_false(matches(block, "crash", "read=-1/EIO", stack));
}

static void several(void **state)
{
    static const char text[] = "{\none\nordeal:crash\n}\n{\n two words \nordeal:hang\n}\n";
    struct suppressions list = {0};
    assert_null(suppressions_parse(&list, "test", text, strlen(text)));
    assert_int_equal(list.items.count, 2);
    assert_string_equal(list.items.items[1].name, "two words");
    assert_int_equal(list.items.items[1].line, 5);
    suppressions_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(facts), cmocka_unit_test(frames),
                                       cmocka_unit_test(many_gaps), cmocka_unit_test(several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

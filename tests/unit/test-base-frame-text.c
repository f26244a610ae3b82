// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of stacks as text, taken apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/frame-text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *line, *parts; // function|place|file|line|module|offset
} frames[] = {
    {"copy at src/copy.c:42 (cp)", "copy|src/copy.c:42|src/copy.c|42|cp|0"},
    {"copy (libc.so.6)", "copy|-|-|0|libc.so.6|0"},
    {"operator new(unsigned long) at new.cc:7 (libstdc++.so.6)",
     "operator new(unsigned long)|new.cc:7|new.cc|7|libstdc++.so.6|0"},
    {"operator+ (x)", "operator+|-|-|0|x|0"},
    {"f(int) (x)", "f(int)|-|-|0|x|0"},
    {"f at a b:c.c:1 (x)", "f|a b:c.c:1|a b:c.c|1|x|0"},
    {"f at a.c (x)", "f|a.c|-|0|x|0"},
    {"f at a.c:0 (x)", "f|a.c:0|-|0|x|0"},
    {"f at a.c:1x (x)", "f|a.c:1x|-|0|x|0"},
    {"f at a.c:4294967296 (x)", "f|a.c:4294967296|-|0|x|0"},
    {"f at :3 (x)", "f|:3|-|0|x|0"},
    {"f at (x)", "f|-|-|0|x|0"},
    {"cp+0x27d02", "-|-|-|0|cp|27d02"},
    {"libstdc++.so.6+0x1f", "-|-|-|0|libstdc++.so.6|1f"},
    {"[vdso]+0xffffffffffffffff", "-|-|-|0|[vdso]|ffffffffffffffff"},
    {"0x7ffd12", "-|-|-|0|-|7ffd12"},
    {"0x", "0x|-|-|0|-|0"},
    {"cp+0x12g", "cp+0x12g|-|-|0|-|0"},
    {"main", "main|-|-|0|-|0"},
    {"?", "?|-|-|0|-|0"},
    {"f(x)", "f(x)|-|-|0|-|0"},
    {"(x)", "(x)|-|-|0|-|0"},
    {"", "-|-|-|0|-|0"},
};

static void plain_names(void **state)
{
    static const char *const names[][2] = {{"__GI___regcomp", "regcomp"},
                                           {"__fopen_internal", "fopen"},
                                           {"_IO_getc", "IO_getc"},
                                           {"_internal", "internal"},
                                           {"fopen", "fopen"},
                                           {"___", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct frame_part part = frame_part_plain(frame_part(names[i][0]));
        assert_int_equal(part.size, strlen(names[i][1]));
        assert_memory_equal(part.text, names[i][1], part.size);
    }
    assert_null(frame_part_plain((struct frame_part){0}).text);
}

static int size_of(struct frame_part part)
{
    return part.text != NULL ? (int)part.size : 1;
}

static const char *text_of(struct frame_part part)
{
    return part.text != NULL ? part.text : "-";
}

static void parts_are(const struct frame_text *frame, const char *expected)
{
    char text[300];
    snprintf(text, sizeof text, "%.*s|%.*s|%.*s|%u|%.*s|%llx", size_of(frame->function),
             text_of(frame->function), size_of(frame->place), text_of(frame->place),
             size_of(frame->file), text_of(frame->file), frame->line, size_of(frame->module),
             text_of(frame->module), (unsigned long long)frame->offset);
    assert_string_equal(text, expected);
}

static void test_parts(void **state)
{
    char stack[2000] = "";
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        strcat(stack, frames[i].line);
        strcat(stack, "\n");
    }
    // One after the other, and each by its number: the line after it is none of its parts.
    const char *at = stack;
    struct frame_text frame;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        assert_true(frame_text_next(&at, &frame));
        assert_true(frame_part_is(frame.whole, frames[i].line));
        parts_are(&frame, frames[i].parts);
        assert_true(frame_text_at(stack, i, &frame));
        parts_are(&frame, frames[i].parts);
    }
    assert_false(frame_text_next(&at, &frame));
    assert_false(frame_text_at(stack, sizeof frames / sizeof *frames, &frame));
    assert_false(frame_text_at("", 0, &frame));
    assert_false(frame_text_at(NULL, 0, &frame));
}

// What is written is what was read.
static void test_put(void **state)
{
    static const char *const lines[] = {"copy at src/copy.c:42 (cp)", "copy (libc.so.6)",
                                        "operator new(unsigned long) at new.cc:7 (x)", "cp+0x27d02",
                                        "0x7ffd12"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct frame_text frame;
        struct buffer text = {0};
        assert_true(frame_text_at(lines[i], 0, &frame));
        assert_null(frame_text_put(&text, &frame));
        assert_string_equal(text.data, lines[i]);
        buffer_deinit(&text);
    }
}

static void test_compare(void **state)
{
    const struct frame_part part = {"libc.so.6", 7}, none = {0};
    assert_true(frame_part_is(part, "libc.so") && frame_part_begins(part, "libc"));
    assert_false(frame_part_is(part, "libc") || frame_part_begins(part, "libc.so.6"));
    assert_false(frame_part_is(none, "") || frame_part_begins(none, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

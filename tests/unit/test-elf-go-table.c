// SPDX-License-Identifier: GPL-3.0-or-later
// Go's table of functions: those of a real program, packages, and damaged tables.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf/go-table.h"
#include "elf/object.h"
#include "skip.h"

#include <stdlib.h>
#include <string.h>

static const char program[] = "/usr/bin/gron";

static struct elf_object *open_program(void **state, struct go_table *ret_table)
{
    struct elf_object *object;
    struct error *error = elf_object_open(program, &object);
    if (error != NULL) {
        error_free(error);
        skip_because("there is no gron");
    }
    assert_true(elf_object_go_table(object, ret_table));
    return object;
}

static void functions_of_a_program(void **state)
{
    struct go_table table;
    struct go_function function, found;
    struct elf_object *object = open_program(state, &table);
    bool main_seen = false;
    size_t lines = 0, frames = 0;
    assert_true(table.count > 1000);
    for (uint64_t i = 0; i < table.count; i++) {
        const char *file;
        unsigned line;
        int64_t frame;
        assert_true(go_table_at(&table, i, &function));
        assert_true(function.entry <= function.end);
        if (function.entry == function.end)
            continue;
        assert_true(go_table_find(&table, function.end - 1, &found));
        assert_string_equal(found.name, function.name);
        frames += go_table_frame(&table, &function, function.entry, &frame) && frame == 0;
        bool known = go_table_line(&table, &function, function.entry, &file, &line);
        lines += known;
        if (strcmp(function.name, "main.main") == 0) {
            main_seen = true;
            assert_true(known);
            assert_non_null(strstr(file, "main.go"));
            // Somewhere in it there is a frame.
            assert_true(go_table_frame(&table, &function, function.entry + 100, &frame));
            assert_true(frame > 0);
        }
    }
    assert_true(main_seen);
    // The table also has the beginnings of C code, without lines.
    assert_true(lines * 10 > table.count * 9);
    assert_true(frames * 10 > table.count * 9);
    assert_true(go_table_at(&table, 0, &function));
    assert_false(go_table_find(&table, function.entry - 1, &found));
    elf_object_close(object);
}

// Whatever is wrong in it, no read leaves the table: run with sanitizers.
static void damaged_tables(void **state)
{
    struct go_table table, damaged;
    struct go_function function;
    struct elf_object *object = open_program(state, &table);
    for (size_t size = 0; size < 4096; size += 7) {
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, table.bytes, size);
        if (go_table_open(copy, size, 0x1000, &damaged))
            go_table_find(&damaged, table.text + 0x1000, &function);
        free(copy);
    }
    size_t size = 1u << 20;
    char *copy = malloc(size);
    assert_non_null(copy);
    for (unsigned seed = 1; seed < 200; seed++) {
        const char *file;
        unsigned line, next = seed;
        int64_t frame;
        memcpy(copy, table.bytes, size);
        for (unsigned i = 0; i < 64; i++) {
            next = next * 1103515245u + 12345u;
            copy[i < 8 ? 8 + next % 64 : (next >> 8) % size] = (char)next;
        }
        if (!go_table_open(copy, size, 0x1000, &damaged))
            continue;
        for (uint64_t i = 0; i < damaged.count && i < 500; i++)
            if (go_table_at(&damaged, i, &function)) {
                go_table_frame(&damaged, &function, function.entry, &frame);
                go_table_line(&damaged, &function, function.end, &file, &line);
                go_table_find(&damaged, function.entry, &function);
            }
    }
    free(copy);
    elf_object_close(object);
}

static void parts(void **state)
{
    static const struct {
        const char *function;
        enum go_part part;
    } rows[] = {
        {"main.main", GO_PROGRAM},
        {"main.(*T).run", GO_PROGRAM},
        {"github.com/a/b/c.F", GO_PROGRAM},
        {"github.com/a/b.(*T[go.shape.string_0]).F", GO_PROGRAM},
        {"runtime.futex.abi0", GO_RUNTIME},
        {"runtime/debug.Stack", GO_RUNTIME},
        {"internal/runtime/atomic.Load", GO_RUNTIME},
        {"internal/runtime/syscall.Syscall6", GO_CALLS},
        {"runtime/internal/syscall.EpollWait", GO_CALLS},
        {"syscall.Read", GO_CALLS},
        {"golang.org/x/sys/unix.Openat", GO_CALLS},
        {"internal/syscall/unix.GetRandom", GO_CALLS},
        {"os.(*File).Read", GO_STANDARD},
        {"net/http.(*Server).Serve", GO_STANDARD},
        {"vendor/golang.org/x/net/dns/dnsmessage.F", GO_STANDARD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (go_part_of(rows[i].function) != rows[i].part)
            fail_msg("%s: %d", rows[i].function, go_part_of(rows[i].function));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_a_program),
        cmocka_unit_test(damaged_tables),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

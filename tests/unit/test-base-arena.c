// SPDX-License-Identifier: GPL-3.0-or-later
// The arena: pieces of all sizes, texts, and memory that runs short.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "failing-memory.h"

#include <string.h>

#define PIECES 3000

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    struct arena arena = {0};
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i % 97;
        pieces[i] = arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 251 + 1), size);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < i % 97; j++)
            assert_int_equal(pieces[i][j], i % 251 + 1);
    arena_deinit(&arena);
    arena_deinit(&arena);
}

static void texts_do_not_disturb_what_is_aligned(void **state)
{
    struct arena arena = {0};
    for (size_t i = 0; i < PIECES; i++) {
        char *text = arena_copy(&arena, "a text that is copied", i % 20);
        max_align_t *other = arena_alloc(&arena, sizeof *other);
        assert_non_null(text);
        assert_non_null(other);
        assert_int_equal((uintptr_t)other % _Alignof(max_align_t), 0);
        memset(other, 0xff, sizeof *other);
        assert_int_equal(strlen(text), i % 20);
        assert_memory_equal(text, "a text that is copied", i % 20);
    }
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    arena_deinit(&arena);
}

static void large_pieces_leave_the_rest_of_use(void **state)
{
    struct arena arena = {0};
    char *before = arena_copy(&arena, "before", 6);
    char *large = arena_alloc(&arena, 1 << 20);
    char *after = arena_copy(&arena, "after", 5);
    assert_non_null(large);
    large[(1 << 20) - 1] = 'x';
    assert_ptr_equal(after, before + 7);
    arena_deinit(&arena);
    // It may also come first.
    large = arena_alloc(&arena, 1 << 20);
    assert_non_null(large);
    assert_string_equal(arena_copy(&arena, "after", 5), "after");
    arena_deinit(&arena);
}

static void too_much_is_refused(void **state)
{
    struct arena arena = {0};
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_copy(&arena, "", SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX / 2 + 1));
    arena_deinit(&arena);
}

static void short_memory_harms_nothing(void **state)
{
    struct arena arena = {0};
    armed = true;
    fail_at = 2;
    asked = 0;
    living = 0;
    char *kept = arena_copy(&arena, "kept", 4);
    void *large = arena_alloc(&arena, 1 << 20), *again = arena_alloc(&arena, 1 << 20);
    bool still = arena_copy(&arena, "more", 4) != NULL;
    arena_deinit(&arena);
    armed = false;
    assert_non_null(kept);
    assert_null(large);
    assert_non_null(again);
    assert_true(still);
    assert_int_equal(living, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(texts_do_not_disturb_what_is_aligned),
        cmocka_unit_test(large_pieces_leave_the_rest_of_use),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(short_memory_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

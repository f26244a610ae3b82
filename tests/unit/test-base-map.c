// SPDX-License-Identifier: GPL-3.0-or-later
// The map: growth, keys with one hash, sets, and memory that runs short.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "failing-memory.h"

#include <string.h>

static void good(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void all_keys_are_found_while_it_grows(void **state)
{
    struct map map = {0};
    assert_int_equal(map_find(&map, 0), MAP_NONE);
    for (uint32_t i = 0; i < 10000; i++) {
        uint64_t key = (uint64_t)i << 40 | i; // 0 is a key as any other
        assert_false(map_has(&map, key));
        good(map_put(&map, key, i));
        assert_int_equal(map_find(&map, key), i);
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(map_find(&map, (uint64_t)i << 40 | i), i);
    assert_int_equal(map_find(&map, 10000), MAP_NONE);
    assert_int_equal(map.count, 10000);
    map_deinit(&map);
    map_deinit(&map);
    assert_int_equal(map_find(&map, 0), MAP_NONE);
}

static void the_largest_values_are_kept(void **state)
{
    struct map map = {0};
    good(map_put(&map, UINT64_MAX, MAP_NONE - 1));
    assert_int_equal(map_find(&map, UINT64_MAX), MAP_NONE - 1);
    map_deinit(&map);
}

struct sought {
    const char *const *texts;
    const char *text;
};

static bool is_equal(const void *data, uint32_t value)
{
    const struct sought *sought = data;
    return strcmp(sought->texts[value], sought->text) == 0;
}

static uint32_t find(const struct map *map, uint64_t hash, const char *const *texts,
                     const char *text)
{
    return map_find_equal(map, hash, is_equal, &(struct sought){texts, text});
}

static void keys_with_one_hash_are_told_apart(void **state)
{
    static const char *const texts[] = {"one", "two", "three", "two"};
    struct map map = {0};
    assert_int_equal(find(&map, 7, texts, "one"), MAP_NONE);
    for (uint32_t i = 0; i < 4; i++)
        good(map_put(&map, 7, i));
    assert_int_equal(find(&map, 7, texts, "one"), 0);
    assert_int_equal(find(&map, 7, texts, "two"), 1);
    assert_int_equal(find(&map, 7, texts, "three"), 2);
    assert_int_equal(find(&map, 7, texts, "four"), MAP_NONE);
    assert_int_equal(find(&map, 8, texts, "one"), MAP_NONE);
    map_deinit(&map);
}

static bool is_any(const void *data, uint32_t value)
{
    return true;
}

// Wherever the keys have their places, at the end of the table too, and however it grows.
static void the_first_of_a_key_stays_the_first(void **state)
{
    for (uint64_t key = 0; key < 500; key++) {
        struct map map = {0};
        for (uint32_t i = 0; i < 100; i++)
            good(map_put(&map, key, i));
        assert_int_equal(map_find(&map, key), 0);
        assert_int_equal(map_find_equal(&map, key, is_any, NULL), 0);
        map_deinit(&map);
    }
}

static void a_set_knows_what_is_new(void **state)
{
    struct map set = {0};
    bool new;
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            good(map_add(&set, i * i, &new));
            assert_true(new);
            good(map_add(&set, i * i, &new));
            assert_false(new);
            good(map_add(&set, i * i, NULL));
        }
        assert_int_equal(set.count, 1000);
        map_clear(&set);
        assert_false(map_has(&set, 4));
    }
    map_deinit(&set);
    map_clear(&set);
}

static void reserved_room_needs_no_memory(void **state)
{
    struct map map = {0};
    good(map_put(&map, 1, 1));
    good(map_reserve(&map, 5000));
    armed = persistent = true;
    fail_at = 1;
    asked = 0;
    struct error *error = NULL;
    for (uint32_t i = 2; i <= 5000 && error == NULL; i++)
        error = map_put(&map, i, i);
    armed = persistent = false;
    good(error);
    for (uint32_t i = 1; i <= 5000; i++)
        assert_int_equal(map_find(&map, i), i);
    map_deinit(&map);
}

static void short_memory_harms_nothing(void **state)
{
    for (unsigned long n = 1; n < 5; n++) {
        struct map map = {0};
        struct error *error = NULL;
        uint32_t count = 0;
        armed = true;
        fail_at = n;
        asked = 0;
        living = 0;
        while (error == NULL && count < 100000)
            error = map_put(&map, count, count), count++;
        bool failed = error != NULL, again = map_put(&map, count - 1, count - 1) == NULL;
        error_free(error);
        armed = false;
        assert_true(failed);
        assert_true(again);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(map_find(&map, i), i);
        assert_int_equal(living, 1);
        armed = true;
        map_deinit(&map);
        armed = false;
        assert_int_equal(living, 0);
    }
    struct map map = {0};
    struct error *error = map_reserve(&map, SIZE_MAX);
    assert_non_null(error);
    error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_keys_are_found_while_it_grows),
        cmocka_unit_test(the_largest_values_are_kept),
        cmocka_unit_test(keys_with_one_hash_are_told_apart),
        cmocka_unit_test(the_first_of_a_key_stays_the_first),
        cmocka_unit_test(a_set_knows_what_is_new),
        cmocka_unit_test(reserved_room_needs_no_memory),
        cmocka_unit_test(short_memory_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

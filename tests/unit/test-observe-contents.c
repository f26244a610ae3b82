// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes of pieces give the hash of the whole, however it is divided; other bytes, another order or
// another length give another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/contents.h"

#include <stdlib.h>

static struct contents of(const void *bytes, size_t size)
{
    struct contents contents = {0};
    contents_add(&contents, bytes, size);
    return contents;
}

static void pieces_make_the_whole(void **state)
{
    unsigned char bytes[300];
    srandom(1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(random() % 4);
    for (int turn = 0; turn < 2000; turn++) {
        size_t size = (size_t)random() % sizeof bytes;
        struct contents whole = of(bytes, size), appended = {0}, added = {0};
        for (size_t done = 0; done < size;) {
            size_t step = (size_t)random() % (size - done + 1);
            struct contents piece = of(bytes + done, step);
            contents_append(&appended, &piece);
            contents_add(&added, bytes + done, step);
            done += step;
        }
        assert_int_equal(whole.hash, appended.hash);
        assert_int_equal(whole.hash, added.hash);
        assert_int_equal(appended.size, size);
        assert_int_equal(added.size, size);
    }
}

static void differences_are_seen(void **state)
{
    unsigned char bytes[64] = {0};
    uint64_t whole = of(bytes, sizeof bytes).hash;
    for (size_t i = 0; i < sizeof bytes; i++) {
        assert_int_not_equal(of(bytes, i).hash, whole);
        bytes[i] ^= 1;
        assert_int_not_equal(of(bytes, sizeof bytes).hash, whole);
        bytes[i] ^= 1;
    }
    assert_int_not_equal(of("ab", 2).hash, of("ba", 2).hash);
    assert_int_not_equal(of("\0", 1).hash, of("", 0).hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_make_the_whole),
                                       cmocka_unit_test(differences_are_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

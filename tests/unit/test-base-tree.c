// SPDX-License-Identifier: GPL-3.0-or-later
// Directories that others remove while the tree is walked.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned seen, left;

// Opens the entry. One that is called "gone" is removed before the walk reads it.
static struct error *enter(void *data, const struct tree_directory *directory, const char *name,
                           struct tree_directory *below)
{
    seen++;
    below->sides[0] = openat(directory->sides[0], name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(below->sides[0] >= 0);
    if (strcmp(name, "gone") == 0)
        assert_int_equal(unlinkat(directory->sides[0], name, AT_REMOVEDIR), 0);
    return NULL;
}

static struct error *leave(void *data, const struct tree_directory *parent, const char *name,
                           const struct tree_directory *directory)
{
    left++;
    return NULL;
}

static void a_directory_that_vanishes_is_empty(void **state)
{
    static const char *const names[] = {"a", "a/b", "a/gone", "a/b/gone", "gone"};
    static const struct tree_visitor visitor = {enter, leave};
    char place[] = "/tmp/ordeal-unit.XXXXXX";
    assert_non_null(mkdtemp(place));
    int root = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(mkdirat(root, names[i], 0700), 0);
    struct error *error = tree_walk(&(struct tree_directory){.sides = {root, -1}}, &visitor, NULL);
    if (error != NULL)
        fail_msg("%s", error_message(error));
    assert_int_equal(seen, 5);
    assert_int_equal(left, 5);
    assert_int_equal(unlinkat(root, "a/b", AT_REMOVEDIR), 0);
    assert_int_equal(unlinkat(root, "a", AT_REMOVEDIR), 0);
    close(root);
    assert_int_equal(rmdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_directory_that_vanishes_is_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

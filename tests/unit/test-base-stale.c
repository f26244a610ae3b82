// SPDX-License-Identifier: GPL-3.0-or-later
// Which leftovers are taken for those of the dead.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/stale.h"

#define HOUR 3600
#define WEEK (7 * 24 * HOUR)

static char place[] = "/tmp/ordeal-test-stale-XXXXXX";
static char removed[256];

static void note(int parent, const char *name)
{
    strcat(removed, strrchr(name, '-'));
}

static void leave(const char *owner, const char *name, time_t age)
{
    char path[256];
    const struct timespec when = {.tv_sec = time(NULL) - age};
    snprintf(path, sizeof path, "%s/x-%s-%s", place, owner, name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[]){when, when}, 0), 0);
}

static bool is_removed(bool locked, const char *name)
{
    removed[0] = '\0';
    stale_each(place, "x-", locked, note);
    return strstr(removed, name) != NULL;
}

static void namespaces(void **state)
{
    char dead[64], foreign[64];
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    const char *space = strrchr(stale_owner(), '.');
    assert_non_null(space);
    snprintf(dead, sizeof dead, "%ld.1%s", (long)gone, space);
    snprintf(foreign, sizeof foreign, "%ld.1.1", (long)getpid()); // a number of ours, too
    leave(stale_owner(), "own", 2 * WEEK);
    leave(dead, "dead", 0);
    leave(foreign, "fresh", 0);
    leave(foreign, "hour", HOUR);
    leave(foreign, "old", 2 * WEEK);
    for (int locked = 0; locked < 2; locked++) {
        assert_false(is_removed(locked, "-own"));
        assert_true(is_removed(locked, "-dead"));
        assert_false(is_removed(locked, "-fresh"));
        assert_true(is_removed(locked, "-old"));
    }
    assert_false(is_removed(false, "-hour"));
    assert_true(is_removed(true, "-hour"));
}

static int start(void **state)
{
    return mkdtemp(place) == NULL;
}

static int end(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", place);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces),
    };
    return cmocka_run_group_tests(tests, start, end);
}

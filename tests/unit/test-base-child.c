// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that are run and waited for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "ptrace-help.h"

static char *const none[] = {NULL};

static struct error *note(void *data, pid_t process)
{
    ++*(int *)data;
    return NULL;
}

static struct error *refuse(void *data, pid_t process)
{
    return error_new("refused");
}

static void what_cannot_be_run(void **state)
{
    int loaded = 0, status = 0;
    const char *refused = no_ptrace();
    if (refused != NULL)
        skip_in_part("no ptrace(): %s", refused);
    for (int traced = 0; traced < (refused == NULL ? 2 : 1); traced++) {
        const struct child child = {.command = (char *[]){"/nonesuch", NULL},
                                    .loaded = traced ? note : NULL,
                                    .data = &loaded};
        struct error *error = child_run(&child, &status);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), "cannot run /nonesuch: No such file"));
        error_free(error);
    }
    assert_int_equal(loaded, 0);
}

static void an_error_ends_it(void **state)
{
    int status = 0;
    needs_ptrace();
    const struct child child = {.command = (char *[]){"sleep", "1000", NULL}, .loaded = refuse};
    struct error *error = child_run(&child, &status);
    assert_string_equal(error_message(error), "refused");
    error_free(error);
}

static void set_timer(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

// Whoever is traced stops at signals, also at those that it ignores, before it is the command: here
// while that is looked for in very many places.
static void a_signal_before_it_is_loaded(void **state)
{
    enum { PLACES = 60000 };
    needs_ptrace();
    char *path = malloc(3 * PLACES + 32);
    int loaded = 0, status = 1;
    for (int i = 0; i < PLACES; i++)
        memcpy(path + 3 * i, "/-:", 3);
    strcpy(path + 3 * PLACES, "/usr/bin:/bin");
    char *before = strdup(getenv("PATH"));
    setenv("PATH", path, 1);
    assert_int_equal(pthread_atfork(NULL, NULL, set_timer), 0);
    signal(SIGALRM, SIG_IGN);
    const struct child child = {
        .command = (char *[]){"true", NULL}, .environment = none, .loaded = note, .data = &loaded};
    assert_null(child_run(&child, &status));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(loaded, 1);
    setenv("PATH", before, 1);
    free(before);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_run), cmocka_unit_test(an_error_ends_it),
        cmocka_unit_test(a_signal_before_it_is_loaded), // the last: it leaves its handler
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

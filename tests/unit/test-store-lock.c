// SPDX-License-Identifier: GPL-3.0-or-later
// A look at the names of a store takes two steps. Its writer may end between them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t writer;
static int looks; // before the writer ends; 0: it does not

// In place of the C library's: the room of the store calls it, and nobody else asks for locks here.
int fcntl64(int file, int command, ...);
int fcntl64(int file, int command, ...)
{
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    if (command == F_GETLK && looks > 0 && --looks == 0) {
        kill(writer, SIGKILL);
        assert_int_equal(waitpid(writer, NULL, 0), writer);
    }
    return (int)syscall(SYS_fcntl, file, command, argument);
}

static void start_writer(const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        struct store_lock *lock;
        if (store_lock_take(path, &lock) != NULL || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void check(const char *path, const char *part)
{
    struct error *error = store_lock_check_name(path);
    if (part == NULL && error != NULL)
        fail_msg("%s", error_message(error));
    if (part != NULL) {
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), part));
    }
    error_free(error);
}

static void a_writer_that_ends_has_no_other_name(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64], other[80];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/store", directory);
    snprintf(other, sizeof other, "%s/other", directory);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    for (int i = 1; i <= 2; i++) {
        start_writer(path);
        check(path, NULL);
        looks = i;
        check(path, NULL);
        assert_int_equal(looks, 0);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    start_writer(path);
    assert_int_equal(rename(path, other), 0);
    check(other, "is writing to this file under another name");
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    unlink(other);
    snprintf(other, sizeof other, "%s-lock", path);
    unlink(other);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_writer_that_ends_has_no_other_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

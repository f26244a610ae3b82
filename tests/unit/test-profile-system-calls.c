// SPDX-License-Identifier: GPL-3.0-or-later
// The table of what system calls can fail with: in order, and nothing in it that cannot be.
#include "profile/system-calls.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

static void expect(const char *name, const int *wanted)
{
    const struct error_set *errors = system_call_errors(NULL, system_call_number(name));
    assert_non_null(errors);
    for (; *wanted != 0; wanted++)
        if (!error_set_has(errors, (unsigned)*wanted))
            fail_msg("%s does not fail with %s", name, strerrorname_np(*wanted));
}

static size_t count(const char *name)
{
    const struct error_set *errors = system_call_errors(NULL, system_call_number(name));
    size_t found = 0;
    assert_non_null(errors);
    for (unsigned i = 0; i < ERROR_NUMBERS; i++)
        found += error_set_has(errors, i);
    return found;
}

static void test_names_and_numbers(void **state)
{
    int64_t last = -1;
    assert_true(system_call_count() > 300);
    for (size_t i = 0; i < system_call_count(); i++) {
        int64_t number = system_call_at(i);
        assert_true(number > last);
        last = number;
        assert_int_equal(system_call_number(system_call_name(number)), number);
    }
    assert_int_equal(system_call_number("close"), SYS_close);
    assert_int_equal(system_call_number("stat"), SYS_stat);
    assert_string_equal(system_call_name(SYS_openat), "openat");
    assert_int_equal(system_call_number("no_such_call"), SYSTEM_CALL_NONE);
    assert_null(system_call_name(100000));
    assert_null(system_call_name(-1));
    assert_null(system_call_errors(NULL, 100000));
    assert_null(system_call_errors(NULL, -1));
}

// Memory without a file; who is killed does not see that waiting ended.
static void test_memory(void **state)
{
    const struct system_call_case *memory = system_call_case(SYS_mmap);
    assert_non_null(memory);
    assert_int_equal(memory->argument, 4);
    assert_int_equal(memory->value, -1);
    assert_int_equal(memory->error, ENOMEM);
    const struct system_call_case *access = system_call_case(SYS_mprotect);
    assert_non_null(access);
    assert_int_equal(access->argument, 2);
    assert_int_equal(access->value, PROT_READ | PROT_WRITE);
    assert_int_equal(access->error, ENOMEM);
    const struct system_call_case *moved = system_call_case(SYS_mremap);
    assert_non_null(moved);
    assert_int_equal(moved->argument, 3);
    assert_int_equal(moved->value, MREMAP_MAYMOVE);
    assert_int_equal(moved->error, ENOMEM);
    assert_null(system_call_case(SYS_read));
    assert_false(error_set_has(system_call_errors(NULL, SYS_mmap), EINTR));
    assert_false(error_set_has(system_call_errors(NULL, SYS_mprotect), EINTR));
    assert_true(error_set_has(system_call_errors(NULL, SYS_read), EINTR));
}

static void test_what_must_be_there(void **state)
{
    expect("close", (const int[]){EBADF, EINTR, EIO, ENOSPC, 0});
    expect("read", (const int[]){EBADF, EINTR, EIO, EAGAIN, EFAULT, EINVAL, EISDIR, 0});
    expect("write", (const int[]){EBADF, EINTR, EIO, ENOSPC, EPIPE, EAGAIN, EFBIG, EDQUOT, 0});
    expect("openat", (const int[]){ENOENT, EACCES, EMFILE, ENFILE, ELOOP, EROFS, ENOMEM, 0});
    expect("connect", (const int[]){ECONNREFUSED, ETIMEDOUT, EINPROGRESS, ENOTSOCK, EBADF, 0});
    expect("recvfrom", (const int[]){ECONNRESET, EAGAIN, EINTR, ENOTCONN, ENOTSOCK, 0});
    expect("mmap", (const int[]){ENOMEM, EACCES, EBADF, EINVAL, 0});
    expect("wait4", (const int[]){ECHILD, EINTR, 0});
    expect("rename", (const int[]){EXDEV, ENOTEMPTY, EEXIST, EISDIR, 0});
    expect("ioctl", (const int[]){ENOTTY, EBADF, 0});
    expect("fork", (const int[]){EAGAIN, ENOMEM, 0});
}

static void test_what_cannot_be(void **state)
{
    static const char *const never[] = {"getpid", "getppid", "getuid", "gettid", "umask"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (count(never[i]) != 0)
            fail_msg("%s cannot fail", never[i]);
    for (size_t i = 0; i < system_call_count(); i++) {
        int64_t number = system_call_at(i);
        const struct error_set *errors = system_call_errors(NULL, number);
        const char *name = system_call_name(number);
        assert_false(error_set_has(errors, 0));
        for (unsigned e = EHWPOISON + 1; e < ERROR_NUMBERS; e++)
            assert_false(error_set_has(errors, e));
        if (error_set_has(errors, ECHILD) && strncmp(name, "wait", 4) != 0)
            fail_msg("%s has no child to wait for", name);
    }
    assert_true(count("close") <= 8);
    assert_true(count("open") <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_numbers), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_what_must_be_there), cmocka_unit_test(test_what_cannot_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

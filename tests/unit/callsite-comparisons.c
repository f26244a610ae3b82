// SPDX-License-Identifier: GPL-3.0-or-later
// Results that are compared with limits, with what was asked for or with other values, or that
// wrappers deal with: test-callsite-comparisons.c knows which calls are checked.
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

volatile int sink;
struct thing {
    long first;
    int other, descriptor;
};

APART int step(int x)
{
    sink += x;
    return sink;
}
APART void take(const char *text, int number)
{
    if (number != 0)
        sink = text != 0;
}

// ---- limits ----

APART int below_size(char *text, size_t size, int number)
{
    if ((size_t)snprintf(text, size, "%d", number) >= size)
        return step(7);
    return step(2);
}
APART int below_constant(char *text, const char *other)
{
    if ((unsigned)snprintf(text, 64, "%s", other) >= 64)
        return step(7);
    return step(2);
}
// A negative number is below the limit, too.
APART int below_signed(char *text, int size, int number)
{
    if (snprintf(text, (size_t)size, "%d", number) >= size)
        return step(7);
    return step(2);
}
APART int only_positive(void)
{
    if (getppid() > 0)
        return step(3);
    return step(7);
}
APART int at_least_one(int name)
{
    long number = sysconf(name);
    if (number < 1)
        number = 1;
    return step((int)number);
}

APART int unless_failed(int failed, int fd)
{
    if (failed >= 0 && close(fd) < 0)
        failed = -errno;
    return step(failed);
}

// ---- what was asked for ----

APART int certain_descriptor(int fd)
{
    if (dup2(fd, 0) != 0)
        return step(7);
    return step(2);
}
APART int four_bytes(int fd, char *text)
{
    if (recv(fd, text, 4, 0) != 4)
        return step(7);
    return step(2);
}
APART int behind_beginning(char *path)
{
    char *end;
    while ((end = strrchr(path, '/')) > path)
        *end = 0;
    return step(2);
}

// ---- other values ----

APART int next_descriptor(int fd)
{
    if (dup(fd) != 0)
        return step(7);
    return step(2);
}
APART int right_letter(FILE *file)
{
    if (getc(file) != 'V')
        return step(7);
    return step(2);
}
APART void to_end_of_line(FILE *file)
{
    while (getc(file) != '\n')
        ;
}

// ---- system calls ----

// It has no errors.
APART int asks_page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size < 8192 ? (int)size : 8192;
}
// ---- what is filled in ----

APART int filled_day(struct tm *passed)
{
    struct tm tm = *passed;
    tm.tm_wday = -1;
    time_t when = mktime(&tm);
    step(tm.tm_hour);
    if (tm.tm_wday < 0)
        return -1;
    return step((int)when);
}
APART int weekday(struct tm *passed)
{
    struct tm tm = *passed;
    mktime(&tm);
    return step(tm.tm_wday == 0 ? 7 : 8);
}

APART int asks_pid(void)
{
    sink = (int)syscall(SYS_getpid);
    return 3;
}
APART int asks_file(void)
{
    sink = (int)syscall(SYS_close, 3);
    return 3;
}

// ---- wrappers ----

int written = 1;
// It returns nothing.
APART void notes(const char *text, size_t size)
{
    if (written == 0)
        return;
    if (fwrite(text, 1, size, stdout) != size)
        written = 0;
}
APART int calls_notes(const char *text)
{
    notes(text, 3);
    notes(text, 4);
    return step(written);
}
APART int reports(const char *name)
{
    if (unlink(name) != 0) {
        take(name, 5);
        return -1;
    }
    return 0;
}
APART int checks_reports(const char *name)
{
    if (reports(name) != 0)
        return step(7);
    return step(2);
}
APART int ignores_reports(const char *name)
{
    reports(name);
    return step(2);
}
APART void complain(int fatal, const char *text)
{
    take(text, 1);
    if (fatal)
        exit(3);
    sink = 4;
}
APART char *must(size_t size)
{
    char *p = malloc(size);
    if (p == NULL)
        complain(1, "no memory");
    return p;
}
APART int uses_must(size_t size)
{
    char *p = must(size);
    p[0] = 1;
    take(p, 2);
    return step(1);
}
APART char *may(size_t size)
{
    char *p = malloc(size);
    if (p == NULL)
        complain(0, "no memory");
    return p;
}
APART int uses_may(size_t size)
{
    char *p = may(size);
    p[0] = 1;
    take(p, 2);
    return step(1);
}
// The same by a flag, and by a level.
enum { FATAL = 1, WARNING = 2, WITH_ERROR = 4 };
APART void complain_about(int how, const char *text)
{
    take((how & WARNING) != 0 ? text : "", how);
    if ((how & WITH_ERROR) != 0)
        step(errno);
    if ((how & FATAL) != 0)
        exit(1);
    sink = 5;
}
APART void log_at(int level, const char *text)
{
    take(text, level);
    if (level <= 2)
        exit(level);
    sink = 6;
}
APART char *must_by_flag(size_t size)
{
    char *p = malloc(size);
    if (p == NULL)
        complain_about(FATAL | WITH_ERROR, "no memory");
    return p;
}
APART int uses_must_by_flag(size_t size)
{
    char *p = must_by_flag(size);
    p[0] = 1;
    take(p, 2);
    return step(1);
}
APART char *must_by_level(size_t size)
{
    char *p = malloc(size);
    if (p == NULL)
        log_at(1, "no memory");
    return p;
}
APART int uses_must_by_level(size_t size)
{
    char *p = must_by_level(size);
    p[0] = 1;
    take(p, 2);
    return step(1);
}
APART char *may_by_level(size_t size)
{
    char *p = malloc(size);
    if (p == NULL)
        log_at(3, "no memory");
    return p;
}
APART int uses_may_by_level(size_t size)
{
    char *p = may_by_level(size);
    p[0] = 1;
    take(p, 2);
    return step(1);
}
APART long long converts(const char *text, int *error)
{
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (number == LLONG_MIN && errno == ERANGE) {
        *error = 1;
        return 0;
    }
    return number;
}
APART int uses_converted(const char *text)
{
    int error = 0;
    long long number = converts(text, &error);
    take(text, (int)number);
    return step(error);
}

// ---- elsewhere ----

APART int take_many(int a, int b, int c, int d, int e, int f, const char *seventh)
{
    sink = a + b + c + d + e + f;
    return seventh != NULL ? step(1) : step(2);
}
APART int passes_seventh(size_t size)
{
    char *p = malloc(size);
    step(1);
    return take_many(1, 2, 3, 4, 5, 6, p);
}

APART void keeps(struct thing *thing, const char *name)
{
    thing->descriptor = open(name, O_RDONLY);
}
APART int uses_kept(const struct thing *thing)
{
    if (thing->descriptor < 0)
        return step(7);
    return step(thing->descriptor);
}
APART void keeps_other(struct thing *thing, const char *name)
{
    thing->other = open(name, O_RDONLY);
}
int logged(const char *name)
{
    int fd = open(name, O_RDONLY);
    take(name, fd);
    return fd;
}

// EOF is like all other characters that are not meant.
APART int put_back(FILE *file)
{
    int c = getc(file);
    ungetc(c, file);
    return c == 'V' ? step(2) : 3;
}
APART int digit(FILE *file)
{
    int c = getc(file);
    return isdigit(c) ? step(2) : 3;
}

int main(int argc, char **argv)
{
    struct tm tm = {.tm_mday = argc};
    struct thing thing = {0};
    keeps(&thing, argv[0]);
    keeps_other(&thing, argv[0]);
    to_end_of_line(stdin);
    return below_size(argv[0], 3, 4) + below_constant(argv[0], argv[1]) +
           below_signed(argv[0], 3, 4) + only_positive() + at_least_one(argc) +
           certain_descriptor(argc) + four_bytes(argc, argv[0]) + behind_beginning(argv[0]) +
           next_descriptor(argc) + right_letter(stdin) + calls_notes(argv[0]) +
           checks_reports(argv[0]) + ignores_reports(argv[0]) + uses_must(3) + uses_may(4) +
           uses_converted(argv[0]) + uses_kept(&thing) + uses_must_by_flag(3) +
           uses_must_by_level(3) + uses_may_by_level(3) + asks_page_size() + filled_day(&tm) +
           weekday(&tm) + put_back(stdin) + digit(stdin);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that can fail, checked in every way and in none: test-callsite-find.c knows which.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

volatile int sink;
char *global_pointer;
int global_number;
struct thing {
    int number;
    char *text;
    struct thing *inner;
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

// ---- checked ----

APART int by_null(size_t n)
{
    char *p = malloc(n);
    if (p == NULL)
        return -1;
    p[0] = 1;
    take(p, 3);
    return 0;
}
APART int by_not_null(size_t n)
{
    char *p = malloc(n);
    if (p) {
        memset(p, 1, n);
        take(p, 4);
        return step(3);
    }
    return 9;
}
APART int by_minus_one(const char *name)
{
    int fd = open(name, O_RDONLY);
    if (fd == -1)
        return step(7);
    step(fd);
    return 2;
}
APART int by_sign(const char *name)
{
    int fd = open(name, O_RDONLY);
    if (fd < 0)
        return step(7);
    step(fd);
    return 2;
}
APART int by_not_negative(const char *name)
{
    int fd = open(name, O_RDONLY);
    if (fd >= 0)
        step(fd);
    return 2;
}
APART int by_above_zero(int fd)
{
    char buffer[64];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        step((int)n);
    return 0;
}
APART int by_unsigned(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, 3, 0);
    if ((unsigned long)p > -4096ul)
        return step(1);
    return *(char *)p;
}
APART int by_length(int fd, const char *text, size_t n)
{
    if (write(fd, text, n) != (ssize_t)n)
        return step(3);
    return 5;
}
APART int by_fixed_length(int fd)
{
    int number;
    if (read(fd, &number, sizeof number) != sizeof number)
        return step(3);
    return number;
}
APART int by_zero_only(int fd)
{
    if (close(fd) != 0)
        return step(3);
    return 2;
}
APART int by_switch(void)
{
    switch (fork()) {
    case -1:
        return step(1);
    case 0:
        return step(2);
    default:
        return step(3);
    }
}
APART int by_long_switch(const char *name)
{
    switch (open(name, 0)) {
    case -1:
        return step(11);
    case 0:
        step(2);
        return 40;
    case 1:
        return step(13) + 7;
    case 2:
        sink = 9;
        return step(1) + 1;
    case 3:
        sink += 3;
        return 6;
    case 4:
        step(step(1));
        return 9;
    default:
        return 1;
    }
}
APART int by_variable(const char *name)
{
    volatile int kept = 3;
    int bad = -1;
    step(kept);
    int fd = open(name, O_RDONLY);
    if (fd == bad)
        return step(3);
    return step(fd);
}
APART int by_truth(const char *name)
{
    int worked = open(name, O_RDONLY) >= 0;
    step(2);
    return worked;
}
APART char *by_choice(size_t n)
{
    char *p = malloc(n);
    return p != NULL ? p : "nothing";
}
APART int in_global(size_t n)
{
    global_pointer = malloc(n);
    if (global_pointer == NULL)
        return step(1);
    global_pointer[0] = 1;
    return 0;
}
APART int in_heap(struct thing *thing, size_t n)
{
    thing->number = 3;
    thing->text = malloc(n);
    if (thing->text == NULL)
        return step(1);
    thing->text[0] = 1;
    return 0;
}
APART int in_deep_heap(struct thing *thing, size_t n)
{
    thing->inner->text = malloc(n);
    if (!thing->inner->text)
        return step(1);
    thing->inner->text[0] = 1;
    return 0;
}
APART int after_another_call(const char *name)
{
    int fd = open(name, O_RDONLY);
    step(3);
    step(4);
    if (fd < 0)
        return step(5);
    return step(fd);
}
APART int in_both(size_t n)
{
    char *p = malloc(n);
    if (sink)
        step(3);
    else
        step(4);
    if (!p)
        return 1;
    *p = 0;
    take(p, 1);
    return 0;
}
APART int in_loop(int fd)
{
    char buffer[64];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        if (n == 0)
            return 0;
        step((int)n);
    }
}
APART long by_errno(const char *text)
{
    errno = 0;
    long number = strtol(text, NULL, 10);
    if (errno == ERANGE)
        return step(1);
    return number + 1;
}
APART long by_errno_kept(const char *text)
{
    int *place = &errno;
    *place = 0;
    long number = strtol(text, NULL, 10);
    if (*place != 0)
        return step(1);
    return number + 1;
}

// ---- wrappers ----

APART void *guard(size_t n)
{
    void *p = malloc(n);
    if (p == NULL) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return p;
}
APART void *guard_or_empty(size_t n)
{
    void *p = malloc(n);
    if (p == NULL && n != 0)
        abort();
    return p;
}
APART int guarded(size_t n)
{
    char *p = guard(n);
    p[0] = 1;
    take(p, 1);
    p = guard_or_empty(n);
    take(p, p[0]);
    return 1;
}
APART void *passes(size_t n)
{
    sink = 8;
    return malloc(n + 1);
}
APART ssize_t retries(int fd, char *to)
{
    ssize_t n;
    do
        n = read(fd, to, 8);
    while (n < 0 && errno == EINTR);
    return n;
}
APART int passes_checked(size_t n)
{
    char *p = passes(n);
    if (p == NULL)
        return step(3);
    p[0] = 1;
    take(p, 1);
    return 1;
}
APART int passes_unchecked(size_t n)
{
    char *p = passes(n);
    p[0] = 1;
    take(p, 1);
    return 1;
}
APART int far_caller_end(const char *name)
{
    step(1);
    step(2);
    if (sink == 77)
        return 3;
    for (int i = 0; i < 10; i++)
        step(i);
    int fd = open(name, O_RDONLY);
    step(4);
    return fd;
}
APART int far_caller(const char *name)
{
    int fd = far_caller_end(name);
    if (fd < 0)
        return step(3);
    return step(fd);
}

APART int check_inside(char *p)
{
    if (p == NULL)
        return step(1);
    *p = 1;
    return step(2);
}
APART int called_on(size_t n)
{
    step(1);
    check_inside(malloc(n));
    return 1;
}
APART char *give_back(char *p)
{
    sink = 5;
    return p;
}
APART int given_back(size_t n)
{
    char *p = give_back(malloc(n));
    if (p == NULL)
        return step(1);
    p[0] = 1;
    take(p, 1);
    return 2;
}

// ---- checked, but not before the first use on every way ----

APART int checked_late(size_t n)
{
    volatile char *p = malloc(n);
    p[0] = 1;
    step(3);
    if (p == NULL)
        return 4;
    p[1] = 2;
    return 1;
}
APART int passed_then_checked(const char *name)
{
    int fd = open(name, O_RDONLY);
    step(fd);
    if (fd < 0)
        return step(3);
    return step(1);
}
APART int checked_sometimes(size_t n)
{
    volatile char *p = malloc(n);
    if (sink) {
        if (p == NULL)
            return step(3);
        return step(1);
    }
    p[3] = 5;
    return 1;
}

// ---- unchecked ----

APART int ignored(int fd)
{
    close(fd);
    return step(1);
}
APART void ignored_at_end(const char *name)
{
    step(3);
    unlink(name);
    sink = 4;
}
APART int used_at_once(size_t n)
{
    volatile char *p = malloc(n);
    p[0] = 1;
    return 1;
}
APART int used_with_index(size_t n, int i)
{
    volatile char *p = malloc(n);
    p[i] = 1;
    return 1;
}
APART int passed_on(const char *name)
{
    DIR *directory = opendir(name);
    struct dirent *entry;
    int count = 0;
    while ((entry = readdir(directory)) != NULL)
        count++;
    return count;
}
APART int passed_second(const char *name)
{
    int fd = open(name, O_RDONLY);
    take(name, fd);
    return 1;
}
APART int stored_global(const char *name)
{
    global_number = open(name, O_RDONLY);
    return 1;
}
APART int stored_out(char **place, size_t n)
{
    *place = malloc(n);
    return 1;
}
APART int wrong_constant(const char *name)
{
    int fd = open(name, O_RDONLY);
    if (fd == 0)
        return step(3);
    step(fd);
    return 1;
}
APART int wrong_end(int fd)
{
    char buffer[64];
    if (read(fd, buffer, sizeof buffer) == 0)
        return step(3);
    return buffer[0];
}
APART int wrong_null(size_t n)
{
    char *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, 3, 0);
    if (p == NULL)
        return step(1);
    return *p;
}
APART int child_only(void)
{
    if (fork() == 0)
        return step(2);
    return step(3);
}
APART int partly(void)
{
    int r = select(0, NULL, NULL, NULL, NULL);
    if (r == -1)
        return step(3);
    step(r);
    return 1;
}
// An element of an array, found again by the same index.
APART int in_array(const char *name, const struct thing *thing)
{
    int all[4];
    all[thing->number & 3] = open(name, O_RDONLY);
    if (all[thing->number & 3] < 0)
        return step(1);
    return step(all[thing->number & 3]);
}
APART int in_structures(const char *name, const struct thing *thing)
{
    struct {
        long before;
        int file;
    } all[3];
    all[thing->number].file = open(name, O_RDONLY);
    if (all[thing->number].file == -1)
        return step(1);
    return step(all[thing->number].file);
}
// Another element says nothing.
APART int in_other_element(const char *name, const struct thing *thing)
{
    volatile int all[4] = {0};
    all[thing->number & 3] = open(name, O_RDONLY);
    if (all[sink & 3] < 0)
        return step(1);
    return 2;
}

// Given back by a function that is jumped to.
APART static int not_standard(int file)
{
    if (file >= 0 && file <= 2)
        return dup(file);
    return file;
}
APART int given_back_at_end(const char *name)
{
    return not_standard(open(name, O_RDONLY));
}
APART int gets_it_back(const char *name)
{
    int file = given_back_at_end(name);
    if (file < 0)
        return step(4);
    return step(file);
}

// The child that was asked for.
APART int until_child(int child)
{
    int status;
    while (waitpid(child, &status, 0) != child)
        step(2);
    return step(status);
}
// Only repeated: what other errors there are makes no difference.
APART int only_repeated(int child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return step(child);
}
APART int repeated_and_checked(int child)
{
    int got;
    while ((got = waitpid(child, NULL, 0)) < 0 && errno == EINTR)
        ;
    return got < 0 ? step(1) : step(child);
}

// Several results are gathered, and checked together.
APART int gathered(const char *name, const char *other)
{
    int wrong = step(1);
    wrong |= unlink(name);
    wrong |= rmdir(other);
    if (wrong)
        return step(5);
    return 2;
}
// The position that was asked for is 0.
APART int to_beginning(int fd)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        return step(3);
    return 5;
}
// The position decides, and a failure is below it.
APART int far_enough(int fd)
{
    if (lseek(fd, 0, SEEK_END) < 3)
        return step(3);
    return 5;
}
// Success is the buffer that was passed.
APART int same_line(FILE *file)
{
    char line[64];
    int count = step(0);
    while (fgets(line, sizeof line, file) == line)
        count += line[0];
    return step(count);
}
// Another function compares the variable before it uses it.
static FILE *kept_file;
APART void opens_kept(const char *name)
{
    kept_file = fdopen(step(3), name);
}
APART int uses_kept(void)
{
    if (kept_file == NULL)
        return step(4);
    return fgetc(kept_file);
}
// The wrapper returns -1 also for results that are none of the failures.
APART int worked(void)
{
    if (getppid() == 0)
        return 0;
    if (errno == ENOSYS)
        return step(1);
    return -1;
}
APART int asks_wrapper(void)
{
    int result = worked();
    if (result < 0)
        return step(7);
    return result != 0 ? step(2) : 3;
}
// Nothing is returned: what is left in the register at the end is the result of closedir().
APART void walks(const char *name, volatile char *end, int depth)
{
    DIR *directory = opendir(name);
    if (directory == NULL)
        return;
    if (depth != 0)
        walks(name, end, depth - 1);
    closedir(directory);
    if (end != NULL)
        *end = '/';
}

int unknown_caller(const char *name)
{
    step(1);
    return open(name, O_RDONLY);
}

int main(int argc, char **argv)
{
    return by_null(1) + by_not_null(2) + by_minus_one(*argv) + by_sign(*argv) +
           by_not_negative(*argv) + by_above_zero(3) + by_unsigned(4) + by_length(1, *argv, 3) +
           by_fixed_length(3) + by_zero_only(3) + by_switch() + by_long_switch(*argv) +
           by_variable(*argv) + by_truth(*argv) + *by_choice(3) + in_global(3) + in_heap(NULL, 3) +
           in_deep_heap(NULL, 3) + after_another_call(*argv) + in_both(3) + in_loop(3) +
           (int)by_errno(*argv) + (int)by_errno_kept(*argv) + guarded(3) + passes_checked(3) +
           passes_unchecked(3) + far_caller(*argv) + checked_late(3) + passed_then_checked(*argv) +
           checked_sometimes(3) + ignored(3) + (ignored_at_end(*argv), 1) + used_at_once(3) +
           used_with_index(3, argc) + passed_on(*argv) + passed_second(*argv) +
           stored_global(*argv) + stored_out(argv, 3) + wrong_constant(*argv) + wrong_end(3) +
           wrong_null(3) + child_only() + partly() + in_array(*argv, NULL) +
           in_structures(*argv, NULL) + in_other_element(*argv, NULL) + gets_it_back(*argv) +
           until_child(3) + only_repeated(3) + repeated_and_checked(3) +
           gathered(argv[0], argv[1]) + to_beginning(3) + asks_wrapper() + far_enough(3) +
           (opens_kept(*argv), 1) + uses_kept() + same_line(stdin) + (walks(*argv, NULL, 3), 1);
}

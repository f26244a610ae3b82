// SPDX-License-Identifier: GPL-3.0-or-later
// A variable points to the heap, or (ways that start with a p) to pages of its own, or (with an o)
// to the program's own data, and the page is taken away or moved in one of many ways; or to an
// address that is given. Calls getppid() before and after; says what it returned.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096l

struct thing {
    long number;
    int flag;
    short small;
};
struct thing *thing;

static void on_fault(int number)
{
    (void)number;
    static const char text[] = "fault seen\n";
    _exit(write(1, text, sizeof text - 1) < 0 ? 8 : 9);
}

static void by_hand(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    if (result < 0)
        _exit(7);
}

// In the child it is not there.
static void go_on_in_child(char *page)
{
    int status;
    if (madvise(page, PAGE, MADV_DONTFORK) != 0)
        _exit(6);
    pid_t child = fork();
    if (child != 0)
        _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 5);
}

static char *memory(const char *how)
{
    static char own[16 * PAGE];
    if (how[0] == 'o')
        return own;
    if (how[0] != 'p')
        return sbrk(16 * PAGE);
    return mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void take_away(const char *how)
{
    how += how[0] == 'p' || how[0] == 'o';
    char *page = (char *)thing;
    int failed = 0;
    if (strcmp(how, "munmap") == 0)
        failed = munmap(page, PAGE);
    else if (strcmp(how, "mprotect") == 0)
        failed = mprotect(page, PAGE, PROT_NONE);
    else if (strcmp(how, "mmap") == 0)
        failed =
            mmap(page, PAGE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != page;
    else if (strcmp(how, "mremap") == 0)
        failed = mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED;
    else if (strcmp(how, "brk") == 0)
        failed = brk(page);
    else if (strcmp(how, "syscall") == 0)
        failed = (int)syscall(SYS_munmap, page, PAGE);
    else if (strcmp(how, "hand") == 0)
        by_hand(SYS_munmap, (long)page, PAGE, 0);
    else if (strcmp(how, "elsewhere") == 0)
        failed = munmap(page + 8 * PAGE, PAGE);
    else if (strcmp(how, "fork") == 0)
        go_on_in_child(page);
    else if (strcmp(how, "fault") == 0)
        *(volatile char *)8 = 1;
    if (failed)
        exit(6);
}

static const char *way;

// Perhaps as a handler, with every signal held off meanwhile or the default back in its place.
static void lose(int number)
{
    char text[64];
    int length = 0;
    (void)number;
    take_away(way);
    for (int i = 0; i < 3; i++)
        length += sprintf(text + length, "%s ", getppid() == -1 ? "fails" : "goes");
    text[length - 1] = '\n';
    _exit(write(1, text, (size_t)length) == length ? 0 : 4);
}

int main(int count, char **arguments)
{
    const char *signals = count > 2 ? arguments[2] : "";
    sigset_t all;
    sigfillset(&all);
    if (strcmp(signals, "own") == 0)
        signal(SIGSEGV, on_fault);
    else if (strcmp(signals, "ignored") == 0)
        signal(SIGSEGV, SIG_IGN);
    else if (strcmp(signals, "held") == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    else if (strcmp(signals, "masked") == 0)
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = lose, .sa_mask = all}, NULL);
    else if (strcmp(signals, "handling") == 0)
        sigaction(SIGSEGV, &(struct sigaction){.sa_handler = lose}, NULL);
    else if (strcmp(signals, "reset") == 0)
        sigaction(SIGSEGV,
                  &(struct sigaction){.sa_handler = lose, .sa_flags = SA_NODEFER | SA_RESETHAND},
                  NULL);
    else if (strcmp(signals, "unmasked") == 0) // where nothing is handled a mask is none
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = SIG_IGN, .sa_mask = all}, NULL);
    thing = (struct thing *)strtoul(arguments[1], NULL, 0);
    if (arguments[1][0] >= 'a') {
        char *start = memory(arguments[1]);
        thing = (struct thing *)(((unsigned long)start + PAGE - 1) & ~(PAGE - 1ul));
        thing->number = 5;
        thing->flag = 3;
        thing->small = 2;
    }
    for (int i = 0; i < 3; i++)
        getppid();
    way = arguments[1];
    if (strcmp(signals, "masked") == 0)
        raise(SIGUSR1);
    else if (strcmp(signals, "handling") == 0 || strcmp(signals, "reset") == 0)
        raise(SIGSEGV);
    else
        lose(SIGUSR1);
    return 3;
}

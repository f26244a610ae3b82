// SPDX-License-Identifier: GPL-3.0-or-later
// To preload: makes one call fail without Ordeal, and says whether the process then dies, and where. Built by `confirm`.
// CONFIRM_CALL=FUNCTION:MODULE:RETURN-ADDRESS[:N] is the Nth call of the function from that place of a module (0: each of
// them); CONFIRM_LOG the file for what happens.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static char function[64], module[128];
static unsigned long place;
static long wanted = 1, met;
static int started;
static __thread int busy; // what follows calls the functions, too

static void note(const char *text)
{
    const char *log = getenv("CONFIRM_LOG");
    int file = log != NULL ? open(log, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (file >= 0 && write(file, text, strlen(text)) < 0)
        abort();
    if (file >= 0)
        close(file);
}

// The program itself is known by the file that runs, whatever name it was started by.
static int is_module(const char *path)
{
    char real[PATH_MAX];
    if (realpath(path, real) == NULL && realpath("/proc/self/exe", real) == NULL)
        return 0;
    const char *name = strrchr(real, '/') + 1;
    if (strcmp(name, module) == 0)
        return 1;
    return strcmp(strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, module) == 0;
}

static int matches(const char *name, void *caller)
{
    Dl_info info;
    if (!started) {
        const char *call = getenv("CONFIRM_CALL");
        started = 1;
        if (call != NULL && sscanf(call, "%63[^:]:%127[^:]:%lx:%ld", function, module, &place, &wanted) < 3)
            abort();
    }
    if (strcmp(name, function) != 0 || dladdr(caller, &info) == 0 || info.dli_fname == NULL ||
        (unsigned long)((char *)caller - (char *)info.dli_fbase) != place || !is_module(info.dli_fname) ||
        (++met != wanted && wanted != 0))
        return 0;
    note("failed\n");
    errno = ENOMEM;
    return 1;
}

static int fails(const char *name, void *caller)
{
    if (busy)
        return 0;
    busy = 1;
    int failing = matches(name, caller);
    busy = 0;
    return failing;
}
#define FAILS(name) fails(name, __builtin_return_address(0))

void *malloc(size_t size)
{
    return FAILS("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS("calloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return FAILS("realloc") ? NULL : __libc_realloc(block, size);
}

static void *copy(const void *data, size_t size)
{
    void *block = __libc_malloc(size);
    return block != NULL ? memcpy(block, data, size) : NULL;
}

char *strdup(const char *text)
{
    return FAILS("strdup") ? NULL : copy(text, strlen(text) + 1);
}

wchar_t *wcsdup(const wchar_t *text)
{
    return FAILS("wcsdup") ? NULL : copy(text, (wcslen(text) + 1) * sizeof *text);
}

FILE *fdopen(int descriptor, const char *mode)
{
    FILE *(*real)(int, const char *) = (FILE * (*)(int, const char *)) dlsym(RTLD_NEXT, "fdopen");
    return FAILS("fdopen") ? NULL : real(descriptor, mode);
}

static void died(int number, siginfo_t *info, void *context)
{
    (void)info;
    Dl_info place_of = {0};
    char text[300];
    void *address = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    const char *name = dladdr(address, &place_of) != 0 && place_of.dli_fname != NULL ? place_of.dli_fname : "?";
    snprintf(text, sizeof text, "signal %d at %s+0x%lx\n", number, strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name,
             (unsigned long)((char *)address - (char *)place_of.dli_fbase));
    if (met != 0)
        note(text);
    signal(number, SIG_DFL);
    if (number == SIGABRT)
        raise(number);
}

__attribute__((constructor)) static void watch(void)
{
    struct sigaction action = {.sa_sigaction = died, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}

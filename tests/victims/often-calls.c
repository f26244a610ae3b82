// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -pthread -O1
// Makes calls again and again, in ways that are hard for whoever replaces them: often-calls PART
// [COUNT].
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int file;
static int failures;
static void check(int good, const char *what)
{
    if (good)
        return;
    failures++;
    dprintf(2, "failed: %s, errno %d\n", what, errno);
}
static void put(const char *text)
{
    check(write(file, text, strlen(text)) == (ssize_t)strlen(text), "write");
}

// The next signal comes that long after the last one was handled: where a stop takes longer than
// the time between signals, a program that they interrupt again and again would get nowhere.
static atomic_int ticking;
static void again(void)
{
    const struct itimerval timer = {{0, 0}, {0, 60}};
    if (ticking)
        setitimer(ITIMER_REAL, &timer, NULL);
}
static atomic_int ticks;
static void tick(int number)
{
    ticks += number;
    again();
}
static sigjmp_buf out;
static void leap(int number)
{
    again();
    siglongjmp(out, number);
}

static void timers(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGALRM, &action, NULL);
    ticking = 1;
    again();
}
static void calm(void)
{
    struct itimerval timer = {0};
    ticking = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    signal(SIGALRM, SIG_IGN);
}
// Every line is written once, whatever arrives.
static void under_signals(int count)
{
    char line[32];
    timers(tick, SA_RESTART);
    for (int i = 0; i < count; i++) {
        int size = sprintf(line, "signal %d\n", i);
        check(write(file, line, (size_t)size) == size, "write under signals");
        struct stat status;
        check(stat(".", &status) == 0, "stat under signals");
        char byte;
        check(pread(file, &byte, 1, 0) == 1, "pread under signals");
    }
    calm();
}
// Signals have come from the start. Whoever was interrupted has left no descriptor open.
static void early(void)
{
    calm();
    int next = dup(file);
    dprintf(1, "the next descriptor is %d\n", next);
    close(next);
}
// A short stack, below which there is something else.
static void short_stack(void)
{
    static char area[4096];
    memset(area, 'c', sizeof area);
    for (int i = 0; i < 30; i++)
        __asm__ volatile("mov %%rsp, %%r12\n\tmov %0, %%rsp\n\tmov $-1, %%edi\n\t"
                         "mov $1, %%eax\n\tsyscall\n\tmov %%r12, %%rsp"
                         :
                         : "r"(area + 2048)
                         : "rax", "rcx", "r11", "r12", "rdi", "memory");
    int changed = 0;
    for (int i = 0; i < 2048 - 256; i++)
        changed += area[i] != 'c';
    check(changed == 0, "what is below the stack");
}
// Registers survive.
static void registers(int count)
{
    timers(tick, SA_RESTART);
    for (int i = 0; i < count; i++) {
        uint64_t seen[6];
        register uint64_t r12 __asm__("r12") = 0x1212000 + (uint64_t)i, r13 __asm__("r13") = 0x1313,
                              r14 __asm__("r14") = 0x1414, r15 __asm__("r15") = 0x1515;
        __asm__ volatile("" : "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15));
        ssize_t done = pwrite(file, "r", 1, 0);
        __asm__ volatile("" : "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15));
        seen[0] = r12;
        seen[1] = r13;
        seen[2] = r14;
        seen[3] = r15;
        check(done == 1 && seen[0] == 0x1212000 + (uint64_t)i && seen[1] == 0x1313 &&
                  seen[2] == 0x1414 && seen[3] == 0x1515,
              "registers");
    }
    calm();
}
static void leaps(int count)
{
    volatile int i = 0;
    sigjmp_buf *place = &out;
    if (sigsetjmp(*place, 1) != 0) {
    }
    timers(leap, 0);
    for (; i < count; i++) {
        struct stat status;
        stat("/", &status);
        lseek(file, 0, SEEK_CUR);
    }
    calm();
}
static void interrupted(void)
{
    int ends[2];
    char byte;
    check(pipe(ends) == 0, "pipe");
    for (int i = 0; i < 20; i++) {
        check(write(ends[1], "x", 1) == 1, "pipe write");
        check(read(ends[0], &byte, 1) == 1, "pipe read");
    }
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval once = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &once, NULL);
    check(read(ends[0], &byte, 1) == -1 && errno == EINTR, "read is interrupted");
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &once, NULL);
    pid_t child = fork();
    if (child == 0) {
        usleep(60000);
        check(write(ends[1], "y", 1) == 1, "write of child");
        _exit(0);
    }
    check(read(ends[0], &byte, 1) == 1 && byte == 'y', "read is restarted");
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
}
// While the handler of a signal makes the call that it has interrupted.
static int source;
static void call_often(int number)
{
    char byte;
    for (int i = 0; i < 100; i++)
        ticks += read(source, &byte, 1) == 1;
}
static void within_handler(void)
{
    int ends[2];
    char byte;
    source = open("/proc/self/exe", O_RDONLY);
    check(pipe(ends) == 0, "pipe");
    struct sigaction action = {.sa_handler = call_often};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval once = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &once, NULL);
    check(read(ends[0], &byte, 1) == -1 && errno == EINTR, "read is interrupted");
    check(ticks == 100, "handler reads");
    close(ends[0]);
    close(ends[1]);
    close(source);
}
static void bad_pointers(void)
{
    struct stat status;
    for (int i = 0; i < 30; i++) {
        check(write(file, (void *)16, 5) == -1 && errno == EFAULT, "write from nowhere");
        check(read(file, (void *)16, 5) == -1 || errno == EFAULT, "read to nowhere");
        check(stat((char *)16, &status) == -1 && errno == EFAULT, "stat of nowhere");
        check(open((char *)16, O_RDONLY) == -1 && errno == EFAULT, "open nowhere");
        check(write(-1, "x", 1) == -1 && errno == EBADF, "write to nothing");
        check(write(999, "x", 1) == -1 && errno == EBADF, "write to nothing else");
    }
    // The page behind a path is missing.
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    memcpy(page + 4094, "/", 2);
    for (int i = 0; i < 5; i++)
        check(stat(page + 4094, &status) == 0, "stat before a hole");
    page[4093] = 'x';
    page[4094] = 'y';
    page[4095] = 'z';
    check(write(file, page + 4093, 100) == 3 || errno == EFAULT, "write up to a hole");
    munmap(page, 4096);
}
static void renames(void)
{
    char name[32], old[32] = "file";
    for (int i = 0; i < 6; i++) {
        sprintf(name, "renamed-%d", i);
        put("before\n");
        check(rename(old, name) == 0, "rename");
        put("behind\n");
        strcpy(old, name);
    }
    check(rename(old, "file") == 0, "rename back");
    // Another file under the same number.
    int copy = dup(file);
    int other = open("other", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 5; i++) {
        dup2(other, file);
        put("other\n");
        dup2(copy, file);
        put("own\n");
    }
    close(copy);
    close(other);
    int gone = open("gone", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 4; i++)
        check(write(gone, "1", 1) == 1, "named");
    unlink("gone");
    for (int i = 0; i < 4; i++)
        check(write(gone, "2", 1) == 1, "unnamed");
    close(gone);
}
// One file under two names.
static void names(void)
{
    check(link("file", "name") == 0, "link");
    for (int i = 0; i < 20; i++) {
        int other = open(i % 2 == 0 ? "file" : "name", O_WRONLY | O_APPEND);
        for (int k = 0; k < 4; k++)
            check(write(other, "name\n", 5) == 5, "write to a name");
        close(other);
    }
    unlink("name");
}
static void vectors(void)
{
    char bytes[3000];
    memset(bytes, 'v', sizeof bytes);
    struct iovec vector[20];
    for (int i = 0; i < 20; i++)
        vector[i] = (struct iovec){bytes, (size_t)(i * 100)};
    for (int i = 0; i < 30; i++)
        check(writev(file, vector, i % 20 + 1) >= 0, "writev");
    char *much = malloc(300000);
    memset(much, 'm', 300000);
    for (size_t size = 1; size < 300000; size = size * 3 / 2 + 1)
        check(write(file, much, size) == (ssize_t)size, "large write");
    free(much);
}
static void *thread(void *data)
{
    char name[32], line[64];
    sprintf(name, "thread-%d", (int)(intptr_t)data);
    int own = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 200; i++) {
        int size = sprintf(line, "%s line %d\n", name, i);
        check(write(own, line, (size_t)size) == size, "write of thread");
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (i % 50 == 0)
            lseek(own, 0, SEEK_SET), (void)!read(own, line, 8), lseek(own, 0, SEEK_END);
    }
    close(own);
    return NULL;
}
static void threads(int count)
{
    pthread_t list[64];
    for (int i = 0; i < count; i++)
        pthread_create(&list[i], NULL, thread, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(list[i], NULL);
}
static void children(char *self)
{
    for (int i = 0; i < 6; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 20; k++)
                put("child\n");
            _exit(i);
        }
        int status;
        waitpid(child, &status, 0);
        check(WEXITSTATUS(status) == i, "status of child");
        child = vfork();
        if (child == 0) {
            (void)!write(file, "vfork\n", 6);
            (void)!write(file, "vfork\n", 6);
            _exit(7);
        }
        waitpid(child, &status, 0);
        check(WEXITSTATUS(status) == 7, "status of vfork");
        child = vfork();
        if (child == 0) {
            execl(self, self, "again", NULL);
            _exit(1);
        }
        waitpid(child, &status, 0);
        check(WEXITSTATUS(status) == 0, "status of exec");
    }
    // Killed while it writes; all that it said before is known.
    int ends[2];
    char byte;
    check(pipe(ends) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < 50; k++)
            put("doomed\n");
        (void)!write(ends[1], "x", 1);
        pause();
        _exit(0);
    }
    check(read(ends[0], &byte, 1) == 1, "read of the doomed");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) {
        for (int k = 0; k < 50; k++)
            put("self\n");
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) {
        for (int k = 0; k < 50; k++)
            put("crash\n");
        *(volatile int *)8 = 1;
    }
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) {
        for (int k = 0; k < 50; k++) {
            put("stopped\n");
            if (k % 10 == 0)
                raise(SIGSTOP);
        }
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status))
        kill(child, SIGCONT);
}
static void own_filter(void)
{
    pid_t child = fork();
    if (child == 0) {
        for (int k = 0; k < 20; k++)
            put("unfiltered\n");
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog program = {sizeof code / sizeof *code, code};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "prctl");
        for (int k = 0; k < 20; k++)
            put("filtered\n");
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "own filter");
}
static int has_code_of_others(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, "ordeal-trace") != NULL;
    fclose(maps);
    return found;
}

// What a program may map or lock is the same as ever. Prints whether something is in its way.
static void limits(void)
{
    for (int kind = 0; kind < 3; kind++) {
        pid_t child = fork();
        if (child == 0) {
            put("child\n");
            struct rlimit limit;
            getrlimit(RLIMIT_AS, &limit);
            limit.rlim_cur = 40 << 20;
            if (kind == 0)
                check(syscall(SYS_setrlimit, RLIMIT_AS, &limit) == 0, "setrlimit");
            else if (kind == 1)
                check(prlimit(0, RLIMIT_AS, &limit, NULL) == 0, "prlimit");
            else
                mlockall(MCL_FUTURE); // may be forbidden
            void *memory = mmap(NULL, 16 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            check(kind == 2 || memory != MAP_FAILED, "mmap");
            for (int i = 0; i < 30; i++)
                put("limited\n");
            check(!has_code_of_others(), "nothing is mapped");
            _exit(failures);
        }
        int status;
        waitpid(child, &status, 0);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "limited");
    }
}

// Only calls from the C library, or from a static program, are made.
static void dispatched(void)
{
    char line[512];
    uint64_t start = 0, end = 0, place = (uint64_t)(uintptr_t)write;
    static char selector = 1;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL &&
           (sscanf(line, "%lx-%lx", &start, &end) != 2 || place < start || place >= end))
        ;
    fclose(maps);
    if (prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, start, end - start, &selector) != 0)
        return; // an old kernel
    for (int i = 0; i < 30; i++)
        put("dispatched\n");
    prctl(59, 0, 0, 0, 0);
}

// A process in the memory of another one, whose thread that made it has ended.
static int share(void *data)
{
    char byte;
    int *ends = data;
    return read(ends[0], &byte, 1) != 1;
}
static void *make_process(void *data)
{
    static char stack[65536];
    pid_t child = clone(share, stack + sizeof stack, CLONE_VM | SIGCHLD, data);
    return (void *)(intptr_t)child;
}
static void shared(void)
{
    int ends[2], status;
    pthread_t thread;
    void *child;
    char code[128];
    memcpy(code, (void *)write, sizeof code);
    check(pipe(ends) == 0, "pipe");
    pthread_create(&thread, NULL, make_process, ends);
    pthread_join(thread, &child);
    for (int i = 0; i < 30; i++)
        put("shared\n");
    check(memcmp(code, (void *)write, sizeof code) == 0, "another process is in this memory");
    check(write(ends[1], "x", 1) == 1, "pipe write");
    check(waitpid((pid_t)(intptr_t)child, &status, 0) > 0 && status == 0, "child");
}

// `mov $39, %r8d` in front of the call ends as `mov $39, %eax` does.
static void prefix(void)
{
    for (int i = 0; i < 60; i++) {
        long result = SYS_getpid;
        register long other __asm__("r8") = 0;
        __asm__ volatile(".byte 0x41, 0xb8, 39, 0, 0, 0; syscall"
                         : "+a"(result), "+r"(other)
                         :
                         : "rcx", "r11", "memory");
        check(result == getpid() && other == 39, "r8");
    }
}
// The program has other code where a call was replaced, which begins with a jump, too.
static void patched(void)
{
    static const unsigned char first[] = {0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0xc3};
    static const unsigned char second[] = {0xe9, 1, 0, 0, 0, 0xcc, 0x6a, 7, 0x58, 0xc3};
    pid_t child = fork();
    if (child == 0) {
        unsigned char *code =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        code += 64;
        memcpy(code, first, sizeof first);
        mprotect(code - 64, 4096, PROT_READ | PROT_EXEC);
        ssize_t (*call)(int, const void *, size_t) = (void *)code;
        for (int i = 0; i < 60; i++)
            check(call(file, "own\n", 4) == 4, "own code");
        mprotect(code - 64, 4096, PROT_READ | PROT_WRITE);
        memcpy(code, second, sizeof second);
        mprotect(code - 64, 4096, PROT_READ | PROT_EXEC);
        check(call(file, "own\n", 4) == 7, "other code");
        struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog program = {1, &all};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "prctl");
        check(call(file, "own\n", 4) == 7, "other code with a filter");
        _exit(failures);
    }
    int status;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "patched");
}
// The buffers of a call become larger while it is made.
static struct iovec grown[2];
static atomic_int growing = 1;
static void *grow(void *data)
{
    while (growing) {
        *(volatile size_t *)&grown[1].iov_len = 8;
        for (volatile int i = 0; i < 300; i++)
            ;
        *(volatile size_t *)&grown[1].iov_len = 1 << 18;
        for (volatile int i = 0; i < 300; i++)
            ;
    }
    return data;
}
static void growth(void)
{
    pthread_t thread;
    grown[0] = (struct iovec){"first\n", 6};
    grown[1] = (struct iovec){calloc(1, 1 << 18), 8};
    for (int i = 0; i < 60; i++)
        (void)!writev(file, grown, 2);
    pthread_create(&thread, NULL, grow, NULL);
    for (int i = 0; i < 60000; i++) {
        (void)!writev(file, grown, 2);
        if (i % 50 == 0)
            check(ftruncate(file, 0) == 0, "ftruncate");
    }
    growing = 0;
    pthread_join(thread, NULL);
}
int main(int count, char **words)
{
    int times = count > 2 ? atoi(words[2]) : 1000;
    const char *part = words[1];
    file = open("file", O_RDWR | O_CREAT | O_APPEND, 0600);
    if (strcmp(part, "early") == 0)
        timers(tick, SA_RESTART);
    for (int i = 0; i < 30 && strcmp(part, "short") != 0 && strcmp(part, "shared") != 0; i++)
        put("warm\n");
    if (strcmp(part, "early") == 0)
        early();
    else if (strcmp(part, "short") == 0)
        short_stack();
    else if (strcmp(part, "signals") == 0)
        under_signals(times);
    else if (strcmp(part, "registers") == 0)
        registers(times);
    else if (strcmp(part, "leaps") == 0)
        leaps(times);
    else if (strcmp(part, "interrupted") == 0)
        interrupted();
    else if (strcmp(part, "handler") == 0)
        within_handler();
    else if (strcmp(part, "pointers") == 0)
        bad_pointers();
    else if (strcmp(part, "renames") == 0)
        renames();
    else if (strcmp(part, "names") == 0)
        names();
    else if (strcmp(part, "vectors") == 0)
        vectors();
    else if (strcmp(part, "children") == 0)
        children(words[0]);
    else if (strcmp(part, "filter") == 0)
        own_filter();
    else if (strcmp(part, "dispatch") == 0)
        dispatched();
    else if (strcmp(part, "limits") == 0)
        limits();
    else if (strcmp(part, "shared") == 0)
        shared();
    else if (strcmp(part, "threads") == 0)
        threads(16);
    else if (strcmp(part, "prefix") == 0)
        prefix();
    else if (strcmp(part, "patched") == 0)
        patched();
    else if (strcmp(part, "growth") == 0)
        growth();
    else if (strcmp(part, "maps") == 0)
        return has_code_of_others();
    dprintf(1, "%d failures\n", failures);
    return failures != 0;
}

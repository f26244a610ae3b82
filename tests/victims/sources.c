// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -pthread
// Prints what it gets from every source of numbers that differ from run to run, and checks that
// they agree with each other.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static int failures;
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("line %d: not %s\n", __LINE__, #what);                                          \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void clocks(void)
{
    struct timeval day;
    struct tms used;
    struct rusage usage;
    struct sysinfo machine;
    unsigned processor;
    gettimeofday(&day, NULL);
    printf("clocks %.9f %.9f %ld.%06ld %ld\n", seconds(CLOCK_REALTIME), seconds(CLOCK_MONOTONIC),
           (long)day.tv_sec, (long)day.tv_usec, (long)time(NULL));
    long ticks = (long)times(&used);
    getrusage(RUSAGE_SELF, &usage);
    sysinfo(&machine);
    printf("used %ld %ld.%06ld %ld, up %ld, load %lu\n", ticks, (long)usage.ru_utime.tv_sec,
           (long)usage.ru_utime.tv_usec, usage.ru_minflt, machine.uptime, machine.loads[0]);
    printf("counter %llu %llu\n", (unsigned long long)__rdtsc(),
           (unsigned long long)__rdtscp(&processor));
    CHECK(getauxval(AT_SYSINFO_EHDR) == 0);
}

// Waits take their time, and the clock shows it.
static void waits(void)
{
    struct timespec pause = {.tv_nsec = 30000000}, until;
    double start = seconds(CLOCK_MONOTONIC);
    nanosleep(&pause, NULL);
    double slept = seconds(CLOCK_MONOTONIC) - start;
    CHECK(slept >= 0.03 && slept < 0.031);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 200000000; // the clock has just started
    start = seconds(CLOCK_MONOTONIC);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    slept = seconds(CLOCK_MONOTONIC) - start;
    CHECK(slept >= 0.19 && slept < 0.21);
    struct timeval wait = {.tv_usec = 20000};
    CHECK(select(0, NULL, NULL, NULL, &wait) == 0 && wait.tv_usec == 0);
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= 1000000000)
        until.tv_sec++, until.tv_nsec -= 1000000000;
    CHECK(pthread_cond_timedwait(&condition, &lock, &until) == ETIMEDOUT);
    struct itimerspec timer = {0};
    uint64_t expired = 0;
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    clock_gettime(CLOCK_MONOTONIC, &timer.it_value);
    timer.it_value.tv_nsec += 200000000;
    timerfd_settime(file, TFD_TIMER_ABSTIME, &timer, NULL);
    CHECK(read(file, &expired, sizeof expired) == sizeof expired && expired == 1);
    printf("waited until %.9f\n", seconds(CLOCK_REALTIME));
}

static unsigned long long random_word(void)
{
    unsigned long long word = 0;
    CHECK(getrandom(&word, sizeof word, 0) == sizeof word);
    return word;
}

static void randoms(void)
{
    unsigned long long words[3] = {0};
    struct iovec parts[2] = {{&words[1], 8}, {&words[2], 8}};
    int file = open("/dev/urandom", O_RDONLY);
    CHECK(read(file, &words[0], 8) == 8 && readv(file, parts, 2) == 16);
    CHECK(words[1] != words[2]);
    printf("random %llx %llx %llx %llx, start %llx\n", random_word(), words[0], words[1], words[2],
           *(unsigned long long *)getauxval(AT_RANDOM));
    // A child goes on with numbers of its own.
    fflush(stdout);
    int ends[2];
    unsigned long long childs = 0;
    CHECK(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) {
        unsigned long long last = childs;
        pid_t child = fork();
        if (child == 0) {
            unsigned long long word = random_word();
            _exit(write(ends[1], &word, sizeof word) != sizeof word);
        }
        waitpid(child, NULL, 0);
        CHECK(read(ends[0], &childs, sizeof childs) == sizeof childs && childs != last);
    }
    CHECK(random_word() != childs);
    printf("random in a child %llx\n", childs);
}

static volatile pid_t sender, ended;
static void note(int number, siginfo_t *info, void *context)
{
    *(number == SIGCHLD ? &ended : &sender) = info->si_pid;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
}

static void child_of(pid_t parent)
{
    char path[64], text[64];
    CHECK(getppid() == parent);
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", getpid(), (int)syscall(SYS_gettid));
    CHECK(access(path, R_OK) == 0);
    ssize_t size = readlink("/proc/self", text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    CHECK(atoi(text) == getpid());
    kill(parent, SIGUSR1);
    fflush(stdout);
    _exit(failures + 10);
}

static void processes(void)
{
    char path[64];
    int status;
    siginfo_t info = {0};
    take_signals();
    printf("process %d of %d, group %d, session %d\n", getpid(), getppid(), getpgrp(), getsid(0));
    CHECK(getsid(getpid()) == getsid(0) && getpgid(getpid()) == getpgrp());
    CHECK(syscall(SYS_gettid) == getpid());
    raise(SIGUSR1);
    CHECK(sender == getpid());
    fflush(stdout);
    pid_t self = getpid(), child = fork();
    if (child == 0)
        child_of(self);
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == child);
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    CHECK(kill(child, 0) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 10 << 8);
    CHECK(sender == child && ended == child);
    CHECK(kill(child, 0) == -1 && errno == ESRCH);
    printf("child %d\n", child);
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        CHECK(getpgrp() == getpid());
        pause();
        _exit(0);
    }
    setpgid(child, child);
    CHECK(getpgid(child) == child);
    CHECK(kill(-child, SIGKILL) == 0 && waitpid(-child, &status, 0) == child);
    CHECK(fcntl(file, F_SETOWN, getpid()) == 0 && fcntl(file, F_GETOWN) == getpid());
}

static void credentials(void)
{
    int ends[2], on = 1;
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    char byte = 'x', control[CMSG_SPACE(sizeof peer)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid());
    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS, .cmsg_len = CMSG_LEN(sizeof peer)};
    struct ucred own = {getpid(), getuid(), getgid()}, got;
    memcpy(CMSG_DATA(head), &own, sizeof own);
    CHECK(sendmsg(ends[0], &message, 0) == 1);
    CHECK(memcmp(CMSG_DATA(head), &own, sizeof own) == 0);
    memset(control, 0, sizeof control);
    CHECK(recvmsg(ends[1], &message, 0) == 1);
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
    CHECK(got.pid == getpid());
    struct flock lock = {.l_type = F_WRLCK}, asked = lock;
    int file = open("locked", O_RDWR | O_CREAT, 0600);
    CHECK(fcntl(file, F_SETLK, &lock) == 0);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        CHECK(fcntl(file, F_GETLK, &asked) == 0 && asked.l_pid == parent);
        _exit(failures);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// More siblings and generations than a fixed number of bits would have room for.
static void many(void)
{
    int status, wrong = 0;
    pid_t last = 0;
    for (int i = 0; i < 70; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        wrong += child == last || child < 0x20000000;
        last = child;
        wrong += waitpid(child, &status, 0) != child;
    }
    CHECK(wrong == 0);
    fflush(stdout);
    for (int depth = 0; depth < 12; depth++) {
        pid_t child = fork();
        if (child != 0) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            if (depth != 0)
                _exit(failures);
            printf("last of many %d, first of them below each other %d\n", last, child);
            return;
        }
    }
    _exit(0);
}

int main(int count, char **words)
{
    printf("stack %p heap %p code %p\n", (void *)&count, malloc(16), (void *)main);
    clocks();
    randoms();
    processes();
    credentials();
    many();
    if (count > 1 && strcmp(words[1], "waits") == 0)
        waits();
    printf("%d failures\n", failures);
    return failures != 0;
}

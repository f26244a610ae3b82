// SPDX-License-Identifier: GPL-3.0-or-later
// Does one thing for each word on its command line: things that others can notice, and things that
// they cannot.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (write(file, text, strlen(text)) < 0)
        perror(path);
    close(file);
}

static void invisible(void)
{
    int ends[2], null = open("/dev/null", O_WRONLY), own = open("/proc/self/comm", O_WRONLY);
    char bytes[64];
    struct timespec pause = {.tv_nsec = 1000};
    struct stat facts;
    if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1 || read(ends[0], bytes, 1) != 1)
        perror("pipe");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || send(ends[0], "abc", 3, 0) != 3 ||
        recv(ends[1], bytes, 3, 0) != 3)
        perror("socketpair");
    if (write(null, "x", 1) != 1 || write(own, "y", 1) != 1)
        perror("null");
    unlink("does-not-exist"); // fails
    mkdir("/", 0777);         // likewise
    nanosleep(&pause, NULL);
    stat("/", &facts);
    int file = open("/etc/passwd", O_RDONLY);
    if (read(file, bytes, sizeof bytes) < 0)
        perror("read");
    int memory = memfd_create("m", 0);
    if (ftruncate(memory, 4096) < 0 || write(memory, "z", 1) != 1)
        perror("memfd");
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unlink("gone");
    file = open("gone", O_RDWR | O_CREAT, 0600);
    unlink("gone");
    if (write(file, "nobody sees this", 16) < 0)
        perror("gone");
}

// A connection within the program.
static void loopback(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        perror("listen");
    if (fork() == 0) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&address, size) < 0 || write(client, "hi", 2) != 2)
            perror("client");
        _exit(0);
    }
    char bytes[8];
    int server = accept(listener, NULL, NULL);
    if (read(server, bytes, sizeof bytes) != 2)
        perror("server");
    wait(NULL);
}

static void names(void)
{
    put("a", "one");
    if (rename("a", "b") < 0 || link("b", "c") < 0 || symlink("b", "d") < 0 || mkdir("e", 0755) < 0)
        perror("names");
    chmod("b", 0600);
    if (truncate("b", 1) < 0)
        perror("truncate");
    int directory = open("e", O_RDONLY | O_DIRECTORY);
    int file = openat(directory, "f", O_WRONLY | O_CREAT, 0644);
    if (pwrite(file, "xy", 2, 3) != 2 || flock(file, LOCK_EX) < 0)
        perror("pwrite");
    struct flock lock = {.l_type = F_WRLCK};
    fcntl(file, F_SETLK, &lock);
    unlinkat(directory, "f", 0);
    rmdir("e");
    if (chdir("/tmp") == 0)
        utimensat(AT_FDCWD, "/tmp", NULL, 0);
}

static void shared(void)
{
    int file = open("shared", O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096) < 0)
        perror("ftruncate");
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
}

static void *thread(void *data)
{
    char path[32];
    snprintf(path, sizeof path, "thread-%d", (int)(intptr_t)data);
    put(path, path);
    return NULL;
}

static void threads(void)
{
    pthread_t list[64];
    for (int i = 0; i < 64; i++)
        pthread_create(&list[i], NULL, thread, (void *)(intptr_t)i);
    for (int i = 0; i < 64; i++)
        pthread_join(list[i], NULL);
}

// Children that race, and each has a child of its own.
static void family(void)
{
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            if (fork() == 0) {
                char path[32];
                snprintf(path, sizeof path, "grandchild-%d", i);
                put(path, path);
                _exit(0);
            }
            wait(NULL);
            _exit(i);
        }
    while (wait(NULL) > 0)
        ;
}

static void spawns(void)
{
    pid_t pid;
    char *words[] = {"touch", "spawned", NULL};
    posix_spawnp(&pid, "touch", NULL, NULL, words, environ);
    waitpid(pid, NULL, 0);
    if (vfork() == 0) {
        execlp("touch", "touch", "vforked", NULL);
        _exit(1);
    }
    wait(NULL);
}

static void *executor(void *data)
{
    execlp("touch", "touch", "by-thread", NULL);
    return data;
}

static void thread_executes(void)
{
    pthread_t other;
    pthread_create(&other, NULL, executor, NULL);
    pause();
}

static void handle(int number)
{
    put("handled", number == SIGUSR1 ? "1" : "2");
}

// Stops itself; its child lets it go on.
static void signals(void)
{
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    pid_t own = getpid();
    if (fork() == 0) {
        for (;;) {
            char path[64], line[256], state = 0;
            snprintf(path, sizeof path, "/proc/%d/stat", own);
            FILE *file = fopen(path, "r");
            if (file != NULL && fgets(line, sizeof line, file) != NULL)
                state = strrchr(line, ')')[2];
            if (file != NULL)
                fclose(file);
            if (state == 'T' || state == 't')
                break;
            usleep(1000);
        }
        usleep(50000);
        kill(own, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    put("continued", "yes");
    wait(NULL);
}

// Dies while another thread is in a call.
static void *blocked(void *data)
{
    int *ends = data;
    char byte;
    return read(ends[0], &byte, 1) < 0 ? NULL : data;
}

static void dies(void)
{
    static int ends[2];
    pthread_t other;
    if (pipe(ends) < 0)
        return;
    pthread_create(&other, NULL, blocked, ends);
    usleep(10000);
    put("last", "words");
    kill(getpid(), SIGKILL);
}

// Forbids itself to make directories, and to ask for the time.
static void filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    struct timespec now;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        perror("filter");
    if (mkdir("forbidden", 0777) == 0 || errno != EPERM)
        exit(3);
    if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0)
        exit(4);
    put("allowed", "x");
}

static void ring(void)
{
    long result = syscall(SYS_io_uring_setup, 8, NULL);
    printf("%s\n", result < 0 && errno == ENOSYS ? "refused" : "not refused");
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*act)(void);
    } acts[] = {
        {"invisible", invisible}, {"loopback", loopback}, {"names", names},
        {"shared", shared},       {"threads", threads},   {"family", family},
        {"spawns", spawns},       {"signals", signals},   {"thread-executes", thread_executes},
        {"dies", dies},           {"ring", ring},         {"filter", filter}};
    for (int i = 1; i < count; i++)
        for (size_t j = 0; j < sizeof acts / sizeof *acts; j++)
            if (strcmp(words[i], acts[j].name) == 0)
                acts[j].act();
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of POSIX, one group after the other; each prints what came out.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void files(void)
{
    char text[64] = "";
    struct stat status;
    struct statvfs place;
    struct iovec parts[2] = {{(void *)"ab", 2}, {(void *)"cde", 3}};
    struct flock lock = {.l_type = F_WRLCK, .l_len = 10};
    struct timespec times[2] = {{100, 0}, {200, 0}};
    int file = open("a", O_RDWR | O_CREAT | O_TRUNC, 0640);
    printf("write %zd", write(file, "hello, world\n", 13));
    printf(" pwrite %zd", pwrite(file, "H", 1, 0));
    printf(" lseek %ld", (long)lseek(file, 0, SEEK_SET));
    printf(" read %zd", read(file, text, sizeof text));
    printf(" %.5s", text);
    printf(" writev %zd", writev(file, parts, 2));
    printf(" truncate %d", ftruncate(file, 100000));
    fstat(file, &status);
    printf(" size %ld", (long)status.st_size);
    printf(" sync %d", fsync(file));
    printf(" %d", fdatasync(file));
    printf(" link %d", link("a", "b"));
    printf(" symlink %d", symlink("a", "c"));
    printf(" readlink %zd", readlink("c", text, sizeof text));
    printf(" rename %d", rename("b", "d"));
    fstat(file, &status);
    printf(" links %ld mode %o", (long)status.st_nlink, status.st_mode & 0777);
    printf(" chmod %d", fchmod(file, 0600));
    printf(" chown %d", fchown(file, 1, 1));
    printf(" access %d", access("a", R_OK));
    printf(" lock %d", fcntl(file, F_SETLK, &lock));
    printf(" flock %d", flock(file, LOCK_EX));
    printf(" allocate %d", posix_fallocate(file, 100000, 50000));
    printf(" sparse %zd", pwrite(file, "end", 3, 5000000));
    printf(" utimens %d", futimens(file, times));
    printf(" none %d", open("none", O_RDONLY));
    printf(" statvfs %d\n", statvfs(".", &place));
    close(file);
    unlink("a");
    unlink("c");
    unlink("d");
}

static int entries;
static int count_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)path, (void)status, (void)kind, (void)where;
    entries++;
    return 0;
}
static void name_entry(char *name, size_t size, int number)
{
    snprintf(name, size, "dir/%d%s", number, number % 7 == 0 ? "-with-a-longer-name" : "");
}
static void directories(void)
{
    char name[64], events[512];
    printf("mkdir %d", mkdir("dir", 0755));
    for (int i = 0; i < 60; i++) {
        name_entry(name, sizeof name, i);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
    printf(" walk %d", nftw("dir", count_entry, 5, FTW_PHYS));
    printf(" %d", entries);
    printf(" rmdir %d", rmdir("dir"));
    for (int i = 0; i < 60; i++) {
        name_entry(name, sizeof name, i);
        unlink(name);
    }
    printf(" rmdir %d", rmdir("dir"));
    int watch = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE);
    close(open("seen", O_WRONLY | O_CREAT, 0600));
    unlink("seen");
    printf(" events %zd\n", read(watch, events, sizeof events));
    close(watch);
}

static void memory(void)
{
    size_t size = 1 << 20;
    char text[20] = "";
    char *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(place, 1, size);
    printf("protect %d", mprotect(place, 4096, PROT_READ));
    printf(" advise %d", madvise(place, size, MADV_DONTNEED));
    printf(" zero %d", place[8192]);
    place = mremap(place, size, 2 * size, MREMAP_MAYMOVE);
    printf(" unmap %d", munmap(place, 2 * size));
    int file = open("map", O_RDWR | O_CREAT, 0600);
    printf(" truncate %d", ftruncate(file, 65536));
    char *shared = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pid_t child = fork();
    if (child == 0) {
        strcpy(shared + 5000, "from the child");
        _exit(msync(shared, 65536, MS_SYNC));
    }
    waitpid(child, NULL, 0);
    printf(" shared %s", shared + 5000);
    printf(" file %zd", pread(file, text, 15, 5000));
    printf(" lock %d", mlock(shared, 4096));
    munmap(shared, 65536);
    close(file);
    unlink("map");
    printf(" brk %d\n", sbrk(100000) != (void *)-1 && sbrk(-100000) != (void *)-1);
}

static volatile sig_atomic_t signals;
static void on_signal(int number)
{
    signals += number == SIGALRM ? 100 : 1;
}
static void send_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerval timer = {.it_value.tv_usec = 10000};
    sigset_t set, old;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    printf("blocked %d", (int)signals);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (signals < 101)
        sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf(" signals %d\n", (int)signals);
}

static int end_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
static void processes(void)
{
    int ends[2], sum = 0;
    pid_t children[8];
    char text[16];
    struct rlimit limit;
    printf("pipe %d", pipe(ends));
    for (int i = 0; i < 8; i++)
        if ((children[i] = fork()) == 0)
            _exit(write(ends[1], "x", 1) == 1 ? i : 99);
    for (int i = 0; i < 8; i++)
        sum += end_of(children[i]);
    printf(" children %d, read %zd", sum, read(ends[0], text, sizeof text));
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        execl("/bin/busybox", "echo", "executed", (char *)NULL);
        _exit(9);
    }
    printf(" exec %d", end_of(child));
    printf(" %zd", read(ends[0], text, sizeof text));
    if ((child = fork()) == 0)
        *(volatile int *)8 = 1;
    printf(" fault %d", end_of(child));
    if ((child = fork()) == 0) {
        if (setsid() < 0 || nice(5) < 0 || setuid(1000) != 0)
            _exit(3);
        _exit(open("/root/secret", O_WRONLY | O_CREAT, 0600) < 0 ? 4 : 5);
    }
    printf(" user %d limit %d umask %o\n", end_of(child), getrlimit(RLIMIT_NOFILE, &limit),
           umask(022));
    close(ends[0]);
    close(ends[1]);
}

static void *add(void *data)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        ++*(int *)data;
        pthread_mutex_unlock(&mutex);
        if (i % 100 == 0)
            sched_yield();
    }
    return NULL;
}
static void messages(void)
{
    pthread_t threads[3];
    int sum = 0;
    struct {
        long type;
        char text[16];
    } message = {1, "queued"};
    struct sembuf up = {0, 2, 0}, down = {0, -1, 0};
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 32};
    char text[32] = "";
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, &sum);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    int queue = msgget(IPC_PRIVATE, 0600);
    printf("threads %d msgsnd %d", sum, msgsnd(queue, &message, 16, 0));
    printf(" msgrcv %zd", msgrcv(queue, &message, 16, 1, 0));
    printf(" %d", msgctl(queue, IPC_RMID, NULL));
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    printf(" sem %d", semop(semaphore, &up, 1));
    printf(" %d", semop(semaphore, &down, 1));
    printf(" %d", semctl(semaphore, 0, GETVAL));
    printf(" %d", semctl(semaphore, 0, IPC_RMID));
    int segment = shmget(IPC_PRIVATE, 8192, 0600);
    char *place = shmat(segment, NULL, 0);
    strcpy(place, "in a segment");
    printf(" shm %s", place);
    printf(" %d", shmdt(place));
    printf(" %d", shmctl(segment, IPC_RMID, NULL));
    mqd_t posix = mq_open("/queue", O_RDWR | O_CREAT, 0600, &attributes);
    printf(" mq %d", mq_send(posix, "posix", 6, 3));
    printf(" %zd\n", mq_receive(posix, text, sizeof text, NULL));
    mq_close(posix);
    mq_unlink("/queue");
}

static _Noreturn void be_client(const struct sockaddr_in *address)
{
    static char large[200000];
    int client = socket(AF_INET, SOCK_STREAM, 0);
    size_t sent = 0;
    if (connect(client, (const struct sockaddr *)address, sizeof *address) != 0)
        _exit(1);
    while (sent < sizeof large) {
        ssize_t size = write(client, large, sizeof large - sent);
        if (size <= 0)
            _exit(2);
        sent += (size_t)size;
    }
    shutdown(client, SHUT_WR);
    _exit(read(client, large, 2) == 2 ? 7 : 3);
}
static int listen_at(int kind, struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int server = socket(AF_INET, kind, 0), one = 1;
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    bind(server, (struct sockaddr *)address, size);
    if (kind == SOCK_STREAM)
        listen(server, 4);
    getsockname(server, (struct sockaddr *)address, &size);
    return server;
}
static void sockets(void)
{
    int pair[2];
    char text[4096] = "";
    struct sockaddr_in address;
    printf("pair %d", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    printf(" send %zd", send(pair[0], "abc", 3, 0));
    struct pollfd state = {pair[1], POLLIN, 0};
    printf(" poll %d", poll(&state, 1, 100));
    printf(" recv %zd", recv(pair[1], text, sizeof text, 0));
    int server = listen_at(SOCK_STREAM, &address);
    pid_t child = fork();
    if (child == 0)
        be_client(&address);
    int taken = accept(server, NULL, NULL);
    long total = 0;
    for (ssize_t got; (got = read(taken, text, sizeof text)) > 0;)
        total += got;
    printf(" tcp %ld", total);
    printf(" answer %zd", write(taken, "ok", 2));
    printf(" client %d", end_of(child));
    close(taken);
    close(server);
    int from = socket(AF_INET, SOCK_DGRAM, 0), to = listen_at(SOCK_DGRAM, &address);
    printf(" udp %zd", sendto(from, "datagram", 8, 0, (struct sockaddr *)&address, sizeof address));
    printf(" %zd", recv(to, text, sizeof text, 0));
    address.sin_port = htons(9);
    printf(" refused %d\n",
           connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address));
}

static long ns_between(const struct timespec *from, const struct timespec *to)
{
    return (to->tv_sec - from->tv_sec) * 1000000000L + to->tv_nsec - from->tv_nsec;
}
static void waiting(void)
{
    int event = eventfd(0, 0), set = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct epoll_event wanted = {.events = EPOLLIN, .data.fd = event}, got;
    struct itimerspec due = {.it_value.tv_nsec = 5000000};
    struct timeval short_time = {0, 1000};
    struct timespec pause_for = {0, 2000000}, before, after;
    uint64_t number = 5;
    fd_set reads;
    epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted);
    printf("epoll %d", epoll_wait(set, &got, 1, 0));
    printf(" eventfd %zd", write(event, &number, 8));
    printf(" %d", epoll_wait(set, &got, 1, 100));
    timerfd_settime(timer, 0, &due, NULL);
    printf(" timer %zd", read(timer, &number, 8));
    FD_ZERO(&reads);
    FD_SET(event, &reads);
    printf(" select %d", select(event + 1, &reads, NULL, NULL, &short_time));
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&pause_for, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf(" slept %d\n", ns_between(&before, &after) >= 2000000);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (mkdir("calls", 0755) != 0 || chdir("calls") != 0)
        return 1;
    files();
    directories();
    memory();
    send_signals();
    processes();
    messages();
    sockets();
    waiting();
    return chdir("..") == 0 && rmdir("calls") == 0 ? 0 : 1;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Asks a server for a page again and again, one connection after the other by the system calls that
// ab makes, and switches interception in the worker on and off every few requests, so that whatever
// the machine does falls on both alike.
//
// Usage: pages PORT PAGE WORKER GROUPS WARM-UP REQUESTS SEED <REFERENCES
// References: lines of `reference ADDRESS ORIGINAL STUB` and `calls ADDRESS`, a word of the worker
// that tells how many calls were intercepted, all in hexadecimal.
// Prints a line for each group of three blocks of requests, in random order: on, off, and off once
// more by the same procedure. Of each, the median of the requests' nanoseconds and the worker's
// processor time per request; those that warm up are left out.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ON, OFF, OFF_AGAIN, ARMS };
enum { MAX = 256, PIECE = 8192, WAIT_MS = 30000 };

struct result {
    int64_t time, processor;
};

static struct {
    uint64_t address, original, stub;
} references[MAX];
static uint64_t calls[MAX];
static size_t reference_count, call_count;
static struct sockaddr_in server = {.sin_family = AF_INET};
static char request[512];
static int memory, events;
static clockid_t worker_clock;
static int warm_up, block_size;

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail("clock_gettime");
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static uint64_t peek(uint64_t address)
{
    uint64_t value;
    if (pread(memory, &value, sizeof value, (off_t)address) != sizeof value)
        fail("reading the worker's memory");
    return value;
}

static void read_references(void)
{
    char line[128];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint64_t a, b, c;
        if (sscanf(line, "reference %" SCNx64 " %" SCNx64 " %" SCNx64, &a, &b, &c) == 3 &&
            reference_count < MAX) {
            references[reference_count].address = a;
            references[reference_count].original = b;
            references[reference_count++].stub = c;
        } else if (sscanf(line, "calls %" SCNx64, &a) == 1 && call_count < MAX) {
            calls[call_count++] = a;
        } else {
            fprintf(stderr, "no reference: %s", line);
            exit(1);
        }
    }
}

static void set(bool on)
{
    for (size_t i = 0; i < reference_count; i++) {
        uint64_t found = peek(references[i].address);
        uint64_t value = on ? references[i].stub : references[i].original;
        // Whatever else is there by now is the program's own.
        if ((found == references[i].stub || found == references[i].original) &&
            pwrite(memory, &value, sizeof value, (off_t)references[i].address) != sizeof value)
            fail("writing the worker's memory");
    }
}

static uint64_t intercepted(void)
{
    uint64_t total = 0;
    for (size_t i = 0; i < call_count; i++)
        total += peek(calls[i]);
    return total;
}

static void watch(int connection, uint32_t event)
{
    struct epoll_event wanted = {.events = event};
    if (epoll_ctl(events, EPOLL_CTL_ADD, connection, &wanted) != 0)
        fail("epoll_ctl");
}

static void unwatch(int connection)
{
    struct epoll_event none = {0};
    if (epoll_ctl(events, EPOLL_CTL_DEL, connection, &none) != 0)
        fail("epoll_ctl");
}

static void await(void)
{
    struct epoll_event event;
    if (epoll_wait(events, &event, 1, WAIT_MS) != 1)
        fail("waiting for the server");
}

static int open_connection(void)
{
    const struct sockaddr *address = (const struct sockaddr *)&server;
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int flags = fcntl(connection, F_GETFL);
    if (connection < 0 || fcntl(connection, F_SETFL, flags | O_NONBLOCK) != 0)
        fail("socket");
    if (connect(connection, address, sizeof server) != 0 && errno != EINPROGRESS)
        fail("connect");
    watch(connection, EPOLLOUT);
    await();
    if (connect(connection, address, sizeof server) != 0)
        fail("connect");
    unwatch(connection);
    return connection;
}

static void ask(void)
{
    static const char good[] = "HTTP/1.1 200 ";
    char answer[PIECE];
    bool is_good = false;
    ssize_t size, length = (ssize_t)strlen(request);
    int connection = open_connection();
    watch(connection, EPOLLIN);
    if (write(connection, request, (size_t)length) != length)
        fail("asking for the page");
    for (bool first = true;; first = false) {
        await();
        size = read(connection, answer, sizeof answer);
        if (size <= 0)
            break;
        if (first)
            is_good = (size_t)size > sizeof good && memcmp(answer, good, sizeof good - 1) == 0;
    }
    if (size < 0 || !is_good) {
        fputs("the server does not give the page\n", stderr);
        exit(1);
    }
    unwatch(connection);
    close(connection);
}

// When the worker has done what comes after the last answer, and waits.
static int64_t settled(void)
{
    int64_t before, after = now(worker_clock);
    do {
        before = after;
        usleep(100);
        after = now(worker_clock);
    } while (after != before);
    return after;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct result block(bool on)
{
    int64_t times[MAX];
    settled();
    set(on);
    uint64_t before = intercepted();
    for (int i = 0; i < warm_up; i++)
        ask();
    int64_t processor = settled();
    int64_t start = now(CLOCK_MONOTONIC);
    for (int i = 0; i < block_size; i++) {
        ask();
        int64_t end = now(CLOCK_MONOTONIC);
        times[i] = end - start;
        start = end;
    }
    processor = settled() - processor;
    uint64_t seen = intercepted() - before;
    if ((seen != 0) != on) {
        fprintf(stderr, "%" PRIu64 " calls were intercepted, switched %s\n", seen,
                on ? "on" : "off");
        exit(1);
    }
    qsort(times, (size_t)block_size, sizeof *times, compare);
    return (struct result){(times[(block_size - 1) / 2] + times[block_size / 2]) / 2,
                           processor / block_size};
}

static void group(void)
{
    struct result results[ARMS];
    int order[ARMS] = {ON, OFF, OFF_AGAIN};
    for (int i = ARMS - 1; i > 0; i--) {
        int other = (int)(random() % (i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < ARMS; i++)
        results[order[i]] = block(order[i] == ON);
    for (int i = 0; i < ARMS; i++)
        printf("%" PRId64 " %" PRId64 "%c", results[i].time, results[i].processor,
               i + 1 < ARMS ? ' ' : '\n');
}

int main(int count, char **arguments)
{
    if (count != 8 || (block_size = atoi(arguments[6])) < 1 || block_size > MAX)
        return 2;
    char path[64];
    pid_t worker = (pid_t)atoi(arguments[3]);
    warm_up = atoi(arguments[5]);
    server.sin_port = htons((uint16_t)atoi(arguments[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(request, sizeof request,
             "GET /%s HTTP/1.0\r\nHost: 127.0.0.1:%s\r\nUser-Agent: pages\r\nAccept: */*\r\n\r\n",
             arguments[2], arguments[1]);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)worker);
    memory = open(path, O_RDWR | O_CLOEXEC);
    events = epoll_create1(EPOLL_CLOEXEC);
    if (memory < 0 || events < 0)
        fail(path);
    if (clock_getcpuclockid(worker, &worker_clock) != 0)
        fail("clock_getcpuclockid");
    read_references();
    srandom((unsigned)atoi(arguments[7]));
    for (int groups = atoi(arguments[4]); groups > 0; groups--)
        group();
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Looks up ports and sockets in /proc/self/net, compares a file with how it was before, and waits
// for delays.
#include "engine/server-probe.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define TCP_LISTENS  0x0a
#define UDP_OPEN     0x07
#define UNIX_LISTENS 0x10000

// "  0: 0100007F:18FF 00000000:0000 0A ..."
static bool port_in(const char *path, unsigned port, unsigned wanted)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    char line[512];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned local, state;
        if (sscanf(line, " %*d: %*[0-9A-F]:%X %*[0-9A-F]:%*X %X", &local, &state) == 2 &&
            local == port && state == wanted)
            return true;
    }
    return false;
}

static bool port_open(const struct ready *ready)
{
    if (ready->udp)
        return port_in("/proc/self/net/udp", ready->port, UDP_OPEN) ||
               port_in("/proc/self/net/udp6", ready->port, UDP_OPEN);
    return port_in("/proc/self/net/tcp", ready->port, TCP_LISTENS) ||
           port_in("/proc/self/net/tcp6", ready->port, TCP_LISTENS);
}

// Compares two paths of a socket. The server may have bound a relative path, or the user may have
// given one.
static bool same_path(const char *bound, const char *wanted)
{
    size_t a = strlen(bound), b = strlen(wanted);
    while (strncmp(wanted, "./", 2) == 0) {
        wanted += 2;
        b -= 2;
    }
    if (a == b)
        return strcmp(bound, wanted) == 0;
    const char *longer = a > b ? bound : wanted, *shorter = a > b ? wanted : bound;
    size_t difference = a > b ? a - b : b - a;
    return longer[0] == '/' && shorter[0] != '/' && longer[difference - 1] == '/' &&
           strcmp(longer + difference, shorter) == 0;
}

// "ffff...: 00000002 00000000 00010000 0001 01 12345 /run/x.sock"
static bool socket_open(const char *path)
{
    _cleanup_fclose_ FILE *file = fopen("/proc/self/net/unix", "re");
    char line[512];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned flags, type;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*x: %*x %*x %x %x %*x %*u %n", &flags, &type, &at) != 2 || at == 0)
            continue;
        bool serves = (flags & UNIX_LISTENS) != 0 || type == 2; // SOCK_DGRAM
        if (serves && same_path(line + at, path))
            return true;
    }
    return false;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool file_new(const struct probe *probe)
{
    struct stat now;
    if (stat(probe->ready.text, &now) < 0)
        return false;
    return !probe->was_there || now.st_ino != probe->before.st_ino ||
           !same_time(&now.st_mtim, &probe->before.st_mtim);
}

bool probe_holds(const struct probe *probe)
{
    switch (probe->ready.kind) {
    case READY_PORT:
        return port_open(&probe->ready);
    case READY_SOCKET:
        return socket_open(probe->ready.text);
    case READY_FILE:
        return file_new(probe);
    case READY_DELAY:
        return clock_ns() - probe->start_ns >= probe->ready.delay_ns;
    default:
        return false;
    }
}

void probe_begin(struct probe *probe, const struct ready *ready, bool *ret_taken)
{
    *probe = (struct probe){.ready = *ready, .start_ns = clock_ns()};
    if (ready->kind == READY_FILE)
        probe->was_there = stat(ready->text, &probe->before) == 0;
    *ret_taken = (ready->kind == READY_PORT || ready->kind == READY_SOCKET) && probe_holds(probe);
}

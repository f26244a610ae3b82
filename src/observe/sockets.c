// SPDX-License-Identifier: GPL-3.0-or-later
// Asks a socket of a traced task, through a copy of its descriptor, what it is connected to.
// Whether the other end belongs to a traced process: a Unix socket knows who made its other end; of
// a connection on this machine, the kernel's table has the socket of the other end.
#include "observe/sockets.h"
#include "observe/descriptors.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define LISTENING 0x0a // in the column of states

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

static int copy_descriptor(const struct tracer_task *task, int number)
{
    _cleanup_close_ int process = (int)syscall(SYS_pidfd_open, task->pid, 0);
    return process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
}

// The kernel's choice is another one in every run.
static bool port_is_chosen(unsigned port)
{
    static unsigned low, high;
    if (high == 0) {
        low = 32768, high = 60999;
        _cleanup_fclose_ FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
        if (file != NULL && fscanf(file, "%u %u", &low, &high) != 2)
            low = 32768, high = 60999;
    }
    return port == 0 || (port >= low && port <= high);
}

static unsigned port_of(const union address *address)
{
    return ntohs(address->any.sa_family == AF_INET6 ? address->six.sin6_port
                                                    : address->four.sin_port);
}

static bool is_internet(const union address *address)
{
    return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

static struct error *put_internet(const union address *address, struct buffer *text)
{
    char host[INET6_ADDRSTRLEN] = "";
    unsigned port = port_of(address);
    if (address->any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &address->six.sin6_addr, host, sizeof host);
    else
        inet_ntop(AF_INET, &address->four.sin_addr, host, sizeof host);
    return port_is_chosen(port) ? buffer_printf(text, "%s", host)
                                : buffer_printf(text, "%s:%u", host, port);
}

// Abstract names begin with a NUL.
static struct error *put_unix(const struct sockaddr_un *address, size_t size, struct buffer *text)
{
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t length = size > start ? size - start : 0;
    if (length == 0)
        return buffer_printf(text, "unnamed");
    if (address->sun_path[0] == '\0')
        return buffer_printf(text, "@%.*s", (int)length - 1, address->sun_path + 1);
    return buffer_printf(text, "%.*s", (int)length, address->sun_path);
}

struct error *address_put(const void *bytes, size_t size, struct buffer *text)
{
    union address address = {0};
    if (size > sizeof address)
        size = sizeof address;
    memcpy(&address, bytes, size);
    if (is_internet(&address))
        return put_internet(&address, text);
    if (address.any.sa_family == AF_UNIX)
        return put_unix(&address.local, size, text);
    return buffer_printf(text, "family %u", (unsigned)address.any.sa_family);
}

static void hexadecimal(const union address *address, char *text, size_t size)
{
    if (address->any.sa_family == AF_INET) {
        snprintf(text, size, "%08" PRIX32 ":%04X", address->four.sin_addr.s_addr, port_of(address));
        return;
    }
    uint32_t words[4];
    memcpy(words, &address->six.sin6_addr, sizeof words);
    snprintf(text, size, "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 ":%04X", words[0],
             words[1], words[2], words[3], port_of(address));
}

// The socket with these two ends, in the network of the task; 0: none. A connection that is not
// accepted yet has no socket: then the one that listens for it.
static unsigned long find_socket(const struct tracer_task *task, bool datagrams,
                                 const union address *own, const union address *other)
{
    char path[64], line[512], wanted_own[48], wanted_other[48];
    snprintf(path, sizeof path, "/proc/%d/net/%s%s", task->pid, datagrams ? "udp" : "tcp",
             own->any.sa_family == AF_INET6 ? "6" : "");
    hexadecimal(own, wanted_own, sizeof wanted_own);
    hexadecimal(other, wanted_other, sizeof wanted_other);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    unsigned long listener = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char local[48], remote[48];
        unsigned long inode;
        unsigned state;
        if (sscanf(line, " %*u: %47s %47s %x %*s %*s %*x %*u %*u %lu", local, remote, &state,
                   &inode) != 4)
            continue;
        if (strcmp(local, wanted_own) == 0 && strcmp(remote, wanted_other) == 0 && inode != 0)
            return inode;
        if (state == LISTENING && strcmp(strchr(local, ':'), strchr(wanted_own, ':')) == 0)
            listener = inode;
    }
    return listener;
}

struct sought {
    unsigned long inode;
    unsigned family;
};

static bool has_socket(void *data, struct tracer_task *task)
{
    const struct sought *sought = data;
    char path[64], wanted[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/fd", task->pid);
    int size = snprintf(wanted, sizeof wanted, "socket:[%lu]", sought->inode);
    if (task->family != sought->family)
        return false;
    _cleanup_closedir_ DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        if (readlinkat(dirfd(directory), entry->d_name, link, sizeof link) == size &&
            memcmp(link, wanted, (size_t)size) == 0)
            return true;
    return false;
}

// Connections between traced tasks. One of them may be gone when the other's call is looked at; but
// whoever connects was looked at before it could go on. There is one tracer in a process. The
// oldest are forgotten.
static struct connection {
    union address one, other;
} private_connections[1024];
static size_t private_count;

static bool same_address(const union address *a, const union address *b)
{
    return a->any.sa_family == b->any.sa_family && port_of(a) == port_of(b) &&
           (a->any.sa_family == AF_INET6
                ? memcmp(&a->six.sin6_addr, &b->six.sin6_addr, sizeof a->six.sin6_addr) == 0
                : a->four.sin_addr.s_addr == b->four.sin_addr.s_addr);
}

static bool is_known_private(const union address *own, const union address *other)
{
    size_t most = sizeof private_connections / sizeof *private_connections;
    for (size_t i = 0; i < private_count && i < most; i++) {
        const struct connection *known = &private_connections[i];
        if ((same_address(&known->one, own) && same_address(&known->other, other)) ||
            (same_address(&known->one, other) && same_address(&known->other, own)))
            return true;
    }
    return false;
}

static void note_private(const union address *own, const union address *other)
{
    size_t most = sizeof private_connections / sizeof *private_connections;
    private_connections[private_count++ % most] = (struct connection){*own, *other};
}

// The port that is not the kernel's choice says which service it is.
static void describe_internet(const char *kind, const union address *own,
                              const union address *other, bool connected, char *text, size_t size)
{
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    const union address *told = connected && !port_is_chosen(port_of(other)) ? other : own;
    error_free(put_internet(told, &shown));
    snprintf(text, size, "%s %s", kind, shown.data != NULL ? shown.data : "");
}

static bool internet(const struct tracer_task *task, int copy, const union address *own, char *text,
                     size_t size)
{
    int type = SOCK_STREAM;
    socklen_t length = sizeof type;
    getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &length);
    union address other = {0};
    length = sizeof other;
    bool connected = getpeername(copy, &other.any, &length) == 0;
    describe_internet(type == SOCK_STREAM ? "tcp" : "udp", own, &other, connected, text, size);
    if (!connected)
        return true;
    if (is_known_private(own, &other))
        return false;
    struct sought sought = {find_socket(task, type != SOCK_STREAM, &other, own), task->family};
    bool outside = sought.inode == 0 || !tracer_each(task->tracer, has_socket, &sought);
    if (!outside)
        note_private(own, &other);
    return outside;
}

static bool local(const struct tracer_task *task, int copy, const union address *own,
                  size_t own_size, char *text, size_t size)
{
    struct ucred peer = {0};
    socklen_t length = sizeof peer;
    getsockopt(copy, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    union address other = {0};
    socklen_t other_size = sizeof other;
    bool connected = getpeername(copy, &other.any, &other_size) == 0;
    bool named = connected && other_size > sizeof other.any.sa_family;
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    error_free(named ? put_unix(&other.local, other_size, &shown)
                     : put_unix(&own->local, own_size, &shown));
    snprintf(text, size, "unix %s", shown.data != NULL ? shown.data : "");
    return !connected || !tracer_is_related(task, peer.pid);
}

bool socket_describe(const struct tracer_task *task, int number, char *text, size_t size)
{
    _cleanup_close_ int copy = copy_descriptor(task, number);
    union address own = {0};
    socklen_t length = sizeof own;
    snprintf(text, size, "socket");
    if (copy < 0 || getsockname(copy, &own.any, &length) < 0)
        return true;
    if (is_internet(&own))
        return internet(task, copy, &own, text, size);
    if (own.any.sa_family == AF_UNIX)
        return local(task, copy, &own, length, text, size);
    snprintf(text, size, "socket of family %u", (unsigned)own.any.sa_family);
    return true;
}

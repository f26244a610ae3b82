// SPDX-License-Identifier: GPL-3.0-or-later
// Connections to QEMU's sockets.
#include "guest/link.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool has_ended(int process)
{
    struct pollfd state = {.fd = process, .events = POLLIN};
    return poll(&state, 1, 0) > 0;
}

struct error *guest_link_open(const char *path, const char *name, int process, uint64_t deadline_ns,
                              struct guest_link *ret_link)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return error_new("the path %s is too long for a socket; set TMPDIR to a shorter one", path);
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0)
        return error_from_errno(errno, "cannot make a socket");
    while (connect(made, (struct sockaddr *)&address, sizeof address) != 0) {
        int code = errno;
        bool early = code == ENOENT || code == ECONNREFUSED || code == EINTR;
        if (early && !has_ended(process) && clock_ns() < deadline_ns) {
            clock_sleep(GUEST_LINK_PAUSE_NS);
            continue;
        }
        close(made);
        return error_from_errno(code, "cannot connect to %s", name);
    }
    *ret_link = (struct guest_link){.socket = made, .name = name};
    return NULL;
}

void guest_link_close(struct guest_link *link)
{
    if (link->name != NULL && link->socket >= 0)
        close(link->socket);
    buffer_deinit(&link->in);
    *link = (struct guest_link){.socket = -1};
}

// The descriptor goes with the first bytes.
static ssize_t send_some(const struct guest_link *link, const char *data, size_t size,
                         int descriptor)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    return sendmsg(link->socket, &message, MSG_NOSIGNAL);
}

struct error *guest_link_send_with(struct guest_link *link, const char *data, size_t size,
                                   int descriptor)
{
    while (size != 0) {
        ssize_t sent = link->socket >= 0 ? send_some(link, data, size, descriptor) : -1;
        if (sent < 0 && errno == EINTR && link->socket >= 0)
            continue;
        if (sent < 0 && link->socket >= 0) { // the other side has ended
            close(link->socket);
            link->socket = -1;
        }
        if (sent < 0)
            return error_new("%s is closed", link->name);
        descriptor = -1;
        data += sent;
        size -= (size_t)sent;
    }
    return NULL;
}

struct error *guest_link_send(struct guest_link *link, const char *data, size_t size)
{
    return guest_link_send_with(link, data, size, -1);
}

struct error *guest_link_receive(struct guest_link *link)
{
    char bytes[4096];
    while (link->socket >= 0) {
        ssize_t size = recv(link->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return NULL;
        if (size <= 0) {
            close(link->socket);
            link->socket = -1;
            return NULL;
        }
        if (link->in.size + (size_t)size > GUEST_LINK_MOST)
            return error_new("%s sends more than anybody can read", link->name);
        struct error *error = buffer_append(&link->in, bytes, (size_t)size);
        if (error != NULL)
            return error;
    }
    return NULL;
}

struct error *guest_link_wait(struct guest_link *link, uint64_t deadline_ns, bool *ret_in_time)
{
    struct pollfd state = {.fd = link->socket, .events = POLLIN};
    uint64_t now = clock_ns();
    *ret_in_time = false;
    if (link->socket < 0)
        return error_new("%s is closed", link->name);
    int found = poll(&state, 1, now < deadline_ns ? clock_poll_ms(deadline_ns - now) : 0);
    if (found < 0 && errno != EINTR)
        return error_from_errno(errno, "cannot wait for %s", link->name);
    *ret_in_time = found != 0 || clock_ns() < deadline_ns;
    return guest_link_receive(link);
}

void guest_link_drop(struct guest_link *link, size_t size)
{
    memmove(link->in.data, link->in.data + size, link->in.size - size);
    link->in.size -= size;
}

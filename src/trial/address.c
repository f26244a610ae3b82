// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the coordinator's address, listens on it and connects to it.
#include "trial/address.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct error *parse_path(const char *text, struct address_list *ret_list)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(text) >= sizeof name.sun_path)
        return error_new("the socket's path '%s' is longer than %zu bytes", text,
                         sizeof name.sun_path - 1);
    strcpy(name.sun_path, text);
    *ret_list = (struct address_list){.count = 1};
    memcpy(&ret_list->choices[0].storage, &name, sizeof name);
    ret_list->choices[0].size = sizeof name;
    return NULL;
}

// getaddrinfo() accepts larger numbers and keeps only their last 16 bits.
static bool is_port_too_large(const char *port)
{
    char *end;
    unsigned long number = strtoul(port, &end, 10);
    return *end == '\0' && number > 65535;
}

struct error *address_parse(const char *text, struct address_list *ret_list)
{
    if (strchr(text, '/') != NULL)
        return parse_path(text, ret_list);
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon[1] == '\0')
        return error_new("'%s' is neither HOST:PORT nor the path of a socket (which has a /)",
                         text);
    if (is_port_too_large(colon + 1))
        return error_new("a port is 0 to 65535, not %s", colon + 1);
    const char *start = text;
    size_t length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && colon[-1] == ']') {
        start++;
        length -= 2;
    }
    _cleanup_free_ char *host = strndup(start, length);
    if (host == NULL)
        return error_no_memory();
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC}, *found;
    int code = getaddrinfo(length != 0 ? host : NULL, colon + 1, &hints, &found);
    if (code == EAI_MEMORY)
        return error_no_memory();
    if (code != 0)
        return error_new("cannot understand the address '%s': %s", text,
                         code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    *ret_list = (struct address_list){0};
    for (const struct addrinfo *entry = found; entry != NULL && ret_list->count < ADDRESS_CHOICES;
         entry = entry->ai_next) {
        struct address *choice = &ret_list->choices[ret_list->count++];
        memcpy(&choice->storage, entry->ai_addr, entry->ai_addrlen);
        choice->size = entry->ai_addrlen;
    }
    freeaddrinfo(found);
    return NULL;
}

void address_format(const struct address *address, char text[ADDRESS_TEXT])
{
    const struct sockaddr *name = (const struct sockaddr *)&address->storage;
    if (name->sa_family == AF_UNIX) {
        snprintf(text, ADDRESS_TEXT, "%s", ((const struct sockaddr_un *)name)->sun_path);
        return;
    }
    char host[100], port[10];
    if (getnameinfo(name, address->size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(text, ADDRESS_TEXT, "?");
    else
        snprintf(text, ADDRESS_TEXT, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

// A socket file nobody answers on is left over from a coordinator that died.
static void remove_dead_socket(const struct address *address)
{
    const struct sockaddr_un *name = (const struct sockaddr_un *)&address->storage;
    struct stat facts;
    if (stat(name->sun_path, &facts) < 0 || !S_ISSOCK(facts.st_mode))
        return;
    _cleanup_close_ int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe >= 0 && connect(probe, (const struct sockaddr *)name, address->size) < 0 &&
        errno == ECONNREFUSED)
        unlink(name->sun_path);
}

static struct error *listen_on(struct address *address, int *ret_socket)
{
    char text[ADDRESS_TEXT];
    address_format(address, text);
    int family = address->storage.ss_family;
    if (family == AF_UNIX)
        remove_dead_socket(address);
    _cleanup_close_ int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return error_from_errno(errno, "cannot make a socket");
    if (family != AF_UNIX)
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(listener, (const struct sockaddr *)&address->storage, address->size) < 0 ||
        listen(listener, SOMAXCONN) < 0)
        return error_from_errno(errno, "cannot listen on %s", text);
    socklen_t size = sizeof address->storage;
    if (family != AF_UNIX &&
        getsockname(listener, (struct sockaddr *)&address->storage, &size) == 0)
        address->size = size;
    *ret_socket = listener;
    listener = -1;
    return NULL;
}

struct error *address_listen(const struct address_list *list, int *ret_socket,
                             struct address *ret_address)
{
    struct error *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        struct address address = list->choices[i];
        struct error *error = listen_on(&address, ret_socket);
        if (error == NULL) {
            *ret_address = address;
            error_free(first);
            return NULL;
        }
        if (first == NULL)
            first = error;
        else
            error_free(error);
    }
    return first;
}

static int wait_connected(int handle, uint64_t timeout_ns)
{
    struct pollfd poll_on = {.fd = handle, .events = POLLOUT};
    int ready = poll(&poll_on, 1, clock_poll_ms(timeout_ns));
    if (ready == 0)
        return ETIMEDOUT;
    if (ready < 0)
        return errno;
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(handle, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
        return errno;
    return code;
}

static struct error *connect_to(const struct address *address, uint64_t timeout_ns, int *ret_socket)
{
    char text[ADDRESS_TEXT];
    address_format(address, text);
    int family = address->storage.ss_family;
    _cleanup_close_ int handle = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (handle < 0)
        return error_from_errno(errno, "cannot make a socket");
    int code = 0;
    if (connect(handle, (const struct sockaddr *)&address->storage, address->size) < 0)
        code = errno == EINPROGRESS ? wait_connected(handle, timeout_ns) : errno;
    if (code != 0)
        return error_from_errno(code, "cannot reach the coordinator at %s", text);
    // A question is one small packet, and the target waits for its answer.
    if (family != AF_UNIX)
        setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    *ret_socket = handle;
    handle = -1;
    return NULL;
}

struct error *address_connect(const struct address_list *list, uint64_t timeout_ns, int *ret_socket)
{
    struct error *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        struct error *error = connect_to(&list->choices[i], timeout_ns, ret_socket);
        if (error == NULL) {
            error_free(first);
            return NULL;
        }
        if (first == NULL)
            first = error;
        else
            error_free(error);
    }
    return first;
}

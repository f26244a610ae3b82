// SPDX-License-Identifier: GPL-3.0-or-later
// Serves the coordinator's connections: reads lines and writes answers. coordinator-state.c decides
// what to answer. No peer may stop the others: input and output are bounded, and a peer that breaks
// the protocol is disconnected.
#include "trial/coordinator.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "trial/coordinator-state.h"
#include "trial/protocol.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define PEERS        512
#define OUTPUT_LIMIT (1u << 16)
#define FRAMES       64
#define NODE_NAME    255
#define ADMITTED     64 // new peers at most, before the others are served again

struct peer {
    int socket;
    bool closing;      // to be closed once its output is written
    uint64_t since_ns; // when it connected, or when it was refused
    char *node;        // after HELLO
    size_t received;
    char *input; // PROTOCOL_LINE_SIZE
    struct buffer output;
};

struct coordinator {
    struct coordinator_options options;
    struct address address;
    int listener;
    struct coordinator_state *state;
    ARRAY(struct peer) peers;
    struct pollfd *polled; // PEERS + 2
};

static void tell(struct coordinator *coordinator, const struct coordinator_event *event)
{
    if (coordinator->options.event != NULL)
        coordinator->options.event(coordinator->options.data, event);
}

struct error *coordinator_open(const struct coordinator_options *options,
                               struct coordinator **ret_coordinator)
{
    struct coordinator *coordinator = calloc(1, sizeof *coordinator);
    if (coordinator == NULL)
        return error_no_memory();
    coordinator->options = *options;
    coordinator->listener = -1;
    coordinator->polled = calloc(PEERS + 2, sizeof *coordinator->polled);
    struct address_list addresses;
    struct error *error = coordinator->polled == NULL ? error_no_memory() : NULL;
    if (error == NULL)
        error = coordinator_state_new(options->rules, options->rule_count, options->seed,
                                      &coordinator->state);
    if (error == NULL)
        error = address_parse(options->address, &addresses);
    if (error == NULL)
        error = address_listen(&addresses, &coordinator->listener, &coordinator->address);
    if (error != NULL)
        coordinator_close(coordinator);
    else
        *ret_coordinator = coordinator;
    return error;
}

static void peer_deinit(struct peer *peer)
{
    if (peer->socket >= 0)
        close(peer->socket);
    free(peer->node);
    free(peer->input);
    buffer_deinit(&peer->output);
}

void coordinator_close(struct coordinator *coordinator)
{
    if (coordinator == NULL)
        return;
    for (size_t i = 0; i < coordinator->peers.count; i++)
        peer_deinit(&coordinator->peers.items[i]);
    ARRAY_DEINIT(&coordinator->peers);
    if (coordinator->listener >= 0) {
        close(coordinator->listener);
        if (coordinator->address.storage.ss_family == AF_UNIX)
            unlink(((struct sockaddr_un *)&coordinator->address.storage)->sun_path);
    }
    coordinator_state_free(coordinator->state);
    free(coordinator->polled);
    free(coordinator);
}

void coordinator_address(const struct coordinator *coordinator, char text[ADDRESS_TEXT])
{
    address_format(&coordinator->address, text);
}

struct coordinator_totals coordinator_totals(const struct coordinator *coordinator)
{
    return coordinator_state_totals(coordinator->state);
}

static void refuse(struct coordinator *coordinator, struct peer *peer, const char *why)
{
    _cleanup_error_ struct error *error = buffer_printf(&peer->output, "ERROR %s\n", why);
    peer->closing = true;
    peer->since_ns = clock_ns();
    tell(coordinator, &(struct coordinator_event){.kind = COORDINATOR_REFUSED,
                                                  .node = peer->node != NULL ? peer->node : "",
                                                  .text = error == NULL ? why : "out of memory"});
}

// HELLO 1 NODE
static struct error *greet(struct coordinator *coordinator, struct peer *peer, char *cursor)
{
    const char *version = protocol_next_word(&cursor), *node = protocol_next_word(&cursor);
    if (version == NULL || node == NULL || *node == '\0' || protocol_next_word(&cursor) != NULL ||
        peer->node != NULL || strlen(node) > NODE_NAME)
        return refuse(coordinator, peer,
                      "expected HELLO 1 NODE, once, with a name of at most 255 bytes"),
               NULL;
    if (strcmp(version, PROTOCOL_VERSION_TEXT) != 0)
        return refuse(coordinator, peer, "this coordinator speaks protocol 1"), NULL;
    _cleanup_free_ char *copy = strdup(node);
    if (copy == NULL)
        return error_no_memory();
    TRY(coordinator_state_join(coordinator->state, copy));
    peer->node = TAKE(copy);
    tell(coordinator, &(struct coordinator_event){.kind = COORDINATOR_JOINED, .node = peer->node});
    return buffer_printf(&peer->output, "WELCOME %d\n", PROTOCOL_VERSION);
}

static bool read_frames(char *text, struct coordinator_frame frames[FRAMES], size_t *ret_count)
{
    size_t count = 0;
    for (char *frame; count < FRAMES && (frame = protocol_next_part(&text, ',')) != NULL; count++) {
        char *module = protocol_next_part(&frame, ';'), *offset = protocol_next_part(&frame, ';');
        char *symbol = protocol_next_part(&frame, ';');
        if (module == NULL || offset == NULL || symbol == NULL || !protocol_decode(module) ||
            !protocol_decode(symbol))
            return false;
        frames[count] = (struct coordinator_frame){.module = module, .symbol = symbol};
    }
    *ret_count = count;
    return true;
}

// ASK ID NAME FUNCTION PID TID OCCURRENCE ARGUMENTS [FRAMES]
static struct error *answer(struct coordinator *coordinator, struct peer *peer, char *cursor)
{
    const char *id = protocol_next_word(&cursor), *name = protocol_next_word(&cursor),
               *function = protocol_next_word(&cursor);
    const char *pid = protocol_next_word(&cursor), *tid = protocol_next_word(&cursor);
    const char *occurrence = protocol_next_word(&cursor);
    char *arguments = protocol_next_word(&cursor);
    struct coordinator_frame frames[FRAMES];
    struct coordinator_question question = {.frames = frames};
    if (peer->node == NULL)
        return refuse(coordinator, peer, "expected HELLO first"), NULL;
    // Frames are split before they are decoded: a module's name may hold an encoded comma.
    if (id == NULL || tid == NULL || arguments == NULL || cursor == NULL ||
        id[strspn(id, "0123456789")] != '\0' || !read_frames(cursor, frames, &question.frame_count))
        return refuse(coordinator, peer, "this question cannot be understood"), NULL;
    question.node = peer->node;
    question.function = function;
    question.occurrence = strtoull(occurrence, NULL, 10);
    for (size_t i = 0; i < 6; i++) {
        const char *argument = protocol_next_part(&arguments, ',');
        question.arguments[i] = argument != NULL ? strtoull(argument, NULL, 16) : 0;
    }
    const char *rule = NULL;
    TRY(coordinator_state_ask(coordinator->state, name, &question, &rule));
    tell(coordinator, &(struct coordinator_event){.kind = COORDINATOR_ANSWER,
                                                  .node = peer->node,
                                                  .name = name,
                                                  .function = function,
                                                  .pid = pid,
                                                  .count = question.count,
                                                  .node_count = question.node_count,
                                                  .rule = rule,
                                                  .yes = rule != NULL});
    return buffer_printf(&peer->output, "ANSWER %s %s\n", id, rule != NULL ? "yes" : "no");
}

static void read_line(struct coordinator *coordinator, struct peer *peer, char *line, size_t size)
{
    if (size != 0 && line[size - 1] == '\r')
        line[--size] = '\0';
    if (memchr(line, '\0', size) != NULL) {
        refuse(coordinator, peer, "a line holds a NUL byte");
        return;
    }
    char *cursor = line;
    const char *verb = protocol_next_word(&cursor);
    struct error *error = NULL;
    if (verb != NULL && strcmp(verb, "HELLO") == 0)
        error = greet(coordinator, peer, cursor);
    else if (verb != NULL && strcmp(verb, "ASK") == 0)
        error = answer(coordinator, peer, cursor);
    else
        refuse(coordinator, peer, "expected HELLO or ASK");
    if (error != NULL)
        refuse(coordinator, peer, error_message(error));
    error_free(error);
}

// Handles all complete lines of the input and moves the rest to the front.
static void read_lines(struct coordinator *coordinator, struct peer *peer)
{
    size_t start = 0;
    for (char *end; !peer->closing &&
                    (end = memchr(peer->input + start, '\n', peer->received - start)) != NULL;) {
        *end = '\0';
        read_line(coordinator, peer, peer->input + start, (size_t)(end - peer->input) - start);
        start = (size_t)(end - peer->input) + 1;
    }
    peer->received -= start;
    memmove(peer->input, peer->input + start, peer->received);
    if (peer->received == PROTOCOL_LINE_SIZE && !peer->closing)
        refuse(coordinator, peer, "a line is too long");
}

// False when the peer is gone.
static bool receive(struct coordinator *coordinator, struct peer *peer)
{
    ssize_t size = recv(peer->socket, peer->input + peer->received,
                        PROTOCOL_LINE_SIZE - peer->received, MSG_DONTWAIT);
    if (size == 0)
        return false;
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    peer->received += (size_t)size;
    read_lines(coordinator, peer);
    return true;
}

// Writes what the peer takes. False when it is gone, does not read its answers, or is to be closed
// and has got everything.
static bool transmit(struct peer *peer)
{
    while (peer->output.size != 0) {
        ssize_t size =
            send(peer->socket, peer->output.data, peer->output.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return peer->output.size < OUTPUT_LIMIT;
        if (size < 0)
            return false;
        peer->output.size -= (size_t)size;
        memmove(peer->output.data, peer->output.data + size, peer->output.size);
    }
    return !peer->closing;
}

static void drop(struct coordinator *coordinator, size_t index)
{
    struct peer *peer = &coordinator->peers.items[index];
    if (peer->node != NULL) {
        coordinator_state_leave(coordinator->state, peer->node);
        tell(coordinator,
             &(struct coordinator_event){.kind = COORDINATOR_LEFT, .node = peer->node});
    }
    peer_deinit(peer);
    *peer = coordinator->peers.items[--coordinator->peers.count];
}

// Accepts one connection; false when none is waiting.
static bool admit(struct coordinator *coordinator)
{
    int handle = accept4(coordinator->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (handle < 0) {
        // Out of descriptors: the connection stays in the queue, so accept() would fail at once.
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            clock_sleep(COORDINATOR_ADMIT_PAUSE_NS);
        return false;
    }
    struct peer peer = {
        .socket = handle, .since_ns = clock_ns(), .input = malloc(PROTOCOL_LINE_SIZE)};
    struct peer *added = NULL;
    if (peer.input != NULL && coordinator->peers.count < PEERS)
        added = ARRAY_ADD(&coordinator->peers);
    if (added == NULL) {
        peer_deinit(&peer);
        return true;
    }
    *added = peer;
    if (coordinator->address.storage.ss_family == AF_UNIX)
        return true;
    // Keep-alive notices a machine that vanished without an error message: after 30 + 3 * 10
    // seconds.
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(handle, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(handle, IPPROTO_TCP, TCP_KEEPIDLE, &(int){30}, sizeof(int));
    setsockopt(handle, IPPROTO_TCP, TCP_KEEPINTVL, &(int){10}, sizeof(int));
    setsockopt(handle, IPPROTO_TCP, TCP_KEEPCNT, &(int){3}, sizeof(int));
    return true;
}

static void serve_peers(struct coordinator *coordinator, size_t count)
{
    uint64_t now_ns = clock_ns();
    // Backwards, since a dropped peer's place is taken by the last one.
    for (size_t i = count; i-- != 0;) {
        struct peer *peer = &coordinator->peers.items[i];
        short events = coordinator->polled[i + 2].revents;
        bool has_deadline = peer->node == NULL || peer->closing;
        bool lives = !has_deadline || now_ns < peer->since_ns ||
                     now_ns - peer->since_ns < COORDINATOR_GREETING_NS;
        if (lives && events & (POLLIN | POLLHUP | POLLERR) && !peer->closing)
            lives = receive(coordinator, peer);
        if (!transmit(peer) || !lives)
            drop(coordinator, i);
    }
}

struct error *coordinator_serve(struct coordinator *coordinator, int stop)
{
    for (;;) {
        struct pollfd *polled = coordinator->polled;
        size_t count = coordinator->peers.count;
        polled[0] = (struct pollfd){.fd = stop, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = coordinator->listener, .events = POLLIN};
        for (size_t i = 0; i < count; i++) {
            const struct peer *peer = &coordinator->peers.items[i];
            short events = peer->output.size != 0 ? POLLOUT : 0;
            events |= peer->closing ? 0 : POLLIN; // nobody reads what it still sends
            polled[i + 2] = (struct pollfd){.fd = peer->socket, .events = events};
        }
        int ready = poll(polled, count + 2, clock_poll_ms(COORDINATOR_GREETING_PAUSE_NS));
        if (ready < 0 && errno != EINTR && errno != ENOMEM)
            return error_from_errno(errno, "cannot wait for questions");
        if (ready < 0)
            continue;
        if (polled[0].revents != 0)
            return NULL;
        serve_peers(coordinator, count);
        for (int i = 0; polled[1].revents != 0 && i < ADMITTED && admit(coordinator);)
            i++;
    }
}

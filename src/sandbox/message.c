// SPDX-License-Identifier: GPL-3.0-or-later
// Sends and receives messages with descriptors and credentials, and packs strings into payloads.
#include "sandbox/message.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define PAYLOAD_LIMIT (64u << 20)

void incoming_deinit(struct incoming *incoming)
{
    buffer_deinit(&incoming->payload);
    for (size_t i = 0; i < MESSAGE_DESCRIPTORS; i++)
        if (incoming->descriptors[i] >= 0)
            close(incoming->descriptors[i]);
}

static struct error *send_all(int socket, const char *data, size_t size)
{
    while (size != 0) {
        ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return error_from_errno(errno, "cannot talk to the sandbox");
        data += sent;
        size -= (size_t)sent;
    }
    return NULL;
}

struct error *message_send(int socket, const struct message *head, const struct buffer *payload,
                           const int *descriptors)
{
    struct message copy = *head;
    copy.size = payload == NULL ? 0 : (uint32_t)payload->size;
    if (payload != NULL && payload->size > PAYLOAD_LIMIT)
        return error_new("the command and its environment are too long");
    union {
        char space[CMSG_SPACE(sizeof(int) * MESSAGE_DESCRIPTORS)];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec piece = {&copy, sizeof copy};
    struct msghdr packet = {.msg_iov = &piece, .msg_iovlen = 1};
    size_t count = 0;
    while (descriptors != NULL && count < MESSAGE_DESCRIPTORS && descriptors[count] >= 0)
        count++;
    if (count != 0) {
        packet.msg_control = control.space;
        packet.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *part = CMSG_FIRSTHDR(&packet);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(part), descriptors, sizeof(int) * count);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &packet, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return error_from_errno(errno, "cannot talk to the sandbox");
    TRY(send_all(socket, (char *)&copy + sent, sizeof copy - (size_t)sent));
    return payload == NULL ? NULL : send_all(socket, payload->data, payload->size);
}

bool message_announce(int socket)
{
    struct message head = {.kind = MESSAGE_HELLO};
    return send(socket, &head, sizeof head, MSG_NOSIGNAL) == (ssize_t)sizeof head;
}

static void take_control(struct msghdr *packet, struct incoming *incoming)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(packet); part != NULL;
         part = CMSG_NXTHDR(packet, part)) {
        if (part->cmsg_level != SOL_SOCKET)
            continue;
        size_t size = part->cmsg_len - CMSG_LEN(0);
        struct ucred credentials;
        if (part->cmsg_type == SCM_RIGHTS && size <= sizeof incoming->descriptors) {
            memcpy(incoming->descriptors, CMSG_DATA(part), size);
        } else if (part->cmsg_type == SCM_CREDENTIALS && size == sizeof credentials) {
            memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            incoming->sender = credentials.pid;
        }
    }
}

static struct error *receive_all(int socket, char *data, size_t size)
{
    while (size != 0) {
        ssize_t got = recv(socket, data, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_from_errno(errno, "cannot listen to the sandbox");
        if (got == 0)
            return error_new("the sandbox ended unexpectedly");
        data += got;
        size -= (size_t)got;
    }
    return NULL;
}

struct error *message_receive(int socket, struct incoming *ret_incoming)
{
    *ret_incoming = (struct incoming){0};
    memset(ret_incoming->descriptors, -1, sizeof ret_incoming->descriptors);
    union {
        char
            space[CMSG_SPACE(sizeof(int) * MESSAGE_DESCRIPTORS) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct iovec piece = {&ret_incoming->head, sizeof ret_incoming->head};
    struct msghdr packet = {.msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = control.space,
                            .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_from_errno(errno, "cannot listen to the sandbox");
    if (got == 0)
        return error_new("the sandbox ended unexpectedly");
    take_control(&packet, ret_incoming);
    TRY(receive_all(socket, (char *)&ret_incoming->head + got,
                    sizeof ret_incoming->head - (size_t)got));
    size_t size = ret_incoming->head.size;
    if (size == 0)
        return NULL;
    if (size > PAYLOAD_LIMIT)
        return error_new("the sandbox talks nonsense");
    struct buffer *payload = &ret_incoming->payload;
    payload->data = malloc(size + 1);
    if (payload->data == NULL)
        return error_no_memory();
    payload->room = size + 1;
    payload->size = size;
    payload->data[size] = '\0';
    return receive_all(socket, payload->data, size);
}

void message_fail(int socket, struct error *error)
{
    struct buffer text = {.data = (char *)error_message(error),
                          .size = strlen(error_message(error))};
    error_free(message_send(socket, &(struct message){.kind = MESSAGE_FAILED}, &text, NULL));
    error_free(error);
}

struct error *message_failure(const struct incoming *incoming)
{
    if (incoming->head.kind != MESSAGE_FAILED)
        return NULL;
    return error_new("%s", incoming->payload.data == NULL ? "?" : incoming->payload.data);
}

struct error *message_add_text(struct buffer *payload, const char *text)
{
    return buffer_append(payload, text, strlen(text) + 1);
}

struct error *message_add_list(struct buffer *payload, char *const *list)
{
    uint64_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    TRY(buffer_append(payload, &count, sizeof count));
    for (uint64_t i = 0; i < count; i++)
        TRY(message_add_text(payload, list[i]));
    return NULL;
}

const char *message_text(struct cursor *cursor)
{
    const unsigned char *start = cursor->data + cursor->at;
    size_t left = cursor->size - cursor->at;
    size_t length = left == 0 ? 0 : strnlen((const char *)start, left);
    if (cursor->failed || length == left) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += length + 1;
    return (const char *)start;
}

struct error *message_list(struct cursor *cursor, char ***ret_list)
{
    uint64_t count = cursor_u64(cursor);
    if (cursor->failed || count > cursor->size)
        return error_new("the sandbox was told nonsense");
    _cleanup_free_ char **list = calloc(count + 1, sizeof *list);
    if (list == NULL)
        return error_no_memory();
    for (uint64_t i = 0; i < count; i++)
        list[i] = (char *)message_text(cursor);
    if (cursor->failed)
        return error_new("the sandbox was told nonsense");
    *ret_list = TAKE(list);
    return NULL;
}

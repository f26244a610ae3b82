// SPDX-License-Identifier: GPL-3.0-or-later
// Sends targets' questions to the coordinator and reads its answers. After a failure it leaves the
// coordinator alone for a second, so that a trial whose coordinator is gone does not wait at every
// call.
#include "trial/remote.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "dwarf/symbolizer.h"
#include "trial/address.h"
#include "trial/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct remote {
    const struct region *region;
    struct address_list addresses; // none: every answer is WIRE_REMOTE_UNREACHABLE
    char *node;
    int socket;
    uint64_t retry_at_ns; // no attempt to connect before
    uint64_t questions;
    struct dwarf_symbolizer *symbolizer; // made with the first question
    size_t received;
    char input[PROTOCOL_LINE_SIZE];
};

static char *default_node(void)
{
    char host[65] = "localhost", *node;
    gethostname(host, sizeof host - 1);
    return asprintf(&node, "%s-%ld", host, (long)getpid()) < 0 ? NULL : node;
}

struct error *remote_new(const char *address, const char *node, const struct region *region,
                         struct remote **ret_remote)
{
    struct address_list parsed = {0};
    if (address != NULL)
        TRY(address_parse(address, &parsed));
    struct remote *remote = calloc(1, sizeof *remote);
    if (remote == NULL)
        return error_no_memory();
    remote->region = region;
    remote->socket = -1;
    remote->addresses = parsed;
    remote->node = node != NULL ? strdup(node) : default_node();
    if (remote->node == NULL) {
        remote_free(remote);
        return error_no_memory();
    }
    *ret_remote = remote;
    return NULL;
}

static void hang_up(struct remote *remote)
{
    if (remote->socket >= 0)
        close(remote->socket);
    remote->socket = -1;
    remote->received = 0;
}

void remote_free(struct remote *remote)
{
    if (remote == NULL)
        return;
    hang_up(remote);
    dwarf_symbolizer_free(remote->symbolizer);
    free(remote->node);
    free(remote);
}

// Waits until the socket is ready or the deadline has passed.
static bool ready(struct remote *remote, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now_ns = clock_ns();
        if (now_ns >= deadline_ns)
            return false;
        struct pollfd wait_for = {.fd = remote->socket, .events = events};
        int count = poll(&wait_for, 1, clock_poll_ms(deadline_ns - now_ns));
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return false;
    }
}

static bool send_line(struct remote *remote, const struct buffer *line, uint64_t deadline_ns)
{
    for (size_t at = 0; at < line->size;) {
        ssize_t part = send(remote->socket, line->data + at, line->size - at, MSG_NOSIGNAL);
        if (part >= 0)
            at += (size_t)part;
        else if (errno == EAGAIN && !ready(remote, POLLOUT, deadline_ns))
            return false;
        else if (errno != EAGAIN && errno != EINTR)
            return false;
    }
    return true;
}

// Copies the next line without its newline to `line`; NULL if none came.
static char *receive_line(struct remote *remote, char line[PROTOCOL_LINE_SIZE],
                          uint64_t deadline_ns)
{
    for (;;) {
        char *end = memchr(remote->input, '\n', remote->received);
        if (end != NULL) {
            size_t size = (size_t)(end - remote->input);
            memcpy(line, remote->input, size);
            line[size] = '\0';
            remote->received -= size + 1;
            memmove(remote->input, end + 1, remote->received);
            return line;
        }
        if (remote->received == sizeof remote->input || !ready(remote, POLLIN, deadline_ns))
            return NULL;
        ssize_t part = recv(remote->socket, remote->input + remote->received,
                            sizeof remote->input - remote->received, 0);
        if (part == 0 || (part < 0 && errno != EAGAIN && errno != EINTR))
            return NULL;
        if (part > 0)
            remote->received += (size_t)part;
    }
}

static bool greet(struct remote *remote)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    _cleanup_error_ struct error *error = buffer_printf(&line, "HELLO %d ", PROTOCOL_VERSION);
    if (error == NULL)
        error = protocol_put_word(&line, remote->node);
    if (error == NULL)
        error = buffer_append(&line, "\n", 1);
    if (error != NULL)
        return false;
    uint64_t deadline_ns = clock_ns() + COORDINATOR_CONNECT_NS;
    char answer[PROTOCOL_LINE_SIZE];
    return send_line(remote, &line, deadline_ns) &&
           receive_line(remote, answer, deadline_ns) != NULL && strncmp(answer, "WELCOME ", 8) == 0;
}

static bool connected(struct remote *remote)
{
    if (remote->socket >= 0)
        return true;
    if (remote->addresses.count == 0 || clock_ns() < remote->retry_at_ns)
        return false;
    struct error *error =
        address_connect(&remote->addresses, COORDINATOR_CONNECT_NS, &remote->socket);
    if (error == NULL && greet(remote))
        return true;
    error_free(error);
    hang_up(remote);
    remote->retry_at_ns = clock_ns() + COORDINATOR_RETRY_NS;
    return false;
}

static struct error *put_frame(struct remote *remote, struct buffer *line, uint64_t frame)
{
    uint32_t index = WIRE_FRAME_MODULE(frame);
    uint64_t offset = WIRE_FRAME_OFFSET(frame);
    char path[WIRE_MODULE_PATH] = "";
    const char *symbol = NULL;
    if (index < WIRE_MODULES) {
        const struct wire_module *modules =
            (const struct wire_module *)((const char *)remote->region->map +
                                         remote->region->layout.modules);
        memcpy(path, modules[index].path, sizeof path);
        path[sizeof path - 1] = '\0';
        if (remote->symbolizer == NULL)
            TRY(dwarf_symbolizer_new(&remote->symbolizer));
        symbol = dwarf_symbolizer_find(remote->symbolizer, path, offset - 1).symbol;
    }
    TRY(protocol_put_word(line, path));
    TRY(buffer_printf(line, ";%llx;", (unsigned long long)offset));
    return protocol_put_word(line, symbol != NULL ? symbol : "");
}

static struct error *put_question(struct remote *remote, const struct wire_remote *question,
                                  struct buffer *line)
{
    const struct wire_plan *plan = region_plan(remote->region);
    const char *name = question->name < plan->strings.count
                           ? (const char *)plan + plan->strings.offset + question->name
                           : "";
    char function[WIRE_FUNCTION_NAME];
    memcpy(function, question->function, sizeof function);
    function[sizeof function - 1] = '\0';
    TRY(buffer_printf(line, "ASK %llu ", (unsigned long long)remote->questions));
    TRY(protocol_put_word(line, name));
    TRY(buffer_append(line, " ", 1));
    TRY(protocol_put_word(line, function));
    TRY(buffer_printf(line, " %u %u %llu ", question->pid, question->tid,
                      (unsigned long long)question->occurrence));
    for (int i = 0; i < WIRE_ARGUMENTS; i++)
        TRY(buffer_printf(line, "%s%llx", i == 0 ? "" : ",",
                          (unsigned long long)question->arguments[i]));
    TRY(buffer_append(line, " ", 1));
    for (uint64_t i = 0; i < question->frame_count && i < WIRE_REMOTE_FRAMES; i++) {
        TRY(buffer_append(line, ",", i == 0 ? 0 : 1));
        // Leave out the outer frames of a line that grows too long.
        size_t before = line->size;
        TRY(put_frame(remote, line, question->frames[i]));
        if (line->size > PROTOCOL_LINE_SIZE - 64) {
            line->size = before;
            break;
        }
    }
    return buffer_append(line, "\n", 1);
}

static enum wire_remote_answer read_answer(char *line, uint64_t question, bool *ret_mine)
{
    char *cursor = line;
    const char *verb = protocol_next_word(&cursor), *number = protocol_next_word(&cursor);
    const char *answer = protocol_next_word(&cursor);
    *ret_mine = verb != NULL && number != NULL && strcmp(verb, "ANSWER") == 0 &&
                strtoull(number, NULL, 10) == question;
    if (answer == NULL || (strcmp(answer, "yes") != 0 && strcmp(answer, "no") != 0))
        return WIRE_REMOTE_UNREACHABLE;
    return strcmp(answer, "yes") == 0 ? WIRE_REMOTE_YES : WIRE_REMOTE_NO;
}

enum wire_remote_answer remote_ask(struct remote *remote, const struct wire_remote *question)
{
    if (!connected(remote))
        return WIRE_REMOTE_UNREACHABLE;
    remote->questions++;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    _cleanup_error_ struct error *error = put_question(remote, question, &line);
    if (error != NULL)
        return WIRE_REMOTE_UNREACHABLE;
    uint64_t deadline_ns = clock_ns() + COORDINATOR_ANSWER_NS;
    char input[PROTOCOL_LINE_SIZE];
    if (send_line(remote, &line, deadline_ns))
        while (receive_line(remote, input, deadline_ns) != NULL) {
            bool mine;
            enum wire_remote_answer answer = read_answer(input, remote->questions, &mine);
            if (mine)
                return answer;
        }
    hang_up(remote);
    remote->retry_at_ns = clock_ns() + COORDINATOR_RETRY_NS;
    return WIRE_REMOTE_UNREACHABLE;
}

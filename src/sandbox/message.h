// SPDX-License-Identifier: GPL-3.0-or-later
// What the processes of a sandbox say to each other: over a stream socket, with descriptors and
// with the sender's process number as the receiver sees it.
#ifndef ORDEAL_SANDBOX_MESSAGE_H
#define ORDEAL_SANDBOX_MESSAGE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum message_kind {
    MESSAGE_HELLO,  // from a command that is about to run: who it is
    MESSAGE_FAILED, // payload: why
    // To the keeper of the view: begin a life; payload: struct view_request and strings.
    MESSAGE_LIVE,
    MESSAGE_READY, // descriptors: the root, the layers
    // To init.
    MESSAGE_START, // values: linger, input given; payload: directory, command, environment
    MESSAGE_KILL,  // the processes of the step
    MESSAGE_QUIET, // all processes
    // From init.
    MESSAGE_STARTED,
    MESSAGE_COMMAND, // the command ended; values: status, CPU time in ns, peak memory
    MESSAGE_STEP,    // and all it started; values: more CPU time, peak memory
    MESSAGE_DONE,    // KILL or QUIET was done
};

#define MESSAGE_VALUES      4
#define MESSAGE_DESCRIPTORS 4
struct message {
    uint32_t kind, size; // size of the payload
    int64_t values[MESSAGE_VALUES];
};
struct incoming {
    struct message head;
    struct buffer payload;
    pid_t sender;                         // 0 unless credentials are passed
    int descriptors[MESSAGE_DESCRIPTORS]; // -1 after the last
};
void incoming_deinit(struct incoming *incoming);

// Descriptors end with -1; may be NULL. `payload` may be NULL.
struct error *message_send(int socket, const struct message *head, const struct buffer *payload,
                           const int *descriptors);
// *ret_incoming is initialised in any case. A closed connection is an error.
struct error *message_receive(int socket, struct incoming *ret_incoming);
// MESSAGE_HELLO, with system calls alone.
bool message_announce(int socket);

// Strings in a payload, each with its NUL; a list ends with an empty count.
struct error *message_add_list(struct buffer *payload, char *const *list);
struct error *message_add_text(struct buffer *payload, const char *text);
// Read back; they point into the payload. The array is the caller's to free.
struct cursor;
const char *message_text(struct cursor *cursor); // NULL: the payload is broken
struct error *message_list(struct cursor *cursor, char ***ret_list);

#endif

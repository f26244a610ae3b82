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
    // To the zygote: begin a life. Values: show_tmp, show_shm; payload: visible files; a socket.
    // It answers STARTED with the pid of the life's init, which answers READY on the socket.
    MESSAGE_RUN,
    // From the zygote: payload: layers, warnings; values: own_users.
    // From init: descriptors: the root, the layers.
    MESSAGE_READY,
    // To init.
    MESSAGE_START, // values: linger, terminal, address of a function or 0; payload: struct
                   // sandbox_limits, directory, command, environment; descriptors: output, errors,
                   // input or what the function shares
    MESSAGE_KILL_STEP, // the processes of the step
    MESSAGE_KILL_ALL,  // all processes
    // From init.
    MESSAGE_STARTED, // values: pid
    MESSAGE_COMMAND, // the command ended; values: status, CPU time in ns, peak memory, step is
                     // over, signal of an orphan
    MESSAGE_STEP,    // all it started ended, too; values: -, CPU time, peak memory, -, signal
    MESSAGE_DONE,    // KILL or QUIET was done; values: as of STEP
};

#define MESSAGE_VALUES      5
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
_must_check_ struct error *message_send(int socket, const struct message *head,
                                        const struct buffer *payload, const int *descriptors);
// *ret_incoming is initialised in any case. A closed connection is an error.
_must_check_ struct error *message_receive(int socket, struct incoming *ret_incoming);
// MESSAGE_HELLO, with system calls alone.
bool message_announce(int socket);

// MESSAGE_FAILED; frees the error.
void message_fail(int socket, struct error *error);
// The error that a MESSAGE_FAILED is about, else NULL.
_must_check_ struct error *message_failure(const struct incoming *incoming);

// Strings in a payload, each with its NUL; a list has its count before it.
_must_check_ struct error *message_add_list(struct buffer *payload, char *const *list);
_must_check_ struct error *message_add_text(struct buffer *payload, const char *text);
// Read back; they point into the payload. The array is the caller's to free.
struct cursor;
const char *message_text(struct cursor *cursor); // NULL: the payload is broken
_must_check_ struct error *message_list(struct cursor *cursor, char ***ret_list);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The messages between the processes of a sandbox: over a stream socket, with descriptors, and with
// the sender's PID as the receiver sees it.
#ifndef ORDEAL_SANDBOX_MESSAGE_H
#define ORDEAL_SANDBOX_MESSAGE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum message_kind {
    MESSAGE_HELLO,  // from a command that is about to run; its sender is what counts
    MESSAGE_FAILED, // payload: the error's text
    // To the zygote: begin a run. Values: show_tmp, show_shm; payload: visible files; descriptor: a
    // socket. The zygote answers STARTED with the PID of the run's init, which answers READY on the
    // socket.
    MESSAGE_RUN,
    // From the zygote: payload: layers, warnings; values: own_users. From init: descriptors: the
    // root, the directory of upper layers.
    MESSAGE_READY,
    // To init.
    MESSAGE_START, // values: linger, terminal, address of a function or 0, attached, fixed
                   // addresses; payload: struct sandbox_limits, struct spawn_signals, directory,
                   // command, environment; descriptors: output, errors, input or what the function
                   // shares
    MESSAGE_KILL_STEP, // kill the processes of the step
    MESSAGE_KILL_ALL,  // kill all processes
    MESSAGE_COUNT,     // count the objects of System V IPC; the answer is DONE
    // From init.
    MESSAGE_STARTED, // values: pid
    MESSAGE_COMMAND, // the command ended; values: status, CPU time in ns, peak memory, step is
                     // over, signal of an orphan
    MESSAGE_STEP,    // all it started ended, too; values: -, CPU time, peak memory, -, signal
    MESSAGE_DONE,    // KILL_STEP, KILL_ALL or COUNT was done; values: as of STEP, the first is the
                     // count
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
// Also closes the descriptors.
void incoming_deinit(struct incoming *incoming);

// `descriptors` ends with -1 and may be NULL. `payload` may be NULL.
_must_check_ struct error *message_send(int socket, const struct message *head,
                                        const struct buffer *payload, const int *descriptors);
// *ret_incoming is initialised even if there is an error. A closed connection is an error.
_must_check_ struct error *message_receive(int socket, struct incoming *ret_incoming);
// Sends MESSAGE_HELLO, by a system call alone: for the time between clone and exec.
bool message_announce(int socket);

// Sends MESSAGE_FAILED and frees the error.
void message_fail(int socket, struct error *error);
// The error of a MESSAGE_FAILED; NULL for other messages.
_must_check_ struct error *message_failure(const struct incoming *incoming);

// Append strings to a payload, each with its NUL. A list has its count in front.
_must_check_ struct error *message_add_list(struct buffer *payload, char *const *list);
_must_check_ struct error *message_add_text(struct buffer *payload, const char *text);
// Read them back. The strings point into the payload; the array is the caller's to free.
struct cursor;
const char *message_text(struct cursor *cursor); // NULL: the payload is damaged
_must_check_ struct error *message_list(struct cursor *cursor, char ***ret_list);

#endif

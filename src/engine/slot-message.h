// SPDX-License-Identifier: GPL-3.0-or-later
// The messages between the controller and its job slots. A message is its size and that many bytes.
// A slot has run a hostile program, so its messages are read as foreign bytes.
#ifndef ORDEAL_ENGINE_SLOT_MESSAGE_H
#define ORDEAL_ENGINE_SLOT_MESSAGE_H

#include "base/array.h"
#include "base/error.h"
#include "engine/engine.h"

#include <stddef.h>
#include <stdint.h>

#define SLOT_MESSAGE_SIZE (16u << 20) // larger messages are refused

struct slot_job { // a job as a slot receives it
    int64_t candidate;
    uint64_t seed, tag;
    char *spec;    // owned; NULL: withdraws the jobs that have not begun
    uint32_t more; // how many jobs of the same lot follow
    bool control;  // as in engine_job
};
void slot_job_deinit(struct slot_job *job);

// Append a whole message, with its size, to `out`. An error means no memory, or a message too
// large.
_must_check_ struct error *slot_message_put_job(struct buffer *out, const struct engine_job *job,
                                                uint32_t more);
_must_check_ struct error *slot_message_put_result(struct buffer *out,
                                                   const struct engine_result *result);
// The slot says that it cannot work at all.
_must_check_ struct error *slot_message_put_refusal(struct buffer *out, const char *why);

// The size of the message at the start of `bytes`, including the four bytes of the size itself; 0
// if these are not there yet. An error if the size is impossible.
_must_check_ struct error *slot_message_size(const void *bytes, size_t size, size_t *ret_size);

// Read one whole message. A damaged one is an error. The caller frees what is returned.
_must_check_ struct error *slot_message_get_job(const void *bytes, size_t size,
                                                struct slot_job *ret_job);
// If the slot refused to work, returns its reason as an error, and *ret_refused is true.
_must_check_ struct error *slot_message_get_result(const void *bytes, size_t size,
                                                   struct engine_result *ret_result,
                                                   bool *ret_refused);

// Sends the whole message, however often that is interrupted.
_must_check_ struct error *slot_message_send(int socket, const struct buffer *message);

#endif

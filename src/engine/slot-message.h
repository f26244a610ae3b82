// SPDX-License-Identifier: GPL-3.0-or-later
// What controller and job slots say to each other. A message is its size and so many bytes. A slot
// led a hostile program, so what it says is read as foreign bytes.
#ifndef ORDEAL_ENGINE_SLOT_MESSAGE_H
#define ORDEAL_ENGINE_SLOT_MESSAGE_H

#include "base/array.h"
#include "base/error.h"
#include "engine/engine.h"

#include <stddef.h>
#include <stdint.h>

#define SLOT_MESSAGE_SIZE (16u << 20) // of the largest message that is believed

struct slot_job { // as a slot gets it
    int64_t candidate;
    uint64_t seed, tag;
    char *spec; // NULL: jobs that were sent are not wanted any more, as far as they have not begun
    uint32_t more; // jobs of the same lot that follow
};
void slot_job_deinit(struct slot_job *job);

// Appends a whole message, with its size.
_must_check_ struct error *slot_message_put_job(struct buffer *out, const struct engine_job *job,
                                                uint32_t more);
_must_check_ struct error *slot_message_put_result(struct buffer *out,
                                                   const struct engine_result *result);
// The slot cannot work at all.
_must_check_ struct error *slot_message_put_refusal(struct buffer *out, const char *why);

// The size of the message `bytes` begin with, the four bytes of the size included; 0 if they are
// not there yet. An error if it cannot be true.
_must_check_ struct error *slot_message_size(const void *bytes, size_t size, size_t *ret_size);

// `bytes` is one whole message.
_must_check_ struct error *slot_message_get_job(const void *bytes, size_t size,
                                                struct slot_job *ret_job);
// The slot's refusal is an error, too.
_must_check_ struct error *slot_message_get_result(const void *bytes, size_t size,
                                                   struct engine_result *ret_result,
                                                   bool *ret_refused);

// Sends all of it, however often that is interrupted.
_must_check_ struct error *slot_message_send(int socket, const struct buffer *message);

#endif

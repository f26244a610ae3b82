// SPDX-License-Identifier: GPL-3.0-or-later
// One stream of a step, read as it comes.
#ifndef ORDEAL_SANDBOX_CAPTURE_H
#define ORDEAL_SANDBOX_CAPTURE_H

#include "sandbox/digest.h"
#include "sandbox/sandbox.h"

struct capture {
    int descriptor; // to read from, never blocks; -1: closed
    size_t limit;
    struct digest digest;
    struct sandbox_stream *stream;
};

// *ret_write is the end for the command.
_must_check_ struct error *capture_open(struct capture *capture, struct sandbox_stream *stream,
                                        size_t limit, int *ret_write);
void capture_close(struct capture *capture);
// What is there, but not for ever: somebody may write faster than we read.
_must_check_ struct error *capture_read(struct capture *capture);

#endif

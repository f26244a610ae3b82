// SPDX-License-Identifier: GPL-3.0-or-later
// Reads one stream of a step as it comes: keeps the beginning, counts and hashes all of it.
#ifndef ORDEAL_SANDBOX_CAPTURE_H
#define ORDEAL_SANDBOX_CAPTURE_H

#include "sandbox/digest.h"
#include "sandbox/sandbox.h"

struct capture {
    int descriptor; // to read from, never blocks; -1: closed
    size_t limit;   // bytes to keep
    struct digest digest;
    struct sandbox_stream *stream;
};

// Makes a pipe. *ret_write is the end for the command, the caller's to close. `stream` must outlive
// the capture.
_must_check_ struct error *capture_open(struct capture *capture, struct sandbox_stream *stream,
                                        size_t limit, int *ret_write);
void capture_close(struct capture *capture);
// Reads what is there, but not for ever: somebody may write faster than we read.
_must_check_ struct error *capture_read(struct capture *capture);

#endif

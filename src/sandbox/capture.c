// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a pipe without blocking, and closes it at its end.
#include "sandbox/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECES 32 // per call; more than a pipe holds

struct error *capture_open(struct capture *capture, struct sandbox_stream *stream, size_t limit,
                           int *ret_write)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *capture = (struct capture){.descriptor = ends[0], .limit = limit, .stream = stream};
    digest_start(&capture->digest);
    stream->hash = digest_value(&capture->digest);
    *ret_write = ends[1];
    return NULL;
}

void capture_close(struct capture *capture)
{
    if (capture->descriptor >= 0)
        close(capture->descriptor);
    capture->descriptor = -1;
}

struct error *capture_read(struct capture *capture)
{
    struct sandbox_stream *stream = capture->stream;
    char piece[65536];
    uint64_t before = stream->size;
    struct error *error = NULL;
    for (int i = 0; i < PIECES && error == NULL && capture->descriptor >= 0; i++) {
        ssize_t size = read(capture->descriptor, piece, sizeof piece);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            break;
        if (size <= 0) {
            capture_close(capture);
            break;
        }
        digest_add(&capture->digest, piece, (size_t)size);
        stream->size += (uint64_t)size;
        size_t left = capture->limit > stream->kept.size ? capture->limit - stream->kept.size : 0;
        if (left != 0)
            error = buffer_append(&stream->kept, piece, (size_t)size < left ? (size_t)size : left);
    }
    if (stream->size != before)
        stream->hash = digest_value(&capture->digest);
    return error;
}

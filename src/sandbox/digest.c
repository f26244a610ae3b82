// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes a file without moving its offset.
#include "sandbox/digest.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

bool digest_file(int descriptor, uint64_t size, uint64_t *ret_hash)
{
    char piece[65536];
    struct digest digest;
    digest_start(&digest);
    for (uint64_t at = 0; at < size;) {
        size_t want = size - at < sizeof piece ? (size_t)(size - at) : sizeof piece;
        ssize_t got = pread(descriptor, piece, want, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        digest_add(&digest, piece, (size_t)got);
        at += (uint64_t)got;
    }
    *ret_hash = digest_value(&digest);
    return true;
}

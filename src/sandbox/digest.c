// SPDX-License-Identifier: GPL-3.0-or-later
#include "sandbox/digest.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

bool digest_file(int descriptor, uint64_t *ret_hash)
{
    char piece[65536];
    struct digest digest;
    digest_start(&digest);
    for (off_t at = 0;;) {
        ssize_t size = pread(descriptor, piece, sizeof piece, at);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return false;
        if (size == 0)
            break;
        digest_add(&digest, piece, (size_t)size);
        at += size;
    }
    *ret_hash = digest_value(&digest);
    return true;
}

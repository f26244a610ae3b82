// SPDX-License-Identifier: GPL-3.0-or-later
// A fast hash of what programs write, computed piece by piece. The same bytes give the same value
// in every process. It does not resist forgery.
#ifndef ORDEAL_SANDBOX_DIGEST_H
#define ORDEAL_SANDBOX_DIGEST_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct digest {
    XXH64_state_t state;
};

static inline void digest_start(struct digest *digest)
{
    XXH64_reset(&digest->state, 0);
}
static inline void digest_add(struct digest *digest, const void *data, size_t size)
{
    XXH64_update(&digest->state, data, size);
}
static inline uint64_t digest_value(const struct digest *digest)
{
    return XXH64_digest(&digest->state);
}
static inline uint64_t digest_bytes(const void *data, size_t size)
{
    return XXH64(data, size, 0);
}
// Hashes the first `size` bytes of a file, or all if it has fewer: it may grow faster than it can
// be read. False (errno) if it cannot be read.
_Bool digest_file(int descriptor, uint64_t size, uint64_t *ret_hash);

#endif

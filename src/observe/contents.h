// SPDX-License-Identifier: GPL-3.0-or-later
// A hash of what calls transfer that does not depend on how it was divided: from the hashes of two
// pieces follows that of both together. A polynomial over the bytes, modulo 2^61 - 1. It does not
// resist forgery.
#ifndef ORDEAL_OBSERVE_CONTENTS_H
#define ORDEAL_OBSERVE_CONTENTS_H

#include <stddef.h>
#include <stdint.h>

struct contents { // starts zeroed
    uint64_t hash, size;
};

void contents_add(struct contents *contents, const void *bytes, size_t size);
// Of the piece that follows only hash and size are known.
void contents_append(struct contents *contents, const struct contents *next);

#endif

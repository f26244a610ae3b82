// SPDX-License-Identifier: GPL-3.0-or-later
// What a directory held at one time, to tell later what has changed.
#ifndef ORDEAL_SANDBOX_LISTING_H
#define ORDEAL_SANDBOX_LISTING_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct listing_entry {
    char *path; // relative to the directory
    uint32_t mode;
    uint64_t size, hash;
    uint64_t device, inode, modified_ns, changed_ns;
    bool hashed; // `hash` is known
};
struct listing { // sorted by path
    ARRAY(struct listing_entry) entries;
};
void listing_deinit(struct listing *listing);

// Limits of a listing. More entries are an error. Files beyond the bytes are not hashed, and count
// as changed if their time or size has changed.
#define LISTING_ENTRIES 200000
#define LISTING_BYTES   (1ull << 30)

// Lists the directory. Takes over the hashes of files that have not changed since `known` (may be
// NULL). `copied`: `known` is about the original of this copy, so that inodes differ. Directories
// that cannot be read count as empty. Paths of PATH_MAX bytes and more are left out: no program can
// name them. The caller frees the listing.
_must_check_ struct error *listing_take(const char *directory, const struct listing *known,
                                        bool copied, struct listing *ret_listing);
const struct listing_entry *listing_find(const struct listing *listing, const char *path);
// Whether both have the same kind, mode, content and time of writing.
bool listing_same(const struct listing_entry *a, const struct listing_entry *b);

#endif

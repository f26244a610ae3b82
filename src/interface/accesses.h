// SPDX-License-Identifier: GPL-3.0-or-later
// How often a library stored to each byte that its user can see.
#ifndef ORDEAL_INTERFACE_ACCESSES_H
#define ORDEAL_INTERFACE_ACCESSES_H

#include "base/array.h"
#include "interface/stream.h"

struct accessed_range {
    uint64_t area; // as in struct interface_range
    int64_t start, end;
    uint64_t stores; // to each byte of it
};
struct accesses {
    ARRAY(struct accessed_range) ranges; // sorted, not empty, and they do not overlap
};
_must_check_ struct error *accesses_count(const struct trace_source *source, uint32_t program,
                                          struct accesses *ret_accesses);
void accesses_deinit(struct accesses *accesses);
// Lines of area, start, end and stores.
_must_check_ struct error *accesses_write(const struct accesses *accesses, struct buffer *text);
_must_check_ struct error *accesses_read(const char *text, size_t size,
                                         struct accesses *ret_accesses);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a library stores to most often in a run without a fault, as profiles that the
// injector `interface` takes: the thesis' rule for what to corrupt.
#ifndef ORDEAL_INTERFACE_ACCESSED_H
#define ORDEAL_INTERFACE_ACCESSED_H

#include "interface/stream.h"

struct accessed_count {
    uint64_t places;  // that were chosen
    uint64_t reached; // for which there is a profile: a parameter leads there when the call ends
    uint64_t least;   // stores to any of them
};
// Appends profiles of at most `most` places. A place is the memory of a store that the user can
// see; of the calls that store there, one is drawn, and its last store is said to be left out.
_must_check_ struct error *accessed_write(const struct trace_source *source, uint32_t program,
                                          size_t most, struct buffer *text,
                                          struct accessed_count *ret_count);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Which areas of the library the program can reach: from its heap, its stack, its variables, or a
// value that the library returned, over any number of pointers that the library stored.
#ifndef ORDEAL_INTERFACE_REACH_H
#define ORDEAL_INTERFACE_REACH_H

#include "interface/stream.h"

struct reach {
    unsigned char *reachable; // by area
    size_t count;
    uint64_t stores, calls; // of the whole trace
};
// One pass over the trace: areas, and pointers between them.
_must_check_ struct error *reach_find(const struct trace_source *source, uint32_t program,
                                      struct reach *ret_reach);
void reach_deinit(struct reach *reach);

#endif

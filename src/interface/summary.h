// SPDX-License-Identifier: GPL-3.0-or-later
// What a library gave its user in one run, function by function.
#ifndef ORDEAL_INTERFACE_SUMMARY_H
#define ORDEAL_INTERFACE_SUMMARY_H

#include "interface/items.h"

struct function_summary {
    const char *name;              // belongs to the items
    uint64_t calls, stores, bytes; // stores that the user can see
};
struct interface_summary {
    ARRAY(struct function_summary) functions; // by name
    uint64_t stores;                          // all outside of the library's frames
    uint64_t calls;
    struct items *items;
};
_must_check_ struct error *interface_summarize(const struct trace_source *source, uint32_t program,
                                               struct interface_summary *ret_summary);
void interface_summary_deinit(struct interface_summary *summary);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What a library gave its user, in order: pass 3 of figure 4.8. Items of two runs that mean the
// same are equal, whatever their addresses.
#ifndef ORDEAL_INTERFACE_ITEMS_H
#define ORDEAL_INTERFACE_ITEMS_H

#include "interface/reach.h"
#include "interface/world.h"

enum item_kind {
    ITEM_ENTER,
    ITEM_STORE,
    ITEM_FREE, // of the program's memory
    ITEM_RETURN,
    ITEM_ABANDON, // left by longjmp() or an exception
};
struct item {
    enum item_kind kind;
    uint64_t identity;      // equal items have the same
    uint64_t place, area;   // of stores: instruction with address and size, instruction with area
    uint64_t call;          // the library's open call; for ITEM_ENTER the one outside, 0: none
    uint64_t code;          // the instruction; of other items the function, or 0
    struct meaning target;  // of stores and frees
    uint64_t value;         // of stores the first bytes
    struct meaning pointee; // of the value
    uint32_t function;      // in world.functions, or MAP_NONE
    uint32_t size;          // of stores; of results: 0 if there is none
};

// A pointer that lies at an address, as far as the trace tells: the library's own and, where
// arguments lead, the program's.
struct pointer {
    uint64_t address, value;
};

struct items;
_must_check_ struct error *items_open(const struct trace_source *source, uint32_t program,
                                      struct items **ret_items);
// *ret_more is false at the end.
_must_check_ struct error *items_next(struct items *items, struct item *ret_item, bool *ret_more);
// From now on it is remembered where pointers lie.
void items_keep_pointers(struct items *items);
// Those that lie there now; some may be no pointers any more.
const struct pointer *items_pointers(const struct items *items, size_t *ret_count);
const struct world *items_world(const struct items *items);
const struct reach *items_reach(const struct items *items);
void items_close(struct items *items);

#endif

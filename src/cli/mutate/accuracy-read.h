// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lists of faults that 'ordeal mutate --json' wrote.
#ifndef ORDEAL_CLI_MUTATE_ACCURACY_READ_H
#define ORDEAL_CLI_MUTATE_ACCURACY_READ_H

#include "base/arena.h"
#include "base/array.h"
#include "mutate/match.h"

struct accuracy_note { // on a fault, for people
    const char *id, *operands;
};
struct accuracy_list {
    struct arena arena; // owns the texts
    ARRAY(struct match_fault) items;
    ARRAY(struct accuracy_note) notes; // by fault
    ARRAY(struct construct_line) constructs;
    const char *level; // of its first fault; "" if it has none
    size_t placeless;  // faults without a line, which are not in `items`
};

// A line that is no fault is an error that names it.
_must_check_ struct error *accuracy_read(const char *path, struct accuracy_list *ret_list);
void accuracy_list_deinit(struct accuracy_list *list);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of all fault types, and the table of them.
#ifndef ORDEAL_MUTATE_PASS_TYPES_H
#define ORDEAL_MUTATE_PASS_TYPES_H

#include "mutate/fault.h"

extern const struct fault_type type_buffer_overflow, type_corrupt_index, type_corrupt_integer,
    type_corrupt_operator, type_corrupt_pointer, type_dangling_pointer, type_flip_bool,
    type_flip_branch, type_mem_leak, type_no_load, type_no_store, type_random_load,
    type_stuck_at_branch, type_stuck_at_loop, type_swap;

extern const struct fault_type *const fault_types[]; // ends with NULL

#endif

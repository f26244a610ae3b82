// SPDX-License-Identifier: GPL-3.0-or-later
// The registry of fault types. A new type needs its type-NAME.c and a line here, in types.h and in
// meson.build.
#include "mutate/pass/types.h"

#include "mutate/pass/source.h"

#include <stddef.h>

const struct fault_type *const fault_types[] = {
    // Table I of the study of operating systems
    &type_buffer_overflow,
    &type_corrupt_index,
    &type_corrupt_integer,
    &type_corrupt_operator,
    &type_corrupt_pointer,
    &type_dangling_pointer,
    &type_flip_bool,
    &type_flip_branch,
    &type_mem_leak,
    &type_no_load,
    &type_no_store,
    &type_random_load,
    &type_stuck_at_branch,
    &type_stuck_at_loop,
    &type_swap,
    // G-SWFIT (mutate/model.h)
    &field_types[MODEL_MFC],
    &field_types[MODEL_MVIV],
    &field_types[MODEL_MVAV],
    &field_types[MODEL_MVAE],
    &field_types[MODEL_MIA],
    &field_types[MODEL_MIFS],
    &field_types[MODEL_MIEB],
    &field_types[MODEL_MLAC],
    &field_types[MODEL_MLOC],
    &field_types[MODEL_MLPA],
    &field_types[MODEL_WVAV],
    &field_types[MODEL_WPFV],
    &field_types[MODEL_WAEP],
    NULL,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of flow_image_open(), in their order.
#ifndef ORDEAL_FLOW_INTERNAL_H
#define ORDEAL_FLOW_INTERNAL_H

#include "flow/image.h"

// slots.c: places that the loader fills in, and imports.
_must_check_ struct error *flow_load_slots(struct flow_image *image);
// ranges.c: functions from unwind tables, symbols and calls; decodes them.
_must_check_ struct error *flow_load_functions(struct flow_image *image);
// The instruction at an address of a function; FLOW_NONE if none begins there.
uint32_t flow_insn_in(const struct flow_image *image, const struct flow_function *function,
                      uint64_t address);
// thunks.c: records a symbol if it names a thunk; replaces jumps to thunks by what they stand for.
_must_check_ struct error *flow_note_thunk(struct flow_image *image, const char *name,
                                           size_t name_size, uint64_t address);
void flow_replace_thunks(struct flow_image *image);
// tables.c: where an indirect jump goes. Calls `target` with instruction indices; says whether it
// is understood.
_must_check_ struct error *flow_table_targets(const struct flow_image *image, uint32_t function,
                                              uint32_t insn,
                                              struct error *(*target)(void *data, uint32_t insn),
                                              void *data, bool *ret_understood);
// blocks.c: basic blocks and edges.
_must_check_ struct error *flow_build_blocks(struct flow_image *image);
// returns.c: which functions return.
_must_check_ struct error *flow_find_returns(struct flow_image *image);
// pointers.c: which functions are called through variables.
void flow_follow_pointers(struct flow_image *image);
// Whether a block calls object->table->entry: the offset of the table in the object, and of the
// entry in the table.
bool flow_calls_table(const struct flow_image *image, const struct flow_block *block,
                      int64_t *ret_offset, int64_t *ret_entry);
// objects.c: which functions may be called through tables in objects.
_must_check_ struct error *flow_find_targets(struct flow_image *image);
// stack.c: where the stack and frame pointers are.
_must_check_ struct error *flow_measure_stack(struct flow_image *image);

#endif

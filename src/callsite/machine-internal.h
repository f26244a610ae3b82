// SPDX-License-Identifier: GPL-3.0-or-later
// What machine.c uses of machine-memory.c.
#ifndef ORDEAL_CALLSITE_MACHINE_INTERNAL_H
#define ORDEAL_CALLSITE_MACHINE_INTERNAL_H

#include "callsite/machine.h"

// The content of a register. An unknown one becomes an address with a new base.
uint16_t machine_named(struct machine *machine, struct contents *contents, uint32_t insn,
                       uint8_t reg);
void machine_store(struct machine *machine, struct contents *contents,
                   const struct flow_image *image, uint32_t insn, uint16_t content);
void machine_push(struct machine *machine, struct contents *contents, uint16_t content);
uint16_t machine_pop(struct machine *machine, struct contents *contents);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Error codes of machine checks: the lowest 16 bits of MCi_STATUS. The processor manual has a
// format for each unit that can fail, and some codes without one.
#ifndef ORDEAL_MCE_CODE_H
#define ORDEAL_MCE_CODE_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

// F: corrected errors of this kind may be left out of reports. Not in the formats of old manuals.
#define MCE_CODE_F 0x1000u

enum mce_unit {
    MCE_SIMPLE, // one of the codes without a format
    MCE_GENERIC_CACHE,
    MCE_TLB,
    MCE_MEMORY,
    MCE_MEMORY_CACHE, // memory that serves as a cache
    MCE_CACHE,
    MCE_BUS,
    MCE_UNKNOWN, // no such code
    MCE_UNITS
};
// "simple", "generic-cache", "tlb", "memory", "memory-cache", "cache", "bus", "unknown".
extern const char *const mce_unit_names[MCE_UNITS];

enum mce_unit mce_code_unit(uint16_t code);
// Appends what failed in words: "cache: snoop, data, level 2".
_must_check_ struct error *mce_put_code(uint16_t code, struct buffer *text);
// All codes with a meaning, ascending and without F. MCE_MOST_CODES is enough room.
#define MCE_MOST_CODES 2048
size_t mce_all_codes(uint16_t ret_codes[MCE_MOST_CODES]);

#endif

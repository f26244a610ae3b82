// SPDX-License-Identifier: GPL-3.0-or-later
// Whether all offsets of a coverage file are in bounds. Where there is no sandbox, any process of
// the user may have written to it.
#ifndef ORDEAL_WIRE_COVERAGE_CHECK_H
#define ORDEAL_WIRE_COVERAGE_CHECK_H

#include "wire/coverage.h"

#include <stdbool.h>

static inline bool wire_coverage_is_sound(const void *bytes, uint64_t size)
{
    const struct wire_coverage *file = bytes;
    if (size < sizeof *file || file->magic != WIRE_COVERAGE_MAGIC ||
        file->version != WIRE_VERSION || file->size != size || file->modules > size ||
        file->blocks > size || file->modules % 8 != 0 || file->blocks % 8 != 0 ||
        file->module_count > (size - file->modules) / sizeof(struct wire_coverage_module) ||
        file->block_count > (size - file->blocks) / sizeof(struct wire_coverage_block) ||
        file->stops > size || file->stops % 8 != 0 ||
        file->stop_count > (size - file->stops) / sizeof(struct wire_stop))
        return false;
    const struct wire_stop *stops = (const void *)((const char *)file + file->stops);
    for (uint32_t i = 0; i < file->stop_count; i++)
        if (stops[i].block >= file->block_count || stops[i].fault.size > WIRE_STATE_BYTES ||
            (i != 0 && stops[i].block < stops[i - 1].block))
            return false;
    const struct wire_coverage_module *modules = (const void *)((const char *)file + file->modules);
    for (uint32_t i = 0; i < file->module_count; i++)
        if (modules[i].first > file->block_count ||
            modules[i].count > file->block_count - modules[i].first ||
            modules[i].path[WIRE_MODULE_PATH - 1] != '\0')
            return false;
    return true;
}

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/campaign/formats.h"

const struct report_format *const format_table[FORMATS] = {
#define DESCRIPTOR(symbol, kind, help) [FORMAT_##symbol] = &report_##symbol,
    REPORT_FORMATS(DESCRIPTOR)
#undef DESCRIPTOR
};

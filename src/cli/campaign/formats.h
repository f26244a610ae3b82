// SPDX-License-Identifier: GPL-3.0-or-later
// The options that choose report formats, for every command that reports on a campaign. They follow
// from REPORT_FORMATS.
#ifndef ORDEAL_CLI_CAMPAIGN_FORMATS_H
#define ORDEAL_CLI_CAMPAIGN_FORMATS_H

#include "cli/command.h"
#include "report/campaign/campaign.h"

enum format_index {
#define FORMAT_INDEX(symbol, kind, help) FORMAT_##symbol,
    REPORT_FORMATS(FORMAT_INDEX) FORMATS
#undef FORMAT_INDEX
};

struct format_setting {
    bool flag;        // write to standard output
    const char *file; // write to this file; "-" is standard output
};

// The descriptor of every format, by enum format_index.
extern const struct report_format *const format_table[FORMATS];

// Initialisers of struct option. FORMAT_OPTION(STRUCT, MEMBER, symbol, kind, help) is the option of
// one format, whose setting is in the array MEMBER of STRUCT.
#define FORMAT_VALUE_FLAG NULL
#define FORMAT_VALUE_FILE "FILE"
#define FORMAT_FIELD_FLAG flag
#define FORMAT_FIELD_FILE file
#define FORMAT_OPTION(structure, member, symbol, kind, help)                                       \
    {                                                                                              \
#symbol, 0, OPTION_##kind, FORMAT_VALUE_##kind, help,                                      \
            offsetof(structure, member[FORMAT_##symbol].FORMAT_FIELD_##kind)                       \
    }

#endif

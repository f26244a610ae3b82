// SPDX-License-Identifier: GPL-3.0-or-later
// Derives the severity of a finding from its verdict and the harm to files, and names it.
#include "store/severity.h"

enum severity severity_of(enum verdict verdict, enum harm harm)
{
    if (verdict >= VERDICTS || !verdict_facts[verdict].failure)
        return SEVERITY_NONE;
    if (verdict == VERDICT_HANG) // nobody looked at the files
        return SEVERITY_HIGH;
    if (harm == HARM_LOSS)
        return SEVERITY_LOSS;
    if (verdict == VERDICT_CRASH)
        return SEVERITY_HIGH;
    return verdict == VERDICT_SILENT && harm == HARM_FILES ? SEVERITY_HIGH : SEVERITY_MEDIUM;
}

static const char *const names[SEVERITIES] = {
    [SEVERITY_LOSS] = "critical",
    [SEVERITY_HIGH] = "high",
    [SEVERITY_MEDIUM] = "medium",
};
const struct enum_names severity_names = {"severity", names, SEVERITIES};

const char *severity_name(enum severity severity)
{
    return severity == SEVERITY_LOSS ? "critical (data loss)"
                                     : enum_name(&severity_names, severity);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// See severity.h. A cause is a verdict's name, what differs, and where the fault was.
#include "store/severity.h"

#include <string.h>

static bool is_about(enum verdict verdict, const char *cause, const char *what)
{
    size_t size = strlen(verdict_facts[verdict].name);
    return cause != NULL && strlen(cause) > size &&
           strncmp(cause + size + 1, what, strlen(what)) == 0;
}

enum severity finding_severity(enum verdict verdict, const char *cause)
{
    if (verdict >= VERDICTS || !verdict_facts[verdict].failure)
        return SEVERITY_NONE;
    if (verdict == VERDICT_CRASH || verdict == VERDICT_HANG)
        return SEVERITY_HIGH;
    if (is_about(verdict, cause, "data loss"))
        return SEVERITY_LOSS;
    return verdict == VERDICT_SILENT && is_about(verdict, cause, "files") ? SEVERITY_HIGH
                                                                          : SEVERITY_MEDIUM;
}

const char *severity_word(enum severity severity)
{
    static const char *const words[] = {
        [SEVERITY_LOSS] = "critical (data loss)",
        [SEVERITY_HIGH] = "high",
        [SEVERITY_MEDIUM] = "medium",
    };
    return severity < sizeof words / sizeof *words ? words[severity] : NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/campaign/verdict-line.h"

#include "base/cleanup.h"
#include "cli/command.h"
#include "report/text.h"

static struct error *put_severities(const struct report_shown *findings, struct buffer *text)
{
    const char *separator = " (";
    for (unsigned i = SEVERITY_NONE + 1; i < SEVERITIES; i++) {
        if (findings->severities[i] == 0)
            continue;
        TRY(buffer_printf(text, "%s%llu %s", separator, (unsigned long long)findings->severities[i],
                          enum_name(&severity_names, i)));
        separator = ", ";
    }
    return *separator == ',' ? buffer_append(text, ")", 1) : NULL;
}

struct error *verdict_line_print(const struct report_shown *findings, const char *page)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    uint64_t all = 0, others = 0;
    for (int i = 0; i < VERDICTS; i++)
        all += findings->shown[i];
    for (int i = 0; i < STORE_SCOPES; i++)
        others += findings->others[i];
    TRY(buffer_printf(&text, "\nordeal: %llu %s%s", (unsigned long long)all,
                      all == 1 ? "finding" : "findings", others != 0 ? " in your code" : ""));
    TRY(put_severities(findings, &text));
    if (findings->carried != 0)
        TRY(buffer_printf(&text, ", %llu new", (unsigned long long)(all - findings->carried)));
    if (others != 0)
        TRY(buffer_printf(&text, ", %llu elsewhere", (unsigned long long)others));
    if (page != NULL) {
        TRY(buffer_printf(&text, "; report: "));
        TRY(text_put(&text, page, SIZE_MAX, 0));
    } else if (all + others != 0) {
        TRY(buffer_printf(&text, "; 'ordeal show FN' shows finding FN"));
    }
    TRY(buffer_append(&text, "\n", 1));
    return output_print(&text);
}

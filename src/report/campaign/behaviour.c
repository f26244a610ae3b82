// SPDX-License-Identifier: GPL-3.0-or-later
// The shares of deviating and unnoticed invocations. All are of those with an activated fault.
#include "report/campaign/behaviour.h"

#include "base/cleanup.h"
#include "report/campaign/json.h"

static struct error *put_row(struct terminal *terminal, const char *name, uint64_t hits, uint64_t n)
{
    const struct campaign_share share = campaign_share(hits, n, STATS_CONFIDENCE);
    PUT(terminal, "  %-34s%7llu  ", name, (unsigned long long)hits);
    TRY(terminal_share(terminal, &share));
    return terminal_end_line(terminal);
}

struct error *behaviour_put_text(struct terminal *terminal, const struct campaign_facts *facts)
{
    struct store_invocation_counts counts;
    TRY(store_count_invocations(facts->store, facts->campaign.id, &counts));
    if (counts.all == 0)
        return NULL;
    TRY(terminal_heading(terminal, "Visible behaviour of invocations with an activated fault"));
    TRY(put_row(terminal, "deviating", counts.deviating, counts.all));
    TRY(put_row(terminal, "  unnoticed by exit status", counts.status, counts.all));
    TRY(put_row(terminal, "  unnoticed by time", counts.time, counts.all));
    TRY(put_row(terminal, "  unnoticed by both", counts.both, counts.all));
    PUT(terminal, "  %-34s%7llu\n", "all", (unsigned long long)counts.all);
    return NULL;
}

struct error *behaviour_put_json(const struct campaign_facts *facts, struct report_sink *sink)
{
    struct store_invocation_counts counts;
    struct json_builder builder;
    TRY(store_count_invocations(facts->store, facts->campaign.id, &counts));
    if (counts.all == 0)
        return NULL;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "behaviour");
    json_add_integer(&builder, line, "invocations", counts.all);
    json_add_integer(&builder, line, "deviating", counts.deviating);
    json_add_integer(&builder, line, "unnoticed_by_status", counts.status);
    json_add_integer(&builder, line, "unnoticed_by_time", counts.time);
    json_add_integer(&builder, line, "unnoticed", counts.both);
    return campaign_json_end(&builder, line, sink);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of two campaigns as JSON lines.
#include "base/cleanup.h"
#include "report/campaign/compare.h"
#include "report/campaign/interface-facts.h"
#include "report/campaign/json.h"

static struct error *put_subject(const char *side, const char *store,
                                 const struct campaign_facts *facts, struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "campaign");
    json_add_string(&builder, line, "side", side);
    json_add_string(&builder, line, "store", store);
    json_add_signed(&builder, line, "id", facts->campaign.id);
    if (facts->campaign.name != NULL)
        json_add_string(&builder, line, "name", facts->campaign.name);
    json_add_integer(&builder, line, "trials", campaign_trial_count(&facts->counts));
    json_add_integer(&builder, line, "counted", facts->n);
    json_add_integer(&builder, line, "failures", facts->failures.hits);
    json_add_integer(&builder, line, "findings", facts->findings.count);
    return campaign_json_end(&builder, line, sink);
}

static struct error *put_difference(const char *name, const struct campaign_difference *difference,
                                    struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "difference");
    json_add_string(&builder, line, "verdict", name);
    json_t *before = json_add_object(&builder, line, "before");
    json_add_integer(&builder, before, "trials", difference->before.hits);
    campaign_json_share(&builder, before, &difference->before);
    json_t *after = json_add_object(&builder, line, "after");
    json_add_integer(&builder, after, "trials", difference->after.hits);
    campaign_json_share(&builder, after, &difference->after);
    campaign_json_test(&builder, line, &difference->test);
    return campaign_json_end(&builder, line, sink);
}

static struct error *put_pair(const struct campaign_pair *pair, struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "finding");
    json_add_string(&builder, line, "change", campaign_change_name(pair->change));
    json_add_integer(&builder, line, "before", pair->before != NULL ? pair->before->trials : 0);
    json_add_integer(&builder, line, "after", pair->after != NULL ? pair->after->trials : 0);
    campaign_json_finding(&builder, line, campaign_pair_finding(pair));
    return campaign_json_end(&builder, line, sink);
}

static struct error *put_page(const struct campaign_comparison *comparison,
                              struct report_sink *sink)
{
    TRY(put_subject("before", comparison->names[0], &comparison->before, sink));
    TRY(put_subject("after", comparison->names[1], &comparison->after, sink));
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts)
            TRY(put_difference(verdict_facts[i].name, &comparison->verdicts[i], sink));
    TRY(put_difference("failures", &comparison->failures, sink));
    TRY(interface_put_comparison_json(&comparison->before, &comparison->after, sink));
    for (size_t i = 0; i < comparison->pairs.count; i++)
        TRY(put_pair(&comparison->pairs.items[i], sink));
    return report_sink_flush(sink, 1);
}

struct error *campaign_compare_json(const struct report_subject *before,
                                    const struct report_subject *after,
                                    const struct report_options *options, struct report_sink *sink)
{
    struct campaign_comparison comparison;
    struct error *error = campaign_comparison_load(&comparison, before, after, options);
    if (error == NULL)
        error = put_page(&comparison, sink);
    campaign_comparison_deinit(&comparison);
    return error;
}

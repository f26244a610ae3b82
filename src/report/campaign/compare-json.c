// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of two campaigns as JSON lines.
#include "base/cleanup.h"
#include "report/campaign/compare.h"
#include "report/campaign/json.h"

static struct error *put_subject(const char *side, const char *store,
                                 const struct campaign_facts *facts, struct report_sink *sink)
{
    struct json_maker maker;
    _cleanup_(json_release) json_t *line = campaign_json_start(&maker, "campaign");
    json_add_string(&maker, line, "side", side);
    json_add_string(&maker, line, "store", store);
    json_add_signed(&maker, line, "id", facts->campaign.id);
    if (facts->campaign.name != NULL)
        json_add_string(&maker, line, "name", facts->campaign.name);
    json_add_integer(&maker, line, "trials", campaign_all(&facts->counts));
    json_add_integer(&maker, line, "counted", facts->n);
    json_add_integer(&maker, line, "failures", facts->failures.hits);
    json_add_integer(&maker, line, "findings", facts->findings.count);
    return campaign_json_end(&maker, line, sink);
}

static struct error *put_difference(const char *name, const struct campaign_difference *difference,
                                    struct report_sink *sink)
{
    struct json_maker maker;
    _cleanup_(json_release) json_t *line = campaign_json_start(&maker, "difference");
    json_add_string(&maker, line, "verdict", name);
    json_t *before = json_add_object(&maker, line, "before");
    json_add_integer(&maker, before, "trials", difference->before.hits);
    campaign_json_share(&maker, before, &difference->before);
    json_t *after = json_add_object(&maker, line, "after");
    json_add_integer(&maker, after, "trials", difference->after.hits);
    campaign_json_share(&maker, after, &difference->after);
    campaign_json_test(&maker, line, &difference->test);
    return campaign_json_end(&maker, line, sink);
}

static struct error *put_pair(const struct campaign_pair *pair, struct report_sink *sink)
{
    struct json_maker maker;
    _cleanup_(json_release) json_t *line = campaign_json_start(&maker, "finding");
    json_add_string(&maker, line, "change", campaign_change_name(pair->change));
    json_add_integer(&maker, line, "before", pair->before != NULL ? pair->before->trials : 0);
    json_add_integer(&maker, line, "after", pair->after != NULL ? pair->after->trials : 0);
    campaign_json_finding(&maker, line, campaign_pair_finding(pair));
    return campaign_json_end(&maker, line, sink);
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
    for (size_t i = 0; i < comparison->pairs.count; i++)
        TRY(put_pair(&comparison->pairs.items[i], sink));
    return report_sink_rest(sink, 1);
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

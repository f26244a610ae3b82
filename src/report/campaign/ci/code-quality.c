// SPDX-License-Identifier: GPL-3.0-or-later
// The findings of a campaign as GitLab's code quality report: the part of Code Climate's format
// that GitLab reads.
#include "base/cleanup.h"
#include "report/campaign/place.h"
#include "report/json.h"

#include <string.h>

static const char *const severities[SEVERITIES] = {
    [SEVERITY_NONE] = "info",
    [SEVERITY_LOSS] = "blocker",
    [SEVERITY_HIGH] = "critical",
    [SEVERITY_MEDIUM] = "major",
};

struct quality_report {
    const struct campaign_facts *facts;
    struct json_builder builder;
    json_t *root;
};

// GitLab drops all but one of the entries that share a fingerprint.
static void add_fingerprint(struct quality_report *report, json_t *entry,
                            const struct campaign_finding *finding)
{
    unsigned number = 1;
    for (const struct campaign_finding *other = report->facts->findings.items; other != finding;
         other++)
        number += strcmp(other->fingerprint, finding->fingerprint) == 0;
    json_add_format(&report->builder, entry, "fingerprint", "%s-%u", finding->fingerprint, number);
}

static struct error *add_finding(void *data, const struct campaign_finding *finding,
                                 const struct campaign_place *place)
{
    struct quality_report *report = data;
    struct json_builder *builder = &report->builder;
    json_t *entry = json_add_object(builder, report->root, NULL);
    json_add_string(builder, entry, "type", "issue");
    json_add_string(builder, entry, "check_name", verdict_facts[finding->verdict].name);
    json_add_string(builder, entry, "description", finding->title);
    json_add_string(builder, entry, "severity",
                    campaign_is_note(finding) ? "info" : severities[finding->severity]);
    add_fingerprint(report, entry, finding);
    json_t *location = json_add_object(builder, entry, "location");
    json_add_string(builder, location, "path", place->name);
    json_t *lines = json_add_object(builder, location, "lines");
    json_add_integer(builder, lines, "begin", place->line != 0 ? place->line : 1);
    return NULL;
}

static struct error *put_report(struct quality_report *report, struct report_sink *sink)
{
    TRY(campaign_each_place(report->facts, add_finding, report));
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(json_write(&report->builder, report->root, &text));
    TRY(buffer_append(&sink->text, text.data, text.size));
    return report_sink_flush(sink, 1);
}

static struct error *write_gitlab(const struct report_subject *subject,
                                  const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    struct quality_report report = {.facts = &facts, .root = json_array()};
    report.builder.failed = report.root == NULL;
    if (error == NULL)
        error = put_report(&report, sink);
    json_decref(report.root);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_gitlab = {.name = "gitlab", .write = write_gitlab};

// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign as Markdown: the summary of a job on a code host, or a comment on a change. It is
// short; the page for browsers has the rest.
#include "base/cleanup.h"
#include "report/campaign/place.h"
#include "report/escape.h"

#define MOST_FINDINGS 50 // code hosts refuse summaries of more than a megabyte

struct summary {
    const struct campaign_facts *facts;
    struct buffer *text;
    size_t shown;
};

#define PUT(summary, ...) TRY(buffer_printf((summary)->text, __VA_ARGS__))

static struct error *put_row(void *data, const struct campaign_finding *finding,
                             const struct campaign_place *place)
{
    struct summary *summary = data;
    if (summary->shown++ >= MOST_FINDINGS)
        return NULL;
    const char *severity = severity_name(finding->severity);
    PUT(summary, "| F%lld | %s | %s | ", (long long)finding->id,
        verdict_facts[finding->verdict].name, severity != NULL ? severity : "");
    TRY(escape_markdown(summary->text, finding->title));
    if (finding->aside)
        PUT(summary, " (%s)", campaign_aside_name(finding));
    PUT(summary, " | ");
    TRY(escape_markdown(summary->text, place->name));
    if (place->line != 0)
        PUT(summary, ":%u", place->line);
    PUT(summary, " |\n");
    return NULL;
}

// A blank line would end the HTML: newlines are written as references.
static struct error *put_element(struct summary *summary, const char *name, const char *content)
{
    PUT(summary, "<%s>", name);
    TRY(escape_attribute(summary->text, content));
    PUT(summary, "</%s>\n", name);
    return NULL;
}

static struct error *put_detail(struct summary *summary, const struct campaign_finding *finding)
{
    PUT(summary, "\n<details><summary>F%lld: ", (long long)finding->id);
    TRY(escape_attribute(summary->text, finding->title));
    PUT(summary, "</summary>\n");
    if (finding->explanation != NULL)
        TRY(put_element(summary, "p", finding->explanation));
    TRY(put_element(summary, "pre", finding->command));
    if (finding->caution != NULL)
        PUT(summary, "<p>Caution: %s</p>\n", finding->caution);
    PUT(summary, "</details>\n");
    return NULL;
}

static struct error *put_findings(struct summary *summary)
{
    size_t count = summary->facts->findings.count;
    if (count == 0)
        return NULL;
    PUT(summary, "\n| | verdict | severity | finding | where |\n|---|---|---|---|---|\n");
    TRY(campaign_each_place(summary->facts, put_row, summary));
    for (size_t i = 0; i < count && i < MOST_FINDINGS; i++)
        TRY(put_detail(summary, &summary->facts->findings.items[i]));
    if (count > MOST_FINDINGS)
        PUT(summary, "\n%zu more findings are not shown here.\n", count - MOST_FINDINGS);
    return NULL;
}

static struct error *put_numbers(struct summary *summary)
{
    const struct campaign_facts *facts = summary->facts;
    PUT(summary, "\n%llu trials tested the program, %llu of them failed",
        (unsigned long long)facts->n, (unsigned long long)facts->failures.hits);
    if (campaign_has_share(&facts->failures))
        PUT(summary, " (%.1f %%, %g %% interval %.1f to %.1f %%)",
            campaign_percent(&facts->failures), facts->confidence * 100,
            facts->failures.interval.low * 100, facts->failures.interval.high * 100);
    PUT(summary, "; seed %llu, campaign %s.\n", (unsigned long long)facts->campaign.seed,
        campaign_state_name(facts));
    for (size_t i = 0; i < facts->limits.count; i++) {
        PUT(summary, "- ");
        TRY(escape_markdown(summary->text, facts->limits.items[i]));
        PUT(summary, "\n");
    }
    return NULL;
}

static struct error *put_page(struct summary *summary)
{
    const struct campaign_facts *facts = summary->facts;
    size_t count = facts->findings.count;
    if (count == 0)
        PUT(summary, "### Ordeal: nothing found\n");
    else
        PUT(summary, "### Ordeal: %zu %s\n", count, count == 1 ? "finding" : "findings");
    if (facts->campaign.command != NULL) {
        PUT(summary, "\n");
        TRY(put_element(summary, "pre", facts->campaign.command));
    }
    TRY(put_findings(summary));
    return put_numbers(summary);
}

static struct error *write_markdown(const struct report_subject *subject,
                                    const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    struct summary summary = {.facts = &facts, .text = &sink->text};
    if (error == NULL)
        error = put_page(&summary);
    if (error == NULL)
        error = report_sink_flush(sink, 1);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_markdown = {.name = "markdown", .write = write_markdown};

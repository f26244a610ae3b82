// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign as an HTML page: summary, limits and verdicts. The other sections are in html-*.c.
#include "report/campaign/html.h"
#include "report/campaign/coverage.h"

#include <string.h>

static struct error *put_title(const struct campaign_facts *facts, struct buffer *text)
{
    const struct store_campaign *campaign = &facts->campaign;
    if (campaign->name != NULL && *campaign->name != '\0')
        return buffer_printf(text, "%s", campaign->name);
    return buffer_printf(text, "Campaign %lld", (long long)campaign->id);
}

static struct error *put_fact(struct html_page *page, const char *label)
{
    HTML(page, "<div><dt>%s</dt><dd>", label);
    return NULL;
}

static struct error *put_references(struct html_page *page)
{
    const struct campaign_references *references = &page->facts->references;
    HTML(page, "%llu", (unsigned long long)references->count);
    if (references->count == 0)
        return NULL;
    HTML(page, " &times; ");
    TRY(html_text(page, references->ending));
    HTML(page, ", ");
    TRY(html_seconds(page, references->seconds.mean));
    if (references->count > 1) {
        HTML(page, " &plusmn; ");
        TRY(html_seconds(page, references->seconds.deviation));
    }
    return NULL;
}

static struct error *put_header(struct html_page *page)
{
    const struct store_campaign *campaign = &page->facts->campaign;
    _cleanup_(buffer_deinit) struct buffer title = {0};
    TRY(put_title(page->facts, &title));
    HTML(page, "<header><p class=\"kicker\">Ordeal campaign %lld</p><h1>", (long long)campaign->id);
    TRY(html_text_start(page, title.data, 200));
    HTML(page, "</h1><pre class=\"target\" tabindex=\"0\">");
    TRY(html_text_start(page, campaign->command != NULL ? campaign->command : "", 4000));
    HTML(page, "</pre><dl class=\"facts\">");
    TRY(put_fact(page, "State"));
    HTML(page, "%s</dd></div>", campaign_state_name(page->facts));
    TRY(put_fact(page, "Injector"));
    TRY(html_text(page, campaign->injector != NULL ? campaign->injector : "?"));
    HTML(page, "</dd></div>");
    TRY(put_fact(page, "Started"));
    TRY(campaign_put_date(campaign->created_s, page->text));
    HTML(page, "</dd></div>");
    TRY(put_fact(page, "Took"));
    TRY(html_seconds(page, campaign->elapsed_s));
    HTML(page, "</dd></div>");
    if (campaign->settings != NULL) {
        TRY(put_fact(page, "Settings"));
        TRY(html_text(page, campaign->settings));
        HTML(page, "</dd></div>");
    }
    TRY(put_fact(page, "Seed"));
    HTML(page, "%llu</dd></div>", (unsigned long long)campaign->seed);
    TRY(put_fact(page, "Candidates"));
    TRY(html_number(page, page->facts->selected));
    HTML(page, " of ");
    TRY(html_number(page, campaign->candidates));
    HTML(page, " chosen, ");
    TRY(html_number(page, campaign_trial_count(&page->facts->counts)));
    HTML(page, " trials</dd></div>");
    if (campaign->stopped_by != STORE_STOP_NONE) {
        TRY(put_fact(page, "Stopped by"));
        TRY(html_text(page, enum_name(&stop_names, campaign->stopped_by)));
        HTML(page, "</dd></div>");
    }
    TRY(put_fact(page, "References"));
    TRY(put_references(page));
    HTML(page, "</dd></div></dl></header>\n");
    return NULL;
}

static struct error *put_tile(struct html_page *page, uint64_t number, const char *label,
                              const char *class)
{
    HTML(page, "<div class=\"tile %s\"><b>", class);
    TRY(html_number(page, number));
    HTML(page, "</b><span>%s</span></div>", label);
    return NULL;
}

static struct error *put_summary(struct html_page *page)
{
    const struct campaign_facts *facts = page->facts;
    uint64_t all = campaign_trial_count(&facts->counts);
    HTML(page, "<section id=\"summary\" aria-labelledby=\"summary-h\">"
               "<h2 id=\"summary-h\" class=\"unseen\">Summary</h2><div class=\"tiles\">"
               "<div class=\"tile lead\"><b>");
    uint64_t carried = campaign_counted(&facts->carried);
    if (facts->n == 0)
        HTML(page, "nothing %s</b><span>no trial reached its fault</span>",
             carried != 0 ? "new tested" : "tested");
    else if (facts->failures.unknown)
        HTML(page, "no share</b><span>the sample's weights are not known</span>");
    else {
        TRY(html_percent(page, &facts->failures));
        HTML(page, "</b><span>%s<br>%g&nbsp;%% interval ",
             facts->design.kind == CAMPAIGN_PLAIN ? "of counted trials failed"
                                                  : "of candidates fail, estimated",
             100 * facts->confidence);
        TRY(html_interval(page, &facts->failures));
        HTML(page, "</span>");
    }
    HTML(page, "</div>");
    TRY(put_tile(page, facts->findings.count, facts->findings.count == 1 ? "finding" : "findings",
                 facts->findings.count != 0 ? "bad" : "good"));
    if (facts->suppressed != 0)
        TRY(put_tile(page, facts->suppressed, "suppressed", "quiet"));
    if (facts->hidden[STORE_PROOF_IMPOSSIBLE] != 0)
        TRY(put_tile(page, facts->hidden[STORE_PROOF_IMPOSSIBLE], "not possible", "quiet"));
    if (facts->hidden[STORE_PROOF_UNPROVEN] != 0)
        TRY(put_tile(page, facts->hidden[STORE_PROOF_UNPROVEN], "unproven", "quiet"));
    if (facts->unrepeated != 0)
        TRY(put_tile(page, facts->unrepeated, "not repeated", "quiet"));
    if (carried != 0)
        TRY(put_tile(page, carried, "verdicts carried over", "quiet"));
    TRY(put_tile(page, facts->failures.hits, "failed", ""));
    TRY(put_tile(page, facts->n, "counted", ""));
    TRY(put_tile(page, all - facts->n, "not counted", "quiet"));
    HTML(page, "</div></section>\n");
    return NULL;
}

static struct error *put_limits(struct html_page *page)
{
    if (page->facts->limits.count == 0)
        return NULL;
    HTML(page, "<section class=\"limits\" id=\"limits\" aria-labelledby=\"limits-h\">"
               "<h2 id=\"limits-h\">What limits these claims</h2><ul>");
    for (size_t i = 0; i < page->facts->limits.count; i++) {
        HTML(page, "<li>");
        TRY(html_text_start(page, page->facts->limits.items[i], 2000));
        HTML(page, "</li>");
    }
    HTML(page, "</ul></section>\n");
    return NULL;
}

static struct error *put_verdict(struct html_page *page, enum verdict verdict)
{
    const struct campaign_share *share = &page->facts->shares[verdict];
    bool counts = verdict_facts[verdict].counts;
    HTML(page, "<tr class=\"%s%s\"><th scope=\"row\">", counts ? "" : "apart",
         page->facts->counts.verdicts[verdict] == 0 ? " none" : "");
    TRY(html_badge(page, verdict));
    HTML(page, "<small>%s</small></th><td class=\"bars\">", verdict_facts[verdict].meaning);
    if (counts && campaign_has_share(share))
        TRY(html_bar(page, share, verdict_facts[verdict].name));
    HTML(page, "</td><td class=\"n\">");
    TRY(html_number(page, page->facts->counts.verdicts[verdict]));
    HTML(page, "</td><td class=\"n\">");
    if (counts)
        TRY(html_percent(page, share));
    else
        HTML(page, "<span class=\"quiet\">not counted</span>");
    HTML(page, "</td><td class=\"n interval\">");
    if (counts)
        TRY(html_interval(page, share));
    HTML(page, "</td></tr>\n");
    return NULL;
}

static struct error *put_verdicts(struct html_page *page)
{
    HTML(page, "<section id=\"verdicts\" aria-labelledby=\"verdicts-h\">"
               "<h2 id=\"verdicts-h\">Verdicts</h2>\n");
    HTML(page,
         "<table class=\"verdicts\"><thead><tr><th scope=\"col\">Verdict</th>"
         "<th scope=\"col\"><span class=\"unseen\">Bar</span></th>"
         "<th scope=\"col\" class=\"n\">Trials</th><th scope=\"col\" class=\"n\">Share</th>"
         "<th scope=\"col\" class=\"n\">%g&nbsp;%% interval</th></tr></thead><tbody>\n",
         100 * page->facts->confidence);
    for (int i = 0; i < VERDICTS; i++)
        TRY(put_verdict(page, (enum verdict)i));
    HTML(page, "</tbody></table><p class=\"note\">Shares are %s the ",
         page->facts->design.kind == CAMPAIGN_PLAIN ? "of" : "estimated from");
    TRY(html_number(page, page->facts->n));
    HTML(page, " trials that tested the target. Thin lines are Wilson score intervals. Trials that "
               "never reached their fault, or could not be run, are not counted: they did not "
               "survive anything.</p></section>\n");
    return NULL;
}

static struct error *put_footer(struct html_page *page)
{
    const struct store_campaign *campaign = &page->facts->campaign;
    HTML(page, "<footer>");
    if (campaign->definition != NULL && *campaign->definition != '\0') {
        HTML(page, "<details><summary>Definition of the campaign</summary>"
                   "<pre class=\"block\" tabindex=\"0\">");
        _cleanup_(buffer_deinit) struct buffer definition = {0};
        TRY(campaign_put_definition(campaign->definition, &definition));
        TRY(html_text_start(page, definition.data != NULL ? definition.data : "", 20000));
        HTML(page, "</pre></details>");
    }
    HTML(page, "<p>Ordeal ");
    TRY(html_text(page, campaign->version != NULL ? campaign->version : ""));
    if (campaign->machine != NULL) {
        HTML(page, " on ");
        TRY(html_text(page, campaign->machine));
    }
    HTML(page, "</p></footer>");
    return NULL;
}

static struct error *put_sections(struct html_page *page)
{
    _cleanup_(campaign_candidates_deinit) struct campaign_candidates candidates = {0};
    _cleanup_(campaign_trials_deinit) struct campaign_trials trials = {0};
    const struct campaign_facts *facts = page->facts;
    TRY(campaign_candidates_load(facts->store, facts->campaign.id, &candidates));
    TRY(campaign_trials_load(facts, &candidates, &trials));
    TRY(html_findings(page));
    TRY(html_timeline(page, &trials));
    TRY(html_groups(page, &trials));
    TRY(html_coverage(page));
    return html_trials(page, &trials);
}

static struct error *put_page(struct html_page *page)
{
    _cleanup_(buffer_deinit) struct buffer title = {0};
    TRY(put_title(page->facts, &title));
    TRY(html_open(page, title.data));
    TRY(put_header(page));
    HTML(page, "<nav aria-label=\"Sections\"><a href=\"#verdicts\">Verdicts</a>"
               "<a href=\"#findings\">Findings</a><a href=\"#timeline\">Timeline</a>"
               "<a href=\"#groups\">Groups</a><a href=\"#trials\">Trials</a></nav>\n"
               "<main id=\"main\">\n");
    TRY(put_summary(page));
    TRY(put_limits(page));
    TRY(put_verdicts(page));
    TRY(put_sections(page));
    HTML(page, "</main>\n");
    TRY(put_footer(page));
    return html_close(page);
}

static struct error *write_html(const struct report_subject *subject,
                                const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    struct html_page page = {.text = &sink->text, .facts = &facts};
    if (error == NULL)
        error = put_page(&page);
    campaign_facts_deinit(&facts);
    return error != NULL ? error : report_sink_flush(sink, 1);
}

const struct report_format report_html = {
    .name = "html",
    .write = write_html,
    .compare = campaign_compare_html,
};

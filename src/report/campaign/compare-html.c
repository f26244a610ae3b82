// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of two campaigns as a page for browsers.
#include "report/campaign/compare.h"
#include "report/campaign/html.h"

#define SHOWN_PAIRS 500

static struct error *put_subject(struct html_page *page, const char *side, const char *store,
                                 const struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    HTML(page, "<div><dt>%s</dt><dd>", side);
    TRY(html_text_start(page, store, 300));
    HTML(page, ", campaign %lld ", (long long)campaign->id);
    TRY(html_text_start(page, campaign->name != NULL ? campaign->name : "", 200));
    HTML(page, "<br><code>");
    TRY(html_text_start(page, campaign->command != NULL ? campaign->command : "", 500));
    HTML(page, "</code><br>");
    TRY(campaign_put_date(campaign->created_s, page->text));
    HTML(page, ", ");
    TRY(html_number(page, facts->n));
    HTML(page, " counted trials</dd></div>");
    return NULL;
}

static struct error *put_side(struct html_page *page, const struct campaign_share *share,
                              const char *class)
{
    HTML(page, "<td class=\"mix\">");
    if (campaign_has_share(share))
        TRY(html_bar(page, share, class));
    HTML(page, "</td><td class=\"n\">");
    TRY(html_percent(page, share));
    HTML(page, "</td><td class=\"n interval\">");
    TRY(html_interval(page, share));
    HTML(page, "</td>");
    return NULL;
}

static struct error *put_table(struct html_page *page, const struct campaign_comparison *comparison)
{
    HTML(page, "<section id=\"verdicts\" aria-labelledby=\"verdicts-h\">"
               "<h2 id=\"verdicts-h\">Verdicts</h2>\n");
    TRY(html_table_open(page, "Verdicts of both campaigns", "groups sides"));
    HTML(page, "<thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\" colspan=\"3\">A, share "
               "and interval</th><th scope=\"col\" colspan=\"3\">B, share and interval</th>"
               "<th scope=\"col\" class=\"n\">p</th></tr></thead><tbody>\n");
    for (int i = 0; i <= VERDICTS; i++) {
        bool sum = i == VERDICTS;
        if (!sum && !verdict_facts[i].counts)
            continue;
        const struct campaign_difference *difference =
            sum ? &comparison->failures : &comparison->verdicts[i];
        HTML(page, "<tr><th scope=\"row\">");
        if (sum)
            HTML(page, "all failures");
        else
            TRY(html_badge(page, (enum verdict)i));
        HTML(page, "</th>");
        TRY(put_side(page, &difference->before, sum ? "crash" : verdict_facts[i].name));
        TRY(put_side(page, &difference->after, sum ? "crash" : verdict_facts[i].name));
        TRY(html_test_cell(page, &difference->test));
        HTML(page, "</tr>\n");
    }
    TRY(html_table_close(page));
    HTML(page,
         "<p class=\"note\">p: chi-square or Fisher&rsquo;s exact test; * "
         "p&nbsp;&lt;&nbsp;0.05, ** p&nbsp;&lt;&nbsp;0.01, *** p&nbsp;&lt;&nbsp;0.001, not "
         "corrected for the number of verdicts.%s Not counted: %llu trials of A, %llu of "
         "B.</p></section>\n",
         comparison->before.design.kind != CAMPAIGN_PLAIN ||
                 comparison->after.design.kind != CAMPAIGN_PLAIN
             ? " Not all candidates were as likely to be chosen: shares are estimates where they "
               "can be made, and are not tested."
             : "",
         (unsigned long long)(campaign_trial_count(&comparison->before.counts) -
                              comparison->before.n),
         (unsigned long long)(campaign_trial_count(&comparison->after.counts) -
                              comparison->after.n));
    return NULL;
}

static struct error *put_pairs(struct html_page *page, const struct campaign_comparison *comparison)
{
    HTML(page,
         "<section id=\"findings\" aria-labelledby=\"findings-h\">"
         "<h2 id=\"findings-h\">Findings</h2><p class=\"note\">%llu new, %llu gone, %llu "
         "same",
         (unsigned long long)comparison->changes[CAMPAIGN_NEW],
         (unsigned long long)comparison->changes[CAMPAIGN_GONE],
         (unsigned long long)comparison->changes[CAMPAIGN_SAME]);
    if (comparison->changes[CAMPAIGN_UNTRIED] != 0)
        HTML(page, ", %llu whose fault the other campaign has not tried",
             (unsigned long long)comparison->changes[CAMPAIGN_UNTRIED]);
    HTML(page, ".</p>\n");
    TRY(html_table_open(page, "Findings of both campaigns", "sortable"));
    HTML(page,
         "<thead><tr><th scope=\"col\" data-sort=\"text\">Change</th>"
         "<th scope=\"col\" data-sort=\"number\">Verdict</th>"
         "<th scope=\"col\" data-sort=\"text\">Finding</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">Trials of A</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">of B</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < comparison->pairs.count && i < SHOWN_PAIRS; i++) {
        const struct campaign_pair *pair = &comparison->pairs.items[i];
        const struct campaign_finding *finding = campaign_pair_finding(pair);
        unsigned long long a = pair->before != NULL ? pair->before->trials : 0;
        unsigned long long b = pair->after != NULL ? pair->after->trials : 0;
        const char *change = campaign_change_name(pair->change);
        HTML(page, "<tr><td class=\"%s\">%s</td><td data-value=\"%d\">", change, change,
             finding->verdict);
        TRY(html_badge(page, finding->verdict));
        HTML(page, "</td><td class=\"wide\">");
        if (pair->before != NULL)
            HTML(page, "<span class=\"id\">A:F%lld</span> ", (long long)pair->before->id);
        if (pair->after != NULL)
            HTML(page, "<span class=\"id\">B:F%lld</span> ", (long long)pair->after->id);
        TRY(html_text_start(page, finding->title, 300));
        HTML(page,
             "</td><td class=\"n\" data-value=\"%llu\">%llu</td>"
             "<td class=\"n\" data-value=\"%llu\">%llu</td></tr>\n",
             a, a, b, b);
    }
    TRY(html_table_close(page));
    if (comparison->pairs.count > SHOWN_PAIRS)
        HTML(page, "<p class=\"note\">%d of %zu are listed.</p>", SHOWN_PAIRS,
             comparison->pairs.count);
    HTML(page, "</section>\n");
    return NULL;
}

static struct error *put_page(struct html_page *page, const struct campaign_comparison *comparison)
{
    TRY(html_open(page, "Two campaigns"));
    HTML(page, "<header><p class=\"kicker\">Ordeal</p><h1>Two campaigns compared</h1>"
               "<dl class=\"facts\">");
    TRY(put_subject(page, "A", comparison->names[0], &comparison->before));
    TRY(put_subject(page, "B", comparison->names[1], &comparison->after));
    HTML(page, "</dl></header>\n<nav aria-label=\"Sections\"><a href=\"#verdicts\">Verdicts</a>"
               "<a href=\"#findings\">Findings</a></nav><main id=\"main\">\n");
    TRY(put_table(page, comparison));
    TRY(put_pairs(page, comparison));
    HTML(page, "</main>\n");
    return html_close(page);
}

struct error *campaign_compare_html(const struct report_subject *before,
                                    const struct report_subject *after,
                                    const struct report_options *options, struct report_sink *sink)
{
    struct campaign_comparison comparison;
    struct error *error = campaign_comparison_load(&comparison, before, after, options);
    struct html_page page = {.text = &sink->text, .facts = &comparison.after};
    if (error == NULL)
        error = put_page(&page, &comparison);
    campaign_comparison_deinit(&comparison);
    return error != NULL ? error : report_sink_flush(sink, 1);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Figures and tables of the HTML page: trials over time, groups with their tests, trials.
#include "report/campaign/html.h"

#include <string.h>

#define SHOWN_GROUPS 100

static struct error *put_legend(struct html_page *page)
{
    HTML(page, "<ul class=\"legend\">");
    for (int i = 0; i < VERDICTS; i++)
        if (page->facts->counts.verdicts[i] != 0)
            HTML(page,
                 "<li><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"f-%s\" "
                 "width=\"10\" height=\"10\" rx=\"2\"/></svg>%s</li>",
                 verdict_facts[i].name, verdict_facts[i].name);
    HTML(page, "</ul>");
    return NULL;
}

static struct error *put_column(struct html_page *page, size_t column, double width_s,
                                const struct campaign_counts *counts, uint64_t tallest)
{
    uint64_t all = campaign_trial_count(counts);
    if (all == 0)
        return NULL;
    HTML(page, "<g><title>%.4g to %.4g s:", (double)column * width_s,
         (double)(column + 1) * width_s);
    for (int i = 0; i < VERDICTS; i++)
        if (counts->verdicts[i] != 0)
            HTML(page, " %llu %s", (unsigned long long)counts->verdicts[i], verdict_facts[i].name);
    HTML(page, "</title>");
    double bottom = 100;
    for (int i = VERDICTS - 1; i >= 0; i--) {
        if (counts->verdicts[i] == 0)
            continue;
        double height = 100.0 * (double)counts->verdicts[i] / (double)tallest;
        bottom -= height;
        HTML(page, "<rect class=\"f-%s\" x=\"%zu\" y=\"%.2f\" width=\"9\" height=\"%.2f\"/>",
             verdict_facts[i].name, column * 10, bottom, height);
    }
    HTML(page, "</g>\n");
    return NULL;
}

struct error *html_timeline(struct html_page *page, const struct campaign_trials *trials)
{
    uint64_t tallest = 0;
    for (size_t i = 0; i < trials->columns; i++) {
        uint64_t all = campaign_trial_count(&trials->timeline[i]);
        tallest = all > tallest ? all : tallest;
    }
    HTML(page, "<section id=\"timeline\" aria-labelledby=\"timeline-h\">"
               "<h2 id=\"timeline-h\">Timeline</h2>\n");
    if (tallest == 0) {
        HTML(page, "<p class=\"empty\">There are no trials.</p></section>\n");
        return NULL;
    }
    HTML(page,
         "<figure><svg class=\"timeline\" role=\"img\" viewBox=\"0 0 %zu 100\" "
         "preserveAspectRatio=\"none\" aria-label=\"Trials over time, most of them in one "
         "column: %llu\">\n",
         trials->columns * 10, (unsigned long long)tallest);
    for (size_t i = 0; i < trials->columns; i++)
        TRY(put_column(page, i, trials->width_s, &trials->timeline[i], tallest));
    HTML(page, "</svg><div class=\"axis\"><span>0 s</span><span>");
    TRY(html_seconds(page, (double)trials->columns * trials->width_s));
    HTML(page, "</span></div>");
    TRY(put_legend(page));
    HTML(page, "<figcaption class=\"note\">Trials by the time they were started, ");
    TRY(html_seconds(page, trials->width_s));
    HTML(page, " per column, at most %llu of them.", (unsigned long long)tallest);
    if (trials->seconds.n > 1) {
        HTML(page, " A counted trial took ");
        TRY(html_seconds(page, trials->seconds.mean));
        HTML(page, " &plusmn; ");
        TRY(html_seconds(page, trials->seconds.deviation));
        HTML(page, ".");
    }
    HTML(page, "</figcaption></figure></section>\n");
    return NULL;
}

// One stacked bar with the verdicts of a group.
static struct error *put_mix(struct html_page *page, const struct campaign_counts *counts)
{
    double all = (double)campaign_trial_count(counts), at = 0;
    HTML(page, "<td class=\"mix\"><svg class=\"bar\" viewBox=\"0 0 100 10\" "
               "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    for (int i = 0; i < VERDICTS; i++)
        if (counts->verdicts[i] != 0)
            HTML(page, "%llu %s ", (unsigned long long)counts->verdicts[i], verdict_facts[i].name);
    HTML(page, "\">");
    for (int i = 0; i < VERDICTS && all > 0; i++) {
        double width = 100.0 * (double)counts->verdicts[i] / all;
        if (counts->verdicts[i] != 0)
            HTML(page, "<rect class=\"f-%s\" x=\"%.3f\" width=\"%.3f\" height=\"10\"/>",
                 verdict_facts[i].name, at, width);
        at += width;
    }
    HTML(page, "</svg></td>");
    return NULL;
}

static struct error *put_group(struct html_page *page, const struct campaign_group *group)
{
    HTML(page, "<tr><th scope=\"row\"><code>");
    TRY(html_text_start(page, group->name, 200));
    HTML(page, "</code></th>");
    TRY(put_mix(page, &group->counts));
    HTML(page, "<td class=\"n\" data-value=\"%llu\">", (unsigned long long)group->failures.hits);
    TRY(html_number(page, group->failures.hits));
    HTML(page, "</td><td class=\"n\" data-value=\"%llu\">", (unsigned long long)group->failures.n);
    TRY(html_number(page, group->failures.n));
    HTML(page, "</td><td class=\"n\" data-value=\"%.9g\">",
         group->failures.n != 0 ? campaign_percent(&group->failures) : -1);
    TRY(html_percent(page, &group->failures));
    HTML(page, "</td><td class=\"n interval\" data-value=\"%.9g\">", group->failures.interval.low);
    TRY(html_interval(page, &group->failures));
    HTML(page, "</td>");
    TRY(html_test_cell(page, &group->test));
    HTML(page, "</tr>\n");
    return NULL;
}

static struct error *put_grouping(struct html_page *page, const struct campaign_grouping *grouping)
{
    size_t count = grouping->groups.count;
    size_t shown = page->facts->options->all || count < SHOWN_GROUPS ? count : SHOWN_GROUPS;
    char label[64];
    snprintf(label, sizeof label, "Trials by %s", grouping->by);
    HTML(page, "<h3>By %s</h3>", grouping->by);
    TRY(html_table_open(page, label, "sortable groups"));
    HTML(page,
         "<thead><tr><th scope=\"col\" data-sort=\"text\">%s</th><th scope=\"col\">Verdicts"
         "</th><th scope=\"col\" class=\"n\" data-sort=\"number\">Failed</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">Of</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">Share</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">Interval</th>"
         "<th scope=\"col\" class=\"n\" data-sort=\"number\">p</th></tr></thead><tbody>\n",
         grouping->by);
    for (size_t i = 0; i < shown; i++)
        TRY(put_group(page, &grouping->groups.items[i]));
    TRY(html_table_close(page));
    HTML(page, "<p class=\"note\">");
    if (shown < count)
        HTML(page, "%zu of %zu groups, those with most failures. ", shown, count);
    if (grouping->test.method != STATS_NOTHING)
        HTML(page, "All groups alike? %s: p&nbsp;%s&nbsp;%.4f%s.",
             stats_method_name(grouping->test.method), grouping->test.p < 0.0001 ? "&lt;" : "=",
             grouping->test.p < 0.0001 ? 0.0001 : grouping->test.p, stats_stars(grouping->test.p));
    HTML(page, "</p>\n");
    return NULL;
}

struct error *html_groups(struct html_page *page, const struct campaign_trials *trials)
{
    const char *only = page->facts->options->group_by;
    size_t shown = 0;
    HTML(page, "<section id=\"groups\" aria-labelledby=\"groups-h\"><h2 id=\"groups-h\">Groups</h2>"
               "\n<p class=\"note\">p: each group against the rest, chi-square or Fisher&rsquo;s "
               "exact test where counts are small; * p&nbsp;&lt;&nbsp;0.05, ** "
               "p&nbsp;&lt;&nbsp;0.01, *** p&nbsp;&lt;&nbsp;0.001, not corrected for the number "
               "of groups.</p>\n");
    for (size_t i = 0; report_groupings[i] != NULL; i++) {
        if ((only != NULL && strcmp(only, report_groupings[i]) != 0) ||
            !campaign_grouping_fits(page->facts, report_groupings[i]))
            continue;
        _cleanup_(campaign_grouping_deinit) struct campaign_grouping grouping = {0};
        TRY(campaign_grouping_load(page->facts, report_groupings[i], &grouping));
        if (grouping.groups.count < 2 && only == NULL)
            continue;
        TRY(put_grouping(page, &grouping));
        shown++;
    }
    if (only == NULL && trials->sites.groups.count > 1) {
        TRY(put_grouping(page, &trials->sites));
        shown++;
    }
    if (shown == 0)
        HTML(page, "<p class=\"empty\">All trials are alike: there is nothing to compare.</p>");
    HTML(page, "</section>\n");
    return NULL;
}

static struct error *put_trial(struct html_page *page, const struct campaign_trial *trial)
{
    HTML(page,
         "<tr data-verdict=\"%s\"><td class=\"n\" data-value=\"%lld\">%lld</td>"
         "<td data-value=\"%d\">",
         verdict_facts[trial->verdict].name, (long long)trial->id, (long long)trial->id,
         trial->verdict);
    TRY(html_badge(page, trial->verdict));
    HTML(page, "</td><td class=\"wide\"><code>");
    TRY(html_text_start(page, trial->spec, 300));
    HTML(page, "</code></td><td class=\"wide\">");
    TRY(html_text_start(page, trial->reason, 300));
    HTML(page, "</td><td class=\"n\" data-value=\"%.9g\">%.3f&nbsp;s</td></tr>\n", trial->seconds,
         trial->seconds);
    return NULL;
}

struct error *html_trials(struct html_page *page, const struct campaign_trials *trials)
{
    uint64_t all = campaign_trial_count(&page->facts->counts);
    HTML(page, "<section id=\"trials\" aria-labelledby=\"trials-h\"><h2 id=\"trials-h\">Trials "
               "<span class=\"count\">");
    TRY(html_number(page, all));
    HTML(page, "</span></h2>\n<div class=\"tools\" id=\"trial-tools\" hidden><label>Verdict "
               "<select id=\"trial-verdict\"><option value=\"\">all</option>");
    for (int i = 0; i < VERDICTS; i++)
        if (page->facts->counts.verdicts[i] != 0)
            HTML(page, "<option>%s</option>", verdict_facts[i].name);
    HTML(page, "</select></label><label>Contains <input id=\"trial-text\" type=\"search\" "
               "autocomplete=\"off\"></label><output id=\"trial-count\"></output></div>\n");
    if (trials->samples.count < all)
        HTML(page,
             "<p class=\"note\">The first %d trials of each verdict are listed; "
             "<code>ordeal report --csv FILE</code> lists them all.</p>\n",
             CAMPAIGN_SAMPLES);
    TRY(html_table_open(page, "Trials", "sortable trials"));
    HTML(page, "<thead><tr><th scope=\"col\" class=\"n\" data-sort=\"number\">Trial</th>"
               "<th scope=\"col\" data-sort=\"number\">Verdict</th>"
               "<th scope=\"col\" data-sort=\"text\">Injected</th>"
               "<th scope=\"col\" data-sort=\"text\">Why</th>"
               "<th scope=\"col\" class=\"n\" data-sort=\"number\">Took</th></tr></thead>"
               "<tbody id=\"trial-list\">\n");
    for (size_t i = 0; i < trials->samples.count; i++)
        TRY(put_trial(page, &trials->samples.items[i]));
    TRY(html_table_close(page));
    HTML(page, "</section>\n");
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The findings on the HTML page: each with the command that reproduces it, its stack, the source
// around it and the end of what the target wrote.
#include "report/campaign/html.h"
#include "store/severity.h"

#include <string.h>

#define SHOWN_FINDINGS 100
#define SHOWN_STACK    6000
#define SHOWN_OUTPUT   3000

static struct error *put_command(struct html_page *page, const char *label, const char *command)
{
    HTML(page,
         "<div class=\"command\"><span class=\"label\">%s</span>"
         "<pre tabindex=\"0\"><code>",
         label);
    TRY(html_text_start(page, command, 4000));
    HTML(page, "</code></pre></div>\n");
    return NULL;
}

static struct error *put_block(struct html_page *page, const char *label, const char *text,
                               size_t limit, bool end)
{
    if (text == NULL || *text == '\0')
        return NULL;
    HTML(page, "<h4>%s</h4><pre class=\"block\" tabindex=\"0\">", label);
    TRY(end ? html_text_end(page, text, limit) : html_text_start(page, text, limit));
    HTML(page, "</pre>\n");
    return NULL;
}

static struct error *put_place(struct html_page *page, const struct campaign_finding *finding)
{
    if (*finding->site != '\0') {
        HTML(page, "<p class=\"place\"><span class=\"label\">Injected at</span> <code>");
        TRY(html_text_start(page, finding->site, 500));
        HTML(page, "</code></p>");
    }
    return NULL;
}

static struct error *put_proof(struct html_page *page, const struct campaign_finding *finding)
{
    _cleanup_(buffer_deinit) struct buffer proof = {0};
    TRY(campaign_put_proof(finding, &proof));
    if (proof.size == 0)
        return NULL;
    HTML(page, "<p class=\"place\"><span class=\"label\">Possible?</span> ");
    TRY(html_text_start(page, proof.data, 500));
    HTML(page, "</p>\n");
    return NULL;
}

static struct error *put_also(struct html_page *page, const struct campaign_finding *finding)
{
    if (finding->also == NULL)
        return NULL;
    HTML(page, "<p class=\"place\"><span class=\"label\">The same after</span> ");
    TRY(html_text_start(page, finding->also, 500));
    HTML(page, "</p>\n");
    return NULL;
}

struct injections {
    struct html_page *page;
    unsigned shown;
};

static struct error *put_injection(void *data, const struct store_injection *row)
{
    struct injections *injections = data;
    struct html_page *page = injections->page;
    if (injections->shown++ != 0 || row->stack == NULL || *row->stack == '\0')
        return NULL;
    return put_block(page, "Call stack of the injection", row->stack, SHOWN_STACK, false);
}

static struct error *put_details(struct html_page *page, const struct campaign_finding *finding,
                                 const struct campaign_detail *detail, bool first)
{
    const struct store_trial *trial = &detail->trial;
    struct injections injections = {.page = page};
    HTML(page, "<details%s><summary>Stack, source and output</summary><div class=\"inside\">\n",
         first ? " open" : "");
    if (detail->found && trial->reason != NULL && *trial->reason != '\0') {
        HTML(page, "<p>");
        TRY(html_text_start(page, trial->reason, 1000));
        HTML(page, "</p>");
    }
    if (finding->file != NULL)
        TRY(html_excerpt(page, page->facts->campaign.directory, finding->file, finding->line));
    TRY(put_block(page, "Stack", finding->stack, SHOWN_STACK, false));
    if (detail->found) {
        TRY(put_block(page, "What killed it", trial->crash, 500, false));
        TRY(store_each_injection(page->facts->store, finding->trial, put_injection, &injections));
        TRY(put_block(page, "End of standard error", trial->output, SHOWN_OUTPUT, true));
    }
    HTML(page, "<p class=\"note\">Shown by trial %lld", (long long)finding->trial);
    if (detail->found && trial->spec != NULL) {
        HTML(page, ", which injected <code>");
        TRY(html_text_start(page, trial->spec, 1000));
        HTML(page, "</code>");
    }
    HTML(page, ".</p></div></details>\n");
    return NULL;
}

static struct error *put_explanation(struct html_page *page, const struct campaign_finding *finding)
{
    if (finding->explanation == NULL)
        return NULL;
    HTML(page, "<p class=\"place\"><span class=\"label\">Why</span> ");
    TRY(html_text_start(page, finding->explanation, LONGEST_EXPLANATION));
    HTML(page, "</p>\n");
    return NULL;
}

static struct error *put_finding(struct html_page *page, size_t number,
                                 const struct campaign_finding *finding)
{
    _cleanup_(campaign_detail_deinit) struct campaign_detail detail = {0};
    TRY(campaign_detail_load(page->facts->store, finding->trial, &detail));
    const char *verdict = verdict_facts[finding->verdict].name;
    HTML(page,
         "<article class=\"finding e-%s\" id=\"finding-%lld\" data-verdict=\"%s\" "
         "data-order=\"%zu\" data-trials=\"%llu\">\n<h3>",
         verdict, (long long)finding->id, verdict, number, (unsigned long long)finding->trials);
    TRY(html_badge(page, finding->verdict));
    HTML(page,
         " <a class=\"id\" href=\"#finding-%lld\" title=\"Link to this finding\">F%lld</a> "
         "<span class=\"title\">",
         (long long)finding->id, (long long)finding->id);
    TRY(html_text_start(page, finding->title, 500));
    HTML(page, "</span> <span class=\"times\">");
    TRY(html_number(page, finding->trials));
    HTML(page, "&nbsp;%s", finding->trials == 1 ? "trial" : "trials");
    const char *confirmed = campaign_confirmed_name(finding->confirmed);
    const char *severity = severity_name(finding->severity);
    if (confirmed != NULL)
        HTML(page, ", %s", confirmed);
    if (severity != NULL)
        HTML(page, ", severity %s", severity);
    if (finding->library != NULL) {
        HTML(page, ", a bug of the system library ");
        TRY(html_text_start(page, finding->library, 100));
    }
    if (finding->aside)
        HTML(page, ", %s: not counted", campaign_aside_name(finding));
    HTML(page, "</span></h3>\n");
    if (finding->carried != NULL) {
        _cleanup_(buffer_deinit) struct buffer carried = {0};
        TRY(campaign_put_carried(finding, &carried));
        HTML(page, "<p class=\"place\"><span class=\"label\">Not tried again</span> ");
        TRY(html_text_start(page, carried.data, 500));
        HTML(page, "</p>\n");
    }
    TRY(put_place(page, finding));
    TRY(put_explanation(page, finding));
    TRY(put_proof(page, finding));
    TRY(put_also(page, finding));
    TRY(put_command(page, "Reproduce", finding->command));
    if (finding->caution != NULL)
        HTML(page, "<p class=\"caution\">Caution: %s.</p>\n", finding->caution);
    TRY(put_details(page, finding, &detail, number == 0));
    HTML(page, "</article>\n");
    return NULL;
}

// Controls that need the script. They stay hidden until it shows them.
static struct error *put_tools(struct html_page *page)
{
    bool seen[VERDICTS] = {false};
    for (size_t i = 0; i < page->facts->findings.count; i++)
        seen[page->facts->findings.items[i].verdict] = true;
    HTML(page, "<div class=\"tools\" id=\"finding-tools\" hidden><label>Verdict "
               "<select id=\"finding-verdict\"><option value=\"\">all</option>");
    for (int i = 0; i < VERDICTS; i++)
        if (seen[i])
            HTML(page, "<option>%s</option>", verdict_facts[i].name);
    HTML(page, "</select></label><label>Contains <input id=\"finding-text\" type=\"search\" "
               "autocomplete=\"off\"></label><label>Order <select id=\"finding-order\">"
               "<option value=\"severity\">most severe first</option>"
               "<option value=\"trials\">most trials first</option>"
               "<option value=\"title\">by title</option></select></label>"
               "<output id=\"finding-count\"></output></div>\n");
    return NULL;
}

struct error *html_findings(struct html_page *page)
{
    size_t count = page->facts->findings.count;
    size_t shown = page->facts->options->all || count < SHOWN_FINDINGS ? count : SHOWN_FINDINGS;
    HTML(page, "<section id=\"findings\" aria-labelledby=\"findings-h\">"
               "<h2 id=\"findings-h\">Findings <span class=\"count\">");
    TRY(html_number(page, count));
    HTML(page, "</span></h2>\n");
    bool tested = page->facts->n != 0 || campaign_counted(&page->facts->carried) != 0;
    if (count == 0)
        HTML(page, "<p class=\"empty\">%s</p>",
             tested ? "No trial failed." : "Nothing was tested, so nothing was found.");
    if (count > 1)
        TRY(put_tools(page));
    HTML(page, "<div id=\"finding-list\">\n");
    for (size_t i = 0; i < shown; i++)
        TRY(put_finding(page, i, &page->facts->findings.items[i]));
    HTML(page, "</div>");
    if (shown < count) {
        HTML(page, "<p class=\"note\">The %zu most severe of ", shown);
        TRY(html_number(page, count));
        HTML(page,
             " findings; <code>ordeal report --all --html FILE</code> shows all of them.</p>");
    }
    HTML(page, "</section>\n");
    return NULL;
}

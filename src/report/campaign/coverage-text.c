// SPDX-License-Identifier: GPL-3.0-or-later
// Coverage for terminals and browsers. The figures are those of Table V in the LFI article:
// recovery code covered without faults, what faults add, and all lines without and with faults.
#include "report/campaign/coverage.h"

#include "base/file.h"
#include "report/text.h"

#include <string.h>

#define SHOWN_MISSED 8
#define NAME         26 // columns

static struct error *put_name(struct terminal *terminal, const char *name)
{
    size_t used;
    PUT(terminal, "  ");
    TRY(text_put_fit(terminal->text, name, NAME, &used));
    PUT(terminal, "%*s", (int)(NAME - used), "");
    return NULL;
}

static struct error *put_count(struct terminal *terminal, const char *name, uint64_t all,
                               uint64_t before, uint64_t added)
{
    TRY(put_name(terminal, name));
    PUT(terminal, "%7llu %6llu %5.1f%% %6llu %5.1f%%   %5.1f%%\n", (unsigned long long)all,
        (unsigned long long)before, coverage_percent(before, all), (unsigned long long)added,
        coverage_percent(added, all), coverage_percent(before + added, all));
    return NULL;
}

static struct error *put_missed(struct terminal *terminal, const struct campaign_coverage *coverage,
                                bool all)
{
    size_t shown = 0, listed = 0;
    const struct coverage_missed *last = NULL;
    for (size_t i = 0; i < coverage->missed.count; i++) {
        const struct coverage_missed *missed = &coverage->missed.items[i];
        if (missed->file == NULL)
            continue;
        listed++;
        // Several blocks of one line are one place to look at.
        bool again = last != NULL && last->line == missed->line && last->module == missed->module &&
                     strcmp(last->file, missed->file) == 0;
        last = missed;
        if (again || (!all && shown == SHOWN_MISSED))
            continue;
        if (shown++ == 0)
            PUT(terminal, "  never reached:\n");
        PUT(terminal, "    ");
        TRY(text_put_path(terminal->text, missed->file, 40));
        PUT(terminal, ":%u ", missed->line);
        TRY(text_put_fit(terminal->text, missed->function != NULL ? missed->function : "", 28,
                         NULL));
        TRY(terminal_end_line(terminal));
    }
    if (shown == SHOWN_MISSED && !all && listed > shown)
        PUT(terminal, "    ... and more; --all shows them\n");
    if (listed == 0 && coverage->missed.count != 0)
        PUT(terminal, "  lines are not known without debug information; ordeal report --json has "
                      "addresses\n");
    return NULL;
}

struct error *coverage_put_text(struct terminal *terminal, const struct campaign_facts *facts,
                                bool all)
{
    _cleanup_(campaign_coverage_deinit) struct campaign_coverage coverage = {0};
    TRY(campaign_coverage_load(facts, &coverage));
    if (coverage.all.blocks == 0 && coverage.lines == 0)
        return NULL;
    TRY(terminal_heading(terminal, "Code that only runs after a call has failed"));
    PUT(terminal, "  %-*s%7s %13s %13s   %s\n", NAME, "", "", "without", "with faults", "");
    PUT(terminal, "  %-*s%7s %13s %13s   %s\n", NAME, "recovery blocks of", "n", "faults",
        "in addition", "together");
    for (size_t i = 0; i < coverage.modules.count; i++)
        TRY(put_count(terminal, file_base_name(coverage.modules.items[i]),
                      coverage.by_module.items[i].blocks, coverage.by_module.items[i].before,
                      coverage.by_module.items[i].added));
    if (coverage.modules.count != 1)
        TRY(put_count(terminal, "all", coverage.all.blocks, coverage.all.before,
                      coverage.all.added));
    if (coverage.lines != 0)
        TRY(put_count(terminal, "all lines (gcov)", coverage.lines, coverage.lines_before,
                      coverage.lines_after - coverage.lines_before));
    return put_missed(terminal, &coverage, all);
}

// ---- HTML ----

static struct error *html_count(struct html_page *page, const struct coverage_count *count)
{
    HTML(page, "<td class=\"n\">");
    TRY(html_number(page, count->blocks));
    HTML(page, "</td><td class=\"n\">");
    TRY(html_number(page, count->before));
    HTML(page, " (%.1f %%)</td><td class=\"n\">", coverage_percent(count->before, count->blocks));
    TRY(html_number(page, count->added));
    HTML(page, " (%.1f %%)</td><td class=\"n\">%.1f %%</td></tr>\n",
         coverage_percent(count->added, count->blocks),
         coverage_percent(count->before + count->added, count->blocks));
    return NULL;
}

static struct error *html_head(struct html_page *page, const char *label, const char *first)
{
    TRY(html_table_open(page, label, "coverage"));
    HTML(page,
         "<thead><tr><th scope=\"col\">%s</th><th scope=\"col\" class=\"n\">Blocks</th>"
         "<th scope=\"col\" class=\"n\">Without faults</th><th scope=\"col\" class=\"n\">More "
         "with faults</th><th scope=\"col\" class=\"n\">Together</th></tr></thead><tbody>\n",
         first);
    return NULL;
}

static struct error *html_modules(struct html_page *page, const struct campaign_coverage *coverage)
{
    TRY(html_head(page, "Recovery code by module", "Module"));
    for (size_t i = 0; i < coverage->modules.count; i++) {
        HTML(page, "<tr><th scope=\"row\">");
        TRY(html_text(page, coverage->modules.items[i]));
        HTML(page, "</th>");
        TRY(html_count(page, &coverage->by_module.items[i]));
    }
    HTML(page, "<tr><th scope=\"row\">all</th>");
    TRY(html_count(page, &coverage->all));
    HTML(page, "</tbody>");
    return html_table_close(page);
}

static struct error *html_functions(struct html_page *page,
                                    const struct campaign_coverage *coverage)
{
    HTML(page, "<details><summary>By function</summary>");
    TRY(html_head(page, "Recovery code by function", "Function"));
    for (size_t i = 0; i < coverage->functions.count; i++) {
        const struct coverage_part *part = &coverage->functions.items[i];
        HTML(page, "<tr><th scope=\"row\">");
        TRY(html_text(page, *part->name != '\0' ? part->name : "(no name)"));
        HTML(page, " <small>");
        TRY(html_text(page, file_base_name(coverage->modules.items[part->module])));
        HTML(page, "</small></th>");
        TRY(html_count(page, &part->count));
    }
    HTML(page, "</tbody>");
    TRY(html_table_close(page));
    HTML(page, "</details>\n");
    return NULL;
}

static struct error *html_missed(struct html_page *page, const struct campaign_coverage *coverage)
{
    HTML(page, "<details><summary>Never reached: %zu blocks</summary><ul class=\"missed\">\n",
         coverage->missed.count);
    for (size_t i = 0; i < coverage->missed.count; i++) {
        const struct coverage_missed *missed = &coverage->missed.items[i];
        HTML(page, "<li>");
        if (missed->file != NULL) {
            TRY(html_text(page, missed->file));
            HTML(page, ":%u ", missed->line);
        }
        TRY(html_text(page, missed->function != NULL ? missed->function : ""));
        HTML(page, " <small>");
        TRY(html_text(page, file_base_name(coverage->modules.items[missed->module])));
        HTML(page, "+0x%llx</small></li>\n", (unsigned long long)missed->address);
    }
    HTML(page, "</ul></details>\n");
    return NULL;
}

struct error *html_coverage(struct html_page *page)
{
    _cleanup_(campaign_coverage_deinit) struct campaign_coverage coverage = {0};
    TRY(campaign_coverage_load(page->facts, &coverage));
    if (coverage.all.blocks == 0 && coverage.lines == 0)
        return NULL;
    HTML(page, "<section id=\"coverage\" aria-labelledby=\"coverage-h\"><h2 id=\"coverage-h\">"
               "Recovery code</h2><p>Blocks of machine code that only run after a call has failed "
               "and somebody noticed.</p>\n");
    if (coverage.lines != 0)
        HTML(page,
             "<p>Of all %llu lines (gcov) %.1f %% were covered without faults, %.1f %% with "
             "them.</p>\n",
             (unsigned long long)coverage.lines,
             coverage_percent(coverage.lines_before, coverage.lines),
             coverage_percent(coverage.lines_after, coverage.lines));
    TRY(html_modules(page, &coverage));
    TRY(html_functions(page, &coverage));
    TRY(html_missed(page, &coverage));
    HTML(page, "</section>\n");
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What the page for browsers is made with. The page is one file: style and script are inside, and
// the browser is told to run and to load nothing else.
#ifndef ORDEAL_REPORT_CAMPAIGN_HTML_H
#define ORDEAL_REPORT_CAMPAIGN_HTML_H

#include "base/cleanup.h"
#include "report/campaign/trials.h"

struct html_page {
    struct buffer *text;
    const struct campaign_facts *facts;
};

// Own text; foreign text goes through html_text().
#define HTML(page, ...) TRY(buffer_printf((page)->text, __VA_ARGS__))
_must_check_ struct error *html_text(struct html_page *page, const char *foreign);
// At most `limit` bytes of it, the beginning or the end.
_must_check_ struct error *html_begin(struct html_page *page, const char *foreign, size_t limit);
_must_check_ struct error *html_end(struct html_page *page, const char *foreign, size_t limit);

// From <!doctype> to the beginning of <main>, and the rest of it.
_must_check_ struct error *html_open(struct html_page *page, const char *title);
_must_check_ struct error *html_close(struct html_page *page);

_must_check_ struct error *html_number(struct html_page *page, uint64_t number);
// "1.9 ms"
_must_check_ struct error *html_seconds(struct html_page *page, double seconds);
// "3.6 %" and "2.2–6.0 %"
_must_check_ struct error *html_percent(struct html_page *page, const struct campaign_share *share);
_must_check_ struct error *html_interval(struct html_page *page,
                                         const struct campaign_share *share);
// A bar with its interval; `class` colours it.
_must_check_ struct error *html_bar(struct html_page *page, const struct campaign_share *share,
                                    const char *class);
_must_check_ struct error *html_badge(struct html_page *page, enum verdict verdict);
// "0.0003 ***" as a cell of a table.
_must_check_ struct error *html_test_cell(struct html_page *page, const struct stats_test *test);
// The head of a table that scrolls by itself where it is too wide.
_must_check_ struct error *html_table_open(struct html_page *page, const char *label,
                                           const char *class);
_must_check_ struct error *html_table_close(struct html_page *page);

// The sections of the page.
_must_check_ struct error *html_findings(struct html_page *page);
_must_check_ struct error *html_timeline(struct html_page *page,
                                         const struct campaign_trials *trials);
_must_check_ struct error *html_groups(struct html_page *page,
                                       const struct campaign_trials *trials);
_must_check_ struct error *html_trials(struct html_page *page,
                                       const struct campaign_trials *trials);

// A few lines around a line of a source file: nothing if it cannot be read, or does not look like
// source text. Relative paths are below `directory`.
_must_check_ struct error *html_excerpt(struct html_page *page, const char *directory,
                                        const char *file, unsigned line);

_must_check_ struct error *campaign_compare_html(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);

#endif

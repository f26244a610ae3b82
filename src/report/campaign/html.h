// SPDX-License-Identifier: GPL-3.0-or-later
// The building blocks of the HTML page. The page is one file with style and script inside. It tells
// the browser to run and load nothing else.
#ifndef ORDEAL_REPORT_CAMPAIGN_HTML_H
#define ORDEAL_REPORT_CAMPAIGN_HTML_H

#include "base/cleanup.h"
#include "report/campaign/trials.h"

struct html_page {
    struct buffer *text;
    const struct campaign_facts *facts;
};

// For our own text. Foreign text goes through html_text().
#define HTML(page, ...) TRY(buffer_printf((page)->text, __VA_ARGS__))
_must_check_ struct error *html_text(struct html_page *page, const char *foreign);
// At most `limit` bytes of foreign text, from its beginning or its end.
_must_check_ struct error *html_text_start(struct html_page *page, const char *foreign,
                                           size_t limit);
_must_check_ struct error *html_text_end(struct html_page *page, const char *foreign, size_t limit);

// From <!doctype> to the start of <main>, and the rest of the page.
_must_check_ struct error *html_open(struct html_page *page, const char *title);
_must_check_ struct error *html_close(struct html_page *page);

_must_check_ struct error *html_number(struct html_page *page, uint64_t number);
// Writes "1.9 ms".
_must_check_ struct error *html_seconds(struct html_page *page, double seconds);
// Writes "3.6 %" and "2.2–6.0 %".
_must_check_ struct error *html_percent(struct html_page *page, const struct campaign_share *share);
_must_check_ struct error *html_interval(struct html_page *page,
                                         const struct campaign_share *share);
// A bar with its interval. `class` sets the colour.
_must_check_ struct error *html_bar(struct html_page *page, const struct campaign_share *share,
                                    const char *class);
_must_check_ struct error *html_badge(struct html_page *page, enum verdict verdict);
// A table cell with "0.0003 ***".
_must_check_ struct error *html_test_cell(struct html_page *page, const struct stats_test *test);
// The start of a table. It scrolls by itself where it is too wide.
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

// A few lines around a line of a source file. Writes nothing if the file cannot be read or does not
// look like source text. A relative path is below `directory`.
_must_check_ struct error *html_excerpt(struct html_page *page, const char *directory,
                                        const char *file, unsigned line);

_must_check_ struct error *campaign_compare_html(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);

#endif

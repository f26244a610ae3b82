// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that HTML pages are made of: escaped text, head and foot, numbers, bars and tables.
#include "report/campaign/html.h"
#include "report/campaign/page.h" // made from page.css and page.js
#include "report/escape.h"
#include "report/text.h"

#include <string.h>

struct error *html_text(struct html_page *page, const char *foreign)
{
    return escape_markup(page->text, foreign);
}

struct error *html_text_start(struct html_page *page, const char *foreign, size_t limit)
{
    size_t size = strlen(foreign);
    if (size <= limit)
        return html_text(page, foreign);
    // Do not cut in the middle of a character.
    while (limit > 0 && ((unsigned char)foreign[limit] & 0xc0) == 0x80)
        limit--;
    _cleanup_(buffer_deinit) struct buffer part = {0};
    TRY(buffer_append(&part, foreign, limit));
    TRY(html_text(page, part.data));
    HTML(page, "<span class=\"quiet\"> &hellip; %zu bytes more</span>", size - limit);
    return NULL;
}

struct error *html_text_end(struct html_page *page, const char *foreign, size_t limit)
{
    size_t size = strlen(foreign), at = size > limit ? size - limit : 0;
    while (at > 0 && at < size && ((unsigned char)foreign[at] & 0xc0) == 0x80)
        at++;
    if (at != 0)
        HTML(page, "<span class=\"quiet\">%zu bytes before &hellip; </span>", at);
    return html_text(page, foreign + at);
}

struct error *html_open(struct html_page *page, const char *title)
{
    HTML(page,
         "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\">"
         "<meta name=\"referrer\" content=\"no-referrer\"><title>",
         page_css_sha256, page_js_sha256);
    TRY(html_text_start(page, title, 200));
    HTML(page, " &middot; Ordeal</title>\n<style>");
    TRY(buffer_append(page->text, page_css, sizeof page_css - 1));
    HTML(page, "</style></head>\n<body><a class=\"skip\" href=\"#main\">Skip to the results</a>\n");
    return NULL;
}

struct error *html_close(struct html_page *page)
{
    HTML(page, "\n<p class=\"unseen\" role=\"status\" id=\"status\"></p>\n<script>");
    TRY(buffer_append(page->text, page_js, sizeof page_js - 1));
    HTML(page, "</script>\n</body></html>\n");
    return NULL;
}

struct error *html_number(struct html_page *page, uint64_t number)
{
    return campaign_put_number(number, page->text);
}

struct error *html_seconds(struct html_page *page, double seconds)
{
    return text_put_seconds(page->text, seconds);
}

static int digits_of(const struct campaign_share *share)
{
    return share->n < 5000 ? 1 : 2;
}

struct error *html_percent(struct html_page *page, const struct campaign_share *share)
{
    if (!campaign_has_share(share))
        return buffer_printf(page->text, "&ndash;");
    return buffer_printf(page->text, "%.*f&nbsp;%%", digits_of(share), campaign_percent(share));
}

struct error *html_interval(struct html_page *page, const struct campaign_share *share)
{
    if (!campaign_has_share(share))
        return buffer_printf(page->text, "&ndash;");
    return buffer_printf(page->text, "%.*f&ndash;%.*f&nbsp;%%", digits_of(share),
                         100 * share->interval.low, digits_of(share), 100 * share->interval.high);
}

struct error *html_bar(struct html_page *page, const struct campaign_share *share,
                       const char *class)
{
    double low = 100 * share->interval.low, high = 100 * share->interval.high;
    HTML(page,
         "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
         "aria-hidden=\"true\"><rect class=\"track\" width=\"100\" height=\"10\"/>"
         "<rect class=\"f-%s\" width=\"%.3f\" height=\"10\"/>"
         "<rect class=\"whisker\" x=\"%.3f\" y=\"4.4\" width=\"%.3f\" height=\"1.2\"/></svg>",
         class, campaign_percent(share), low, high - low > 0 ? high - low : 0);
    return NULL;
}

struct error *html_badge(struct html_page *page, enum verdict verdict)
{
    HTML(page, "<span class=\"badge v-%s\">%s</span>", verdict_facts[verdict].name,
         verdict_facts[verdict].name);
    return NULL;
}

struct error *html_test_cell(struct html_page *page, const struct stats_test *test)
{
    if (test->method == STATS_NOTHING) {
        HTML(page, "<td class=\"n\" data-value=\"2\"><span class=\"quiet\">&ndash;</span></td>");
        return NULL;
    }
    const char *stars = stats_stars(test->p);
    HTML(page, "<td class=\"n\" data-value=\"%.12g\" title=\"%s\">", test->p,
         stats_method_name(test->method));
    if (test->p < 0.0001)
        HTML(page, "&lt;&nbsp;0.0001");
    else
        HTML(page, "%.4f", test->p);
    HTML(page, "<span class=\"stars\">%s</span></td>", stars);
    return NULL;
}

struct error *html_table_open(struct html_page *page, const char *label, const char *class)
{
    HTML(page,
         "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
         "<table class=\"%s\">\n",
         label, class);
    return NULL;
}

struct error *html_table_close(struct html_page *page)
{
    HTML(page, "</tbody></table></div>\n");
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison of two campaigns for a terminal.
#include "report/campaign/compare.h"
#include "report/campaign/interface-facts.h"
#include "report/campaign/terminal.h"
#include "report/text.h"

#include <string.h>

#define SHOWN_PAIRS 20
#define PAIR_TITLE  7 // column of titles

static struct error *put_subject(struct terminal *terminal, const char *label, const char *store,
                                 const struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "%s, campaign %lld%s%s: ", store, (long long)campaign->id,
                      campaign->name != NULL ? " " : "",
                      campaign->name != NULL ? campaign->name : ""));
    TRY(campaign_put_number(facts->n, &text));
    TRY(buffer_printf(&text, " counted trials, "));
    TRY(campaign_put_date(campaign->created_s, &text));
    TRY(terminal_paint(terminal, TERMINAL_BOLD));
    PUT(terminal, "%s  ", label);
    TRY(terminal_paint(terminal, TERMINAL_PLAIN));
    return terminal_wrap(terminal, text.data, 3);
}

static struct error *put_side(struct terminal *terminal, const struct campaign_share *share)
{
    if (!campaign_has_share(share))
        return buffer_printf(terminal->text, "%23s", "-");
    return buffer_printf(terminal->text, " %6.1f%% %5.1f - %5.1f%%", campaign_percent(share),
                         100 * share->interval.low, 100 * share->interval.high);
}

static struct error *put_difference(struct terminal *terminal, const char *name,
                                    const struct campaign_difference *difference)
{
    PUT(terminal, "  %-13s", name);
    TRY(put_side(terminal, &difference->before));
    TRY(put_side(terminal, &difference->after));
    PUT(terminal, "  ");
    TRY(terminal_test(terminal, &difference->test));
    PUT(terminal, "\n");
    return NULL;
}

static struct error *put_table(struct terminal *terminal,
                               const struct campaign_comparison *comparison)
{
    PUT(terminal, "\n");
    TRY(terminal_paint(terminal, TERMINAL_BOLD));
    PUT(terminal, "  %-13s%23s%23s  p", "verdict", "A share, interval", "B share, interval");
    TRY(terminal_paint(terminal, TERMINAL_PLAIN));
    PUT(terminal, "\n");
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts)
            TRY(put_difference(terminal, verdict_facts[i].name, &comparison->verdicts[i]));
    TRY(put_difference(terminal, "failures", &comparison->failures));
    PUT(terminal, "\n  not counted:\n");
    for (int i = 0; i < VERDICTS; i++)
        if (!verdict_facts[i].counts)
            PUT(terminal, "  %-13s%22llu %22llu\n", verdict_facts[i].name,
                (unsigned long long)comparison->before.counts.verdicts[i],
                (unsigned long long)comparison->after.counts.verdicts[i]);
    PUT(terminal, "\n  ");
    if (comparison->before.design.kind != CAMPAIGN_PLAIN ||
        comparison->after.design.kind != CAMPAIGN_PLAIN)
        return terminal_wrap(terminal,
                             "No p: the tests are for trials of equal weight, and those of at "
                             "least one campaign are not. Compare the intervals.",
                             2);
    return terminal_wrap(terminal,
                         "p: chi-square, or Fisher where counts are small; * p < 0.05, ** p < "
                         "0.01, *** p < 0.001, not corrected for the number of verdicts.",
                         2);
}

static struct error *put_pair(struct terminal *terminal, const struct campaign_pair *pair)
{
    const struct campaign_finding *finding = campaign_pair_finding(pair);
    static const enum terminal_colour colours[] = {TERMINAL_RED, TERMINAL_GREEN, TERMINAL_PLAIN,
                                                   TERMINAL_PLAIN};
    TRY(terminal_paint(terminal, colours[pair->change]));
    const char *change = campaign_change_name(pair->change);
    PUT(terminal, "  %-5s%s", change, strlen(change) < 5 ? "" : " ");
    TRY(terminal_paint(terminal, TERMINAL_PLAIN));
    PUT(terminal, "%-13s", verdict_facts[finding->verdict].name);
    char times[128];
    int size = snprintf(times, sizeof times, "%llu/%llu ",
                        (unsigned long long)(pair->before != NULL ? pair->before->trials : 0),
                        (unsigned long long)(pair->after != NULL ? pair->after->trials : 0));
    if (pair->before != NULL)
        size += snprintf(times + size, sizeof times - (size_t)size, " A:F%lld",
                         (long long)pair->before->id);
    if (pair->after != NULL)
        size += snprintf(times + size, sizeof times - (size_t)size, " B:F%lld",
                         (long long)pair->after->id);
    PUT(terminal, "%s\n%*s", times, PAIR_TITLE, "");
    return terminal_wrap(terminal, finding->title, PAIR_TITLE);
}

static struct error *put_pairs(struct terminal *terminal,
                               const struct campaign_comparison *comparison,
                               const struct report_options *options)
{
    char heading[192], untried[64] = "";
    if (comparison->changes[CAMPAIGN_UNTRIED] != 0)
        snprintf(untried, sizeof untried, ", %llu not tried in the other",
                 (unsigned long long)comparison->changes[CAMPAIGN_UNTRIED]);
    snprintf(heading, sizeof heading, "Findings: %llu new, %llu gone, %llu same%s (trials in A/B)",
             (unsigned long long)comparison->changes[CAMPAIGN_NEW],
             (unsigned long long)comparison->changes[CAMPAIGN_GONE],
             (unsigned long long)comparison->changes[CAMPAIGN_SAME], untried);
    TRY(terminal_heading(terminal, heading));
    size_t count = comparison->pairs.count;
    size_t shown = options->all || count < SHOWN_PAIRS ? count : SHOWN_PAIRS;
    for (size_t i = 0; i < shown; i++)
        TRY(put_pair(terminal, &comparison->pairs.items[i]));
    if (shown < count)
        PUT(terminal, "  ... and %zu more; --all shows them\n", count - shown);
    return NULL;
}

static struct error *put_cautions(struct terminal *terminal,
                                  const struct campaign_comparison *comparison)
{
    const struct store_campaign *a = &comparison->before.campaign;
    const struct store_campaign *b = &comparison->after.campaign;
    bool other_command =
        strcmp(a->command != NULL ? a->command : "", b->command != NULL ? b->command : "") != 0;
    bool other_injector =
        strcmp(a->injector != NULL ? a->injector : "", b->injector != NULL ? b->injector : "") != 0;
    bool other_choice = comparison->before.selected != comparison->after.selected;
    bool estimated = comparison->before.design.kind != CAMPAIGN_PLAIN ||
                     comparison->after.design.kind != CAMPAIGN_PLAIN;
    if (!other_command && !other_injector && !other_choice && !estimated)
        return NULL;
    TRY(terminal_heading(terminal, "What limits this comparison"));
    if (other_command)
        PUT(terminal, "  - The commands are not the same.\n");
    if (other_injector)
        PUT(terminal, "  - The injectors are not the same.\n");
    if (other_choice)
        PUT(terminal, "  - Different numbers of candidates were chosen: a finding may be new or "
                      "gone\n    only because its fault was not tried.\n");
    if (estimated)
        PUT(terminal, "  - Not all candidates were as likely to be chosen: shares are estimates "
                      "where\n    they can be made, and are not tested.\n");
    return NULL;
}

static struct error *put_page(struct terminal *terminal,
                              const struct campaign_comparison *comparison,
                              const struct report_options *options)
{
    TRY(put_subject(terminal, "A", comparison->names[0], &comparison->before));
    TRY(put_subject(terminal, "B", comparison->names[1], &comparison->after));
    TRY(put_table(terminal, comparison));
    TRY(put_pairs(terminal, comparison, options));
    TRY(interface_put_comparison(terminal, &comparison->before, &comparison->after));
    return put_cautions(terminal, comparison);
}

struct error *campaign_compare_text(const struct report_subject *before,
                                    const struct report_subject *after,
                                    const struct report_options *options, struct report_sink *sink)
{
    struct campaign_comparison comparison;
    struct error *error = campaign_comparison_load(&comparison, before, after, options);
    struct terminal terminal = {.text = &sink->text, .colour = options->colour};
    if (error == NULL)
        error = put_page(&terminal, &comparison, options);
    campaign_comparison_deinit(&comparison);
    return error != NULL ? error : report_sink_flush(sink, 1);
}

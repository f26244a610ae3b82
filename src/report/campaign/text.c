// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal report of a campaign: what was done, verdicts, findings, groups, and what limits the
// claims.
#include "report/text.h"
#include "report/campaign/behaviour.h"
#include "report/campaign/coverage.h"
#include "report/campaign/interface-facts.h"
#include "report/campaign/terminal.h"
#include "report/campaign/upsets.h"
#include "store/severity.h"

#include <math.h>
#include <string.h>

#define SHOWN_FINDINGS 20
#define SHOWN_GROUPS   12
#define LABEL          14 // columns of the labels at the top
#define BAR            16
#define COMMAND        8  // column of commands
#define TITLE          26 // column of titles
#define LONGEST_TITLE  240
#define LONGEST_REASON 300

struct page {
    struct terminal terminal;
    struct campaign_facts facts;
    const struct report_options *options;
};

static struct error *put_label(struct page *page, const char *label)
{
    TRY(terminal_paint(&page->terminal, TERMINAL_DIM));
    PUT(&page->terminal, "  %-*s", LABEL - 2, label);
    return terminal_paint(&page->terminal, TERMINAL_PLAIN);
}

static struct error *put_title(struct page *page)
{
    const struct store_campaign *campaign = &page->facts.campaign;
    _cleanup_(buffer_deinit) struct buffer title = {0};
    bool named = campaign->name != NULL && *campaign->name != '\0';
    TRY(buffer_printf(&title, "Campaign %lld%s%s (%s, %s)", (long long)campaign->id,
                      named ? ": " : "", named ? campaign->name : "",
                      campaign->injector != NULL ? campaign->injector : "?",
                      campaign_state_name(&page->facts)));
    TRY(terminal_paint(&page->terminal, TERMINAL_BOLD));
    TRY(text_put_fit(page->terminal.text, title.data, TERMINAL_WIDTH, NULL));
    TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    PUT(&page->terminal, "\n");
    return NULL;
}

static struct error *put_duration(struct page *page, double seconds)
{
    return text_put_seconds(page->terminal.text, seconds);
}

static struct error *put_references(struct page *page)
{
    const struct campaign_references *references = &page->facts.references;
    TRY(put_label(page, "references"));
    PUT(&page->terminal, "%llu", (unsigned long long)references->count);
    if (references->count != 0) {
        PUT(&page->terminal, " fault-free run%s, ", references->count == 1 ? "" : "s");
        TRY(text_put_fit(page->terminal.text, references->ending, 20, NULL));
        PUT(&page->terminal, ", ");
        TRY(put_duration(page, references->seconds.mean));
    }
    if (references->count > 1) {
        PUT(&page->terminal, " +- ");
        TRY(put_duration(page, references->seconds.deviation));
    }
    PUT(&page->terminal, "\n");
    return NULL;
}

static struct error *put_head(struct page *page)
{
    const struct store_campaign *campaign = &page->facts.campaign;
    struct buffer *text = page->terminal.text;
    TRY(put_title(page));
    TRY(put_label(page, "command"));
    TRY(terminal_wrap(&page->terminal, campaign->command != NULL ? campaign->command : "?", LABEL));
    TRY(put_label(page, "started"));
    TRY(campaign_put_date(campaign->created_s, text));
    PUT(&page->terminal, ", took ");
    TRY(put_duration(page, campaign->elapsed_s));
    PUT(&page->terminal, "\n");
    if (campaign->settings != NULL) {
        TRY(put_label(page, "settings"));
        TRY(terminal_wrap(&page->terminal, campaign->settings, LABEL));
    }
    TRY(put_label(page, "seed"));
    PUT(&page->terminal, "%llu\n", (unsigned long long)campaign->seed);
    TRY(put_references(page));
    TRY(put_label(page, "candidates"));
    TRY(campaign_put_number(campaign->candidates, text));
    PUT(&page->terminal, ", chosen ");
    TRY(campaign_put_number(page->facts.selected, text));
    PUT(&page->terminal, "\n");
    TRY(put_label(page, "trials"));
    TRY(campaign_put_number(campaign_trial_count(&page->facts.counts), text));
    PUT(&page->terminal, ", counted ");
    TRY(campaign_put_number(page->facts.n, text));
    PUT(&page->terminal, "\n");
    return NULL;
}

static struct error *put_bar(struct page *page, const struct campaign_share *share)
{
    if (!campaign_has_share(share) || share->hits == 0)
        return NULL;
    int size = (int)ceil(share->part * BAR);
    PUT(&page->terminal, "  %.*s", size < BAR ? size : BAR, "##################");
    return NULL;
}

static struct error *put_count(struct page *page, const char *name, enum terminal_colour colour,
                               const struct campaign_share *share, bool bar)
{
    TRY(terminal_paint(&page->terminal, share->hits != 0 ? colour : TERMINAL_DIM));
    PUT(&page->terminal, "  %-14s", name);
    TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    PUT(&page->terminal, "%9llu  ", (unsigned long long)share->hits);
    TRY(terminal_share(&page->terminal, share));
    if (bar)
        TRY(put_bar(page, share));
    return terminal_end_line(&page->terminal);
}

static struct error *put_uncounted(struct page *page)
{
    TRY(terminal_paint(&page->terminal, TERMINAL_DIM));
    PUT(&page->terminal, "  not counted, part of no share:\n");
    for (int i = 0; i < VERDICTS; i++) {
        if (verdict_facts[i].counts)
            continue;
        PUT(&page->terminal, "  %-14s%9llu  ", verdict_facts[i].name,
            (unsigned long long)page->facts.counts.verdicts[i]);
        TRY(text_put_fit(page->terminal.text, verdict_facts[i].meaning, 50, NULL));
        PUT(&page->terminal, "\n");
    }
    return terminal_paint(&page->terminal, TERMINAL_PLAIN);
}

static struct error *put_verdicts(struct page *page)
{
    char interval[32];
    snprintf(interval, sizeof interval, "%g%% interval", 100 * page->facts.confidence);
    PUT(&page->terminal, "\n");
    TRY(terminal_paint(&page->terminal, TERMINAL_BOLD));
    PUT(&page->terminal, "  %-14s%9s  %7s  %16s", "verdict", "trials", "share", interval);
    TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    PUT(&page->terminal, "\n");
    for (int i = 0; i < VERDICTS; i++)
        if (verdict_facts[i].counts)
            TRY(put_count(page, verdict_facts[i].name, terminal_verdict((enum verdict)i),
                          &page->facts.shares[i], true));
    PUT(&page->terminal, "  %.52s\n", "------------------------------------------------------");
    TRY(put_count(page, "failures", TERMINAL_RED, &page->facts.failures, false));
    PUT(&page->terminal, "  %-14s%9llu\n\n", "counted", (unsigned long long)page->facts.n);
    return put_uncounted(page);
}

// Writes why the trial that shows a finding has its verdict.
static struct error *put_reason(struct page *page, int64_t trial)
{
    struct campaign_detail detail = {0};
    TRY(campaign_detail_load(page->facts.store, trial, &detail));
    struct error *error = NULL;
    if (detail.found && detail.trial.reason != NULL && *detail.trial.reason != '\0') {
        _cleanup_(buffer_deinit) struct buffer reason = {0}, shorter = {0};
        error = terminal_shorten(detail.trial.reason, &shorter);
        if (error == NULL)
            error = text_put_fit(&reason, shorter.data, LONGEST_REASON, NULL);
        if (error == NULL)
            error = buffer_printf(page->terminal.text, "%*s", COMMAND, "");
        if (error == NULL)
            error = terminal_wrap(&page->terminal, reason.data, COMMAND);
    }
    campaign_detail_deinit(&detail);
    return error;
}

static struct error *put_caution(struct page *page, const struct campaign_finding *finding)
{
    if (finding->caution == NULL)
        return NULL;
    PUT(&page->terminal, "%*scaution: ", COMMAND, "");
    return terminal_wrap_from(&page->terminal, finding->caution, COMMAND + 9, COMMAND + 9);
}

static struct error *put_proof(struct page *page, const struct campaign_finding *finding)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(campaign_put_proof(finding, &text));
    if (text.size == 0)
        return NULL;
    PUT(&page->terminal, "%*s", COMMAND, "");
    return terminal_wrap(&page->terminal, text.data, COMMAND);
}

static struct error *put_also(struct page *page, const struct campaign_finding *finding)
{
    if (finding->also == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0}, shown = {0};
    TRY(buffer_printf(&text, "the same after other failures: %s", finding->also));
    TRY(text_put_fit(&shown, text.data, LONGEST_REASON, NULL));
    PUT(&page->terminal, "%*s", COMMAND, "");
    return terminal_wrap(&page->terminal, shown.data, COMMAND);
}

static struct error *put_explanation(struct page *page, const struct campaign_finding *finding)
{
    if (finding->explanation == NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(text_put_fit(&shown, finding->explanation, LONGEST_EXPLANATION, NULL));
    PUT(&page->terminal, "%*s", COMMAND, "");
    return terminal_wrap(&page->terminal, shown.data, COMMAND);
}

static struct error *put_finding(struct page *page, const struct campaign_finding *finding)
{
    TRY(terminal_paint(&page->terminal, terminal_verdict(finding->verdict)));
    PUT(&page->terminal, "  %-13s", verdict_facts[finding->verdict].name);
    TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    // The name that `ordeal replay` takes, and how many trials show the finding.
    char name[64];
    int size = snprintf(name, sizeof name, "F%lld %llux", (long long)finding->id,
                        (unsigned long long)finding->trials);
    PUT(&page->terminal, "%-10s ", name);
    _cleanup_(buffer_deinit) struct buffer title = {0};
    TRY(text_put_fit(&title, finding->title, LONGEST_TITLE, NULL));
    // A crash or a hang has one place, however many different failures lead there.
    bool placed = finding->verdict == VERDICT_CRASH || finding->verdict == VERDICT_HANG ||
                  finding->verdict == VERDICT_DELIBERATE;
    bool once = page->facts.campaign.planned <= page->facts.selected; // each fault was tried once
    if (placed && once && finding->trials > 1)
        TRY(buffer_printf(&title, ", and after %llu other failure%s",
                          (unsigned long long)finding->trials - 1,
                          finding->trials == 2 ? "" : "s"));
    const char *severity = severity_name(finding->severity);
    if (severity != NULL)
        TRY(buffer_printf(&title, "; severity: %s", severity));
    if (finding->library != NULL)
        TRY(buffer_printf(&title, "; a bug of the system library %s", finding->library));
    if (finding->confirmed == STORE_FLAKY)
        TRY(buffer_printf(&title, " (not repeated)"));
    if (finding->carried != NULL) {
        TRY(buffer_printf(&title, "; "));
        TRY(campaign_put_carried(finding, &title));
    }
    TRY(terminal_wrap_from(&page->terminal, title.data != NULL ? title.data : "", TITLE,
                           size > 10 ? (size_t)size + 16 : TITLE));
    TRY(put_reason(page, finding->trial));
    TRY(put_explanation(page, finding));
    TRY(put_proof(page, finding));
    TRY(put_also(page, finding));
    PUT(&page->terminal, "%*s", COMMAND, "");
    bool fits;
    TRY(terminal_command(&page->terminal, campaign_command_here(finding->command), COMMAND, &fits));
    if (fits)
        return put_caution(page, finding);
    _cleanup_(buffer_deinit) struct buffer replay = {0};
    int64_t trial = finding->proof_trial != 0 ? finding->proof_trial : finding->trial;
    TRY(campaign_put_replay(&page->facts, trial, &replay));
    TRY(terminal_command(&page->terminal, replay.data, COMMAND, &fits));
    if (!fits)
        PUT(&page->terminal, "ordeal replay %lld --db FILE, where FILE is this store\n",
            (long long)trial);
    return put_caution(page, finding);
}

// Separates what counts from what does not, and what can happen from what may not.
static struct error *put_line(struct page *page, size_t index)
{
    static const char *const lines[STORE_PROOFS] = {
        [STORE_PROOF_UNPROVEN] = "not proven to be possible",
        [STORE_PROOF_IMPOSSIBLE] = "not possible",
    };
    const struct campaign_finding *findings = page->facts.findings.items;
    const char *line = lines[findings[index].proof];
    bool aside = findings[index].aside && (index == 0 || !findings[index - 1].aside);
    if (aside) {
        TRY(terminal_paint(&page->terminal, TERMINAL_DIM));
        PUT(&page->terminal, "  ---- not in your code, and not counted (--scope all counts them): "
                             "----\n");
        TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    }
    if (line == NULL ||
        (index != 0 && !aside && findings[index - 1].proof == findings[index].proof))
        return NULL;
    TRY(terminal_paint(&page->terminal, TERMINAL_DIM));
    PUT(&page->terminal, "  ---- %s: ----\n", line);
    return terminal_paint(&page->terminal, TERMINAL_PLAIN);
}

static struct error *put_hidden(struct page *page)
{
    static const char *const why[STORE_PROOFS] = {
        [STORE_PROOF_CAUSED] = "whose faults had to be proven",
        [STORE_PROOF_UNPROVEN] = "not proven to be possible",
        [STORE_PROOF_IMPOSSIBLE] = "not possible: the faults were guessed, and nothing causes them",
    };
    for (int i = 0; i < STORE_PROOFS; i++)
        if (page->facts.hidden[i] != 0 && why[i] != NULL)
            PUT(&page->terminal, "  not shown: %llu %s (--proof all)\n",
                (unsigned long long)page->facts.hidden[i], why[i]);
    if (page->facts.others != 0)
        PUT(&page->terminal, "  not shown: %llu not in your code (--scope all)\n",
            (unsigned long long)page->facts.others);
    if (page->facts.unrepeated != 0)
        PUT(&page->terminal, "  not shown: %llu that did not repeat (--proof all)\n",
            (unsigned long long)page->facts.unrepeated);
    return NULL;
}

static struct error *put_findings(struct page *page)
{
    size_t count = page->facts.findings.count;
    size_t shown = page->options->all || count < SHOWN_FINDINGS ? count : SHOWN_FINDINGS;
    uint64_t carried = page->facts.carried_findings;
    char heading[128], of_them[64] = "";
    if (carried != 0)
        snprintf(of_them, sizeof of_them, ", %llu carried over and not tried again",
                 (unsigned long long)carried);
    snprintf(heading, sizeof heading, "%zu finding%s%s%s", count, count == 1 ? "" : "s", of_them,
             count > 1 ? ", most severe first" : "");
    TRY(terminal_heading(&page->terminal, count != 0 ? heading : "No findings"));
    for (size_t i = 0; i < shown; i++) {
        TRY(put_line(page, i));
        TRY(put_finding(page, &page->facts.findings.items[i]));
    }
    if (shown < count)
        PUT(&page->terminal, "  ... and %zu more; --all shows them\n", count - shown);
    TRY(put_hidden(page));
    if (page->facts.suppressed != 0)
        PUT(&page->terminal, "  suppressed: %llu finding%s, %llu trial%s\n",
            (unsigned long long)page->facts.suppressed, page->facts.suppressed == 1 ? "" : "s",
            (unsigned long long)page->facts.suppressed_trials,
            page->facts.suppressed_trials == 1 ? "" : "s");
    return NULL;
}

static struct error *put_group(struct page *page, const struct campaign_group *group)
{
    // A long number takes columns from the name.
    char counts[64];
    int size =
        snprintf(counts, sizeof counts, "%6llu/%-6llu", (unsigned long long)group->failures.hits,
                 (unsigned long long)group->failures.n);
    size_t room = size < 30 ? 39 - (size_t)size : 9;
    _cleanup_(buffer_deinit) struct buffer name = {0};
    size_t used;
    PUT(&page->terminal, "  ");
    TRY(text_put_fit(&name, group->name, TERMINAL_WIDTH - 2, &used));
    // A name that is too long gets a line of its own.
    if (used < room)
        PUT(&page->terminal, "%s%*s", name.data, (int)(room - used), "");
    else
        PUT(&page->terminal, "%s\n  %*s", name.data, (int)room, "");
    PUT(&page->terminal, "%s", counts);
    TRY(terminal_share(&page->terminal, &group->failures));
    PUT(&page->terminal, "  ");
    TRY(terminal_test(&page->terminal, &group->test));
    PUT(&page->terminal, "\n");
    return NULL;
}

static struct error *put_grouping(struct page *page, const struct campaign_grouping *grouping)
{
    size_t count = grouping->groups.count;
    size_t shown = page->options->all || count < SHOWN_GROUPS ? count : SHOWN_GROUPS;
    char heading[64], line[128];
    snprintf(heading, sizeof heading, "By %s", grouping->by);
    snprintf(line, sizeof line, "%-28s%-13s%7s    %-14s  %s", heading, "failed/of", "share",
             "interval", "p");
    TRY(terminal_heading(&page->terminal, line));
    for (size_t i = 0; i < shown; i++)
        TRY(put_group(page, &grouping->groups.items[i]));
    if (shown < count)
        PUT(&page->terminal, "  ... and %zu more; --all shows them\n", count - shown);
    if (grouping->test.method != STATS_NOTHING) {
        PUT(&page->terminal,
            "  all groups alike? %s, p: ", stats_method_name(grouping->test.method));
        TRY(terminal_test(&page->terminal, &grouping->test));
        PUT(&page->terminal, "\n");
    }
    PUT(&page->terminal, "  ");
    return terminal_wrap(&page->terminal,
                         "p: each group against the rest (chi-square, or Fisher where counts are "
                         "small); * p < 0.05, ** p < 0.01, *** p < 0.001, not corrected for the "
                         "number of groups.",
                         2);
}

static struct error *put_groups(struct page *page)
{
    const char *by = page->options->group_by;
    struct campaign_grouping grouping = {0};
    TRY(campaign_grouping_load(&page->facts, by != NULL ? by : "type", &grouping));
    struct error *error = NULL;
    // A single group only repeats the totals.
    if (by != NULL || (page->options->verbose && grouping.groups.count > 1))
        error = put_grouping(page, &grouping);
    campaign_grouping_deinit(&grouping);
    return error;
}

static struct error *put_limits(struct page *page)
{
    if (page->facts.limits.count == 0)
        return NULL;
    bool claims = page->facts.n != 0 || campaign_counted(&page->facts.carried) != 0;
    TRY(terminal_heading(&page->terminal,
                         claims ? "What limits these claims" : "Nothing was tested"));
    for (size_t i = 0; i < page->facts.limits.count; i++) {
        PUT(&page->terminal, "  - ");
        TRY(terminal_wrap(&page->terminal, page->facts.limits.items[i], 4));
    }
    return NULL;
}

static struct error *put_page(struct page *page, const struct report_subject *subject)
{
    TRY(campaign_facts_load(&page->facts, subject, page->options));
    TRY(put_head(page));
    if (page->facts.n == 0) {
        // A table of zeros would hide the only thing there is to say.
        if (campaign_counted(&page->facts.carried) != 0)
            TRY(put_findings(page));
        TRY(put_limits(page));
        PUT(&page->terminal, "\n");
        return put_uncounted(page);
    }
    TRY(put_verdicts(page));
    TRY(put_findings(page));
    TRY(put_groups(page));
    TRY(upsets_put_text(&page->terminal, &page->facts));
    TRY(behaviour_put_text(&page->terminal, &page->facts));
    TRY(interface_put_text(&page->terminal, &page->facts));
    TRY(coverage_put_text(&page->terminal, &page->facts, page->options->all));
    return put_limits(page);
}

static struct error *write_text(const struct report_subject *subject,
                                const struct report_options *options, struct report_sink *sink)
{
    struct page page = {.terminal = {.text = &sink->text, .colour = options->colour},
                        .options = options};
    struct error *error = put_page(&page, subject);
    campaign_facts_deinit(&page.facts);
    return error != NULL ? error : report_sink_flush(sink, 1);
}

struct error *report_campaign_text(struct store *store, int64_t campaign,
                                   const struct report_options *options, struct buffer *ret_text)
{
    const struct report_subject subject = {.store = store, .campaign = campaign};
    struct report_sink sink = {0};
    struct error *error = write_text(&subject, options, &sink);
    if (error != NULL)
        report_sink_deinit(&sink);
    else
        *ret_text = sink.text;
    return error;
}

const struct report_format report_text = {
    .name = "text",
    .write = write_text,
    .compare = campaign_compare_text,
};

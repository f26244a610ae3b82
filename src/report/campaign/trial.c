// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal report of one trial.
#include "report/campaign/terminal.h"

#include "injector/injector.h"
#include "report/text.h"
#include "store/severity.h"

#include <signal.h>
#include <string.h>

#define LABEL            14 // columns of the labels
#define SHOWN_INJECTIONS 5
#define SHOWN_LINES      40 // lines of a stack, or of the output
#define LONGEST          2000

struct page {
    struct terminal terminal;
    struct campaign_facts facts;
    struct campaign_detail detail;
    uint64_t injections;
};

static struct error *put_label(struct page *page, const char *label)
{
    TRY(terminal_paint(&page->terminal, TERMINAL_DIM));
    PUT(&page->terminal, "  %-*s", LABEL - 2, label);
    return terminal_paint(&page->terminal, TERMINAL_PLAIN);
}

static struct error *put_line(struct page *page, const char *label, const char *text)
{
    if (text == NULL || *text == '\0')
        return NULL;
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(text_put_fit(&shown, text, LONGEST, NULL));
    TRY(put_label(page, label));
    return terminal_wrap(&page->terminal, shown.data, LABEL);
}

// Shows the whole command. If it cannot be wrapped, it goes on one line, however long.
static struct error *put_command(struct page *page, const char *label, const char *command)
{
    bool fits;
    TRY(put_label(page, label));
    TRY(terminal_command(&page->terminal, command, LABEL, &fits));
    if (fits)
        return NULL;
    TRY(text_put(page->terminal.text, command, strlen(command), 0));
    PUT(&page->terminal, "\n");
    return NULL;
}

// A stack frame continues on the next line. Other text is cut to what fits.
static struct error *put_frame(struct page *page, const char *line, bool cut)
{
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    PUT(&page->terminal, "    ");
    if (!cut) {
        TRY(text_put_fit(&shown, line, LONGEST, NULL));
        return terminal_wrap_from(&page->terminal, shown.data, 8, 4);
    }
    TRY(text_put_fit(page->terminal.text, line, TERMINAL_WIDTH - 4, NULL));
    return terminal_end_line(&page->terminal);
}

// The first lines of a text, or its last ones, each on a line of its own.
static struct error *put_lines(struct page *page, const char *text, bool end)
{
    size_t lines = 0, skipped = 0;
    for (const char *at = text; *at != '\0'; lines++) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    if (end && lines > SHOWN_LINES)
        skipped = lines - SHOWN_LINES;
    size_t number = 0;
    for (const char *at = text; *at != '\0' && number < skipped + SHOWN_LINES; number++) {
        size_t size = strcspn(at, "\n");
        if (number >= skipped) {
            _cleanup_(buffer_deinit) struct buffer line = {0};
            TRY(buffer_append(&line, at, size));
            TRY(put_frame(page, line.data != NULL ? line.data : "", end));
        }
        at += size + (at[size] == '\n');
    }
    if (!end && lines > SHOWN_LINES)
        PUT(&page->terminal, "    ... and %zu more\n", lines - SHOWN_LINES);
    return NULL;
}

static struct error *put_block(struct page *page, const char *heading, const char *text, bool end)
{
    if (text == NULL || *text == '\0')
        return NULL;
    TRY(terminal_heading(&page->terminal, heading));
    return put_lines(page, text, end);
}

static struct error *put_outcome(struct page *page)
{
    const struct store_trial *trial = &page->detail.trial;
    const char *name = trial->status > 0 ? sigabbrev_np(trial->status) : NULL;
    TRY(put_label(page, "ended"));
    if (trial->outcome == STORE_OUTCOME_EXIT)
        PUT(&page->terminal, "exit status %d", trial->status);
    else if (trial->outcome == STORE_OUTCOME_SIGNAL && name != NULL)
        PUT(&page->terminal, "killed by SIG%s", name);
    else if (trial->outcome == STORE_OUTCOME_TIMEOUT)
        PUT(&page->terminal, "killed when its time was over");
    else
        PUT(&page->terminal, "not started");
    PUT(&page->terminal, ", after ");
    TRY(text_put_seconds(page->terminal.text, trial->seconds));
    PUT(&page->terminal, "\n");
    return NULL;
}

static const struct campaign_finding *finding_of(const struct page *page)
{
    return campaign_finding_find(&page->facts, page->detail.trial.finding);
}

// The trial ran in an earlier campaign. When and where is known while nothing newer shows the
// finding.
static struct error *put_carried(struct page *page, const struct campaign_finding *finding)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (finding != NULL && finding->carried != NULL)
        TRY(campaign_put_carried(finding, &text));
    else
        TRY(buffer_printf(&text, "carried over from an earlier campaign"));
    TRY(buffer_printf(&text, ", because the code of the caller is still the same"));
    return put_line(page, "not run now", text.data);
}

static struct error *put_head(struct page *page)
{
    const struct store_trial *trial = &page->detail.trial;
    const struct campaign_finding *finding = finding_of(page);
    enum verdict verdict = trial->verdict < VERDICTS ? trial->verdict : VERDICT_INVALID;
    TRY(terminal_paint(&page->terminal, TERMINAL_BOLD));
    PUT(&page->terminal, "Trial %lld of campaign %lld: ", (long long)trial->id,
        (long long)trial->campaign);
    TRY(terminal_paint(&page->terminal, terminal_verdict(verdict)));
    PUT(&page->terminal, "%s", verdict_facts[verdict].name);
    TRY(terminal_paint(&page->terminal, TERMINAL_PLAIN));
    PUT(&page->terminal, "\n");
    if (finding != NULL) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        const char *confirmed = campaign_confirmed_name(finding->confirmed);
        TRY(buffer_printf(&text, "F%lld, %llu trial%s%s%s: %s", (long long)finding->id,
                          (unsigned long long)finding->trials, finding->trials == 1 ? "" : "s",
                          confirmed != NULL ? ", " : "", confirmed != NULL ? confirmed : "",
                          finding->title));
        TRY(put_line(page, "finding", text.data));
        TRY(put_line(page, "severity", severity_name(finding->severity)));
        TRY(put_line(page, "why", finding->explanation));
    }
    if (trial->carried)
        TRY(put_carried(page, finding));
    TRY(put_line(page, "reason", trial->reason));
    TRY(put_line(page, "command", page->facts.campaign.command));
    TRY(put_outcome(page));
    TRY(put_line(page, "crash", trial->crash));
    return put_line(page, "fault", trial->spec);
}

static struct error *describe_injection(const struct store_injection *row, struct buffer *text)
{
    TRY(buffer_printf(text, "%s, call %llu of process %u", row->fault != NULL ? row->fault : "?",
                      (unsigned long long)row->occurrence, row->process));
    if (row->program != NULL)
        TRY(buffer_printf(text, " (%s)", row->program));
    TRY(buffer_printf(text, ", thread %u", row->thread));
    if (row->symbol != NULL)
        TRY(buffer_printf(text, ", in %s", row->symbol));
    if (row->file != NULL)
        TRY(buffer_printf(text, " at %s:%u", row->file, row->line));
    if (row->module != NULL)
        TRY(buffer_printf(text, " (%s+0x%llx)", row->module, (unsigned long long)row->offset));
    return NULL;
}

static struct error *put_injection(void *data, const struct store_injection *row)
{
    struct page *page = data;
    const struct injector_stored *injector = injector_stored(page->facts.campaign.injector);
    if (++page->injections > SHOWN_INJECTIONS)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0}, shown = {0};
    TRY(injector != NULL && injector->describe != NULL ? injector->describe(row, &text)
                                                       : describe_injection(row, &text));
    TRY(text_put_fit(&shown, text.data, LONGEST, NULL));
    if (page->injections == 1)
        TRY(terminal_heading(&page->terminal, "Injected"));
    PUT(&page->terminal, "  ");
    TRY(terminal_wrap(&page->terminal, shown.data, 2));
    return row->stack != NULL ? put_lines(page, row->stack, false) : NULL;
}

static struct error *put_commands(struct page *page)
{
    const struct store_trial *trial = &page->detail.trial;
    _cleanup_(buffer_deinit) struct buffer replay = {0};
    TRY(terminal_heading(&page->terminal, "Again"));
    TRY(campaign_put_replay(&page->facts, trial->id, &replay));
    TRY(put_command(page, "replay", replay.data));
    const char *run = page->facts.options->run_command;
    if (run != NULL && campaign_can_be_copied(run))
        TRY(put_command(page, "run", campaign_command_here(run)));
    const struct campaign_finding *finding = finding_of(page);
    return finding != NULL ? put_line(page, "caution", finding->caution) : NULL;
}

static struct error *put_page(struct page *page, struct store *store, int64_t trial,
                              const struct report_options *options)
{
    TRY(campaign_detail_load(store, trial, &page->detail));
    const struct report_subject subject = {.store = store, .campaign = page->detail.trial.campaign};
    struct report_options all = *options;
    all.scope = REPORT_SCOPE_ALL;
    TRY(campaign_facts_load(&page->facts, &subject, &all));
    const struct store_trial *row = &page->detail.trial;
    TRY(put_head(page));
    TRY(store_each_injection(store, trial, put_injection, page));
    if (page->injections > SHOWN_INJECTIONS)
        PUT(&page->terminal, "  ... and %llu more\n",
            (unsigned long long)(page->injections - SHOWN_INJECTIONS));
    TRY(put_block(page, row->verdict == VERDICT_HANG ? "Stack of the hang" : "Stack of the crash",
                  row->stack, false));
    TRY(put_block(page, "End of standard error", row->output, true));
    return put_commands(page);
}

struct error *report_trial_text(struct store *store, int64_t trial,
                                const struct report_options *options, struct buffer *ret_text)
{
    struct buffer text = {0};
    struct page page = {.terminal = {.text = &text, .colour = options->colour}};
    struct error *error = put_page(&page, store, trial, options);
    campaign_facts_deinit(&page.facts);
    campaign_detail_deinit(&page.detail);
    if (error != NULL)
        buffer_deinit(&text);
    else
        *ret_text = text;
    return error;
}

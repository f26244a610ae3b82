// SPDX-License-Identifier: GPL-3.0-or-later
// Runs `ordeal test`: the campaign, its summary, the additional reports and the suppressions.
#include "cli/campaign/test-run.h"

#include "base/cleanup.h"
#include "campaign/suppress.h"
#include "cli/campaign/test-summary.h"
#include "cli/campaign/verdict-line.h"
#include "report/campaign/campaign.h"

#include <string.h>
#include <unistd.h>

// A report besides the one on the terminal. It is opened before anything runs, so that no test is
// made in vain.
struct extra {
    const char *path; // NULL: not wanted; "-" is standard output
    struct output output;
};

static void extras_close(struct extra (*extras)[FORMATS])
{
    for (int i = 0; i < FORMATS; i++)
        output_close(&(*extras)[i].output);
}

static void extras_init(const struct format_setting settings[FORMATS], struct extra extras[FORMATS])
{
    for (int i = 0; i < FORMATS; i++)
        extras[i] =
            (struct extra){.path = settings[i].flag ? "-" : settings[i].file, .output.opened = -1};
}

static struct error *extras_open(struct extra extras[FORMATS], bool *ret_standard)
{
    *ret_standard = false;
    for (int i = 0; i < FORMATS; i++) {
        bool standard = extras[i].path != NULL && strcmp(extras[i].path, "-") == 0;
        if (standard && *ret_standard)
            return error_new("only one report can go to the standard output");
        *ret_standard |= standard;
        if (extras[i].path == NULL)
            continue;
        TRY(output_open(standard ? NULL : extras[i].path, STDOUT_FILENO, &extras[i].output));
        for (int j = 0; j < i; j++)
            if (output_is_same(&extras[i].output, &extras[j].output))
                return error_new("two reports cannot be written to one file: %s", extras[i].path);
    }
    return NULL;
}

static struct error *put_report(const struct report_format *format, struct store *store,
                                const struct campaign_job *job, const struct campaign_end *end,
                                struct report_options how, struct output *output)
{
    const struct report_subject subject = {
        .store = store, .campaign = end->id, .name = campaign_store_path(job)};
    how.database = campaign_store_path(job);
    how.resumed = "test";
    _cleanup_(report_sink_deinit) struct report_sink sink = {0};
    TRY(format->write(&subject, &how, &sink));
    return output_put(output, &sink.text);
}

static struct error *put_summary(struct store *store, const struct campaign_job *job,
                                 const struct campaign_end *end, bool verbose)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(test_summary(store, end, job->store, verbose, &text));
    return output_print(&text);
}

static struct error *read_suppressions(const struct test_settings *settings,
                                       struct suppressions *suppressions)
{
    for (size_t i = 0; i < settings->suppressions.entries.count; i++)
        TRY(suppressions_read(suppressions, settings->suppressions.entries.items[i].value));
    return NULL;
}

// Derives the exit status: findings that are suppressed or not shown do not count as failures.
static struct error *judge(const struct test_settings *settings, struct suppressions *suppressions,
                           struct store *store, struct campaign_end end,
                           const struct campaign_fail_on *fail_on, struct report_choice choice,
                           struct report_shown *ret_findings, int *ret_status)
{
    if (settings->suppressions.entries.count != 0)
        TRY(suppressions_apply(suppressions, store, end.id));
    TRY(report_count_shown(store, end.id, choice.proof, choice.scope, ret_findings));
    *ret_status = campaign_exit_status(&end, fail_on, ret_findings);
    campaign_gather(store);
    return NULL;
}

static struct error *put_suppressions(const struct suppressions *suppressions)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "\n%10s %9s  suppression\n", "findings", "trials"));
    for (size_t i = 0; i < suppressions->items.count; i++) {
        const struct suppression *item = &suppressions->items.items[i];
        TRY(buffer_printf(&text, "%10llu %9llu  %s%s\n", (unsigned long long)item->used,
                          (unsigned long long)item->trials, item->name,
                          item->used == 0 ? " (unused)" : ""));
    }
    return output_print(&text);
}

static struct error *put_generated(struct store *store, const struct campaign_end *end)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "\n"));
    TRY(suppressions_generate(store, end->id, &text));
    return output_print(&text);
}

struct error *test_run(const struct test_settings *settings, const struct campaign_job *job,
                       int *ret_status)
{
    bool standard;
    struct campaign_fail_on fail_on;
    struct report_shown findings;
    _cleanup_(extras_close) struct extra extras[FORMATS];
    extras_init(settings->formats, extras);
    _cleanup_(store_closep) struct store *store = NULL;
    _cleanup_(suppressions_deinit) struct suppressions suppressions = {0};
    struct campaign_end end = {0};
    TRY(campaign_parse_fail_on(settings->common.fail_on, &fail_on));
    struct report_choice choice;
    TRY(report_proof_parse(settings->common.proof, &choice.proof));
    TRY(report_scope_parse(campaign_given(job->words, "scope"), &choice.scope));
    TRY(read_suppressions(settings, &suppressions));
    TRY(extras_open(extras, &standard));
    struct campaign_job knowing = *job;
    knowing.known = &suppressions;
    TRY(campaign_carry_out(&knowing, &store, &end));
    TRY(judge(settings, &suppressions, store, end, &fail_on, choice, &findings, ret_status));
    struct report_options how = {
        .proof = choice.proof, .scope = choice.scope, .verbose = settings->common.verbose};
    for (int i = 0; i < FORMATS; i++)
        if (extras[i].path != NULL)
            TRY(put_report(format_table[i], store, job, &end, how, &extras[i].output));
    if (standard)
        return NULL;
    struct output terminal;
    TRY(output_open(NULL, STDOUT_FILENO, &terminal));
    how.colour = output_colour(STDOUT_FILENO);
    TRY(put_report(&report_text, store, job, &end, how, &terminal));
    TRY(put_summary(store, job, &end, settings->common.verbose));
    if (settings->show_suppressions)
        TRY(put_suppressions(&suppressions));
    TRY(verdict_line_print(&findings, settings->formats[FORMAT_html].file));
    // After the last line: the user copies from there to the end.
    return settings->generate ? put_generated(store, &end) : NULL;
}

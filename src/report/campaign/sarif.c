// SPDX-License-Identifier: GPL-3.0-or-later
// The findings of a campaign as SARIF 2.1.0: one rule per verdict, one result per finding.
#include "report/sarif.h"
#include "base/cleanup.h"
#include "base/frame-text.h"
#include "report/campaign/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sarif_log {
    const struct campaign_facts *facts;
    struct json_builder builder;
    int rule_of[VERDICTS];
};

static const char *level_of(enum verdict verdict)
{
    return verdict_facts[verdict].failure ? "error" : "note";
}

static void add_rules(struct sarif_log *log, const struct sarif_run *run)
{
    int count = 0;
    for (int i = 0; i < VERDICTS; i++) {
        log->rule_of[i] = -1;
        bool used = verdict_facts[i].failure;
        for (size_t j = 0; j < log->facts->findings.count && !used; j++)
            used = log->facts->findings.items[j].verdict == (enum verdict)i;
        if (!used)
            continue;
        log->rule_of[i] = count++;
        sarif_add_rule(&log->builder, run, verdict_facts[i].name, verdict_facts[i].meaning,
                       level_of((enum verdict)i));
    }
}

static struct error *add_invocation(struct sarif_log *log, json_t *run)
{
    const struct store_campaign *campaign = &log->facts->campaign;
    struct json_builder *builder = &log->builder;
    json_t *invocation =
        json_add_object(builder, json_add_array(builder, run, "invocations"), NULL);
    json_add_bool(builder, invocation, "executionSuccessful",
                  campaign->state == STORE_FINISHED && !campaign_out_of_time(log->facts));
    time_t created = (time_t)campaign->created_s;
    struct tm parts;
    char date[64];
    if (created >= 0 && gmtime_r(&created, &parts) != NULL && parts.tm_year < 8100 &&
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts) != 0)
        json_add_string(builder, invocation, "startTimeUtc", date);
    json_t *notes = json_add_array(builder, invocation, "toolExecutionNotifications");
    for (size_t i = 0; i < log->facts->limits.count; i++) {
        json_t *note = json_add_object(builder, notes, NULL);
        json_add_string(builder, note, "level", "note");
        sarif_add_message(builder, note, "message", log->facts->limits.items[i]);
    }
    return sarif_add_base(builder, run, campaign->directory);
}

static struct error *copy_part(struct frame_part part, struct buffer *text)
{
    return buffer_append(text, part.text != NULL ? part.text : "", part.size);
}

static struct error *add_frame(struct sarif_log *log, json_t *frames, const struct frame_text *read)
{
    struct json_builder *builder = &log->builder;
    _cleanup_(buffer_deinit) struct buffer whole = {0}, module = {0}, file = {0};
    TRY(copy_part(read->whole, &whole));
    TRY(copy_part(read->module, &module));
    TRY(copy_part(read->file, &file));
    json_t *frame = json_add_object(builder, frames, NULL);
    json_t *location = json_add_object(builder, frame, "location");
    if (whole.size != 0)
        sarif_add_message(builder, location, "message", whole.data);
    if (read->function.text != NULL && read->module.text != NULL)
        json_add_string(builder, frame, "module", module.data);
    if (read->file.text == NULL)
        return NULL;
    return sarif_add_place(builder, location, log->facts->campaign.directory, file.data,
                           read->line);
}

static struct error *add_stack(struct sarif_log *log, json_t *result, const char *stack)
{
    struct json_builder *builder = &log->builder;
    json_t *entry = json_add_object(builder, json_add_array(builder, result, "stacks"), NULL);
    json_t *frames = json_add_array(builder, entry, "frames");
    struct frame_text frame;
    while (!builder->failed && frame_text_next(&stack, &frame))
        TRY(add_frame(log, frames, &frame));
    return NULL;
}

static struct error *add_result(struct sarif_log *log, json_t *results,
                                const struct campaign_finding *finding)
{
    struct json_builder *builder = &log->builder;
    json_t *result = json_add_object(builder, results, NULL);
    json_add_string(builder, result, "ruleId", verdict_facts[finding->verdict].name);
    json_add_signed(builder, result, "ruleIndex", log->rule_of[finding->verdict]);
    json_add_string(builder, result, "level", level_of(finding->verdict));
    _cleanup_(buffer_deinit) struct buffer message = {0};
    TRY(buffer_printf(&message, "%s. ", finding->title));
    if (finding->carried != NULL) {
        TRY(buffer_printf(&message, "Not tried again, "));
        TRY(campaign_put_carried(finding, &message));
        TRY(buffer_printf(&message, ". "));
    }
    TRY(buffer_printf(&message, "Reproduce: %s", finding->command));
    sarif_add_message(builder, result, "message", message.data);
    json_t *location = json_add_object(builder, json_add_array(builder, result, "locations"), NULL);
    if (finding->file != NULL && *finding->file != '\0')
        TRY(sarif_add_place(builder, location, log->facts->campaign.directory, finding->file,
                            finding->line));
    if (*finding->site != '\0')
        sarif_add_logical(builder, location, finding->site);
    if (finding->stack != NULL && *finding->stack != '\0')
        TRY(add_stack(log, result, finding->stack));
    json_add_integer(builder, result, "occurrenceCount",
                     finding->trials != 0 ? finding->trials : 1);
    json_t *prints = json_add_object(builder, result, "partialFingerprints");
    json_add_string(builder, prints, "ordealCause/v1", finding->cause);
    json_t *properties = json_add_object(builder, result, "properties");
    json_add_signed(builder, properties, "trial", finding->trial);
    json_add_string(builder, properties, "command", finding->command);
    const char *confirmed = campaign_confirmed_name(finding->confirmed);
    if (confirmed != NULL)
        json_add_string(builder, properties, "confirmed", confirmed);
    if (finding->carried != NULL)
        campaign_json_carried(builder, properties, finding);
    return NULL;
}

static struct error *put_page(struct sarif_log *log, struct report_sink *sink)
{
    struct json_builder *builder = &log->builder;
    _cleanup_(json_release) json_t *root = json_object();
    builder->failed = root == NULL;
    const struct sarif_run start = sarif_begin(builder, root, log->facts->campaign.version);
    add_rules(log, &start);
    TRY(add_invocation(log, start.run));
    json_t *results = json_add_array(builder, start.run, "results");
    for (size_t i = 0; i < log->facts->findings.count && !builder->failed; i++)
        TRY(add_result(log, results, &log->facts->findings.items[i]));
    json_t *properties = json_add_object(builder, start.run, "properties");
    json_add_format(builder, properties, "seed", "%llu",
                    (unsigned long long)log->facts->campaign.seed);
    json_add_integer(builder, properties, "trials", campaign_trial_count(&log->facts->counts));
    json_add_integer(builder, properties, "counted", log->facts->n);
    json_add_integer(builder, properties, "failures", log->facts->failures.hits);
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(json_write(builder, root, &text));
    TRY(buffer_append(&sink->text, text.data, text.size));
    return report_sink_flush(sink, 1);
}

static struct error *write_sarif(const struct report_subject *subject,
                                 const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = campaign_facts_load(&facts, subject, options);
    struct sarif_log log = {.facts = &facts};
    if (error == NULL)
        error = put_page(&log, sink);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_sarif = {.name = "sarif", .write = write_sarif};

// SPDX-License-Identifier: GPL-3.0-or-later
// The findings of a campaign as SARIF 2.1.0: one rule per verdict and severity, one result per
// finding.
#include "report/sarif.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "report/campaign/ci/sarif-rules.h"
#include "report/campaign/json.h"
#include "report/campaign/place.h"
#include "store/cause.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sarif_log {
    const struct campaign_facts *facts;
    struct json_builder builder;
    struct project project;
    char *program;        // where a finding is shown that has no line in the project
    ARRAY(char *) causes; // of the findings, without what differs between builds
};

static void sarif_log_deinit(struct sarif_log *log)
{
    project_deinit(&log->project);
    free(log->program);
    for (size_t i = 0; i < log->causes.count; i++)
        free(log->causes.items[i]);
    ARRAY_DEINIT(&log->causes);
}

static void add_rules(struct sarif_log *log, const struct sarif_run *run)
{
    bool others = false;
    for (size_t i = 0; i < log->facts->findings.count; i++) {
        const struct campaign_finding *finding = &log->facts->findings.items[i];
        others |=
            campaign_rule_find(finding->verdict, finding->severity) + 1 == campaign_rule_count;
    }
    for (size_t i = 0; i + !others < campaign_rule_count; i++)
        sarif_add_rule(&log->builder, run, &campaign_rules[i].sarif);
}

static void add_invocation(struct sarif_log *log, json_t *run)
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
}

static struct error *copy_part(struct frame_part part, struct buffer *text)
{
    return buffer_append(text, part.text != NULL ? part.text : "", part.size);
}

// Describes a frame without the directories of this machine: "getc at getc.c:37 (libc.so.6)".
static struct error *put_frame(const struct frame_text *read, struct buffer *text)
{
    struct frame_text frame = *read;
    if (frame.function.text == NULL || frame.file.text == NULL)
        return copy_part(frame.whole, text);
    const char *slash = memrchr(frame.file.text, '/', frame.file.size);
    const char *end = frame.file.text + frame.file.size;
    if (slash != NULL)
        frame.file = (struct frame_part){slash + 1, (size_t)(end - slash - 1)};
    return frame_text_put(text, &frame);
}

static struct error *add_frame(struct sarif_log *log, json_t *frames, const struct frame_text *read)
{
    struct json_builder *builder = &log->builder;
    _cleanup_(buffer_deinit) struct buffer whole = {0}, module = {0}, file = {0};
    _cleanup_free_ char *name = NULL;
    TRY(put_frame(read, &whole));
    TRY(copy_part(read->module, &module));
    TRY(copy_part(read->file, &file));
    json_t *frame = json_add_object(builder, frames, NULL);
    json_t *location = json_add_object(builder, frame, "location");
    if (whole.size != 0)
        sarif_add_message(builder, location, "message", whole.data);
    if (read->function.text != NULL && read->module.text != NULL)
        json_add_string(builder, frame, "module", module.data);
    TRY(project_name_file(&log->project, file.data, module.data, &name));
    return name != NULL ? sarif_add_place(builder, location, name, read->line) : NULL;
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

static struct error *add_text(struct sarif_log *log, json_t *result,
                              const struct campaign_finding *finding, bool placed)
{
    _cleanup_(buffer_deinit) struct buffer message = {0};
    _cleanup_(buffer_deinit) struct buffer proof = {0};
    TRY(buffer_printf(&message, "%s. ", finding->title));
    if (finding->explanation != NULL)
        TRY(buffer_printf(&message, "%s ", finding->explanation));
    TRY(campaign_put_proof(finding, &proof));
    if (proof.size != 0)
        TRY(buffer_printf(&message, "It is %s. ", proof.data));
    if (finding->carried != NULL) {
        TRY(buffer_printf(&message, "Not tried again, "));
        TRY(campaign_put_carried(finding, &message));
        TRY(buffer_printf(&message, ". "));
    }
    if (!placed)
        TRY(buffer_printf(&message, "The line is not known: no part of the call stack is in a "
                                    "source file of the project. "));
    TRY(buffer_printf(&message, "Reproduce: %s", finding->command));
    if (finding->caution != NULL)
        TRY(buffer_printf(&message, " (caution: %s)", finding->caution));
    sarif_add_message(&log->builder, result, "message", message.data);
    return NULL;
}

static struct error *add_location(struct sarif_log *log, json_t *result,
                                  const struct campaign_finding *finding,
                                  const struct campaign_place *place)
{
    struct json_builder *builder = &log->builder;
    json_t *location = json_add_object(builder, json_add_array(builder, result, "locations"), NULL);
    bool placed = place->name != NULL;
    TRY(sarif_add_place(builder, location, placed ? place->name : log->program,
                        placed ? place->line : 0));
    if (place->function != NULL)
        sarif_add_function(builder, location, place->function);
    else if (finding->file == NULL && *finding->site != '\0')
        sarif_add_function(builder, location, finding->site);
    return NULL;
}

static struct error *find_causes(struct sarif_log *log)
{
    for (size_t i = 0; i < log->facts->findings.count; i++) {
        struct buffer text = {0};
        char **cause = ARRAY_ADD(&log->causes);
        if (cause == NULL)
            return error_no_memory();
        *cause = NULL;
        struct error *error = cause_put_stable(&text, log->facts->findings.items[i].cause);
        *cause = text.data;
        TRY(error);
    }
    return NULL;
}

static bool is_before(const struct campaign_finding *a, const struct campaign_finding *b)
{
    return a->line != b->line ? a->line < b->line : strcmp(a->cause, b->cause) < 0;
}

// Identifies a finding in later runs, also when code has moved. Where several are alike, they are
// numbered in the order of their lines.
static void add_fingerprint(struct sarif_log *log, json_t *result, size_t index)
{
    const struct campaign_finding *findings = log->facts->findings.items;
    unsigned number = 1;
    for (size_t i = 0; i < log->causes.count; i++)
        number += strcmp(log->causes.items[i], log->causes.items[index]) == 0 &&
                  is_before(&findings[i], &findings[index]);
    json_t *prints = json_add_object(&log->builder, result, "partialFingerprints");
    json_add_format(&log->builder, prints, "ordealCause/v2", "%s #%u", log->causes.items[index],
                    number);
}

static struct error *add_result(struct sarif_log *log, json_t *results, size_t index)
{
    const struct campaign_finding *finding = &log->facts->findings.items[index];
    struct json_builder *builder = &log->builder;
    _cleanup_(campaign_place_deinit) struct campaign_place place = {0};
    TRY(campaign_place_find(log->facts, &log->project, finding, &place));
    json_t *result = json_add_object(builder, results, NULL);
    size_t rule = campaign_rule_find(finding->verdict, finding->severity);
    json_add_string(builder, result, "ruleId", campaign_rules[rule].sarif.id);
    json_add_integer(builder, result, "ruleIndex", rule);
    json_add_string(builder, result, "level",
                    campaign_is_note(finding) ? "note" : campaign_rules[rule].sarif.level);
    TRY(add_text(log, result, finding, place.name != NULL));
    TRY(add_location(log, result, finding, &place));
    if (finding->stack != NULL && *finding->stack != '\0')
        TRY(add_stack(log, result, finding->stack));
    json_add_integer(builder, result, "occurrenceCount",
                     finding->trials != 0 ? finding->trials : 1);
    add_fingerprint(log, result, index);
    json_t *properties = json_add_object(builder, result, "properties");
    json_add_string(builder, properties, "fingerprint", finding->fingerprint);
    if (finding->library != NULL)
        json_add_string(builder, properties, "library", finding->library);
    if (finding->scope != STORE_SCOPE_UNKNOWN)
        json_add_string(builder, properties, "scope", enum_name(&scope_names, finding->scope));
    json_add_string(builder, properties, "verdict", verdict_facts[finding->verdict].name);
    json_add_signed(builder, properties, "trial", finding->trial);
    json_add_string(builder, properties, "command", finding->command);
    const char *confirmed = campaign_confirmed_name(finding->confirmed);
    if (confirmed != NULL)
        json_add_string(builder, properties, "confirmed", confirmed);
    campaign_json_proof(builder, properties, finding);
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
    TRY(project_find(log->facts->campaign.directory, &log->project));
    TRY(campaign_program_name(log->facts, &log->project, &log->program));
    TRY(find_causes(log));
    add_invocation(log, start.run);
    json_t *results = json_add_array(builder, start.run, "results");
    for (size_t i = 0; i < log->facts->findings.count && !builder->failed; i++)
        TRY(add_result(log, results, i));
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
    sarif_log_deinit(&log);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_sarif = {.name = "sarif", .write = write_sarif};

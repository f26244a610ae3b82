// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign as JSON lines: one object per line, of the kind that its "kind" names.
// docs/ordeal-report.1 describes them.
#include "report/campaign/json.h"
#include "store/severity.h"

#include "report/campaign/behaviour.h"
#include "report/campaign/coverage.h"
#include "report/campaign/interface-facts.h"
#include "report/campaign/upsets.h"

#include "base/cleanup.h"
#include "report/json.h"

#include <string.h>

struct error *campaign_json_end(struct json_builder *builder, json_t *line,
                                struct report_sink *sink)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(json_write_line(builder, line, &text));
    TRY(buffer_append(&sink->text, text.data, text.size));
    return report_sink_flush(sink, CAMPAIGN_JSON_CHUNK);
}

static void add_optional(struct json_builder *builder, json_t *parent, const char *key,
                         const char *text)
{
    if (text != NULL)
        json_add_string(builder, parent, key, text);
}

// Writes a number that may be too large for other languages as a string.
static void add_large(struct json_builder *builder, json_t *parent, const char *key, uint64_t value)
{
    json_add_format(builder, parent, key, "%llu", (unsigned long long)value);
}

void campaign_json_share(struct json_builder *builder, json_t *parent,
                         const struct campaign_share *share)
{
    json_add_integer(builder, parent, "n", share->n);
    if (!campaign_has_share(share))
        return;
    json_add_real(builder, parent, "share", share->part);
    json_t *interval = json_add_array(builder, parent, "interval");
    json_add_real(builder, interval, NULL, share->interval.low);
    json_add_real(builder, interval, NULL, share->interval.high);
}

void campaign_json_test(struct json_builder *builder, json_t *parent, const struct stats_test *test)
{
    json_t *entry = json_add_object(builder, parent, "test");
    json_add_string(builder, entry, "method", stats_method_name(test->method));
    if (test->method == STATS_CHI_SQUARE) {
        json_add_real(builder, entry, "statistic", test->statistic);
        json_add_integer(builder, entry, "freedom", test->freedom);
    }
    json_add_real(builder, entry, "p", test->p);
    json_add_string(builder, entry, "stars", stats_stars(test->p));
}

json_t *campaign_json_start(struct json_builder *builder, const char *kind)
{
    json_t *line = json_object();
    *builder = (struct json_builder){.failed = line == NULL};
    json_add_string(builder, line, "kind", kind);
    return line;
}

static void add_references(struct json_builder *builder, json_t *line,
                           const struct campaign_references *references)
{
    json_t *entry = json_add_object(builder, line, "references");
    json_add_integer(builder, entry, "runs", references->count);
    if (references->count == 0)
        return;
    add_optional(builder, entry, "ending", references->ending);
    json_add_bool(builder, entry, "endings_differ", references->endings_differ);
    json_add_real(builder, entry, "seconds", references->seconds.mean);
    json_add_real(builder, entry, "deviation",
                  references->count > 1 ? references->seconds.deviation : 0);
    json_add_integer(builder, entry, "outputs", references->outputs);
    json_add_integer(builder, entry, "outputs_differ", references->outputs_differ);
    json_t *differing = json_add_array(builder, entry, "differing");
    for (size_t i = 0; i < references->differing.count; i++)
        json_add_string(builder, differing, NULL, references->differing.items[i]);
}

static struct error *put_campaign(const struct campaign_facts *facts, struct report_sink *sink)
{
    const struct store_campaign *campaign = &facts->campaign;
    _cleanup_(buffer_deinit) struct buffer definition = {0};
    if (campaign->definition != NULL)
        TRY(campaign_put_definition(campaign->definition, &definition));
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "campaign");
    json_add_integer(&builder, line, "format", 1);
    json_add_signed(&builder, line, "id", campaign->id);
    add_optional(&builder, line, "name", campaign->name);
    add_optional(&builder, line, "injector", campaign->injector);
    add_optional(&builder, line, "command", campaign->command);
    add_optional(&builder, line, "directory", campaign->directory);
    add_optional(&builder, line, "version", campaign->version);
    add_optional(&builder, line, "machine", campaign->machine);
    add_optional(&builder, line, "definition", definition.data);
    json_add_string(&builder, line, "state", campaign_state_name(facts));
    add_optional(&builder, line, "settings", campaign->settings);
    add_large(&builder, line, "seed", campaign->seed);
    json_add_signed(&builder, line, "created", campaign->created_s);
    json_add_real(&builder, line, "elapsed", campaign->elapsed_s);
    json_add_integer(&builder, line, "candidates", campaign->candidates);
    json_add_integer(&builder, line, "selected", facts->selected);
    json_add_integer(&builder, line, "planned", campaign->planned);
    json_add_integer(&builder, line, "trials", campaign_trial_count(&facts->counts));
    json_add_integer(&builder, line, "counted", facts->n);
    json_add_integer(&builder, line, "failures", facts->failures.hits);
    json_add_integer(&builder, line, "findings", facts->findings.count);
    if (facts->suppressed != 0)
        json_add_integer(&builder, line, "suppressed", facts->suppressed);
    json_t *hidden = NULL;
    for (int i = 0; i < STORE_PROOFS; i++)
        if (facts->hidden[i] != 0) {
            if (hidden == NULL)
                hidden = json_add_object(&builder, line, "hidden");
            json_add_integer(&builder, hidden, enum_name(&proof_names, (unsigned)i),
                             facts->hidden[i]);
        }
    if (facts->unrepeated != 0)
        json_add_integer(&builder, line, "unrepeated", facts->unrepeated);
    if (campaign_counted(&facts->carried) != 0) {
        json_t *carried = json_add_object(&builder, line, "carried");
        for (int i = 0; i < VERDICTS; i++)
            if (verdict_facts[i].counts)
                json_add_integer(&builder, carried, verdict_facts[i].name,
                                 facts->carried.verdicts[i]);
    }
    if (facts->forked + facts->disputed != 0) {
        json_add_integer(&builder, line, "forked", facts->forked);
        json_add_integer(&builder, line, "checked", facts->checked + facts->disputed);
        json_add_integer(&builder, line, "disputed", facts->disputed);
    }
    json_add_real(&builder, line, "confidence", facts->confidence);
    add_optional(&builder, line, "stopped_by", enum_name(&stop_names, campaign->stopped_by));
    static const char *const designs[] = {"plain", "estimated", "unknown"};
    json_add_string(&builder, line, "shares", designs[facts->design.kind]);
    if (facts->design.kind == CAMPAIGN_ESTIMATED)
        json_add_real(&builder, line, "effective", facts->design.effective);
    add_references(&builder, line, &facts->references);
    json_t *limits = json_add_array(&builder, line, "limits");
    for (size_t i = 0; i < facts->limits.count; i++)
        json_add_string(&builder, limits, NULL, facts->limits.items[i]);
    return campaign_json_end(&builder, line, sink);
}

static struct error *put_verdicts(const struct campaign_facts *facts, struct report_sink *sink)
{
    for (int i = 0; i < VERDICTS; i++) {
        struct json_builder builder;
        _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "verdict");
        json_add_string(&builder, line, "verdict", verdict_facts[i].name);
        json_add_bool(&builder, line, "counts", verdict_facts[i].counts);
        json_add_bool(&builder, line, "failure", verdict_facts[i].failure);
        json_add_integer(&builder, line, "trials", facts->counts.verdicts[i]);
        if (verdict_facts[i].counts)
            campaign_json_share(&builder, line, &facts->shares[i]);
        TRY(campaign_json_end(&builder, line, sink));
    }
    return NULL;
}

static struct error *put_group(const char *by, const struct campaign_group *group,
                               struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "group");
    json_add_string(&builder, line, "by", by);
    if (!group->unnamed)
        json_add_string(&builder, line, "name", group->name);
    json_add_integer(&builder, line, "failures", group->failures.hits);
    campaign_json_share(&builder, line, &group->failures);
    json_t *verdicts = json_add_object(&builder, line, "verdicts");
    for (int i = 0; i < VERDICTS; i++)
        json_add_integer(&builder, verdicts, verdict_facts[i].name, group->counts.verdicts[i]);
    campaign_json_test(&builder, line, &group->test);
    return campaign_json_end(&builder, line, sink);
}

static struct error *put_groupings(const struct campaign_facts *facts, struct report_sink *sink)
{
    const char *only = facts->options->group_by;
    for (size_t i = 0; report_groupings[i] != NULL; i++) {
        if ((only != NULL && strcmp(only, report_groupings[i]) != 0) ||
            !campaign_grouping_fits(facts, report_groupings[i]))
            continue;
        _cleanup_(campaign_grouping_deinit) struct campaign_grouping grouping = {0};
        TRY(campaign_grouping_load(facts, report_groupings[i], &grouping));
        struct json_builder builder;
        _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "grouping");
        json_add_string(&builder, line, "by", grouping.by);
        json_add_integer(&builder, line, "groups", grouping.groups.count);
        campaign_json_test(&builder, line, &grouping.test);
        TRY(campaign_json_end(&builder, line, sink));
        for (size_t j = 0; j < grouping.groups.count; j++)
            TRY(put_group(grouping.by, &grouping.groups.items[j], sink));
    }
    return NULL;
}

void campaign_json_carried(struct json_builder *builder, json_t *parent,
                           const struct campaign_finding *finding)
{
    json_t *carried = json_add_object(builder, parent, "carried");
    json_add_string(builder, carried, "store", finding->carried);
    json_add_signed(builder, carried, "created", finding->carried_s);
}

void campaign_json_proof(struct json_builder *builder, json_t *parent,
                         const struct campaign_finding *finding)
{
    add_optional(builder, parent, "proof", enum_name(&proof_names, finding->proof));
    if (finding->proof_tries != 0)
        json_add_integer(builder, parent, "proof_tries", finding->proof_tries);
    if (finding->proof != STORE_PROOF_CAUSED)
        return;
    json_t *caused = json_add_object(builder, parent, "caused_by");
    add_optional(builder, caused, "call", finding->proof_call);
    add_optional(builder, caused, "error", finding->proof_error);
    add_optional(builder, caused, "caller", finding->proof_caller);
    add_optional(builder, caused, "result", finding->proof_result);
    json_add_bool(builder, caused, "lasting", finding->proof_lasting);
    if (finding->proof_trial != 0)
        json_add_signed(builder, caused, "trial", finding->proof_trial);
}

void campaign_json_finding(struct json_builder *builder, json_t *line,
                           const struct campaign_finding *finding)
{
    json_add_signed(builder, line, "id", finding->id);
    json_add_string(builder, line, "verdict", verdict_facts[finding->verdict].name);
    json_add_string(builder, line, "title", finding->title);
    add_optional(builder, line, "severity", severity_name(finding->severity));
    json_add_string(builder, line, "cause", finding->cause);
    json_add_string(builder, line, "fingerprint", finding->fingerprint);
    add_optional(builder, line, "scope", enum_name(&scope_names, finding->scope));
    add_optional(builder, line, "library", finding->library);
    json_add_string(builder, line, "site", finding->site);
    add_optional(builder, line, "file", finding->file);
    if (finding->line != 0)
        json_add_integer(builder, line, "line", finding->line);
    json_add_signed(builder, line, "trial", finding->trial);
    json_add_integer(builder, line, "trials", finding->trials);
    add_optional(builder, line, "confirmed", campaign_confirmed_name(finding->confirmed));
    if (finding->carried != NULL)
        campaign_json_carried(builder, line, finding);
    add_optional(builder, line, "explanation", finding->explanation);
    campaign_json_proof(builder, line, finding);
    add_optional(builder, line, "also", finding->also);
    json_add_string(builder, line, "command", finding->command);
    add_optional(builder, line, "caution", finding->caution);
    add_optional(builder, line, "stack", finding->stack);
}

static struct error *put_page(struct campaign_facts *facts, const struct report_subject *subject,
                              const struct report_options *options, struct report_sink *sink)
{
    TRY(campaign_facts_load(facts, subject, options));
    TRY(put_campaign(facts, sink));
    TRY(put_verdicts(facts, sink));
    TRY(put_groupings(facts, sink));
    for (size_t i = 0; i < facts->findings.count; i++) {
        struct json_builder builder;
        _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "finding");
        campaign_json_finding(&builder, line, &facts->findings.items[i]);
        TRY(campaign_json_end(&builder, line, sink));
    }
    TRY(coverage_put_json(facts, sink));
    TRY(upsets_put_json(facts, sink));
    TRY(behaviour_put_json(facts, sink));
    TRY(interface_put_json(facts, sink));
    TRY(campaign_json_trials(facts, sink));
    return report_sink_flush(sink, 1);
}

static struct error *write_json(const struct report_subject *subject,
                                const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = put_page(&facts, subject, options, sink);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_json = {
    .name = "json",
    .write = write_json,
    .compare = campaign_compare_json,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// Loads everything about a campaign that is small: counts, references, findings, remarks. There may
// be very many trials; whoever needs them reads them separately (trials.h).
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "report/campaign/explanation.h"
#include "report/text.h"
#include "stats/stats.h"
#include "store/cause.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct campaign_share campaign_share(uint64_t hits, uint64_t n, double confidence)
{
    return (struct campaign_share){.hits = hits,
                                   .n = n,
                                   .part = n != 0 ? (double)hits / (double)n : 0,
                                   .interval = stats_wilson(hits, n, confidence)};
}

double campaign_percent(const struct campaign_share *share)
{
    return 100 * share->part;
}

bool campaign_has_share(const struct campaign_share *share)
{
    return share->n != 0 && !share->unknown;
}

uint64_t campaign_counted(const struct campaign_counts *counts)
{
    uint64_t sum = 0;
    for (int i = 0; i < VERDICTS; i++)
        sum += verdict_facts[i].counts ? counts->verdicts[i] : 0;
    return sum;
}

uint64_t campaign_failures(const struct campaign_counts *counts)
{
    uint64_t sum = 0;
    for (int i = 0; i < VERDICTS; i++)
        sum += verdict_facts[i].counts && verdict_facts[i].failure ? counts->verdicts[i] : 0;
    return sum;
}

uint64_t campaign_trial_count(const struct campaign_counts *counts)
{
    uint64_t sum = 0;
    for (int i = 0; i < VERDICTS; i++)
        sum += counts->verdicts[i];
    return sum;
}

static struct error *add_counts(void *data, const struct store_count *row)
{
    struct campaign_facts *facts = data;
    for (int i = 0; i < VERDICTS; i++)
        facts->counts.verdicts[i] += row->verdicts[i];
    return NULL;
}

static struct error *load_counts(struct campaign_facts *facts)
{
    TRY(store_each_count(facts->store, facts->campaign.id, NULL, add_counts, facts));
    facts->n = campaign_counted(&facts->counts);
    for (int i = 0; i < VERDICTS; i++)
        facts->shares[i] = campaign_share(
            facts->counts.verdicts[i], verdict_facts[i].counts ? facts->n : 0, facts->confidence);
    facts->failures =
        campaign_share(campaign_failures(&facts->counts), facts->n, facts->confidence);
    return NULL;
}

static struct error *add_candidate(void *data, const struct store_candidate *row)
{
    struct campaign_facts *facts = data;
    facts->selected += row->selected;
    enum verdict verdict =
        row->carried != NULL ? verdict_named(row->carried, strlen(row->carried)) : VERDICTS;
    if (verdict < VERDICTS)
        facts->carried.verdicts[verdict]++;
    return NULL;
}

// Copies a text. `fallback` replaces NULL; if both are NULL, the copy is NULL, too.
static struct error *copy(const char *text, const char *fallback, char **ret_copy)
{
    const char *source = text != NULL ? text : fallback;
    if (source == NULL)
        return NULL;
    *ret_copy = strdup(source);
    return *ret_copy == NULL ? error_no_memory() : NULL;
}

// Reports escape strange characters, so a command with such characters could not be copied.
bool campaign_can_be_copied(const char *command)
{
    size_t size = strlen(command), length;
    for (size_t at = 0; at < size; at += length) {
        uint32_t point = 0;
        length = utf8_decode(command + at, size - at, &point);
        if (length == 0 || point == 0xfffd || utf8_is_control(point))
            return false;
    }
    return size != 0;
}

const char *campaign_command_here(const char *command)
{
    _cleanup_free_ char *here = getcwd(NULL, 0);
    _cleanup_(buffer_deinit) struct buffer start = {0};
    struct error *error = buffer_printf(&start, "cd ");
    if (error == NULL)
        error = shell_put_word(&start, here != NULL ? here : "");
    if (error == NULL)
        error = buffer_printf(&start, " && ");
    bool same = error == NULL && strncmp(command, start.data, start.size) == 0;
    error_free(error);
    return same ? command + start.size : command;
}

static bool may_change_files(enum verdict verdict)
{
    return verdict == VERDICT_SILENT || verdict == VERDICT_WRONG_OUTPUT ||
           verdict == VERDICT_UNSTABLE;
}

static struct error *put_fingerprint(const char *cause, char **ret_text)
{
    char text[CAUSE_FINGERPRINT];
    TRY(cause_fingerprint(cause, text));
    *ret_text = strdup(text);
    return *ret_text != NULL ? NULL : error_no_memory();
}

static struct error *explain(const struct campaign_facts *facts, struct campaign_finding *finding)
{
    _cleanup_(consequences_deinit) struct consequences consequences = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(consequences_load(facts->store, finding->id, &consequences));
    TRY(consequences_put(&consequences, facts->campaign.directory, &text));
    finding->explanation = text.size != 0 ? TAKE(text.data) : NULL;
    return NULL;
}

static struct error *add_part(struct campaign_facts *facts, const struct store_finding *row)
{
    struct campaign_part *part = ARRAY_ADD(&facts->parts);
    if (part == NULL)
        return error_no_memory();
    *part = (struct campaign_part){.id = row->id, .part_of = row->part_of, .trials = row->trials};
    return copy(row->site, "", &part->site);
}

static struct error *add_finding(void *data, const struct store_finding *row)
{
    struct campaign_facts *facts = data;
    if (row->part_of != 0)
        return add_part(facts, row);
    const struct report_choice choice = {facts->options->proof, facts->scope};
    switch (report_hides(choice, row)) {
    case REPORT_SUPPRESSED:
        facts->suppressed++;
        facts->suppressed_trials += row->trials;
        return NULL;
    case REPORT_HIDDEN_BY_PROOF:
        facts->hidden[row->proof]++;
        return NULL;
    case REPORT_HIDDEN_BY_SCOPE:
        facts->others++;
        return NULL;
    case REPORT_UNREPEATED:
        facts->unrepeated++;
        return NULL;
    case REPORT_SHOWN:
        break;
    }
    struct campaign_finding *finding = ARRAY_ADD(&facts->findings);
    if (finding == NULL)
        return error_no_memory();
    finding->id = row->id;
    finding->scope = store_scope_of(row);
    finding->aside = report_is_aside(facts->scope, finding->scope);
    finding->trial = row->trial;
    finding->verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID;
    finding->line = row->line;
    finding->trials = row->trials;
    finding->confirmed = row->confirmed;
    finding->severity = row->severity;
    if (row->severity == SEVERITY_LOSS || may_change_files(finding->verdict))
        finding->caution = campaign_caution(facts->campaign.definition);
    finding->carried_s = row->carried_s;
    finding->proof = row->proof;
    finding->proof_tries = row->proof_tries;
    finding->proof_trial = row->proof_trial;
    finding->proof_lasting = row->proof_lasting;
    TRY(copy(row->library, NULL, &finding->library));
    TRY(put_fingerprint(row->cause, &finding->fingerprint));
    TRY(copy(row->proof_call, NULL, &finding->proof_call));
    TRY(copy(row->proof_error, NULL, &finding->proof_error));
    TRY(copy(row->proof_caller, NULL, &finding->proof_caller));
    TRY(copy(row->proof_result, NULL, &finding->proof_result));
    facts->carried_findings += row->carried != NULL;
    TRY(copy(row->carried, NULL, &finding->carried));
    TRY(copy(row->cause, "", &finding->cause));
    TRY(copy(row->title, verdict_facts[finding->verdict].name, &finding->title));
    TRY(copy(row->site, "", &finding->site));
    TRY(copy(row->file, NULL, &finding->file));
    TRY(copy(row->stack, NULL, &finding->stack));
    _cleanup_(buffer_deinit) struct buffer command = {0};
    TRY(campaign_put_command(facts, row->command, row->trial, &command));
    TRY(explain(facts, finding));
    return copy(command.data, NULL, &finding->command);
}

// The function of the fault is that of the candidate.
static struct error *name_functions(struct campaign_facts *facts)
{
    for (size_t i = 0; i < facts->findings.count; i++) {
        struct campaign_finding *finding = &facts->findings.items[i];
        _cleanup_(campaign_detail_deinit) struct campaign_detail detail = {0};
        if (finding->proof != STORE_PROOF_CAUSED)
            continue;
        TRY(campaign_detail_load(facts->store, finding->trial, &detail));
        if (detail.found)
            TRY(copy(detail.candidate.function, NULL, &finding->proof_function));
    }
    return NULL;
}

// Says of a finding which other failures show it, too.
static struct error *name_part(const struct campaign_part *part, struct campaign_finding *finding)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (finding->also != NULL)
        TRY(buffer_printf(&text, "%s; ", finding->also));
    TRY(buffer_printf(&text, "%s (F%lld)", part->site, (long long)part->id));
    free(finding->also);
    finding->also = TAKE(text.data);
    finding->trials += part->trials;
    return NULL;
}

static struct error *name_parts(struct campaign_facts *facts)
{
    for (size_t i = 0; i < facts->findings.count; i++)
        TRY(map_put(&facts->by_id, (uint64_t)facts->findings.items[i].id, (uint32_t)i));
    for (size_t i = 0; i < facts->parts.count; i++) {
        const struct campaign_part *part = &facts->parts.items[i];
        uint32_t index = map_find(&facts->by_id, (uint64_t)part->part_of);
        if (index == MAP_NONE) // it is hidden, and its parts with it
            continue;
        TRY(name_part(part, &facts->findings.items[index]));
        TRY(map_put(&facts->by_id, (uint64_t)part->id, index));
    }
    return NULL;
}

const struct campaign_finding *campaign_finding_find(const struct campaign_facts *facts, int64_t id)
{
    uint32_t index = map_find(&facts->by_id, (uint64_t)id);
    return index != MAP_NONE ? &facts->findings.items[index] : NULL;
}

static struct error *add_way(void *data, const struct store_count *row)
{
    struct campaign_facts *facts = data;
    uint64_t count = 0;
    for (int i = 0; i < VERDICTS; i++)
        count += row->verdicts[i];
    switch (enum_value(&way_names, row->group)) {
    case STORE_WAY_CHECKED:
        facts->checked += count;
        facts->forked += count;
        break;
    case STORE_WAY_FORKED:
        facts->forked += count;
        break;
    case STORE_WAY_DISPUTED:
        facts->disputed += count;
        break;
    }
    return NULL;
}

static struct error *add_damage(void *data, const struct store_count *row)
{
    struct campaign_facts *facts = data;
    for (int i = 0; row->group != NULL && i < VERDICTS; i++)
        facts->damaged += row->verdicts[i];
    return NULL;
}

static struct error *add_remark(void *data, const struct store_remark *row)
{
    struct campaign_facts *facts = data;
    struct campaign_remark *remark = ARRAY_ADD(&facts->remarks);
    if (remark == NULL)
        return error_no_memory();
    remark->kind = row->kind;
    TRY(copy(row->about, NULL, &remark->about));
    return copy(row->text, "", &remark->text);
}

struct error *campaign_facts_load(struct campaign_facts *facts,
                                  const struct report_subject *subject,
                                  const struct report_options *options)
{
    *facts = (struct campaign_facts){
        .store = subject->store,
        .options = options,
        .confidence = options->confidence != 0 ? options->confidence : STATS_CONFIDENCE,
    };
    TRY(store_find_campaign(facts->store, subject->campaign, &facts->campaign));
    facts->scope = report_scope_of(options->scope, &facts->campaign);
    TRY(load_counts(facts));
    TRY(store_each_candidate(facts->store, facts->campaign.id, 0, 0, add_candidate, facts));
    TRY(campaign_design_find(facts));
    TRY(store_each_remark(facts->store, facts->campaign.id, add_remark, facts));
    TRY(campaign_references_load(facts));
    TRY(store_each_finding(facts->store, facts->campaign.id, add_finding, facts));
    TRY(campaign_put_aside(facts));
    TRY(name_functions(facts));
    TRY(name_parts(facts));
    TRY(campaign_titles_distinguish(facts));
    TRY(store_each_count(facts->store, facts->campaign.id, "way", add_way, facts));
    TRY(store_each_count(facts->store, facts->campaign.id, "damage", add_damage, facts));
    return campaign_limits_find(facts);
}

void campaign_finding_deinit(struct campaign_finding *finding)
{
    free(finding->cause);
    free(finding->title);
    free(finding->site);
    free(finding->file);
    free(finding->stack);
    free(finding->library);
    free(finding->fingerprint);
    free(finding->command);
    free(finding->carried);
    free(finding->proof_call);
    free(finding->proof_error);
    free(finding->proof_caller);
    free(finding->proof_result);
    free(finding->proof_function);
    free(finding->explanation);
    free(finding->also);
}

void campaign_facts_deinit(struct campaign_facts *facts)
{
    store_campaign_deinit(&facts->campaign);
    campaign_references_deinit(&facts->references);
    for (size_t i = 0; i < facts->findings.count; i++)
        campaign_finding_deinit(&facts->findings.items[i]);
    ARRAY_DEINIT(&facts->findings);
    for (size_t i = 0; i < facts->parts.count; i++)
        free(facts->parts.items[i].site);
    ARRAY_DEINIT(&facts->parts);
    map_deinit(&facts->by_id);
    for (size_t i = 0; i < facts->remarks.count; i++) {
        free(facts->remarks.items[i].about);
        free(facts->remarks.items[i].text);
    }
    ARRAY_DEINIT(&facts->remarks);
    for (size_t i = 0; i < facts->limits.count; i++)
        free(facts->limits.items[i]);
    ARRAY_DEINIT(&facts->limits);
}

struct error *campaign_detail_load(struct store *store, int64_t trial,
                                   struct campaign_detail *ret_detail)
{
    *ret_detail = (struct campaign_detail){0};
    if (trial == 0)
        return NULL;
    TRY(store_find_trial(store, trial, &ret_detail->trial, &ret_detail->candidate));
    ret_detail->found = true;
    return NULL;
}

void campaign_detail_deinit(struct campaign_detail *detail)
{
    if (detail->found) {
        store_trial_deinit(&detail->trial);
        store_candidate_deinit(&detail->candidate);
    }
    *detail = (struct campaign_detail){0};
}

// Appends the option that names the store. The default store needs none.
static struct error *put_store(const struct campaign_facts *facts, struct buffer *text)
{
    const char *database = facts->options->database;
    if (database == NULL)
        database = store_path(facts->store);
    if (strcmp(database, STORE_DEFAULT) == 0 || strcmp(database, "./" STORE_DEFAULT) == 0)
        return NULL;
    TRY(buffer_printf(text, " --db "));
    return shell_put_word(text, database);
}

struct error *campaign_put_replay(const struct campaign_facts *facts, int64_t trial,
                                  struct buffer *text)
{
    TRY(buffer_printf(text, "ordeal replay %lld", (long long)trial));
    return put_store(facts, text);
}

struct error *campaign_put_resume(const struct campaign_facts *facts, struct buffer *text)
{
    const char *command = facts->options->resumed;
    // Only `ordeal test` chooses faults by itself.
    if (command == NULL)
        command = facts->campaign.automatic ? "test" : "campaign";
    TRY(buffer_printf(text, "ordeal %s --resume", command));
    return put_store(facts, text);
}

// A stored replay command does not name its store, which may have moved. So the command is made
// anew.
struct error *campaign_put_command(const struct campaign_facts *facts, const char *stored,
                                   int64_t trial, struct buffer *text)
{
    if (stored == NULL || !campaign_can_be_copied(stored) ||
        strncmp(stored, "ordeal replay ", 14) == 0)
        return campaign_put_replay(facts, trial, text);
    return buffer_append(text, stored, strlen(stored));
}

struct error *campaign_put_date(int64_t seconds, struct buffer *text)
{
    struct tm parts;
    time_t time = (time_t)seconds;
    char date[64];
    if (gmtime_r(&time, &parts) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        return buffer_printf(text, "%lld s after 1970", (long long)seconds);
    return buffer_append(text, date, strlen(date));
}

struct error *campaign_put_carried(const struct campaign_finding *finding, struct buffer *text)
{
    TRY(buffer_printf(text, "carried over from %s of ", finding->carried));
    return campaign_put_date(finding->carried_s, text);
}

struct error *campaign_put_number(uint64_t number, struct buffer *text)
{
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    for (int i = 0; i < size; i++) {
        if (i != 0 && (size - i) % 3 == 0)
            TRY(buffer_append(text, ",", 1));
        TRY(buffer_append(text, &digits[i], 1));
    }
    return NULL;
}

const char *campaign_confirmed_name(enum store_confirmed confirmed)
{
    switch (confirmed) {
    case STORE_CONFIRMED:
        return "confirmed";
    case STORE_FLAKY:
        return "not repeated";
    case STORE_NOT_CONFIRMED:
        break;
    }
    return NULL;
}

bool campaign_out_of_time(const struct campaign_facts *facts)
{
    const struct store_campaign *campaign = &facts->campaign;
    return campaign->state == STORE_FINISHED && campaign->stopped_by == STORE_STOP_TIME &&
           campaign_trial_count(&facts->counts) == 0;
}

const char *campaign_state_name(const struct campaign_facts *facts)
{
    if (campaign_out_of_time(facts))
        return "out of time";
    return enum_name(&state_names, facts->campaign.state);
}

struct error *report_sink_flush(struct report_sink *sink, size_t least)
{
    if (sink->write == NULL || sink->text.size == 0 || sink->text.size < least)
        return NULL;
    TRY(sink->write(sink->data, &sink->text));
    sink->text.size = 0;
    sink->text.data[0] = '\0';
    return NULL;
}

void report_sink_deinit(struct report_sink *sink)
{
    buffer_deinit(&sink->text);
}

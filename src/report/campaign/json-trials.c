// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the JSON lines of trials. There may be hundreds of thousands, so each line is written as
// it is read, without a tree in between.
#include "base/cleanup.h"
#include "base/utf8.h"
#include "report/campaign/json.h"
#include "report/campaign/trials.h"

#include <math.h>
#include <string.h>

struct trials {
    struct campaign_candidates candidates;
    const struct campaign_facts *facts;
    struct report_sink *sink;
};
static void trials_deinit(struct trials *trials)
{
    campaign_candidates_deinit(&trials->candidates);
}

static struct error *put_point(struct buffer *text, uint32_t point)
{
    if (point > 0xffff)
        return buffer_printf(text, "\\u%04X\\u%04X", 0xd7c0 + (point >> 10),
                             0xdc00 + (point & 0x3ff));
    return buffer_printf(text, "\\u%04X", point);
}

static bool is_plain(char byte)
{
    return (unsigned char)byte >= 0x20 && (unsigned char)byte < 0x7f && byte != '"' && byte != '\\';
}

static struct error *put_string(struct buffer *text, const char *value)
{
    size_t size = strlen(value);
    TRY(buffer_append(text, "\"", 1));
    for (size_t at = 0; at < size;) {
        size_t plain = 0;
        while (at + plain < size && is_plain(value[at + plain]))
            plain++;
        TRY(buffer_append(text, value + at, plain));
        at += plain;
        if (at == size)
            break;
        uint32_t point = 0xfffd;
        size_t length = utf8_decode(value + at, size - at, &point);
        if (value[at] == '"' || value[at] == '\\')
            TRY(buffer_printf(text, "\\%c", value[at]));
        else
            TRY(put_point(text, length != 0 ? point : 0xfffd));
        at += length != 0 ? length : 1;
    }
    return buffer_append(text, "\"", 1);
}

// Keys are our own and need no escaping. A value of NULL leaves the field out.
static struct error *add_text(struct buffer *text, const char *key, const char *value)
{
    if (value == NULL)
        return NULL;
    TRY(buffer_printf(text, ",\"%s\":", key));
    return put_string(text, value);
}

static struct error *add_count(struct buffer *text, const char *key, uint64_t value)
{
    return buffer_printf(text, ",\"%s\":%llu", key, (unsigned long long)value);
}

static struct error *add_signed(struct buffer *text, const char *key, int64_t value)
{
    return buffer_printf(text, ",\"%s\":%lld", key, (long long)value);
}

static struct error *add_real(struct buffer *text, const char *key, double value)
{
    return buffer_printf(text, ",\"%s\":%.9g", key, isfinite(value) ? value : 0);
}

static struct error *add_line(struct buffer *text, unsigned line)
{
    return line != 0 ? add_count(text, "line", line) : NULL;
}

static struct error *add_injection(void *data, const struct store_injection *row)
{
    struct buffer *text = data;
    bool first = text->data[text->size - 1] == '[';
    TRY(buffer_printf(text, "%s{\"occurrence\":%llu", first ? "" : ",",
                      (unsigned long long)row->occurrence));
    TRY(add_text(text, "fault", row->fault));
    TRY(add_text(text, "function", row->function));
    TRY(add_text(text, "module", row->module));
    TRY(buffer_printf(text, ",\"offset\":\"0x%llx\"", (unsigned long long)row->offset));
    TRY(add_text(text, "symbol", row->symbol));
    TRY(add_text(text, "file", row->file));
    TRY(add_line(text, row->line));
    TRY(add_count(text, "process", row->process));
    TRY(add_count(text, "thread", row->thread));
    TRY(add_text(text, "program", row->program));
    TRY(add_real(text, "seconds", row->seconds));
    TRY(add_text(text, "stack", row->stack));
    return buffer_append(text, "}", 1);
}

static struct error *add_candidate(struct buffer *text, const struct campaign_candidate *candidate)
{
    if (candidate == NULL)
        return NULL;
    TRY(add_count(text, "candidate", candidate->number));
    TRY(add_text(text, "type", candidate->type));
    TRY(add_text(text, "function", candidate->function));
    TRY(add_text(text, "module", candidate->module));
    TRY(add_text(text, "file", candidate->file));
    TRY(add_line(text, candidate->line));
    return add_text(text, "component", candidate->component);
}

// Writes everything but the end of the object.
static struct error *put_fields(struct store *store, const struct store_trial *row,
                                const struct campaign_candidate *candidate, struct buffer *text)
{
    enum verdict verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID;
    TRY(buffer_printf(text, "{\"kind\":\"trial\",\"id\":%lld,\"number\":%llu,\"verdict\":\"%s\"",
                      (long long)row->id, (unsigned long long)row->number,
                      verdict_facts[verdict].name));
    TRY(add_text(text, "reason", row->reason));
    TRY(add_candidate(text, candidate));
    TRY(add_text(text, "spec", row->spec));
    // As a string: the seed may be too large for a number in other languages.
    TRY(buffer_printf(text, ",\"seed\":\"%llu\"", (unsigned long long)row->seed));
    TRY(add_text(text, "outcome", enum_name(&outcome_names, row->outcome)));
    TRY(add_signed(text, "status", row->status));
    TRY(add_real(text, "seconds", row->seconds));
    TRY(add_real(text, "started", row->started_s));
    TRY(add_count(text, "activations", row->activations));
    TRY(add_text(text, "crash", row->crash));
    TRY(add_text(text, "stack", row->stack));
    TRY(add_text(text, "output", row->output));
    TRY(add_text(text, "way", enum_name(&way_names, row->way)));
    TRY(add_text(text, "damage", enum_name(&damage_names, row->damage)));
    if (row->finding != 0)
        TRY(add_signed(text, "finding", row->finding));
    if (row->carried)
        TRY(buffer_printf(text, ",\"carried\":true"));
    if (row->activations != 0) {
        TRY(buffer_printf(text, ",\"injections\":["));
        TRY(store_each_injection(store, row->id, add_injection, text));
        TRY(buffer_append(text, "]", 1));
    }
    return NULL;
}

static struct error *put_trial(void *data, const struct store_trial *row)
{
    struct trials *trials = data;
    struct buffer *text = &trials->sink->text;
    TRY(put_fields(trials->facts->store, row,
                   campaign_candidate_find(&trials->candidates, row->candidate), text));
    TRY(buffer_append(text, "}\n", 2));
    return report_sink_flush(trials->sink, CAMPAIGN_JSON_CHUNK);
}

struct error *report_trial_json(struct store *store, int64_t trial,
                                const struct report_options *options, struct buffer *ret_text)
{
    const struct campaign_facts facts = {.store = store, .options = options};
    _cleanup_(campaign_detail_deinit) struct campaign_detail detail = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0}, command = {0};
    TRY(campaign_detail_load(store, trial, &detail));
    const struct store_candidate *row = &detail.candidate;
    const struct campaign_candidate candidate = {.number = row->number,
                                                 .type = row->type,
                                                 .function = row->function,
                                                 .module = row->module,
                                                 .file = row->file,
                                                 .component = row->component,
                                                 .line = row->line};
    TRY(put_fields(store, &detail.trial, &candidate, &text));
    TRY(add_signed(&text, "campaign", detail.trial.campaign));
    TRY(campaign_put_replay(&facts, trial, &command));
    TRY(add_text(&text, "command", command.data));
    TRY(add_text(&text, "run_command", options->run_command));
    TRY(buffer_append(&text, "}\n", 2));
    *ret_text = text;
    text = (struct buffer){0};
    return NULL;
}

struct error *campaign_json_trials(const struct campaign_facts *facts, struct report_sink *sink)
{
    _cleanup_(trials_deinit) struct trials trials = {.facts = facts, .sink = sink};
    TRY(campaign_candidates_load(facts->store, facts->campaign.id, &trials.candidates));
    return store_each_trial(facts->store, facts->campaign.id, false, put_trial, &trials);
}

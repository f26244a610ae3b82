// SPDX-License-Identifier: GPL-3.0-or-later
// All trials of a campaign as one CSV table (RFC 4180) that is safe to open in a spreadsheet, and
// those of earlier ones whose findings were carried over.
#include "base/cleanup.h"
#include "report/campaign/trials.h"
#include "report/escape.h"

#include <stdio.h>

#define WORTH 65536

struct csv_table {
    struct campaign_facts facts;
    struct campaign_candidates candidates;
    struct report_sink *sink;
};

static struct error *put_text(struct buffer *text, const char *field)
{
    TRY(buffer_append(text, ",", 1));
    return field != NULL ? escape_csv(text, field) : NULL;
}

static struct error *put_number(struct buffer *text, uint64_t number)
{
    return buffer_printf(text, ",%llu", (unsigned long long)number);
}

static struct error *put_candidate(struct buffer *text, const struct campaign_candidate *candidate)
{
    static const struct campaign_candidate unknown;
    if (candidate == NULL)
        candidate = &unknown;
    TRY(put_number(text, candidate->number));
    TRY(put_text(text, candidate->type));
    TRY(put_text(text, candidate->function));
    TRY(put_text(text, candidate->module));
    TRY(put_text(text, candidate->file));
    TRY(candidate->line != 0 ? put_number(text, candidate->line) : put_text(text, NULL));
    return put_text(text, candidate->component);
}

static struct error *put_trial(void *data, const struct store_trial *row)
{
    struct csv_table *table = data;
    struct buffer *text = &table->sink->text;
    enum verdict verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID;
    TRY(buffer_printf(text, "%lld,%llu,%s,%d", (long long)row->id, (unsigned long long)row->number,
                      verdict_facts[verdict].name, verdict_facts[verdict].counts && !row->carried));
    TRY(put_text(text, row->reason));
    TRY(put_candidate(text, campaign_candidate_find(&table->candidates, row->candidate)));
    TRY(put_text(text, row->spec));
    TRY(put_number(text, row->seed));
    TRY(put_text(text, enum_name(&outcome_names, row->outcome)));
    TRY(buffer_printf(text, ",%d,%.6f,%.6f", row->status, row->seconds, row->started_s));
    TRY(put_number(text, row->activations));
    TRY(put_text(text, row->crash));
    TRY(row->finding != 0 ? buffer_printf(text, ",%lld", (long long)row->finding)
                          : put_text(text, NULL));
    TRY(put_text(text, row->stack));
    TRY(buffer_printf(text, ",%d\r\n", row->carried));
    return report_sink_flush(table->sink, WORTH);
}

static struct error *put_carried(void *data, const struct store_trial *row)
{
    return row->carried ? put_trial(data, row) : NULL;
}

static struct error *put_table(struct csv_table *table, const struct report_subject *subject,
                               const struct report_options *options)
{
    TRY(campaign_facts_load(&table->facts, subject, options));
    TRY(campaign_candidates_load(table->facts.store, table->facts.campaign.id, &table->candidates));
    TRY(buffer_printf(&table->sink->text,
                      "trial,number,verdict,counted,reason,candidate,type,function,module,file,"
                      "line,component,spec,seed,outcome,status,seconds,started,activations,crash,"
                      "finding,stack,carried\r\n"));
    TRY(store_each_trial(table->facts.store, table->facts.campaign.id, false, put_trial, table));
    if (campaign_failures(&table->facts.carried) != 0)
        TRY(store_each_trial(table->facts.store, table->facts.campaign.id, true, put_carried,
                             table));
    return report_sink_flush(table->sink, 1);
}

static struct error *write_csv(const struct report_subject *subject,
                               const struct report_options *options, struct report_sink *sink)
{
    struct csv_table table = {.sink = sink};
    struct error *error = put_table(&table, subject, options);
    campaign_candidates_deinit(&table.candidates);
    campaign_facts_deinit(&table.facts);
    return error;
}

const struct report_format report_csv = {.name = "csv", .write = write_csv};

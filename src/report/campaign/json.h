// SPDX-License-Identifier: GPL-3.0-or-later
// The building blocks of the JSON lines of a campaign and of a comparison. A lack of memory is
// recorded in the builder; campaign_json_end() returns it.
#ifndef ORDEAL_REPORT_CAMPAIGN_JSON_H
#define ORDEAL_REPORT_CAMPAIGN_JSON_H

#include "report/campaign/facts.h"
#include "report/json.h"

// Write the gathered text when there are this many bytes.
#define CAMPAIGN_JSON_CHUNK 65536

// Starts a line {"kind": KIND} and resets the builder. The caller releases the object.
json_t *campaign_json_start(struct json_builder *builder, const char *kind);
_must_check_ struct error *campaign_json_end(struct json_builder *builder, json_t *line,
                                             struct report_sink *sink);

void campaign_json_share(struct json_builder *builder, json_t *parent,
                         const struct campaign_share *share);
void campaign_json_test(struct json_builder *builder, json_t *parent,
                        const struct stats_test *test);
// Adds what is known about whether its fault can happen.
void campaign_json_proof(struct json_builder *builder, json_t *parent,
                         const struct campaign_finding *finding);
void campaign_json_finding(struct json_builder *builder, json_t *line,
                           const struct campaign_finding *finding);
// Adds where a finding was carried over from.
void campaign_json_carried(struct json_builder *builder, json_t *parent,
                           const struct campaign_finding *finding);
// Writes one line for each trial.
_must_check_ struct error *campaign_json_trials(const struct campaign_facts *facts,
                                                struct report_sink *sink);

#endif

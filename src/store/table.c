// SPDX-License-Identifier: GPL-3.0-or-later
// The column tables: which member of which struct is stored in which column.
#include "store/internal.h"
#include "store/severity.h"

#include <stddef.h>

#define COLUMN(type, member, kind)                                                                 \
    {                                                                                              \
#member, kind, offsetof(struct type, member), NULL                                         \
    }
#define ENUM(type, member, names)                                                                  \
    {                                                                                              \
#member, KIND_ENUM, offsetof(struct type, member), &names                                  \
    }
#define TABLE(what)                                                                                \
    const struct table table_##what = {#what, what##_columns,                                      \
                                       sizeof what##_columns / sizeof *what##_columns}

static const struct column campaign_columns[] = {
    COLUMN(store_campaign, id, KIND_ID),
    COLUMN(store_campaign, name, KIND_TEXT),
    COLUMN(store_campaign, injector, KIND_TEXT),
    COLUMN(store_campaign, definition, KIND_TEXT),
    COLUMN(store_campaign, command, KIND_TEXT),
    COLUMN(store_campaign, directory, KIND_TEXT),
    COLUMN(store_campaign, version, KIND_TEXT),
    COLUMN(store_campaign, machine, KIND_TEXT),
    COLUMN(store_campaign, program, KIND_OPTIONAL_TEXT),
    COLUMN(store_campaign, seed, KIND_COUNT),
    COLUMN(store_campaign, created_s, KIND_INTEGER),
    COLUMN(store_campaign, elapsed_s, KIND_REAL),
    COLUMN(store_campaign, candidates, KIND_COUNT),
    COLUMN(store_campaign, planned, KIND_OPTIONAL_COUNT),
    ENUM(store_campaign, state, state_names),
    ENUM(store_campaign, stopped_by, stop_names),
    COLUMN(store_campaign, automatic, KIND_FLAG),
    ENUM(store_campaign, selection, selection_names),
    COLUMN(store_campaign, per, KIND_OPTIONAL_TEXT),
    COLUMN(store_campaign, weighted, KIND_FLAG),
    COLUMN(store_campaign, listed, KIND_FLAG),
    COLUMN(store_campaign, changes_only, KIND_FLAG),
    COLUMN(store_campaign, long_lived, KIND_FLAG),
    COLUMN(store_campaign, filtered, KIND_FLAG),
    COLUMN(store_campaign, environment_key, KIND_OPTIONAL_TEXT),
    COLUMN(store_campaign, settings, KIND_OPTIONAL_TEXT),
};
TABLE(campaign);

static const struct column reference_columns[] = {
    COLUMN(store_reference, id, KIND_ID),         COLUMN(store_reference, campaign, KIND_INTEGER),
    COLUMN(store_reference, number, KIND_NUMBER), ENUM(store_reference, outcome, outcome_names),
    COLUMN(store_reference, status, KIND_INT),    COLUMN(store_reference, seconds, KIND_REAL),
};
TABLE(reference);

static const struct column artifact_columns[] = {
    COLUMN(store_artifact_row, reference, KIND_INTEGER),
    {"path", KIND_TEXT, offsetof(struct store_artifact_row, artifact.path), NULL},
    {"kind", KIND_ENUM, offsetof(struct store_artifact_row, artifact.kind), &artifact_names},
    {"mode", KIND_MODE, offsetof(struct store_artifact_row, artifact.mode), NULL},
    {"size", KIND_COUNT, offsetof(struct store_artifact_row, artifact.size), NULL},
    {"hash", KIND_COUNT, offsetof(struct store_artifact_row, artifact.hash), NULL},
    {"content", KIND_BYTES, offsetof(struct store_artifact_row, artifact.content), NULL},
    {"format", KIND_OPTIONAL_TEXT, offsetof(struct store_artifact_row, artifact.format), NULL},
    {"decoded", KIND_FLAG, offsetof(struct store_artifact_row, artifact.decoded), NULL},
    {"inside", KIND_COUNT, offsetof(struct store_artifact_row, artifact.inside), NULL},
};
TABLE(artifact);
_Static_assert(offsetof(struct store_artifact, content_size) ==
                   offsetof(struct store_artifact, content) + sizeof(void *),
               "KIND_BYTES");

static const struct column candidate_columns[] = {
    COLUMN(store_candidate, id, KIND_ID),
    COLUMN(store_candidate, campaign, KIND_INTEGER),
    COLUMN(store_candidate, number, KIND_COUNT),
    COLUMN(store_candidate, spec, KIND_TEXT),
    COLUMN(store_candidate, type, KIND_TEXT),
    COLUMN(store_candidate, function, KIND_OPTIONAL_TEXT),
    COLUMN(store_candidate, module, KIND_OPTIONAL_TEXT),
    COLUMN(store_candidate, file, KIND_OPTIONAL_TEXT),
    COLUMN(store_candidate, line, KIND_OPTIONAL_NUMBER),
    COLUMN(store_candidate, component, KIND_OPTIONAL_TEXT),
    COLUMN(store_candidate, series, KIND_OPTIONAL_TEXT),
    COLUMN(store_candidate, position, KIND_COUNT),
    COLUMN(store_candidate, weight, KIND_REAL),
    COLUMN(store_candidate, selected, KIND_FLAG),
    COLUMN(store_candidate, content, KIND_OPTIONAL_COUNT),
    COLUMN(store_candidate, carried, KIND_OPTIONAL_TEXT),
    ENUM(store_candidate, basis, basis_names),
};
TABLE(candidate);

static const struct column trial_columns[] = {
    COLUMN(store_trial, id, KIND_ID),
    COLUMN(store_trial, campaign, KIND_INTEGER),
    COLUMN(store_trial, candidate, KIND_INTEGER),
    COLUMN(store_trial, number, KIND_COUNT),
    COLUMN(store_trial, seed, KIND_COUNT),
    COLUMN(store_trial, spec, KIND_TEXT),
    COLUMN(store_trial, verdict, KIND_VERDICT),
    COLUMN(store_trial, reason, KIND_TEXT),
    ENUM(store_trial, outcome, outcome_names),
    COLUMN(store_trial, status, KIND_INT),
    COLUMN(store_trial, seconds, KIND_REAL),
    COLUMN(store_trial, started_s, KIND_REAL),
    COLUMN(store_trial, activations, KIND_COUNT),
    COLUMN(store_trial, plan_hash, KIND_OPTIONAL_COUNT),
    COLUMN(store_trial, crash, KIND_OPTIONAL_TEXT),
    COLUMN(store_trial, stack, KIND_STACK),
    COLUMN(store_trial, output, KIND_OPTIONAL_TEXT),
    COLUMN(store_trial, finding, KIND_KEY),
    COLUMN(store_trial, confirmation, KIND_FLAG),
    ENUM(store_trial, way, way_names),
    COLUMN(store_trial, round, KIND_OPTIONAL_NUMBER),
    ENUM(store_trial, damage, damage_names),
    COLUMN(store_trial, carried, KIND_FLAG),
    COLUMN(store_trial, proving, KIND_FLAG),
};
TABLE(trial);

static const struct column injection_columns[] = {
    COLUMN(store_injection, id, KIND_ID),
    COLUMN(store_injection, trial, KIND_INTEGER),
    COLUMN(store_injection, fault, KIND_TEXT),
    COLUMN(store_injection, function, KIND_TEXT),
    COLUMN(store_injection, module, KIND_OPTIONAL_TEXT),
    COLUMN(store_injection, file, KIND_OPTIONAL_TEXT),
    COLUMN(store_injection, line, KIND_OPTIONAL_NUMBER),
    COLUMN(store_injection, symbol, KIND_OPTIONAL_TEXT),
    COLUMN(store_injection, offset, KIND_COUNT),
    COLUMN(store_injection, occurrence, KIND_COUNT),
    COLUMN(store_injection, process, KIND_NUMBER),
    COLUMN(store_injection, thread, KIND_NUMBER),
    COLUMN(store_injection, program, KIND_OPTIONAL_TEXT),
    COLUMN(store_injection, seconds, KIND_REAL),
    COLUMN(store_injection, stack, KIND_STACK),
};
TABLE(injection);

static const struct column finding_columns[] = {
    COLUMN(store_finding, id, KIND_ID),
    COLUMN(store_finding, campaign, KIND_INTEGER),
    COLUMN(store_finding, verdict, KIND_VERDICT),
    COLUMN(store_finding, cause, KIND_TEXT),
    COLUMN(store_finding, title, KIND_TEXT),
    COLUMN(store_finding, site, KIND_TEXT),
    COLUMN(store_finding, file, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, line, KIND_OPTIONAL_NUMBER),
    COLUMN(store_finding, stack, KIND_STACK),
    COLUMN(store_finding, trial, KIND_KEY),
    COLUMN(store_finding, trials, KIND_COUNT),
    COLUMN(store_finding, command, KIND_TEXT),
    COLUMN(store_finding, confirmed, KIND_CONFIRMED),
    COLUMN(store_finding, suppressed, KIND_OPTIONAL_TEXT),
    ENUM(store_finding, severity, severity_names),
    COLUMN(store_finding, carried, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, carried_s, KIND_KEY),
    ENUM(store_finding, proof, proof_names),
    COLUMN(store_finding, proof_tries, KIND_NUMBER),
    COLUMN(store_finding, proof_trial, KIND_KEY),
    COLUMN(store_finding, proof_call, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, proof_error, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, proof_caller, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, proof_result, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, proof_lasting, KIND_FLAG),
    COLUMN(store_finding, library, KIND_OPTIONAL_TEXT),
    COLUMN(store_finding, part_of, KIND_KEY),
    ENUM(store_finding, scope, scope_names),
};
TABLE(finding);

static const struct column consequence_columns[] = {
    COLUMN(store_consequence, id, KIND_ID),
    COLUMN(store_consequence, finding, KIND_INTEGER),
    ENUM(store_consequence, kind, consequence_names),
    COLUMN(store_consequence, probable, KIND_FLAG),
    COLUMN(store_consequence, function, KIND_OPTIONAL_TEXT),
    COLUMN(store_consequence, name, KIND_OPTIONAL_TEXT),
    COLUMN(store_consequence, argument, KIND_OPTIONAL_NUMBER),
    COLUMN(store_consequence, number, KIND_INTEGER),
    COLUMN(store_consequence, module, KIND_OPTIONAL_TEXT),
    COLUMN(store_consequence, offset, KIND_COUNT),
    COLUMN(store_consequence, symbol, KIND_OPTIONAL_TEXT),
    COLUMN(store_consequence, start, KIND_COUNT),
    COLUMN(store_consequence, file, KIND_OPTIONAL_TEXT),
    COLUMN(store_consequence, line, KIND_OPTIONAL_NUMBER),
};
TABLE(consequence);

static const struct column invocation_columns[] = {
    COLUMN(store_invocation, id, KIND_ID),
    COLUMN(store_invocation, trial, KIND_INTEGER),
    COLUMN(store_invocation, number, KIND_NUMBER),
    COLUMN(store_invocation, differing, KIND_COUNT),
    COLUMN(store_invocation, same_status, KIND_FLAG),
    COLUMN(store_invocation, same_time, KIND_FLAG),
    COLUMN(store_invocation, call, KIND_OPTIONAL_TEXT),
    COLUMN(store_invocation, about, KIND_OPTIONAL_TEXT),
    COLUMN(store_invocation, trace, KIND_BYTES),
    COLUMN(store_invocation, calls, KIND_OPTIONAL_TEXT),
    COLUMN(store_invocation, seconds, KIND_REAL),
};
TABLE(invocation);
_Static_assert(offsetof(struct store_invocation, trace_size) ==
                   offsetof(struct store_invocation, trace) + sizeof(void *),
               "KIND_BYTES");

static const struct column upsets_columns[] = {
    COLUMN(store_upsets, id, KIND_ID),         COLUMN(store_upsets, campaign, KIND_INTEGER),
    COLUMN(store_upsets, points, KIND_COUNT),  COLUMN(store_upsets, instructions, KIND_COUNT),
    COLUMN(store_upsets, bits, KIND_COUNT),    COLUMN(store_upsets, unread, KIND_COUNT),
    COLUMN(store_upsets, classes, KIND_COUNT), COLUMN(store_upsets, all_classes, KIND_COUNT),
    COLUMN(store_upsets, read, KIND_REAL),
};
TABLE(upsets);

static const struct column propagation_columns[] = {
    COLUMN(store_propagation, id, KIND_ID),
    COLUMN(store_propagation, trial, KIND_INTEGER),
    ENUM(store_propagation, outcome, interface_names),
    COLUMN(store_propagation, call, KIND_COUNT),
    COLUMN(store_propagation, function, KIND_OPTIONAL_TEXT),
    COLUMN(store_propagation, corrupted, KIND_COUNT),
    COLUMN(store_propagation, wrong, KIND_COUNT),
    COLUMN(store_propagation, omitted, KIND_COUNT),
    COLUMN(store_propagation, spurious, KIND_COUNT),
    ENUM(store_propagation, result, result_names),
    COLUMN(store_propagation, profile, KIND_OPTIONAL_TEXT),
};
TABLE(propagation);

static const struct column latency_columns[] = {
    COLUMN(store_latency, id, KIND_ID),
    COLUMN(store_latency, trial, KIND_INTEGER),
    COLUMN(store_latency, seconds, KIND_REAL),
};
TABLE(latency);

static const struct column recovery_columns[] = {
    COLUMN(store_recovery, id, KIND_ID),
    COLUMN(store_recovery, campaign, KIND_INTEGER),
    COLUMN(store_recovery, module, KIND_TEXT),
    COLUMN(store_recovery, address, KIND_COUNT),
    COLUMN(store_recovery, code, KIND_NUMBER),
    COLUMN(store_recovery, function, KIND_OPTIONAL_TEXT),
    COLUMN(store_recovery, file, KIND_OPTIONAL_TEXT),
    COLUMN(store_recovery, line, KIND_OPTIONAL_NUMBER),
    COLUMN(store_recovery, reached, KIND_NUMBER),
};
TABLE(recovery);

static const struct column line_coverage_columns[] = {
    COLUMN(store_lines, id, KIND_ID),        COLUMN(store_lines, campaign, KIND_INTEGER),
    COLUMN(store_lines, file, KIND_TEXT),    COLUMN(store_lines, lines, KIND_COUNT),
    COLUMN(store_lines, before, KIND_COUNT), COLUMN(store_lines, after, KIND_COUNT),
};
TABLE(line_coverage);

static const struct column variable_columns[] = {
    COLUMN(store_variable, campaign, KIND_INTEGER),
    COLUMN(store_variable, name, KIND_TEXT),
    COLUMN(store_variable, value, KIND_OPTIONAL_TEXT),
    COLUMN(store_variable, hash, KIND_OPTIONAL_TEXT),
};
TABLE(variable);

static const struct column remark_columns[] = {
    COLUMN(store_remark, id, KIND_ID),      COLUMN(store_remark, campaign, KIND_INTEGER),
    ENUM(store_remark, kind, remark_names), COLUMN(store_remark, about, KIND_OPTIONAL_TEXT),
    COLUMN(store_remark, text, KIND_TEXT),
};
TABLE(remark);

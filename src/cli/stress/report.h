// SPDX-License-Identifier: GPL-3.0-or-later
// What ordeal stress prints: each pair of runs, and all of them together.
#ifndef ORDEAL_CLI_STRESS_REPORT_H
#define ORDEAL_CLI_STRESS_REPORT_H

#include "cli/stress/calibration.h"
#include "report/json.h"

struct stress_totals {
    uint64_t runs, failed; // failed ones count in nothing else
    uint64_t faults, errors;
    uint64_t errors_without; // errors in runs with null faults, which nothing explains
    struct stats_moments ratio, degradation; // of runs with a fault
};
// Errors per fault; the degradation is (time with faults / time without - 1) / faults.
_must_check_ struct error *stress_totals_add(struct stress_totals *totals,
                                             const struct stress_result *faulty,
                                             const struct stress_result *plain);

_must_check_ struct error *stress_report_head(const struct stress_options *stress,
                                              const struct calibration *calibration,
                                              struct buffer *text);
_must_check_ struct error *stress_report_run_text(uint64_t number,
                                                  const struct stress_result *faulty,
                                                  const struct stress_result *plain, bool list,
                                                  struct buffer *text);
_must_check_ struct error *stress_report_run_json(const struct stress_options *stress,
                                                  const struct stress_result *faulty,
                                                  const struct stress_result *plain,
                                                  struct buffer *text);
_must_check_ struct error *stress_report_totals_text(const struct stress_totals *totals,
                                                     struct buffer *text);
_must_check_ struct error *stress_report_totals_json(const struct stress_options *stress,
                                                     const struct stress_totals *totals,
                                                     struct buffer *text);

// Parts, which reports of commands have as well. `copies`: the load's processes have some.
uint64_t stress_report_faults(const struct stress_result *result); // that were not missed
_must_check_ struct error *stress_report_scale(const struct calibration *calibration,
                                               struct buffer *text);
_must_check_ struct error *stress_report_injections(const struct stress_result *result, bool copies,
                                                    struct buffer *text);
_must_check_ struct error *stress_report_mean(const struct stats_moments *moments,
                                              struct buffer *text);
void stress_report_add_injections(struct json_builder *builder, json_t *root,
                                  const struct stress_result *result, bool copies);
void stress_report_add_mean(struct json_builder *builder, json_t *root, const char *key,
                            const struct stats_moments *moments);

#endif

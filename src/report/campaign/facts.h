// SPDX-License-Identifier: GPL-3.0-or-later
// What can be said about a campaign: one model for all formats. Every proportion has its n and its
// interval; trials that tested nothing are in no denominator.
#ifndef ORDEAL_REPORT_CAMPAIGN_FACTS_H
#define ORDEAL_REPORT_CAMPAIGN_FACTS_H

#include "base/array.h"
#include "base/error.h"
#include "report/campaign/campaign.h"
#include "stats/stats.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign_share {
    uint64_t hits, n; // trials
    double part;      // the share; not always hits / n, see campaign_design
    bool unknown;     // it cannot be told, nor its interval
    struct stats_interval interval;
};
struct campaign_share campaign_share(uint64_t hits, uint64_t n, double confidence);
double campaign_percent(const struct campaign_share *share); // 0 when n is 0
bool campaign_has_share(const struct campaign_share *share); // there were trials, and it is known

struct campaign_counts {
    uint64_t verdicts[VERDICTS];
};
uint64_t campaign_counted(const struct campaign_counts *counts);  // tests of the target
uint64_t campaign_failures(const struct campaign_counts *counts); // findings among them
uint64_t campaign_all(const struct campaign_counts *counts);

struct campaign_group {
    char *name;
    bool unnamed; // trials of which it is not known
    struct campaign_counts counts;
    struct campaign_share failures;
    struct stats_test test; // against the rest
};
struct campaign_grouping {
    const char *by;
    ARRAY(struct campaign_group) groups; // most failures first
    struct stats_test test;              // of all groups at once
};

struct campaign_finding {
    int64_t id, trial;
    enum verdict verdict;
    char *cause, *title, *site, *file, *stack, *command; // only file and stack may be NULL
    unsigned line;
    uint64_t trials;
    enum store_confirmed confirmed;
    enum severity severity;
};
// "confirmed", "not repeated" when a second run of its trial went otherwise; NULL: there was none.
const char *campaign_confirmed_name(enum store_confirmed confirmed);
// What is known about the trial that shows a finding (0: nothing).
struct campaign_detail {
    struct store_trial trial;
    struct store_candidate candidate;
    bool found; // else the rest is empty
};
_must_check_ struct error *campaign_detail_load(struct store *store, int64_t trial,
                                                struct campaign_detail *ret_detail);
void campaign_detail_deinit(struct campaign_detail *detail);

// As in store_remark.
struct campaign_remark {
    enum remark_kind kind;
    char *about; // or NULL
    char *text;
};

struct campaign_references {
    uint64_t count;
    struct stats_moments seconds;
    char *ending;            // "exit status 0", of the first
    bool endings_differ;     // between runs
    uint64_t outputs;        // that the runs left, streams and files
    uint64_t outputs_differ; // between runs after filters: not used to condemn a trial
    ARRAY(char *) differing; // the first of them
};
void campaign_references_deinit(struct campaign_references *references);

// Whether all candidates were as likely to be chosen. If not, the plain share of the trials says
// little about the candidates; docs/ordeal-report.1 has the estimate that is used instead.
enum campaign_design_kind {
    CAMPAIGN_PLAIN,     // they were
    CAMPAIGN_ESTIMATED, // trials stand for as many candidates as they were chosen from
    CAMPAIGN_UNKNOWN,   // the weights are not known
};
struct campaign_design {
    enum campaign_design_kind kind;
    char per[24];     // what a number was chosen from each of, or ""
    bool weighted;    // by weights
    uint64_t outside; // candidates that could not be chosen, or of groups without a trial
    double effective; // as many equal trials would have estimated the share as well
};

struct campaign_facts {
    struct store *store;
    const struct report_options *options;
    double confidence;
    struct store_campaign campaign;
    struct campaign_counts counts;
    uint64_t n; // counted trials
    struct campaign_share shares[VERDICTS], failures;
    uint64_t selected; // candidates chosen to be run
    struct campaign_design design;
    ARRAY(struct campaign_remark) remarks;
    struct campaign_references references;
    ARRAY(struct campaign_finding) findings; // most severe first; those that are not suppressed
    uint64_t suppressed, suppressed_trials;  // findings that are, and trials that show them
    uint64_t forked, checked, disputed;      // trials, as of store_trial; forked: all of them
    ARRAY(char *) limits;                    // sentences: what limits the claims
};
_must_check_ struct error *campaign_facts_load(struct campaign_facts *facts,
                                               const struct report_subject *subject,
                                               const struct report_options *options);
void campaign_facts_deinit(struct campaign_facts *facts);

// One of report_groupings.
_must_check_ struct error *campaign_grouping_load(const struct campaign_facts *facts,
                                                  const char *by,
                                                  struct campaign_grouping *ret_grouping);
// For groups that were counted otherwise: sorts them, and makes intervals and tests.
_must_check_ struct error *campaign_grouping_judge(const struct campaign_facts *facts,
                                                   struct campaign_grouping *grouping);
void campaign_grouping_deinit(struct campaign_grouping *grouping);

// Fills facts->references, of which facts->remarks say what varies.
_must_check_ struct error *campaign_references_load(struct campaign_facts *facts);
// Where titles of findings are the same, adds what tells them apart.
_must_check_ struct error *campaign_titles_tell_apart(struct campaign_facts *facts);
// Fills facts->design, and the shares where they are not the plain ones.
_must_check_ struct error *campaign_design_find(struct campaign_facts *facts);
// Fills facts->limits from the rest.
_must_check_ struct error *campaign_limits_find(struct campaign_facts *facts);

// The definition without the environment, which may hold secrets.
_must_check_ struct error *campaign_put_definition(const char *definition, struct buffer *text);

// Commands as they are printed everywhere: they name the store unless it is ./ordeal.db. The one
// that reproduces a trial, from what the store has for it; the one that runs the trial again; the
// one that goes on with the campaign.
_must_check_ struct error *campaign_put_command(const struct campaign_facts *facts,
                                                const char *stored, int64_t trial,
                                                struct buffer *text);
_must_check_ struct error *campaign_put_replay(const struct campaign_facts *facts, int64_t trial,
                                               struct buffer *text);
_must_check_ struct error *campaign_put_resume(const struct campaign_facts *facts,
                                               struct buffer *text);
// "2026-11-15 20:14 UTC"
_must_check_ struct error *campaign_put_date(int64_t seconds, struct buffer *text);
// 1234567 as "1,234,567"
_must_check_ struct error *campaign_put_number(uint64_t number, struct buffer *text);
// The end of one that is finished may have come before the first trial: "out of time".
bool campaign_out_of_time(const struct campaign_facts *facts);
const char *campaign_state_name(const struct campaign_facts *facts);

// Two campaigns side by side, for the formats that can.
_must_check_ struct error *campaign_compare_text(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);
_must_check_ struct error *campaign_compare_json(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);

// Writes out what has gathered if it is worth it.
_must_check_ struct error *report_sink_rest(struct report_sink *sink, size_t worth);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What a report can say about a campaign: one model for all formats. Every proportion comes with
// its n and its interval. Trials that tested nothing are in no denominator.
#ifndef ORDEAL_REPORT_CAMPAIGN_FACTS_H
#define ORDEAL_REPORT_CAMPAIGN_FACTS_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "report/campaign/campaign.h"
#include "stats/stats.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign_share {
    uint64_t hits, n; // trials
    double part;      // the share; not always hits / n, see struct campaign_design
    bool unknown;     // neither the share nor its interval can be estimated
    struct stats_interval interval;
};
struct campaign_share campaign_share(uint64_t hits, uint64_t n, double confidence);
double campaign_percent(const struct campaign_share *share); // 0 if n is 0
// There were trials, and the share is known
bool campaign_has_share(const struct campaign_share *share);

struct campaign_counts {
    uint64_t verdicts[VERDICTS];
};
uint64_t campaign_counted(const struct campaign_counts *counts);  // trials that tested the target
uint64_t campaign_failures(const struct campaign_counts *counts); // trials among them that failed
uint64_t campaign_trial_count(const struct campaign_counts *counts);

struct campaign_group {
    char *name;
    bool unnamed; // for these trials the grouping value is not known
    struct campaign_counts counts;
    struct campaign_share failures;
    struct stats_test test; // this group against all others
};
struct campaign_grouping {
    const char *by;
    ARRAY(struct campaign_group) groups; // sorted, most failures first
    struct stats_test test;              // over all groups at once
};

struct campaign_finding {
    int64_t id, trial;
    enum verdict verdict;
    const char *caution; // a sentence, if its command acts on real files and may destroy them
    char *cause, *title, *site, *file, *stack, *command; // file and stack may be NULL
    unsigned line;
    uint64_t trials;
    enum store_confirmed confirmed;
    enum severity severity;
    char *carried; // file name of the store that it was carried over from; NULL: it was found now
    int64_t carried_s; // when the campaign that found it began
    enum store_proof proof;
    unsigned proof_tries;
    int64_t proof_trial;
    // As in store_finding, and the function of the fault; each may be NULL
    char *proof_call, *proof_error, *proof_caller, *proof_result, *proof_function;
    bool proof_lasting;
    char *library; // as in store_finding
    enum store_scope scope;
    bool aside;        // it does not count: it is not in the user's own code
    char *fingerprint; // its name in all builds, programs and campaigns
    char *explanation; // sentences: why it breaks; NULL: nothing is known
    char *also;        // other failures that show it: "malloc called in f (F4)"; NULL: none
};
// A finding that another one stands for.
struct campaign_part {
    int64_t id, part_of;
    uint64_t trials;
    char *site;
};
#define LONGEST_EXPLANATION 1000 // bytes of it that a report shows

// Appends "caused: malloc fails with ENOMEM in thing_new, which returns NULL", or what else is
// known about it; nothing of findings that need no proof.
_must_check_ struct error *campaign_put_proof(const struct campaign_finding *finding,
                                              struct buffer *text);
// Appends "carried over from 1.db of 2026-11-15 20:14 UTC". Only of findings that were.
_must_check_ struct error *campaign_put_carried(const struct campaign_finding *finding,
                                                struct buffer *text);
// "confirmed" or "not repeated": how a second run of its trial ended. NULL: there was none.
const char *campaign_confirmed_name(enum store_confirmed confirmed);
void campaign_finding_deinit(struct campaign_finding *finding);
struct campaign_facts;
// The finding with this id, or the one that stands for it; NULL if it is not shown.
const struct campaign_finding *campaign_finding_find(const struct campaign_facts *facts,
                                                     int64_t id);
// What is known about the trial that shows a finding (0: nothing).
struct campaign_detail {
    struct store_trial trial;
    struct store_candidate candidate;
    bool found; // if not set, the rest is empty
};
_must_check_ struct error *campaign_detail_load(struct store *store, int64_t trial,
                                                struct campaign_detail *ret_detail);
void campaign_detail_deinit(struct campaign_detail *detail);

// See struct store_remark.
struct campaign_remark {
    enum remark_kind kind;
    char *about; // or NULL
    char *text;
};

struct campaign_references {
    uint64_t count;
    struct stats_moments seconds;
    char *ending;        // how the first run ended: "exit status 0"
    bool endings_differ; // between runs
    uint64_t outputs;    // streams and files that the runs left
    // Outputs that differ between runs after filters: they decide no verdict
    uint64_t outputs_differ;
    ARRAY(char *) differing; // paths of the first few
};
void campaign_references_deinit(struct campaign_references *references);

// Whether all candidates were equally likely to be chosen. If not, the plain share of the trials
// says little about the candidates. docs/ordeal-report.1 describes the estimate used instead.
enum campaign_design_kind {
    CAMPAIGN_PLAIN,     // all were equally likely
    CAMPAIGN_ESTIMATED, // each trial stands for the candidates it was chosen from
    CAMPAIGN_UNKNOWN,   // the weights are not known
};
struct campaign_design {
    enum campaign_design_kind kind;
    char per[24];     // a fixed number was chosen from each of these, or ""
    bool weighted;    // candidates were chosen by weight
    uint64_t outside; // candidates that could not be chosen, or whose group has no trial
    double effective; // this many equal trials would have estimated the share as well
};

struct campaign_facts {
    struct store *store;
    const struct report_options *options;
    double confidence;
    enum report_scope scope; // not REPORT_SCOPE_STORED
    struct store_campaign campaign;
    struct campaign_counts counts;
    uint64_t n; // trials that count
    struct campaign_share shares[VERDICTS], failures;
    uint64_t selected; // candidates selected to be run
    // Candidates that have a verdict of an earlier campaign instead of a trial, and findings
    struct campaign_counts carried;
    uint64_t carried_findings;
    struct campaign_design design;
    ARRAY(struct campaign_remark) remarks;
    struct campaign_references references;
    ARRAY(struct campaign_finding) findings; // not suppressed; most severe first
    ARRAY(struct campaign_part) parts;
    struct map by_id;                       // indexes of findings, also by the ids of their parts
    uint64_t suppressed, suppressed_trials; // suppressed findings, and the trials that show them
    uint64_t hidden[STORE_PROOFS];          // findings that are not shown, by their proof
    uint64_t others;                        // those that the scope hides
    uint64_t unrepeated;                // findings that are not shown, because they did not repeat
    uint64_t damaged;                   // trials whose region the target damaged
    uint64_t forked, checked, disputed; // trials by store_way; `forked` includes `checked`
    ARRAY(char *) limits;               // sentences that limit what the numbers show
};
// Loads everything but single trials. `options` and the store must outlive the facts, which
// campaign_facts_deinit() frees, also after an error.
_must_check_ struct error *campaign_facts_load(struct campaign_facts *facts,
                                               const struct report_subject *subject,
                                               const struct report_options *options);
void campaign_facts_deinit(struct campaign_facts *facts);

// Moves findings that do not count behind the others. Of each other program the worst is kept, the
// rest is counted in `others`, unless --scope all asks for it.
_must_check_ struct error *campaign_put_aside(struct campaign_facts *facts);
// Where a finding is that does not count: "in another program"; NULL: it counts.
const char *campaign_aside_name(const struct campaign_finding *finding);
// Whether machines are told of it as a note only: it may not be possible, or does not count.
bool campaign_is_note(const struct campaign_finding *finding);

// Whether a grouping says something of this campaign.
bool campaign_grouping_fits(const struct campaign_facts *facts, const char *by);
// Groups trials by one of report_groupings.
_must_check_ struct error *campaign_grouping_load(const struct campaign_facts *facts,
                                                  const char *by,
                                                  struct campaign_grouping *ret_grouping);
// For groups that were counted elsewhere: sorts them, and computes intervals and tests.
_must_check_ struct error *campaign_grouping_judge(const struct campaign_facts *facts,
                                                   struct campaign_grouping *grouping);
void campaign_grouping_deinit(struct campaign_grouping *grouping);

// Fills facts->references. facts->remarks, loaded before, says which outputs vary.
_must_check_ struct error *campaign_references_load(struct campaign_facts *facts);
// Where several findings have the same title, appends what distinguishes them.
_must_check_ struct error *campaign_titles_distinguish(struct campaign_facts *facts);
// Fills facts->design, and replaces the shares where the plain ones would be wrong.
_must_check_ struct error *campaign_design_find(struct campaign_facts *facts);
// Fills facts->limits from everything else.
_must_check_ struct error *campaign_limits_find(struct campaign_facts *facts);

// Appends the definition without the environment, which may hold secrets.
_must_check_ struct error *campaign_put_definition(const char *definition, struct buffer *text);

// The value of `key`, as YAML, at the top of a stored definition or one level below `section`. It
// is part of `definition`. NULL: there is none, or it is an empty list.
const char *campaign_definition_value(const char *definition, const char *section, const char *key,
                                      size_t *ret_size);
// Warns of a command that repeats a loss: how much of it would happen to real files, by what kind
// of sandbox the definition asks for; NULL: nothing.
const char *campaign_caution(const char *definition);

// Commands as they are printed everywhere; they name the store unless it is ./ordeal.db. In order:
// the command that reproduces a trial, from what the store has for it; the one that runs the trial
// again; the one that resumes the campaign.
// The rest of a command that begins by changing to the current directory; others as they are. For
// the terminal: other reports are read elsewhere.
const char *campaign_command_here(const char *command);
// Whether a command reads the same wherever it is shown.
bool campaign_can_be_copied(const char *command);
_must_check_ struct error *campaign_put_command(const struct campaign_facts *facts,
                                                const char *stored, int64_t trial,
                                                struct buffer *text);
_must_check_ struct error *campaign_put_replay(const struct campaign_facts *facts, int64_t trial,
                                               struct buffer *text);
_must_check_ struct error *campaign_put_resume(const struct campaign_facts *facts,
                                               struct buffer *text);
// Appends "2026-11-15 20:14 UTC".
_must_check_ struct error *campaign_put_date(int64_t seconds, struct buffer *text);
// Appends 1234567 as "1,234,567".
_must_check_ struct error *campaign_put_number(uint64_t number, struct buffer *text);
// A finished campaign whose time was up before its first trial: "out of time".
bool campaign_out_of_time(const struct campaign_facts *facts);
const char *campaign_state_name(const struct campaign_facts *facts);

// Comparisons, for the formats that have one.
_must_check_ struct error *campaign_compare_text(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);
_must_check_ struct error *campaign_compare_json(const struct report_subject *before,
                                                 const struct report_subject *after,
                                                 const struct report_options *options,
                                                 struct report_sink *sink);

// Writes out what has gathered if there are at least `least` bytes.
_must_check_ struct error *report_sink_flush(struct report_sink *sink, size_t least);

#endif

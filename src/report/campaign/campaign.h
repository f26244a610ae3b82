// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of a campaign, made from its store, for people and for machines. What a target or a store
// file may have written is never trusted: every format escapes it.
//
// A format is one NAME.c in this room with one const descriptor, plus one line in REPORT_FORMATS.
// The options of `ordeal report`, its help and its shell completion follow from that line.
#ifndef ORDEAL_REPORT_CAMPAIGN_CAMPAIGN_H
#define ORDEAL_REPORT_CAMPAIGN_CAMPAIGN_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Which findings are shown, by whether their faults can happen (enum store_proof).
enum report_proof {
    REPORT_PROOF_USUAL,   // all but the impossible ones
    REPORT_PROOF_CERTAIN, // whose faults need no proof
    REPORT_PROOF_CAUSED,  // also those that were proven
    REPORT_PROOF_ALL,
    REPORT_PROOFS
};
// "certain", "caused" or "all"; NULL: the usual ones.
_must_check_ struct error *report_proof_parse(const char *name, enum report_proof *ret_proof);
// Which findings count for the exit status and come first, by whose code they are in (enum
// store_scope).
enum report_scope {
    REPORT_SCOPE_STORED, // as the campaign's definition says
    REPORT_SCOPE_FIRST,  // those in the user's own code; the others are listed after them
    REPORT_SCOPE_MINE,   // those in the user's own code; the others are not shown
    REPORT_SCOPE_ALL,    // all alike
    REPORT_SCOPES
};
// "mine", "all" or "first"; NULL: as stored.
_must_check_ struct error *report_scope_parse(const char *name, enum report_scope *ret_scope);
// REPORT_SCOPE_STORED becomes what the definition says, others stay.
enum report_scope report_scope_of(enum report_scope scope, const struct store_campaign *campaign);
struct report_choice { // the findings to show
    enum report_proof proof;
    enum report_scope scope; // not REPORT_SCOPE_STORED
};
// Why a finding is not shown, the first reason that holds.
enum report_hidden {
    REPORT_SHOWN,
    REPORT_SUPPRESSED,
    REPORT_HIDDEN_BY_PROOF,
    REPORT_HIDDEN_BY_SCOPE,
    REPORT_UNREPEATED, // another result or a timeout, which no other run of the trial shows
};
enum report_hidden report_hides(struct report_choice shown, const struct store_finding *row);
// Whether a finding that is shown does not count: it is not in the user's own code.
bool report_is_aside(enum report_scope scope, enum store_scope of);
// How many findings are shown and how many are not. Findings that another one stands for are
// neither.
struct report_shown {
    uint64_t shown[VERDICTS], hidden[VERDICTS]; // those that do not count are hidden here
    uint64_t joined[VERDICTS];                  // those that another one stands for
    uint64_t severities[SEVERITIES];            // of those that are shown
    uint64_t carried;              // of those that are shown: found by an earlier campaign
    uint64_t others[STORE_SCOPES]; // not in the user's own code, shown or hidden by scope
};
_must_check_ struct error *report_count_shown(struct store *store, int64_t campaign,
                                              enum report_proof proof, enum report_scope scope,
                                              struct report_shown *ret_counts);

struct report_options {
    double confidence;    // confidence level of intervals; 0: STATS_CONFIDENCE
    const char *group_by; // one of report_groupings; NULL: whatever is worth showing
    // The store as the user would name it, for printed commands; NULL: its path
    const char *database;
    const char *resumed; // the command that resumes it, "test"; NULL: "campaign"
    // Of one trial: the command that repeats it without its store; NULL: there is none
    const char *run_command;
    enum report_proof proof;
    enum report_scope scope;
    bool verbose; // also tables of classes with their tests
    bool all;     // list everything, however long
    bool colour;  // the text may use terminal colours
};

// What trials can be grouped by. Ends with NULL.
extern const char *const report_groupings[];

// Receives a report piece by piece. `write` takes what has gathered in `text`, which is then
// emptied. Without `write`, everything stays in `text`.
struct report_sink {
    struct buffer text;
    struct error *(*write)(void *data, const struct buffer *text);
    void *data;
};
void report_sink_deinit(struct report_sink *sink);

// The campaign to report on. Both pointers belong to the caller.
struct report_subject {
    struct store *store;
    int64_t campaign; // 0: the newest
    const char *name; // of the store: "a.db"
};

struct report_format {
    const char *name;
    struct error *(*write)(const struct report_subject *subject,
                           const struct report_options *options, struct report_sink *sink);
    // Writes a comparison of two campaigns; NULL: the format has none.
    struct error *(*compare)(const struct report_subject *before,
                             const struct report_subject *after,
                             const struct report_options *options, struct report_sink *sink);
};

// The formats besides `text`: symbol and option name, FLAG (goes to standard output) or FILE, and
// the line in the help.
#define REPORT_FORMATS(X)                                                                          \
    X(html, FILE, "write a page for browsers, complete in one file")                               \
    X(json, FLAG, "print JSON lines")                                                              \
    X(junit, FILE, "write JUnit XML: a test per fault type and per finding")                       \
    X(sarif, FILE, "write the findings as SARIF 2.1.0")                                            \
    X(gitlab, FILE, "write the findings as GitLab's code quality report")                          \
    X(markdown, FILE, "write a summary in Markdown, for the page of a job")                        \
    X(github, FLAG, "print the findings as GitHub's annotations")                                  \
    X(lines, FLAG, "print the findings as file:line: warning: ..., for editors")                   \
    X(csv, FILE, "write a table of all trials")                                                    \
    X(profile, FILE, "write the errors that were seen at a library's interface, to inject them")

extern const struct report_format report_text;
#define REPORT_DECLARE(symbol, kind, help) extern const struct report_format report_##symbol;
REPORT_FORMATS(REPORT_DECLARE)
#undef REPORT_DECLARE

// The terminal report of a campaign (0: the newest), at most 80 columns wide. The caller frees it.
_must_check_ struct error *report_campaign_text(struct store *store, int64_t campaign,
                                                const struct report_options *options,
                                                struct buffer *ret_text);

// One trial: its verdict, what was injected where, stacks, the end of its standard error, and how
// to reproduce it. An error if there is no such trial. The caller frees the text.
_must_check_ struct error *report_trial_text(struct store *store, int64_t trial,
                                             const struct report_options *options,
                                             struct buffer *ret_text);
_must_check_ struct error *report_trial_json(struct store *store, int64_t trial,
                                             const struct report_options *options,
                                             struct buffer *ret_text);

#endif

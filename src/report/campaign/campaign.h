// SPDX-License-Identifier: GPL-3.0-or-later
// The report of a campaign, from its store, for people and for machines. Everything a target or a
// store file may have written is escaped for where it goes: nothing here trusts it.
//
// A format is one campaign-NAME.c with one const descriptor and one line in REPORT_FORMATS; the
// command's options, its help and its shell completion follow from that line.
#ifndef ORDEAL_REPORT_CAMPAIGN_CAMPAIGN_H
#define ORDEAL_REPORT_CAMPAIGN_CAMPAIGN_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_options {
    double confidence;    // of intervals; 0: STATS_CONFIDENCE
    const char *group_by; // one of report_groupings; NULL: what is worth showing
    const char *database; // the store as the user would name it, for commands; NULL: by its path
    const char *resumed;  // the command that goes on with it: "test"; NULL: "campaign"
    bool all;             // list everything, however much it is
    bool colour;          // the text may use terminal colours
};

// What trials can be grouped by; ends with NULL.
extern const char *const report_groupings[];

// Where a report goes, piece by piece: `write` takes what has gathered in `text`, which is emptied
// then. Without `write` all of it stays in `text`.
struct report_sink {
    struct buffer text;
    struct error *(*write)(void *data, const struct buffer *text);
    void *data;
};
void report_sink_deinit(struct report_sink *sink);

// Which campaign.
struct report_subject {
    struct store *store;
    int64_t campaign; // 0: the newest
    const char *name; // of the store, "a.db"
};

struct report_format {
    const char *name;
    struct error *(*write)(const struct report_subject *subject,
                           const struct report_options *options, struct report_sink *sink);
    // Two campaigns side by side; NULL: this format has no such thing.
    struct error *(*compare)(const struct report_subject *before,
                             const struct report_subject *after,
                             const struct report_options *options, struct report_sink *sink);
};

// The formats there are besides `text`: symbol and option, FLAG (goes to the standard output) or
// FILE, what the help says.
#define REPORT_FORMATS(X)                                                                          \
    X(html, FILE, "write a page for browsers, complete in one file")                               \
    X(json, FLAG, "print JSON lines")                                                              \
    X(junit, FILE, "write JUnit XML: a test per fault type and per finding")                       \
    X(sarif, FILE, "write the findings as SARIF 2.1.0")                                            \
    X(csv, FILE, "write a table of all trials")

extern const struct report_format report_text;
#define REPORT_DECLARE(symbol, kind, help) extern const struct report_format report_##symbol;
REPORT_FORMATS(REPORT_DECLARE)
#undef REPORT_DECLARE

// The terminal's report of a campaign (0: the newest): at most 80 columns wide.
_must_check_ struct error *report_campaign_text(struct store *store, int64_t campaign,
                                                const struct report_options *options,
                                                struct buffer *ret_text);

// One trial: verdict, what was injected where, stacks, the end of its standard error, and how to
// see it again.
_must_check_ struct error *report_trial_text(struct store *store, int64_t trial,
                                             const struct report_options *options,
                                             struct buffer *ret_text);
_must_check_ struct error *report_trial_json(struct store *store, int64_t trial,
                                             const struct report_options *options,
                                             struct buffer *ret_text);

#endif

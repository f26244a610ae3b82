// SPDX-License-Identifier: GPL-3.0-or-later
// Findings that somebody knows of and does not want to see: blocks of a file in the manner of
// valgrind's. docs/ordeal-test.1 has the format.
#ifndef ORDEAL_CAMPAIGN_SUPPRESS_H
#define ORDEAL_CAMPAIGN_SUPPRESS_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

enum suppress_kind { SUPPRESS_FUNCTION, SUPPRESS_OBJECT, SUPPRESS_SOURCE, SUPPRESS_ANY_FRAMES };
struct suppress_frame {
    enum suppress_kind kind;
    char *glob; // NULL of SUPPRESS_ANY_FRAMES
};
struct suppression {
    char *name;
    char *verdict, *call, *error; // globs; NULL: any
    ARRAY(struct suppress_frame) frames;
    unsigned line;         // of the file, where it begins
    uint64_t used, trials; // findings that it hid, and trials behind them
};
struct suppressions {
    ARRAY(struct suppression) items;
};
void suppressions_deinit(struct suppressions *suppressions);

// An error names file and line, and shows the line. May be called again for more files.
_must_check_ struct error *suppressions_read(struct suppressions *suppressions, const char *path);
_must_check_ struct error *suppressions_parse(struct suppressions *suppressions, const char *name,
                                              const char *text, size_t size);

// What a finding is known by: its verdict, what its fault was injected into, the injected error or
// "", and the call stack, one frame per line as the store has it, innermost first.
struct suppress_about {
    const char *verdict, *call, *error, *stack;
};
bool suppression_matches(const struct suppression *suppression, const struct suppress_about *about);

// Whether one of them means this finding of the store.
_must_check_ struct error *suppressions_mean(const struct suppressions *suppressions,
                                             struct store *store, const struct store_finding *row,
                                             bool *ret_mean);
// Marks the campaign's findings in the store: those that match are hidden, all others are not.
// *ret_hidden, by verdict: trials that show hidden findings.
_must_check_ struct error *suppressions_apply(struct suppressions *suppressions,
                                              struct store *store, int64_t campaign,
                                              uint64_t ret_hidden[VERDICTS]);
// The same without a change: as they are marked.
_must_check_ struct error *suppressions_hidden(struct store *store, int64_t campaign,
                                               uint64_t ret_hidden[VERDICTS]);
// A block for every finding that is not hidden.
_must_check_ struct error *suppressions_generate(struct store *store, int64_t campaign,
                                                 struct buffer *text);

#endif

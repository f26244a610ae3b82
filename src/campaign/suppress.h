// SPDX-License-Identifier: GPL-3.0-or-later
// Suppressions: descriptions of findings that the user knows and does not want to see. They are
// blocks in a file, like valgrind's. docs/ordeal-test.1 has the format.
#ifndef ORDEAL_CAMPAIGN_SUPPRESS_H
#define ORDEAL_CAMPAIGN_SUPPRESS_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

enum suppress_kind {
    SUPPRESS_FUNCTION,
    SUPPRESS_OBJECT,
    SUPPRESS_SOURCE,
    SUPPRESS_CODE,
    SUPPRESS_ANY_FRAMES
};
struct suppress_frame {
    enum suppress_kind kind;
    char *glob; // NULL of SUPPRESS_ANY_FRAMES
};
struct suppression {
    char *name;
    char *verdict, *call, *error; // globs; NULL: any
    ARRAY(struct suppress_frame) frames;
    unsigned line;         // where it begins in its file
    uint64_t used, trials; // findings that it hid, and their trials
};
struct suppressions {
    ARRAY(struct suppression) items;
};
void suppressions_deinit(struct suppressions *suppressions);

// Adds the suppressions of a file; may be called again for more files. An error names file and
// line, and shows the line.
_must_check_ struct error *suppressions_read(struct suppressions *suppressions, const char *path);
_must_check_ struct error *suppressions_parse(struct suppressions *suppressions, const char *name,
                                              const char *text, size_t size);

// What a suppression is matched with: the finding's verdict, the function that the fault was
// injected into, the injected error or "", and the call stack as in the store, one frame per line,
// innermost first.
struct suppress_about {
    const char *verdict, *call, *error, *stack;
};
bool suppression_matches(const struct suppression *suppression, const struct suppress_about *about);

// Whether one of the suppressions matches this finding of the store.
_must_check_ struct error *suppressions_match(const struct suppressions *suppressions,
                                              struct store *store, const struct store_finding *row,
                                              bool *ret_matches);
// Marks the campaign's findings in the store: those that match are hidden, all others are not.
_must_check_ struct error *suppressions_apply(struct suppressions *suppressions,
                                              struct store *store, int64_t campaign);
// Writes a suppression for every finding that is not hidden.
_must_check_ struct error *suppressions_generate(struct store *store, int64_t campaign,
                                                 struct buffer *text);

#endif

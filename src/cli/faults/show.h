// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of the software faults in a program, as a table and as JSON. All functions append to
// `text`.
#ifndef ORDEAL_CLI_FAULTS_SHOW_H
#define ORDEAL_CLI_FAULTS_SHOW_H

#include "base/array.h"
#include "cli/command.h"
#include "mutate/binary/plain.h"

struct faults_filter {
    // Globs: one of each kind must match; all match if none is given
    const struct option_list *types, *files, *functions;
    bool all; // also candidates without code
    bool only_enabled;
    const bool *executed;              // by candidate: show only these; NULL: show any
    const struct plain_counts *counts; // of a plain file
};

// Whether one of the globs matches, or there is none.
bool faults_fits(const struct option_list *globs, const char *text);
bool faults_filter_has(const struct faults_filter *filter, const struct image *image, size_t number,
                       const bool *enabled);
_must_check_ struct error *faults_put_table(const struct image *image,
                                            const struct faults_filter *filter, const bool *enabled,
                                            struct buffer *text);
// Writes one JSON object per candidate, each on its line.
_must_check_ struct error *faults_put_json(const struct image *image,
                                           const struct faults_filter *filter, const bool *enabled,
                                           struct buffer *text);
// Lists what the program could have and has not, with the reasons.
_must_check_ struct error *faults_put_left_out(const struct image *image,
                                               const struct faults_filter *filter, bool json,
                                               struct buffer *text);
// Writes "12 no-store at a.c:3:5 in main".
_must_check_ struct error *faults_put_one(const struct image *image, size_t number,
                                          struct buffer *text);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of candidates, for people and machines.
#ifndef ORDEAL_CLI_FAULTS_SHOW_H
#define ORDEAL_CLI_FAULTS_SHOW_H

#include "base/array.h"
#include "cli/command.h"
#include "mutate/image.h"

struct faults_filter {
    const struct option_list *types, *files, *functions; // globs; any of them, all if none is given
    bool all;                                            // also those without code
    bool only_enabled;
    const bool *executed; // by candidate: only those; NULL: any
};

bool faults_filter_has(const struct faults_filter *filter, const struct image *image, size_t number,
                       const bool *enabled);
_must_check_ struct error *faults_put_table(const struct image *image,
                                            const struct faults_filter *filter, const bool *enabled,
                                            struct buffer *text);
// One object for each candidate, one line each.
_must_check_ struct error *faults_put_json(const struct image *image,
                                           const struct faults_filter *filter, const bool *enabled,
                                           struct buffer *text);
// "12 no-store at a.c:3:5 in main"
_must_check_ struct error *faults_put_one(const struct image *image, size_t number,
                                          struct buffer *text);

#endif

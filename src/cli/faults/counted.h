// SPDX-License-Identifier: GPL-3.0-or-later
// Which faults are in executed code, from the counts that `ordeal fidelity --keep` left.
#ifndef ORDEAL_CLI_FAULTS_COUNTED_H
#define ORDEAL_CLI_FAULTS_COUNTED_H

#include "fidelity/counts.h"

// A program built with counters, and one flag for each of its candidates. faults_counted_deinit()
// frees it.
struct faults_counted {
    struct fidelity_subject subject; // the program is its first image
    bool *executed;
};
_must_check_ struct error *faults_counted_read(const char *program, const char *directory,
                                               struct faults_counted *ret_counted);
void faults_counted_deinit(struct faults_counted *counted);

#endif

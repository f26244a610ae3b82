// SPDX-License-Identifier: GPL-3.0-or-later
// A fault candidate: a place together with a fault that can be injected there.
#ifndef ORDEAL_INJECTOR_CANDIDATE_H
#define ORDEAL_INJECTOR_CANDIDATE_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// Strings belong to whoever has the struct; candidate_deinit() frees them. Fields as in
// store_candidate.
struct candidate {
    char *spec, *type, *function, *module, *file, *component, *series;
    unsigned line;
    uint64_t position;
    double weight;    // 1 unless the injector knows better
    uint64_t content; // as in store_candidate
};
void candidate_deinit(struct candidate *candidate);
// As it is stored; the strings stay the candidate's.
struct store_candidate candidate_row(const struct candidate *candidate, int64_t campaign,
                                     uint64_t number, bool selected);

// The series of candidates that are two faults, one in the code that handles the other.
#define CANDIDATE_SECOND "second fault"

// Takes one candidate of several, with its strings.
typedef struct error *candidate_add(void *data, struct candidate *candidate);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// A fault candidate: a place together with a fault that can be injected there.
#ifndef ORDEAL_INJECTOR_CANDIDATE_H
#define ORDEAL_INJECTOR_CANDIDATE_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// The strings belong to the holder of the struct; candidate_deinit() frees them. The fields mean
// the same as in store_candidate.
struct candidate {
    char *spec, *type, *function, *module, *file, *component, *series;
    unsigned line;
    uint64_t position;
    double weight;    // 1 unless the injector knows better
    uint64_t content; // as in store_candidate
    enum store_basis basis;
};
void candidate_deinit(struct candidate *candidate);
// The row to store. Its strings still belong to the candidate.
struct store_candidate candidate_row(const struct candidate *candidate, int64_t campaign,
                                     uint64_t number, bool selected);

// The series of candidates with two faults: the second one is in the code that handles the first.
#define CANDIDATE_SECOND "second fault"
// The series of faults in calls whose result the program looks at.
#define CANDIDATE_CHECKED "checked"
// The series of faults in calls that another candidate has on another call path.
#define CANDIDATE_STACK "other stack"

// Receives one candidate. It may take over the strings, and clears the struct if it does.
typedef struct error *candidate_add(void *data, struct candidate *candidate);

#endif

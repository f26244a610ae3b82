// SPDX-License-Identifier: GPL-3.0-or-later
// What the workload does without faults, and which parts of that are the same every time. Parts
// that differ between reference runs never condemn a trial.
#ifndef ORDEAL_ORACLE_REFERENCE_H
#define ORDEAL_ORACLE_REFERENCE_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"
#include "oracle/outcome.h"
#include "stats/stats.h"
#include "store/store.h"

struct reference; // of a campaign: all its reference runs

_must_check_ struct error *reference_new(const struct oracle *oracle,
                                         struct reference **ret_reference);
void reference_free(struct reference *reference);
// Takes what it needs from the run and leaves the rest.
_must_check_ struct error *reference_add(struct reference *reference,
                                         const struct outcome_run *run);
// As if no run had been added.
void reference_clear(struct reference *reference);
// Whether no run so far keeps reference_settle() from comparing with it.
bool reference_is_fit(const struct reference *reference);
bool reference_is_as_expected(const struct reference *reference); // and its exit status is
bool reference_is_late(const struct reference *reference);        // it did not end in time
// After the last: works out what is stable. An error when no comparison is possible at all (runs
// end differently, time out, are killed, pretest fails), written for the user.
_must_check_ struct error *reference_settle(struct reference *reference);
// After that, of fresh runs: an error unless they ended with the exit status that is expected.
_must_check_ struct error *reference_check_status(const struct reference *reference);
// Likewise: an error unless a trial may take longer than they did; a warning if not much longer.
_must_check_ struct error *reference_check_timeout(struct reference *reference);
// One sentence per kind of nondeterminism that was found.
size_t reference_remark_count(const struct reference *reference);
struct store_remark reference_remark(const struct reference *reference, size_t index);
const struct stats_moments *reference_seconds(const struct reference *reference);
int reference_status(const struct reference *reference);
uint64_t reference_timeout_ns(const struct reference *reference);

_must_check_ struct error *reference_save(const struct reference *reference, struct store *store,
                                          int64_t campaign);
// Loads and settles.
_must_check_ struct error *reference_load(const struct oracle *oracle, struct store *store,
                                          int64_t campaign, struct reference **ret_reference);

// The first of a run's reports (outcome_run.sanitizer) that no reference run has, or NULL.
const char *reference_new_sanitizer_report(const struct reference *reference, const char *reports,
                                           size_t *ret_size);
// Whether processes die like this (observation.crash_key) without any fault, too.
bool reference_has_crash(const struct reference *reference, const char *key);

// The worst of a run's differences.
enum symptom {
    SYMPTOM_NONE,
    SYMPTOM_LOST,    // a file that was there before, or its content
    SYMPTOM_EMPTIED, // likewise, but the reference gives up all of its old content, too
    SYMPTOM_REMOVED, // likewise
    SYMPTOM_WRONG,   // content
    SYMPTOM_MODE,
    SYMPTOM_KIND,
    SYMPTOM_NOT_WRITTEN,
    SYMPTOM_NOT_CHANGED,
    SYMPTOM_NOT_DELETED,
    SYMPTOM_CHANGED, // which the reference leaves alone
    SYMPTOM_OUTPUT,
    SYMPTOM_LEFT, // a new file, which the reference does not leave behind
    SYMPTOM_LESS, // on stderr
    SYMPTOM_DOWN, // a server that did not come up
    SYMPTOMS
};

// How a run differs from the reference in its stable parts.
struct difference {
    bool status, out, err, files;
    bool left;   // only a new file, which the reference does not leave behind
    bool lost;   // a file that was there before is gone or empty, and nothing took its place
    bool spoilt; // the same of one of which the reference keeps nothing, either
    enum symptom symptom;
    char *about;   // which file, or NULL
    bool err_more; // something was reported, anywhere, that the reference does not report
    char
        *sentence; // the differences, the worst first: "x was deleted; stdout differs at line 3: …"
    char *more;    // the first line on stderr that the reference does not have, quoted; or NULL
    char *more_in; // where else that line is: "stdout" or a file; NULL: on stderr
};
_must_check_ struct error *reference_compare(const struct reference *reference,
                                             const struct outcome_run *run,
                                             struct difference *ret_difference);
void difference_deinit(struct difference *difference);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What the workload does without faults, and what of it is the same every time. What differs
// between reference runs never condemns a trial.
#ifndef ORDEAL_ORACLE_REFERENCE_H
#define ORDEAL_ORACLE_REFERENCE_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"
#include "oracle/outcome.h"
#include "stats/stats.h"
#include "store/store.h"

struct reference; // of a campaign: all its reference runs

// The oracle must outlive the reference. An error says what is wrong with one of its filters.
_must_check_ struct error *reference_new(const struct oracle *oracle,
                                         struct reference **ret_reference);
void reference_free(struct reference *reference);
// Copies what it needs; the run stays the caller's. It belongs to the reference of its input.
_must_check_ struct error *reference_add(struct reference *reference,
                                         const struct outcome_run *run);
// The reference of one of the campaign's inputs. All functions here but those that compare a run
// are about all inputs; functions that compare a run need that of its input.
const struct reference *reference_of(const struct reference *reference, uint32_t input);
// Forgets all runs and remarks.
void reference_clear(struct reference *reference);
// Whether all runs so far can serve as references: none failed.
bool reference_is_fit(const struct reference *reference);
// Whether they also have the expected exit status.
bool reference_is_as_expected(const struct reference *reference);
bool reference_is_late(const struct reference *reference); // a run timed out
// To be called after the last run: works out what is stable. Returns an error for the user if no
// comparison is possible: a run ended differently, timed out, was killed, or its pretest failed.
_must_check_ struct error *reference_settle(struct reference *reference);
// After reference_settle(), for runs that were not loaded: an error if the exit status is not the
// expected one.
_must_check_ struct error *reference_check_status(const struct reference *reference);
// Likewise: an error if a trial may not even take as long as the slowest run; a remark if it may
// take not much longer.
_must_check_ struct error *reference_check_timeout(struct reference *reference);
// Remarks: one sentence for each output that varies, and notes. They are owned by the reference.
size_t reference_remark_count(const struct reference *reference);
struct store_remark reference_remark(const struct reference *reference, size_t index);
const struct stats_moments *reference_seconds(const struct reference *reference);
// The exit status of all runs.
int reference_status(const struct reference *reference);
// How long a trial may take.
uint64_t reference_timeout_ns(const struct reference *reference);

_must_check_ struct error *reference_save(const struct reference *reference, struct store *store,
                                          int64_t campaign);
// Loads the runs of a campaign, which has so many inputs or none, and settles them.
_must_check_ struct error *reference_load(const struct oracle *oracle, uint32_t inputs,
                                          struct store *store, int64_t campaign,
                                          struct reference **ret_reference);

// Whether the judgement depends on what is in this output, which has a format. To be asked after
// reference_settle().
bool reference_wants_decoding(const struct reference *reference, const struct artifact *artifact);

// The first line of `reports` (outcome_run.sanitizer) that no reference run has, or NULL. It points
// into `reports`.
const char *reference_new_sanitizer_report(const struct reference *reference, const char *reports,
                                           size_t *ret_size);
// Whether a process died like this (observation.crash_key) in a reference run, too.
bool reference_has_crash(const struct reference *reference, const char *key);

// What the worst difference of a run is.
enum symptom {
    SYMPTOM_NONE,
    SYMPTOM_LOST,    // a file that was there before, or its content
    SYMPTOM_EMPTIED, // likewise, but the reference keeps nothing of the old content either
    SYMPTOM_REMOVED, // as EMPTIED, but the file is gone
    SYMPTOM_DAMAGED, // a program that reads such files refuses it
    SYMPTOM_WRONG,   // wrong content
    SYMPTOM_MODE,
    SYMPTOM_KIND,
    SYMPTOM_NOT_WRITTEN,
    SYMPTOM_NOT_CHANGED,
    SYMPTOM_NOT_DELETED,
    SYMPTOM_CHANGED, // a file that the reference leaves alone
    SYMPTOM_OUTPUT,
    SYMPTOM_LEFT,      // a new file, which the reference does not leave behind
    SYMPTOM_LESS,      // stderr lacks something
    SYMPTOM_DOWN,      // a server that did not come up
    SYMPTOM_BEHAVIOUR, // only system calls differ
    SYMPTOMS
};

// How the visible behaviour of an invocation differs from the reference's, in what does not vary.
struct deviation {
    unsigned number;     // of the invocation, from 1
    bool activated;      // the fault was, in this invocation, and the reference has it
    size_t count;        // of differing calls; 0: it does not deviate
    bool same_status;    // as the reference: by its exit status nobody notices
    bool same_time;      // within four standard deviations: nor by the time it took
    char *sentence;      // the first difference: which call, of which process; or NULL
    char *call;          // the name of that call, "process" for a whole process; or NULL
    char *calls;         // the names of all that differ, each once, by the alphabet; or NULL
    double seconds;      // that it took
    struct buffer trace; // packed (trace_pack()); for those who judge to keep it
};
// By number, those that deviate or have an activated fault. There are none if behaviour was not
// recorded.
struct deviations {
    ARRAY(struct deviation) list;
};
_must_check_ struct error *reference_find_deviations(const struct reference *reference,
                                                     const struct outcome_run *run,
                                                     struct deviations *ret_deviations);
void deviations_deinit(struct deviations *deviations);
// The first one that does not behave as the reference; or NULL.
const struct deviation *deviations_first(const struct deviations *deviations);

// How what a library gave its user differs from the reference.
struct propagation {
    bool known; // it was recorded, and the trace could be read
    enum store_interface outcome;
    uint64_t call;                                // the first that differs
    char *function;                               // of that call; NULL: there is none
    uint64_t corrupted, wrong, omitted, spurious; // bytes
    enum store_result result;
    char *profile; // interface/corruption.h; or NULL
};
_must_check_ struct error *reference_find_propagation(const struct reference *reference,
                                                      const struct outcome_run *run,
                                                      struct propagation *ret_propagation);
void propagation_deinit(struct propagation *propagation);

// How a run differs from the reference in its stable parts.
struct difference {
    bool status, out, err, files;
    bool left;      // only a new file, which the reference does not leave behind
    bool lost;      // a file that was there before is gone or empty, and nothing took its place
    bool spoilt;    // likewise, but the reference keeps nothing of the old content either
    bool modes;     // nothing differs but modes of files
    bool stricter;  // likewise, and they allow their owners the same and others less
    bool damaged;   // a file that programs could read in the reference is empty or damaged
    bool reordered; // stdout has the same lines in another order
    enum symptom symptom;
    char *about;   // which file, or NULL
    bool err_more; // the run reported something that the reference does not, anywhere
    bool refused;  // likewise, with an HTTP status
    bool instead;  // likewise, on stdout, where the lines are that it could not write
    // The differences, the worst first: "x was deleted; stdout differs at line 3: …"
    char *sentence;
    char *more;    // the first line on stderr that the reference does not have, quoted; or NULL
    char *more_in; // where else that line is: "stdout" or a file; NULL: on stderr
    bool in_file;  // it is in a file, which nobody may look at
};
_must_check_ struct error *reference_compare(const struct reference *reference,
                                             const struct outcome_run *run,
                                             struct difference *ret_difference);
void difference_deinit(struct difference *difference);

#endif

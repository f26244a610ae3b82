// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign from its first reference run to its last trial, resumable at every moment.
#ifndef ORDEAL_CAMPAIGN_CAMPAIGN_H
#define ORDEAL_CAMPAIGN_CAMPAIGN_H

#include "base/error.h"
#include "definition/definition.h"
#include "store/store.h"

struct campaign_progress {
    const char *phase; // "reference", "candidates", "trials", "handling" (second-faults.h); "runs"
    uint64_t done, planned; // planned 0: not known
    uint64_t verdicts[VERDICTS];
    uint64_t findings;
    double elapsed_s;
    double left_s; // estimate, < 0: not known
};

struct suppressions;

struct campaign_control {
    // All may be NULL. A few times a second:
    void (*progress)(void *data, const struct campaign_progress *progress);
    void (*warn)(void *data, const char *sentence);
    void (*found)(void *data, const struct store_finding *finding); // each new one
    void *data;
    // 1: let trials end that run, end reference runs, and stop; 2: end trials, too; or NULL.
    const volatile int *interrupts;
    const struct suppressions *known; // findings that are not carried over (since.h); or NULL
    unsigned jobs;                    // at once; 0: as the definition says
    // For campaign_resume(): its time budget, number of trials and interval instead of the stored
    // ones, to let a campaign that has ended go on; or NULL.
    const struct definition *limits;
};

struct campaign_end {
    int64_t id;
    enum store_state state;
    enum store_stop stopped_by;
    uint64_t verdicts[VERDICTS];
    uint64_t findings;
};

_must_check_ struct error *campaign_start(const struct definition *definition, struct store *store,
                                          const struct campaign_control *control,
                                          struct campaign_end *ret_end);
// The newest campaign that is not finished, or campaign `id`.
_must_check_ struct error *campaign_resume(struct store *store, int64_t id,
                                           const struct campaign_control *control,
                                           struct campaign_end *ret_end);

// Which one that is; an error if there is none. With new limits, one that ended by its time budget,
// number of trials or interval is meant, too.
_must_check_ struct error *campaign_find_unfinished(struct store *store, int64_t id,
                                                    bool new_limits, int64_t *ret_id);

// Whether the campaign that campaign_resume() would go on with has this definition. If not, an
// error that says what differs. (`id` is not 0.) What only says how long and how many at once may
// differ, and so may the environment: a resumed campaign runs in the one it began with.
_must_check_ struct error *campaign_compare(struct store *store, int64_t id,
                                            const struct definition *definition);

struct replay_end {
    enum verdict before;
    uint64_t times, repeated; // repeated: same verdict and same cause
    uint64_t verdicts[VERDICTS];
    char *reason;  // of the last run
    char *warning; // what differs from then (another version, program changed), or NULL
};
// Runs a trial again, `times` times; nothing is stored.
_must_check_ struct error *campaign_replay(struct store *store, int64_t trial, uint64_t times,
                                           const struct campaign_control *control,
                                           struct replay_end *ret_end);
void replay_end_deinit(struct replay_end *end);
// Under gdb, stopped at the injection, in the campaign's sandbox; it warns if that is none, or a
// copy. *ret_status is gdb's.
_must_check_ struct error *campaign_debug(struct store *store, int64_t trial,
                                          const struct campaign_control *control, int *ret_status);

#endif

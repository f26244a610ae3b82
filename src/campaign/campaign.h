// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign from its first reference run to its last trial, resumable at every moment.
#ifndef ORDEAL_CAMPAIGN_CAMPAIGN_H
#define ORDEAL_CAMPAIGN_CAMPAIGN_H

#include "base/error.h"
#include "campaign/definition.h"
#include "store/store.h"

struct campaign_progress {
    const char *phase;        // "reference", "candidates", "trials"
    uint64_t done, planned;   // planned 0: not known
    uint64_t verdicts[VERDICTS];
    uint64_t findings;
    double elapsed_s;
    double left_s; // estimate, < 0: not known
};

struct campaign_control {
    void (*progress)(void *data, const struct campaign_progress *progress); // a few times a second
    void (*warn)(void *data, const char *sentence);
    void (*found)(void *data, const struct store_finding *finding); // each new finding, or NULL
    void *data;
    const volatile int *interrupts; // 1: finish what runs and stop; 2: stop at once
};

struct campaign_end {
    int64_t id;
    enum store_state state;
    const char *stopped_by; // "time budget", "interval", "interrupt", …; NULL: all was run
    uint64_t verdicts[VERDICTS];
    uint64_t findings;
};

struct error *campaign_start(const struct definition *definition, struct store *store,
                             const struct campaign_control *control, struct campaign_end *ret_end);
// The newest campaign that is not finished, or campaign `id`.
struct error *campaign_resume(struct store *store, int64_t id,
                              const struct campaign_control *control, struct campaign_end *ret_end);

struct replay_end {
    enum verdict before;
    uint64_t times, repeated; // repeated: same verdict and same cause
    uint64_t verdicts[VERDICTS];
    char *reason; // of the last run
    char *warning; // what differs from then (another version, program changed), or NULL
};
// Runs a trial again, `times` times; nothing is stored.
struct error *campaign_replay(struct store *store, int64_t trial, uint64_t times,
                              const struct campaign_control *control, struct replay_end *ret_end);
void replay_end_deinit(struct replay_end *end);
// Under gdb, stopped at the injection. *ret_status is gdb's.
struct error *campaign_debug(struct store *store, int64_t trial, int *ret_status);

#endif

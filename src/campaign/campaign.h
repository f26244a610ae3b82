// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a campaign from its first reference run to its last trial. It can be killed at any moment
// and resumed. Also: replaying a trial of a stored campaign.
#ifndef ORDEAL_CAMPAIGN_CAMPAIGN_H
#define ORDEAL_CAMPAIGN_CAMPAIGN_H

#include "base/error.h"
#include "campaign/environment.h"
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
    // All four may be NULL. progress() is called a few times a second.
    void (*progress)(void *data, const struct campaign_progress *progress);
    void (*warn)(void *data, const char *sentence);
    void (*note)(void *data, const char *sentence);                 // what is no reason to worry
    void (*found)(void *data, const struct store_finding *finding); // each new one
    void *data;
    // How often the user interrupted; or NULL. 1: end reference runs, let running trials finish,
    // then stop. 2: end running trials, too.
    const volatile int *interrupts;
    const struct suppressions *known; // findings that are not carried over (since.h); or NULL
    unsigned jobs;                    // at once; 0: as the definition says
    // For campaign_resume(): its time budget, number of trials and interval replace the stored
    // ones, so that a campaign that reached a limit can go on. Or NULL.
    const struct definition *limits;
};

struct campaign_end {
    int64_t id;
    enum store_state state;
    enum store_stop stopped_by;
    uint64_t verdicts[VERDICTS]; // of its trials, and those that were carried over
    uint64_t findings;           // those that were carried over included
};

_must_check_ struct error *campaign_start(const struct definition *definition, struct store *store,
                                          const struct campaign_control *control,
                                          struct campaign_end *ret_end);
// Resumes campaign `id`, or, if that is 0, the newest unfinished one.
_must_check_ struct error *campaign_resume(struct store *store, int64_t id,
                                           const struct campaign_control *control,
                                           struct campaign_end *ret_end);

// The campaign that campaign_resume() would resume; an error if there is none. With new limits, a
// campaign that reached its time budget, number of trials or interval counts as unfinished.
_must_check_ struct error *campaign_find_unfinished(struct store *store, int64_t id,
                                                    bool new_limits, int64_t *ret_id);

// An error if campaign `id` (not 0) has another definition; it says what differs. Limits and the
// number of jobs may differ. So may the environment: a resumed campaign keeps the one it began
// with.
_must_check_ struct error *campaign_compare(struct store *store, int64_t id,
                                            const struct definition *definition);

enum build_state { BUILD_SAME, BUILD_DIFFERS, BUILD_UNKNOWN };

struct replay_end {
    enum verdict before;
    // The program of the command, and the modules that the fault names by address:
    enum build_state build;
    char *build_id_before, *build_id_now; // of the program; NULL if there is none
    bool by_address; // the fault is aimed at an address, which means something in one build only
    uint64_t times, repeated; // repeated: same verdict and same cause
    uint64_t verdicts[VERDICTS];
    char *reason;  // of the last run
    char *warning; // what differs from then (another version, program changed), or NULL
    struct environment_comparison environment;
};
// Runs a trial again, `times` times. Nothing is stored. Free the result with replay_end_deinit().
_must_check_ struct error *campaign_replay(struct store *store, int64_t trial, uint64_t times,
                                           const struct campaign_control *control,
                                           struct replay_end *ret_end);
void replay_end_deinit(struct replay_end *end);
// The command line that repeats a trial in a sandbox, without its store. NULL if there is none:
// then only a replay does. The caller frees it.
_must_check_ struct error *campaign_run_command(struct store *store, int64_t trial,
                                                char **ret_command);
// Runs a trial under gdb in the campaign's sandbox, stopped at the injection. Warns if there is no
// sandbox, or only a copy. *ret_status is gdb's.
_must_check_ struct error *campaign_debug(struct store *store, int64_t trial,
                                          const struct campaign_control *control, int *ret_status);

#endif

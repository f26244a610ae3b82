// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of a workload that forks where faults are injected (wire/region.h, struct
// wire_fork). While it waits nobody else writes to the region, so that what the child left there
// can be read as the child's alone, and be taken back afterwards.
#ifndef ORDEAL_TRIAL_FORKING_H
#define ORDEAL_TRIAL_FORKING_H

#include "base/error.h"
#include "trial/region.h"

#include <stdint.h>

struct forking;
// The region must outlive it.
_must_check_ struct error *forking_start(struct region *region, struct forking **ret_forking);
void forking_free(struct forking *forking);

// Waits until there may be news, at most so long.
void forking_wait(struct forking *forking, uint64_t ns);

enum forking_kind {
    FORKING_NOTHING, // the workload runs
    FORKING_ASKED,   // it waits for forking_grant() or forking_deny()
    FORKING_ENDED,   // it waits for forking_go_on()
};
struct forking_news {
    enum forking_kind kind;
    uint32_t rule;
    enum wire_fork_refusal refusal;
    int status; // of the child, as of wait()
    uint64_t cpu_ns, peak_memory;
    // When the workload began to wait, and when it had gone on before: a target's words.
    uint64_t since_ns, resumed_ns;
};
struct forking_news forking_news(struct forking *forking);
// Why the workload forks no more, or has not even begun to; WIRE_FORK_OK if it does.
enum wire_fork_refusal forking_refusal(const struct forking *forking);
void forking_grant(struct forking *forking);
void forking_deny(struct forking *forking); // who asked goes on, and does not ask again
// After FORKING_ENDED, the region as the child left it.
_must_check_ struct error *forking_view(struct forking *forking, struct wire_view *ret_view);
// The region is again as it was when the workload asked, and the clock of the trial does not count
// what has passed since.
void forking_go_on(struct forking *forking);

// Whether all that the rule asks for can be told after a fork as well as in a run of its own. What
// draws from a sequence, remembers other rules' doings or asks somebody cannot.
bool forking_suits(const struct wire_plan *plan, uint32_t rule);

#endif

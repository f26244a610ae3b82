// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of a workload that forks where a fault is injected (struct wire_fork in
// wire/region.h). The workload waits until its child has ended, and nobody else writes to the
// region meanwhile. So everything that changed there is the child's, and can be undone afterwards.
#ifndef ORDEAL_TRIAL_FORKING_H
#define ORDEAL_TRIAL_FORKING_H

#include "base/error.h"
#include "trial/region.h"

#include <stdint.h>

struct forking;
// The region must outlive it.
_must_check_ struct error *forking_start(struct region *region, struct forking **ret_forking);
void forking_free(struct forking *forking);

// Waits until there may be news, at most `ns`.
void forking_wait(struct forking *forking, uint64_t ns);

enum forking_kind {
    FORKING_NOTHING, // the workload runs
    FORKING_ASKED,   // it waits for forking_grant() or forking_deny()
    FORKING_ENDED,   // it waits for forking_go_on()
};
struct forking_news {
    enum forking_kind kind;
    uint32_t rule; // or a fault of the coverage file, numbered after the rules
    enum wire_fork_refusal refusal;
    int status; // of the child, as of wait()
    uint64_t cpu_ns, peak_memory;
    // When the workload began to wait, and when it last went on. A target wrote these.
    uint64_t since_ns, resumed_ns;
};
struct forking_news forking_news(struct forking *forking);
// Why the workload does not fork, or has stopped to; WIRE_FORK_OK if it forks.
enum wire_fork_refusal forking_refusal(const struct forking *forking);
void forking_grant(struct forking *forking);
void forking_deny(struct forking *forking); // the workload goes on and does not ask again here
// After FORKING_ENDED: the region as the child left it. The view points into the region. Fails if
// the target damaged the region.
_must_check_ struct error *forking_view(struct forking *forking, struct wire_view *ret_view);
// Brings the region back to what it was when the workload asked, and lets the workload go on. The
// time since then does not count as time of the trial.
void forking_go_on(struct forking *forking);

// Whether the rule's condition gives the same answer in a forked child as in a run of its own. It
// does not if it draws random numbers, depends on earlier calls or time, or asks a coordinator or a
// plug-in.
bool forking_suits(const struct wire_plan *plan, uint32_t rule);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Looks into the region of a trial while its workload runs: whether the fault was activated since
// this was asked last. For whoever runs beside the targets, in the same sandbox.
#ifndef ORDEAL_ENGINE_ACTIVATION_WATCH_H
#define ORDEAL_ENGINE_ACTIVATION_WATCH_H

#include "base/error.h"

#include <stdbool.h>

struct activation_watch;

// `environment` is that of the workload, which names the region. Call it before the workload
// starts. *ret_watch is NULL if there is no region.
_must_check_ struct error *activation_watch_open(char *const *environment,
                                                 struct activation_watch **ret_watch);
// Until then the marks of what was reached are taken from the region; they are put back here.
void activation_watch_close(struct activation_watch *watch);
bool activation_watch_ask(void *watch);

#endif

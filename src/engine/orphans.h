// SPDX-License-Identifier: GPL-3.0-or-later
// What a job slot leaves behind when it is killed. Without a process tree of its own, a trial then
// still runs. It becomes a child of the controller, which ends it.
#ifndef ORDEAL_ENGINE_ORPHANS_H
#define ORDEAL_ENGINE_ORPHANS_H

#include "base/processes.h"

struct orphans {
    bool known;        // the two below are
    int were_adopted;  // this process was the parent of orphans already
    pid_list children; // that it had before
};

// From now on this process is the parent of all orphans below it. Its present children are never
// ended. If they cannot be listed, nobody is.
void orphans_adopt(struct orphans *orphans);
// As it was before.
void orphans_disown(struct orphans *orphans);
// Ends and reaps all children but the earlier ones and `spared`.
void orphans_end(const struct orphans *orphans, const pid_list *spared);

#endif

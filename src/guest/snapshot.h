// SPDX-License-Identifier: GPL-3.0-or-later
// A guest as it was after its pretest, in a folder: its memory, what it wrote to its disk, and the
// state of its devices. Runs begin with it instead of booting. They never change it.
#ifndef ORDEAL_GUEST_SNAPSHOT_H
#define ORDEAL_GUEST_SNAPSHOT_H

#include "guest/qmp.h"
#include "guest/system.h"

// Files of the folder.
#define SNAPSHOT_MEMORY "memory"
#define SNAPSHOT_STATE  "state"
#define SNAPSHOT_DISK   "disk"

struct guest_snapshot {
    char *folder; // absolute
    int lock;     // while it is being made; -1: nobody else has to wait
    bool made;
    struct buffer made_of;
};

// Opens the snapshot of this kind in `folder`, which is made if there is none. Unless it is `made`,
// the caller makes it, and nobody else does until it ends this with guest_snapshot_close(). Waits
// for whoever is making it, unless `signals` becomes readable. Fails if it was made of another
// system.
_must_check_ struct error *guest_snapshot_open(const char *folder, const char *kind,
                                               const struct guest_system *system, int signals,
                                               struct guest_snapshot *ret_snapshot);
// Ends it. One that is not finished is removed.
void guest_snapshot_close(struct guest_snapshot *snapshot);
// Before the guest begins that is to be kept: nothing of an earlier try must be left.
void guest_snapshot_clear(const struct guest_snapshot *snapshot);
// All its files are written.
_must_check_ struct error *guest_snapshot_finish(struct guest_snapshot *snapshot);

// Before a guest begins whose state will be saved in this folder.
_must_check_ struct error *guest_snapshot_prepare(struct guest_qmp *qmp, const char *folder,
                                                  bool has_disk, uint64_t deadline_ns);
_must_check_ struct error *guest_snapshot_save(struct guest_qmp *qmp, const char *folder,
                                               uint64_t deadline_ns);
// In a QEMU that was started to begin with a state.
_must_check_ struct error *guest_snapshot_load(struct guest_qmp *qmp, const char *folder,
                                               uint64_t deadline_ns);

#endif

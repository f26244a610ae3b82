// SPDX-License-Identifier: GPL-3.0-or-later
// One controller at a time: a lock file beside the store. The lock ends with the process that holds
// it.
#ifndef ORDEAL_STORE_LOCK_H
#define ORDEAL_STORE_LOCK_H

#include "base/error.h"

struct store_lock;

// Locks the database `path` with the file PATH-lock. If it is taken, returns an error that says who
// has it. The caller releases the lock.
_must_check_ struct error *store_lock_take(const char *path, struct store_lock **ret_lock);
void store_lock_release(struct store_lock *lock);

#endif

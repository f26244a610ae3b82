// SPDX-License-Identifier: GPL-3.0-or-later
// One controller at a time: a lock on a file beside the store and on the store itself, so that no
// other name of it helps. The lock ends with the process that holds it.
#ifndef ORDEAL_STORE_LOCK_H
#define ORDEAL_STORE_LOCK_H

#include "base/error.h"

struct store_lock;

// Locks the database `path`, which exists, and the file PATH-lock. If it is taken, returns an error
// that says who has it. A file with hard links is refused. The caller releases the lock when the
// database is closed.
_must_check_ struct error *store_lock_take(const char *path, struct store_lock **ret_lock);
void store_lock_release(struct store_lock *lock);
// An error if another process has locked the database under another name: what it commits is in a
// log that this name does not lead to. To be called before SQLite opens the file.
_must_check_ struct error *store_lock_check_name(const char *path);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What files of older versions have in place of today's columns and tables. This is the only place
// that parses sentences and definitions that older versions wrote.
#ifndef ORDEAL_STORE_OLDER_H
#define ORDEAL_STORE_OLDER_H

#include "base/error.h"
#include "store/store.h"

// Registers the SQL functions that the statements below use.
_must_check_ struct error *older_prepare(struct store *store);
// For a reader of a file of that version: temporary views make it look like one of today. The file
// stays as it is.
_must_check_ struct error *older_add_views(struct store *store, int64_t version);
// For a writer, after the schema steps: fills the columns and tables that they added.
_must_check_ struct error *older_convert(struct store *store, int64_t version);

#endif

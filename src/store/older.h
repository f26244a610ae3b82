// SPDX-License-Identifier: GPL-3.0-or-later
// What files of older versions have instead of the columns and tables of today. Only here are
// sentences and definitions taken apart that older versions wrote.
#ifndef ORDEAL_STORE_OLDER_H
#define ORDEAL_STORE_OLDER_H

#include "base/error.h"
#include "store/store.h"

// Makes the functions known that the statements below use.
_must_check_ struct error *older_prepare(struct store *store);
// For a reader of a file of that version: shows it as one of today, and leaves it as it is.
_must_check_ struct error *older_show(struct store *store, int64_t version);
// For a writer, after the steps of the schema: fills what they have added to such a file.
_must_check_ struct error *older_convert(struct store *store, int64_t version);

#endif

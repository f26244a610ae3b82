// SPDX-License-Identifier: GPL-3.0-or-later
// Files of older versions hold the whole environment of campaigns, and secrets in outputs. They are
// hidden from readers, and a writer takes them out of the file.
#ifndef ORDEAL_STORE_OLDER_SECRETS_H
#define ORDEAL_STORE_OLDER_SECRETS_H

#include "base/error.h"
#include "store/store.h"

#define VERSION_WITHOUT_SECRETS 7

// The variables of an older file, in the columns of the table `variable`: SQL.
extern const char older_variables[];

// Registers the SQL functions kept_definition(DEFINITION), is_public(NAME) and masked(VALUE).
_must_check_ struct error *older_secrets_prepare(struct store *store);
// Makes the values of secret variables in the file known to base/secrets.h.
_must_check_ struct error *older_secrets_learn(struct store *store);
// For a writer, after older_secrets_learn() and when `variable` exists: fills that table, masks
// secrets in all other tables and removes the column of the environment.
_must_check_ struct error *older_secrets_remove(struct store *store);
// For a writer, outside a transaction: leaves nothing of what was removed in the file or beside it.
_must_check_ struct error *older_secrets_wipe(struct store *store);

#endif

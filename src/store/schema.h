// SPDX-License-Identifier: GPL-3.0-or-later
// The tables, and how files of older versions get them.
//
// To change the schema: add a step at the end of the table in schema.c, never touch an old one
// (tests/golden/store-*.sql hold them to that), say in older.c what files without it have instead,
// and describe the result in docs/ordeal-store.5.
#ifndef ORDEAL_STORE_SCHEMA_H
#define ORDEAL_STORE_SCHEMA_H

#include <stddef.h>

#define SCHEMA_APPLICATION 0x4f52444c // "ORDL": PRAGMA application_id
#define SCHEMA_OLDEST      1          // readers understand files from this version on

// schema_steps[i] makes version i + 1 of version i; PRAGMA user_version is the version.
extern const char *const schema_steps[];
extern const int schema_version;

#endif

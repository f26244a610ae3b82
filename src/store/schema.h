// SPDX-License-Identifier: GPL-3.0-or-later
// The tables, and the steps that bring files of older versions up to date.
//
// To change the schema: add a step at the end of schema_steps in schema.c, and never touch an old
// one (tests/golden/store-*.sql guard them). Say in older.c what files without the step have
// instead. Describe the result in docs/ordeal-store.5.
#ifndef ORDEAL_STORE_SCHEMA_H
#define ORDEAL_STORE_SCHEMA_H

#include <stddef.h>

#define SCHEMA_APPLICATION 0x4f52444c // "ORDL": PRAGMA application_id
#define SCHEMA_OLDEST      1          // readers understand files from this version on

// schema_steps[i] turns version i into version i + 1. PRAGMA user_version holds the version.
extern const char *const schema_steps[];
extern const int schema_version;

#endif

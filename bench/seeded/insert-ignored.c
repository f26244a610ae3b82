// SPDX-License-Identifier: GPL-3.0-or-later
// Adds a row to a data base, and the caller need not know.
// flags: -lsqlite3
#include "common.h"

#include <sqlite3.h>

int main(void)
{
    sqlite3 *data = NULL;
    check(sqlite3_open("data.db", &data) == SQLITE_OK, "data.db");
    check(sqlite3_exec(data, "CREATE TABLE t (x)", NULL, NULL, NULL) == SQLITE_OK, "table");
    int failed = sqlite3_exec(data, "INSERT INTO t VALUES (7)", NULL, NULL, NULL); // SEEDED
    CHECK(!failed, "row");
    (void)failed;
    check(sqlite3_close(data) == SQLITE_OK, "data.db");
    return finish();
}

// SPDX-License-Identifier: GPL-3.0-or-later
// The connection to SQLite: error messages in plain words, and transactions.
#include "base/cleanup.h"
#include "store/internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool is_full(int code, int system)
{
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR &&
            (system == ENOSPC || system == EDQUOT || system == EFBIG));
}

// The errno of the last failed call. SQLite leaves it in errno, which may have been overwritten
// since. Its open files, the database and the log, remember it, too.
static int last_errno(struct store *store)
{
    int code = sqlite3_system_errno(store->database);
    if (code == 0)
        sqlite3_file_control(store->database, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
    sqlite3_file *log = NULL;
    if (code == 0 &&
        sqlite3_file_control(store->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) ==
            SQLITE_OK &&
        log != NULL && log->pMethods != NULL)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
    return code;
}

// SQLite's message. It may quote names from the file, which anybody may have made, so it is
// escaped.
static struct error *sqlite_message(struct store *store)
{
    _cleanup_free_ char *text = strdup(sqlite3_errmsg(store->database));
    if (text == NULL)
        return error_no_memory();
    for (char *at = text; *at != '\0'; at++)
        if (!isprint((unsigned char)*at))
            *at = '?';
    return error_new("%s: %s", store->path, text);
}

struct error *store_sqlite_error(struct store *store, int code)
{
    code = sqlite3_extended_errcode(store->database) != SQLITE_OK
               ? sqlite3_extended_errcode(store->database)
               : code;
    int system = last_errno(store);
    if (is_full(code, system))
        return error_new("%s: no space left to write to it; nothing already stored is lost: make "
                         "room and go on with --resume",
                         store->path);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return error_no_memory();
    case SQLITE_NOTADB:
        return error_new("%s: not a file of campaigns (not an SQLite database)", store->path);
    case SQLITE_CORRUPT:
        return error_new("%s: the file is damaged; `sqlite3 FILE .recover` may save parts of it",
                         store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_new("%s: another program keeps it locked", store->path);
    case SQLITE_READONLY:
        return error_new("%s: cannot be written", store->path);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
        if (system != 0)
            return error_from_errno(system, "%s: cannot be %s", store->path,
                                    (code & 0xff) == SQLITE_IOERR ? "read or written" : "opened");
    }
    return sqlite_message(store);
}

struct error *store_execute(struct store *store, const char *sql)
{
    int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? NULL : store_sqlite_error(store, code);
}

struct error *store_pragma(struct store *store, const char *sql, int64_t *ret_value)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    struct error *error =
        code == SQLITE_ROW || code == SQLITE_DONE ? NULL : store_sqlite_error(store, code);
    if (error == NULL)
        *ret_value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return error;
}

// A writer takes the lock at once: if it asked in the middle of a transaction, SQLite would fail
// instead of waiting. For a reader, a transaction is a view of one moment.
struct error *store_begin(struct store *store)
{
    if (store->in_transaction)
        return error_new("%s: a transaction is open already", store->path);
    if (store->mode == STORE_READ) {
        TRY(store_execute(store, "BEGIN"));
    } else {
        if (store->owner != getpid())
            return error_new("%s: was opened by another process", store->path);
        TRY(store_execute(store, "BEGIN IMMEDIATE"));
    }
    store->in_transaction = true;
    store->doomed = false;
    return NULL;
}

// SQLite rolls a transaction back by itself when the disk is full or memory is short. What follows
// must not be stored without what came before.
static struct error *check_transaction(struct store *store)
{
    if (store->in_transaction && (store->doomed || sqlite3_get_autocommit(store->database)))
        return error_new("%s: the transaction was given up after an error", store->path);
    return NULL;
}

bool store_has_moved(struct store *store)
{
    int moved = 0;
    return sqlite3_file_control(store->database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
               SQLITE_OK &&
           moved != 0;
}

// What is written to a file without its name is lost, or found by nobody.
static struct error *check_name(struct store *store)
{
    if (store->mode == STORE_READ || !store_has_moved(store))
        return NULL;
    return error_new("%s: the file was removed, renamed or replaced while it was being written; "
                     "what is stored from now on would be lost",
                     store->path);
}

struct error *store_commit(struct store *store)
{
    if (!store->in_transaction)
        return error_new("%s: no transaction is open", store->path);
    struct error *error = check_transaction(store);
    if (error == NULL)
        error = check_name(store);
    if (error == NULL)
        error = store_execute(store, "COMMIT");
    if (error != NULL)
        store_rollback(store);
    store->in_transaction = false;
    return error;
}

void store_rollback(struct store *store)
{
    if (store->in_transaction && !sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
}

struct error *store_write_start(struct store *store, bool *ret_own)
{
    if (store->mode == STORE_READ)
        return error_new("%s: was opened for reading only", store->path);
    TRY(check_transaction(store));
    *ret_own = !store->in_transaction;
    return store->in_transaction ? NULL : store_begin(store);
}

struct error *store_write_end(struct store *store, bool own, struct error *error)
{
    if (!own) {
        store->doomed = store->doomed || error != NULL;
        return error;
    }
    if (error == NULL)
        return store_commit(store);
    store_rollback(store);
    return error;
}

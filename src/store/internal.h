// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this room share: the connection, its errors, prepared statements, and the
// mapping between rows and structs.
#ifndef ORDEAL_STORE_INTERNAL_H
#define ORDEAL_STORE_INTERNAL_H

#include "store/lock.h"
#include "store/store.h"

#include <sqlite3.h>
#include <sys/types.h>

enum query {
    ADD_CAMPAIGN,
    ADD_REFERENCE,
    ADD_ARTIFACT,
    ADD_CANDIDATE,
    ADD_TRIAL,
    ADD_INJECTION,
    ADD_FINDING,
    ADD_STACK,
    FIND_STACK,
    FIND_FINDING,
    UPDATE_CAMPAIGN,
    SET_DEFINITION,
    REMOVE_CAMPAIGN,
    UPDATE_FINDING,
    CONFIRM_FINDING,
    PROVE_FINDING,
    JOIN_FINDING,
    SET_TRIAL_FINDING,
    COUNT_ALIKE_TRIALS,
    INVALIDATE_ALIKE_TRIALS,
    NEWEST_CAMPAIGN,
    FIND_CAMPAIGN,
    FIND_TRIAL,
    FIND_CANDIDATE,
    EACH_CAMPAIGN,
    EACH_REFERENCE,
    EACH_ARTIFACT,
    EACH_CANDIDATE,
    EACH_TRIAL,
    EACH_TRIAL_AND_CONFIRMATION,
    EACH_INJECTION,
    EACH_PROGRAM_AND_STACK,
    EACH_FINDING,
    SUPPRESS_FINDING,
    ADD_RECOVERY,
    ADD_LINES,
    DELETE_RECOVERY,
    DELETE_LINES,
    EACH_RECOVERY,
    EACH_LINES,
    ADD_VARIABLE,
    EACH_VARIABLE,
    ADD_CONSEQUENCE,
    ADD_INVOCATION,
    EACH_INVOCATION,
    COUNT_INVOCATIONS,
    ADD_PROPAGATION,
    EACH_PROPAGATION,
    EACH_INTERFACE_TRIAL,
    ADD_UPSETS,
    EACH_UPSETS,
    ADD_LATENCY,
    EACH_LATENCY,
    COUNT_WEIGHTS,
    COUNT_INSTRUCTION,
    DELETE_CONSEQUENCES,
    EACH_CONSEQUENCE,
    ADD_REMARK,
    EACH_REMARK,
    COUNT_ALL,
    COUNT_TYPE,
    COUNT_FUNCTION,
    COUNT_MODULE,
    COUNT_FILE,
    COUNT_COMPONENT,
    COUNT_PROGRAM,
    COUNT_SUPPRESSED,
    COUNT_ASIDE,
    COUNT_CAUSED,
    COUNT_UNPROVEN,
    COUNT_IMPOSSIBLE,
    COUNT_WAY,
    COUNT_DAMAGE,
    QUERIES
};

struct store {
    sqlite3 *database;
    char *path; // as the user named it
    char *file; // the same without links: names of the files beside it begin so
    enum store_mode mode;
    struct store_lock *lock;
    pid_t owner;
    bool made;                   // this process created the file
    bool masks;                  // it is of an older version: secrets are masked as it is read
    bool in_transaction, doomed; // doomed: something in it failed, it will not be committed
    sqlite3_stmt *idle[QUERIES];
};

// The error for an SQLite result code of this connection, in words for the user.
_must_check_ struct error *store_sqlite_error(struct store *store, int code);
// Whether the name leads to another file by now, or to none.
bool store_has_moved(struct store *store);

// Runs statements without parameters or results; reads a pragma that is a number.
_must_check_ struct error *store_execute(struct store *store, const char *sql);
_must_check_ struct error *store_pragma(struct store *store, const char *sql, int64_t *ret_value);

// Opens a transaction around several statements unless one is open already, and ends it.
// store_write_end() commits, or rolls back if `error` is not NULL. It returns that error or its
// own.
_must_check_ struct error *store_write_start(struct store *store, bool *ret_own);
_must_check_ struct error *store_write_end(struct store *store, bool own, struct error *error);

// The SQL of a query. The caller frees it.
_must_check_ struct error *query_text(enum query query, char **ret_sql);

// A running query. It uses an idle prepared statement or prepares a new one: a query may run while
// the same query is already running.
struct scan {
    struct store *store;
    enum query query;
    sqlite3_stmt *statement;
    char **repaired; // texts of the current row that were not UTF-8 or had secrets, converted
    size_t repaired_count;
};
_must_check_ struct error *scan_start(struct store *store, enum query query, struct scan *ret_scan);
void scan_end(struct scan *scan);
_must_check_ struct error *scan_bind_integer(struct scan *scan, int parameter, int64_t value);
_must_check_ struct error *scan_bind_text(struct scan *scan, int parameter, const char *text);
// Goes to the next row. *ret_got is false at the end.
_must_check_ struct error *scan_step(struct scan *scan, bool *ret_got);
// One row: the verdicts that store_invalidate_trials() would change.
_must_check_ struct error *
store_count_alike(struct store *store, int64_t campaign, uint64_t number,
                  struct error *(*row)(void *, const struct store_count *), void *data);
_must_check_ struct error *scan_column_text(struct scan *scan, int column, const char **ret_text);
_must_check_ struct error *scan_bind_bytes(struct scan *scan, int parameter, const void *bytes,
                                           size_t size);
_must_check_ struct error *scan_column_bytes(struct scan *scan, int column, const void **ret_bytes,
                                             size_t *ret_size);

// How a column corresponds to a member of a struct. The optional kinds store 0 as NULL.
enum column_kind {
    KIND_ID,             // int64_t; the row's key: SQLite assigns one if it is 0
    KIND_INTEGER,        // int64_t
    KIND_KEY,            // int64_t, optional
    KIND_COUNT,          // uint64_t, stored bit by bit
    KIND_OPTIONAL_COUNT, // the same, optional
    KIND_NUMBER,         // uint32_t
    KIND_OPTIONAL_NUMBER,
    KIND_INT,
    KIND_MODE, // unsigned: permission bits; ARTIFACT_NO_MODE is stored as NULL
    KIND_REAL,
    KIND_FLAG,
    KIND_TEXT, // const char *, never NULL
    KIND_OPTIONAL_TEXT,
    KIND_STACK, // const char *, stored in the table `stack`
    KIND_BYTES, // const void *, followed by a size_t member
    KIND_VERDICT,
    KIND_ENUM, // unsigned: stored as its name (enum-names.h)
    KIND_CONFIRMED,
};
struct column {
    const char *name;
    enum column_kind kind;
    size_t offset;
    const struct enum_names *names; // for KIND_ENUM
};
struct table {
    const char *name;
    const struct column *columns;
    int count;
};
extern const struct table table_campaign, table_reference, table_artifact, table_candidate,
    table_trial, table_injection, table_finding, table_recovery, table_line_coverage, table_remark,
    table_variable, table_consequence, table_invocation, table_upsets, table_latency,
    table_propagation;

struct store_artifact_row {
    int64_t reference;
    struct store_artifact artifact;
};

// Binds the members of `row` to parameters 1…; reads a row whose query selects the table's columns
// first.
_must_check_ struct error *row_bind(struct scan *scan, const struct table *table, const void *row);
_must_check_ struct error *row_read(struct scan *scan, const struct table *table, void *row);
// Inserts a row and sets its member of KIND_ID.
_must_check_ struct error *row_add(struct store *store, enum query query, const struct table *table,
                                   void *row);
// Calls back for each row of a query whose parameters are bound. It is a macro because the
// callbacks differ in type.
#define EACH_ROW(scan, table, type)                                                                \
    for (;;) {                                                                                     \
        struct type one;                                                                           \
        bool got;                                                                                  \
        TRY(scan_step(&scan, &got));                                                               \
        if (!got)                                                                                  \
            return NULL;                                                                           \
        TRY(row_read(&scan, &table, &one));                                                        \
        TRY(row(data, &one));                                                                      \
    }

// Replaces the texts of a row by copies of its own, and frees those.
_must_check_ struct error *row_copy_texts(const struct table *table, void *row);
void row_free_texts(const struct table *table, void *row);

#endif

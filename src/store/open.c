// SPDX-License-Identifier: GPL-3.0-or-later
// Opens and closes a store file: checks that it is one and may be used, connects, locks and
// migrates it.
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/protected-files.h"
#include "base/timeouts.h"
#include "store/internal.h"
#include "store/older-secrets.h"
#include "store/older.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_TRIES 100

static struct error *check_path(const char *path, enum store_mode mode)
{
    struct stat facts;
    if (path[0] == '\0')
        return error_new("the name of the file of campaigns is empty");
    if (stat(path, &facts) != 0) {
        if (errno == ENOENT && mode == STORE_WRITE)
            return NULL;
        if (errno == ENOENT && strcmp(path, STORE_DEFAULT) == 0)
            return error_new("%s: there is no such file here; 'ordeal test' and 'ordeal campaign' "
                             "make it where they run",
                             path);
        return error_from_errno(errno, "%s: cannot be opened", path);
    }
    // Opening a FIFO could block forever.
    if (!S_ISREG(facts.st_mode))
        return error_new("%s: not a file", path);
    if (facts.st_size == 0 && mode == STORE_READ)
        return error_new("%s: the file is empty: no campaign was stored in it", path);
    return NULL;
}

// The path as a URI, so that no name is special to SQLite (":memory:", "file:…").
static struct error *make_uri(const char *path, const char *options, struct buffer *ret_uri)
{
    TRY(buffer_printf(ret_uri, "file:%s", path[0] == '/' ? "//" : "./"));
    for (const char *at = path; *at != '\0'; at++)
        TRY(strchr("%?#", *at) != NULL ? buffer_printf(ret_uri, "%%%02x", (unsigned char)*at)
                                       : buffer_append(ret_uri, at, 1));
    return buffer_printf(ret_uri, "%s", options);
}

// The flags to open the file with. make_private() has created a missing file, except behind a link:
// SQLite creates that one.
static int open_flags(const struct store *store)
{
    struct stat facts;
    if (store->mode == STORE_READ)
        return SQLITE_OPEN_READONLY;
    bool link = lstat(store->path, &facts) == 0 && S_ISLNK(facts.st_mode);
    return SQLITE_OPEN_READWRITE | (link ? SQLITE_OPEN_CREATE : 0);
}

static struct error *connect(struct store *store, const char *options)
{
    int flags = open_flags(store);
    _cleanup_(buffer_deinit) struct buffer uri = {0};
    TRY(make_uri(store->path, options, &uri));
    sqlite3_close(TAKE(store->database));
    // Without this, SQLite takes a lock to count every allocation. It has no effect, and need not
    // have, if SQLite is already initialized.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int code = sqlite3_open_v2(
        uri.data, &store->database,
        flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (store->database == NULL)
        return error_no_memory();
    if (code != SQLITE_OK)
        return store_sqlite_error(store, code);
    sqlite3_busy_timeout(store->database, clock_poll_ms(STORE_BUSY_WAIT_NS));
    // The file may come from anywhere: do not trust its schema.
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    free(store->file);
    store->file = strdup(sqlite3_db_filename(store->database, "main"));
    if (store->file == NULL)
        return error_no_memory();
    TRY(store_execute(store, "PRAGMA cell_size_check = ON"));
    return older_prepare(store);
}

// Reads the version of the schema, 0 for a new file.
static struct error *check_schema(struct store *store, int64_t *ret_version)
{
    int64_t objects, application, version;
    TRY(store_pragma(store, "SELECT count(*) FROM sqlite_schema", &objects));
    TRY(store_pragma(store, "PRAGMA application_id", &application));
    TRY(store_pragma(store, "PRAGMA user_version", &version));
    bool is_new = application == 0 && version == 0 && objects == 0;
    if (is_new && store->mode == STORE_READ)
        return error_new("%s: no campaign was stored in it", store->path);
    if (!is_new && application != SCHEMA_APPLICATION)
        return error_new("%s: an SQLite database, but not a file of campaigns", store->path);
    if (version > schema_version)
        return error_new("%s: made by a newer version of Ordeal (schema %ld, this one knows %d)",
                         store->path, version, schema_version);
    if (!is_new && version < SCHEMA_OLDEST)
        return error_new("%s: the file is damaged: schema %ld does not exist", store->path,
                         version);
    *ret_version = version;
    return store->mode == STORE_READ ? older_add_views(store, version) : NULL;
}

// Whether commits wait in PATH-wal.
static bool has_log(struct store *store)
{
    char name[4200];
    struct stat facts;
    int size = snprintf(name, sizeof name, "%s-wal", store->file);
    return size < (int)sizeof name && stat(name, &facts) == 0 && facts.st_size > 0;
}

// Checks that the file is not in use under another name, before SQLite makes files beside this one.
static struct error *check_names(const struct store *store)
{
    _cleanup_free_ char *real = realpath(store->path, NULL);
    return real != NULL ? store_lock_check_name(real) : NULL;
}

// A reader needs shared memory beside the file. Where it may not create that, no writer can be
// active either, and the file is read as it is.
static struct error *open_to_read(struct store *store)
{
    int64_t version;
    TRY(check_names(store));
    TRY(connect(store, ""));
    struct error *error = check_schema(store, &version);
    int code = sqlite3_errcode(store->database) & 0xff;
    if (error == NULL || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY))
        return error;
    error_free(error);
    if (has_log(store))
        return error_new("%s: was not closed by its last writer and cannot be mended here: copy it "
                         "together with %s-wal to where you may write",
                         store->path, store->path);
    TRY(connect(store, "?immutable=1"));
    return check_schema(store, &version);
}

static struct error *apply_schema_steps(struct store *store, int64_t version)
{
    // Steps may change the definitions of tables; nothing else may.
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    struct error *error = NULL;
    for (int64_t i = version; i < schema_version && error == NULL; i++)
        error = store_execute(store, schema_steps[i]);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    TRY(error);
    TRY(older_convert(store, version));
    char pragmas[100];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             SCHEMA_APPLICATION, schema_version);
    return store_execute(store, pragmas);
}

static struct error *migrate(struct store *store, int64_t version)
{
    bool secrets = version != 0 && version < VERSION_WITHOUT_SECRETS;
    if (secrets)
        TRY(store_execute(store, "PRAGMA secure_delete = ON"));
    TRY(store_begin(store));
    struct error *error = secrets ? older_secrets_learn(store) : NULL;
    if (error == NULL)
        error = apply_schema_steps(store, version);
    if (error != NULL) {
        store_rollback(store);
        return error;
    }
    TRY(store_commit(store));
    if (!secrets)
        return NULL;
    TRY(older_secrets_wipe(store));
    return store_execute(store, "PRAGMA secure_delete = OFF");
}

static struct error *use_log(struct store *store)
{
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(store->database, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    struct error *error = code == SQLITE_ROW ? NULL : store_sqlite_error(store, code);
    const char *mode = error == NULL ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (error == NULL && (mode == NULL || strcmp(mode, "wal") != 0))
        error = error_new("%s: this file system cannot share memory between processes; keep the "
                          "file on a local disk",
                          store->path);
    sqlite3_finalize(statement);
    return error;
}

// The file holds what the workload printed and other things that are private. SQLite
// gives the files beside it the same mode. Closing the descriptor drops no lock, for a new file has
// none.
static struct error *make_private(struct store *store)
{
    int descriptor = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
    store->made = descriptor >= 0;
    if (store->made)
        close(descriptor);
    if (store->made || errno == EEXIST)
        return NULL;
    bool chosen = strcmp(store->path, STORE_DEFAULT) != 0;
    return error_new("%s: cannot be made: %s%s", store->path, strerror(errno),
                     chosen ? "" : "; --db FILE keeps it elsewhere");
}

static bool is_missing(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) != 0 && errno == ENOENT;
}

// Until we hold the lock, whoever created the file, or found ours, may discard it. So try again.
static struct error *try_connect_and_lock(struct store *store)
{
    TRY(check_names(store));
    TRY(connect(store, ""));
    if (sqlite3_db_readonly(store->database, "main") != 0)
        return error_new("%s: cannot be written", store->path);
    // Lock by the name without links: the lock must not depend on how the user named the file.
    return store_lock_take(store->file, &store->lock);
}

static struct error *connect_and_lock(struct store *store)
{
    for (unsigned tries = 0; tries < MOST_TRIES; tries++) {
        TRY(make_private(store));
        struct error *error = try_connect_and_lock(store);
        if (error != NULL && is_missing(store->path)) {
            error_free(error);
            continue;
        }
        TRY(error);
        if (!store_has_moved(store))
            return NULL;
        store_lock_release(TAKE(store->lock));
    }
    return error_new("%s: is another file each time it is looked at; keep it on a local disk",
                     store->path);
}

// *ret_empty: the file holds nothing yet. While we hold the lock, that cannot change.
static struct error *open_to_write(struct store *store, bool *ret_empty)
{
    int64_t version;
    TRY(connect_and_lock(store));
    TRY(check_schema(store, &version));
    *ret_empty = version == 0;
    // Debian's SQLite overwrites deleted data and vacuums by itself. Neither is worth its time.
    TRY(store_execute(store, "PRAGMA auto_vacuum = NONE; PRAGMA secure_delete = OFF;"
                             "PRAGMA foreign_keys = ON; PRAGMA cache_size = -16384"));
    TRY(use_log(store));
    // In this mode a commit survives the death of the process. A power failure may lose the last
    // commits, but never damages the file.
    TRY(store_execute(store, "PRAGMA synchronous = NORMAL"));
    return version < schema_version ? migrate(store, version) : NULL;
}

// The files of a database by suffix. Locks are held on all but the log.
enum { DATA_FILES = 3, ALL_FILES };
static void each_file(const struct store *store, unsigned count, void (*file)(const char *path))
{
    static const char *const endings[ALL_FILES] = {"", "-wal", "-shm", "-lock"};
    for (unsigned i = 0; i < count; i++) {
        char name[PATH_MAX];
        int size = snprintf(name, sizeof name, "%s%s", store->file, endings[i]);
        if (size > 0 && (size_t)size < sizeof name)
            file(name);
    }
}

static void remove_file(const char *path)
{
    unlink(path);
}

// SQLite leaves the log of a file that has moved as it is. What was committed must go with the
// file, and must not be taken for the log of another file of this name.
static void empty_log_of_moved(struct store *store)
{
    if (store->mode == STORE_WRITE && store->lock != NULL && store_has_moved(store))
        sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

struct error *store_gather(struct store *store)
{
    return store_execute(store, "PRAGMA wal_checkpoint(TRUNCATE)");
}

static void close_file(struct store *store, bool discard)
{
    if (store == NULL)
        return;
    // A forked child must not clean up the connection that its parent still uses.
    if (store->owner != getpid())
        return;
    if (store->file != NULL)
        each_file(store, ALL_FILES, protected_files_remove);
    store_rollback(store);
    for (unsigned i = 0; i < QUERIES; i++)
        sqlite3_finalize(store->idle[i]);
    empty_log_of_moved(store);
    sqlite3_close(store->database);
    // Remove the files while the lock is held: afterwards they may be somebody else's. A reader may
    // still have them open.
    if (discard && store->file != NULL)
        each_file(store, DATA_FILES, remove_file);
    store_lock_release(store->lock);
    free(store->file);
    free(store->path);
    free(store);
}

struct error *store_open(const char *path, enum store_mode mode, struct store **ret_store)
{
    TRY(check_path(path, mode));
    _cleanup_(store_closep) struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return error_no_memory();
    store->mode = mode;
    store->owner = getpid();
    store->path = strdup(path);
    if (store->path == NULL)
        return error_no_memory();
    bool empty = false;
    struct error *error = mode == STORE_READ ? open_to_read(store) : open_to_write(store, &empty);
    if (error != NULL) { // on a full disk, for instance
        bool discard = empty && store->made && !store_has_moved(store);
        close_file(TAKE(store), discard);
        return error;
    }
    each_file(store, ALL_FILES, protected_files_add);
    *ret_store = TAKE(store);
    return NULL;
}

void store_close(struct store *store)
{
    close_file(store, false);
}

static struct error *note_any(void *data, const struct store_campaign *row)
{
    *(bool *)data = true;
    return NULL;
}

void store_discard(struct store *store)
{
    if (store == NULL)
        return;
    bool any = false;
    struct error *error = store_each_campaign(store, note_any, &any);
    close_file(store, error == NULL && !any && store->made && !store_has_moved(store));
    error_free(error);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

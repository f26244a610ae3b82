// SPDX-License-Identifier: GPL-3.0-or-later
// Two controllers, killed ones, full disks, places where nothing may be written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "skip.h"
#include "stats/stats.h"
#include "store-help.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static void nap(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

// Runs in a child; its status must be 0.
static void in_child(void (*work)(void))
{
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("the child ended with %#x", status);
}

// Tries something that would change this process in a child. Returns its error number, 0 if it
// works.
static int try_in_child(bool (*work)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(work() ? 0 : errno);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// In children a failed assertion must not return into the parent's test.
static void require(bool condition, int line)
{
    if (!condition) {
        dprintf(2, "line %d\n", line);
        _exit(1);
    }
}
#define REQUIRE(condition) require(condition, __LINE__)

static bool says(struct error *error, const char *part)
{
    bool found = error != NULL && strstr(error_message(error), part) != NULL;
    if (!found)
        dprintf(2, "%s\n", error != NULL ? error_message(error) : "no error");
    error_free(error);
    return found;
}

static pid_t owner;

static void try_to_write(void)
{
    struct store *store;
    char who[64];
    snprintf(who, sizeof who, "another controller is writing to it: process %d on ", (int)owner);
    REQUIRE(says(store_open(help_path, STORE_WRITE, &store), who));
    char link[128];
    snprintf(link, sizeof link, "%s/link", help_directory);
    unlink(link);
    REQUIRE(symlink(help_path, link) == 0);
    REQUIRE(says(store_open(link, STORE_WRITE, &store), who));
    // Readers are welcome.
    REQUIRE(store_open(help_path, STORE_READ, &store) == NULL);
    store_close(store);
}

static void write_once(void)
{
    struct store *store;
    REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
    store_close(store);
}

static void a_second_controller_is_refused(void **state)
{
    struct store *store = open_store(STORE_WRITE), *second;
    fill(store, 1);
    owner = getpid();
    in_child(try_to_write);
    must_fail(store_open(help_path, STORE_WRITE, &second), "this process is writing to it already");
    in_child(try_to_write); // our own attempt did not give up the lock
    store_close(store);
    in_child(write_once);
    char name[160];
    snprintf(name, sizeof name, "%s-lock", help_path);
    assert_int_not_equal(access(name, F_OK), 0);
}

// A controller with a job slot below it is killed: the slot, still alive, keeps nobody out.
static void the_lock_dies_with_its_process(void **state)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store *store;
        REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
        pid_t slot = fork();
        if (slot == 0) {
            store_close(store); // leaves the parent's connection alone
            for (;;)
                pause();
        }
        REQUIRE(write(ready[1], &slot, sizeof slot) == sizeof slot);
        for (;;)
            pause();
    }
    pid_t slot;
    assert_int_equal(read(ready[0], &slot, sizeof slot), sizeof slot);
    owner = child;
    in_child(try_to_write);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct store *store = open_store(STORE_WRITE);
    store_close(store);
    assert_int_equal(kill(slot, 0), 0);
    kill(slot, SIGKILL);
    close(ready[0]);
    close(ready[1]);
}

static struct store *shared;

static void write_as_a_child(void)
{
    struct store_campaign campaign = some_campaign();
    REQUIRE(says(store_add_campaign(shared, &campaign), "opened by another process"));
    store_close(shared);
}

static void children_do_not_touch_it(void **state)
{
    shared = open_store(STORE_WRITE);
    in_child(write_as_a_child);
    fill(shared, 3);
    assert_int_equal(query_number(shared, "SELECT count(*) FROM trial"), 3);
    store_close(shared);
}

// Adds trials in transactions of three; after each commit, tells how many are safe.
static void add_for_ever(int pipe_end, unsigned from)
{
    struct store *store;
    REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
    for (unsigned number = from;; number += 3) {
        REQUIRE(store_begin(store) == NULL);
        for (unsigned i = 0; i < 3; i++) {
            struct store_trial trial = some_trial(1, 1, number + i);
            trial.stack = "a\nb";
            REQUIRE(store_add_trial(store, &trial) == NULL);
        }
        REQUIRE(store_commit(store) == NULL);
        unsigned safe = number + 2;
        REQUIRE(write(pipe_end, &safe, sizeof safe) == sizeof safe);
    }
}

static void killed_at_any_moment(void **state)
{
    struct store *store = open_store(STORE_WRITE);
    fill(store, 1);
    store_close(store);
    struct stats_random random = stats_random_start(1, 0);
    unsigned safe = 1;
    for (unsigned round = 0; round < 40; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            add_for_ever(ends[1], safe + 1);
        }
        close(ends[1]);
        nap((long)stats_random_below(&random, 20000));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        while (read(ends[0], &safe, sizeof safe) == sizeof safe)
            ;
        close(ends[0]);
        store = open_store(round % 2 == 0 ? STORE_READ : STORE_WRITE);
        int64_t count = query_number(store, "SELECT count(*) FROM trial");
        // The last commit may not have been reported; nothing is there in part.
        assert_true(count == safe || count == safe + 3);
        safe = (unsigned)count;
        store_close(store);
    }
    assert_true(safe > 100);
    store = open_store(STORE_READ);
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(store->database, "PRAGMA integrity_check", -1, &statement, NULL), 0);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    store_close(store);
}

// Fills a store until that fails; returns how many trials were committed.
static int64_t fill_up(struct store *store)
{
    static char text[3000];
    memset(text, 'x', sizeof text - 1);
    for (int64_t number = 2;; number++) {
        struct store_trial trial = some_trial(1, 1, (uint64_t)number);
        trial.output = text;
        struct error *error = store_add_trial(store, &trial);
        if (error != NULL) {
            REQUIRE(says(error, "no space left"));
            return number - 1;
        }
        REQUIRE(number < 100000);
    }
}

static void go_on_afterwards(int64_t stored)
{
    struct store *store;
    int64_t count;
    struct error *error = store_open(help_path, STORE_WRITE, &store);
    if (error != NULL)
        dprintf(2, "%s\n", error_message(error));
    REQUIRE(error == NULL);
    REQUIRE(store_pragma(store, "SELECT count(*) FROM trial", &count) == NULL && count == stored);
    struct store_trial trial = some_trial(1, 1, (uint64_t)stored + 1);
    REQUIRE(store_add_trial(store, &trial) == NULL);
    REQUIRE(store_pragma(store,
                         "SELECT count(*) FROM pragma_integrity_check"
                         " WHERE integrity_check <> 'ok'",
                         &count) == NULL &&
            count == 0);
    store_close(store);
}

static void reach_the_limit(void)
{
    struct store *store;
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
    fill(store, 1);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 2 << 20;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    int64_t stored = fill_up(store);
    REQUIRE(stored > 20);
    store_close(store);
    setrlimit(RLIMIT_FSIZE, &before);
    go_on_afterwards(stored);
}

static void file_size_limits(void **state)
{
    in_child(reach_the_limit);
}

static void open_without_room(void)
{
    struct store *store;
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 0;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REQUIRE(store_open(help_path, STORE_WRITE, &store) != NULL);
    REQUIRE(access(help_path, F_OK) != 0);
    // What was there before stays, empty as it is.
    int file = open(help_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(file >= 0 && close(file) == 0);
    REQUIRE(store_open(help_path, STORE_WRITE, &store) != NULL);
    REQUIRE(access(help_path, F_OK) == 0);
}

static void nothing_is_left_of_a_failure(void **state)
{
    in_child(open_without_room);
}

static bool mount_small_disk(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", help_directory, "tmpfs", 0, "size=3m") == 0;
}

static void fill_the_disk(void)
{
    struct store *store;
    REQUIRE(mount_small_disk());
    REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
    fill(store, 1);
    int64_t stored = fill_up(store);
    REQUIRE(stored > 20);
    // In a transaction: all of it, or nothing.
    REQUIRE(store_begin(store) == NULL);
    struct error *error = NULL;
    static char text[50000];
    memset(text, 'y', sizeof text - 1);
    for (unsigned i = 0; i < 200 && error == NULL; i++) {
        struct store_trial trial = some_trial(1, 1, 500000 + i);
        trial.output = text;
        error = store_add_trial(store, &trial);
    }
    if (error == NULL)
        error = store_commit(store);
    else
        store_rollback(store);
    REQUIRE(says(error, "nothing already stored is lost"));
    store_close(store);
    REQUIRE(store_open(help_path, STORE_READ, &store) == NULL);
    store_close(store);
    REQUIRE(mount(NULL, help_directory, NULL, MS_REMOUNT, "size=30m") == 0);
    go_on_afterwards(stored);
}

static void full_disks(void **state)
{
    int error = try_in_child(mount_small_disk);
    if (error != 0)
        skip_because("no small file system can be mounted: %s", strerror(error));
    in_child(fill_the_disk);
}

static struct error *count_trial(void *data, const struct store_trial *row)
{
    ++*(unsigned *)data;
    return NULL;
}

static bool become_nobody(void)
{
    return getuid() != 0 ||
           (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static void read_as_nobody(void)
{
    struct store *store;
    unsigned count = 0;
    REQUIRE(become_nobody());
    REQUIRE(store_open(help_path, STORE_READ, &store) == NULL);
    REQUIRE(store_each_trial(store, 1, false, count_trial, &count) == NULL && count == 5);
    store_close(store);
    REQUIRE(store_open(help_path, STORE_WRITE, &store) != NULL);
}

static void read_unfinished_as_nobody(void)
{
    struct store *store;
    REQUIRE(become_nobody());
    REQUIRE(says(store_open(help_path, STORE_READ, &store), "copy it together with"));
}

static void read_beside_the_writer(void)
{
    struct store *store;
    unsigned count = 0;
    REQUIRE(become_nobody());
    REQUIRE(store_open(help_path, STORE_READ, &store) == NULL);
    REQUIRE(store_each_trial(store, 1, false, count_trial, &count) == NULL && count == 5);
    store_close(store);
}

static void leave_unfinished(void)
{
    struct store *store;
    REQUIRE(store_open(help_path, STORE_WRITE, &store) == NULL);
    fill(store, 1);
    raise(SIGKILL);
}

static void read_only_places(void **state)
{
    int error = try_in_child(become_nobody);
    if (error != 0)
        skip_because("root cannot become another user: %s", strerror(error));
    // A file that its owner lets others read: SQLite gives the files beside it the same mode.
    store_close(open_store(STORE_WRITE));
    assert_int_equal(chmod(help_path, 0644), 0);
    struct store *store = open_store(STORE_WRITE);
    fill(store, 5);
    assert_int_equal(chmod(help_directory, 0755), 0);
    in_child(read_beside_the_writer);
    store_close(store);
    assert_int_equal(chmod(help_path, 0444), 0);
    assert_int_equal(chmod(help_directory, 0555), 0);
    in_child(read_as_nobody);
    assert_int_equal(chmod(help_directory, 0755), 0);
    assert_int_equal(chmod(help_path, 0644), 0);
    pid_t child = fork();
    if (child == 0)
        leave_unfinished();
    waitpid(child, NULL, 0);
    char name[160];
    snprintf(name, sizeof name, "%s-shm", help_path);
    unlink(name); // as if copied without it
    assert_int_equal(chmod(help_directory, 0555), 0);
    in_child(read_unfinished_as_nobody);
    assert_int_equal(chmod(help_directory, 0755), 0);
}

// What is in it, the environment for one, is its owner's, whatever the mask; a mode that was given
// to it later stays.
static void for_the_owner_only(void **state)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-lock"};
    mode_t mask = umask(0);
    struct store *store = open_store(STORE_WRITE);
    fill(store, 1);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[160];
        struct stat facts;
        snprintf(name, sizeof name, "%s%s", help_path, endings[i]);
        assert_int_equal(stat(name, &facts), 0);
        assert_int_equal(facts.st_mode & 0777, 0600);
    }
    store_close(store);
    assert_int_equal(chmod(help_path, 0640), 0);
    store_close(open_store(STORE_WRITE));
    struct stat facts;
    assert_int_equal(stat(help_path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
    umask(mask);
}

// Names that mean something to SQLite.
static void odd_names(void **state)
{
    static const char *const names[] = {":memory:", "file:x?mode=memory", "100%41.db", "a#b?c=d"};
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(help_directory), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct store *store;
        must(store_open(names[i], STORE_WRITE, &store));
        store_close(store);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(chdir(before), 0);
    free(before);
}

static bool discard_leaves_it(void (*before)(struct store *))
{
    struct store *store = open_store(STORE_WRITE);
    if (before != NULL)
        before(store);
    store_discard(store);
    return access(help_path, F_OK) == 0;
}

static void add_campaign(struct store *store)
{
    struct store_campaign row = some_campaign();
    must(store_add_campaign(store, &row));
}

static void only_what_is_new_and_empty_is_discarded(void **state)
{
    assert_false(discard_leaves_it(NULL));
    assert_true(discard_leaves_it(add_campaign));
    assert_int_equal(unlink(help_path), 0);
    store_close(open_store(STORE_WRITE));
    assert_true(discard_leaves_it(NULL)); // it was there before
}

// The name goes before the lock, or it could be the next controller's.
static void discarding_is_done_under_the_lock(void **state)
{
    char events[4096];
    size_t removed = 0;
    struct store *store = open_store(STORE_WRITE);
    int watch = inotify_init1(IN_CLOEXEC);
    assert_true(inotify_add_watch(watch, help_directory, IN_DELETE) >= 0);
    store_discard(store);
    ssize_t size = read(watch, events, sizeof events);
    const char *last = "";
    for (ssize_t at = 0; at < size; removed++) {
        const struct inotify_event *event = (const void *)(events + at);
        last = event->name;
        at += (ssize_t)(sizeof *event + event->len);
    }
    assert_true(removed >= 2);
    assert_string_equal(last, "c.db-lock");
    close(watch);
}

static unsigned openings;

static int discard_once(sqlite3 *database, const char **message, const void *functions)
{
    if (openings++ == 0)
        assert_int_equal(unlink(help_path), 0);
    return SQLITE_OK;
}

// Somebody else did so just when this one had opened the file: it takes a new one.
static void a_discarded_file_is_not_written_to(void **state)
{
    void (*hook)(void) = (void (*)(void))discard_once;
    openings = 0;
    assert_int_equal(sqlite3_auto_extension(hook), SQLITE_OK);
    struct store *store = open_store(STORE_WRITE);
    sqlite3_cancel_auto_extension(hook);
    assert_int_equal(openings, 2);
    add_campaign(store);
    store_close(store);
    store = open_store(STORE_READ);
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    must(store_find_campaign(store, 0, &row));
    store_close(store);
}

int main(void)
{
#define STORE_TEST(function) cmocka_unit_test_setup_teardown(function, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_second_controller_is_refused),
        STORE_TEST(the_lock_dies_with_its_process),
        STORE_TEST(children_do_not_touch_it),
        STORE_TEST(killed_at_any_moment),
        STORE_TEST(file_size_limits),
        STORE_TEST(nothing_is_left_of_a_failure),
        STORE_TEST(full_disks),
        STORE_TEST(read_only_places),
        STORE_TEST(for_the_owner_only),
        STORE_TEST(odd_names),
        STORE_TEST(only_what_is_new_and_empty_is_discarded),
        STORE_TEST(discarding_is_done_under_the_lock),
        STORE_TEST(a_discarded_file_is_not_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

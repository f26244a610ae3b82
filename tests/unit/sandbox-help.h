// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of sandboxes share: a directory of their own, and shell scripts as steps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#include "skip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define MS 1000000ull

static char place[64]; // the working directory, fresh for every test
static char *const plain[] = {(char *)"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NULL};

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static int place_setup(void **state)
{
    strcpy(place, "/var/tmp/ordeal-test-XXXXXX");
    return mkdtemp(place) == NULL || chdir(place) < 0;
}

static inline int remove_one(const char *path, const struct stat *status, int flag,
                             struct FTW *walk)
{
    if (flag == FTW_DNR && chmod(path, 0700) == 0)
        return 0;
    return remove(path);
}

static int place_teardown(void **state)
{
    if (chdir("/") < 0 || strncmp(place, "/var/tmp/ordeal-test-", 21) != 0)
        return 1;
    nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return 0;
}

static inline void put(const char *name, const char *text)
{
    _cleanup_close_ int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
}

static inline void holds(const char *name, const char *text)
{
    struct buffer content = {0};
    must(buffer_read_file(name, 1 << 20, &content));
    assert_string_equal(content.data == NULL ? "" : content.data, text);
    buffer_deinit(&content);
}

// Tries once to make an overlay sandbox. Returns why there is none, or NULL. scripts/unit finds out
// otherwise whether there can be one, and sets ORDEAL_NO_OVERLAY to nothing if so.
static inline const char *no_overlay(void)
{
    static char why[512];
    static bool tried;
    const char *refused = getenv("ORDEAL_NO_OVERLAY");
    if (tried)
        return why[0] == '\0' ? NULL : why;
    struct sandbox_options options = {.kind = SANDBOX_OVERLAY, .directory = place};
    struct sandbox *sandbox = NULL;
    struct error *error = sandbox_new(&options, &sandbox);
    if (error != NULL && refused != NULL && refused[0] == '\0')
        must(error);
    snprintf(why, sizeof why, "%s", error == NULL ? "" : error_message(error));
    tried = true;
    error_free(error);
    sandbox_free(sandbox);
    return no_overlay();
}

static inline void needs_overlay(void)
{
    if (no_overlay() != NULL)
        skip_because("no overlay: %s", no_overlay());
}

static inline bool can_make(enum sandbox_kind kind)
{
    if (kind != SANDBOX_OVERLAY || no_overlay() == NULL)
        return true;
    skip_in_part("no overlay: %s", no_overlay());
    return false;
}

// Every kind of sandbox that there is here, the overlay last.
static const enum sandbox_kind sandbox_kinds[] = {SANDBOX_NONE, SANDBOX_COPY, SANDBOX_OVERLAY};
#define EACH_KIND(kind)                                                                            \
    for (size_t each_ = 0;                                                                         \
         each_ < sizeof sandbox_kinds / sizeof *sandbox_kinds && can_make(sandbox_kinds[each_]);   \
         each_++)                                                                                  \
        for (enum sandbox_kind kind = sandbox_kinds[each_], once_ = 1; once_; once_ = 0)

static inline struct sandbox *make(enum sandbox_kind kind, const struct sandbox_limits *limits,
                                   bool network)
{
    struct sandbox_options options = {
        .kind = kind, .directory = place, .network = network, .capture_limit = 65536};
    if (kind == SANDBOX_OVERLAY)
        needs_overlay();
    if (limits != NULL)
        options.limits = *limits;
    struct sandbox *sandbox = NULL;
    must(sandbox_new(&options, &sandbox));
    assert_int_equal(sandbox_kind(sandbox), kind);
    return sandbox;
}

#define SCRIPT(text)                                                                               \
    .command = (char *[]){(char *)"sh", (char *)"-c", (char *)(text), NULL}, .environment = plain, \
    .input = -1

// One script in a sandbox; the result is the caller's.
static inline struct sandbox_result run_in(struct sandbox *sandbox, const char *script,
                                           uint64_t timeout_ms)
{
    struct sandbox_step step = {SCRIPT(script), .timeout_ns = timeout_ms * MS};
    struct sandbox_result result;
    must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
    return result;
}

static inline struct sandbox_result run(enum sandbox_kind kind, const char *script)
{
    struct sandbox *sandbox = make(kind, NULL, false);
    struct sandbox_result result = run_in(sandbox, script, 20000);
    sandbox_free(sandbox);
    return result;
}

static inline const char *text_of(const struct sandbox_stream *stream)
{
    return stream->kept.data == NULL ? "" : stream->kept.data;
}

// A script that must succeed, and what it prints.
static inline void prints(enum sandbox_kind kind, const char *script, const char *expected)
{
    struct sandbox_result result = run(kind, script);
    if (result.end != SANDBOX_EXIT || result.status != 0 ||
        strcmp(text_of(&result.out), expected) != 0)
        fail_msg("%s: end %d status %d out \"%s\" err \"%s\"", script, result.end, result.status,
                 text_of(&result.out), text_of(&result.err));
    sandbox_result_deinit(&result);
}

// How many processes of the whole machine have `word` in their command line.
static inline unsigned processes_with(const char *word)
{
    unsigned count = 0;
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = file < 0 ? -1 : read(file, line, sizeof line);
        count += size > 0 && memmem(line, (size_t)size, word, strlen(word)) != NULL;
    }
    closedir(processes);
    return count;
}

static inline void nothing_left(const char *word)
{
    assert_int_equal(processes_with(word), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 * MS + (uint64_t)time.tv_nsec;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)

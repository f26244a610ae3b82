// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a workload several times and keeps the counts that its programs write.
#include "cli/faults/fidelity-run.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "base/remove.h"
#include "base/stale.h"
#include "mutate/counts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PREFIX "ordeal-counts-"

void counted_runs_deinit(struct counted_runs *counted_runs)
{
    if (counted_runs->ours)
        error_free(remove_tree(counted_runs->directory));
    free(counted_runs->directory);
    *counted_runs = (struct counted_runs){0};
}

static struct error *make_directory(const char *wanted, struct counted_runs *counted_runs)
{
    const char *temporary = getenv("TMPDIR");
    const char *place = temporary != NULL && *temporary == '/' ? temporary : "/tmp";
    if (wanted == NULL) {
        stale_each(place, PREFIX, false, remove_stale);
        if (asprintf(&counted_runs->directory, "%s/" PREFIX "%s-XXXXXX", place, stale_owner()) < 0)
            return counted_runs->directory = NULL, error_no_memory();
        if (mkdtemp(counted_runs->directory) == NULL)
            return error_from_errno(errno, "cannot make %s", counted_runs->directory);
        counted_runs->ours = true;
        return NULL;
    }
    if (mkdir(wanted, 0777) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make %s", wanted);
    // An absolute path: processes may change their directory
    counted_runs->directory = realpath(wanted, NULL);
    return counted_runs->directory != NULL ? NULL : error_from_errno(errno, "%s", wanted);
}

static struct error *run_counted(char *const *command, struct counted_runs *counted_runs)
{
    int status = 0;
    TRY(child_run(&(const struct child){.command = command, .silent = true}, &status));
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
        return error_new("interrupted");
    counted_runs->failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return NULL;
}

static struct error *run_once(char *const *command, size_t number,
                              struct counted_runs *counted_runs)
{
    _cleanup_free_ char *directory = NULL;
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    if (asprintf(&directory, "%s/%zu", counted_runs->directory, number) < 0)
        return directory = NULL, error_no_memory();
    if (mkdir(directory, 0777) < 0)
        return errno == EEXIST ? error_new("%s is there already: counts of another time would be "
                                           "added to; remove it or name another directory",
                                           directory)
                               : error_from_errno(errno, "cannot make %s", directory);
    if (setenv(COUNTS_VARIABLE, directory, 1) < 0 || setenv("ORDEAL_RUN", text, 1) < 0)
        return error_no_memory();
    return run_counted(command, counted_runs);
}

struct error *counted_runs_make(char *const *command, size_t runs, const char *directory,
                                struct counted_runs *ret_counting)
{
    struct counted_runs counted_runs = {0};
    struct error *error = make_directory(directory, &counted_runs);
    for (size_t i = 1; error == NULL && i <= runs; i++)
        error = run_once(command, i, &counted_runs);
    unsetenv(COUNTS_VARIABLE);
    if (error != NULL)
        counted_runs_deinit(&counted_runs);
    else
        *ret_counting = counted_runs;
    return error;
}

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

void counting_deinit(struct counting *counting)
{
    if (counting->ours)
        error_free(remove_tree(counting->directory));
    free(counting->directory);
    *counting = (struct counting){0};
}

static struct error *make_directory(const char *wanted, struct counting *counting)
{
    const char *temporary = getenv("TMPDIR");
    const char *place = temporary != NULL && *temporary == '/' ? temporary : "/tmp";
    if (wanted == NULL) {
        stale_each(place, PREFIX, false, remove_stale);
        if (asprintf(&counting->directory, "%s/" PREFIX "%s-XXXXXX", place, stale_owner()) < 0)
            return counting->directory = NULL, error_no_memory();
        if (mkdtemp(counting->directory) == NULL)
            return error_from_errno(errno, "cannot make %s", counting->directory);
        counting->ours = true;
        return NULL;
    }
    if (mkdir(wanted, 0777) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make %s", wanted);
    // An absolute path: processes may change their directory
    counting->directory = realpath(wanted, NULL);
    return counting->directory != NULL ? NULL : error_from_errno(errno, "%s", wanted);
}

static struct error *run_counted(char *const *command, struct counting *counting)
{
    int status = 0;
    TRY(child_run(&(const struct child){.command = command, .silent = true}, &status));
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT))
        return error_new("interrupted");
    counting->failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return NULL;
}

static struct error *run_once(char *const *command, size_t number, struct counting *counting)
{
    _cleanup_free_ char *directory = NULL;
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    if (asprintf(&directory, "%s/%zu", counting->directory, number) < 0)
        return directory = NULL, error_no_memory();
    if (mkdir(directory, 0777) < 0)
        return errno == EEXIST ? error_new("%s is there already: counts of another time would be "
                                           "added to; remove it or name another directory",
                                           directory)
                               : error_from_errno(errno, "cannot make %s", directory);
    if (setenv(COUNTS_VARIABLE, directory, 1) < 0 || setenv("ORDEAL_RUN", text, 1) < 0)
        return error_no_memory();
    return run_counted(command, counting);
}

struct error *counting_run(char *const *command, size_t runs, const char *directory,
                           struct counting *ret_counting)
{
    struct counting counting = {0};
    struct error *error = make_directory(directory, &counting);
    for (size_t i = 1; error == NULL && i <= runs; i++)
        error = run_once(command, i, &counting);
    unsetenv(COUNTS_VARIABLE);
    if (error != NULL)
        counting_deinit(&counting);
    else
        *ret_counting = counting;
    return error;
}

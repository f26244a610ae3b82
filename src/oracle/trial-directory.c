// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a trial directory are made once and rewritten for each run, through descriptors. So
// they keep their places in the sandbox, and no link that the oracle command makes can lead us
// elsewhere.
#include "oracle/trial-directory.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/remove.h"
#include "base/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACE  "/tmp"
#define PREFIX "ordeal-trial-"

static const char *const names[TRIAL_DIRECTORY_FILES] = {"stdout", "stderr", "status", "changes"};

struct trial_directory {
    char directory[96];
    char paths[TRIAL_DIRECTORY_FILES][112];
    int files[TRIAL_DIRECTORY_FILES];
    pid_t owner; // a process forked from this one must not remove the directory
};

void trial_directory_free(struct trial_directory *trial_directory)
{
    if (trial_directory == NULL)
        return;
    for (unsigned i = 0; i < TRIAL_DIRECTORY_FILES; i++)
        if (trial_directory->files[i] >= 0)
            close(trial_directory->files[i]);
    // The oracle command may have left files of its own there.
    if (trial_directory->owner == getpid() && trial_directory->directory[0] != '\0')
        error_free(remove_tree(trial_directory->directory));
    free(trial_directory);
}

static void trial_directory_freep(struct trial_directory **trial_directory)
{
    trial_directory_free(*trial_directory);
}

struct error *trial_directory_new(struct trial_directory **ret_directory)
{
    _cleanup_(trial_directory_freep) struct trial_directory *trial_directory =
        calloc(1, sizeof *trial_directory);
    char directory[sizeof trial_directory->directory];
    if (trial_directory == NULL)
        return error_no_memory();
    trial_directory->owner = getpid();
    for (unsigned i = 0; i < TRIAL_DIRECTORY_FILES; i++)
        trial_directory->files[i] = -1;
    stale_each(PLACE, PREFIX, false, remove_stale);
    snprintf(directory, sizeof directory, PLACE "/" PREFIX "%s-XXXXXX", stale_owner());
    if (mkdtemp(directory) == NULL)
        return error_from_errno(errno, "cannot make a directory in /tmp for the oracle command");
    strcpy(trial_directory->directory, directory);
    for (unsigned i = 0; i < TRIAL_DIRECTORY_FILES; i++) {
        char *path = trial_directory->paths[i];
        snprintf(path, sizeof trial_directory->paths[i], "%s/%s", directory, names[i]);
        trial_directory->files[i] =
            open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (trial_directory->files[i] < 0)
            return error_from_errno(errno, "cannot create %s", path);
    }
    *ret_directory = TAKE(trial_directory);
    return NULL;
}

const char *trial_directory_path(const struct trial_directory *trial_directory)
{
    return trial_directory->directory;
}

const char *trial_directory_file(const struct trial_directory *trial_directory, unsigned index)
{
    return trial_directory->paths[index];
}

static struct error *write_file(struct trial_directory *trial_directory, unsigned index,
                                const struct buffer *content)
{
    int file = trial_directory->files[index];
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
        return error_from_errno(errno, "cannot write %s", trial_directory->paths[index]);
    return content->size != 0 ? file_write(file, trial_directory->paths[index], content) : NULL;
}

static struct error *put_status(struct buffer *text, const struct sandbox_result *workload,
                                const char *spec, uint64_t seed)
{
    TRY(buffer_printf(text, "outcome=%s\nstatus=%d\nseconds=%.6f\n",
                      enum_name(&outcome_names, outcome_of(workload->end)), workload->status,
                      clock_seconds(workload->ns)));
    TRY(buffer_printf(text, "stdout_bytes=%llu\nstderr_bytes=%llu\n",
                      (unsigned long long)workload->out.size,
                      (unsigned long long)workload->err.size));
    TRY(buffer_printf(text, "reference=%s\nspec=", spec == NULL ? "yes" : "no"));
    if (spec != NULL)
        TRY(escape_put(text, spec, strlen(spec), SIZE_MAX, 0));
    return buffer_printf(text, "\nseed=%llu\n", (unsigned long long)seed);
}

static struct error *put_changes(struct buffer *text, const struct outcome_run *run)
{
    for (size_t i = 0; i < run->artifacts.count; i++) {
        const struct artifact *artifact = &run->artifacts.items[i];
        if (artifact->path[0] == '<')
            continue;
        TRY(buffer_printf(text, "%s ", enum_name(&artifact_names, artifact->kind)));
        TRY(escape_put(text, artifact->path, strlen(artifact->path), SIZE_MAX, 0));
        TRY(buffer_append(text, "\n", 1));
    }
    return NULL;
}

struct error *trial_directory_write(struct trial_directory *trial_directory,
                                    const struct sandbox_result *workload,
                                    const struct outcome_run *run, const char *spec, uint64_t seed)
{
    _cleanup_(buffer_deinit) struct buffer status = {0}, changes = {0};
    TRY(put_status(&status, workload, spec, seed));
    TRY(put_changes(&changes, run));
    TRY(write_file(trial_directory, 0, &workload->out.kept));
    TRY(write_file(trial_directory, 1, &workload->err.kept));
    TRY(write_file(trial_directory, 2, &status));
    return write_file(trial_directory, 3, &changes);
}

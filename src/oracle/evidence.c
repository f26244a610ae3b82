// SPDX-License-Identifier: GPL-3.0-or-later
// See evidence.h. The files are made once and written anew for each run, through descriptors: they
// keep their places in the sandbox, and nobody can make us write elsewhere.
#include "oracle/evidence.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/remove.h"
#include "base/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACE  "/tmp"
#define PREFIX "ordeal-trial-"

static const char *const names[EVIDENCE_FILES] = {"stdout", "stderr", "status", "changes"};

struct evidence {
    char directory[96];
    char paths[EVIDENCE_FILES][112];
    int files[EVIDENCE_FILES];
    pid_t owner; // a process forked from it leaves the directory alone
};

void evidence_free(struct evidence *evidence)
{
    if (evidence == NULL)
        return;
    for (unsigned i = 0; i < EVIDENCE_FILES; i++)
        if (evidence->files[i] >= 0)
            close(evidence->files[i]);
    // The oracle may have left something of its own there.
    if (evidence->owner == getpid() && evidence->directory[0] != '\0')
        error_free(remove_tree(evidence->directory));
    free(evidence);
}

static void evidence_freep(struct evidence **evidence)
{
    evidence_free(*evidence);
}

struct error *evidence_new(struct evidence **ret_evidence)
{
    _cleanup_(evidence_freep) struct evidence *evidence = calloc(1, sizeof *evidence);
    char directory[sizeof evidence->directory];
    if (evidence == NULL)
        return error_no_memory();
    evidence->owner = getpid();
    for (unsigned i = 0; i < EVIDENCE_FILES; i++)
        evidence->files[i] = -1;
    stale_each(PLACE, PREFIX, false, remove_stale);
    snprintf(directory, sizeof directory, PLACE "/" PREFIX "%s-XXXXXX", stale_owner());
    if (mkdtemp(directory) == NULL)
        return error_from_errno(errno, "cannot make a directory in /tmp for the oracle command");
    strcpy(evidence->directory, directory);
    for (unsigned i = 0; i < EVIDENCE_FILES; i++) {
        char *path = evidence->paths[i];
        snprintf(path, sizeof evidence->paths[i], "%s/%s", directory, names[i]);
        evidence->files[i] = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (evidence->files[i] < 0)
            return error_from_errno(errno, "cannot create %s", path);
    }
    *ret_evidence = TAKE(evidence);
    return NULL;
}

const char *evidence_directory(const struct evidence *evidence)
{
    return evidence->directory;
}

const char *evidence_file(const struct evidence *evidence, unsigned index)
{
    return evidence->paths[index];
}

static struct error *write_file(struct evidence *evidence, unsigned index,
                                const struct buffer *content)
{
    int file = evidence->files[index];
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
        return error_from_errno(errno, "cannot write %s", evidence->paths[index]);
    return content->size != 0 ? file_write(file, evidence->paths[index], content) : NULL;
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
        TRY(quote_put(text, spec, strlen(spec), SIZE_MAX));
    return buffer_printf(text, "\nseed=%llu\n", (unsigned long long)seed);
}

static struct error *put_changes(struct buffer *text, const struct outcome_run *run)
{
    for (size_t i = 0; i < run->artifacts.count; i++) {
        const struct artifact *artifact = &run->artifacts.items[i];
        if (artifact->path[0] == '<')
            continue;
        TRY(buffer_printf(text, "%s ", enum_name(&artifact_names, artifact->kind)));
        TRY(quote_put(text, artifact->path, strlen(artifact->path), SIZE_MAX));
        TRY(buffer_append(text, "\n", 1));
    }
    return NULL;
}

struct error *evidence_write(struct evidence *evidence, const struct sandbox_result *workload,
                             const struct outcome_run *run, const char *spec, uint64_t seed)
{
    _cleanup_(buffer_deinit) struct buffer status = {0}, changes = {0};
    TRY(put_status(&status, workload, spec, seed));
    TRY(put_changes(&changes, run));
    TRY(write_file(evidence, 0, &workload->out.kept));
    TRY(write_file(evidence, 1, &workload->err.kept));
    TRY(write_file(evidence, 2, &status));
    return write_file(evidence, 3, &changes);
}

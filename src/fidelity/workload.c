// SPDX-License-Identifier: GPL-3.0-or-later
// Reads workloads, which are directories of counts, and adds up the counts of their runs.
#include "fidelity/counts.h"

#include "base/cleanup.h"
#include "mutate/counts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void run_close(struct counts_run *run)
{
    for (size_t i = 0; i < run->files.count; i++)
        counts_file_close(&run->files.items[i]);
    ARRAY_DEINIT(&run->files);
}

void fidelity_workload_deinit(struct fidelity_workload *workload)
{
    for (size_t i = 0; i < workload->runs.count; i++) {
        run_close(&workload->runs.items[i]);
        if (workload->counts != NULL)
            free(workload->counts[i]);
    }
    ARRAY_DEINIT(&workload->runs);
    free(workload->counts);
    free(workload->total);
    free(workload->label);
    free(workload->directory);
    *workload = (struct fidelity_workload){0};
}

// ---- reading ----

static int is_counts(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), ending = strlen(COUNTS_ENDING);
    return size > ending && strcmp(entry->d_name + size - ending, COUNTS_ENDING) == 0;
}

static int is_number(const struct dirent *entry)
{
    return *entry->d_name != '\0' && entry->d_name[strspn(entry->d_name, "0123456789")] == '\0';
}

struct directory_entries {
    struct dirent **entries;
    int count;
};

static void listing_deinit(struct directory_entries *listing)
{
    for (int i = 0; i < listing->count; i++)
        free(listing->entries[i]);
    free(listing->entries);
}

static struct error *list(const char *directory, int (*filter)(const struct dirent *),
                          struct directory_entries *ret_listing)
{
    int count = scandir(directory, &ret_listing->entries, filter, versionsort);
    if (count < 0)
        return error_from_errno(errno, "cannot read the counts in %s", directory);
    ret_listing->count = count;
    return NULL;
}

static struct error *read_run(struct fidelity_workload *workload, const char *directory)
{
    _cleanup_(listing_deinit) struct directory_entries listing = {0};
    TRY(list(directory, is_counts, &listing));
    struct counts_run *run = ARRAY_ADD(&workload->runs);
    if (run == NULL)
        return error_no_memory();
    for (int i = 0; i < listing.count; i++) {
        _cleanup_free_ char *path = NULL;
        struct counts_file file = {0};
        if (asprintf(&path, "%s/%s", directory, listing.entries[i]->d_name) < 0)
            return path = NULL, error_no_memory();
        TRY(counts_file_read(path, &file));
        struct counts_file *added = ARRAY_ADD(&run->files);
        if (added == NULL) {
            counts_file_close(&file);
            return error_no_memory();
        }
        *added = file;
    }
    return NULL;
}

static struct error *read_all(struct fidelity_workload *workload)
{
    _cleanup_(listing_deinit) struct directory_entries listing = {0};
    TRY(list(workload->directory, is_number, &listing));
    for (int i = 0; i < listing.count; i++) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s/%s", workload->directory, listing.entries[i]->d_name) < 0)
            return path = NULL, error_no_memory();
        TRY(read_run(workload, path));
    }
    if (listing.count == 0)
        TRY(read_run(workload, workload->directory));
    size_t files = 0;
    for (size_t i = 0; i < workload->runs.count; i++)
        files += workload->runs.items[i].files.count;
    if (files == 0)
        return error_new("nothing was counted in %s: is anything that ran built with 'ordeal cc "
                         "--counters'?",
                         workload->directory);
    return NULL;
}

struct error *fidelity_workload_read(const char *label, const char *directory,
                                     struct fidelity_workload *ret_workload)
{
    struct fidelity_workload workload = {.label = strdup(label), .directory = strdup(directory)};
    struct error *error = workload.label != NULL && workload.directory != NULL ? read_all(&workload)
                                                                               : error_no_memory();
    if (error != NULL)
        fidelity_workload_deinit(&workload);
    else
        *ret_workload = workload;
    return error;
}

// ---- adding up ----

static bool has_image(const struct fidelity_subject *subject, const char *path)
{
    for (size_t i = 0; i < subject->images.count; i++)
        if (strcmp(subject->images.items[i].path, path) == 0)
            return true;
    return false;
}

struct error *fidelity_subject_add_counted(struct fidelity_subject *subject,
                                           const struct fidelity_workload *workload)
{
    for (size_t i = 0; i < workload->runs.count; i++)
        for (size_t j = 0; j < workload->runs.items[i].files.count; j++) {
            const struct counts_file *file = &workload->runs.items[i].files.items[j];
            if (file->modules.count == 0)
                continue;
            if (*file->program == '\0')
                return error_new("%s does not say which program its counts are of; name it with "
                                 "--binary",
                                 file->path);
            if (!has_image(subject, file->program))
                TRY(fidelity_subject_add(subject, file->program));
        }
    return NULL;
}

struct error *fidelity_workload_add_up(struct fidelity_workload *workload,
                                       const struct fidelity_subject *subject)
{
    size_t blocks = subject->blocks.count;
    workload->counts = calloc(workload->runs.count + 1, sizeof *workload->counts);
    workload->total = calloc(blocks + 1, sizeof *workload->total);
    if (workload->counts == NULL || workload->total == NULL)
        return error_no_memory();
    for (size_t i = 0; i < workload->runs.count; i++) {
        uint64_t *counts = workload->counts[i] = calloc(blocks + 1, sizeof *counts);
        if (counts == NULL)
            return error_no_memory();
        for (size_t j = 0; j < workload->runs.items[i].files.count; j++)
            TRY(counts_file_add(&workload->runs.items[i].files.items[j], subject, counts));
        for (size_t j = 0; j < blocks; j++)
            if (__builtin_add_overflow(workload->total[j], counts[j], &workload->total[j]))
                workload->total[j] = UINT64_MAX;
    }
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the counts that `ordeal fidelity --keep` left, and marks the candidates in executed code.
#include "cli/faults/counted.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

void faults_counted_deinit(struct faults_counted *counted)
{
    fidelity_subject_deinit(&counted->subject);
    free(counted->executed);
    *counted = (struct faults_counted){0};
}

// Other programs and libraries may have written counts into the same directory.
static struct error *read_counts(const char *program, struct fidelity_workload *workload,
                                 struct faults_counted *counted)
{
    struct fidelity_subject *subject = &counted->subject;
    _cleanup_free_ char *path = realpath(program, NULL); // counts have the absolute path
    if (path == NULL)
        return error_from_errno(errno, "cannot open %s", program);
    TRY(fidelity_subject_add(subject, path));
    TRY(fidelity_subject_add_counted(subject, workload));
    TRY(fidelity_subject_finish(subject));
    TRY(fidelity_workload_add_up(workload, subject));
    counted->executed = calloc(subject->images.items->candidates.count + 1, sizeof(bool));
    if (counted->executed == NULL)
        return error_no_memory();
    for (size_t i = 0; i < subject->candidates.count; i++) {
        const struct fidelity_candidate *candidate = &subject->candidates.items[i];
        if (candidate->image == 0)
            counted->executed[candidate->number] = workload->total[candidate->block] != 0;
    }
    return NULL;
}

struct error *faults_counted_read(const char *program, const char *directory,
                                  struct faults_counted *ret_counted)
{
    _cleanup_(fidelity_workload_deinit) struct fidelity_workload workload = {0};
    struct faults_counted counted = {0};
    TRY(fidelity_workload_read(directory, directory, &workload));
    struct error *error = read_counts(program, &workload, &counted);
    if (error != NULL)
        faults_counted_deinit(&counted);
    else
        *ret_counted = counted;
    return error;
}

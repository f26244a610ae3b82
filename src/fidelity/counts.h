// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the counts that processes left in files. A workload is one or several runs; the counts of a
// run are the sum over its processes. Errors name the file, and the byte if it is damaged.
#ifndef ORDEAL_FIDELITY_COUNTS_H
#define ORDEAL_FIDELITY_COUNTS_H

#include "fidelity/subject.h"

struct counts_module {
    uint64_t key;
    size_t offset, counters; // both within the file
};
struct counts_file {
    char *path;
    char *program; // the linked file that counted, or "" if not known
    bool cut;      // a process was killed before it had described all its counters: the rest are 0
    struct buffer bytes;
    ARRAY(struct counts_module) modules;
};
_must_check_ struct error *counts_file_read(const char *path, struct counts_file *ret_file);
// The same for bytes in memory. Takes over `bytes`.
_must_check_ struct error *counts_file_parse(const char *path, struct buffer *bytes,
                                             struct counts_file *ret_file);
void counts_file_close(struct counts_file *file);
// Adds the file's counts to `counts`, one element per block of the subject. An error if the subject
// does not know a module.
_must_check_ struct error *counts_file_add(const struct counts_file *file,
                                           const struct fidelity_subject *subject,
                                           uint64_t *counts);

struct counts_run {
    ARRAY(struct counts_file) files;
};
// A directory with files of counts is one run. A directory with numbered directories has one run in
// each.
struct fidelity_workload {
    char *label, *directory;
    ARRAY(struct counts_run) runs;
    uint64_t **counts; // by run and block; set by fidelity_workload_add_up()
    uint64_t *total;   // by block
};
_must_check_ struct error *fidelity_workload_read(const char *label, const char *directory,
                                                  struct fidelity_workload *ret_workload);
void fidelity_workload_deinit(struct fidelity_workload *workload);
// Adds the linked files that the workload's counts come from, unless the subject has them already.
_must_check_ struct error *fidelity_subject_add_counted(struct fidelity_subject *subject,
                                                        const struct fidelity_workload *workload);
// Adds up the counts of every run and of all runs. Call it after fidelity_subject_finish().
_must_check_ struct error *fidelity_workload_add_up(struct fidelity_workload *workload,
                                                    const struct fidelity_subject *subject);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// What one run of a workload did, as far as it can be seen from outside: the raw material of
// references and verdicts.
#ifndef ORDEAL_ORACLE_OUTCOME_H
#define ORDEAL_ORACLE_OUTCOME_H

#include "base/array.h"
#include "base/error.h"
#include "injector/injector.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

#define ARTIFACT_CONTENT (64u << 10) // bytes kept of each for a comparison by lines
#define ARTIFACT_TOTAL   (4u << 20)  // bytes kept of all files of one run together

struct artifact { // an output: a stream ("<stdout>", "<stderr>") or a changed file
    char *path;
    enum artifact_kind kind;
    unsigned mode; // as in store_artifact
    uint64_t size, hash;
    struct buffer content; // beginning, at most ARTIFACT_CONTENT; nothing of what is not text
};
void artifact_deinit(struct artifact *artifact);

struct outcome_run {
    // SANDBOX_SKIPPED if there is none or it did not come to that
    struct sandbox_result setup, pretest, workload, posttest, oracle, teardown;
    bool setup_failed;
    ARRAY(struct artifact) artifacts; // sorted by path; streams first
    struct observation observation;
    bool wants_terminal;         // was ended since it waited for input from one
    char *remaining;             // processes that still ran then, "sshd, sleep", or NULL
    char *hang_stack, *hang_key; // as the crash's, of a run that was overdue; or NULL
    char *sanitizer; // "AddressSanitizer: heap-use-after-free ...", one complaint per line, or NULL
    // Of a server: what went wrong in its life, as a sentence, or NULL; and whether that means that
    // it never came up, or that it ended before anybody asked it to.
    char *service;
    bool down, exited_early;
    char *trouble; // why the run could not be led to its end by no fault of the target
};
void outcome_run_deinit(struct outcome_run *run);

// Adds the workload's streams, which must be there already, as the first artifacts.
_must_check_ struct error *outcome_add_streams(struct outcome_run *run);
// Adds a change of the file system; the first ones with their content, if that is text.
// *content_left is what of ARTIFACT_TOTAL is left.
_must_check_ struct error *outcome_add_change(struct outcome_run *run,
                                              const struct sandbox_change *change,
                                              size_t *content_left);
// Makes a run in a copy of the directory `to`, made at `from`, comparable with runs in other
// copies: writes `to` for `from` in paths and, as far as they were kept, in contents.
_must_check_ struct error *outcome_move(struct outcome_run *run, const char *from, const char *to);
// Adds the workload's complaints (complaint.h) that were found elsewhere to those on stderr.
_must_check_ struct error *outcome_set_sanitizer(struct outcome_run *run, struct buffer *more);

// As in store_trial.
enum store_outcome outcome_of(enum sandbox_end end);
// Whether a step was run and did not end with exit status 0.
bool outcome_failed(const struct sandbox_result *result);
// "exit status 3", "killed by SIGSEGV", "took longer than its time".
_must_check_ struct error *outcome_put_end(struct buffer *buffer,
                                           const struct sandbox_result *result);
// "SIGSEGV", or "signal 99"; static storage.
const char *outcome_signal_name(int number);

#endif

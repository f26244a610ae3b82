// SPDX-License-Identifier: GPL-3.0-or-later
// What one run of a workload did, as far as it shows from outside. References and verdicts are made
// of it.
#ifndef ORDEAL_ORACLE_OUTCOME_H
#define ORDEAL_ORACLE_OUTCOME_H

#include "base/array.h"
#include "base/error.h"
#include "injector/injector.h"
#include "oracle/format.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

#define ARTIFACT_CONTENT (64u << 10) // bytes kept of each, to compare line by line
#define ARTIFACT_TOTAL   (4u << 20)  // bytes kept of all files of one run together
#define ARTIFACT_FILES   8           // files of one run that are kept open, to be decoded
#define ARTIFACT_DECODED (64u << 20) // bytes of the largest of them

struct artifact { // an output: a stream ("<stdout>", "<stderr>") or a changed file
    char *path;
    enum artifact_kind kind;
    unsigned mode; // as in store_artifact
    uint64_t size, hash;
    struct buffer content;       // the first ARTIFACT_CONTENT bytes; empty if it is not text
    const struct format *format; // as its first bytes say, or NULL
    int file;                    // of a file with a format: open for reading; 0: not open
    struct decoding decoding;
};
void artifact_deinit(struct artifact *artifact);

// What the command did, or one start of the program that it is about (oracle.invocations).
struct outcome_invocation {
    char *trace;    // of visible behaviour; NULL: it had not ended when the time was over
    uint64_t ns;    // that it took
    int status;     // as waitpid() gives it
    bool activated; // with a fault: that was activated in it
};

struct outcome_run {
    // SANDBOX_SKIPPED if there is no such step or it was not reached
    struct sandbox_result setup, pretest, build, workload, posttest, oracle, teardown;
    bool setup_failed;
    uint32_t input;                   // of the campaign, that it was run with
    ARRAY(struct artifact) artifacts; // sorted by path; streams first
    struct observation observation;
    bool wants_terminal;         // it waited for input from a terminal and was ended
    char *remaining;             // processes that still ran at the timeout, "sshd, sleep", or NULL
    char *hang_stack, *hang_key; // as the crash's, of a run that timed out; or NULL
    bool hang_busy;              // the thread with that stack did not wait
    char *sanitizer; // "AddressSanitizer: heap-use-after-free ...", one report per line, or NULL
    bool serves;     // the command is a server, and the output is its load's
    // Of a server: what went wrong with it, as a sentence, or NULL.
    char *service;
    // In reference runs: files from before that are not there while it serves, one path per line.
    struct buffer absent;
    bool down;         // it never became ready: it ended, or waits for events elsewhere
    bool before_ready; // it ended, or its time was over, before it was ready
    bool exited_early; // it exited before it was told to stop
    ARRAY(struct outcome_invocation) invocations; // if behaviour was recorded; by their start
    struct buffer interface; // the trace of an interface (interface/record.h), or empty
    char *trouble;           // why the run failed for reasons that are not the target's; or NULL
};
void outcome_run_deinit(struct outcome_run *run);

// Adds the workload's streams as the first artifacts. run->workload must be there already.
_must_check_ struct error *outcome_add_streams(struct outcome_run *run);
// Adds a change of the file system. Texts are kept until ARTIFACT_TOTAL bytes are used up;
// *content_left is what is left of them. Files with a format stay open, up to ARTIFACT_FILES.
_must_check_ struct error *outcome_add_change(struct outcome_run *run,
                                              const struct sandbox_change *change,
                                              size_t *content_left);
// Whether a file without which this one is incomplete lies beside it (format.beside). For artifacts
// with a format.
bool outcome_is_incomplete(const struct outcome_run *run, const struct artifact *artifact);
// Makes a run in a copy of the directory `to`, which was made at `from`, comparable with runs in
// other copies: replaces `from` by `to` in paths and in the contents that were kept.
_must_check_ struct error *outcome_move(struct outcome_run *run, const char *from, const char *to);
// Sets run->sanitizer to the reports on the workload's stderr and those in `more`, which were found
// elsewhere (sanitizer-report.h). `more` may be NULL.
_must_check_ struct error *outcome_set_sanitizer(struct outcome_run *run, struct buffer *more);

// How the store calls this end.
enum store_outcome outcome_of(enum sandbox_end end);
// Whether a step was run and did not end with exit status 0.
bool outcome_failed(const struct sandbox_result *result);
// Appends "exit status 3", "killed by SIGSEGV", "not done after 5 s".
_must_check_ struct error *outcome_put_end(struct buffer *buffer,
                                           const struct sandbox_result *result);
// "SIGSEGV", or "signal 99"; a buffer of the thread, valid until the next call.
const char *outcome_signal_name(int number);

#endif

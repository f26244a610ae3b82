// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of a workload that never took place, for tests of references and verdicts.
#ifndef ORDEAL_TESTS_RUN_HELP_H
#define ORDEAL_TESTS_RUN_HELP_H

#include "base/hash.h"
#include "oracle/judge.h"
#include "victim.h"

#include <errno.h>

static void run_stream(struct sandbox_stream *stream, const char *text, size_t size)
{
    buffer_deinit(&stream->kept);
    size_t kept = size < (1u << 20) ? size : (1u << 20);
    good(buffer_append(&stream->kept, text, kept));
    stream->size = size;
    stream->hash = hash_bytes(text, size);
}

// A run that ended with an exit status and has one activation.
static struct outcome_run run_new(int status, const char *out, const char *err)
{
    struct outcome_run run = {.workload = {.end = SANDBOX_EXIT, .status = status, .ns = 1000000}};
    run_stream(&run.workload.out, out, strlen(out));
    run_stream(&run.workload.err, err, strlen(err));
    good(outcome_add_streams(&run));
    run.observation.activations = 1;
    struct injection *injection = ARRAY_ADD(&run.observation.injections);
    assert_non_null(injection);
    injection->fault = strdup("read=-1/EIO");
    injection->error = EIO;
    injection->function = strdup("read");
    injection->symbol = strdup("fill");
    injection->file = strdup("in.c");
    injection->line = 7;
    return run;
}

__attribute__((unused)) static void run_file_bytes(struct outcome_run *run, const char *path,
                                                   enum artifact_kind kind, const void *content,
                                                   size_t size)
{
    struct artifact *artifact = ARRAY_ADD(&run->artifacts);
    assert_non_null(artifact);
    *artifact = (struct artifact){
        .path = strdup(path), .kind = kind, .size = size, .hash = hash_bytes(content, size)};
    size_t kept = size < ARTIFACT_CONTENT ? size : ARTIFACT_CONTENT;
    if (kept != 0 && memchr(content, '\0', kept) == NULL)
        good(buffer_append(&artifact->content, content, kept));
}

__attribute__((unused)) static void run_file(struct outcome_run *run, const char *path,
                                             const char *content)
{
    run_file_bytes(run, path, ARTIFACT_FILE, content, strlen(content));
}

__attribute__((unused)) static void run_step(struct sandbox_result *result, int status,
                                             const char *out, const char *err)
{
    *result = (struct sandbox_result){.end = SANDBOX_EXIT, .status = status};
    run_stream(&result->out, out, strlen(out));
    run_stream(&result->err, err, strlen(err));
}

// Adds a reference run and forgets it.
__attribute__((unused)) static void refer(struct reference *reference, struct outcome_run run)
{
    good(reference_add(reference, &run));
    outcome_run_deinit(&run);
}

#endif

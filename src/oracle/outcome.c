// SPDX-License-Identifier: GPL-3.0-or-later
// Collects what a run did: streams and changed files as artifacts, sanitizer reports, and how a
// step ended, in words.
#include "oracle/outcome.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "oracle/sanitizer-report.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

void artifact_deinit(struct artifact *artifact)
{
    free(artifact->path);
    buffer_deinit(&artifact->content);
    free(artifact->decoding.said);
    if (artifact->file > 0)
        close(artifact->file);
    *artifact = (struct artifact){0};
}

void outcome_run_deinit(struct outcome_run *run)
{
    struct sandbox_result *results[] = {&run->setup,    &run->pretest,  &run->build,
                                        &run->workload, &run->posttest, &run->oracle,
                                        &run->teardown};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        sandbox_result_deinit(results[i]);
    for (size_t i = 0; i < run->artifacts.count; i++)
        artifact_deinit(&run->artifacts.items[i]);
    ARRAY_DEINIT(&run->artifacts);
    observation_deinit(&run->observation);
    free(run->remaining);
    free(run->hang_stack);
    free(run->hang_key);
    free(run->sanitizer);
    free(run->service);
    buffer_deinit(&run->absent);
    free(run->trouble);
    for (size_t i = 0; i < run->invocations.count; i++)
        free(run->invocations.items[i].trace);
    ARRAY_DEINIT(&run->invocations);
    buffer_deinit(&run->interface);
    *run = (struct outcome_run){0};
}

static struct error *add(struct outcome_run *run, const char *path, enum artifact_kind kind,
                         struct artifact **ret_artifact)
{
    char *copy = strdup(path);
    struct artifact *artifact = copy != NULL ? ARRAY_ADD(&run->artifacts) : NULL;
    if (artifact == NULL) {
        free(copy);
        return error_no_memory();
    }
    artifact->path = copy;
    artifact->kind = kind;
    *ret_artifact = artifact;
    return NULL;
}

static bool is_text(const char *data, size_t size)
{
    return size == 0 || memchr(data, '\0', size) == NULL;
}

static struct error *add_stream(struct outcome_run *run, const char *path,
                                const struct sandbox_stream *stream)
{
    struct artifact *artifact = NULL;
    TRY(add(run, path, ARTIFACT_STREAM, &artifact));
    artifact->mode = ARTIFACT_NO_MODE;
    artifact->size = stream->size;
    artifact->hash = stream->hash;
    artifact->format = format_find(stream->kept.data, stream->kept.size);
    size_t kept = stream->kept.size < ARTIFACT_CONTENT ? stream->kept.size : ARTIFACT_CONTENT;
    if (!is_text(stream->kept.data, kept))
        return NULL;
    return buffer_append(&artifact->content, stream->kept.data, kept);
}

struct error *outcome_add_streams(struct outcome_run *run)
{
    TRY(add_stream(run, "<stdout>", &run->workload.out));
    TRY(add_stream(run, "<stderr>", &run->workload.err));
    struct artifact *all = run->artifacts.items;
    size_t files = run->artifacts.count - 2;
    struct artifact streams[2] = {all[files], all[files + 1]};
    memmove(all + 2, all, files * sizeof *all);
    memcpy(all, streams, sizeof streams);
    return NULL;
}

// Reads the beginning of a file. One that cannot be read, or is no text, stays empty and is
// compared by its hash alone.
static struct error *read_beginning(int file, size_t most, struct buffer *content)
{
    char chunk[8192];
    while (content->size < most) {
        size_t wanted = most - content->size < sizeof chunk ? most - content->size : sizeof chunk;
        ssize_t got = read(file, chunk, wanted);
        if (got <= 0)
            break;
        if (!is_text(chunk, (size_t)got)) {
            buffer_deinit(content);
            break;
        }
        TRY(buffer_append(content, chunk, (size_t)got));
    }
    return NULL;
}

bool outcome_is_incomplete(const struct outcome_run *run, const struct artifact *artifact)
{
    size_t size = strlen(artifact->path);
    for (const char *const *ending = artifact->format->beside; ending != NULL && *ending != NULL;
         ending++)
        for (size_t i = 0; i < run->artifacts.count; i++) {
            const struct artifact *other = &run->artifacts.items[i];
            if (other->kind == ARTIFACT_FILE && other->size != 0 &&
                strncmp(other->path, artifact->path, size) == 0 &&
                strcmp(other->path + size, *ending) == 0)
                return true;
        }
    return false;
}

// Recognises a file and keeps it open. The standard streams may be closed; their numbers are not
// used.
static void find_format(const struct outcome_run *run, struct artifact *artifact, int file)
{
    char beginning[FORMAT_BEGINNING];
    size_t open = 0;
    ssize_t got = pread(file, beginning, sizeof beginning, 0);
    artifact->format = got > 0 ? format_find(beginning, (size_t)got) : NULL;
    if (artifact->format == NULL || artifact->size > ARTIFACT_DECODED)
        return;
    for (size_t i = 0; i < run->artifacts.count; i++)
        open += run->artifacts.items[i].file > 0;
    int copy = open < ARTIFACT_FILES ? fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    artifact->file = copy > 0 && lseek(copy, 0, SEEK_SET) == 0 ? copy : 0;
    if (copy > 0 && artifact->file == 0)
        close(copy);
}

struct error *outcome_add_change(struct outcome_run *run, const struct sandbox_change *change,
                                 size_t *content_left)
{
    static const enum artifact_kind kinds[] = {[SANDBOX_FILE] = ARTIFACT_FILE,
                                               [SANDBOX_DIRECTORY] = ARTIFACT_DIRECTORY,
                                               [SANDBOX_LINK] = ARTIFACT_LINK,
                                               [SANDBOX_OTHER] = ARTIFACT_OTHER,
                                               [SANDBOX_DELETED] = ARTIFACT_DELETED};
    struct artifact *artifact = NULL;
    TRY(add(run, change->path, kinds[change->kind], &artifact));
    artifact->size = change->size;
    artifact->hash = change->hash;
    artifact->mode = change->mode;
    if (change->kind != SANDBOX_FILE || change->open == NULL)
        return NULL;
    _cleanup_close_ int file =
        open(change->open, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0)
        return NULL;
    size_t most = *content_left < ARTIFACT_CONTENT ? *content_left : ARTIFACT_CONTENT;
    TRY(read_beginning(file, most, &artifact->content));
    *content_left -= artifact->content.size;
    find_format(run, artifact, file);
    return NULL;
}

static struct error *replace_path(struct artifact *artifact, const char *from, const char *to)
{
    _cleanup_(buffer_deinit) struct buffer made = {0};
    size_t at = 0, size = strlen(from);
    const char *found;
    while (at < artifact->content.size &&
           (found = memmem(artifact->content.data + at, artifact->content.size - at, from, size))) {
        size_t before = (size_t)(found - artifact->content.data) - at;
        TRY(buffer_append(&made, artifact->content.data + at, before));
        TRY(buffer_append(&made, to, strlen(to)));
        at += before + size;
    }
    if (at == 0)
        return NULL;
    TRY(buffer_append(&made, artifact->content.data + at, artifact->content.size - at));
    artifact->size = artifact->size - artifact->content.size + made.size;
    artifact->hash = hash_bytes(made.data, made.size);
    struct buffer swap = artifact->content;
    artifact->content = made;
    made = swap;
    return NULL;
}

static struct error *move_path(struct artifact *artifact, const char *from, const char *to)
{
    size_t size = strlen(from);
    if (strncmp(artifact->path, from, size) != 0 ||
        (artifact->path[size] != '/' && artifact->path[size] != '\0'))
        return NULL;
    char *moved;
    if (asprintf(&moved, "%s%s", to, artifact->path + size) < 0)
        return error_no_memory();
    free(artifact->path);
    artifact->path = moved;
    return NULL;
}

struct error *outcome_move(struct outcome_run *run, const char *from, const char *to)
{
    if (strcmp(from, to) == 0)
        return NULL;
    for (size_t i = 0; i < run->artifacts.count; i++) {
        TRY(move_path(&run->artifacts.items[i], from, to));
        TRY(replace_path(&run->artifacts.items[i], from, to));
    }
    return NULL;
}

struct error *outcome_set_sanitizer(struct outcome_run *run, struct buffer *more)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    TRY(sanitizer_report_scan(run->workload.err.kept.data, run->workload.err.kept.size, &list));
    if (more != NULL && more->size != 0)
        TRY(buffer_append(&list, more->data, more->size));
    free(run->sanitizer);
    run->sanitizer = list.size != 0 ? TAKE(list.data) : NULL;
    return NULL;
}

enum store_outcome outcome_of(enum sandbox_end end)
{
    static const enum store_outcome outcomes[] = {[SANDBOX_SKIPPED] = STORE_OUTCOME_NONE,
                                                  [SANDBOX_EXIT] = STORE_OUTCOME_EXIT,
                                                  [SANDBOX_SIGNAL] = STORE_OUTCOME_SIGNAL,
                                                  [SANDBOX_TIMEOUT] = STORE_OUTCOME_TIMEOUT};
    return outcomes[end];
}

bool outcome_failed(const struct sandbox_result *result)
{
    return result->end != SANDBOX_SKIPPED && (result->end != SANDBOX_EXIT || result->status != 0);
}

const char *outcome_signal_name(int number)
{
    static _Thread_local char text[32];
    const char *name = sigabbrev_np(number);
    if (name != NULL)
        snprintf(text, sizeof text, "SIG%s", name);
    else
        snprintf(text, sizeof text, "signal %d", number);
    return text;
}

struct error *outcome_put_end(struct buffer *buffer, const struct sandbox_result *result)
{
    switch (result->end) {
    case SANDBOX_EXIT:
        return buffer_printf(buffer, "exit status %d", result->status);
    case SANDBOX_SIGNAL:
        return buffer_printf(buffer, "killed by %s", outcome_signal_name(result->status));
    case SANDBOX_TIMEOUT:
        if (result->process_count != 0)
            return buffer_printf(buffer, "ended for having %zu processes at a time",
                                 result->process_count);
        return buffer_printf(buffer, "not done after %.3g s", clock_seconds(result->ns));
    default:
        return buffer_printf(buffer, "not run");
    }
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Saves reference runs in the store and loads them. Sanitizer reports and crashes of reference
// runs, files that a server deletes at its start, and traces are kept as more artifacts, so that
// they condemn no trial after a resume either.
#include "base/cleanup.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "oracle/reference-model.h"

#include <stdlib.h>
#include <string.h>

#define SANITIZER "<sanitizer>"
#define CRASH     "<crash>"
#define ABSENT    "<absent>"
#define TRACE     "<trace>" // packed
#define SECONDS   "<trace seconds>"

static struct error *save_text(struct store *store, int64_t reference, const char *path,
                               const char *text)
{
    if (text == NULL)
        return NULL;
    struct store_artifact row = {.path = path,
                                 .kind = ARTIFACT_STREAM,
                                 .mode = ARTIFACT_NO_MODE,
                                 .size = strlen(text),
                                 .content = text,
                                 .content_size = strlen(text)};
    return store_add_artifact(store, reference, &row);
}

static struct error *save_trace(struct store *store, int64_t reference,
                                const struct reference_run *run)
{
    _cleanup_(buffer_deinit) struct buffer masked = {0}, packed = {0}, seconds = {0};
    if (run->invocations.count == 0)
        return NULL;
    for (size_t i = 0; i < run->invocations.count; i++) {
        const struct reference_invocation *invocation = &run->invocations.items[i];
        if (invocation->text == NULL)
            return NULL;
        TRY(secrets_put(&masked, invocation->text, strlen(invocation->text)));
        TRY(buffer_printf(&seconds, "%.9f %d\n", invocation->seconds, invocation->status));
    }
    TRY(trace_pack(masked.data, masked.size, &packed));
    const struct store_artifact row = {.path = TRACE,
                                       .kind = ARTIFACT_STREAM,
                                       .mode = ARTIFACT_NO_MODE,
                                       .size = masked.size,
                                       .content = packed.data,
                                       .content_size = packed.size};
    TRY(store_add_artifact(store, reference, &row));
    return save_text(store, reference, SECONDS, seconds.data);
}

struct error *reference_put_path(struct buffer *text, const char *path)
{
    for (size_t left = strlen(path); left > 0;) {
        uint32_t character;
        unsigned length = utf8_decode(path, left, &character);
        if (length == 0)
            TRY(buffer_printf(text, "\\x%02x", (unsigned char)*path));
        else if (*path == '\\')
            TRY(buffer_append(text, "\\\\", 2));
        else
            TRY(buffer_append(text, path, length));
        path += length != 0 ? length : 1;
        left -= length != 0 ? length : 1;
    }
    return NULL;
}

static char *take_path(const char *text)
{
    char *path = strdup(text), *to = path;
    for (; path != NULL && *text != '\0'; text++) {
        unsigned byte;
        if (text[0] == '\\' && sscanf(text, "\\x%2x", &byte) == 1) {
            *to++ = (char)byte;
            text += 3;
        } else {
            text += text[0] == '\\' && text[1] != '\0';
            *to++ = *text;
        }
    }
    if (path != NULL)
        *to = '\0';
    return path;
}

static bool has_mode(const struct artifact *artifact)
{
    return artifact->kind == ARTIFACT_FILE || artifact->kind == ARTIFACT_DIRECTORY;
}

static struct error *save_run(struct store *store, int64_t campaign, uint32_t number,
                              const struct reference_run *run)
{
    struct store_reference row = {.campaign = campaign,
                                  .number = number,
                                  .outcome = outcome_of(run->end),
                                  .status = run->status,
                                  .seconds = run->seconds};
    TRY(store_add_reference(store, &row));
    for (size_t i = 0; i < run->artifacts.count; i++) {
        const struct artifact *artifact = &run->artifacts.items[i];
        const struct buffer *content = &artifact->content;
        bool cut = content->size < artifact->size;
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(reference_put_path(&path, artifact->path));
        struct store_artifact kept = {
            .path = path.data,
            .kind = artifact->kind,
            .mode = has_mode(artifact) ? artifact->mode : ARTIFACT_NO_MODE,
            .size = artifact->size,
            .hash = artifact->hash,
            .content = content->data,
            .content_size = cut ? secrets_whole(content->data, content->size) : content->size,
            .format = artifact->decoding.state == DECODING_SOUND ? artifact->format->name : NULL,
            .decoded = artifact->decoding.known,
            .inside = artifact->decoding.hash};
        TRY(store_add_artifact(store, row.id, &kept));
    }
    TRY(save_text(store, row.id, SANITIZER, run->sanitizer));
    TRY(save_text(store, row.id, ABSENT, run->absent));
    TRY(save_trace(store, row.id, run));
    TRY(reference_save_interface(store, row.id, run));
    return save_text(store, row.id, CRASH, run->crash);
}

struct error *reference_save(const struct reference *reference, struct store *store,
                             int64_t campaign)
{
    uint32_t number = 0;
    for (uint32_t input = 0; input <= reference->others.count; input++) {
        const struct reference *own = reference_of(reference, input);
        for (size_t i = 0; i < own->runs.count; i++)
            TRY(save_run(store, campaign, ++number, &own->runs.items[i]));
    }
    return NULL;
}

struct loading {
    struct reference *reference;
    ARRAY(int64_t) ids; // of the runs
    uint32_t inputs;
    struct reference_run *run;
};

static void loading_deinit(struct loading *loading)
{
    reference_free(loading->reference);
    ARRAY_DEINIT(&loading->ids);
}

// All inputs have as many runs, one input after the other.
static uint32_t input_of(const struct loading *loading, size_t run)
{
    uint32_t each = loading->reference->oracle->references;
    return loading->inputs == 0 || each == 0 ? 0 : (uint32_t)(run / each);
}

static struct error *load_run(void *data, const struct store_reference *row)
{
    struct loading *loading = data;
    int64_t *id = ARRAY_ADD(&loading->ids);
    struct reference *own;
    if (id == NULL)
        return error_no_memory();
    TRY(reference_make(loading->reference, input_of(loading, loading->ids.count - 1), &own));
    struct reference_run *run = reference_run_add(own);
    if (run == NULL)
        return error_no_memory();
    *id = row->id;
    for (run->end = SANDBOX_TIMEOUT; run->end != SANDBOX_SKIPPED; run->end--)
        if (outcome_of(run->end) == row->outcome)
            break;
    run->status = row->status;
    run->seconds = row->seconds;
    return NULL;
}

static struct error *take_text(const struct store_artifact *row, char **ret_text)
{
    free(*ret_text);
    *ret_text = strndup(row->content != NULL ? row->content : "", row->content_size);
    return *ret_text == NULL ? error_no_memory() : secrets_restore(ret_text);
}

static struct error *invocation_at(struct reference_run *run, size_t index,
                                   struct reference_invocation **ret_invocation)
{
    if (index == run->invocations.count) {
        struct reference_invocation *added = ARRAY_ADD(&run->invocations);
        if (added == NULL)
            return error_no_memory();
        *added = (struct reference_invocation){0};
    }
    *ret_invocation = &run->invocations.items[index];
    return NULL;
}

static struct error *take_trace(const struct store_artifact *row, struct reference_run *run)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(trace_unpack(row->content, row->content_size, &text));
    const char *at = text.data;
    for (size_t i = 0; at != NULL && *at != '\0'; i++) {
        size_t size = trace_text_size(at);
        struct reference_invocation *invocation = NULL;
        TRY(invocation_at(run, i, &invocation));
        free(invocation->text);
        invocation->text = strndup(at, size);
        if (invocation->text == NULL)
            return error_no_memory();
        TRY(secrets_restore(&invocation->text));
        at += size;
    }
    return NULL;
}

static struct error *take_seconds(const struct store_artifact *row, struct reference_run *run)
{
    _cleanup_free_ char *text = NULL;
    TRY(take_text(row, &text));
    char *at = text;
    for (size_t i = 0; *at != '\0'; i++) {
        struct reference_invocation *invocation = NULL;
        TRY(invocation_at(run, i, &invocation));
        invocation->seconds = strtod(at, &at);
        // Older versions kept no status: it is that of the command.
        invocation->status = *at == ' ' ? (int)strtol(at, &at, 10) : run->status << 8;
        at += strspn(at, "\n");
    }
    return NULL;
}

static struct error *load_artifact(void *data, const struct store_artifact *row)
{
    struct reference_run *run = ((struct loading *)data)->run;
    if (strcmp(row->path, SANITIZER) == 0)
        return take_text(row, &run->sanitizer);
    if (strcmp(row->path, CRASH) == 0)
        return take_text(row, &run->crash);
    if (strcmp(row->path, ABSENT) == 0)
        return take_text(row, &run->absent);
    if (strcmp(row->path, TRACE) == 0)
        return take_trace(row, run);
    if (strcmp(row->path, SECONDS) == 0)
        return take_seconds(row, run);
    if (strcmp(row->path, STORE_INTERFACE) == 0)
        return reference_load_interface(row, run);
    if (strcmp(row->path, STORE_ACCESSES) == 0)
        return NULL;
    struct artifact *artifact = ARRAY_ADD(&run->artifacts);
    if (artifact == NULL)
        return error_no_memory();
    artifact->kind = row->kind;
    artifact->mode = row->mode;
    artifact->size = row->size;
    artifact->hash = row->hash;
    artifact->format = row->format != NULL ? format_named(row->format) : NULL;
    if (artifact->format != NULL)
        artifact->decoding =
            (struct decoding){.state = DECODING_SOUND, .known = row->decoded, .hash = row->inside};
    if ((artifact->path = take_path(row->path)) == NULL) {
        run->artifacts.count--;
        return error_no_memory();
    }
    TRY(secrets_restore(&artifact->path));
    if (row->content == NULL || row->content_size == 0)
        return NULL;
    // Trials are compared with the real bytes.
    TRY(secrets_put_restored(&artifact->content, row->content, row->content_size));
    // A secret that has another length now does not mean that something is missing at the end.
    if (artifact->content.size != row->content_size && artifact->content.size < ARTIFACT_CONTENT)
        artifact->size = artifact->content.size;
    return NULL;
}

struct error *reference_load(const struct oracle *oracle, uint32_t inputs, struct store *store,
                             int64_t campaign, struct reference **ret_reference)
{
    _cleanup_(loading_deinit) struct loading loading = {.inputs = inputs};
    TRY(reference_new(oracle, &loading.reference));
    TRY(store_each_reference(store, campaign, load_run, &loading));
    for (size_t i = 0; i < loading.ids.count; i++) {
        const struct reference *own = reference_of(loading.reference, input_of(&loading, i));
        loading.run = &own->runs.items[inputs != 0 ? i % oracle->references : i];
        TRY(store_each_artifact(store, loading.ids.items[i], load_artifact, &loading));
        if (loading.run->artifacts.count != 0)
            qsort(loading.run->artifacts.items, loading.run->artifacts.count,
                  sizeof *loading.run->artifacts.items, reference_by_path);
    }
    TRY(reference_settle(loading.reference));
    *ret_reference = TAKE(loading.reference);
    return NULL;
}

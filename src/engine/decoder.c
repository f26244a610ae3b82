// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the scripts of oracle/format.c on files and streams of a run. One that holds an archive is
// read twice: to unpack it, and to read the archive in it.
#include "engine/decoder.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/quote.h"
#include "base/timeouts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct decoder {
    enum sandbox_kind kind;
    struct sandbox *sandbox;
};

struct error *decoder_new(struct decoder **ret_decoder)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return error_no_memory();
    decoder->kind = SANDBOX_OVERLAY;
    *ret_decoder = decoder;
    return NULL;
}

void decoder_free(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    sandbox_free(decoder->sandbox);
    free(decoder);
}

// The programs write nothing but what they need for a moment, so that a sandbox without a private
// view will do if the machine has no other. Why the trials have none does not matter: the user may
// want them to see the real files, or the workload may not run in an overlay.
static struct error *open_sandbox(struct decoder *decoder)
{
    const struct sandbox_limits limits = {
        .cpu_s = DECODER_WAIT_NS / NS_PER_S, .memory_bytes = 1ull << 30, .file_bytes = 1u << 30};
    struct sandbox_options options = {.kind = decoder->kind,
                                      .directory = "/",
                                      .network = decoder->kind == SANDBOX_OVERLAY,
                                      .limits = limits,
                                      .capture_limit = 16u << 10};
    if (decoder->sandbox != NULL)
        return NULL;
    struct error *error = sandbox_new(&options, &decoder->sandbox);
    if (error == NULL || decoder->kind == SANDBOX_NONE)
        return error;
    error_free(error);
    options.kind = decoder->kind = SANDBOX_NONE;
    options.network = false;
    return sandbox_new(&options, &decoder->sandbox);
}

// Runs the script on the file. The file is read from its beginning.
static struct error *run_script(struct decoder *decoder, char *script, int file,
                                struct sandbox_result *ret_result)
{
    char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC",
                                 "HOME=/nonexistent", NULL};
    char *const command[] = {"sh", "-c", script, NULL};
    const struct sandbox_step step = {.command = command,
                                      .environment = environment,
                                      .input = file,
                                      .timeout_ns = DECODER_WAIT_NS};
    if (lseek(file, 0, SEEK_SET) != 0)
        return error_from_errno(errno, "cannot read a file of a trial again");
    return sandbox_run(decoder->sandbox, &step, 1, NULL, NULL, NULL, ret_result);
}

// Appends what the program complained of, in quotes: its first line that begins with its name.
// Other lines are names of files in an archive.
static struct error *put_complaint(const struct buffer *err, const char *tool, struct buffer *said)
{
    const char *end = err->data + err->size;
    size_t name = strlen(tool);
    for (const char *line = err->data, *next; line != NULL && line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline != NULL ? newline : end) - line);
        next = line + length + 1;
        if (length > name && memcmp(line, tool, name) == 0 && line[name] == ':')
            return quote_put_word(said, line, length);
    }
    return quote_put_last_line(said, "", err->data, err->size);
}

static struct error *take_result(const struct sandbox_result *result, const char *tool,
                                 struct decoding *decoding)
{
    decoding->state = DECODING_NONE;
    // Above 128 the tool was killed: it came to no end.
    if (result->end != SANDBOX_EXIT || result->status == FORMAT_NO_TOOL || result->status == 126 ||
        result->status > 128)
        return NULL;
    if (result->status == 0 || result->status == FORMAT_SOUND_ONLY) {
        const uint64_t parts[] = {result->out.size, result->out.hash, result->err.size,
                                  result->err.hash};
        decoding->state = DECODING_SOUND;
        decoding->known = result->status == 0;
        decoding->hash = decoding->known ? hash_bytes(parts, sizeof parts) : 0;
        return NULL;
    }
    _cleanup_(buffer_deinit) struct buffer said = {0};
    TRY(put_complaint(&result->err.kept, tool, &said));
    decoding->state = DECODING_DAMAGED;
    decoding->tool = tool;
    free(decoding->said);
    decoding->said = said.size != 0 ? TAKE(said.data) : NULL;
    return NULL;
}

static struct error *decode(struct decoder *decoder, const struct format *format, int file,
                            struct decoding *decoding)
{
    _cleanup_free_ char *script = NULL, *second = NULL;
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0}, inside = {0};
    TRY(format_script(format, NULL, &script));
    TRY(run_script(decoder, script, file, &result));
    TRY(take_result(&result, format->tool, decoding));
    if (decoding->state != DECODING_SOUND || !format->packs)
        return NULL;
    const struct format *inner = format_find(result.out.kept.data, result.out.kept.size);
    if (inner == NULL || !inner->streams)
        return NULL;
    TRY(format_script(format, inner, &second));
    TRY(run_script(decoder, second, file, &inside));
    struct decoding archive = {0};
    TRY(take_result(&inside, inner->tool, &archive));
    if (archive.state == DECODING_DAMAGED)
        *decoding = archive;
    return NULL;
}

// A stream has no file: what was kept of it is put into one. -1: not all of it was kept.
static int stream_file(const struct sandbox_stream *stream)
{
    if (stream->size != stream->kept.size)
        return -1;
    int file = memfd_create("ordeal-stream", MFD_CLOEXEC);
    if (file >= 0 &&
        write(file, stream->kept.data, stream->kept.size) == (ssize_t)stream->kept.size)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

struct error *decoder_run(struct decoder *decoder, struct outcome_run *run,
                          const struct reference *reference)
{
    for (size_t i = 0; i < run->artifacts.count; i++) {
        struct artifact *artifact = &run->artifacts.items[i];
        if (artifact->format == NULL || outcome_is_incomplete(run, artifact) ||
            (reference != NULL && !reference_wants_decoding(reference, artifact)))
            continue;
        _cleanup_close_ int stream = -1;
        if (strcmp(artifact->path, "<stdout>") == 0)
            stream = stream_file(&run->workload.out);
        int file = artifact->file > 0 ? artifact->file : stream;
        if (file < 0)
            continue;
        TRY(open_sandbox(decoder));
        TRY(decode(decoder, artifact->format, file, &artifact->decoding));
    }
    return NULL;
}

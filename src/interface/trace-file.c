// SPDX-License-Identifier: GPL-3.0-or-later
// zstd's streaming interface. Level 1: the program that is traced waits for it.
#include "interface/trace-file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zstd.h>

#define FIRST_LINE "ordeal interface trace 1\n"
#define LEVEL      1

struct trace_writer {
    int descriptor;
    char *name;
    ZSTD_CStream *stream;
    char *packed;
    size_t room;
    uint64_t size; // written
};

static struct error *put(struct trace_writer *writer, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = write(writer->descriptor, (const char *)bytes + done, size - done);
        if (got < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot write %s", writer->name);
        done += got > 0 ? (size_t)got : 0;
    }
    writer->size += size;
    return NULL;
}

struct error *trace_writer_new(int descriptor, const char *name, struct trace_writer **ret_writer)
{
    struct trace_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return error_no_memory();
    *writer = (struct trace_writer){.descriptor = descriptor,
                                    .name = strdup(name),
                                    .stream = ZSTD_createCStream(),
                                    .room = ZSTD_CStreamOutSize()};
    writer->packed = malloc(writer->room);
    struct error *error = NULL;
    if (writer->name == NULL || writer->stream == NULL || writer->packed == NULL ||
        ZSTD_isError(ZSTD_initCStream(writer->stream, LEVEL)))
        error = error_no_memory();
    if (error == NULL)
        error = put(writer, FIRST_LINE, sizeof FIRST_LINE - 1);
    if (error == NULL)
        *ret_writer = writer;
    else
        trace_writer_free(writer);
    return error;
}

static struct error *pack(struct trace_writer *writer, ZSTD_inBuffer *input,
                          ZSTD_EndDirective directive)
{
    size_t left;
    do {
        ZSTD_outBuffer output = {.dst = writer->packed, .size = writer->room};
        left = ZSTD_compressStream2(writer->stream, &output, input, directive);
        if (ZSTD_isError(left))
            return error_new("cannot pack %s: %s", writer->name, ZSTD_getErrorName(left));
        TRY(put(writer, writer->packed, output.pos));
    } while (directive == ZSTD_e_end ? left != 0 : input->pos < input->size);
    return NULL;
}

struct error *trace_writer_add(struct trace_writer *writer, const struct interface_block *block)
{
    ZSTD_inBuffer input = {.src = block, .size = block->size};
    return pack(writer, &input, ZSTD_e_continue);
}

struct error *trace_writer_finish(struct trace_writer *writer)
{
    ZSTD_inBuffer input = {.src = ""};
    return pack(writer, &input, ZSTD_e_end);
}

uint64_t trace_writer_size(const struct trace_writer *writer)
{
    return writer->size;
}

void trace_writer_free(struct trace_writer *writer)
{
    if (writer == NULL)
        return;
    ZSTD_freeCStream(writer->stream);
    free(writer->packed);
    free(writer->name);
    free(writer);
}

struct trace_reader {
    char *name;
    int file;
    ZSTD_DStream *stream; // NULL: the blocks are in memory, and are all in `input`
    char *room;
    ZSTD_inBuffer input;
    bool ended;
    bool frame_open;   // zstd expects more
    bool output_waits; // and may have unpacked more than was wanted
    uint64_t offset;   // of the block, unpacked
    size_t filled;
    _Alignas(struct interface_block) char block[INTERFACE_BLOCK_SIZE];
};

static struct error *fill_input(struct trace_reader *reader)
{
    ssize_t got;
    if (reader->file < 0) { // all was there
        reader->ended = true;
        return NULL;
    }
    do {
        got = read(reader->file, reader->room, ZSTD_DStreamInSize());
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return error_from_errno(errno, "cannot read %s", reader->name);
    reader->input = (ZSTD_inBuffer){.src = reader->room, .size = (size_t)got};
    reader->ended = got == 0;
    return NULL;
}

static struct error *check_first_line(struct trace_reader *reader)
{
    char line[sizeof FIRST_LINE - 1];
    size_t done = 0;
    while (done < sizeof line) {
        ssize_t got = read(reader->file, line + done, sizeof line - done);
        if (got < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot read %s", reader->name);
        if (got == 0)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    if (done != sizeof line || memcmp(line, FIRST_LINE, sizeof line) != 0)
        return error_new("%s is no trace of `ordeal propagate` of this version", reader->name);
    return NULL;
}

static struct error *new_reader(const char *name, struct trace_reader **ret_reader)
{
    struct trace_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return error_no_memory();
    reader->file = -1;
    reader->frame_open = true;
    reader->name = strdup(name);
    reader->stream = ZSTD_createDStream();
    reader->room = malloc(ZSTD_DStreamInSize());
    if (reader->name == NULL || reader->stream == NULL || reader->room == NULL) {
        trace_reader_close(reader);
        return error_no_memory();
    }
    *ret_reader = reader;
    return NULL;
}

struct error *trace_reader_of_file(const void *content, size_t size,
                                   struct trace_reader **ret_reader)
{
    size_t line = sizeof FIRST_LINE - 1;
    struct trace_reader *reader;
    if (size < line || memcmp(content, FIRST_LINE, line) != 0)
        return error_new("it is no trace of `ordeal propagate` of this version");
    TRY(new_reader("the trace", &reader));
    reader->input = (ZSTD_inBuffer){.src = (const char *)content + line, .size = size - line};
    *ret_reader = reader;
    return NULL;
}

struct error *trace_reader_open(const char *path, struct trace_reader **ret_reader)
{
    struct trace_reader *reader;
    struct error *error = NULL;
    TRY(new_reader(path, &reader));
    if ((reader->file = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        error = error_from_errno(errno, "cannot open %s", path);
    else
        error = check_first_line(reader);
    if (error == NULL)
        *ret_reader = reader;
    else
        trace_reader_close(reader);
    return error;
}

struct error *trace_reader_of(const void *blocks, size_t size, struct trace_reader **ret_reader)
{
    struct trace_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return error_no_memory();
    reader->file = -1;
    reader->name = strdup("trace");
    reader->input = (ZSTD_inBuffer){.src = blocks, .size = size};
    if (reader->name == NULL) {
        trace_reader_close(reader);
        return error_no_memory();
    }
    *ret_reader = reader;
    return NULL;
}

// Fills `block` up to `wanted` bytes, or fewer at the end.
static struct error *need(struct trace_reader *reader, size_t wanted)
{
    if (reader->stream == NULL) {
        size_t left = reader->input.size - reader->input.pos, more = wanted - reader->filled;
        more = more < left ? more : left;
        memcpy(reader->block + reader->filled, (const char *)reader->input.src + reader->input.pos,
               more);
        reader->filled += more;
        reader->input.pos += more;
        return NULL;
    }
    while (reader->filled < wanted) {
        if (reader->input.pos == reader->input.size && !reader->output_waits) {
            TRY(fill_input(reader));
            if (reader->ended)
                return NULL;
        }
        ZSTD_outBuffer output = {.dst = reader->block, .size = wanted, .pos = reader->filled};
        size_t code = ZSTD_decompressStream(reader->stream, &output, &reader->input);
        if (ZSTD_isError(code))
            return error_new("%s is damaged: %s", reader->name, ZSTD_getErrorName(code));
        reader->frame_open = code != 0;
        reader->output_waits = code != 0 && output.pos == output.size;
        reader->filled = output.pos;
    }
    return NULL;
}

struct error *trace_reader_next(struct trace_reader *reader,
                                const struct interface_block **ret_block)
{
    struct interface_block *block = (struct interface_block *)(void *)reader->block;
    reader->filled = 0;
    TRY(need(reader, sizeof *block));
    if (reader->filled == 0 && !reader->frame_open) {
        *ret_block = NULL;
        return NULL;
    }
    if (reader->filled == sizeof *block) {
        if (block->magic != INTERFACE_BLOCK_MAGIC || block->size <= sizeof *block ||
            block->size > INTERFACE_BLOCK_SIZE)
            return error_new("%s is damaged at byte %llu of its content", reader->name,
                             (unsigned long long)reader->offset);
        TRY(need(reader, block->size));
    }
    if (reader->filled < sizeof *block || reader->filled != block->size)
        return error_new("%s is cut off at byte %llu of its content", reader->name,
                         (unsigned long long)(reader->offset + reader->filled));
    reader->offset += block->size;
    *ret_block = block;
    return NULL;
}

const char *trace_reader_name(const struct trace_reader *reader)
{
    return reader->name;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->file >= 0)
        close(reader->file);
    ZSTD_freeDStream(reader->stream);
    free(reader->room);
    free(reader->name);
    free(reader);
}

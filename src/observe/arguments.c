// SPDX-License-Identifier: GPL-3.0-or-later
// Shows arguments: paths, flags and numbers as they are when the call begins, data as hashes of
// what the result says was transferred. Pointers are never shown.
#include "observe/arguments.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "observe/contents.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#define CHUNK    65536u
#define VECTORS  1024u // that the kernel takes
#define RECENT_S 86400

void call_start_deinit(struct call_start *start)
{
    for (size_t i = 0; i < start->pieces.count; i++)
        buffer_deinit(&start->pieces.items[i]);
    ARRAY_DEINIT(&start->pieces);
}

static struct error *put_quoted(const char *text, struct buffer *piece)
{
    TRY(buffer_append(piece, "\"", 1));
    TRY(escape_put(piece, text, strlen(text), SIZE_MAX, '"'));
    return buffer_append(piece, "\"", 1);
}

static struct error *put_description(const char *text, struct buffer *piece)
{
    TRY(buffer_append(piece, "<", 1));
    TRY(escape_put(piece, text, strlen(text), SIZE_MAX, '>'));
    return buffer_append(piece, ">", 1);
}

static struct error *put_descriptor(const struct surroundings *surroundings,
                                    const struct tracer_task *task, int number,
                                    struct buffer *piece)
{
    struct descriptor descriptor;
    descriptor_describe(surroundings, task, number, &descriptor);
    return put_description(descriptor.text, piece);
}

static struct error *put_open_flags(uint64_t flags, struct buffer *piece)
{
    static const struct {
        uint64_t bits;
        const char *name;
    } names[] = {{O_CREAT, "O_CREAT"},         {O_EXCL, "O_EXCL"},         {O_TRUNC, "O_TRUNC"},
                 {O_APPEND, "O_APPEND"},       {O_NONBLOCK, "O_NONBLOCK"}, {O_SYNC, "O_SYNC"},
                 {O_DSYNC, "O_DSYNC"},         {O_DIRECT, "O_DIRECT"},     {O_TMPFILE, "O_TMPFILE"},
                 {O_DIRECTORY, "O_DIRECTORY"}, {O_NOFOLLOW, "O_NOFOLLOW"}, {O_PATH, "O_PATH"},
                 {O_NOATIME, "O_NOATIME"}};
    static const char *const access[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "3"};
    TRY(buffer_printf(piece, "%s", access[flags & O_ACCMODE]));
    // The rest is the caller's own business: O_CLOEXEC, O_NOCTTY, O_LARGEFILE.
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((flags & names[i].bits) == names[i].bits)
            TRY(buffer_printf(piece, "|%s", names[i].name));
    return NULL;
}

// Times of files that were made shortly before, or by the program itself, differ from run to run.
static struct error *put_time(int64_t seconds, int64_t nanoseconds, struct buffer *piece)
{
    const char *separator = piece->size != 0 ? " " : "";
    if (nanoseconds == UTIME_NOW)
        return buffer_printf(piece, "%snow", separator);
    if (nanoseconds == UTIME_OMIT)
        return buffer_printf(piece, "%sunchanged", separator);
    int64_t now_s = time(NULL);
    if (seconds > now_s - RECENT_S && seconds <= now_s)
        return buffer_printf(piece, "%srecent", separator);
    return buffer_printf(piece, "%s%" PRId64 ".%09" PRId64, separator, seconds, nanoseconds);
}

// Four words: access time and modification time, each of seconds and parts of them.
static struct error *put_times(const struct tracer_task *task, const struct tracer_call *call,
                               uint64_t address, enum call_argument kind, struct buffer *piece)
{
    size_t count = kind == CALL_ARG_UTIMBUF ? 2 : 4;
    bool narrow = call->i386 && strcmp(call->call->name, "utimensat_time64") != 0;
    int64_t words[4] = {0};
    int32_t halves[4] = {0};
    if (address == 0)
        return buffer_printf(piece, "now");
    if (narrow) {
        tracer_read(task, address, halves, count * sizeof *halves);
        for (size_t i = 0; i < 4; i++)
            words[i] = halves[i];
    } else
        tracer_read(task, address, words, count * sizeof *words);
    if (kind == CALL_ARG_UTIMBUF) {
        TRY(put_time(words[0], 0, piece));
        return put_time(words[1], 0, piece);
    }
    int64_t scale = kind == CALL_ARG_TIMEVALS ? 1000 : 1;
    TRY(put_time(words[0], words[1] * scale, piece));
    return put_time(words[2], words[3] * scale, piece);
}

static struct error *put_bytes(const struct tracer_task *task, uint64_t address, uint64_t size,
                               struct contents *contents)
{
    _cleanup_free_ char *chunk = malloc(CHUNK);
    if (chunk == NULL)
        return error_no_memory();
    for (uint64_t done = 0; done < size;) {
        size_t step = size - done < CHUNK ? (size_t)(size - done) : CHUNK;
        size_t got = tracer_read(task, address + done, chunk, step);
        contents_add(contents, chunk, got);
        if (got != step)
            return NULL;
        done += step;
    }
    return NULL;
}

static struct error *put_hash(const struct contents *contents, uint64_t size, struct buffer *piece)
{
    return buffer_printf(piece, "%" PRIu64 " bytes %016" PRIx64, size, contents->hash);
}

static struct error *put_data(const struct tracer_task *task, uint64_t address, uint64_t size,
                              struct buffer *piece)
{
    struct contents contents = {0};
    TRY(put_bytes(task, address, size, &contents));
    return put_hash(&contents, size, piece);
}

// A word of the program, which has 4 or 8 bytes.
static uint64_t read_word(const struct tracer_task *task, bool i386, uint64_t address, size_t index)
{
    uint64_t word = 0;
    size_t size = i386 ? 4 : 8;
    tracer_read(task, address + index * size, &word, size);
    return word;
}

static struct error *put_vectors(const struct tracer_task *task, bool i386, uint64_t address,
                                 uint64_t count, uint64_t size, struct buffer *piece)
{
    struct contents contents = {0};
    uint64_t left = size;
    for (uint64_t i = 0; i < count && i < VECTORS && left != 0; i++) {
        uint64_t base = read_word(task, i386, address, 2 * i);
        uint64_t length = read_word(task, i386, address, 2 * i + 1);
        if (length > left)
            length = left;
        TRY(put_bytes(task, base, length, &contents));
        left -= length;
    }
    return put_hash(&contents, size, piece);
}

static struct error *put_message(const struct tracer_task *task, bool i386, uint64_t address,
                                 uint64_t size, struct buffer *piece)
{
    uint64_t vectors = read_word(task, i386, address, 2), count = read_word(task, i386, address, 3);
    return put_vectors(task, i386, vectors, count, size, piece);
}

// struct mmsghdr: a message, and how much of it was sent.
static struct error *put_messages(const struct tracer_task *task, bool i386, uint64_t address,
                                  uint64_t count, struct buffer *piece)
{
    size_t message = i386 ? 28 : 56, stride = i386 ? 32 : 64;
    for (uint64_t i = 0; i < count && i < VECTORS; i++) {
        uint32_t size = 0;
        tracer_read(task, address + i * stride + message, &size, sizeof size);
        if (i != 0)
            TRY(buffer_printf(piece, " "));
        TRY(put_message(task, i386, address + i * stride, size, piece));
    }
    return NULL;
}

static struct error *put_address(const struct tracer_task *task, uint64_t address, uint64_t size,
                                 struct buffer *piece)
{
    struct sockaddr_storage bytes = {0};
    if (address == 0)
        return NULL;
    if (size > sizeof bytes)
        size = sizeof bytes;
    size_t got = tracer_read(task, address, &bytes, size);
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(address_put(&bytes, got, &text));
    return put_quoted(text.data != NULL ? text.data : "", piece);
}

static struct error *put_path(const struct surroundings *surroundings,
                              const struct tracer_task *task, const struct tracer_call *call,
                              size_t index, struct buffer *piece)
{
    char path[2 * PATH_MAX];
    bool behind = index != 0 && call->call->arguments[index - 1] == CALL_ARG_DIRECTORY;
    int directory = behind ? (int)call->arguments[index - 1] : AT_FDCWD;
    if (!path_of_argument(surroundings, task, directory, call->arguments[index], path, sizeof path))
        return buffer_printf(piece, "unreadable");
    return put_quoted(path, piece);
}

// Bits that a mode has no meaning without.
static bool creates(const struct tracer_call *call, size_t index)
{
    return index == 0 || call->call->arguments[index - 1] != CALL_ARG_OPEN_FLAGS ||
           (call->arguments[index - 1] & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0;
}

static struct error *put_how(const struct tracer_task *task, uint64_t address, struct buffer *piece)
{
    uint64_t how[2] = {0}; // flags, mode
    tracer_read(task, address, how, sizeof how);
    TRY(put_open_flags(how[0], piece));
    return how[0] & O_CREAT ? buffer_printf(piece, "|%04" PRIo64, how[1]) : NULL;
}

static struct error *put_at_start(const struct surroundings *surroundings,
                                  const struct tracer_task *task, const struct tracer_call *call,
                                  size_t index, struct buffer *piece)
{
    uint64_t value = call->arguments[index];
    char text[PATH_MAX];
    enum call_argument kind = (enum call_argument)call->call->arguments[index];
    switch (kind) {
    case CALL_ARG_DESCRIPTOR:
        return put_descriptor(surroundings, task, (int)value, piece);
    case CALL_ARG_PATH:
        return put_path(surroundings, task, call, index, piece);
    case CALL_ARG_TEXT:
        return value == 0 || !tracer_read_text(task, value, text, sizeof text)
                   ? buffer_printf(piece, "unreadable")
                   : put_quoted(text, piece);
    case CALL_ARG_INT:
    case CALL_ARG_PROCESS:
        return buffer_printf(piece, "%d", (int)value);
    case CALL_ARG_NUMBER:
        return buffer_printf(piece, "%" PRId64, call->i386 ? (int32_t)value : (int64_t)value);
    case CALL_ARG_UNSIGNED:
        return buffer_printf(piece, "%" PRIu64, value);
    case CALL_ARG_FLAGS:
        return buffer_printf(piece, "0x%" PRIx64, value);
    case CALL_ARG_MODE:
        return creates(call, index) ? buffer_printf(piece, "%04o", (unsigned)value) : NULL;
    case CALL_ARG_OPEN_FLAGS:
        return put_open_flags(value, piece);
    case CALL_ARG_OPEN_HOW:
        return put_how(task, value, piece);
    case CALL_ARG_BYTES:
        return put_data(task, value, call->arguments[index + 1], piece);
    case CALL_ARG_ADDRESS:
        return put_address(task, value, call->arguments[index + 1], piece);
    case CALL_ARG_TIMESPECS:
    case CALL_ARG_TIMEVALS:
    case CALL_ARG_UTIMBUF:
        return put_times(task, call, value, kind, piece);
    default:
        return NULL;
    }
}

struct error *call_start_take(const struct surroundings *surroundings,
                              const struct tracer_task *task, const struct tracer_call *call,
                              struct call_start *ret_start)
{
    _cleanup_(call_start_deinit) struct call_start start = {.call = *call};
    for (size_t i = 0; call->call->arguments[i] != '\0'; i++) {
        struct buffer *piece = ARRAY_ADD(&start.pieces);
        if (piece == NULL)
            return error_no_memory();
        TRY(put_at_start(surroundings, task, call, i, piece));
    }
    *ret_start = start;
    start = (struct call_start){0};
    return NULL;
}

static struct error *put_at_end(const struct tracer_task *task, const struct tracer_call *call,
                                size_t index, uint64_t result, struct buffer *piece)
{
    uint64_t value = call->arguments[index];
    switch ((enum call_argument)call->call->arguments[index]) {
    case CALL_ARG_WRITTEN:
    case CALL_ARG_READ:
        // mq_timedsend() returns 0 for all of it.
        if (result == 0 && strncmp(call->call->name, "mq_timedsend", 12) == 0)
            result = call->arguments[index + 1];
        return put_data(task, value, result, piece);
    case CALL_ARG_WRITTEN_V:
    case CALL_ARG_READ_V:
        return put_vectors(task, call->i386, value, call->arguments[index + 1], result, piece);
    case CALL_ARG_MESSAGE:
    case CALL_ARG_RECEIVED:
        return put_message(task, call->i386, value, result, piece);
    case CALL_ARG_MESSAGES:
        return put_messages(task, call->i386, value, result, piece);
    default:
        return NULL;
    }
}

// Calls that move data between descriptors show how much in place of the size that was asked for.
static bool shows_result(const struct linux_call *call)
{
    static const char *const names[] = {"sendfile", "sendfile64", "copy_file_range", "splice",
                                        "tee"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(call->name, names[i]) == 0)
            return true;
    return false;
}

struct error *call_print(const struct tracer_task *task, const struct call_start *start,
                         int64_t result, struct buffer *line)
{
    const struct tracer_call *call = &start->call;
    const char *separator = "";
    TRY(buffer_printf(line, "%s(", call->call->name));
    for (size_t i = 0; i < start->pieces.count; i++) {
        _cleanup_(buffer_deinit) struct buffer late = {0};
        const struct buffer *piece = &start->pieces.items[i];
        if (piece->size == 0) {
            TRY(put_at_end(task, call, i, (uint64_t)result, &late));
            piece = &late;
        }
        if (piece->size == 0)
            continue;
        TRY(buffer_printf(line, "%s%s", separator, piece->data));
        separator = ", ";
    }
    if (shows_result(call->call))
        TRY(buffer_printf(line, "%s%" PRId64 " bytes", separator, result));
    return buffer_printf(line, ")");
}

static struct error *put_given(const void *data, size_t size, struct buffer *line)
{
    struct contents contents = {0};
    contents_add(&contents, data, size);
    return put_hash(&contents, size, line);
}

struct error *call_print_recorded(const struct tracer_call *call, const char *descriptor,
                                  const void *data, size_t size, struct buffer *line)
{
    const char *separator = "";
    TRY(buffer_printf(line, "%s(", call->call->name));
    for (size_t i = 0; call->call->arguments[i] != '\0'; i++) {
        enum call_argument kind = (enum call_argument)call->call->arguments[i];
        if (kind == CALL_ARG_SIZE)
            continue;
        TRY(buffer_printf(line, "%s", separator));
        separator = ", ";
        if (kind == CALL_ARG_DESCRIPTOR)
            TRY(put_description(descriptor, line));
        else if (kind == CALL_ARG_NUMBER)
            TRY(buffer_printf(line, "%" PRId64, (int64_t)call->arguments[i]));
        else
            TRY(put_given(data, size, line));
    }
    return buffer_printf(line, ")");
}

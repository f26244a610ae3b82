// SPDX-License-Identifier: GPL-3.0-or-later
// The tool and the programs that it follows write to one pipe. A thread packs what comes.
#include "interface/record.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/words.h"
#include "interface/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define BLOCK_END UINT16_MAX // a block of ours, behind all others: the command has ended

struct receiver {
    int pipe;
    struct names *names;
    struct trace_writer *writer;
    uint64_t most_size;
    struct error *error;
    bool too_large;
};

// Reads exactly `size` bytes.
static struct error *get(int pipe, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(pipe, (char *)bytes + done, size - done);
        if (got < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot read the trace");
        if (got == 0)
            return error_new("the trace ended early");
        done += got > 0 ? (size_t)got : 0;
    }
    return NULL;
}

static struct error *receive_all(struct receiver *receiver)
{
    _Alignas(struct interface_block) char bytes[INTERFACE_BLOCK_SIZE];
    struct interface_block *block = (struct interface_block *)(void *)bytes;
    for (;;) {
        TRY(get(receiver->pipe, block, sizeof *block));
        if (block->magic != INTERFACE_BLOCK_MAGIC || block->size < sizeof *block ||
            block->size > sizeof bytes)
            return error_new("somebody else wrote to the pipe of the trace");
        if (block->kind == BLOCK_END)
            return trace_writer_finish(receiver->writer);
        TRY(get(receiver->pipe, block + 1, block->size - sizeof *block));
        TRY(names_write(receiver->names, block, receiver->writer));
        receiver->too_large =
            receiver->most_size != 0 && trace_writer_size(receiver->writer) > receiver->most_size;
        if (receiver->too_large)
            return NULL;
    }
}

static void *receive(void *data)
{
    struct receiver *receiver = data;
    receiver->error = receive_all(receiver);
    if (receiver->error == NULL && !receiver->too_large)
        return NULL;
    // So that the command does not wait for ever; its end is read here as well.
    static const struct interface_block last = {
        .magic = INTERFACE_BLOCK_MAGIC, .size = sizeof last, .kind = BLOCK_END};
    char bytes[sizeof last + INTERFACE_BLOCK_SIZE];
    for (size_t kept = 0;;) {
        ssize_t got = read(receiver->pipe, bytes + kept, INTERFACE_BLOCK_SIZE);
        if (got < 0 && errno != EINTR)
            return NULL;
        size_t size = kept + (got > 0 ? (size_t)got : 0);
        if (memmem(bytes, size, &last, sizeof last) != NULL)
            return NULL;
        // The end may come in two parts.
        kept = size < sizeof last ? size : sizeof last - 1;
        memmove(bytes, bytes + size - kept, kept);
    }
}

__attribute__((format(printf, 2, 3))) static struct error *add(struct words *words,
                                                               const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return error_no_memory();
    struct error *error = words_add(words, text, (size_t)size);
    free(text);
    return error;
}

static struct error *tool_command(const struct interface_recording *recording, const char *pipe,
                                  struct words *words)
{
    TRY(add(words, "%s", recording->tool));
    TRY(add(words, "--tool=ordeal_propagate"));
    TRY(add(words, "-q"));
    TRY(add(words, "--command-line-only=yes")); // not the options of the user's other work
    // Also programs that the command starts, each by itself.
    TRY(add(words, "--trace-children=yes"));
    // Blocks that end where a call does: then the last instruction is the call.
    TRY(add(words, "--vex-guest-chase=no"));
    TRY(add(words, "--num-callers=24"));
    TRY(add(words, "--vgdb=no"));
    TRY(add(words, "--trace-file=%s", pipe));
    if (recording->foreign != NULL)
        TRY(add(words, "--foreign=%s", recording->foreign));
    for (size_t i = 0; i < recording->library_count; i++)
        TRY(add(words, "--library=%s", recording->libraries[i]));
    for (size_t i = 0; i < recording->program_count; i++)
        TRY(add(words, "--program=%s", recording->programs[i]));
    TRY(add(words, "--"));
    for (char *const *word = recording->command; *word != NULL; word++)
        TRY(add(words, "%s", *word));
    return NULL;
}

static struct error *tool_environment(const struct interface_recording *recording,
                                      struct words *words)
{
    const char *name = file_base_name(recording->tool);
    for (char *const *word = recording->environment; *word != NULL; word++)
        TRY(words_add(words, *word, strlen(*word)));
    _cleanup_free_ char *library = NULL, *launcher = NULL;
    if (asprintf(&library, "VALGRIND_LIB=%.*s", (int)(name - recording->tool), recording->tool) <
            0 ||
        asprintf(&launcher, "VALGRIND_LAUNCHER=%.*sordeal-valgrind-launcher",
                 (int)(name - recording->tool), recording->tool) < 0)
        return error_no_memory();
    TRY(words_set_variable(words, library, strlen(library)));
    TRY(words_set_variable(words, launcher, strlen(launcher)));
    // The dynamic linker would write addresses of functions when they are first called.
    return words_set_variable(words, "LD_BIND_NOW=1", strlen("LD_BIND_NOW=1"));
}

// The tool opens the pipe by a path that is gone with this process, however that ends.
static struct error *run(const struct interface_recording *recording, struct receiver *receiver,
                         int *ret_status)
{
    _cleanup_(words_deinit) struct words command = {0}, environment = {0};
    int ends[2];
    char path[64];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    _cleanup_close_ int from = ends[0], to = ends[1];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), to);
    TRY(tool_command(recording, path, &command));
    TRY(tool_environment(recording, &environment));
    receiver->pipe = from;
    TRY(names_new(&receiver->names));
    TRY(trace_writer_new(recording->output, recording->name, &receiver->writer));
    pthread_t thread;
    TRY(thread_start(&thread, receive, receiver));
    const struct child child = {.command = command.items, .environment = environment.items};
    struct error *error = child_run(&child, ret_status);
    const struct interface_block end = {
        .magic = INTERFACE_BLOCK_MAGIC, .size = sizeof end, .kind = BLOCK_END};
    while (write(to, &end, sizeof end) < 0 && errno == EINTR)
        ;
    pthread_join(thread, NULL);
    if (error != NULL) {
        error_free(receiver->error);
        return error;
    }
    return receiver->error;
}

struct error *interface_record(const struct interface_recording *recording,
                               struct interface_recorded *ret_recorded)
{
    struct receiver receiver = {.most_size = recording->most_size};
    struct interface_recorded recorded = {0};
    struct error *error = run(recording, &receiver, &recorded.status);
    if (error == NULL && !names_saw_library(receiver.names))
        error = error_new("no process of the command loaded a library %s", recording->libraries[0]);
    names_free(receiver.names);
    trace_writer_free(receiver.writer);
    recorded.too_large = receiver.too_large;
    if (error == NULL)
        *ret_recorded = recorded;
    return error;
}

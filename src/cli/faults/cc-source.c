// SPDX-License-Identifier: GPL-3.0-or-later
// Looks at the sources in a process of its own, so that the compiler gets all the memory, and a
// source that libclang cannot stand does no harm. The table is a file without a name that the
// compiler inherits: whatever becomes of the compiler, nothing is left behind.
#include "cli/faults/cc-source.h"

#include "base/cleanup.h"
#include "mutate/model.h"
#ifdef ORDEAL_SOURCE_FAULTS
#include "mutate/source/arguments.h"
#include "mutate/source/source.h"
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_wanted(const char *types)
{
    for (int i = 0; i < MODEL_KINDS; i++)
        if (types == NULL || strstr(types, model_types[i].name) != NULL)
            return true;
    return false;
}

#ifdef ORDEAL_SOURCE_FAULTS

enum { LOOKED, NO_LIBRARY, NO_TABLE }; // exit status of the process that looks

static struct error *look(const struct source_arguments *arguments, const char *skip,
                          struct buffer *ret_table)
{
    _cleanup_(source_writer_deinit) struct source_writer writer = {0};
    for (size_t i = 0; i < arguments->sources.count; i++) {
        const char *source = arguments->sources.items[i];
        _cleanup_free_ char **command = NULL;
        _cleanup_(source_faults_deinit) struct source_faults faults = {0};
        if (source_is_skipped(source, skip))
            continue;
        TRY(source_arguments_for(arguments, source, &command));
        // If it does not compile, the compiler will tell more.
        struct error *error = source_find(command, false, &faults);
        if (error != NULL)
            fprintf(stderr, "ordeal cc: no faults of %d types in %s: %s\n", MODEL_KINDS, source,
                    error_message(error));
        else
            TRY(source_writer_add(&writer, source, &faults));
        error_free(error);
    }
    return source_writer_finish(&writer, ret_table);
}

static bool write_all(int file, const struct buffer *data)
{
    for (size_t at = 0; at < data->size;) {
        ssize_t written = write(file, data->data + at, data->size - at);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? (size_t)written : 0;
    }
    return true;
}

static int look_and_write(const struct source_arguments *arguments, const char *skip, int file)
{
    struct buffer table = {0};
    struct error *error = source_need();
    if (error != NULL) {
        fprintf(stderr, "ordeal cc: no faults of %d types: %s\n", MODEL_KINDS,
                error_message(error));
        return NO_LIBRARY;
    }
    return look(arguments, skip, &table) == NULL && write_all(file, &table) ? LOOKED : NO_TABLE;
}

static struct error *look_in_child(const struct source_arguments *arguments, const char *skip,
                                   int file, int *ret_status)
{
    pid_t child = fork();
    if (child < 0)
        return error_from_errno(errno, "cannot start a process that looks at the source");
    if (child == 0)
        _exit(look_and_write(arguments, skip, file));
    while (waitpid(child, ret_status, 0) < 0)
        if (errno != EINTR)
            return error_from_errno(errno, "cannot wait for the look at the source");
    return NULL;
}

struct error *cc_look_at_sources(const char *compiler, char *const *arguments, const char *types,
                                 const char *skip, struct buffer *options)
{
    _cleanup_(source_arguments_deinit) struct source_arguments parsed = {0};
    TRY(source_arguments_parse(compiler, arguments, &parsed));
    if (!parsed.compiles || parsed.sources.count == 0 || !is_wanted(types))
        return NULL;
    int file = memfd_create("ordeal-source", 0), status = 0;
    if (file < 0)
        return error_from_errno(errno, "cannot make room for the faults of the source");
    struct error *error = look_in_child(&parsed, skip, file, &status);
    if (error == NULL && WIFEXITED(status) && WEXITSTATUS(status) == LOOKED)
        return buffer_printf(options, ";table=/proc/self/fd/%d", file);
    close(file);
    if (error == NULL && (!WIFEXITED(status) || WEXITSTATUS(status) == NO_TABLE))
        fprintf(stderr, "ordeal cc: no faults of %d types: libclang failed on %s\n", MODEL_KINDS,
                parsed.sources.items[0]);
    return error;
}

#else

struct error *cc_look_at_sources(const char *compiler, char *const *arguments, const char *types,
                                 const char *skip, struct buffer *options)
{
    if (is_wanted(types))
        fprintf(stderr, "ordeal cc: no faults of %d types: Ordeal was built without libclang 19\n",
                MODEL_KINDS);
    return NULL;
}

#endif

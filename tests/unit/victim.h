// SPDX-License-Identifier: GPL-3.0-or-later
// For tests that look into real binaries: builds them from source text in a directory of their own.
#ifndef ORDEAL_TESTS_VICTIM_H
#define ORDEAL_TESTS_VICTIM_H

#include "base/array.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char victim_directory[64];

static void good(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

// The error's text must hold `text`.
__attribute__((unused)) static void bad(struct error *error, const char *text)
{
    assert_non_null(error);
    if (strstr(error_message(error), text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error_message(error), text);
    error_free(error);
}

__attribute__((unused)) static int victim_setup(void **state)
{
    strcpy(victim_directory, "/tmp/ordeal-unit-XXXXXX");
    return mkdtemp(victim_directory) != NULL ? 0 : -1;
}

__attribute__((unused)) static int victim_teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", victim_directory);
    return system(command);
}

// The path of a file of the test's directory. One static buffer per `slot`.
#define victim_path(name) victim_path_in((char[128]){0}, name)
static const char *victim_path_in(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", victim_directory, name);
    return path;
}

__attribute__((unused)) static void victim_write(const char *name, const void *data, size_t size,
                                                 mode_t mode)
{
    unlink(victim_path(name));
    int file = open(victim_path(name), O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
    assert_int_equal(chmod(victim_path(name), mode), 0);
}

__attribute__((format(printf, 1, 2), unused)) static bool victim_run(const char *format, ...)
{
    char command[2048], line[2200];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(line, sizeof line, "cd %s && %s", victim_directory, command);
    return system(line) == 0;
}

__attribute__((unused)) static const char *victim_compiler(void)
{
    const char *compiler = getenv("CC");
    return compiler != NULL ? compiler : "cc";
}

// Compiles `source` to `name`; the text is kept as name.c beside it. LD_PRELOAD of sanitizers and
// the like are no business of the compiler.
__attribute__((unused)) static void victim_build(const char *compiler, const char *name,
                                                 const char *source, const char *flags)
{
    char file[64];
    bool cpp = strstr(compiler, "++") != NULL;
    snprintf(file, sizeof file, "%s.%s", name, cpp ? "cc" : "c");
    victim_write(file, source, strlen(source), 0644);
    if (!victim_run("%s -o %s %s %s", compiler, name, file, flags))
        fail_msg("cannot build %s with %s %s", name, compiler, flags);
}

__attribute__((unused)) static bool victim_has(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0;
}

#endif

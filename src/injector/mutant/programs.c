// SPDX-License-Identifier: GPL-3.0-or-later
// Which files of the workload are meant.
#include "injector/mutant/mutants.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "elf/linked.h"
#include "elf/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct error *add_real(const struct mutants *self, const char *name, struct words *paths)
{
    _cleanup_free_ char *path = NULL, *real = NULL;
    if (asprintf(&path, "%s%s%s", *name == '/' ? "" : self->setup.directory,
                 *name == '/' ? "" : "/", name) < 0)
        return path = NULL, error_no_memory();
    real = realpath(path, NULL);
    if (real == NULL)
        return error_from_errno(errno, "cannot find %s", name);
    return words_add(paths, real, strlen(real));
}

static struct error *add_command(const struct mutants *self, struct words *paths)
{
    const struct words *command = self->setup.command;
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_free_ char *path = NULL;
    if (command->count == 0)
        return NULL;
    const char *name = command->items[0];
    bool relative = *name != '/' && strchr(name, '/') != NULL;
    if (asprintf(&path, "%s%s%s", relative ? self->setup.directory : "", relative ? "/" : "",
                 name) < 0)
        return path = NULL, error_no_memory();
    TRY(elf_find_program(path, &program));
    return add_real(self, program.path, paths);
}

struct error *mutants_command(const struct mutants *self, struct words *ret_paths)
{
    static const char *const shells[] = {"sh", "dash", "bash"};
    TRY(add_command(self, ret_paths));
    const char *name = ret_paths->count > 0 ? file_base_name(ret_paths->items[0]) : "";
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(name, shells[i]) == 0)
            return error_new("the command is one of a shell: say which programs get faults");
    return NULL;
}

static struct error *add_found(void *data, const char *path)
{
    return words_add(data, path, strlen(path));
}

struct error *mutants_below(const struct mutants *self, struct words *ret_paths)
{
    bool cut;
    return elf_linked_below(self->setup.directory, add_found, ret_paths, &cut);
}

struct error *mutants_programs(const struct mutants *self, const char *parameter,
                               struct words *ret_paths)
{
    const struct words *named = parameters_words(self->setup.parameters, parameter);
    for (size_t i = 0; named != NULL && i < named->count; i++)
        TRY(add_real(self, named->items[i], ret_paths));
    return NULL;
}

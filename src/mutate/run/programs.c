// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the files of a workload that have software faults inside.
#include "mutate/run/programs.h"

#include "base/cleanup.h"
#include "elf/linked.h"
#include "elf/object.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_FILES 50000 // that are looked at below the working directory, for links

void ir_program_deinit(struct ir_program *program)
{
    image_close(&program->image);
    for (size_t i = 0; i < program->others.count; i++)
        free(program->others.items[i]);
    ARRAY_DEINIT(&program->others);
    free(program->path);
    free(program->executed);
    *program = (struct ir_program){0};
}

void ir_programs_deinit(struct ir_programs *programs)
{
    for (size_t i = 0; i < programs->items.count; i++)
        ir_program_deinit(&programs->items.items[i]);
    ARRAY_DEINIT(&programs->items);
    *programs = (struct ir_programs){0};
}

// A path for people: from the working directory on, where it is below that.
static const char *name_of(const char *directory, const char *path)
{
    _cleanup_free_ char *real = realpath(directory, NULL);
    size_t size = real != NULL ? strlen(real) : 0;
    return size > 1 && strncmp(path, real, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static bool is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

// A file may have several names.
static struct ir_program *find(const struct ir_programs *programs, const char *path)
{
    for (size_t i = 0; i < programs->items.count; i++)
        if (strcmp(programs->items.items[i].path, path) == 0 ||
            is_same_file(programs->items.items[i].path, path))
            return &programs->items.items[i];
    return NULL;
}

static struct error *add_other(struct ir_program *program, const char *name)
{
    char *copy = strdup(name), **slot = ARRAY_ADD(&program->others);
    if (copy == NULL || slot == NULL) {
        program->others.count -= slot != NULL;
        free(copy);
        return error_no_memory();
    }
    *slot = copy;
    return NULL;
}

// Adds a file. *ret_added is false if it has no faults inside. A file that was `found` and not
// named by the user may have nothing to do with the workload: one that campaigns cannot use is
// ignored and no error.
static struct error *add(const char *directory, struct ir_programs *programs, const char *given,
                         bool found, bool *ret_added)
{
    struct image image = {0};
    _cleanup_free_ char *path = realpath(given, NULL);
    *ret_added = false;
    if (path == NULL)
        return error_from_errno(errno, "cannot find %s", given);
    struct ir_program *known = find(programs, path);
    if (known != NULL) {
        *ret_added = true;
        return strcmp(known->path, path) != 0 ? add_other(known, path) : NULL;
    }
    TRY(image_open(path, &image));
    bool none = image.functions.count == 0 || (found && image.decide == MAP_VARIABLE);
    struct ir_program *program = none ? NULL : ARRAY_ADD(&programs->items);
    if (program == NULL) {
        image_close(&image);
        return none ? NULL : error_no_memory();
    }
    program->image = image;
    program->path = TAKE(path);
    program->name = name_of(directory, program->path);
    program->executed = calloc(image.candidates.count + 1, sizeof *program->executed);
    *ret_added = true;
    return program->executed != NULL ? NULL : error_no_memory();
}

void ir_program_use_name(struct ir_program *program, const char *directory, size_t other)
{
    char *before = program->path;
    program->path = program->others.items[other];
    program->others.items[other] = before;
    program->name = name_of(directory, program->path);
}

// ---- those that nobody named ----

static struct error *add_link(struct ir_programs *programs, const char *link)
{
    _cleanup_free_ char *path = realpath(link, NULL);
    struct ir_program *program = path != NULL ? find(programs, path) : NULL;
    return program != NULL ? add_other(program, link) : NULL;
}

// Ignores what cannot be read: it is not part of the workload, or the run will miss it.
static struct error *add_links(FTS *tree, struct ir_programs *programs)
{
    size_t seen = 0;
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL && ++seen <= MOST_FILES;)
        if (entry->fts_info == FTS_SL)
            TRY(add_link(programs, entry->fts_path));
    return NULL;
}

static struct error *add_links_below(const char *directory, struct ir_programs *programs)
{
    _cleanup_free_ char *real = realpath(directory, NULL);
    char *const roots[] = {real, NULL};
    FTS *tree = real != NULL ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL) : NULL;
    if (tree == NULL)
        return error_from_errno(errno, "cannot look into %s", directory);
    struct error *error = add_links(tree, programs);
    fts_close(tree);
    return error;
}

struct search {
    const char *directory;
    struct ir_programs *programs;
};

static struct error *add_found(void *data, const char *path)
{
    const struct search *search = data;
    bool added;
    error_free(add(search->directory, search->programs, path, true, &added));
    return NULL;
}

static struct error *put_path(const char *directory, const char *name, struct buffer *path)
{
    if (name[0] != '/')
        TRY(buffer_printf(path, "%s/", directory));
    return buffer_printf(path, "%s", name);
}

// Ignores a command that cannot be found: starting it gives the error.
static struct error *add_command(const char *directory, const struct words *command,
                                 struct ir_programs *programs)
{
    _cleanup_(buffer_deinit) struct buffer path = {0};
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    bool added;
    if (command->count == 0)
        return NULL;
    if (strchr(command->items[0], '/') != NULL)
        TRY(put_path(directory, command->items[0], &path));
    else
        TRY(buffer_printf(&path, "%s", command->items[0]));
    struct error *error = elf_find_program(path.data, &program);
    if (error == NULL)
        error = add(directory, programs, program.path, false, &added);
    error_free(error);
    return NULL;
}

// ---- all of it ----

static struct error *check(const struct image *image)
{
    _cleanup_free_ bool *enabled = NULL;
    if (image->decide == MAP_VARIABLE)
        return error_new("%s was built with --decide variable; campaigns need worlds or markers",
                         image->path);
    TRY(image_enabled(image, &enabled));
    for (size_t i = 0; i < image->candidates.count; i++)
        if (enabled[i])
            return error_new("%s has a fault enabled already; 'ordeal faults disable' first",
                             image->path);
    return NULL;
}

static struct error *find_all(const char *directory, const struct words *command,
                              const struct words *named, struct ir_programs *programs)
{
    programs->automatic = named == NULL;
    for (size_t i = 0; named != NULL && i < named->count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        bool added;
        TRY(put_path(directory, named->items[i], &path));
        TRY(add(directory, programs, path.data, false, &added));
        if (!added)
            return error_new("%s has no faults inside; was it built with 'ordeal cc'?",
                             named->items[i]);
    }
    if (named == NULL) {
        TRY(add_command(directory, command, programs));
        struct search search = {directory, programs};
        TRY(elf_linked_below(directory, add_found, &search, &programs->cut));
    }
    if (programs->items.count == 0)
        return error_new("neither the command nor anything below %s has faults inside, decided by "
                         "worlds or markers; build it with 'ordeal cc', or say which files with "
                         "'binaries'",
                         directory);
    for (size_t i = 0; i < programs->items.count; i++)
        TRY(check(&programs->items.items[i].image));
    return add_links_below(directory, programs);
}

struct error *ir_programs_find(const char *directory, const struct words *command,
                               const struct words *named, struct ir_programs *ret_programs)
{
    struct ir_programs programs = {0};
    struct error *error = find_all(directory, command, named, &programs);
    if (error != NULL)
        ir_programs_deinit(&programs);
    else
        *ret_programs = programs;
    return error;
}

// ---- one by itself ----

static struct error *add_beside(struct ir_program *program)
{
    _cleanup_free_ char *copy = strdup(program->path);
    if (copy == NULL)
        return error_no_memory();
    const char *place = dirname(copy);
    DIR *directory = opendir(place);
    struct error *error = NULL;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        _cleanup_free_ char *link = NULL, *path = NULL;
        // Some file systems do not tell what is a link.
        if ((entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) || error != NULL)
            continue;
        if (asprintf(&link, "%s/%s", place, entry->d_name) < 0) {
            link = NULL;
            error = error_no_memory();
            continue;
        }
        path = realpath(link, NULL);
        if (path != NULL && strcmp(path, program->path) == 0 && strcmp(link, path) != 0)
            error = add_other(program, link);
    }
    if (directory != NULL)
        closedir(directory);
    return error;
}

static struct error *prepare(struct ir_program *program)
{
    const struct image *image = &program->image;
    program->path = realpath(image->path, NULL);
    if (program->path == NULL)
        return error_from_errno(errno, "cannot find %s", image->path);
    program->name = program->path;
    if (image->functions.count == 0)
        return error_new("%s has no faults inside; build it with 'ordeal cc'", image->path);
    if (!image->plain && image->decide == MAP_VARIABLE)
        return error_new("%s was built with --decide variable; this needs worlds or markers",
                         image->path);
    program->executed = calloc(image->candidates.count + 1, sizeof *program->executed);
    return program->executed != NULL ? add_beside(program) : error_no_memory();
}

struct error *ir_program_open(const char *path, struct ir_program *ret_program)
{
    struct image image = {0};
    TRY(image_open(path, &image));
    return ir_program_of(&image, ret_program);
}

struct error *ir_program_of(struct image *image, struct ir_program *ret_program)
{
    struct ir_program program = {.image = *image};
    *image = (struct image){0};
    struct error *error = prepare(&program);
    if (error != NULL)
        ir_program_deinit(&program);
    else
        *ret_program = program;
    return error;
}

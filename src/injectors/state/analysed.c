// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that have been analysed. A campaign opens its injector several times, once in each job
// slot, and the analysis of a large program takes longer than a trial.
#include "injectors/state/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct analysed {
    struct state_program program; // first, so that it leads here
    struct stat file;
    unsigned users;
    struct analysed *next;
};

static struct analysed *all;

static bool is_same(const struct analysed *analysed, const char *path, const struct stat *file)
{
    const struct stat *old = &analysed->file;
    return strcmp(analysed->program.path, path) == 0 && old->st_dev == file->st_dev &&
           old->st_ino == file->st_ino && old->st_size == file->st_size &&
           old->st_mtim.tv_sec == file->st_mtim.tv_sec &&
           old->st_mtim.tv_nsec == file->st_mtim.tv_nsec;
}

static void drop_unused(void)
{
    for (struct analysed **slot = &all; *slot != NULL;) {
        struct analysed *analysed = *slot;
        if (analysed->users != 0) {
            slot = &analysed->next;
            continue;
        }
        *slot = analysed->next;
        state_program_close(&analysed->program);
        free(analysed);
    }
}

struct error *analysed_get(const char *path, const struct state_program **ret_program)
{
    struct stat file;
    if (stat(path, &file) < 0)
        return error_from_errno(errno, "cannot read %s", path);
    struct analysed *analysed = all;
    while (analysed != NULL && !is_same(analysed, path, &file))
        analysed = analysed->next;
    if (analysed == NULL) {
        drop_unused();
        analysed = calloc(1, sizeof *analysed);
        if (analysed == NULL)
            return error_no_memory();
        struct error *error = state_program_open(path, &analysed->program);
        if (error != NULL) {
            free(analysed);
            return error;
        }
        analysed->file = file;
        analysed->next = all;
        all = analysed;
    }
    analysed->users++;
    *ret_program = &analysed->program;
    return NULL;
}

void analysed_release(const struct state_program *program)
{
    if (program != NULL)
        ((struct analysed *)program)->users--;
}

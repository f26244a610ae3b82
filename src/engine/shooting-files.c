// SPDX-License-Identifier: GPL-3.0-or-later
// Files that have another content in a shot, and what is built of them. The workload did not change
// them, so they are no result of it: changes that were there before it, and are the same after it,
// are left out.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void made_changes_deinit(struct made_changes *changes)
{
    for (size_t i = 0; i < changes->items.count; i++)
        free(changes->items.items[i].path);
    ARRAY_DEINIT(&changes->items);
}

void shot_files_deinit(struct shot_run *shot_run)
{
    made_changes_deinit(&shot_run->before);
    made_changes_deinit(&shot_run->made);
}

static int by_path(const void *path, const void *item)
{
    return strcmp(path, ((const struct made_change *)item)->path);
}

static bool has(const struct made_changes *changes, const struct sandbox_change *change)
{
    const struct made_change *made =
        changes->items.count == 0
            ? NULL
            : bsearch(change->path, changes->items.items, changes->items.count,
                      sizeof *changes->items.items, by_path);
    return made != NULL && made->kind == change->kind && made->size == change->size &&
           made->hash == change->hash && made->mode == change->mode;
}

// sandbox_each_change() gives changes by path.
static struct error *add(struct made_changes *changes, const struct sandbox_change *change)
{
    char *path = strdup(change->path);
    struct made_change *slot = path != NULL ? ARRAY_ADD(&changes->items) : NULL;
    if (slot == NULL) {
        free(path);
        return error_no_memory();
    }
    *slot = (struct made_change){path, change->kind, change->size, change->hash, change->mode};
    return NULL;
}

static struct error *add_before(void *data, const struct sandbox_change *change)
{
    return add(&((struct shot_run *)data)->before, change);
}

static struct error *add_made(void *data, const struct sandbox_change *change)
{
    struct shot_run *shot_run = data;
    return has(&shot_run->before, change) ? NULL : add(&shot_run->made, change);
}

static struct error *each_change(struct shot_run *shot_run,
                                 struct error *(*change)(void *, const struct sandbox_change *))
{
    if (shot_run->shot.file_count == 0 && shot_run->shot.build == NULL)
        return NULL;
    return sandbox_each_change(shot_run->shooting->sandbox, NULL, change, shot_run);
}

struct error *shot_files_put(struct shot_run *shot_run)
{
    if (shot_run->put)
        return NULL;
    TRY(each_change(shot_run, add_before));
    for (size_t i = 0; i < shot_run->shot.file_count; i++)
        TRY(sandbox_put_file(shot_run->shooting->sandbox, shot_run->shot.files[i].path,
                             shot_run->shot.files[i].content));
    shot_run->put = true;
    return NULL;
}

// A build that changes nothing but the files that were put there has not noticed them: the program
// is the one without the fault.
struct error *shot_files_note(struct shot_run *shot_run)
{
    TRY(each_change(shot_run, add_made));
    if (shot_run->shot.build == NULL || shot_run->shot.file_count == 0 ||
        shot_run->made.items.count > shot_run->shot.file_count)
        return NULL;
    shot_run->blocked = true;
    if (asprintf(&shot_run->run->trouble,
                 "the build has changed nothing, although %s is another one: does it know that "
                 "the program depends on it?",
                 shot_run->shot.files[0].path) < 0) {
        shot_run->run->trouble = NULL;
        return error_no_memory();
    }
    return NULL;
}

bool shot_files_made(const struct shot_run *shot_run, const struct sandbox_change *change)
{
    return has(&shot_run->made, change);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// See reference-model.h: differences that are none.
#include "base/cleanup.h"
#include "campaign/reference-model.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How much of a path two of one kind have in common: names that are made up are those of files, and
// of directories right above them.
static size_t fixed_part(const char *path)
{
    size_t size = strlen(path);
    for (int parts = 0; size > 0; size--)
        if (path[size - 1] == '/' && ++parts == 2)
            break;
    return size;
}

static bool is_like(const char *a, const char *b)
{
    if (strncmp(a, b, fixed_part(a)) != 0)
        return false;
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (*a != *b && !(isalnum((unsigned char)*a) && isalnum((unsigned char)*b)))
            return false;
    return *a == *b;
}

bool reference_is_like_unsteady(const struct reference *reference, const char *path)
{
    for (size_t i = 0; i < reference->items.count; i++)
        if (!reference->items.items[i].stable &&
            is_like(reference->items.items[i].artifact->path, path))
            return true;
    return false;
}

static const struct artifact *find_in(const struct reference_run *run, const char *path)
{
    struct artifact key = {.path = (char *)path};
    if (run->artifacts.count == 0)
        return NULL;
    return bsearch(&key, run->artifacts.items, run->artifacts.count, sizeof key, reference_by_path);
}

// The bytes that all runs agree in are those of the old content.
static bool agrees(const struct reference *reference, const char *old, size_t size,
                   const char *path)
{
    _cleanup_free_ bool *varies = calloc(size, sizeof *varies);
    const char *first = NULL;
    for (size_t i = 0; varies != NULL && i < reference->runs.count; i++) {
        const struct artifact *artifact = find_in(&reference->runs.items[i], path);
        if (artifact == NULL || artifact->size != size || artifact->content.size != size)
            return false;
        first = first != NULL ? first : artifact->content.data;
        for (size_t at = 0; at < size; at++)
            varies[at] |= artifact->content.data[at] != first[at];
    }
    for (size_t at = 0; first != NULL && at < size; at++)
        if (!varies[at] && first[at] != old[at])
            return false;
    return first != NULL;
}

bool reference_is_like_before(const struct reference *reference, const struct reference_item *item)
{
    const struct artifact *artifact = item->artifact;
    size_t size = artifact->size;
    if (item->same || strcmp(artifact->kind, "file") != 0 || size == 0 ||
        size != artifact->content.size)
        return false;
    _cleanup_free_ char *old = malloc(size + 1);
    _cleanup_close_ int file =
        open(artifact->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    return old != NULL && file >= 0 && pread(file, old, size + 1, 0) == (ssize_t)size &&
           agrees(reference, old, size, artifact->path);
}

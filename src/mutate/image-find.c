// SPDX-License-Identifier: GPL-3.0-or-later
// Finds a candidate by what the user calls it: a number of the list, or a type and a place.
#include "mutate/image.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The rest of a text that begins with `beginning`; NULL if it does not.
static const char *after(const char *text, const char *beginning)
{
    size_t size = strlen(beginning);
    return *beginning != '\0' && strncmp(text, beginning, size) == 0 ? text + size : NULL;
}

// The rest of a text that begins with a file's path or with its last components; NULL if it does
// not. Any number of components is enough.
static const char *after_file(const char *text, const char *file)
{
    const char *rest = after(text, file);
    for (const char *at = strchr(file, '/'); rest == NULL && at != NULL; at = strchr(at + 1, '/'))
        rest = after(text, at + 1);
    return rest;
}

// Whether a candidate is at FILE:LINE, FILE:LINE:COLUMN, an address or in a function.
static bool is_place(const struct image *image, const struct image_candidate *candidate,
                     const char *place)
{
    char address[24];
    snprintf(address, sizeof address, "0x%" PRIx64, candidate->address);
    if (strcmp(image->functions.items[candidate->function].name, place) == 0 ||
        (image->plain && strcmp(address, place) == 0))
        return true;
    const char *rest = after_file(place, candidate->file);
    if (rest == NULL || *rest != ':')
        return false;
    char *end;
    unsigned long line = strtoul(rest + 1, &end, 10);
    if (end == rest + 1 || line != candidate->line)
        return false;
    if (*end == '\0')
        return true;
    if (*end != ':')
        return false;
    const char *column = end + 1;
    return strtoul(column, &end, 10) == candidate->column && end != column && *end == '\0';
}

static struct error *by_number(const struct image *image, const char *text, size_t *ret_candidate)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*end != '\0' || errno != 0 || number == 0 || number > image->candidates.count)
        return error_new("%s has no fault '%s'; its faults are 1 to %zu, 'ordeal faults %s' lists "
                         "them",
                         image->path, text, image->candidates.count, image->path);
    *ret_candidate = number - 1;
    return NULL;
}

static struct error *by_place(const struct image *image, const char *text, const char *at,
                              size_t *ret_candidate)
{
    size_t found = 0, first = 0, last = 0;
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        if (image->functions.items[candidate->function].again ||
            (candidate->copies == 0 && image->decide != MAP_VARIABLE))
            continue;
        if (strlen(candidate->type) != (size_t)(at - text) ||
            memcmp(candidate->type, text, (size_t)(at - text)) != 0 ||
            !is_place(image, candidate, at + 1))
            continue;
        first = found++ == 0 ? i : first;
        last = i;
    }
    if (found == 0)
        return error_new("%s has no fault '%s' with code; 'ordeal faults %s' lists what there is",
                         image->path, text, image->path);
    if (found > 1)
        return error_new("'%s' stands for %zu faults, from %zu to %zu; give the number of one",
                         text, found, first + 1, last + 1);
    *ret_candidate = first;
    return NULL;
}

struct error *image_find(const struct image *image, const char *text, size_t *ret_candidate)
{
    const char *at = strchr(text, '@');
    size_t found = 0;
    if (at != NULL)
        TRY(by_place(image, text, at, &found));
    else
        TRY(by_number(image, text, &found));
    const struct image_candidate *candidate = &image->candidates.items[found];
    if (image->plain && candidate->copies == 0)
        return error_new("fault %zu cannot be made: there is no room for it in the code",
                         found + 1);
    if ((candidate->flags & MAP_IDLE) != 0)
        return error_new("fault %zu has no code: the mistake would make no difference there",
                         found + 1);
    if ((candidate->flags & MAP_CHOSEN) == 0)
        return error_new("fault %zu has no code: its function had more candidates than the build "
                         "had room for (see --clone-budget of ordeal cc)",
                         found + 1);
    if (candidate->copies == 0 && image->decide != MAP_VARIABLE)
        return error_new("fault %zu has no code any more: the optimiser or the linker removed the "
                         "block as never executed",
                         found + 1);
    *ret_candidate = found;
    return NULL;
}

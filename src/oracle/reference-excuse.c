// SPDX-License-Identifier: GPL-3.0-or-later
// Differences that do not count, or count less: files with varying names, files whose old content
// is as good as the new, files that are replaced anyway. See reference-model.h.
#include "base/cleanup.h"
#include "oracle/reference-model.h"
#include "sandbox/digest.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The length of the path that two similar paths must share. Random names are names of files, or of
// the directories right above them.
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

// Whether the bytes in which all runs agree are the same in the old content.
static bool agrees(const struct reference *reference, const char *old, size_t size,
                   const char *path)
{
    _cleanup_free_ bool *varies = calloc(size, sizeof *varies);
    const char *first = NULL;
    for (size_t i = 0; varies != NULL && i < reference->runs.count; i++) {
        const struct artifact *artifact = reference_run_find(&reference->runs.items[i], path);
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

// Whether `text` has that line. A line ends with a newline or with the text.
static bool has_line(const char *text, size_t size, const char *line, size_t length)
{
    for (const char *end = text + size; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t have = (size_t)((newline != NULL ? newline : end) - text);
        if (have == length && memcmp(text, line, length) == 0)
            return true;
        text += have + 1;
    }
    return false;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)line[i]))
            return false;
    return true;
}

// Whether at least half of the old content is still there, counted from both ends. A text that is
// all on one line is edited inside that line.
static bool is_mostly_kept(const char *old, size_t old_size, const char *made, size_t made_size)
{
    size_t most = old_size < made_size ? old_size : made_size, before = 0, after = 0;
    while (before < most && old[before] == made[before])
        before++;
    while (before + after < most && old[old_size - 1 - after] == made[made_size - 1 - after])
        after++;
    return before + after >= old_size - (before + after);
}

#define EDITED_MOST (16u << 10) // bytes; longer files are not searched for lines

bool reference_replaces_content(const struct reference_item *item)
{
    const struct artifact *artifact = item->artifact;
    if (artifact->content.size != artifact->size || artifact->size > EDITED_MOST)
        return false;
    _cleanup_free_ char *old = malloc(EDITED_MOST + 1);
    _cleanup_close_ int file =
        open(artifact->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    ssize_t got = old != NULL && file >= 0 ? pread(file, old, EDITED_MOST + 1, 0) : -1;
    if (got < 0 || (size_t)got > EDITED_MOST || memchr(old, '\0', (size_t)got) != NULL ||
        is_mostly_kept(old, (size_t)got, artifact->content.data, artifact->content.size))
        return false;
    for (const char *line = old, *end = old + got; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((newline != NULL ? newline : end) - line);
        if (!is_blank(line, length) &&
            has_line(artifact->content.data, artifact->content.size, line, length))
            return false;
        line += length + 1;
    }
    return true;
}

bool reference_is_like_before(const struct reference *reference, const struct reference_item *item)
{
    const struct artifact *artifact = item->artifact;
    size_t size = artifact->size;
    if (item->same || artifact->kind != ARTIFACT_FILE || size == 0 ||
        size != artifact->content.size)
        return false;
    _cleanup_free_ char *old = malloc(size + 1);
    _cleanup_close_ int file =
        open(artifact->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    return old != NULL && file >= 0 && pread(file, old, size + 1, 0) == (ssize_t)size &&
           agrees(reference, old, size, artifact->path);
}

// The outside still has the file as it was before the run. What setup makes inside is not known.
bool reference_was_there(const char *path, uint64_t *ret_size)
{
    struct stat status;
    bool there = lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    *ret_size = there ? (uint64_t)status.st_size : 0;
    return there;
}

unsigned reference_mode_before(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_mode & 07777 : ARTIFACT_NO_MODE;
}

bool reference_is_absent(const struct reference *reference, const char *path)
{
    for (size_t i = 0; i < reference->runs.count; i++) {
        const char *absent = reference->runs.items[i].absent;
        if (absent == NULL || !has_line(absent, strlen(absent), path, strlen(path)))
            return false;
    }
    return reference->runs.count != 0;
}

bool reference_changes(const struct artifact *artifact)
{
    uint64_t size, hash;
    if (!reference_was_there(artifact->path, &size))
        return false;
    if (size != artifact->size)
        return true;
    _cleanup_close_ int file =
        open(artifact->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    return file >= 0 && digest_file(file, size, &hash) && hash != artifact->hash;
}

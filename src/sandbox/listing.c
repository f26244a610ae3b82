// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a directory and hashes its files, except those whose hash is known from an earlier listing.
#include "sandbox/listing.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/protected-files.h"
#include "base/tree.h"
#include "sandbox/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

struct walk {
    const struct listing *known;
    bool copied;
    dev_t device;
    uint64_t bytes; // that may still be read
    struct listing *listing;
};

void listing_deinit(struct listing *listing)
{
    for (size_t i = 0; i < listing->entries.count; i++)
        free(listing->entries.items[i].path);
    ARRAY_DEINIT(&listing->entries);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct listing_entry *)a)->path, ((const struct listing_entry *)b)->path);
}

const struct listing_entry *listing_find(const struct listing *listing, const char *path)
{
    struct listing_entry key = {.path = (char *)path};
    if (listing->entries.count == 0)
        return NULL;
    return bsearch(&key, listing->entries.items, listing->entries.count, sizeof key, by_path);
}

static bool untouched(const struct listing_entry *now, const struct listing_entry *known,
                      bool copied)
{
    if (now->size != known->size || now->modified_ns != known->modified_ns ||
        ((now->mode ^ known->mode) & S_IFMT) != 0)
        return false;
    return copied || (now->device == known->device && now->inode == known->inode &&
                      now->changed_ns == known->changed_ns);
}

static void hash_content(struct walk *walk, int directory, const char *name,
                         struct listing_entry *entry)
{
    if (S_ISLNK(entry->mode)) {
        char target[PATH_MAX];
        ssize_t size = readlinkat(directory, name, target, sizeof target);
        entry->hashed = size >= 0;
        if (size >= 0)
            entry->hash = digest_bytes(target, (size_t)size);
        return;
    }
    if (!S_ISREG(entry->mode))
        return;
    const struct listing_entry *known =
        walk->known == NULL ? NULL : listing_find(walk->known, entry->path);
    if (known != NULL && untouched(entry, known, walk->copied)) {
        entry->hash = known->hash;
        entry->hashed = known->hashed;
        if (known->hashed)
            return;
    }
    if (entry->size > walk->bytes)
        return;
    walk->bytes -= entry->size;
    _cleanup_close_ int file =
        openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    entry->hashed = file >= 0 && digest_file(file, entry->size, &entry->hash);
}

static uint64_t ns_of(const struct timespec *time)
{
    return clock_of(time);
}

static struct error *add_entry(struct walk *walk, int directory, const char *name, const char *path,
                               const struct stat *status)
{
    if (walk->listing->entries.count >= LISTING_ENTRIES)
        return error_new("more than %d files", LISTING_ENTRIES);
    struct listing_entry *entry = ARRAY_ADD(&walk->listing->entries);
    if (entry == NULL || (entry->path = strdup(path)) == NULL)
        return error_no_memory();
    entry->mode = status->st_mode;
    entry->size =
        S_ISREG(status->st_mode) || S_ISLNK(status->st_mode) ? (uint64_t)status->st_size : 0;
    entry->device = status->st_dev;
    entry->inode = status->st_ino;
    entry->modified_ns = ns_of(&status->st_mtim);
    entry->changed_ns = ns_of(&status->st_ctim);
    if (!protected_files_has(status))
        hash_content(walk, directory, name, entry);
    return NULL;
}

static struct error *list_one(void *data, const struct tree_directory *directory, const char *name,
                              struct tree_directory *below)
{
    struct walk *walk = data;
    struct stat status;
    char path[PATH_MAX];
    if (fstatat(directory->sides[0], name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL; // gone meanwhile
    if ((size_t)snprintf(path, sizeof path, "%s%s%s", directory->path,
                         directory->path[0] == '\0' ? "" : "/", name) >= sizeof path)
        return NULL;
    TRY(add_entry(walk, directory->sides[0], name, path, &status));
    if (!S_ISDIR(status.st_mode) || status.st_dev != walk->device)
        return NULL;
    below->sides[0] =
        openat(directory->sides[0], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below->sides[0] < 0 && (errno == EMFILE || errno == ENFILE))
        return error_from_errno(errno, "cannot list %s", path);
    return NULL;
}

struct error *listing_take(const char *directory, const struct listing *known, bool copied,
                           struct listing *ret_listing)
{
    struct listing listing = {0};
    struct walk walk = {
        .known = known, .copied = copied, .bytes = LISTING_BYTES, .listing = &listing};
    struct stat status;
    static const struct tree_visitor visitor = {.entry = list_one};
    _cleanup_close_ int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) < 0)
        return error_from_errno(errno, "cannot list %s", directory);
    walk.device = status.st_dev;
    struct error *error =
        tree_walk(&(struct tree_directory){.sides = {descriptor, -1}}, &visitor, &walk);
    if (error != NULL) {
        listing_deinit(&listing);
        return error_prefix(error, "%s", directory);
    }
    if (listing.entries.count != 0)
        qsort(listing.entries.items, listing.entries.count, sizeof *listing.entries.items, by_path);
    *ret_listing = listing;
    return NULL;
}

bool listing_same(const struct listing_entry *a, const struct listing_entry *b)
{
    if (a->mode != b->mode)
        return false;
    if (!S_ISREG(a->mode) && !S_ISLNK(a->mode))
        return true;
    // A file that was written again counts as changed even if its content is the same.
    if (a->size != b->size || (S_ISREG(a->mode) && a->modified_ns != b->modified_ns))
        return false;
    return !a->hashed || !b->hashed || a->hash == b->hash;
}

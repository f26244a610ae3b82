// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a directory and hashes its files, except those whose hash is known from an earlier listing.
#include "sandbox/listing.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/protected-files.h"
#include "sandbox/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

struct walk {
    const struct listing *known;
    bool copied;
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

static struct error *list_directory(struct walk *walk, int descriptor, const char *prefix,
                                    dev_t device);

static struct error *list_one(struct walk *walk, int directory, const char *name,
                              const char *prefix, dev_t device)
{
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL; // gone meanwhile
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(buffer_printf(&path, "%s%s%s", prefix, prefix[0] == '\0' ? "" : "/", name));
    TRY(add_entry(walk, directory, name, path.data, &status));
    if (!S_ISDIR(status.st_mode) || status.st_dev != device)
        return NULL;
    int below = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return below < 0 ? NULL : list_directory(walk, below, path.data, device);
}

// Closes the descriptor.
static struct error *list_directory(struct walk *walk, int descriptor, const char *prefix,
                                    dev_t device)
{
    DIR *stream = fdopendir(descriptor);
    if (stream == NULL) {
        int code = errno;
        close(descriptor);
        return error_from_errno(code, "cannot list %s", prefix);
    }
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = list_one(walk, dirfd(stream), entry->d_name, prefix, device);
    closedir(stream);
    return error;
}

struct error *listing_take(const char *directory, const struct listing *known, bool copied,
                           struct listing *ret_listing)
{
    struct listing listing = {0};
    struct walk walk = {
        .known = known, .copied = copied, .bytes = LISTING_BYTES, .listing = &listing};
    struct stat status;
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) < 0) {
        int code = errno;
        if (descriptor >= 0)
            close(descriptor);
        return error_from_errno(code, "cannot list %s", directory);
    }
    struct error *error = list_directory(&walk, descriptor, "", status.st_dev);
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

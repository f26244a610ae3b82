// SPDX-License-Identifier: GPL-3.0-or-later
// Reads or makes the key, and hashes with it: HMAC-SHA256.
#include "campaign/environment-key.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

_Static_assert(KEY_BYTES == SHA256_DIGEST_SIZE, "hash and key have one size");

static void put_digits(const uint8_t *bytes, char ret_text[KEY_HASH])
{
    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

void environment_key_hash(const struct environment_key *key, const char *name, size_t name_size,
                          const char *value, char ret_hash[KEY_HASH])
{
    struct hmac_sha256_ctx context;
    uint8_t digest[KEY_BYTES];
    hmac_sha256_set_key(&context, KEY_BYTES, key->bytes);
    hmac_sha256_update(&context, name_size, (const uint8_t *)name);
    hmac_sha256_update(&context, 1, (const uint8_t *)"=");
    hmac_sha256_update(&context, strlen(value), (const uint8_t *)value);
    hmac_sha256_digest(&context, KEY_BYTES, digest);
    put_digits(digest, ret_hash);
}

// The directory of the key, or nothing if the user has no place for it.
static struct error *put_directory(struct buffer *path)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state != NULL && state[0] == '/')
        return buffer_printf(path, "%s/ordeal", state);
    if (home != NULL && home[0] == '/')
        return buffer_printf(path, "%s/.local/state/ordeal", home);
    return NULL;
}

// Makes a directory in one of ours; what exists already is left as it is. Root with the HOME of
// another user must not leave directories there that this user cannot enter.
static bool make_directory(const char *path, uid_t *owner)
{
    struct stat facts;
    if (stat(path, &facts) == 0)
        *owner = facts.st_uid;
    else if (*owner != geteuid() || (mkdir(path, 0700) < 0 && errno != EEXIST))
        return false;
    return true;
}

static void make_directories(char *path)
{
    bool made = true;
    uid_t owner = 0; // of the last one that there is; / is root's
    for (char *slash = strchr(path + 1, '/'); made && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = make_directory(path, &owner);
        *slash = '/';
    }
    if (made)
        make_directory(path, &owner);
}

static struct error *refuse(const char *path, const char *why)
{
    return error_new("%s: the key of the hashes of variables %s: remove it, and a new one is made",
                     path, why);
}

static struct error *read_key(const char *path, struct environment_key *ret_key)
{
    _cleanup_close_ int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ELOOP)
        return refuse(path, "is a link");
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? NULL
                   : error_from_errno(errno, "cannot open %s", path);
    struct stat facts;
    if (fstat(file, &facts) < 0)
        return error_from_errno(errno, "cannot open %s", path);
    if (!S_ISREG(facts.st_mode))
        return refuse(path, "is not a regular file");
    if (facts.st_uid != geteuid())
        return refuse(path, "belongs to another user");
    if ((facts.st_mode & 077) != 0)
        return refuse(path, "can be read or written by others");
    if (facts.st_nlink != 1)
        return refuse(path, "has a second name");
    if (facts.st_size != KEY_BYTES || read(file, ret_key->bytes, KEY_BYTES) != (ssize_t)KEY_BYTES)
        return refuse(path, "is damaged");
    ret_key->known = true;
    return NULL;
}

// Another process may do the same: the file appears complete or not at all, and the first one
// stays. Where no file can be made, there is no key.
static struct error *make_key(const char *path)
{
    uint8_t bytes[KEY_BYTES];
    _cleanup_close_ int file = -1;
    _cleanup_free_ char *temporary = NULL;
    mode_t before = umask(077); // nobody else ever sees it
    struct error *error = file_beside(path, &file, &temporary);
    umask(before);
    if (error != NULL) {
        if (error == error_no_memory())
            return error;
        error_free(error);
        return NULL;
    }
    bool whole = getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
                 write(file, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fsync(file) == 0;
    if (!whole || renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) < 0)
        unlink(temporary);
    return NULL;
}

struct error *environment_key_load(bool create, struct environment_key *ret_key)
{
    _cleanup_(buffer_deinit) struct buffer path = {0};
    struct environment_key key = {0};
    TRY(put_directory(&path));
    if (path.size == 0) {
        *ret_key = key;
        return NULL;
    }
    if (create)
        make_directories(path.data);
    TRY(buffer_printf(&path, "/key"));
    TRY(read_key(path.data, &key));
    if (!key.known && create) {
        TRY(make_key(path.data));
        TRY(read_key(path.data, &key));
    }
    if (key.known)
        environment_key_hash(&key, "", 0, "the key of these hashes", key.id);
    *ret_key = key;
    return NULL;
}

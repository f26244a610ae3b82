// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes cached profiles. A file is a header, the key, and the arrays of a profile as
// they are in memory, because only the same build reads it. It is not trusted: a checksum finds
// damage, and every index is checked.
#include "profile/cache.h"

#include "base/cache-directory.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hash.h"
#include "profile/library-internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define FORMAT     6u
#define MAGIC      "ordeal profile\n"
#define MOST_BYTES (256u << 20)

struct header {
    char magic[16];
    uint32_t format, key_size;
    uint64_t checksum; // of everything behind the header
    uint64_t functions, failures, variables, sets, texts;
    uint32_t soname, build_id;
};

// ---- what a profile depends on ----

// A build-id is not enough: it stays the same when a file is patched, and one that is set by hand
// may be in many files.
static struct error *put_identity(const char *build_id, uint64_t digest, struct buffer *text)
{
    return buffer_printf(text, "%s %016" PRIx64 "\n", build_id != NULL ? build_id : "none", digest);
}

static void object_closep(struct elf_object **object)
{
    elf_object_close(*object);
}

static struct error *put_salt(const char *kernel, struct buffer *salt)
{
    _cleanup_(object_closep) struct elf_object *self = NULL;
    TRY(elf_object_open_bare("/proc/self/exe", &self));
    TRY(buffer_printf(salt, "%s %u\n", ORDEAL_VERSION, FORMAT));
    TRY(put_identity(elf_object_facts(self)->build_id, elf_object_digest(self), salt));
    return buffer_printf(salt, "kernel %s\n", kernel);
}

struct error *profile_cache_open(const char *kernel, struct profile_cache *ret_cache)
{
    struct profile_cache cache = {0};
    struct error *error = cache_directory_find(&cache.directory);
    if (error == NULL)
        error = put_salt(kernel, &cache.salt);
    if (error != NULL) {
        profile_cache_close(&cache);
        return error;
    }
    *ret_cache = cache;
    return NULL;
}

void profile_cache_close(struct profile_cache *cache)
{
    free(cache->directory);
    buffer_deinit(&cache->salt);
    *cache = (struct profile_cache){0};
}

struct error *profile_cache_key(const struct profile_cache *cache, const struct profile_set *set,
                                size_t number, struct buffer *key)
{
    const struct module *module = &set->modules.items[number];
    TRY(buffer_append(key, cache->salt.data, cache->salt.size));
    for (size_t i = 0; i < module->scope.count; i++) {
        const struct module *needed = &set->modules.items[module->scope.items[i]];
        TRY(put_identity(elf_object_facts(needed->object)->build_id, needed->digest, key));
    }
    return NULL;
}

static struct error *file_of(const struct profile_cache *cache, const struct buffer *key,
                             char **ret_path)
{
    if (asprintf(ret_path, "%s/%016" PRIx64 ".profile", cache->directory,
                 hash_bytes(key->data, key->size)) < 0)
        return error_no_memory();
    return NULL;
}

// ---- reading ----

static bool value_fits(const struct profile *profile, const struct value *value)
{
    return value->kind <= VALUE_ERRORS &&
           (value->kind != VALUE_ERRORS || value->set < profile->sets.items.count);
}

static bool text_fits(const struct profile *profile, uint32_t text)
{
    return text == 0 || text < profile->texts.size;
}

static bool failure_fits(const struct profile *profile, const struct failure *failure)
{
    if (!value_fits(profile, &failure->result) || !value_fits(profile, &failure->error) ||
        failure->effect_count > OUTCOME_EFFECTS || failure->reason >= FAILURE_REASONS)
        return false;
    for (unsigned i = 0; i < failure->effect_count; i++)
        if (failure->effects[i].kind > EFFECT_OWN_THREAD)
            return false;
    return true;
}

static bool profile_fits(const struct profile *profile)
{
    if (profile->texts.size != 0 && profile->texts.data[profile->texts.size - 1] != '\0')
        return false;
    if (!text_fits(profile, profile->soname) || !text_fits(profile, profile->build_id))
        return false;
    for (size_t i = 0; i < profile->functions.count; i++) {
        const struct profile_function *function = &profile->functions.items[i];
        if (function->name == 0 || !text_fits(profile, function->name) ||
            !text_fits(profile, function->version) || !text_fits(profile, function->unknown) ||
            (uint64_t)function->first + function->count > profile->failures.count)
            return false;
    }
    for (size_t i = 0; i < profile->failures.count; i++)
        if (!failure_fits(profile, &profile->failures.items[i]))
            return false;
    for (size_t i = 0; i < profile->variables.count; i++)
        if (!text_fits(profile, profile->variables.items[i].name))
            return false;
    return true;
}

static bool read_items(struct cursor *cursor, uint64_t count, size_t size, void **ret_items,
                       size_t *ret_count, size_t *ret_room)
{
    const void *bytes =
        count <= MOST_BYTES / size ? cursor_bytes(cursor, (size_t)count * size) : NULL;
    void *items = bytes != NULL ? malloc((size_t)count * size + 1) : NULL;
    if (items == NULL)
        return false;
    memcpy(items, bytes, (size_t)count * size);
    *ret_items = items;
    *ret_count = *ret_room = (size_t)count;
    return true;
}

#define READ(cursor, n, array)                                                                     \
    read_items(cursor, n, sizeof *(array)->items, (void **)&(array)->items, &(array)->count,       \
               &(array)->room)

static bool read_sets(struct cursor *cursor, uint64_t count, struct error_sets *sets)
{
    struct error *error = error_sets_init(sets);
    for (uint64_t i = 0; i < count && error == NULL; i++) {
        const void *bytes = cursor_bytes(cursor, sizeof(struct error_set));
        struct error_set set;
        uint32_t number;
        if (bytes == NULL)
            return false;
        memcpy(&set, bytes, sizeof set);
        error = error_sets_put(sets, &set, &number);
        if (error == NULL && number != i)
            return false;
    }
    error_free(error);
    return error == NULL;
}

static bool parse(const struct buffer *file, const struct buffer *key, struct profile *profile)
{
    struct cursor cursor = {(const unsigned char *)file->data, file->size, 0, false};
    struct header header;
    const void *start = cursor_bytes(&cursor, sizeof header);
    if (start == NULL)
        return false;
    memcpy(&header, start, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0 || header.format != FORMAT ||
        header.key_size != key->size ||
        header.checksum != hash_bytes(file->data + sizeof header, file->size - sizeof header))
        return false;
    const void *its_key = cursor_bytes(&cursor, header.key_size);
    if (its_key == NULL || memcmp(its_key, key->data, key->size) != 0)
        return false;
    profile->soname = header.soname;
    profile->build_id = header.build_id;
    return READ(&cursor, header.functions, &profile->functions) &&
           READ(&cursor, header.failures, &profile->failures) &&
           READ(&cursor, header.variables, &profile->variables) &&
           read_sets(&cursor, header.sets, &profile->sets) &&
           read_items(&cursor, header.texts, 1, (void **)&profile->texts.data, &profile->texts.size,
                      &profile->texts.room) &&
           profile_fits(profile);
}

struct error *profile_cache_load(const struct profile_cache *cache, const struct buffer *key,
                                 const char *path, struct profile *ret_profile, bool *ret_found)
{
    _cleanup_free_ char *name = NULL;
    _cleanup_(buffer_deinit) struct buffer file = {0};
    *ret_found = false;
    if (cache->directory == NULL)
        return NULL;
    TRY(file_of(cache, key, &name));
    _cleanup_error_ struct error *error = buffer_read_regular(name, MOST_BYTES, &file);
    if (error != NULL)
        return NULL;
    struct profile profile = {.path = strdup(path), .cached = true};
    if (profile.path == NULL)
        return error_no_memory();
    if (!parse(&file, key, &profile)) {
        profile_deinit(&profile);
        return NULL;
    }
    *ret_profile = profile;
    *ret_found = true;
    return NULL;
}

// ---- writing ----

struct error *profile_cache_path(const char *name, const char *ending, char **ret_path)
{
    _cleanup_free_ char *directory = NULL;
    *ret_path = NULL;
    TRY(cache_directory_find(&directory));
    if (directory != NULL && asprintf(ret_path, "%s/%s.%s", directory, name, ending) < 0) {
        *ret_path = NULL;
        return error_no_memory();
    }
    return NULL;
}

struct error *profile_cache_make_directory(void)
{
    _cleanup_free_ char *directory = NULL;
    TRY(cache_directory_find(&directory));
    return directory != NULL ? cache_directory_make(directory) : NULL;
}

struct error *profile_cache_store(const struct profile_cache *cache, const struct buffer *key,
                                  const struct profile *profile)
{
    _cleanup_free_ char *name = NULL;
    _cleanup_(buffer_deinit) struct buffer file = {0};
    if (cache->directory == NULL)
        return NULL;
    struct header header = {.magic = MAGIC,
                            .format = FORMAT,
                            .key_size = (uint32_t)key->size,
                            .functions = profile->functions.count,
                            .failures = profile->failures.count,
                            .variables = profile->variables.count,
                            .sets = profile->sets.items.count,
                            .texts = profile->texts.size,
                            .soname = profile->soname,
                            .build_id = profile->build_id};
    TRY(buffer_append(&file, &header, sizeof header));
    TRY(buffer_append(&file, key->data, key->size));
    TRY(buffer_append(&file, profile->functions.items,
                      profile->functions.count * sizeof *profile->functions.items));
    TRY(buffer_append(&file, profile->failures.items,
                      profile->failures.count * sizeof *profile->failures.items));
    TRY(buffer_append(&file, profile->variables.items,
                      profile->variables.count * sizeof *profile->variables.items));
    TRY(buffer_append(&file, profile->sets.items.items,
                      profile->sets.items.count * sizeof *profile->sets.items.items));
    TRY(buffer_append(&file, profile->texts.data, profile->texts.size));
    header.checksum = hash_bytes(file.data + sizeof header, file.size - sizeof header);
    memcpy(file.data, &header, sizeof header);
    TRY(cache_directory_make(cache->directory));
    TRY(file_of(cache, key, &name));
    return file_replace(name, &file);
}

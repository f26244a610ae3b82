// SPDX-License-Identifier: GPL-3.0-or-later
// Stores a campaign's environment without secrets and compares it later.
#include "campaign/environment.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <string.h>

#define NAMES_MOST 8 // in a sentence

// Shells set these anew for every command.
static bool is_fleeting(const char *name)
{
    return strcmp(name, "_") == 0 || strcmp(name, "SHLVL") == 0 || strcmp(name, "OLDPWD") == 0;
}

static struct error *store_variable(struct store *store, int64_t campaign,
                                    const struct definition *definition,
                                    const struct environment_key *key, const char *variable)
{
    size_t size = strcspn(variable, "=");
    if (variable[size] == '\0' || size == 0)
        return NULL;
    _cleanup_free_ char *name = strndup(variable, size);
    if (name == NULL)
        return error_no_memory();
    const char *value = variable + size + 1;
    bool kept = definition_keeps_variable(definition, variable, size);
    char hash[KEY_HASH];
    if (!kept && key->known)
        environment_key_hash(key, name, size, value, hash);
    struct store_variable row = {.campaign = campaign,
                                 .name = name,
                                 .value = kept ? value : NULL,
                                 .hash = !kept && key->known ? hash : NULL};
    return store_add_variable(store, &row);
}

struct error *environment_store(struct store *store, int64_t campaign,
                                const struct definition *definition,
                                const struct environment_key *key)
{
    for (size_t i = 0; i < definition->environment.count; i++)
        TRY(store_variable(store, campaign, definition, key, definition->environment.items[i]));
    return NULL;
}

void environment_comparison_deinit(struct environment_comparison *comparison)
{
    words_deinit(&comparison->different);
    words_deinit(&comparison->missing);
    words_deinit(&comparison->unknown);
    *comparison = (struct environment_comparison){0};
}

struct environment_check {
    const struct definition *definition;
    struct environment_key key; // known only if the hashes were made with it
    struct environment_comparison comparison;
};

static struct error *compare(void *data, const struct store_variable *row)
{
    struct environment_check *check = data;
    struct environment_comparison *comparison = &check->comparison;
    if (row->value != NULL || is_fleeting(row->name))
        return NULL;
    const char *value = words_variable(&check->definition->environment, row->name);
    if (value == NULL)
        return words_add(&comparison->missing, row->name, strlen(row->name));
    if (row->hash == NULL || !check->key.known)
        return words_add(&comparison->unknown, row->name, strlen(row->name));
    char hash[KEY_HASH];
    environment_key_hash(&check->key, row->name, strlen(row->name), value, hash);
    if (strcmp(hash, row->hash) != 0)
        return words_add(&comparison->different, row->name, strlen(row->name));
    comparison->same++;
    return NULL;
}

struct error *environment_compare(struct store *store, const struct store_campaign *campaign,
                                  const struct definition *definition,
                                  struct environment_comparison *ret_comparison)
{
    struct environment_check check = {.definition = definition};
    // A key that is refused is no key.
    struct error *refused = environment_key_load(false, &check.key);
    if (refused == error_no_memory())
        return refused;
    error_free(refused);
    check.key.known = check.key.known && campaign->environment_key != NULL &&
                      strcmp(check.key.id, campaign->environment_key) == 0;
    struct error *error = store_each_variable(store, campaign->id, compare, &check);
    if (error != NULL)
        environment_comparison_deinit(&check.comparison);
    else
        *ret_comparison = check.comparison;
    return error;
}

bool environment_is_same(const struct environment_comparison *comparison)
{
    return comparison->different.count + comparison->missing.count + comparison->unknown.count == 0;
}

static struct error *put_names(struct buffer *text, const struct words *names, const char *why)
{
    for (size_t i = 0; i < names->count && i < NAMES_MOST; i++)
        TRY(buffer_printf(text, "%s%s", i != 0 ? ", " : "", names->items[i]));
    if (names->count > NAMES_MOST)
        TRY(buffer_printf(text, " and %zu more", names->count - NAMES_MOST));
    return buffer_printf(text, "%s", why);
}

struct error *environment_put(struct buffer *text, const struct environment_comparison *comparison)
{
    const struct words *different = &comparison->different, *missing = &comparison->missing,
                       *unknown = &comparison->unknown;
    if (environment_is_same(comparison))
        return buffer_printf(text, "same");
    if (different->count != 0) {
        TRY(buffer_printf(text, "differs: "));
        TRY(put_names(text, different, ""));
    }
    if (missing->count + unknown->count == 0)
        return NULL;
    TRY(buffer_printf(text, "%scannot tell: ", different->count != 0 ? "; " : ""));
    if (missing->count != 0)
        TRY(put_names(text, missing, " (not set here)"));
    if (unknown->count == 0)
        return NULL;
    TRY(buffer_printf(text, "%s", missing->count != 0 ? ", " : ""));
    return put_names(text, unknown, " (no hash, or of another key)");
}

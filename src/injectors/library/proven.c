// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes what was proven about the build of a library: a file for each build, a line for
// each fault, with tabs between its fields. Campaigns that write at the same time lose at most a
// line, which is proven again.
#include "injectors/library/proven.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "elf/object.h"
#include "injector/realism.h"
#include "profile/cache.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1u << 20)
#define FIELDS     8 // fault, call, action, error, module, symbol, offset, lasting

static void object_closep(struct elf_object **object)
{
    elf_object_close(*object);
}

void proven_key_deinit(struct proven_key *key)
{
    free(key->file);
    free(key->fault);
}

void proven_deinit(struct proven *proven)
{
    free(proven->line);
    *proven = (struct proven){0};
}

struct error *proven_key_make(const char *library, const char *function, const char *result,
                              struct proven_key *ret_key)
{
    _cleanup_(object_closep) struct elf_object *object = NULL;
    _cleanup_(proven_key_deinit) struct proven_key key = {0};
    if (asprintf(&key.fault, "%s=%s", function, result) < 0) {
        key.fault = NULL;
        return error_no_memory();
    }
    if (library != NULL)
        error_free(elf_object_open_bare(library, &object));
    const char *build = object != NULL ? elf_object_facts(object)->build_id : NULL;
    if (build != NULL)
        TRY(profile_cache_path(build, "proven", &key.file));
    *ret_key = key;
    key = (struct proven_key){0};
    return NULL;
}

// Splits a line into its fields. False if it has not all of them.
static bool split(char *line, char *fields[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line += strcspn(line, "\t");
        if ((*line == '\t') != (i < FIELDS - 1))
            return false;
        if (*line == '\t')
            *line++ = '\0';
    }
    return true;
}

// Whether the function really fails like this. Nothing else is tried for a proof.
static bool is_real(const char *call, const char *action)
{
    const struct realism *row = realism_find(call);
    const char *list = row != NULL ? row->errors : "";
    struct realism_error error;
    while (realism_next(&list, &error)) {
        char real[REALISM_ACTION];
        realism_action(row, &error, real);
        if (!error.is_short && strcmp(real, action) == 0)
            return true;
    }
    return false;
}

static bool take_line(char *line, const char *fault, struct proven *proven)
{
    char *fields[FIELDS];
    if (!split(line, fields) || strcmp(fields[0], fault) != 0)
        return false;
    *proven = (struct proven){.call = fields[1],
                              .action = fields[2],
                              .error = fields[3],
                              .module = fields[4],
                              .symbol = fields[5],
                              .offset = strtoull(fields[6], NULL, 16),
                              .lasting = fields[7][0] == '1'};
    return is_real(proven->call, proven->action) && proven->module[0] != '\0';
}

struct error *proven_recall(const struct proven_key *key, struct proven *ret_proven)
{
    _cleanup_(buffer_deinit) struct buffer file = {0};
    *ret_proven = (struct proven){0};
    if (key->file == NULL)
        return NULL;
    _cleanup_error_ struct error *error = buffer_read_own(key->file, MOST_BYTES, &file);
    if (error != NULL || file.size == 0)
        return NULL;
    char *rest = file.data;
    while (rest != NULL) {
        char *line = strsep(&rest, "\n");
        struct proven proven = {.line = strdup(line)};
        if (proven.line == NULL)
            return error_no_memory();
        char *own = proven.line;
        bool taken = take_line(own, key->fault, &proven);
        proven.line = own;
        if (taken) {
            *ret_proven = proven;
            return NULL;
        }
        proven_deinit(&proven);
    }
    return NULL;
}

static bool has_tab(const struct proven *proven)
{
    const char *const texts[] = {proven->call, proven->action, proven->error, proven->module,
                                 proven->symbol};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strpbrk(texts[i], "\t\n") != NULL)
            return true;
    return false;
}

// The new line comes first, and so replaces an older one of the same fault.
struct error *proven_keep(const struct proven_key *key, const struct proven *proven)
{
    _cleanup_(buffer_deinit) struct buffer old = {0}, text = {0};
    if (key->file == NULL || has_tab(proven) || strpbrk(key->fault, "\t\n") != NULL)
        return NULL;
    TRY(buffer_printf(&text, "%s\t%s\t%s\t%s\t%s\t%s\t%llx\t%d\n", key->fault, proven->call,
                      proven->action, proven->error, proven->module, proven->symbol,
                      (unsigned long long)proven->offset, proven->lasting));
    error_free(buffer_read_own(key->file, MOST_BYTES / 2, &old));
    TRY(buffer_append(&text, old.data, old.size));
    TRY(profile_cache_make_directory());
    return file_replace(key->file, &text);
}

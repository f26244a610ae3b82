// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a system's file. Its keys are a table.
#include "guest/system.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "scenario/yaml-tree.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT (1u << 20)

enum key_kind { KEY_TEXT, KEY_PATH, KEY_NUMBER, KEY_SECONDS, KEY_WORDS, KEY_LINK };

static const struct key {
    const char *name;
    enum key_kind kind;
    size_t field;
    uint64_t least, most; // of numbers
    bool needed;
} keys[] = {
    {"name", KEY_TEXT, offsetof(struct guest_system, name), 0, 0, false},
    {"kernel", KEY_PATH, offsetof(struct guest_system, kernel), 0, 0, true},
    {"initrd", KEY_PATH, offsetof(struct guest_system, initrd), 0, 0, false},
    {"disk", KEY_PATH, offsetof(struct guest_system, disk), 0, 0, false},
    {"append", KEY_TEXT, offsetof(struct guest_system, append), 0, 0, false},
    {"machine", KEY_TEXT, offsetof(struct guest_system, machine), 0, 0, false},
    {"processor", KEY_TEXT, offsetof(struct guest_system, processor), 0, 0, false},
    {"options", KEY_WORDS, offsetof(struct guest_system, options), 0, 0, false},
    {"memory", KEY_NUMBER, offsetof(struct guest_system, memory), 4, 1 << 20, false},
    {"processors", KEY_NUMBER, offsetof(struct guest_system, processors), 1, 255, false},
    {"port", KEY_NUMBER, offsetof(struct guest_system, port), 1, 65535, false},
    {"link", KEY_LINK, offsetof(struct guest_system, serial_link), 0, 0, false},
    {"ready", KEY_TEXT, offsetof(struct guest_system, ready), 0, 0, false},
    {"pretest", KEY_PATH, offsetof(struct guest_system, pretest), 0, 0, true},
    {"workload", KEY_PATH, offsetof(struct guest_system, workload), 0, 0, true},
    {"shutdown", KEY_PATH, offsetof(struct guest_system, shutdown), 0, 0, false},
    {"boot-seconds", KEY_SECONDS, offsetof(struct guest_system, boot_ns), 0, 0, false},
    {"pretest-seconds", KEY_SECONDS, offsetof(struct guest_system, pretest_ns), 0, 0, false},
    {"workload-seconds", KEY_SECONDS, offsetof(struct guest_system, workload_ns), 0, 0, false},
    {"shutdown-seconds", KEY_SECONDS, offsetof(struct guest_system, shutdown_ns), 0, 0, false},
};
#define KEYS (sizeof keys / sizeof *keys)

void guest_system_deinit(struct guest_system *system)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].kind == KEY_TEXT || keys[i].kind == KEY_PATH)
            free(*(char **)((char *)system + keys[i].field));
    words_deinit(&system->options);
    free(system->directory);
    *system = (struct guest_system){0};
}

static struct error *take_text(const struct yaml_node *value, char **ret_text)
{
    *ret_text = strndup(value->text, value->size);
    return *ret_text != NULL ? NULL : error_no_memory();
}

static struct error *take_path(const struct guest_system *system, const struct yaml_node *value,
                               char **ret_path)
{
    bool absolute = value->size != 0 && value->text[0] == '/';
    int size =
        absolute ? asprintf(ret_path, "%.*s", (int)value->size, value->text)
                 : asprintf(ret_path, "%s/%.*s", system->directory, (int)value->size, value->text);
    if (size < 0)
        *ret_path = NULL;
    return size >= 0 ? NULL : error_no_memory();
}

static struct error *take_number(const struct source *file, const struct key *key,
                                 const struct yaml_node *value, uint64_t *ret_number)
{
    _cleanup_free_ char *text = strndup(value->text, value->size);
    char *end;
    if (text == NULL)
        return error_no_memory();
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < key->least ||
        number > key->most)
        return source_error(file, value->at, "'%s' takes a number from %llu to %llu", key->name,
                            (unsigned long long)key->least, (unsigned long long)key->most);
    *ret_number = number;
    return NULL;
}

static struct error *take_seconds(const struct source *file, const struct key *key,
                                  const struct yaml_node *value, uint64_t *ret_ns)
{
    _cleanup_free_ char *text = strndup(value->text, value->size);
    char *end;
    if (text == NULL)
        return error_no_memory();
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0) || !(seconds <= 1e6))
        return source_error(file, value->at, "'%s' takes a number of seconds, up to a million",
                            key->name);
    *ret_ns = (uint64_t)(seconds * (double)NS_PER_S);
    return NULL;
}

static struct error *take_words(const struct source *file, const struct yaml_node *value,
                                struct words *words)
{
    for (const struct yaml_node *word = value->first; word != NULL; word = word->next) {
        if (word->kind != YAML_SCALAR)
            return source_error(file, word->at, "an option of QEMU is expected here");
        TRY(words_add(words, word->text, word->size));
    }
    return NULL;
}

static struct error *take_link(const struct source *file, const struct yaml_node *value,
                               bool *ret_serial)
{
    if (value->size != 6 || memcmp(value->text, "serial", 6) != 0)
        return source_error(file, value->at, "'link' can only be 'serial'");
    *ret_serial = true;
    return NULL;
}

static struct error *take(const struct source *file, const struct key *key,
                          const struct yaml_node *value, struct guest_system *system)
{
    void *field = (char *)system + key->field;
    enum yaml_kind wanted = key->kind == KEY_WORDS ? YAML_LIST : YAML_SCALAR;
    if (value->kind != wanted)
        return source_error(file, value->at, "'%s' takes %s", key->name,
                            wanted == YAML_LIST ? "a list" : "one value");
    if (wanted == YAML_SCALAR && (value->size == 0 || memchr(value->text, '\0', value->size)))
        return source_error(file, value->at, "'%s' needs a value", key->name);
    switch (key->kind) {
    case KEY_TEXT:
        return take_text(value, field);
    case KEY_PATH:
        return take_path(system, value, field);
    case KEY_NUMBER:
        return take_number(file, key, value, field);
    case KEY_SECONDS:
        return take_seconds(file, key, value, field);
    case KEY_WORDS:
        return take_words(file, value, field);
    case KEY_LINK:
        return take_link(file, value, field);
    }
    return NULL;
}

static struct error *find_key(const struct source *file, const struct yaml_node *name,
                              const struct key **ret_key)
{
    struct suggestion meant = suggestion_start(name->text, name->size);
    for (size_t i = 0; i < KEYS; i++) {
        if (strlen(keys[i].name) == name->size &&
            memcmp(keys[i].name, name->text, name->size) == 0) {
            *ret_key = &keys[i];
            return NULL;
        }
        suggestion_offer(&meant, keys[i].name);
    }
    return meant.best != NULL
               ? source_error(file, name->at, "there is no '%.*s'; did you mean '%s'?",
                              (int)name->size, name->text, meant.best)
               : source_error(file, name->at, "there is no '%.*s' in a system's file",
                              (int)name->size, name->text);
}

static struct error *read_keys(const struct source *file, struct guest_system *system)
{
    _cleanup_(arena_deinit) struct arena arena = {0};
    struct yaml_node *root;
    TRY(yaml_tree_read(file, &arena, &root));
    if (root == NULL || root->kind != YAML_MAPPING)
        return source_error(file, root != NULL ? root->at : 0, "'kernel: FILE' is expected here");
    for (const struct yaml_node *name = root->first; name != NULL; name = name->next->next) {
        const struct key *key = NULL;
        TRY(find_key(file, name, &key));
        TRY(take(file, key, name->next, system));
    }
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].needed && *(char **)((char *)system + keys[i].field) == NULL)
            return error_new("%s has no '%s'", file->name, keys[i].name);
    if (system->port != 0 && system->serial_link)
        return error_new("%s has both 'port' and 'link'; one of them is how to talk to the guest",
                         file->name);
    return NULL;
}

static void set_defaults(struct guest_system *system)
{
    system->memory = 256;
    system->processors = 1;
    system->boot_ns = 120 * NS_PER_S;
    system->pretest_ns = 60 * NS_PER_S;
    system->workload_ns = 300 * NS_PER_S;
    system->shutdown_ns = 30 * NS_PER_S;
}

struct error *guest_system_read(const char *directory, struct guest_system *ret_system)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ char *path = NULL;
    *ret_system = (struct guest_system){0};
    set_defaults(ret_system);
    ret_system->directory = realpath(directory, NULL);
    if (ret_system->directory == NULL)
        return error_from_errno(errno, "cannot open the system %s", directory);
    if (asprintf(&path, "%s/" GUEST_FILE, directory) < 0)
        return error_no_memory();
    TRY(buffer_read_regular(path, FILE_LIMIT, &text));
    const struct source file = source_whole(path, text.data != NULL ? text.data : "", text.size);
    TRY(read_keys(&file, ret_system));
    if (ret_system->name == NULL)
        ret_system->name = strdup(file_base_name(ret_system->directory));
    return ret_system->name != NULL ? NULL : error_no_memory();
}

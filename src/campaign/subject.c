// SPDX-License-Identifier: GPL-3.0-or-later
// Describes the command, environment, machine and program of a campaign for the store, and tells
// whether the program has changed since.
#include "campaign/subject.h"

#include "base/cleanup.h"
#include "base/secrets.h"
#include "elf/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

// Ignores this path, and with `suffix` "*" all paths that begin with it.
static struct error *ignore(const char *path, const char *suffix, struct definition *definition)
{
    _cleanup_(buffer_deinit) struct buffer pattern = {0};
    for (; *path != '\0'; path++) {
        if (strchr("*?[\\", *path) != NULL)
            TRY(buffer_append(&pattern, "\\", 1));
        TRY(buffer_append(&pattern, path, 1));
    }
    TRY(buffer_append(&pattern, suffix, strlen(suffix)));
    char **word = ARRAY_ADD(&definition->oracle.ignored);
    if (word == NULL)
        return error_no_memory();
    *word = TAKE(pattern.data);
    return NULL;
}

static struct error *ignore_store(const char *path, struct definition *definition)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    if (real == NULL)
        return error_from_errno(errno, "cannot find %s", path);
    return ignore(real, "*", definition);
}

// Files that this process writes its own output to: without an overlay they change while trials
// run.
static struct error *ignore_own_output(struct definition *definition)
{
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
        char link[32];
        struct stat facts;
        snprintf(link, sizeof link, "/proc/self/fd/%d", stream);
        _cleanup_free_ char *path = realpath(link, NULL);
        if (path != NULL && stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
            TRY(ignore(path, "", definition));
    }
    return NULL;
}

struct error *subject_definition(const char *text, const char *store_path,
                                 struct definition *ret_definition)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(definition_new(&definition));
    TRY(definition_parse(&definition, "the stored definition", text, strlen(text)));
    const char *missing = definition_missing_variable(&definition, true);
    if (missing != NULL)
        return error_new("%s is marked as secret, so that the store does not have its value: set "
                         "%s in the environment",
                         missing, missing);
    TRY(definition_learn_secrets(&definition));
    TRY(definition_restore_secrets(&definition));
    TRY(ignore_store(store_path, &definition));
    TRY(ignore_own_output(&definition));
    *ret_definition = definition;
    definition = (struct definition){0};
    return NULL;
}

struct error *subject_command(const struct definition *definition, char **ret_text)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    for (size_t i = 0; i < definition->command.count; i++) {
        TRY(buffer_append(&text, " ", i > 0));
        TRY(secrets_put_shell_word(&text, definition->command.items[i]));
    }
    TRY(buffer_append(&text, "", 0));
    *ret_text = TAKE(text.data);
    return NULL;
}

struct error *subject_machine(char **ret_text)
{
    struct utsname names;
    struct buffer text = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (uname(&names) < 0)
        memset(&names, 0, sizeof names);
    TRY(buffer_printf(&text, "%s %s, %ld processor%s", names.sysname, names.release, processors,
                      processors == 1 ? "" : "s"));
    *ret_text = text.data;
    return NULL;
}

static struct error *find_program(const struct definition *definition,
                                  struct elf_program *ret_program)
{
    const char *command = definition->command.items[0];
    if (command[0] == '/' || strchr(command, '/') == NULL)
        return elf_find_program(command, ret_program);
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(buffer_printf(&path, "%s/%s", definition->directory, command));
    return elf_find_program(path.data, ret_program);
}

static void close_object(struct elf_object **object)
{
    elf_object_close(*object);
}

struct error *subject_program(const struct definition *definition, char **ret_text)
{
    *ret_text = NULL;
    if (definition->command.count == 0)
        return NULL;
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_error_ struct error *missing = find_program(definition, &program);
    struct stat facts;
    if (missing != NULL || stat(program.path, &facts) < 0)
        return NULL;
    _cleanup_(close_object) struct elf_object *object = NULL;
    _cleanup_error_ struct error *broken = elf_object_open_bare(program.path, &object);
    const char *build_id = broken == NULL ? elf_object_facts(object)->build_id : NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text, "%lld %lld%09ld %s %s", (long long)facts.st_size,
                      (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                      build_id != NULL ? build_id : "-", program.path));
    *ret_text = TAKE(text.data);
    return NULL;
}

struct program_facts {
    const char *size, *time, *build_id, *path;
    int size_size, time_size, build_id_size;
};

static bool take_word(const char **at, const char **ret_word, int *ret_size)
{
    *ret_word = *at;
    *ret_size = (int)strcspn(*at, " ");
    if ((*at)[*ret_size] != ' ')
        return false;
    *at += *ret_size + 1;
    return true;
}

static bool read_facts(const char *text, struct program_facts *facts)
{
    if (!take_word(&text, &facts->size, &facts->size_size) ||
        !take_word(&text, &facts->time, &facts->time_size) ||
        !take_word(&text, &facts->build_id, &facts->build_id_size))
        return false;
    facts->path = text;
    return true;
}

static bool same(const char *a, int a_size, const char *b, int b_size)
{
    return a_size == b_size && memcmp(a, b, (size_t)a_size) == 0;
}

static struct error *copy_build_id(const char *text, int size, char **ret_text)
{
    if (size == 1 && text[0] == '-')
        return NULL;
    *ret_text = strndup(text, (size_t)size);
    return *ret_text == NULL ? error_no_memory() : NULL;
}

static struct error *compare_facts(const struct program_facts *before,
                                   const struct program_facts *after, struct subject_change *change,
                                   struct buffer *text)
{
    bool same_size = same(before->size, before->size_size, after->size, after->size_size);
    bool same_time = same(before->time, before->time_size, after->time, after->time_size);
    TRY(copy_build_id(before->build_id, before->build_id_size, &change->build_id_before));
    TRY(copy_build_id(after->build_id, after->build_id_size, &change->build_id_now));
    bool has_build_id = change->build_id_before != NULL || change->build_id_now != NULL;
    change->build = BUILD_DIFFERS;
    if (strcmp(before->path, after->path) != 0)
        return buffer_printf(text, "the command runs %s now, not %s", after->path, before->path);
    if (!same(before->build_id, before->build_id_size, after->build_id, after->build_id_size))
        return buffer_printf(text,
                             "%s has been built anew since (its build ID differs: it was %s and is "
                             "%s)",
                             before->path,
                             change->build_id_before != NULL ? change->build_id_before : "none",
                             change->build_id_now != NULL ? change->build_id_now : "none");
    if (!same_size)
        return buffer_printf(text, "%s has changed since (its size differs)", before->path);
    change->build = has_build_id || same_time ? BUILD_SAME : BUILD_UNKNOWN;
    if (change->build == BUILD_SAME)
        return NULL;
    return buffer_printf(text,
                         "%s was written anew since, and cannot be told from another build: it has "
                         "no build ID (link it with --build-id)",
                         before->path);
}

struct error *subject_program_compare(const char *then, const char *now,
                                      struct subject_change *ret_change)
{
    struct program_facts before, after;
    _cleanup_(subject_change_deinit) struct subject_change change = {.build = BUILD_UNKNOWN};
    _cleanup_(buffer_deinit) struct buffer text = {0}, stored = {0};
    // As the store has it, without secrets in the path.
    if (now != NULL) {
        TRY(secrets_put(&stored, now, strlen(now)));
        now = stored.data;
    }
    if (then != NULL && read_facts(then, &before)) {
        if (now == NULL || !read_facts(now, &after))
            TRY(buffer_printf(&text, "%s can no longer be found", before.path));
        else
            TRY(compare_facts(&before, &after, &change, &text));
    }
    change.sentence = TAKE(text.data);
    *ret_change = change;
    change = (struct subject_change){0};
    return NULL;
}

void subject_change_deinit(struct subject_change *change)
{
    free(TAKE(change->build_id_before));
    free(TAKE(change->build_id_now));
    free(TAKE(change->sentence));
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the shared objects of plug-in triggers.
#include "scenario/model.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct error *add_file(struct scenario *scenario, const char *path, uint32_t *ret_index)
{
    struct text text;
    TRY(scenario_text(scenario, path, strlen(path), &text));
    for (size_t i = 0; i < scenario->plugin_files.count; i++)
        if (scenario->plugin_files.items[i].offset == text.offset) {
            *ret_index = (uint32_t)i;
            return NULL;
        }
    struct text *slot = ARRAY_ADD(&scenario->plugin_files);
    if (slot == NULL)
        return error_no_memory();
    *slot = text;
    *ret_index = (uint32_t)(scenario->plugin_files.count - 1);
    return NULL;
}

// Checks that a file is a shared object. The loader would only print a warning and start the target
// without it.
static struct error *check_file(const char *path)
{
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return error_from_errno(errno, "cannot load plug-in %s", path);
    Elf64_Ehdr header;
    ssize_t size = read(file, &header, sizeof header);
    if (size < 0)
        return error_from_errno(errno, "cannot load plug-in %s", path);
    if ((size_t)size < sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_machine != EM_X86_64)
        return error_new("cannot load plug-in %s: not a shared object for x86-64", path);
    return NULL;
}

// Whether a file's name is that of plug-in NAME: NAME.so or libNAME.so, also with '-' for '_'.
static bool file_offers(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    for (unsigned skip = 0; skip < 2; skip++) {
        if (skip == 1) {
            if (strncmp(file, "lib", 3) != 0)
                break;
            file += 3;
        }
        size_t i = 0;
        while (name[i] != '\0' && (file[i] == name[i] || (file[i] == '-' && name[i] == '_')))
            i++;
        if (name[i] == '\0' && (file[i] == '\0' || file[i] == '.'))
            return true;
    }
    return false;
}

static bool find_given(const struct scenario *scenario, const char *name, uint32_t *ret_index)
{
    for (size_t i = 0; i < scenario->plugin_files.count; i++)
        if (file_offers(scenario->plugin_files.items[i].chars, name)) {
            *ret_index = (uint32_t)i;
            return true;
        }
    return false;
}

static struct error *find_in(struct scenario *scenario, const char *directory, size_t size,
                             struct plugin *plugin)
{
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%.*s/%s.so", (int)size, directory, plugin->name.chars) < 0) {
        path = NULL;
        return error_no_memory();
    }
    _cleanup_free_ char *real = realpath(path, NULL);
    if (real == NULL)
        return errno == ENOMEM ? error_no_memory() : NULL;
    TRY(check_file(real));
    return add_file(scenario, real, &plugin->file);
}

struct error *scenario_note_missing(struct scenario *scenario, struct plugin *plugin,
                                    struct error *error)
{
    if (error == error_no_memory())
        return error;
    const char *message = error_message(error);
    plugin->missing = arena_copy(&scenario->arena, message, strlen(message));
    error_free(error);
    return plugin->missing != NULL ? NULL : error_no_memory();
}

struct error *scenario_find_plugin(struct scenario *scenario, struct plugin *plugin)
{
    if (find_given(scenario, plugin->name.chars, &plugin->file))
        return NULL;
    if (plugin->directory.size != 0)
        TRY(find_in(scenario, plugin->directory.chars, plugin->directory.size, plugin));
    const char *list = getenv("ORDEAL_PLUGIN_PATH");
    while (list != NULL && *list != '\0' && plugin->file == WIRE_NONE) {
        size_t size = strcspn(list, ":");
        if (size != 0)
            TRY(find_in(scenario, list, size, plugin));
        list += size + (list[size] == ':');
    }
    return NULL;
}

struct error *scenario_add_plugin(struct scenario *scenario, const char *path)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    if (real == NULL)
        return errno == ENOMEM ? error_no_memory()
                               : error_from_errno(errno, "cannot load plug-in %s", path);
    TRY(check_file(real));
    uint32_t file;
    TRY(add_file(scenario, real, &file));
    // A file that the user names wins over one found by search, also for rules that were read
    // before.
    for (size_t i = 0; i < scenario->plugins.count; i++)
        if (file_offers(real, scenario->plugins.items[i].name.chars))
            scenario->plugins.items[i].file = file;
    return NULL;
}

size_t scenario_plugin_count(const struct scenario *scenario)
{
    return scenario->plugin_files.count;
}

const char *scenario_plugin_file(const struct scenario *scenario, size_t index)
{
    return scenario->plugin_files.items[index].chars;
}

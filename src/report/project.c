// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the source tree of a project, and which files are in it.
#include "report/project.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void project_deinit(struct project *project)
{
    free(project->root);
    free(project->directory);
    *project = (struct project){0};
}

// Resolves links. *ret_path is NULL if there is no such file.
static struct error *resolve(const char *path, char **ret_path)
{
    *ret_path = realpath(path, NULL);
    return *ret_path == NULL && errno == ENOMEM ? error_no_memory() : NULL;
}

static struct error *exists_below(const char *directory, const char *name, bool *ret_exists)
{
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(buffer_printf(&path, "%s/%s", directory, name));
    *ret_exists = access(path.data, F_OK) == 0;
    return NULL;
}

// Cuts `path` to the directory that has ".git"; leaves it as it is if none has. In a linked working
// tree that is a file.
static struct error *find_top(char *path)
{
    for (size_t size = strlen(path); size > 1;) {
        _cleanup_free_ char *above = strndup(path, size);
        bool found;
        if (above == NULL)
            return error_no_memory();
        TRY(exists_below(above, ".git", &found));
        if (found) {
            path[size] = '\0';
            return NULL;
        }
        while (size > 1 && path[size - 1] != '/')
            size--;
        size -= size > 1;
    }
    return NULL;
}

struct error *project_find(const char *directory, struct project *ret_project)
{
    _cleanup_(project_deinit) struct project project = {0};
    if (directory != NULL)
        TRY(resolve(directory, &project.directory));
    if (project.directory == NULL)
        TRY(resolve(".", &project.directory));
    if (project.directory != NULL) {
        project.root = strdup(project.directory);
        if (project.root == NULL)
            return error_no_memory();
        TRY(find_top(project.root));
        // The whole file system is no source tree.
        if (strcmp(project.root, "/") == 0)
            free(TAKE(project.root));
    }
    *ret_project = project;
    project = (struct project){0};
    return NULL;
}

// The name below the root, or NULL.
static const char *below(const struct project *project, const char *path)
{
    size_t size = strlen(project->root);
    if (strncmp(path, project->root, size) != 0 || path[size] != '/')
        return NULL;
    const char *name = path + size + 1;
    return strncmp(name, ".git/", 5) != 0 ? name : NULL;
}

static struct error *name_below(const struct project *project, const char *path, char **ret_name)
{
    _cleanup_free_ char *real = NULL;
    struct stat facts;
    TRY(resolve(path, &real));
    const char *name = real != NULL ? below(project, real) : NULL;
    if (name == NULL || stat(real, &facts) < 0 || !S_ISREG(facts.st_mode))
        return NULL;
    *ret_name = strdup(name);
    return *ret_name != NULL ? NULL : error_no_memory();
}

static struct error *is_installed(const char *module, bool *ret_installed)
{
    static const char *const directories[] = {
        "/lib",   "/usr/lib",   "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
        "/lib64", "/usr/lib64", "/usr/local/lib",
    };
    *ret_installed = false;
    for (size_t i = 0; i < sizeof directories / sizeof *directories && !*ret_installed; i++)
        TRY(exists_below(directories[i], file_base_name(module), ret_installed));
    return NULL;
}

struct error *project_name_file(const struct project *project, const char *file, const char *module,
                                char **ret_name)
{
    *ret_name = NULL;
    if (project->root == NULL || file == NULL || *file == '\0')
        return NULL;
    if (file[0] == '/')
        return name_below(project, file, ret_name);
    bool installed = false;
    if (module != NULL)
        TRY(is_installed(module, &installed));
    const char *const starts[] = {project->directory, project->root};
    for (size_t i = 0; i < 2 && !installed && *ret_name == NULL; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(buffer_printf(&path, "%s/%s", starts[i], file));
        TRY(name_below(project, path.data, ret_name));
    }
    return NULL;
}

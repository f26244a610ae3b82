// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the libraries of a program as the loader does: in the same places and in the same order,
// breadth first.
#include "base/cleanup.h"
#include "elf/cache.h"
#include "elf/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const char *const default_directories[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

struct member {
    char *path;
    struct elf_object *object; // owned, except for the program's
    size_t loader;             // the member that needed it; DT_RPATH is inherited along this
    dev_t device;
    ino_t inode;
};

struct search {
    ARRAY(struct member) members; // the program first
    ARRAY(char *) missing;
    struct elf_cache cache;
    bool cache_loaded;
};

static void search_deinit(struct search *search)
{
    for (size_t i = 0; i < search->members.count; i++) {
        free(search->members.items[i].path);
        if (i != 0)
            elf_object_close(search->members.items[i].object);
    }
    for (size_t i = 0; i < search->missing.count; i++)
        free(search->missing.items[i]);
    ARRAY_DEINIT(&search->members);
    ARRAY_DEINIT(&search->missing);
    elf_cache_deinit(&search->cache);
}

// The loader skips files of another class or machine, so this does, too.
static bool is_candidate(const struct elf_object *program, const char *path,
                         struct stat *ret_status)
{
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    unsigned char start[20];
    if (file < 0 || fstat(file, ret_status) != 0 || !S_ISREG(ret_status->st_mode) ||
        pread(file, start, sizeof start, 0) != sizeof start)
        return false;
    uint16_t machine;
    memcpy(&machine, start + 18, sizeof machine);
    return memcmp(start, ELFMAG, SELFMAG) == 0 &&
           start[EI_CLASS] == program->header.e_ident[EI_CLASS] &&
           start[EI_DATA] == program->header.e_ident[EI_DATA] &&
           machine == program->header.e_machine;
}

// The length of "$NAME" or "${NAME}" at the beginning of `text`, or 0.
static size_t match_token(const char *text, const char *name)
{
    size_t size = strlen(name);
    if (text[1] == '{' && strncmp(text + 2, name, size) == 0 && text[2 + size] == '}')
        return size + 3;
    return strncmp(text + 1, name, size) == 0 ? size + 1 : 0;
}

static struct error *expand_token(struct buffer *out, const char **at, const char *origin)
{
    const struct {
        const char *name, *value;
    } tokens[] = {{"ORIGIN", origin}, {"LIB", "lib/x86_64-linux-gnu"}, {"PLATFORM", "x86_64"}};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        size_t size = match_token(*at, tokens[i].name);
        if (size != 0) {
            *at += size;
            return buffer_append(out, tokens[i].value, strlen(tokens[i].value));
        }
    }
    return buffer_append(out, (*at)++, 1);
}

// One element of a search path with $ORIGIN and its like replaced.
static struct error *expand(const char *text, size_t size, const char *origin, struct buffer *out)
{
    const char *end = text + size;
    out->size = 0;
    if (size == 0)
        return buffer_append(out, ".", 1);
    while (text < end) {
        if (*text == '$')
            TRY(expand_token(out, &text, origin));
        else
            TRY(buffer_append(out, text++, 1));
    }
    return NULL;
}

static struct error *origin_of(const char *path, char **ret_origin)
{
    const char *slash = strrchr(path, '/');
    char *origin = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path));
    if (origin == NULL)
        return error_no_memory();
    *ret_origin = origin;
    return NULL;
}

// Looks for a library in each directory of a list. *ret_path stays NULL if it is in none.
static struct error *search_list(const struct elf_object *program, const char *list,
                                 const char *separators, const char *owner, const char *name,
                                 char **ret_path, struct stat *ret_status)
{
    _cleanup_free_ char *origin = NULL;
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(origin_of(owner, &origin));
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, separators);
        TRY(expand(at, size, origin, &path));
        TRY(buffer_printf(&path, "/%s", name));
        if (is_candidate(program, path.data, ret_status)) {
            *ret_path = TAKE(path.data);
            return NULL;
        }
        at += size;
        if (*at == '\0')
            return NULL;
    }
}

static struct error *search_cache(struct search *search, const char *name, char **ret_path,
                                  struct stat *ret_status)
{
    const struct elf_object *program = search->members.items[0].object;
    if (!search->cache_loaded) {
        TRY(elf_cache_load("/etc/ld.so.cache", &search->cache));
        search->cache_loaded = true;
    }
    const char *found = elf_cache_find(&search->cache, name);
    if (found == NULL || !is_candidate(program, found, ret_status))
        return NULL;
    *ret_path = strdup(found);
    return *ret_path != NULL ? NULL : error_no_memory();
}

static struct error *search_defaults(struct search *search, const char *name, char **ret_path,
                                     struct stat *ret_status)
{
    const struct elf_object *program = search->members.items[0].object;
    for (size_t i = 0; i < sizeof default_directories / sizeof default_directories[0]; i++) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s/%s", default_directories[i], name) < 0) {
            path = NULL;
            return error_no_memory();
        }
        if (is_candidate(program, path, ret_status)) {
            *ret_path = TAKE(path);
            return NULL;
        }
    }
    return NULL;
}

// DT_RPATH counts only for objects without DT_RUNPATH. Then the DT_RPATHs of the objects that
// needed this one count, too.
static struct error *search_rpaths(struct search *search, size_t needer, const char *name,
                                   char **ret_path, struct stat *ret_status)
{
    const struct elf_object *program = search->members.items[0].object;
    if (search->members.items[needer].object->runpath != NULL)
        return NULL;
    for (size_t i = needer;; i = search->members.items[i].loader) {
        const struct member *member = &search->members.items[i];
        if (member->object->rpath != NULL && member->object->runpath == NULL)
            TRY(search_list(program, member->object->rpath, ":", member->path, name, ret_path,
                            ret_status));
        if (*ret_path != NULL || i == 0)
            return NULL;
    }
}

static struct error *find_library(struct search *search, size_t needer, const char *name,
                                  char **ret_path, struct stat *ret_status)
{
    const struct member *member = &search->members.items[needer];
    const struct elf_object *program = search->members.items[0].object;
    if (strchr(name, '/') != NULL) {
        if (!is_candidate(program, name, ret_status))
            return NULL;
        *ret_path = strdup(name);
        return *ret_path != NULL ? NULL : error_no_memory();
    }
    TRY(search_rpaths(search, needer, name, ret_path, ret_status));
    const char *environment = getenv("LD_LIBRARY_PATH");
    if (*ret_path == NULL && environment != NULL && *environment != '\0')
        TRY(search_list(program, environment, ":;", search->members.items[0].path, name, ret_path,
                        ret_status));
    if (*ret_path == NULL && member->object->runpath != NULL)
        TRY(search_list(program, member->object->runpath, ":", member->path, name, ret_path,
                        ret_status));
    if (*ret_path != NULL || (member->object->dynamic.flags_1 & DF_1_NODEFLIB) != 0)
        return NULL;
    if (program->header.e_machine == EM_X86_64 && program->facts.class_bits == 64)
        TRY(search_cache(search, name, ret_path, ret_status));
    if (*ret_path == NULL)
        TRY(search_defaults(search, name, ret_path, ret_status));
    return NULL;
}

static bool is_named(const struct member *member, const char *name)
{
    const char *slash = strrchr(member->path, '/');
    return strcmp(slash != NULL ? slash + 1 : member->path, name) == 0 ||
           strcmp(member->path, name) == 0 ||
           (member->object->facts.soname != NULL &&
            strcmp(member->object->facts.soname, name) == 0);
}

static bool is_loaded(const struct search *search, const char *name)
{
    for (size_t i = 1; i < search->members.count; i++)
        if (is_named(&search->members.items[i], name))
            return true;
    return false;
}

static bool is_loaded_file(const struct search *search, const struct stat *status)
{
    for (size_t i = 0; i < search->members.count; i++)
        if (search->members.items[i].device == status->st_dev &&
            search->members.items[i].inode == status->st_ino)
            return true;
    return false;
}

static struct error *note_missing(struct search *search, const char *name)
{
    for (size_t i = 0; i < search->missing.count; i++)
        if (strcmp(search->missing.items[i], name) == 0)
            return NULL;
    char *copy = strdup(name);
    char **item = copy != NULL ? ARRAY_ADD(&search->missing) : NULL;
    if (item == NULL) {
        free(copy);
        return error_no_memory();
    }
    *item = copy;
    return NULL;
}

static struct error *load_needed(struct search *search, size_t needer, const char *name)
{
    if (is_loaded(search, name))
        return NULL;
    _cleanup_free_ char *path = NULL;
    struct stat status;
    TRY(find_library(search, needer, name, &path, &status));
    if (path == NULL)
        return note_missing(search, name);
    if (is_loaded_file(search, &status))
        return NULL;
    struct elf_object *object;
    TRY(elf_object_open_bare(path, &object));
    struct member *member = ARRAY_ADD(&search->members);
    if (member == NULL) {
        elf_object_close(object);
        return error_no_memory();
    }
    *member = (struct member){TAKE(path), object, needer, status.st_dev, status.st_ino};
    return NULL;
}

static struct error *add_program(struct search *search, const struct elf_object *program)
{
    struct stat status;
    if (fstat(program->file, &status) != 0)
        return error_from_errno(errno, "cannot read %s", program->path);
    struct member *member = ARRAY_ADD(&search->members);
    if (member == NULL)
        return error_no_memory();
    // The loader takes the program's $ORIGIN from the file itself, not from a link to it.
    member->path = realpath(program->path, NULL);
    if (member->path == NULL)
        member->path = strdup(program->path);
    if (member->path == NULL)
        return error_no_memory();
    member->object = (struct elf_object *)program;
    member->device = status.st_dev;
    member->inode = status.st_ino;
    return NULL;
}

static struct error *hand_over(struct search *search, struct elf_closure *ret_closure)
{
    struct elf_closure closure = {0};
    closure.paths = calloc(search->members.count, sizeof *closure.paths);
    if (closure.paths == NULL)
        return error_no_memory();
    for (size_t i = 1; i < search->members.count; i++)
        closure.paths[closure.count++] = TAKE(search->members.items[i].path);
    closure.missing = search->missing.items;
    closure.missing_count = search->missing.count;
    search->missing.items = NULL;
    search->missing.count = 0;
    *ret_closure = closure;
    return NULL;
}

struct error *elf_closure_find(const struct elf_object *program, struct elf_closure *ret_closure)
{
    _cleanup_(search_deinit) struct search search = {0};
    TRY(add_program(&search, program));
    for (size_t i = 0; i < search.members.count; i++) {
        const struct elf_object *object = search.members.items[i].object;
        for (size_t j = 0; j < object->needed.count; j++)
            TRY(load_needed(&search, i, object->needed.items[j]));
    }
    return hand_over(&search, ret_closure);
}

void elf_closure_deinit(struct elf_closure *closure)
{
    for (size_t i = 0; i < closure->count; i++)
        free(closure->paths[i]);
    for (size_t i = 0; i < closure->missing_count; i++)
        free(closure->missing[i]);
    free(closure->paths);
    free(closure->missing);
    *closure = (struct elf_closure){0};
}

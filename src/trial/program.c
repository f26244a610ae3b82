// SPDX-License-Identifier: GPL-3.0-or-later
// See program.h.
#include "trial/program.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/object.h"
#include "wire/region.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNTIME_NAME     "ordeal-runtime.so"
#define FORESEEN_HEADERS 64

static void close_object(struct elf_object **object)
{
    elf_object_close(*object);
}

// Why nothing can be preloaded into a file, or NULL.
static const char *obstacle(const struct elf_facts *facts)
{
    if (facts->class_bits != 64)
        return "it is a 32-bit program; only 64-bit x86 programs can be intercepted";
    if (facts->machine != EM_X86_64)
        return "it is a program for another machine; only 64-bit x86 programs can be intercepted";
    if (facts->go_program && facts->static_program)
        return "it is a Go program, which calls the kernel without any library";
    if (facts->static_program)
        return "it is statically linked, so its library calls cannot be intercepted; link it "
               "dynamically";
    return NULL;
}

#define PRIVILEGES                                                                                 \
    "it gains privileges when started (set-user-ID, set-group-ID or capabilities), and the "       \
    "loader then ignores LD_PRELOAD; run ordeal as that user, or a copy without the privileges"

struct error *program_check(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    TRY(elf_find_program(command, &program));
    _cleanup_(close_object) struct elf_object *object = NULL;
    TRY(elf_object_open(program.path, &object));
    const char *why = program.setuid ? PRIVILEGES : obstacle(elf_object_facts(object));
    if (why == NULL)
        return NULL;
    if (program.script)
        return error_new("cannot intercept %s, which is run by %s: %s", command, program.path, why);
    return error_new("cannot intercept %s: %s", command, why);
}

char *program_obstacle(const char *path)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_error_ struct error *error = elf_find_program(path, &program);
    _cleanup_(close_object) struct elf_object *object = NULL;
    if (error == NULL)
        error = elf_object_open(program.path, &object);
    if (error != NULL)
        return NULL;
    const char *why = program.setuid ? PRIVILEGES : obstacle(elf_object_facts(object));
    return why != NULL ? strdup(why) : NULL;
}

// The program headers' bytes as a process of the file has them in memory.
static bool fingerprint_of(const char *path, uint64_t *ret_fingerprint)
{
    Elf64_Ehdr header;
    Elf64_Phdr headers[FORESEEN_HEADERS];
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0 || pread(file, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof *headers || header.e_phnum > FORESEEN_HEADERS)
        return false;
    size_t size = header.e_phnum * sizeof *headers;
    if (pread(file, headers, size, (off_t)header.e_phoff) != (ssize_t)size)
        return false;
    *ret_fingerprint = wire_fingerprint(headers, size);
    return true;
}

struct region_program program_foresee(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    struct region_program foreseen = {0};
    _cleanup_error_ struct error *error = elf_find_program(command, &program);
    // A relative path is another one in another directory, and the kernel tells the script's name.
    if (error != NULL || program.script || program.path[0] != '/' ||
        !fingerprint_of(program.path, &foreseen.fingerprint))
        return (struct region_program){0};
    foreseen.asked = TAKE(program.path);
    foreseen.file = realpath(foreseen.asked, NULL);
    if (foreseen.file == NULL || strlen(foreseen.file) >= WIRE_MODULE_PATH)
        program_forget(&foreseen);
    return foreseen;
}

void program_forget(struct region_program *program)
{
    free(program->asked);
    free(program->file);
    *program = (struct region_program){0};
}

struct error *program_beside_executable(const char *relative, char **ret_path)
{
    char own[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    if (size <= 0)
        return NULL;
    own[size] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/%s", own, relative) < 0)
        return path = NULL, error_no_memory();
    if (access(path, R_OK) < 0)
        return NULL;
    *ret_path = realpath(path, NULL);
    return *ret_path == NULL && errno == ENOMEM ? error_no_memory() : NULL;
}

struct error *program_runtime(char **ret_path)
{
    const char *chosen = getenv("ORDEAL_RUNTIME");
    if (chosen != NULL && *chosen != '\0') {
        char *path = realpath(chosen, NULL);
        if (path == NULL)
            return error_from_errno(errno, "ORDEAL_RUNTIME names %s", chosen);
        *ret_path = path;
        return NULL;
    }
    char *path = NULL;
    TRY(program_beside_executable("../runtime/" RUNTIME_NAME, &path));
    if (path == NULL)
        TRY(program_beside_executable("../lib/ordeal/" RUNTIME_NAME, &path));
    if (path == NULL && access(ORDEAL_LIBRARY_DIRECTORY "/" RUNTIME_NAME, R_OK) == 0) {
        path = strdup(ORDEAL_LIBRARY_DIRECTORY "/" RUNTIME_NAME);
        if (path == NULL)
            return error_no_memory();
    }
    if (path == NULL)
        return error_new("cannot find " RUNTIME_NAME
                         " beside this program or in " ORDEAL_LIBRARY_DIRECTORY
                         "; set ORDEAL_RUNTIME to its path");
    *ret_path = path;
    return NULL;
}

static struct error *preload_add(struct buffer *list, const char *path)
{
    if (strpbrk(path, ": \t\n") != NULL)
        return error_new("the path '%s' has a blank or a colon, which LD_PRELOAD cannot hold",
                         path);
    if (list->size != 0)
        TRY(buffer_append(list, ":", 1));
    return buffer_append(list, path, strlen(path));
}

// The loader would only grumble about a broken plug-in, and go on without it.
static struct error *check_plugin(const char *path)
{
    _cleanup_(close_object) struct elf_object *object = NULL;
    struct error *error = elf_object_open(path, &object);
    if (error != NULL)
        return error_prefix(error, "cannot load the plug-in");
    const struct elf_facts *facts = elf_object_facts(object);
    if (facts->class_bits != 64 || facts->machine != EM_X86_64 || !facts->dynamic)
        return error_new("cannot load the plug-in %s: it is not a shared object for 64-bit x86; "
                         "compile it with cc -shared -fPIC",
                         path);
    return NULL;
}

static const char *value_of(char *const *environment, const char *name)
{
    size_t size = strlen(name);
    for (; *environment != NULL; environment++)
        if (**environment == *name && strncmp(*environment, name, size) == 0 &&
            (*environment)[size] == '=')
            return *environment + size + 1;
    return NULL;
}

struct error *program_preload(const struct scenario *scenario, const char *runtime,
                              char *const *environment, char **ret_preload)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    TRY(preload_add(&list, runtime));
    for (size_t i = 0; i < scenario_plugin_count(scenario); i++) {
        const char *file = scenario_plugin_file(scenario, i);
        _cleanup_free_ char *path = realpath(file, NULL);
        if (path == NULL)
            return error_from_errno(errno, "cannot load the plug-in %s", file);
        TRY(check_plugin(path));
        TRY(preload_add(&list, path));
    }
    const char *own = value_of(environment, "LD_PRELOAD");
    if (own != NULL && *own != '\0')
        TRY(buffer_printf(&list, ":%s", own));
    *ret_preload = TAKE(list.data);
    return NULL;
}

static const char *const replaced[] = {"LD_PRELOAD=", WIRE_ENVIRONMENT "=", "ASAN_OPTIONS="};
#define REPLACED (sizeof replaced / sizeof *replaced)

static bool is_replaced(const char *variable)
{
    for (size_t i = 0; i < REPLACED; i++)
        if (variable[0] == replaced[i][0] &&
            strncmp(variable, replaced[i], strlen(replaced[i])) == 0)
            return true;
    return false;
}

// One piece of memory, and no text copied that is there already, for this is done for every trial.
struct error *program_environment(char *const *environment, const char *preload, const char *region,
                                  char ***ret_environment)
{
    // ASan insists on being the first library; the runtime does not disturb it.
    const char *asan = value_of(environment, "ASAN_OPTIONS"), *order = "verify_asan_link_order=0";
    bool more = asan != NULL && *asan != '\0';
    const char *const values[REPLACED][3] = {
        {preload, "", ""}, {region, "", ""}, {more ? asan : "", more ? ":" : "", order}};
    size_t count = 0, size = 0;
    while (environment[count] != NULL)
        count++;
    for (size_t i = 0; i < REPLACED; i++)
        size += strlen(replaced[i]) + strlen(values[i][0]) + strlen(values[i][1]) +
                strlen(values[i][2]) + 1;
    size_t room = (count + REPLACED + 1) * sizeof(char *);
    char **list = malloc(room + size);
    if (list == NULL)
        return error_no_memory();
    char *at = (char *)list + room;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(environment[i]))
            list[used++] = environment[i];
    for (size_t i = 0; i < REPLACED; i++) {
        list[used++] = at;
        at = stpcpy(stpcpy(stpcpy(stpcpy(at, replaced[i]), values[i][0]), values[i][1]),
                    values[i][2]) +
             1;
    }
    list[used] = NULL;
    *ret_environment = list;
    return NULL;
}

void program_environment_free(char ***environment)
{
    free(*environment);
}

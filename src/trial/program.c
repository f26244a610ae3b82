// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out whether a program can be intercepted, which file it is, and makes LD_PRELOAD and the
// environment for it.
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
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACER_NAME         "ordeal-tracer"
#define INTERFACE_TOOL_NAME "ordeal_propagate-amd64-linux"
#define MOST_HEADERS        64 // program headers of a file that is identified

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
    if (facts->interpreter != NULL && strstr(facts->interpreter, "ld-musl") != NULL)
        return "its loader is that of musl; the runtime needs glibc's";
    if (facts->static_program)
        return "it is statically linked, so its library calls cannot be intercepted; link it "
               "dynamically";
    return NULL;
}

#define PRIVILEGES                                                                                 \
    "it gains privileges when started (set-user-ID, set-group-ID or capabilities), and the "       \
    "loader then ignores LD_PRELOAD; run ordeal as that user, or a copy without the privileges"

// Asks libelf, which gives the exact reason.
static struct error *judge(const char *command, const struct elf_program *program)
{
    _cleanup_(close_object) struct elf_object *object = NULL;
    TRY(elf_object_open(program->path, &object));
    const char *why = program->setuid ? PRIVILEGES : obstacle(elf_object_facts(object));
    if (why == NULL)
        return NULL;
    if (program->script)
        return error_new("cannot intercept %s, which is run by %s: %s", command, program->path,
                         why);
    return error_new("cannot intercept %s: %s", command, why);
}

struct error *program_check(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    TRY(elf_find_program(command, &program));
    return judge(command, &program);
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

bool program_is_go(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(close_object) struct elf_object *object = NULL;
    _cleanup_error_ struct error *error = elf_find_program(command, &program);
    if (error == NULL)
        error = elf_object_open_bare(program.path, &object);
    return error == NULL && !program.script && elf_object_facts(object)->go_program;
}

bool program_can_be_traced(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(close_object) struct elf_object *object = NULL;
    _cleanup_error_ struct error *error = elf_find_program(command, &program);
    if (error == NULL)
        error = elf_object_open(program.path, &object);
    if (error != NULL || program.setuid)
        return false;
    const struct elf_facts *facts = elf_object_facts(object);
    return facts->class_bits == 64 ? facts->machine == EM_X86_64 : facts->machine == EM_386;
}

struct headers {
    uint64_t file_size;
    Elf64_Ehdr file;
    Elf64_Phdr segments[MOST_HEADERS];
};

static bool read_headers(const char *path, struct headers *ret_headers)
{
    struct stat facts;
    Elf64_Ehdr *header = &ret_headers->file;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0 || fstat(file, &facts) < 0 ||
        pread(file, header, sizeof *header, 0) != sizeof *header ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_phentsize != sizeof *ret_headers->segments || header->e_phnum > MOST_HEADERS)
        return false;
    ret_headers->file_size = (uint64_t)facts.st_size;
    size_t size = header->e_phnum * sizeof *ret_headers->segments;
    return pread(file, ret_headers->segments, size, (off_t)header->e_phoff) == (ssize_t)size;
}

static bool fits(const struct headers *headers, uint64_t offset, uint64_t size)
{
    return offset <= headers->file_size && size <= headers->file_size - offset;
}

// Whether this is certainly a program that the dynamic loader starts. For all others, ask libelf
// what they are.
static bool is_ordinary(const struct headers *headers)
{
    const Elf64_Ehdr *header = &headers->file;
    if (header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64 ||
        (header->e_type != ET_EXEC && header->e_type != ET_DYN) ||
        !fits(headers, header->e_shoff, (uint64_t)header->e_shnum * header->e_shentsize))
        return false;
    bool interpreted = false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *segment = &headers->segments[i];
        interpreted |= segment->p_type == PT_INTERP && segment->p_filesz != 0;
        if (!fits(headers, segment->p_offset, segment->p_filesz))
            return false;
    }
    return interpreted;
}

// The fingerprint is that of the program headers, which a process finds in its own memory, too.
static struct region_program identified(struct elf_program *program, const struct headers *headers)
{
    // A relative path means another file in another directory. For a script, the kernel gives the
    // process the script's name and not this one.
    if (program->script || program->path[0] != '/')
        return (struct region_program){0};
    struct region_program known = {
        .fingerprint =
            wire_fingerprint(headers->segments, headers->file.e_phnum * sizeof *headers->segments),
        .asked = TAKE(program->path),
    };
    known.file = realpath(known.asked, NULL);
    if (known.file == NULL || strlen(known.file) >= WIRE_MODULE_PATH)
        region_program_deinit(&known);
    return known;
}

struct region_program program_identify(const char *command)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    struct headers headers;
    _cleanup_error_ struct error *error = elf_find_program(command, &program);
    if (error != NULL || !read_headers(program.path, &headers))
        return (struct region_program){0};
    return identified(&program, &headers);
}

struct error *program_check_and_identify(const char *command, struct region_program *ret_program)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    struct headers headers;
    TRY(elf_find_program(command, &program));
    bool known = read_headers(program.path, &headers);
    if (!known || program.setuid || !is_ordinary(&headers))
        TRY(judge(command, &program));
    *ret_program = known ? identified(&program, &headers) : (struct region_program){0};
    return NULL;
}

void region_program_deinit(struct region_program *program)
{
    free(program->asked);
    free(program->file);
    *program = (struct region_program){0};
}

// Removes the last part of a path. The parent of the root is the root.
static void cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
}

// Without /proc, the name that it was started under.
static bool find_executable(char ret_path[PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
    if (size > 0) {
        ret_path[size] = '\0';
        return true;
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    return name != NULL && realpath(name, ret_path) != NULL;
}

struct error *program_beside_executable(const char *relative, char **ret_path)
{
    char own[PATH_MAX];
    if (!find_executable(own))
        return NULL;
    cut_last(own);
    // The kernel's name has no links in it, so ".." can be worked out on the text.
    for (; strncmp(relative, "../", 3) == 0; relative += 3)
        cut_last(own);
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/%s", own, relative) < 0)
        return path = NULL, error_no_memory();
    if (access(path, R_OK) < 0)
        return NULL;
    *ret_path = realpath(path, NULL);
    return *ret_path == NULL && errno == ENOMEM ? error_no_memory() : NULL;
}

// A file that belongs to this executable: in the tree that it was built in, or installed. NULL: not
// found.
static struct error *find_part(const char *built, const char *name, char **ret_path)
{
    char *path = NULL;
    _cleanup_free_ char *beside = NULL, *fixed = NULL;
    if (asprintf(&beside, "../lib/ordeal/%s", name) < 0)
        return beside = NULL, error_no_memory();
    if (asprintf(&fixed, ORDEAL_LIBRARY_DIRECTORY "/%s", name) < 0)
        return fixed = NULL, error_no_memory();
    TRY(program_beside_executable(built, &path));
    if (path == NULL)
        TRY(program_beside_executable(beside, &path));
    if (path == NULL && access(fixed, R_OK) == 0)
        path = TAKE(fixed);
    *ret_path = path;
    return NULL;
}

struct error *program_runtime(char **ret_path)
{
    *ret_path = NULL;
    const char *chosen = getenv("ORDEAL_RUNTIME");
    if (chosen != NULL && *chosen != '\0') {
        char *path = realpath(chosen, NULL);
        if (path == NULL)
            return error_from_errno(errno, "ORDEAL_RUNTIME names %s", chosen);
        *ret_path = path;
        return NULL;
    }
    TRY(find_part("../runtime/" WIRE_RUNTIME_NAME, WIRE_RUNTIME_NAME, ret_path));
    if (*ret_path == NULL)
        return error_new("cannot find " WIRE_RUNTIME_NAME
                         " beside this program or in " ORDEAL_LIBRARY_DIRECTORY
                         "; set ORDEAL_RUNTIME to its path");
    return NULL;
}

struct error *program_tracer(char **ret_path)
{
    TRY(find_part("../tracer/" TRACER_NAME, TRACER_NAME, ret_path));
    if (*ret_path == NULL)
        return error_new("cannot find " TRACER_NAME
                         " beside this program or in " ORDEAL_LIBRARY_DIRECTORY);
    return NULL;
}

struct error *program_interface_tool(char **ret_path)
{
    TRY(find_part("../interface/tool/" INTERFACE_TOOL_NAME, "valgrind/" INTERFACE_TOOL_NAME,
                  ret_path));
    if (*ret_path == NULL)
        return error_new(
            "the tool of Valgrind is missing; install Debian's package valgrind and build "
            "Ordeal again");
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

// The loader would only print a warning about a broken plug-in and start the target without it.
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

// Uses one allocation and copies no text that exists already, since every trial does this.
struct error *program_environment(char *const *environment, const char *preload, const char *region,
                                  char ***ret_environment)
{
    // ASan refuses to start unless it is the first library. The runtime before it does no harm.
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

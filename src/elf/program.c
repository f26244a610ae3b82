// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the ELF file that a command runs, as execvp and the kernel do, and whether the kernel would
// run it in secure mode, where nothing can be preloaded.
#include "base/array.h"
#include "base/cleanup.h"
#include "elf/object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_LINE  256 // bytes of a #! line that the kernel looks at
#define SCRIPT_DEPTH 5   // #! lines that it follows

// 0, or the errno that execve() would set.
static int check_executable(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if (!S_ISREG(status.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static struct error *refuse(const char *path, int code)
{
    if (code == EISDIR)
        return error_new("cannot run %s: it is a directory", path);
    if (code == EACCES)
        return error_new("cannot run %s: permission denied (is it executable?)", path);
    return error_from_errno(code, "cannot run %s", path);
}

static struct error *search_path(const char *command, char **ret_path)
{
    const char *list = getenv("PATH");
    if (list == NULL)
        list = "/bin:/usr/bin";
    _cleanup_free_ char *refused = NULL;
    int refusal = 0;
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, ":");
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", (int)size, at, size != 0 ? "/" : "./", command) < 0) {
            path = NULL;
            return error_no_memory();
        }
        int code = check_executable(path);
        if (code == 0) {
            *ret_path = TAKE(path);
            return NULL;
        }
        if (code != ENOENT && code != ENOTDIR && refused == NULL) {
            refused = TAKE(path);
            refusal = code;
        }
        at += size;
        if (*at == '\0')
            break;
    }
    if (refused != NULL)
        return refuse(refused, refusal);
    struct stat status;
    bool here = stat(command, &status) == 0 && S_ISREG(status.st_mode);
    return error_new("cannot run %s: not found in PATH%s%s", command,
                     here ? "; the file here is ./" : "", here ? command : "");
}

static struct error *find_file(const char *command, char **ret_path)
{
    if (*command == '\0')
        return error_new("cannot run an empty command");
    if (strchr(command, '/') == NULL)
        return search_path(command, ret_path);
    int code = check_executable(command);
    if (code != 0)
        return refuse(command, code);
    char *path = strdup(command);
    if (path == NULL)
        return error_no_memory();
    *ret_path = path;
    return NULL;
}

// The first bytes of a file; *ret_size is 0 for a file that may be run but not read.
static struct error *read_start(const char *path, char start[SCRIPT_LINE + 1], size_t *ret_size)
{
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == EACCES) {
        *ret_size = 0;
        return NULL;
    }
    if (file < 0)
        return error_from_errno(errno, "cannot read %s", path);
    ssize_t size = pread(file, start, SCRIPT_LINE, 0);
    if (size < 0)
        return error_from_errno(errno, "cannot read %s", path);
    if (size == 0)
        return error_new("cannot run %s: the file is empty", path);
    start[size] = '\0';
    *ret_size = (size_t)size;
    return NULL;
}

// The interpreter of a #! line, which ends at a blank. Its argument does not matter.
static struct error *script_interpreter(const char *path, const char *start, size_t size,
                                        char **ret_interpreter)
{
    const char *end = memchr(start, '\n', size);
    const char *stop = end != NULL ? end : start + size;
    const char *name = start + 2;
    while (name < stop && (*name == ' ' || *name == '\t'))
        name++;
    const char *name_end = name;
    while (name_end < stop && *name_end != ' ' && *name_end != '\t' && *name_end != '\0')
        name_end++;
    if (name == name_end)
        return error_new("cannot run %s: its #! line names no interpreter", path);
    if (end == NULL && name_end == start + size && size == SCRIPT_LINE)
        return error_new("cannot run %s: its #! line is too long for the kernel", path);
    char *interpreter = strndup(name, (size_t)(name_end - name));
    if (interpreter == NULL)
        return error_no_memory();
    *ret_interpreter = interpreter;
    return NULL;
}

static struct error *follow_scripts(struct elf_program *program)
{
    for (int depth = 0; depth <= SCRIPT_DEPTH; depth++) {
        char start[SCRIPT_LINE + 1];
        size_t size = 0;
        TRY(read_start(program->path, start, &size));
        if (size == 0 || (size >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0))
            return NULL;
        if (size < 2 || start[0] != '#' || start[1] != '!')
            return error_new("cannot run %s: neither an ELF program nor a script with a #! line",
                             program->path);
        _cleanup_free_ char *interpreter = NULL;
        TRY(script_interpreter(program->path, start, size, &interpreter));
        int code = check_executable(interpreter);
        if (code != 0)
            return error_prefix(refuse(interpreter, code), "script %s", program->path);
        free(program->path);
        program->path = TAKE(interpreter);
        program->script = true;
    }
    return error_new("cannot run %s: more than %d scripts lead to one another", program->path,
                     SCRIPT_DEPTH);
}

static bool has_capabilities(const char *path)
{
    struct vfs_ns_cap_data data = {0};
    ssize_t size = getxattr(path, "security.capability", &data, sizeof data);
    if (size < (ssize_t)XATTR_CAPS_SZ_1)
        return false;
    uint32_t permitted = data.data[0].permitted;
    if (size >= (ssize_t)XATTR_CAPS_SZ_2)
        permitted |= data.data[1].permitted;
    return permitted != 0 || (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) != 0;
}

// The kernel's rule for AT_SECURE: the new effective ids differ from the real ones, or a user other
// than root gains capabilities, and nothing keeps the kernel from granting them.
static bool runs_secure(const char *path)
{
    struct stat status;
    struct statvfs mount;
    if (stat(path, &status) != 0)
        return false;
    bool gains = ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) ||
                 ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
                  status.st_gid != getgid()) ||
                 (getuid() != 0 && has_capabilities(path));
    return gains && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
           (statvfs(path, &mount) != 0 || (mount.f_flag & ST_NOSUID) == 0);
}

struct error *elf_find_program(const char *command, struct elf_program *ret_program)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    TRY(find_file(command, &program.path));
    TRY(follow_scripts(&program));
    program.setuid = runs_secure(program.path);
    *ret_program = program;
    program.path = NULL;
    return NULL;
}

void elf_program_deinit(struct elf_program *program)
{
    free(program->path);
    *program = (struct elf_program){0};
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the user's own code from what runs on the way to it. See scope.h.
#include "campaign/scope.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "campaign/sibling-programs.h"
#include "campaign/subject.h"
#include "oracle/origin.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum rule { RULE_PATTERNS, RULE_TREE, RULE_COMMAND, RULE_NO_RUNNERS, RULE_ALL, RULES };

struct scope {
    const struct definition *definition;
    enum rule rule;
    char *tree;              // the tree under test; NULL: there is none
    char *file;              // that the command runs; NULL: not known
    struct map names;        // hashes of the names of files in the tree
    uint64_t matches[RULES]; // candidates that are own by each rule
    struct map libraries;    // from a hash of "program library" to whether they are of one project
};

// Programs whose work is to run others.
static const char *const runners[] = {
    "sh",     "bash",    "dash",   "zsh",    "ksh",   "mksh",    "env",
    "make",   "gmake",   "ninja",  "meson",  "cmake", "ctest",   "timeout",
    "nice",   "nohup",   "setsid", "stdbuf", "xargs", "time",    "prove",
    "script", "unshare", "sudo",   "chroot", "flock", "taskset", "ionice",
};

// A script that a program of the test is may run in one of these: that is not what is tested,
// unless the command names it.
static const char *const interpreters[] = {"perl", "python", "ruby", "tclsh", "lua", "php"};

static bool is_interpreter(const char *program)
{
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        size_t size = strlen(interpreters[i]);
        if (strncmp(program, interpreters[i], size) == 0 &&
            program[size + strspn(program + size, "0123456789.")] == '\0')
            return true;
    }
    return false;
}

static bool is_named(const struct words *command, const char *program)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-.";
    size_t size = strlen(program);
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i];
        for (const char *at = word; (at = strstr(at, program)) != NULL; at += size)
            if ((at == word || strchr(letters, at[-1]) == NULL) &&
                (at[size] == '\0' || strchr(letters, at[size]) == NULL))
                return true;
    }
    return false;
}

static bool is_runner(const char *program)
{
    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
        if (strcmp(runners[i], program) == 0)
            return true;
    return false;
}

// Directories of the system are nobody's tree under test.
static bool is_of_system(const char *path)
{
    static const char *const directories[] = {"/",        "/usr",     "/etc",   "/bin",
                                              "/sbin",    "/lib",     "/lib64", "/usr/bin",
                                              "/usr/lib", "/usr/sbin"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (strcmp(directories[i], path) == 0)
            return true;
    return false;
}

// The repository that the directory is in; the directory itself if it is in none.
static struct error *find_tree(const char *directory, char **ret_tree)
{
    _cleanup_free_ char *path = directory != NULL ? realpath(directory, NULL) : NULL;
    if (path == NULL)
        return NULL;
    for (size_t size = strlen(path); size > 1;) {
        _cleanup_(buffer_deinit) struct buffer git = {0};
        struct stat status;
        TRY(buffer_printf(&git, "%.*s/.git", (int)size, path));
        if (stat(git.data, &status) == 0) {
            path[size] = '\0';
            break;
        }
        while (size > 1 && path[--size] != '/')
            ;
    }
    if (!is_of_system(path))
        *ret_tree = TAKE(path);
    return NULL;
}

// The file that the command runs. For a script it is that of the interpreter.
static struct error *find_file(const struct definition *definition, char **ret_file)
{
    _cleanup_free_ char *program = NULL;
    TRY(subject_program(definition, &program));
    const char *path = program;
    for (int i = 0; i < 3 && path != NULL; i++) { // size, time, build ID
        path = strchr(path, ' ');
        path += path != NULL;
    }
    *ret_file = path != NULL ? realpath(path, NULL) : NULL;
    return NULL;
}

static bool is_in_tree(const struct scope *scope, const char *module)
{
    size_t size = scope->tree != NULL ? strlen(scope->tree) : 0;
    return size != 0 && module != NULL && strncmp(module, scope->tree, size) == 0 &&
           module[size] == '/';
}

static bool is_matched_by(const char *pattern, const char *module, const char *program)
{
    return (module != NULL && (fnmatch(pattern, module, 0) == 0 ||
                               fnmatch(pattern, file_base_name(module), 0) == 0)) ||
           (program != NULL && fnmatch(pattern, program, 0) == 0);
}

static bool is_matched(const struct scope *scope, const char *module, const char *program)
{
    const struct words *patterns = &scope->definition->mine;
    for (size_t i = 0; i < patterns->count; i++)
        if (is_matched_by(patterns->items[i], module, program))
            return true;
    return false;
}

static const char *command_name(const struct scope *scope)
{
    const struct words *command = &scope->definition->command;
    return command->count != 0 ? file_base_name(command->items[0]) : "";
}

// Programs of one project often begin with the same word: git, git-upload-pack.
static bool is_commands(const struct scope *scope, const char *module, const char *program)
{
    const char *name = command_name(scope);
    size_t size = strlen(name);
    if (is_runner(name) || (scope->file != NULL && is_runner(file_base_name(scope->file))))
        return false;
    if (module != NULL && scope->file != NULL && strcmp(module, scope->file) == 0)
        return true;
    return size != 0 && strncmp(program, name, size) == 0 &&
           (program[size] == '\0' || program[size] == '-');
}

static bool is_own(const struct scope *scope, enum rule rule, const char *module,
                   const char *program)
{
    switch (rule) {
    case RULE_PATTERNS:
        return is_matched(scope, module, program);
    case RULE_TREE:
        return is_in_tree(scope, module) ||
               (program != NULL && map_has(&scope->names, hash_text(program)));
    case RULE_COMMAND:
        return program == NULL || is_commands(scope, module, program);
    case RULE_NO_RUNNERS:
        return program == NULL ||
               (!is_runner(program) &&
                (!is_interpreter(program) || is_named(&scope->definition->command, program)));
    default:
        return true;
    }
}

static struct error *note_name(void *data, const struct store_candidate *row)
{
    struct scope *scope = data;
    if (!is_in_tree(scope, row->module))
        return NULL;
    return map_add(&scope->names, hash_text(file_base_name(row->module)), NULL);
}

struct counting {
    struct scope *scope;
    bool *matched; // by pattern
};

static struct error *count_candidate(void *data, const struct store_candidate *row)
{
    const struct counting *counting = data;
    const struct words *patterns = &counting->scope->definition->mine;
    // Nothing is known of the program but what the file tells.
    const char *name = row->module != NULL ? file_base_name(row->module) : NULL;
    bool library = name != NULL && strstr(name, ".so") != NULL;
    for (size_t i = 0; i < patterns->count; i++)
        counting->matched[i] |= is_matched_by(patterns->items[i], row->module, NULL);
    // What has no module, as a stream, may be of any program: no rule is right because of it.
    for (enum rule rule = RULE_TREE; name != NULL && rule < RULES; rule++)
        counting->scope->matches[rule] +=
            (rule == RULE_TREE || !library) && is_own(counting->scope, rule, row->module, name);
    return NULL;
}

static void scope_freep(struct scope **scope)
{
    scope_free(*scope);
}

struct error *scope_new(const struct definition *definition, struct store *store, int64_t campaign,
                        struct scope **ret_scope, const char **ret_unmatched)
{
    _cleanup_(scope_freep) struct scope *scope = calloc(1, sizeof *scope);
    _cleanup_free_ bool *matched = calloc(definition->mine.count + 1, sizeof *matched);
    if (scope == NULL || matched == NULL)
        return error_no_memory();
    scope->definition = definition;
    TRY(find_tree(definition->directory, &scope->tree));
    TRY(find_file(definition, &scope->file));
    TRY(store_each_candidate(store, campaign, 0, 0, note_name, scope));
    struct counting counting = {scope, matched};
    TRY(store_each_candidate(store, campaign, 0, 0, count_candidate, &counting));
    const char *unmatched = NULL;
    for (size_t i = 0; i < definition->mine.count && unmatched == NULL; i++)
        unmatched = matched[i] ? NULL : definition->mine.items[i];
    scope->rule = definition->mine.count != 0 ? RULE_PATTERNS : RULE_TREE;
    while (scope->rule != RULE_PATTERNS && scope->rule != RULE_ALL &&
           scope->matches[scope->rule] == 0)
        scope->rule++;
    *ret_unmatched = unmatched;
    *ret_scope = TAKE(scope);
    return NULL;
}

void scope_free(struct scope *scope)
{
    if (scope == NULL)
        return;
    free(scope->tree);
    free(scope->file);
    map_deinit(&scope->names);
    map_deinit(&scope->libraries);
    free(scope);
}

// Whether the call was made, perhaps by way of system libraries, by code that is own. In the tree
// that is so if any of the callers is there: the user's code uses what fails.
static bool has_own_frame(const struct scope *scope, const char *stack)
{
    size_t innermost = origin_first_outside(stack), number = 0;
    struct frame_text frame;
    for (const char *at = stack; frame_text_next(&at, &frame); number++) {
        if (frame.module.text == NULL)
            continue;
        char name[NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)frame.module.size, frame.module.text);
        if (scope->rule == RULE_TREE ? map_has(&scope->names, hash_text(name))
                                     : number == innermost && is_matched(scope, name, NULL))
            return true;
    }
    return false;
}

enum store_scope scope_of(const struct scope *scope, const struct injection *injection)
{
    bool by_frames = scope->rule == RULE_TREE || scope->rule == RULE_PATTERNS,
         own = is_own(scope, scope->rule, injection->module, injection->program) ||
               (by_frames && injection->stack != NULL && has_own_frame(scope, injection->stack));
    return own ? STORE_SCOPE_MINE : STORE_SCOPE_TOOL;
}

// Whether the library is named as the program: jq and libjq.so.1, python3.11 and libpython3.11.so.
static bool is_namesake(const char *program, const char *library)
{
    size_t size = strlen(program);
    return size != 0 && strncmp(library, "lib", 3) == 0 && file_library_stem(library) == 3 + size &&
           strncmp(library + 3, program, size) == 0;
}

static struct error *is_one_project(struct map *known, const char *program, const char *library,
                                    bool *ret_one)
{
    _cleanup_free_ char *both = NULL;
    if (asprintf(&both, "%s %s", program, library) < 0)
        return error_no_memory();
    uint32_t one = map_find(known, hash_text(both));
    if (one == MAP_NONE) {
        _cleanup_(sibling_programs_deinit) struct sibling_programs siblings = {0};
        TRY(sibling_programs_add(&siblings, program, ""));
        TRY(sibling_programs_add(&siblings, library, ""));
        TRY(sibling_programs_add_packages(&siblings, SIBLING_PACKAGES));
        one = sibling_programs_are(&siblings, program, library);
        TRY(map_put(known, hash_text(both), one));
    }
    *ret_one = one;
    return NULL;
}

struct error *scope_owns(struct scope *scope, const struct injection *injection,
                         const char *library, bool *ret_owns)
{
    const char *program = injection != NULL ? injection->program : NULL;
    bool named = scope->rule == RULE_PATTERNS;
    *ret_owns = named && is_matched(scope, library, NULL);
    if (named || program == NULL || frame_part_is_libc(frame_part(library)) ||
        scope_of(scope, injection) != STORE_SCOPE_MINE)
        return NULL;
    *ret_owns = is_namesake(program, library);
    return *ret_owns ? NULL : is_one_project(&scope->libraries, program, library, ret_owns);
}

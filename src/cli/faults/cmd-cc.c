// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal cc, ordeal c++: runs clang 19 with the plug-in that builds software faults in.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "cli/faults/cc-arguments.h"
#include "cli/faults/cc-source.h"
#include "trial/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "ordeal-faults.so"
// The compiler frees and allocates small pieces all the time. If the C library keeps more of them
// at hand, a large file takes up to a tenth less time and a tenth more memory.
#define ALLOCATOR "glibc.malloc.tcache_count=1000"

struct settings {
    const char *decide, *types, *skip, *loops;
    struct option_list plugins;
    struct option_number clones, limit, budget, seed;
    bool counters, system_headers;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"decide", 0, OPTION_TEXT, "HOW",
     "how a fault is chosen: worlds (as good as free until one is enabled), markers, or variable",
     FIELD(decide)},
    {"fault-types", 0, OPTION_TEXT, "LIST", "only these types: no-store,flip-branch", FIELD(types)},
    {"skip-files", 0, OPTION_TEXT, "LIST",
     "leave files as they are whose names contain one of these: lib/generated/,parser.tab.c",
     FIELD(skip)},
    {"fault-plugin", 0, OPTION_FILE_LIST, "FILE",
     "fault types from a shared object, too; may be given again", FIELD(plugins)},
    {"clones-per-block", 0, OPTION_NUMBER, "N",
     "at most N faults per basic block, chosen at random; as many as fit without this",
     FIELD(clones)},
    {"clone-budget", 0, OPTION_NUMBER, "PERCENT",
     "at most so many instructions in all clones of a function, in percent of its own (35), and at "
     "least 60 unless it is 0; more faults make the compiler slower and the file larger",
     FIELD(budget)},
    {"clone-limit", 0, OPTION_NUMBER, "N",
     "without twins: at most N instructions in all clones of a block (2000)", FIELD(limit)},
    {"loops", 0, OPTION_TEXT, "FUNCTIONS",
     "functions that never return, as main,serve: their faults act in loops that are already "
     "running, but their code is slower also as long as none is enabled",
     FIELD(loops)},
    {"system-headers", 0, OPTION_FLAG, NULL,
     "faults in functions of system headers, too, such as C++ templates", FIELD(system_headers)},
    {"fault-seed", 0, OPTION_NUMBER, "N", "for what is chosen at random", FIELD(seed)},
    {"counters", 0, OPTION_FLAG, NULL, "count how often every basic block is executed",
     FIELD(counters)},
};

// ---- compiler and plug-in ----

static struct error *find_plugin(char **ret_path)
{
    const char *chosen = getenv("ORDEAL_FAULTS_PLUGIN");
    if (chosen != NULL && *chosen != '\0') {
        *ret_path = realpath(chosen, NULL);
        return *ret_path != NULL ? NULL
                                 : error_from_errno(errno, "ORDEAL_FAULTS_PLUGIN names %s", chosen);
    }
    char *path = NULL;
    TRY(program_beside_executable("../mutate/pass/" PLUGIN, &path));
    if (path == NULL)
        TRY(program_beside_executable("../lib/ordeal/" PLUGIN, &path));
    if (path == NULL && access(ORDEAL_LIBRARY_DIRECTORY "/" PLUGIN, R_OK) == 0)
        path = strdup(ORDEAL_LIBRARY_DIRECTORY "/" PLUGIN);
    if (path == NULL)
        return error_new(
            "there is no " PLUGIN ", the compiler plug-in: Ordeal was built without "
            "LLVM 19. Install clang-19, llvm-19-dev, libclang-19-dev and g++ and build "
            "Ordeal again");
    *ret_path = path;
    return NULL;
}

// The first compiler in the list that can be run.
static struct error *find_compiler(bool cxx, char **ret_path)
{
    const char *chosen = getenv("ORDEAL_CLANG");
    const char *name = cxx ? "clang++-19" : "clang-19";
    if (chosen != NULL && *chosen != '\0') {
        *ret_path = strdup(chosen);
        return *ret_path != NULL ? NULL : error_no_memory();
    }
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : ""; *at != '\0';) {
        size_t size = strcspn(at, ":");
        _cleanup_free_ char *file = NULL;
        if (asprintf(&file, "%.*s/%s", (int)size, at, name) < 0)
            return file = NULL, error_no_memory();
        if (access(file, X_OK) == 0) {
            *ret_path = TAKE(file);
            return NULL;
        }
        at += size + (at[size] == ':');
    }
    const char *usual = cxx ? "/usr/lib/llvm-19/bin/clang++" : "/usr/lib/llvm-19/bin/clang";
    if (access(usual, X_OK) != 0)
        return error_new("there is no %s; install the package clang-19, or name the compiler in "
                         "ORDEAL_CLANG",
                         name);
    *ret_path = strdup(usual);
    return *ret_path != NULL ? NULL : error_no_memory();
}

// ---- options of the plug-in ----

static struct error *check_settings(const struct settings *settings)
{
    const char *decide = settings->decide;
    if (decide != NULL && strcmp(decide, "worlds") != 0 && strcmp(decide, "markers") != 0 &&
        strcmp(decide, "variable") != 0)
        return error_new("--decide takes worlds, markers or variable, not '%s'", decide);
    if (settings->types != NULL && strchr(settings->types, ';') != NULL)
        return error_new("--fault-types takes names separated by commas");
    if (settings->skip != NULL && strchr(settings->skip, ';') != NULL)
        return error_new("--skip-files takes parts of names separated by commas");
    if (settings->loops != NULL && strchr(settings->loops, ';') != NULL)
        return error_new("--loops takes names of functions separated by commas");
    for (size_t i = 0; i < settings->plugins.entries.count; i++) {
        const char *file = settings->plugins.entries.items[i].value;
        if (access(file, R_OK) < 0)
            return error_from_errno(errno, "cannot read %s", file);
        if (strchr(file, ';') != NULL)
            return error_new("--fault-plugin cannot take a name with a semicolon: %s", file);
    }
    return NULL;
}

static struct error *put_options(const struct settings *settings, const struct cc_arguments *found,
                                 struct buffer *text)
{
    TRY(check_settings(settings));
    TRY(buffer_printf(text, "-ordeal=decide=%s",
                      settings->decide != NULL ? settings->decide : "worlds"));
    if (settings->clones.given)
        TRY(buffer_printf(text, ";clones=%" PRIu64, settings->clones.value));
    if (settings->limit.given)
        TRY(buffer_printf(text, ";limit=%" PRIu64, settings->limit.value));
    if (settings->budget.given)
        TRY(buffer_printf(text, ";budget=%" PRIu64 "%s", settings->budget.value,
                          settings->budget.value == 0 ? ";least-budget=0" : ""));
    if (settings->loops != NULL)
        TRY(buffer_printf(text, ";loops=%s", settings->loops));
    if (settings->seed.given)
        TRY(buffer_printf(text, ";seed=%" PRIu64, settings->seed.value));
    for (size_t i = 0; i < settings->plugins.entries.count; i++) {
        _cleanup_free_ char *path = realpath(settings->plugins.entries.items[i].value, NULL);
        TRY(buffer_printf(text, ";plugin=%s",
                          path != NULL ? path : settings->plugins.entries.items[i].value));
    }
    if (settings->counters)
        TRY(buffer_printf(text, ";counters"));
    if (settings->system_headers)
        TRY(buffer_printf(text, ";system-headers"));
    if (settings->skip != NULL)
        TRY(buffer_printf(text, ";skip=%s", settings->skip));
    if (settings->types != NULL)
        TRY(buffer_printf(text, ";types=%s", settings->types));
    return buffer_printf(text, "%s%s%s%s%s%s", found->debug ? "" : ";strip-debug",
                         found->names ? "" : ";strip-names", found->together ? ";keep-ir" : "",
                         found->lto ? ";lto" : "",
                         found->sections || found->coverage ? ";sections" : "",
                         found->scattered ? ";scattered" : "");
}

static struct error *run(const struct settings *settings, char **operands, bool cxx)
{
    _cleanup_free_ char *plugin = NULL, *compiler = NULL, *load = NULL, *use = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(cc_list_deinit) struct cc_list list = {0};
    struct cc_arguments found;
    TRY(cc_list_expand(operands, &list));
    cc_arguments_scan(list.items.items, &found);
    if (found.cfi)
        return error_new("-fsanitize=cfi and faults do not go together: it checks calls against "
                         "tables of functions, and a fault's way leads past them. Build without "
                         "it; other sanitizers work");
    TRY(put_options(settings, &found, &text));
    TRY(find_compiler(cxx, &compiler));
    TRY(find_plugin(&plugin));
    TRY(cc_look_at_sources(compiler, list.items.items, settings->types, settings->skip, &text));
    if (asprintf(&load, "-fplugin=%s", plugin) < 0)
        return load = NULL, error_no_memory();
    if (asprintf(&use, "-fpass-plugin=%s", plugin) < 0)
        return use = NULL, error_no_memory();
    size_t count = 0, at = 0;
    while (operands[count] != NULL)
        count++;
    _cleanup_free_ char **command = calloc(count + 16, sizeof *command);
    if (command == NULL)
        return error_no_memory();
    // -Xclang hides the plug-in's options from the assembler, which does not load the plug-in. Line
    // tables are needed to tell where a fault is, unless the user asks for more anyway. Names of
    // variables are needed to tell what it affects.
    char *const before[] = {
        compiler,
        "--start-no-unused-arguments",
        load,
        use,
        "-fno-discard-value-names",
        "-Xclang",
        "-mllvm",
        "-Xclang",
        text.data,
        "-Xclang",
        "-debug-info-kind=line-tables-only",
    };
    at = sizeof before / sizeof *before - (found.debug ? 2 : 0);
    memcpy(command, before, at * sizeof *before);
    command[at++] = "--end-no-unused-arguments";
    memcpy(command + at, operands, count * sizeof *operands);
    if (setenv("GLIBC_TUNABLES", ALLOCATOR, false) < 0)
        return error_from_errno(errno, "cannot set GLIBC_TUNABLES");
    execv(compiler, command);
    return error_from_errno(errno, "cannot run %s", compiler);
}

static struct error *run_cc(const void *settings, char **operands, int *ret_status)
{
    return run(settings, operands, false);
}

static struct error *run_cxx(const void *settings, char **operands, int *ret_status)
{
    return run(settings, operands, true);
}

// The two commands differ in their language only.
#define COMPILER(verb, language, function)                                                         \
    {                                                                                              \
        .name = verb,                                                                              \
        .summary = "Compile " language " with software faults inside, to be enabled later.",       \
        .operands = "COMPILER-ARGUMENT...",                                                        \
        .details =                                                                                 \
            "Runs clang 19 on the arguments as they are, with a plug-in that finds the places\n"   \
            "where programmers make mistakes and puts the mistakes in, switched off. 'ordeal\n"    \
            "faults' lists them and switches them on, without a rebuild.\n"                        \
            "\n"                                                                                   \
            "  make CC='ordeal cc'\n",                                                             \
        .options = options, .option_count = sizeof options / sizeof *options,                      \
        .settings_size = sizeof(struct settings), .least = 1, .most = UINT32_MAX,                  \
        .passes_options = true, .command_follows = true, .run = function,                          \
    }

const struct command cmd_cc = COMPILER("cc", "C", run_cc);
const struct command cmd_cxx = COMPILER("c++", "C++", run_cxx);

// SPDX-License-Identifier: GPL-3.0-or-later
// Takes a compiler's command line apart. Options are clang's; what takes a value of its own must be
// known, so that the value is not taken for a file.
#include "mutate/source/arguments.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

// Options whose value is the next word.
static const char *const with_value[] = {
    "-D",
    "-U",
    "-I",
    "-include",
    "-imacros",
    "-include-pch",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-iwithprefix",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-mllvm",
    "-x",
    "-target",
    "-arch",
    "-L",
    "-l",
    "-u",
    "-T",
    "-z",
    "-e",
    "-B",
    "-A",
    "-G",
    "--param",
    "-resource-dir",
    "--sysroot",
    "-working-directory",
    "-F",
    "-framework",
    "-cxx-isystem",
    "-stdlib++-isystem",
    "-iwithsysroot",
    "-ivfsoverlay",
    "-gcc-toolchain",
};
// Of those, and of others, what libclang must not see: they write files, or are for the linker.
static const char *const dropped_with_value[] = {
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-L",
    "-l",
    "-u",
    "-T",
    "-z",
    "-e",
    "-dumpdir",
    "-serialize-diagnostics",
    "-main-file-name",
};
// Beginnings of single words that libclang must not see.
static const char *const dropped[] = {
    "-M",
    "-Wp,-M",
    "-c",
    "-S",
    "-save-temps",
    "--save-temps",
    "-ftime-trace",
    "-fplugin",
    "-fpass-plugin",
    "-Wl,",
    "-Wa,",
    "-l",
    "-L",
    "-pipe",
    "-v",
    "-fproc-stat-report",
    "-MJ",
};
// Nothing is compiled with one of these.
static const char *const no_code[] = {"-E",        "-M",        "-MM",          "-fsyntax-only",
                                      "-###",      "--version", "-dumpversion", "-dumpmachine",
                                      "--analyze", "--help"};
static const char *const endings[] = {".c",  ".i",   ".cc", ".cpp", ".cxx", ".C",
                                      ".CC", ".CPP", ".cp", ".c++", ".ii",  ".CXX"};

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(text, words) is_one_of(text, words, sizeof(words) / sizeof *(words))

static bool is_dropped(const char *text)
{
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        size_t size = strlen(dropped[i]);
        bool whole = strcmp(dropped[i], "-c") == 0 || strcmp(dropped[i], "-S") == 0 ||
                     strcmp(dropped[i], "-v") == 0;
        if (strncmp(text, dropped[i], size) == 0 && (!whole || text[size] == '\0'))
            return true;
    }
    // -oFILE in one word
    return strncmp(text, "-o", 2) == 0 && strncmp(text, "-objc", 5) != 0;
}

static bool is_source(const char *text)
{
    const char *end = strrchr(text, '.');
    return end != NULL && IS_ONE_OF(end, endings);
}

static struct error *keep(struct source_arguments *arguments, const char *text)
{
    char **slot = ARRAY_ADD(&arguments->options);
    if (slot == NULL)
        return error_no_memory();
    *slot = (char *)text;
    return NULL;
}

static struct error *add(struct source_arguments *arguments, char *const **at, bool *language)
{
    const char *text = **at;
    if (IS_ONE_OF(text, no_code) || strncmp(text, "-print-", 7) == 0)
        arguments->compiles = false;
    if (IS_ONE_OF(text, dropped_with_value) || IS_ONE_OF(text, with_value)) {
        bool kept = !IS_ONE_OF(text, dropped_with_value);
        if (kept)
            TRY(keep(arguments, text));
        if ((*at)[1] == NULL)
            return NULL;
        (*at)++;
        *language |= strcmp(text, "-x") == 0 && strcmp(**at, "none") != 0;
        return kept ? keep(arguments, **at) : NULL;
    }
    if (*text == '-' && text[1] != '\0')
        return is_dropped(text) ? NULL : keep(arguments, text);
    // With a language of the user's choice, any file may be a source; standard input never is: it
    // can be read only once.
    if (!is_source(text) && !(*language && strcmp(text, "-") != 0 && strchr(text, '.') == NULL))
        return NULL;
    const char **slot = ARRAY_ADD(&arguments->sources);
    if (slot == NULL)
        return error_no_memory();
    *slot = text;
    return NULL;
}

struct error *source_arguments_parse(const char *compiler, char *const *arguments,
                                     struct source_arguments *ret_arguments)
{
    _cleanup_(source_arguments_deinit) struct source_arguments parsed = {.compiles = true};
    bool language = false;
    TRY(keep(&parsed, compiler));
    TRY(keep(&parsed, "-w"));
    for (; *arguments != NULL; arguments++)
        TRY(add(&parsed, &arguments, &language));
    *ret_arguments = parsed;
    parsed = (struct source_arguments){0};
    return NULL;
}

struct error *source_arguments_for(const struct source_arguments *arguments, const char *source,
                                   char ***ret_command)
{
    size_t count = arguments->options.count;
    char **command = calloc(count + 2, sizeof *command);
    if (command == NULL)
        return error_no_memory();
    memcpy(command, arguments->options.items, count * sizeof *command);
    command[count] = (char *)source;
    *ret_command = command;
    return NULL;
}

void source_arguments_deinit(struct source_arguments *arguments)
{
    ARRAY_DEINIT(&arguments->sources);
    ARRAY_DEINIT(&arguments->options);
}

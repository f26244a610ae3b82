// SPDX-License-Identifier: GPL-3.0-or-later
// Tells programs of one project by functions that have no names but the same code, or by the
// source package that they came from.
#include "campaign/sibling-programs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "base/hash.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

void sibling_programs_deinit(struct sibling_programs *siblings)
{
    words_deinit(&siblings->names);
    ARRAY_DEINIT(&siblings->same);
    map_deinit(&siblings->functions);
}

#define NONE UINT32_MAX

static uint32_t find(const struct sibling_programs *siblings, const char *program)
{
    for (size_t i = 0; i < siblings->names.count; i++)
        if (strcmp(siblings->names.items[i], program) == 0)
            return (uint32_t)i;
    return NONE;
}

static uint32_t first_of(const struct sibling_programs *siblings, uint32_t program)
{
    while (siblings->same.items[program] != program)
        program = siblings->same.items[program];
    return program;
}

static struct error *add_program(struct sibling_programs *siblings, const char *program,
                                 uint32_t *ret_program)
{
    *ret_program = find(siblings, program);
    if (*ret_program != NONE)
        return NULL;
    uint32_t *same = ARRAY_ADD(&siblings->same);
    if (same == NULL)
        return error_no_memory();
    *same = *ret_program = (uint32_t)(siblings->same.count - 1);
    return words_add(&siblings->names, program, strlen(program));
}

static struct error *add_function(struct sibling_programs *siblings, uint32_t program,
                                  struct frame_part code)
{
    const char *plus = memchr(code.text, '+', code.size);
    uint64_t hash = hash_bytes(code.text, plus != NULL ? (size_t)(plus - code.text) : code.size);
    uint32_t other = map_find(&siblings->functions, hash);
    if (other == MAP_NONE)
        return map_put(&siblings->functions, hash, program);
    siblings->same.items[first_of(siblings, program)] = first_of(siblings, other);
    return NULL;
}

// The outermost function starts every program.
struct error *sibling_programs_add(struct sibling_programs *siblings, const char *program,
                                   const char *stack)
{
    uint32_t number = 0;
    struct frame_text frame;
    TRY(add_program(siblings, program, &number));
    while (frame_text_next(&stack, &frame))
        if (frame.code.text != NULL && *stack != '\0' &&
            frame_part_is(frame.module, file_base_name(program)))
            TRY(add_function(siblings, number, frame.code));
    return NULL;
}

#define NAME_CUT 15 // names of programs may be cut after so many bytes

// Whether a package's list of files, one path per line, has the program or library.
static bool has_file(const char *list, const char *name)
{
    size_t size = strlen(name);
    bool library = strstr(name, ".so") != NULL;
    for (const char *at = list; (at = strstr(at, name)) != NULL; at++) {
        size_t whole = strcspn(at, "/\n");
        bool placed =
            library ? at != list && at[-1] == '/' : at - list > 4 && memcmp(at - 4, "bin/", 4) == 0;
        if (placed && at[whole] == '\n' && (whole == size || (size == NAME_CUT && !library)))
            return true;
    }
    return false;
}

// The source that the package was built from, in a list of paragraphs such as "Package: libjq1" and
// "Source: jq (1.6-2)". Without such a line it has the package's own name.
static struct frame_part source_of(const char *status, struct frame_part package)
{
    static const char named[] = "Package: ", field[] = "\nSource: ";
    for (const char *at = status; (at = strstr(at, named)) != NULL;) {
        bool begins = at == status || at[-1] == '\n';
        at += strlen(named);
        if (!begins || strncmp(at, package.text, package.size) != 0 || at[package.size] != '\n')
            continue;
        const char *end = strstr(at, "\n\n"), *source = strstr(at, field);
        if (source == NULL || (end != NULL && source > end))
            break;
        source += strlen(field);
        return (struct frame_part){source, strcspn(source, " \n")};
    }
    return package;
}

// A package's list of files makes a sibling of its source, which no program can be named like.
static struct error *add_package(struct sibling_programs *siblings, size_t programs,
                                 const char *list, struct frame_part package, const char *status)
{
    uint32_t source = NONE;
    for (uint32_t i = 0; i < programs; i++) {
        if (!has_file(list, siblings->names.items[i]))
            continue;
        if (source == NONE) {
            struct frame_part from = source_of(status, package);
            _cleanup_free_ char *name = NULL;
            if (asprintf(&name, "/%.*s", (int)from.size, from.text) < 0)
                return error_no_memory();
            TRY(add_program(siblings, name, &source));
        }
        siblings->same.items[first_of(siblings, i)] = first_of(siblings, source);
    }
    return NULL;
}

#define LIST_MOST (64u << 20) // bytes

// "libjq1" of "libjq1:amd64.list"; nothing of other files
static struct frame_part package_of(const char *file)
{
    const char *end = strrchr(file, '.'), *colon = strchr(file, ':');
    if (end == NULL || strcmp(end, ".list") != 0)
        return (struct frame_part){0};
    return (struct frame_part){file, (size_t)((colon != NULL ? colon : end) - file)};
}

// The whole text of a regular file, or nothing.
static struct error *read_text(const char *directory, const char *name, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(buffer_printf(&path, "%s/%s", directory, name));
    buffer_deinit(text);
    error_free(buffer_read_regular(path.data, LIST_MOST, text));
    return buffer_append(text, "", 1);
}

struct error *sibling_programs_add_packages(struct sibling_programs *siblings,
                                            const char *directory)
{
    _cleanup_(buffer_deinit) struct buffer status = {0}, list = {0}, lists = {0};
    TRY(buffer_printf(&lists, "%s/info", directory));
    _cleanup_closedir_ DIR *open = opendir(lists.data);
    const struct dirent *entry;
    size_t programs = siblings->names.count;
    if (open == NULL)
        return NULL;
    TRY(read_text(directory, "status", &status));
    while ((entry = readdir(open)) != NULL) {
        struct frame_part package = package_of(entry->d_name);
        if (package.text == NULL)
            continue;
        TRY(read_text(lists.data, entry->d_name, &list));
        TRY(add_package(siblings, programs, list.data, package, status.data));
    }
    return NULL;
}

bool sibling_programs_are(const struct sibling_programs *siblings, const char *left,
                          const char *right)
{
    uint32_t a = find(siblings, left), b = find(siblings, right);
    return a != NONE && b != NONE && first_of(siblings, a) == first_of(siblings, b);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Tells programs of one project by functions that have no names but the same code, or by the
// package that they came with.
#include "campaign/sibling-programs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "base/hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#define NAME_CUT 15 // names may be cut after so many bytes

// Whether a package's list of files, one path per line, has the program.
static bool has_program(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at++) {
        size_t whole = strcspn(at, "/\n");
        if (at - list > 4 && memcmp(at - 4, "bin/", 4) == 0 && at[whole] == '\n' &&
            (whole == size || size == NAME_CUT))
            return true;
    }
    return false;
}

static void add_package(struct sibling_programs *siblings, const char *list)
{
    uint32_t first = NONE;
    for (uint32_t i = 0; i < siblings->names.count; i++) {
        if (!has_program(list, siblings->names.items[i]))
            continue;
        if (first == NONE)
            first = i;
        else
            siblings->same.items[first_of(siblings, i)] = first_of(siblings, first);
    }
}

#define LIST_MOST (4u << 20) // bytes

struct error *sibling_programs_add_packages(struct sibling_programs *siblings,
                                            const char *directory)
{
    _cleanup_closedir_ DIR *lists = opendir(directory);
    _cleanup_free_ char *text = malloc(LIST_MOST + 1);
    const struct dirent *entry;
    if (text == NULL)
        return error_no_memory();
    while (lists != NULL && (entry = readdir(lists)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".list") != 0)
            continue;
        _cleanup_close_ int file =
            openat(dirfd(lists), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        ssize_t got = file >= 0 ? read(file, text, LIST_MOST) : -1;
        if (got <= 0)
            continue;
        text[got] = '\0';
        add_package(siblings, text);
    }
    return NULL;
}

bool sibling_programs_are(const struct sibling_programs *siblings, const char *left,
                          const char *right)
{
    uint32_t a = find(siblings, left), b = find(siblings, right);
    return a != NONE && b != NONE && first_of(siblings, a) == first_of(siblings, b);
}

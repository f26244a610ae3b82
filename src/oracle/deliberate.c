// SPDX-License-Identifier: GPL-3.0-or-later
// Tells a program that decided to abort, and said so, from one that broke. A check for damaged
// memory ends a program in the same way, with a message and abort(), but there the decision comes
// too late: such a death is a crash.
#include "base/frame-text.h"
#include "oracle/judge-internal.h"
#include "oracle/origin.h"
#include "oracle/shell-signal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// How other allocators than the C library's begin their complaints, and fortified functions theirs.
static const char *const damage_signs[] = {
    "*** ",               // "*** stack smashing detected ***: terminated"
    "***MEMORY-ERROR***", // GLib
    "<jemalloc>",
    "mimalloc: error:",
    "src/tcmalloc.cc:",
    "fatal allocator error:", // hardened_malloc
    "Scudo ERROR:",
    "Bad talloc magic value",
    "terminate called ", // nobody caught an exception
    "libc++abi: terminating",
};

// How the runtimes of languages and libraries begin their last words. Nobody else says so: they
// need not begin with the name of the program.
static const char *const last_words[] = {
    "memory allocation of ",  // Rust, without memory
    "fatal runtime error: ",  // Rust
    "Fatal Python error: ",   // CPython
    "FATAL ERROR: ",          // node
    "# Fatal error in ",      // V8
    "# Fatal process out of", // V8
};

// The functions of the C library by which a program ends itself.
static const char *const endings[] = {
    "abort",
    "raise",
    "gsignal",
    "kill",
    "pthread_kill",
    "tgkill",
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "sigqueue",
    "__GI_abort",
    "__GI_raise",
    "__GI___assert_fail",
    "runtime.gopanic", // Go
};

// Whether a line of the text begins with one of these.
static bool has_line_like(const struct buffer *text, const char *const *beginnings, size_t count)
{
    const char *line = text->data, *end = text->data + text->size;
    for (const char *next; line < end; line = next) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline != NULL ? newline + 1 : end;
        for (size_t i = 0; i < count; i++) {
            size_t size = strlen(beginnings[i]);
            if ((size_t)(next - line) >= size && memcmp(line, beginnings[i], size) == 0)
                return true;
        }
    }
    return false;
}

static bool is_ending(struct frame_part function)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (function.text != NULL && frame_part_is(function, endings[i]))
            return true;
    return false;
}

// Whether a program called a function that ends it. If the C library called it, a check of its own
// found damage; if the C++ library did, nobody caught an exception.
static bool was_decided(const char *key)
{
    struct frame_text frame, inner = {0};
    if (!frame_text_at(key, 0, &frame))
        return false;
    if (!frame_part_is_libc(frame.module))
        return !frame_part_is_libstdcxx(frame.module); // int3 or ud2 in the program itself
    while (frame_text_next(&key, &frame) && frame_part_is_libc(frame.module))
        inner = frame;
    return !frame_part_is_libc(frame.module) && !frame_part_is_libstdcxx(frame.module) &&
           is_ending(inner.function);
}

// Whether a name is in the text, alone: "x" is not in "x.c, line 3".
static bool has_word(const char *text, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++) {
        bool begins =
            at == text || (!isalnum((unsigned char)at[-1]) && strchr("_-.", at[-1]) == NULL);
        bool source = at[size] == '.' && isalpha((unsigned char)at[size + 1]);
        if (begins && !source && !isalnum((unsigned char)at[size]) && at[size] != '_' &&
            at[size] != '-')
            return true;
    }
    return false;
}

// Whether a line may be a parent's word for the death of a child: "sh: x failed with signal 6".
static bool is_about_a_death(const char *quoted, const char *name)
{
    static const char *const words[] = {"signal", "abort",      "core dumped", "killed", "exit",
                                        "status", "terminated", "died",        "failed", "child"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(quoted, words[i]) != NULL)
            return true;
    return *name == '\0' || has_word(quoted, name);
}

// Whether the line, which is in quotes, may be the word of the process that died. A shell's
// "Aborted" is none. Parents have words for the deaths of their children, too, so a child's must
// begin with its name, or be about something else.
static bool is_own_word(const struct observation *observation, const char *quoted)
{
    if (quoted == NULL)
        return observation->crash_in_command;
    size_t size = strlen(quoted);
    if (size < 2 || strcmp(quoted, "'Aborted'") == 0 ||
        shell_signal_find(quoted + 1, size - 2) != 0)
        return false;
    if (observation->crash_in_command)
        return true;
    const char *in = strstr(observation->crash, " in "); // "SIGABRT in NAME"
    const char *name = in != NULL ? in + 4 : "";
    const char *colon = strchr(quoted, ':');
    size_t length = strlen(name);
    bool named = length != 0 && colon != NULL && (size_t)(colon - quoted) > length &&
                 strncmp(colon - length, name, length) == 0 &&
                 memchr(quoted, ' ', (size_t)(colon - quoted)) == NULL;
    return named || !is_about_a_death(quoted, name);
}

// An exception that is thrown before main() begins cannot be caught: the language ends the program,
// and says so. In main() the program could have caught it.
static bool was_before_main(const struct observation *observation, const struct buffer *err)
{
    static const char *const thrown[] = {"terminate called ", "libc++abi: terminating"},
                             *const starters[] = {"call_init", "_dl_init"};
    const char *stack =
        observation->injections.count != 0 ? observation->injections.items[0].stack : NULL;
    struct frame_text frame;
    bool before = false;
    while (stack != NULL && frame_text_next(&stack, &frame))
        for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
            before |= frame_part_is_libc(frame.module) && frame.function.text != NULL &&
                      frame_part_is(frame.function, starters[i]);
    return before && has_line_like(err, thrown, sizeof thrown / sizeof *thrown);
}

bool verdict_draft_is_deliberate(const struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    const struct difference *difference = &draft->difference;
    const struct buffer *err = &draft->run->workload.err.kept;
    bool told = difference->err_more &&
                (is_own_word(observation, difference->more) ||
                 has_line_like(err, last_words, sizeof last_words / sizeof *last_words));
    if (!told || !observation->crash_by_itself || observation->crash_key == NULL)
        return false;
    return was_before_main(observation, err) ||
           (!has_line_like(err, damage_signs, sizeof damage_signs / sizeof *damage_signs) &&
            was_decided(observation->crash_key));
}

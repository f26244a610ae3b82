// SPDX-License-Identifier: GPL-3.0-or-later
// Recognises lines with which dash, bash and make report that a child was killed by a signal.
#include "oracle/shell-signal.h"

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    int signal;
    const char *phrase;
    bool common; // programs print it themselves: alone on a line, it is no report
} phrases[] = {
    {SIGSEGV, "Segmentation fault", false},
    {SIGABRT, "Aborted", true},
    {SIGBUS, "Bus error", false},
    {SIGFPE, "Floating point exception", false},
    {SIGILL, "Illegal instruction", false},
    {SIGSYS, "Bad system call", false},
    {SIGTRAP, "Trace/breakpoint trap", false},
};

// Whether the part of a line before the phrase looks like bash's "NAME: line N: PID ".
static bool is_bash(const char *line, size_t size)
{
    size_t at = size;
    while (at > 0 && line[at - 1] == ' ')
        at--;
    size_t end = at;
    while (at > 0 && isdigit((unsigned char)line[at - 1]))
        at--;
    return at < end && at > 2 && memmem(line, at, ": line ", 7) != NULL;
}

static bool is_report(const char *line, size_t size, const char *found, size_t length, bool common)
{
    static const char core[] = "(core dumped)";
    const char *rest = found + length, *end = line + size;
    while (rest < end && *rest == ' ')
        rest++;
    bool dumped = (size_t)(end - rest) >= strlen(core) && memcmp(rest, core, strlen(core)) == 0;
    if (found != line && found[-1] != ' ')
        return false;
    if (dumped)
        return true;
    return (found == line && rest == end && !common) || is_bash(line, (size_t)(found - line));
}

static int read_line(const char *line, size_t size)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        size_t length = strlen(phrases[i].phrase);
        const char *found = memmem(line, size, phrases[i].phrase, length);
        if (found != NULL && is_report(line, size, found, length, phrases[i].common))
            return phrases[i].signal;
    }
    return 0;
}

int shell_signal_find(const char *text, size_t size)
{
    int signal = 0;
    for (size_t at = 0; at < size && signal == 0;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : size - at;
        signal = read_line(text + at, length);
        at += length + 1;
    }
    return signal;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Differences of traces in words.
#include "report/trace/trace.h"

#include "base/cleanup.h"

#include <string.h>

// What a process does in a call; $1 is its first argument.
static const struct {
    const char *call, *words;
} phrases[] = {
    {"accept", "accepts a connection on $1"},
    {"accept4", "accepts a connection on $1"},
    {"bind", "binds a socket to $2"},
    {"chmod", "sets the mode of $1 to $2"},
    {"chown", "gives $1 to user $2 and group $3"},
    {"connect", "connects to $2"},
    {"creat", "creates $1"},
    {"exited", "exits with status $1"},
    {"fallocate", "allocates space of $1"},
    {"fchmod", "sets the mode of $1 to $2"},
    {"fchmodat", "sets the mode of $1 to $2"},
    {"fchown", "gives $1 to user $2 and group $3"},
    {"fchownat", "gives $1 to user $2 and group $3"},
    {"flock", "locks or unlocks $1"},
    {"ftruncate", "cuts $1 to $2 bytes"},
    {"killed", "is killed by signal $1"},
    {"kill", "sends signal $2 to process $1"},
    {"link", "links $1 to $2"},
    {"linkat", "links $1 to $2"},
    {"listen", "listens on $1"},
    {"mkdir", "makes the directory $1"},
    {"mkdirat", "makes the directory $1"},
    {"mknod", "makes the special file $1"},
    {"mknodat", "makes the special file $1"},
    {"open", "opens $1 with $2"},
    {"openat", "opens $1 with $2"},
    {"openat2", "opens $1 with $2"},
    {"pwrite64", "writes $2 to $1"},
    {"pwritev", "writes $2 to $1"},
    {"read", "reads $2 from $1"},
    {"readv", "reads $2 from $1"},
    {"recvfrom", "receives $2 from $1"},
    {"recvmsg", "receives $2 from $1"},
    {"removexattr", "removes the attribute $2 of $1"},
    {"rename", "renames $1 to $2"},
    {"renameat", "renames $1 to $2"},
    {"renameat2", "renames $1 to $2"},
    {"rmdir", "removes the directory $1"},
    {"sendmsg", "sends $2 to $1"},
    {"sendto", "sends $2 to $1"},
    {"setxattr", "sets the attribute $2 of $1"},
    {"shutdown", "shuts $1 down"},
    {"symlink", "makes the symbolic link $2 to $1"},
    {"symlinkat", "makes the symbolic link $2 to $1"},
    {"truncate", "cuts $1 to $2 bytes"},
    {"unlink", "removes $1"},
    {"unlinkat", "removes $1"},
    {"utimensat", "sets the times of $1"},
    {"write", "writes $2 to $1"},
    {"writev", "writes $2 to $1"},
};

static const char *find_phrase(const char *call)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strcmp(phrases[i].call, call) == 0)
            return phrases[i].words;
    return NULL;
}

// False if an argument that the phrase needs is not there.
static bool fits(const char *words, const struct trace_line *line)
{
    for (const char *at = words; (at = strchr(at, '$')) != NULL; at++)
        if ((size_t)(at[1] - '0') > line->argument_count)
            return false;
    return true;
}

static struct error *put_deed(const struct trace_line *line, struct buffer *text)
{
    const char *words = find_phrase(line->call);
    if (words == NULL || !fits(words, line))
        return buffer_printf(text, "calls %s", line->text);
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == '$')
            TRY(buffer_printf(text, "%s", line->arguments[*++at - '1']));
        else
            TRY(buffer_append(text, at, 1));
    }
    return NULL;
}

static struct error *put_change(const struct trace_difference *difference, struct buffer *text)
{
    TRY(put_deed(difference->new, text));
    if (strcmp(difference->old->call, TRACE_EXITED) == 0)
        return buffer_printf(text, ", not %s", difference->old->arguments[0]);
    size_t count = difference->old->argument_count;
    // The first argument is the same; if just one other differs, it says all.
    size_t other = 0, differing = 0;
    if (count != difference->new->argument_count)
        return buffer_printf(text, ", as %s instead of %s", difference->new->text,
                             difference->old->text);
    for (size_t i = 0; i < count; i++)
        if (strcmp(difference->old->arguments[i], difference->new->arguments[i]) != 0)
            differing++, other = i;
    const char *words = find_phrase(difference->new->call);
    char mark[3] = {'$', (char)('1' + other), '\0'};
    if (differing == 1 && words != NULL && strstr(words, mark) != NULL)
        return buffer_printf(text, ", not %s", difference->old->arguments[other]);
    return buffer_printf(text, ", as %s instead of %s", difference->new->text,
                         difference->old->text);
}

static struct error *put_process(const struct trace_difference *difference, bool is_new,
                                 struct buffer *text)
{
    const struct trace_process *process = difference->process;
    TRY(buffer_printf(text, "%s (%s) %s", process->name, process->program,
                      is_new ? "is new" : "is missing"));
    TRY(buffer_printf(text, "; it %s: ", is_new ? "does this" : "did this"));
    for (size_t i = 0; i < process->lines.count && i < 3; i++)
        TRY(buffer_printf(text, "%s%s", i != 0 ? ", " : "", process->lines.items[i].text));
    return process->lines.count > 3
               ? buffer_printf(text, " and %zu more calls", process->lines.count - 3)
               : NULL;
}

static struct error *put_difference(const struct trace_difference *difference, struct buffer *text)
{
    const char *name = difference->process->name;
    switch (difference->change) {
    case TRACE_PROCESS_GONE:
    case TRACE_PROCESS_NEW:
        return put_process(difference, difference->change == TRACE_PROCESS_NEW, text);
    case TRACE_LINE_GONE:
        TRY(buffer_printf(text, "%s no longer ", name));
        return put_deed(difference->old, text);
    case TRACE_LINE_NEW:
        TRY(buffer_printf(text, "%s now also ", name));
        return put_deed(difference->new, text);
    default:
        TRY(buffer_printf(text, "%s ", name));
        return put_change(difference, text);
    }
}

struct error *report_trace_differences(const struct trace_differences *differences,
                                       struct buffer *text)
{
    for (size_t i = 0; i < differences->list.count; i++) {
        TRY(put_difference(&differences->list.items[i], text));
        TRY(buffer_append(text, "\n", 1));
    }
    return NULL;
}

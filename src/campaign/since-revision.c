// SPDX-License-Identifier: GPL-3.0-or-later
// Reads `git diff --function-context`, whose hunks are whole functions.
#include "campaign/since-revision.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_LIMIT (256u << 20)

struct changed_lines {
    char *file; // path
    unsigned first, last;
};
struct changes {
    char *top; // of the working tree
    ARRAY(struct changed_lines) items;
};

static void changes_deinit(struct changes *changes)
{
    for (size_t i = 0; i < changes->items.count; i++)
        free(changes->items.items[i].file);
    ARRAY_DEINIT(&changes->items);
    free(changes->top);
}

static void run_git(const char *const *words, const char *directory, int output)
{
    char *command[16] = {"git", "-C", (char *)directory};
    size_t count = 3;
    while (*words != NULL && count + 1 < sizeof command / sizeof *command)
        command[count++] = (char *)*words++;
    if (dup2(output, STDOUT_FILENO) >= 0)
        execvp(command[0], command);
    _exit(127);
}

// Runs git and collects what it prints. Its messages go to our standard error.
static struct error *ask_git(const char *directory, const char *const *words, struct buffer *text)
{
    int pipes[2], status = 0;
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot run git");
    pid_t process = fork();
    if (process == 0)
        run_git(words, directory, pipes[1]);
    close(pipes[1]);
    struct error *error = process < 0 ? error_from_errno(errno, "cannot run git") : NULL;
    char piece[1 << 14];
    for (ssize_t size = 1; error == NULL && size != 0;) {
        size = read(pipes[0], piece, sizeof piece);
        if (size < 0 && errno != EINTR)
            error = error_from_errno(errno, "cannot read what git says");
        else if (size > 0 && text->size > OUTPUT_LIMIT)
            error = error_new("git says more than %u bytes", OUTPUT_LIMIT);
        else if (size > 0)
            error = buffer_append(text, piece, (size_t)size);
    }
    close(pipes[0]);
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (error == NULL && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        error =
            error_new("--since-rev: 'git %s' failed in %s%s", words[0], directory,
                      WIFEXITED(status) && WEXITSTATUS(status) == 127 ? ": is git installed?" : "");
    return error != NULL ? error : buffer_append(text, "", 0);
}

static struct error *add(struct changes *changes, const char *path, size_t size, unsigned first,
                         unsigned last)
{
    struct changed_lines *lines = ARRAY_ADD(&changes->items);
    if (lines == NULL)
        return error_no_memory();
    *lines = (struct changed_lines){.first = first, .last = last};
    if (asprintf(&lines->file, "%s/%.*s", changes->top, (int)size, path) < 0) {
        lines->file = NULL;
        return error_no_memory();
    }
    return NULL;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end != NULL ? end + 1 : line + strlen(line);
}

// Lines of a hunk may look like anything, so they are counted.
static const char *skip_hunk(const char *line, unsigned before, unsigned after)
{
    for (; *line != '\0' && (before != 0 || after != 0 || *line == '\\'); line = next_line(line)) {
        before -= (*line == ' ' || *line == '-' || *line == '\n') && before != 0;
        after -= (*line == ' ' || *line == '+' || *line == '\n') && after != 0;
    }
    return line;
}

// "@@ -1,2 +3,4 @@": a count of 1 may be left out.
static bool parse_hunk(const char *line, unsigned *before, unsigned *start, unsigned *after)
{
    unsigned old;
    int used = 0;
    *before = *after = 1;
    if (sscanf(line, "@@ -%u,%u%n", &old, before, &used) < 2 &&
        sscanf(line, "@@ -%u%n", &old, &used) < 1)
        return false;
    line += used;
    return sscanf(line, " +%u,%u", start, after) == 2 || sscanf(line, " +%u", start) == 1;
}

static struct error *read_diff(struct changes *changes, const char *text)
{
    const char *path = NULL;
    size_t size = 0;
    while (*text != '\0') {
        unsigned before, start, after;
        if (strncmp(text, "+++ ", 4) == 0) {
            bool known = strncmp(text, "+++ b/", 6) == 0; // not /dev/null, nor quoted
            path = known ? text + 6 : NULL;
            size = known ? strcspn(path, "\t\n") : 0;
        }
        bool hunk = strncmp(text, "@@ ", 3) == 0 && parse_hunk(text, &before, &start, &after);
        text = next_line(text);
        if (!hunk)
            continue;
        if (path != NULL && after != 0)
            TRY(add(changes, path, size, start, start + after - 1));
        text = skip_hunk(text, before, after);
    }
    return NULL;
}

// Files that git does not have yet are new as a whole.
static struct error *read_untracked(struct changes *changes, const struct buffer *list)
{
    for (size_t at = 0; at < list->size;) {
        size_t size = strnlen(list->data + at, list->size - at);
        if (size != 0)
            TRY(add(changes, list->data + at, size, 1, ~0u));
        at += size + 1;
    }
    return NULL;
}

static struct error *look(const char *directory, const char *revision, struct changes *changes)
{
    const char *const top[] = {"rev-parse", "--show-toplevel", NULL};
    const char *const known[] = {"rev-parse",        "--quiet", "--verify",
                                 "--end-of-options", revision,  NULL};
    const char *const diff[] = {"-c",
                                "core.quotePath=false",
                                "diff",
                                "-W",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--no-renames",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                revision,
                                "--",
                                NULL};
    const char *const untracked[] = {"ls-files", "--others", "--exclude-standard", "-z", NULL};
    _cleanup_(buffer_deinit) struct buffer path = {0}, id = {0}, text = {0}, list = {0};
    if (revision[0] == '-')
        return error_new("--since-rev: '%s' is no revision", revision);
    TRY(ask_git(directory, top, &path));
    path.data[strcspn(path.data, "\n")] = '\0';
    changes->top = TAKE(path.data);
    TRY(ask_git(directory, known, &id));
    TRY(ask_git(changes->top, diff, &text));
    TRY(read_diff(changes, text.data));
    TRY(ask_git(changes->top, untracked, &list));
    return read_untracked(changes, &list);
}

// The path of a source file in debug information may be relative to where it was compiled.
static bool is_same_file(const char *changed, const char *file)
{
    if (file[0] == '/')
        return strcmp(changed, file) == 0;
    while (strncmp(file, "./", 2) == 0)
        file += 2;
    size_t size = strlen(changed), wanted = strlen(file);
    return wanted < size && changed[size - wanted - 1] == '/' &&
           strcmp(changed + size - wanted, file) == 0;
}

static bool is_changed(const struct changes *changes, const struct candidate *candidate)
{
    _cleanup_free_ char *real = candidate->file[0] == '/' ? realpath(candidate->file, NULL) : NULL;
    const char *file = real != NULL ? real : candidate->file;
    for (size_t i = 0; i < changes->items.count; i++) {
        const struct changed_lines *lines = &changes->items.items[i];
        if (lines->first <= candidate->line && candidate->line <= lines->last &&
            is_same_file(lines->file, file))
            return true;
    }
    return false;
}

struct error *since_revision_choose(const char *directory, const char *revision,
                                    const struct candidate *candidates, size_t count, bool *chosen,
                                    char **ret_sentence)
{
    _cleanup_(changes_deinit) struct changes changes = {0};
    size_t before = 0, left = 0, unknown = 0;
    TRY(look(directory, revision, &changes));
    for (size_t i = 0; i < count; i++) {
        bool placed = candidates[i].file != NULL && candidates[i].line != 0;
        before += chosen[i];
        unknown += chosen[i] && !placed;
        chosen[i] = chosen[i] && placed && is_changed(&changes, &candidates[i]);
        left += chosen[i];
    }
    if (asprintf(ret_sentence,
                 "only calls in functions that have changed since %s are tried: %zu of %zu "
                 "candidates; of %zu no line is known (build with -g)",
                 revision, left, before, unknown) < 0)
        return error_no_memory();
    return NULL;
}

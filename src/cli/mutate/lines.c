// SPDX-License-Identifier: GPL-3.0-or-later
// Reads ranges of lines. Changed lines come from the hunks of `git diff`.
#include "cli/mutate/lines.h"

#include "base/cleanup.h"
#include "base/shell.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct error *add(struct line_ranges *ranges, const char *file, size_t size, unsigned first,
                         unsigned last)
{
    struct line_range *range = ARRAY_ADD(&ranges->items);
    if (range == NULL)
        return error_no_memory();
    *range = (struct line_range){NULL, first, last};
    if (size == 0)
        return NULL;
    _cleanup_free_ char *name = strndup(file, size);
    if (name == NULL)
        return error_no_memory();
    range->file = realpath(name, NULL);
    if (range->file == NULL)
        range->file = TAKE(name);
    return NULL;
}

static bool read_number(const char **at, unsigned *ret_number)
{
    char *end;
    errno = 0;
    unsigned long number = **at >= '0' && **at <= '9' ? strtoul(*at, &end, 10) : 0;
    if (number == 0 || number > UINT_MAX || errno != 0)
        return false;
    *ret_number = (unsigned)number;
    *at = end;
    return true;
}

struct error *line_ranges_add(struct line_ranges *ranges, const char *text)
{
    const char *colon = strrchr(text, ':'), *at = colon != NULL ? colon + 1 : text;
    unsigned first, last;
    bool good = read_number(&at, &first);
    last = good ? first : 0;
    if (good && *at == '-') {
        at++;
        good = read_number(&at, &last);
    }
    if (!good || *at != '\0' || last < first)
        return error_new("'%s' is no range of lines; FILE:FIRST-LAST is one, or FILE:LINE, or "
                         "FIRST-LAST",
                         text);
    ranges->given = true;
    return add(ranges, text, colon != NULL ? (size_t)(colon - text) : 0, first, last);
}

// "@@ -12,3 +14,2 @@": two lines from line 14.
static struct error *read_hunk(struct line_ranges *ranges, const char *line, const char *file)
{
    const char *plus = strchr(line, '+');
    unsigned first = 0, count = 1;
    if (*file == '\0' || plus == NULL || sscanf(plus, "+%u,%u", &first, &count) < 1 || count == 0)
        return NULL;
    return add(ranges, file, strlen(file), first, first + count - 1);
}

struct error *line_ranges_add_since(struct line_ranges *ranges, const char *revision)
{
    _cleanup_(buffer_deinit) struct buffer command = {0};
    _cleanup_free_ char *line = NULL, *file = strdup("");
    size_t room = 0;
    TRY(buffer_printf(&command,
                      "git -c core.quotePath=false diff --no-ext-diff --no-color --relative -U0 "));
    TRY(shell_put_word(&command, revision));
    TRY(buffer_printf(&command, " --"));
    if (*revision == '-')
        return error_new("'%s' is no revision", revision);
    FILE *pipe = popen(command.data, "re");
    if (pipe == NULL)
        return error_from_errno(errno, "cannot run git");
    ranges->given = true;
    struct error *error = file != NULL ? NULL : error_no_memory();
    for (ssize_t size; error == NULL && (size = getline(&line, &room, pipe)) > 0;) {
        line[size - (line[size - 1] == '\n')] = '\0';
        if (strncmp(line, "+++ ", 4) == 0) {
            free(file);
            file = strdup(strncmp(line + 4, "b/", 2) == 0 ? line + 6 : "");
            error = file != NULL ? NULL : error_no_memory();
        } else if (strncmp(line, "@@ ", 3) == 0) {
            error = read_hunk(ranges, line, file);
        }
    }
    int status = pclose(pipe);
    if (error == NULL && status != 0)
        error = error_new("git does not say what has changed since '%s'", revision);
    return error;
}

bool line_ranges_have(const struct line_ranges *ranges, const char *file, unsigned line)
{
    if (!ranges->given)
        return true;
    _cleanup_free_ char *real = realpath(file, NULL);
    for (size_t i = 0; i < ranges->items.count; i++) {
        const struct line_range *range = &ranges->items.items[i];
        if (line >= range->first && line <= range->last &&
            (range->file == NULL || strcmp(range->file, real != NULL ? real : file) == 0))
            return true;
    }
    return false;
}

void line_ranges_deinit(struct line_ranges *ranges)
{
    for (size_t i = 0; i < ranges->items.count; i++)
        free(ranges->items.items[i].file);
    ARRAY_DEINIT(&ranges->items);
}

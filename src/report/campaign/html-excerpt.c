// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a few lines of source around a finding. The path comes from a store that somebody else may
// have made. Only files that are named like source text are read, so that no page carries secrets
// off a machine.
#include "report/campaign/html.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AROUND       4
#define LARGEST_FILE (4 << 20)
#define LONGEST_LINE 200

static bool looks_like_source(const char *path)
{
    static const char *const endings[] = {
        ".c",   ".h",   ".cc", ".cpp", ".cxx", ".c++", ".C",  ".hh", ".hpp", ".hxx",  ".inc",
        ".ipp", ".tcc", ".s",  ".S",   ".asm", ".rs",  ".go", ".d",  ".m",   ".mm",   ".f",
        ".f90", ".y",   ".l",  ".py",  ".pl",  ".pm",  ".rb", ".sh", ".js",  ".java",
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

// Leaves the buffer empty if the file cannot be read: the page works without an excerpt.
static struct error *read_source(const char *directory, const char *path, struct buffer *source)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    if (path[0] != '/' && directory != NULL)
        TRY(buffer_printf(&name, "%s/", directory));
    TRY(buffer_printf(&name, "%s", path));
    // Without O_NONBLOCK, opening a FIFO could block forever.
    _cleanup_close_ int file = open(name.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0 || !S_ISREG(facts.st_mode) ||
        facts.st_size > LARGEST_FILE)
        return NULL;
    for (;;) {
        char part[16384];
        ssize_t size = read(file, part, sizeof part);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0 || source->size > LARGEST_FILE)
            return NULL;
        TRY(buffer_append(source, part, (size_t)size));
    }
}

static struct error *put_line(struct html_page *page, unsigned number, bool here, const char *line,
                              size_t size)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_append(&text, line, size < LONGEST_LINE ? size : LONGEST_LINE));
    HTML(page, "<span class=\"line%s\"><span class=\"number\">%u</span>", here ? " here" : "",
         number);
    TRY(html_text(page, text.data));
    HTML(page, "\n</span>");
    return NULL;
}

struct error *html_excerpt(struct html_page *page, const char *directory, const char *file,
                           unsigned line)
{
    HTML(page, "<h4>Source</h4><p class=\"place\"><code>");
    TRY(html_text_start(page, file, 500));
    if (line != 0)
        HTML(page, ":%u", line);
    HTML(page, "</code></p>");
    if (line == 0 || !looks_like_source(file))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer source = {0};
    TRY(read_source(directory, file, &source));
    if (source.data == NULL || memchr(source.data, '\0', source.size) != NULL)
        return NULL;
    unsigned number = 1;
    bool open = false;
    for (const char *at = source.data, *end = at + source.size; at < end && number <= line + AROUND;
         number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop != NULL ? stop : end) - at);
        if (number + AROUND >= line) {
            if (!open)
                HTML(page, "<pre class=\"block source\" tabindex=\"0\">");
            open = true;
            TRY(put_line(page, number, number == line, at, size));
        }
        at += size + 1;
    }
    if (open)
        HTML(page, "</pre>\n");
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Reads errors from the sources of manual pages, without formatting them. An error counts if it is
// the tag of a paragraph in section ERRORS, not if the text only mentions it.
#include "profile/man.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MOST_BYTES     (4u << 20)
#define MOST_REDIRECTS 3

void man_close(struct man *man)
{
    for (size_t i = 0; i < man->directories.count; i++)
        free(man->directories.items[i]);
    ARRAY_DEINIT(&man->directories);
}

static struct error *add_directories(struct man *man, const char *list)
{
    while (*list != '\0') {
        size_t size = strcspn(list, ":");
        char *copy = strndup(list, size);
        char **added = copy != NULL ? ARRAY_ADD(&man->directories) : NULL;
        if (added == NULL) {
            free(copy);
            return error_no_memory();
        }
        *added = copy;
        list += size;
        list += *list == ':';
    }
    return NULL;
}

struct error *man_open(unsigned (*number)(const char *name, size_t size), struct man *ret_man)
{
    static const char usual[] = "/usr/local/share/man:/usr/share/man:/usr/local/man";
    const char *list = getenv("MANPATH");
    struct man man = {.number = number};
    struct error *error = add_directories(&man, list != NULL && *list != '\0' ? list : usual);
    if (error != NULL) {
        man_close(&man);
        return error;
    }
    *ret_man = man;
    return NULL;
}

// ---- reading a page ----

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

static bool is_request(const char *line, const char *request)
{
    size_t size = strlen(request);
    return (*line == '.' || *line == '\'') && strncmp(line + 1, request, size) == 0 &&
           !isalnum((unsigned char)line[1 + size]);
}

static bool starts_section(const char *line, const char *title)
{
    if (!is_request(line, "SH") && !is_request(line, "Sh"))
        return false;
    line += 3;
    line += strspn(line, " \t\"");
    return strncmp(line, title, strlen(title)) == 0;
}

static void add_names(const struct man *man, const char *line, struct error_set *errors)
{
    const char *end = line + strcspn(line, "\n");
    for (const char *at = line; at < end;) {
        size_t size = 0;
        while (at + size < end &&
               (isupper((unsigned char)at[size]) || isdigit((unsigned char)at[size])))
            size++;
        if (size > 2 && *at == 'E')
            error_set_add(errors, man->number(at, size));
        at += size != 0 ? size : 1;
        if (size == 0 && at[-1] == '\\' && at < end && *at == 'f') // \fB: the font, no name
            at += at + 1 < end ? 2 : 1;
    }
}

bool man_parse(const struct man *man, const char *page, struct error_set *ret_errors)
{
    struct error_set errors = {0};
    bool inside = false, found = false, tag = false;
    for (const char *line = page; *line != '\0'; line = next_line(line)) {
        if (starts_section(line, "ERRORS")) {
            inside = found = true;
            continue;
        }
        if (starts_section(line, ""))
            inside = false;
        if (!inside || is_request(line, "\\\""))
            continue;
        if (tag || is_request(line, "IP") || is_request(line, "It"))
            add_names(man, line, &errors);
        tag = is_request(line, "TP") || is_request(line, "TQ");
    }
    errors.bits[0] &= ~1ull; // 0 stands for unknown names
    *ret_errors = errors;
    return found;
}

// ---- finding it ----

// Reads a page, compressed or not. The buffer stays empty if there is none.
static struct error *read_page(const char *path, struct buffer *page)
{
    char chunk[16384];
    int size;
    struct stat status;
    struct error *error = NULL;
    page->size = 0;
    // Without O_NONBLOCK, opening a FIFO would block.
    _cleanup_close_ int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) < 0 || !S_ISREG(status.st_mode))
        return NULL;
    gzFile file = gzdopen(descriptor, "rb");
    if (file == NULL)
        return error_no_memory();
    descriptor = -1; // gzclose() closes it
    while (error == NULL && page->size < MOST_BYTES &&
           (size = gzread(file, chunk, sizeof chunk)) > 0)
        error = buffer_append(page, chunk, (size_t)size);
    gzclose(file);
    return error;
}

static struct error *try_page(const char *directory, const char *page_name, struct buffer *page)
{
    static const char *const endings[] = {".gz", ""};
    page->size = 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings && page->size == 0; i++) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s/%s%s", directory, page_name, endings[i]) < 0) {
            path = NULL;
            return error_no_memory();
        }
        TRY(read_page(path, page));
    }
    return NULL;
}

// A page may consist of the name of another one (.so). Reads that instead.
static struct error *follow(const char *directory, struct buffer *page)
{
    for (unsigned i = 0; i < MOST_REDIRECTS && page->size > 4; i++) {
        if (strncmp(page->data, ".so ", 4) != 0)
            return NULL;
        const char *name = page->data + 4;
        size_t size = strcspn(name, " \n");
        if (size == 0 || *name == '/' || memmem(name, size, "..", 2) != NULL)
            return NULL;
        _cleanup_free_ char *copy = strndup(name, size);
        if (copy == NULL)
            return error_no_memory();
        TRY(try_page(directory, copy, page));
    }
    return NULL;
}

struct error *man_errors(const struct man *man, const char *function, struct error_set *ret_errors,
                         bool *ret_found)
{
    static const char *const sections[] = {"2", "3", "3p"};
    _cleanup_(buffer_deinit) struct buffer page = {0};
    *ret_found = false;
    if (*function == '\0' || *function == '.' || strchr(function, '/') != NULL)
        return NULL;
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++)
        for (size_t i = 0; i < man->directories.count && !*ret_found; i++) {
            _cleanup_free_ char *name = NULL;
            if (asprintf(&name, "man%.1s/%s.%s", sections[s], function, sections[s]) < 0) {
                name = NULL;
                return error_no_memory();
            }
            TRY(try_page(man->directories.items[i], name, &page));
            TRY(follow(man->directories.items[i], &page));
            if (page.size != 0 && strlen(page.data) == page.size)
                *ret_found = man_parse(man, page.data, ret_errors);
        }
    return NULL;
}

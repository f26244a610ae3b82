// SPDX-License-Identifier: GPL-3.0-or-later
// Finds and scans the files that sanitizers and valgrind write instead of printing.
#include "oracle/sanitizer-report.h"

#include "base/cleanup.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_FILES 64
#define MOST_BYTES (1u << 20)

void sanitizer_report_paths_deinit(sanitizer_report_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    ARRAY_DEINIT(paths);
}

// Adds the path up to the first '%', which stands for something known at run time only.
static struct error *add_path(sanitizer_report_paths *paths, const char *directory,
                              const char *path, size_t size)
{
    const char *percent = memchr(path, '%', size);
    if (percent != NULL)
        size = (size_t)(percent - path);
    static const char *const none[] = {"stdout", "stderr", "", "/dev/stderr", "/dev/stdout"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (strlen(none[i]) == size && memcmp(none[i], path, size) == 0)
            return NULL;
    char *whole;
    int written = path[0] == '/' ? asprintf(&whole, "%.*s", (int)size, path)
                                 : asprintf(&whole, "%s/%.*s", directory, (int)size, path);
    if (written < 0)
        return error_no_memory();
    char **slot = ARRAY_ADD(paths);
    if (slot == NULL) {
        free(whole);
        return error_no_memory();
    }
    *slot = whole;
    return NULL;
}

// Finds KEY=PATH among the words between `separators`. PATH may be quoted.
static struct error *find_key(sanitizer_report_paths *paths, const char *directory,
                              const char *text, const char *key, const char *separators)
{
    for (const char *at = text; *at != '\0';) {
        at += strspn(at, separators);
        size_t size = strcspn(at, separators);
        if (size > strlen(key) && strncmp(at, key, strlen(key)) == 0) {
            const char *path = at + strlen(key);
            size_t length = size - strlen(key);
            if (length >= 2 && (path[0] == '"' || path[0] == '\'')) {
                path++;
                length -= 2;
            }
            TRY(add_path(paths, directory, path, length));
        }
        at += size;
    }
    return NULL;
}

struct error *sanitizer_report_find_paths(char *const *command, char *const *environment,
                                          const char *directory, sanitizer_report_paths *paths)
{
    static const char *const variables[] = {
        "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=", "TSAN_OPTIONS=", "MSAN_OPTIONS="};
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
        for (size_t v = 0; v < sizeof variables / sizeof *variables; v++)
            if (strncmp(environment[i], variables[v], strlen(variables[v])) == 0)
                TRY(find_key(paths, directory, environment[i] + strlen(variables[v]),
                             "log_path=", ": ,\t\n"));
        if (strncmp(environment[i], "VALGRIND_OPTS=", 14) == 0)
            TRY(find_key(paths, directory, environment[i] + 14, "--log-file=", " \t\n"));
    }
    for (size_t i = 0; command != NULL && command[i] != NULL; i++)
        if (strncmp(command[i], "--log-file=", 11) == 0)
            TRY(add_path(paths, directory, command[i] + 11, strlen(command[i] + 11)));
    return NULL;
}

static void cleanup_glob(glob_t *found)
{
    globfree(found);
}

static bool is_news(const char *path, const struct timespec *since)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
           (facts.st_mtim.tv_sec > since->tv_sec ||
            (facts.st_mtim.tv_sec == since->tv_sec && facts.st_mtim.tv_nsec >= since->tv_nsec));
}

static struct error *put_pattern(struct buffer *pattern, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("*?[\\", *text) != NULL)
            TRY(buffer_append(pattern, "\\", 1));
        TRY(buffer_append(pattern, text, 1));
    }
    return NULL;
}

// Scans the first MOST_BYTES of a file. One that cannot be read has no reports.
static struct error *scan_file(const char *path, struct buffer *list)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    _cleanup_free_ char *text = malloc(MOST_BYTES);
    if (text == NULL)
        return error_no_memory();
    size_t size = fread(text, 1, MOST_BYTES, file);
    return sanitizer_report_scan(text, size, list);
}

struct error *sanitizer_report_scan_files(const sanitizer_report_paths *paths, const char *root,
                                          const struct timespec *since, struct buffer *list)
{
    for (size_t i = 0; i < paths->count; i++) {
        _cleanup_(buffer_deinit) struct buffer pattern = {0};
        _cleanup_(cleanup_glob) glob_t found = {0};
        TRY(put_pattern(&pattern, root));
        TRY(put_pattern(&pattern, paths->items[i]));
        TRY(buffer_append(&pattern, "*", 1));
        if (glob(pattern.data, 0, NULL, &found) != 0)
            continue;
        for (size_t f = 0; f < found.gl_pathc && f < MOST_FILES; f++)
            if (is_news(found.gl_pathv[f], since))
                TRY(scan_file(found.gl_pathv[f], list));
    }
    return NULL;
}

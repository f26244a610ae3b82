// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the directories that targets write line counts to, and runs gcov on the data in the end.
#include "injectors/library/gcov.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/remove.h"
#include "base/shell.h"
#include "base/stale.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "GCOV_PREFIX"
#define PREFIX   "ordeal-gcov-"
static const char *const parts[2] = {"with", "without"}; // by `reference`

static struct error *make_part(struct gcov *gcov, int part)
{
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/%s", gcov->shown, parts[part]) < 0)
        return path = NULL, error_no_memory();
    // Programs of a trial may run as somebody else. Outside of the sandbox, nobody gets here.
    if (mkdir(path, 0777) < 0 || chmod(path, 01777) < 0)
        return error_from_errno(errno, "cannot make %s", path);
    if (asprintf(&gcov->variables[part], VARIABLE "=%s", path) < 0)
        return gcov->variables[part] = NULL, error_no_memory();
    return NULL;
}

struct error *gcov_open(struct gcov *gcov)
{
    const char *temporary = getenv("TMPDIR");
    const char *place = temporary != NULL && temporary[0] == '/' ? temporary : "/tmp";
    char *path = NULL;
    stale_each(place, PREFIX, false, remove_stale);
    if (asprintf(&path, "%s/" PREFIX "%s-XXXXXX", place, stale_owner()) < 0)
        return error_no_memory();
    if (mkdtemp(path) == NULL) {
        struct error *error = error_from_errno(errno, "cannot make %s", path);
        free(path);
        return error;
    }
    gcov->directory = path;
    gcov->owner = getpid();
    if (asprintf(&gcov->shown, "%s/lines", path) < 0)
        return gcov->shown = NULL, error_no_memory();
    if (mkdir(gcov->shown, 0755) < 0 || chmod(gcov->shown, 0755) < 0)
        return error_from_errno(errno, "cannot make %s", gcov->shown);
    TRY(make_part(gcov, 0));
    return make_part(gcov, 1);
}

void gcov_close(struct gcov *gcov)
{
    if (gcov->directory != NULL && gcov->owner == getpid())
        error_free(remove_tree(gcov->directory));
    free(gcov->directory);
    free(gcov->shown);
    free(gcov->variables[0]);
    free(gcov->variables[1]);
    *gcov = (struct gcov){0};
}

struct error *gcov_environment(const struct gcov *gcov, char *const *environment, bool reference,
                               const char ***list, char *const **ret_environment)
{
    size_t count = 0;
    bool given = false;
    for (; environment[count] != NULL; count++)
        given |= environment[count][0] == VARIABLE[0] &&
                 strncmp(environment[count], VARIABLE "=", strlen(VARIABLE) + 1) == 0;
    *ret_environment = environment;
    if (gcov->directory == NULL || given)
        return NULL;
    const char **changed = realloc(*list, (count + 2) * sizeof *changed);
    if (changed == NULL)
        return error_no_memory();
    *list = changed;
    memcpy(changed, environment, count * sizeof *changed);
    changed[count] = gcov->variables[reference];
    changed[count + 1] = NULL;
    *ret_environment = (char *const *)changed;
    return NULL;
}

// ---- reading ----

struct gcov_search { // nftw() passes no pointer on, so this is in a thread-local variable
    ARRAY(char *) found;
    bool failed;
};
static _Thread_local struct gcov_search *search;

static int note_data(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    size_t size = strlen(path);
    if (kind != FTW_F || size < 5 || strcmp(path + size - 5, ".gcda") != 0)
        return 0;
    char *copy = strdup(path), **slot = copy != NULL ? ARRAY_ADD(&search->found) : NULL;
    if (slot == NULL) {
        free(copy);
        search->failed = true;
        return 1;
    }
    *slot = copy;
    return 0;
}

static void gcov_search_deinit(struct gcov_search *item)
{
    for (size_t i = 0; i < item->found.count; i++)
        free(item->found.items[i]);
    ARRAY_DEINIT(&item->found);
}

static void freep_lines(struct gcov_lines **lines)
{
    gcov_lines_free(*lines);
}

// Links the notes file (.gcno) beside the data file, where gcov looks for it. The original is where
// the compiler put it.
static struct error *link_notes(const char *data, size_t prefix)
{
    _cleanup_free_ char *link = strdup(data), *notes = strdup(data + prefix);
    if (link == NULL || notes == NULL)
        return error_no_memory();
    memcpy(link + strlen(link) - 2, "no", 2);
    memcpy(notes + strlen(notes) - 2, "no", 2);
    if (symlink(notes, link) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot link %s", link);
    return NULL;
}

static struct error *run_gcov(const char *data, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer command = {0};
    char piece[4096];
    TRY(buffer_printf(&command, "gcov --stdout "));
    TRY(shell_put_word(&command, data));
    TRY(buffer_printf(&command, " 2>/dev/null </dev/null"));
    FILE *pipe = popen(command.data, "re");
    if (pipe == NULL)
        return error_from_errno(errno, "cannot run gcov");
    struct error *error = NULL;
    for (size_t got; error == NULL && (got = fread(piece, 1, sizeof piece, pipe)) > 0;)
        error = buffer_append(text, piece, got);
    pclose(pipe);
    return error;
}

static struct error *read_part(const struct gcov *gcov, int part, struct gcov_lines *lines)
{
    const char *path = strchr(gcov->variables[part], '=') + 1;
    _cleanup_(gcov_search_deinit) struct gcov_search found = {0};
    search = &found;
    nftw(path, note_data, 32, FTW_PHYS);
    search = NULL;
    if (found.failed)
        return error_no_memory();
    for (size_t i = 0; i < found.found.count; i++) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        TRY(link_notes(found.found.items[i], strlen(path)));
        TRY(run_gcov(found.found.items[i], &text));
        if (text.size != 0)
            TRY(gcov_lines_add(lines, text.data, part == 1));
    }
    return NULL;
}

struct saving {
    struct store *store;
    int64_t campaign;
};

static struct error *save_file(void *data, const char *name, uint64_t lines, uint64_t before,
                               uint64_t after)
{
    const struct saving *saving = data;
    struct store_lines row = {.campaign = saving->campaign,
                              .file = name,
                              .lines = lines,
                              .before = before,
                              .after = after};
    return store_add_lines(saving->store, &row);
}

struct error *gcov_save(const struct gcov *gcov, struct store *store, int64_t campaign)
{
    _cleanup_(freep_lines) struct gcov_lines *lines = NULL;
    if (gcov->directory == NULL)
        return NULL;
    TRY(gcov_lines_new(&lines));
    TRY(read_part(gcov, 1, lines));
    TRY(read_part(gcov, 0, lines));
    struct saving saving = {store, campaign};
    return gcov_lines_each(lines, save_file, &saving);
}

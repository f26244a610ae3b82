// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the working directory before and after a run, and keeps the place for its copies.
#include "sandbox/working-copy.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/remove.h"
#include "base/stale.h"
#include "base/timeouts.h"
#include "sandbox/changes.h"
#include "sandbox/copy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPIES "ordeal-copy-"

// Takes the listing after the last run for the next one, if that follows at once.
static bool reuse_listing(struct working_copy *copy)
{
    uint64_t taken_ns = copy->after_ns;
    copy->after_ns = 0;
    if (taken_ns == 0 || clock_ns() - taken_ns > LISTING_FRESH_NS)
        return false;
    listing_deinit(&copy->before);
    copy->before = copy->after;
    copy->after = (struct listing){0};
    return true;
}

static struct error *list_before(struct sandbox *sandbox)
{
    struct working_copy *copy = &sandbox->copy;
    struct listing now;
    if (reuse_listing(copy))
        return NULL;
    struct error *error = listing_take(sandbox->directory, &copy->before, false, &now);
    if (error != NULL) {
        struct error *warned = NULL;
        if (copy->listed || copy->before.entries.count == 0)
            warned = sandbox_warn(sandbox, "changes of files are not looked at: %s",
                                  error_message(error));
        copy->listed = false;
        error_free(error);
        return warned;
    }
    listing_deinit(&copy->before);
    copy->before = now;
    copy->listed = true;
    return NULL;
}

struct report {
    struct sandbox *sandbox;
    const char *const *ignored;
    struct error *(*change)(void *, const struct sandbox_change *);
    void *data;
};

static struct error *report_entry(const struct report *report, const struct listing_entry *entry,
                                  bool deleted)
{
    const struct sandbox *sandbox = report->sandbox;
    _cleanup_(buffer_deinit) struct buffer path = {0}, open = {0};
    const char *slash = strcmp(sandbox->directory, "/") == 0 ? "" : "/";
    TRY(buffer_printf(&path, "%s%s%s", sandbox->directory, slash, entry->path));
    if (change_ignored(path.data, sandbox->directory, report->ignored))
        return NULL;
    const char *directory = sandbox->copy.path != NULL ? sandbox->copy.path : sandbox->directory;
    TRY(buffer_printf(&open, "%s%s%s", directory, slash, entry->path));
    struct sandbox_change change = {.path = path.data, .kind = SANDBOX_DELETED};
    if (!deleted) {
        change.kind = change_kind(entry->mode);
        change.size = entry->size;
        change.hash = entry->hash;
        change.mode = entry->mode & 07777;
        change.open = S_ISREG(entry->mode) && access(open.data, R_OK) == 0 ? open.data : NULL;
    }
    return report->change(report->data, &change);
}

// Whether the directory of a deleted file is gone as well: then only the directory is listed.
static bool parent_gone(const struct listing *before, const struct listing *after, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    char *parent = strndup(path, (size_t)(slash - path));
    const struct listing_entry *now = parent == NULL ? NULL : listing_find(after, parent);
    bool gone = now == NULL || !S_ISDIR(now->mode);
    free(parent);
    return gone;
}

static struct error *compare(const struct report *report, const struct listing *before,
                             const struct listing *after)
{
    size_t i = 0, j = 0;
    while (i < before->entries.count || j < after->entries.count) {
        const struct listing_entry *old =
            i < before->entries.count ? &before->entries.items[i] : NULL;
        const struct listing_entry *new =
            j < after->entries.count ? &after->entries.items[j] : NULL;
        int order = old == NULL ? 1 : new == NULL ? -1 : strcmp(old->path, new->path);
        if (order < 0 && !parent_gone(before, after, old->path))
            TRY(report_entry(report, old, true));
        if (order > 0 || (order == 0 && !listing_same(old, new)))
            TRY(report_entry(report, new, false));
        i += order <= 0;
        j += order >= 0;
    }
    return NULL;
}

struct error *
working_copy_each_change(struct sandbox *sandbox, const char *const *ignored,
                         struct error *(*change)(void *, const struct sandbox_change *), void *data)
{
    struct working_copy *copy = &sandbox->copy;
    if (!copy->listed)
        return NULL;
    struct listing after;
    bool copied = copy->path != NULL;
    TRY(listing_take(copied ? copy->path : sandbox->directory, &copy->before, copied, &after));
    struct report report = {sandbox, ignored, change, data};
    struct error *error = compare(&report, &copy->before, &after);
    listing_deinit(&copy->after);
    copy->after = after;
    copy->after_ns = sandbox->direct.over && !copied ? clock_ns() : 0;
    return error;
}

static const char *place_of_copies(void)
{
    const char *place = getenv("TMPDIR");
    return place != NULL && place[0] == '/' ? place : "/tmp";
}

struct error *working_copy_open(struct sandbox *sandbox)
{
    struct working_copy *copy = &sandbox->copy;
    stale_each(place_of_copies(), COPIES, false, remove_stale);
    if (asprintf(&copy->place, "%s/" COPIES "%s-XXXXXX", place_of_copies(), stale_owner()) < 0) {
        copy->place = NULL;
        return error_no_memory();
    }
    if (mkdtemp(copy->place) == NULL) {
        struct error *error = error_from_errno(errno, "cannot make a directory %s", copy->place);
        free(TAKE(copy->place));
        return error;
    }
    if (asprintf(&copy->path, "%s/directory", copy->place) < 0) {
        copy->path = NULL;
        return error_no_memory();
    }
    if (path_below(copy->place, sandbox->directory))
        return error_new("%s holds the place for copies, %s; set TMPDIR to another directory",
                         sandbox->directory, copy->place);
    return NULL;
}

void working_copy_close(struct sandbox *sandbox)
{
    struct working_copy *copy = &sandbox->copy;
    if (copy->place != NULL && sandbox->owner == getpid())
        error_free(remove_tree(copy->place));
    free(copy->place);
    free(copy->path);
    listing_deinit(&copy->before);
    listing_deinit(&copy->after);
    *copy = (struct working_copy){0};
}

struct error *working_copy_begin(struct sandbox *sandbox)
{
    TRY(list_before(sandbox));
    return sandbox->copy.path == NULL ? NULL : copy_tree(sandbox->directory, sandbox->copy.path);
}

void working_copy_end(struct sandbox *sandbox)
{
    if (sandbox->copy.path != NULL)
        error_free(remove_tree(sandbox->copy.path));
}

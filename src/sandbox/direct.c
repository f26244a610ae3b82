// SPDX-License-Identifier: GPL-3.0-or-later
// The direct backend: steps are children of this very process, which adopts what they leave behind
// and tells them from its other children. For the working directory itself (NONE) or a copy of it
// (COPY).
#include "sandbox/changes.h"
#include "sandbox/copy.h"
#include "sandbox/groups.h"
#include "sandbox/internal.h"
#include "sandbox/keeper.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/remove.h"
#include "base/stale.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COPIES "ordeal-copy-"

static struct error *spare(struct direct *direct, pid_t pid)
{
    pid_t *place = ARRAY_ADD(&direct->spared);
    if (place == NULL)
        return error_no_memory();
    *place = pid;
    return NULL;
}

static bool is_spared(const struct direct *direct, pid_t pid)
{
    for (size_t i = 0; i < direct->spared.count; i++)
        if (direct->spared.items[i] == pid)
            return true;
    return false;
}

// Notes the children that are there before the run: they belong to somebody else.
static struct error *find_others(struct direct *direct)
{
    siginfo_t info;
    direct->spared.count = 0;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD) {
        direct->others = 0;
        return NULL;
    }
    TRY(processes_children(&direct->spared));
    direct->others = direct->spared.count;
    return NULL;
}

// Takes the listing after the last run for the next one, if that follows at once.
static bool reuse_listing(struct direct *direct)
{
    uint64_t taken_ns = direct->after_ns;
    direct->after_ns = 0;
    if (taken_ns == 0 || clock_ns() - taken_ns > LISTING_FRESH_NS)
        return false;
    listing_deinit(&direct->before);
    direct->before = direct->after;
    direct->after = (struct listing){0};
    return true;
}

static struct error *list_before(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    struct listing now;
    if (reuse_listing(direct))
        return NULL;
    struct error *error = listing_take(sandbox->directory, &direct->before, false, &now);
    if (error != NULL) {
        struct error *warned = NULL;
        if (direct->listed || sandbox->direct.before.entries.count == 0)
            warned = sandbox_warn(sandbox, "changes of files are not looked at: %s",
                                  error_message(error));
        direct->listed = false;
        error_free(error);
        return warned;
    }
    listing_deinit(&direct->before);
    direct->before = now;
    direct->listed = true;
    return NULL;
}

static struct error *direct_begin(struct sandbox *sandbox, const struct sandbox_step *steps,
                                  size_t count, const char *const *visible)
{
    struct direct *direct = &sandbox->direct;
    direct->handle = direct->keeper = -1;
    direct->begun = direct->over = false;
    TRY(find_others(direct));
    direct->begun = true;
    if (!direct->was_reaper && prctl(PR_GET_CHILD_SUBREAPER, &direct->was_reaper) < 0)
        direct->was_reaper = 0;
    if (!direct->was_reaper && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_from_errno(errno, "cannot adopt the processes of a trial");
    TRY(list_before(sandbox));
    if (sandbox->kind == SANDBOX_COPY)
        TRY(copy_tree(sandbox->directory, direct->copy));
    return NULL;
}

static void forget_command(struct direct *direct)
{
    if (direct->handle >= 0)
        close(direct->handle);
    if (direct->keeper >= 0)
        close(direct->keeper);
    direct->handle = direct->keeper = -1;
    direct->command = 0;
}

static struct error *direct_start(struct sandbox *sandbox, struct spawn *spawn, bool linger,
                                  pid_t *ret_pid)
{
    struct direct *direct = &sandbox->direct;
    forget_command(direct);
    direct->over = false;
    spawn->mortal = true;
    spawn->directory = direct->copy != NULL ? direct->copy : sandbox->directory;
    spawn->groups = groups_descriptors(sandbox->groups);
    if (linger) {
        pid_t keeper = 0;
        struct error *error = keeper_start(spawn, &keeper, &direct->keeper, &direct->command);
        if (keeper != 0) {
            struct error *spared = spare(direct, keeper);
            error = error == NULL ? spared : (error_free(spared), error);
        }
        TRY(error);
    } else {
        TRY(spawn_start(spawn, &direct->command, &direct->handle));
    }
    *ret_pid = direct->command;
    return NULL;
}

static int direct_descriptor(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    return direct->keeper >= 0 ? direct->keeper : direct->handle;
}

enum reaped {
    REAPED_ONE,
    REAPED_NONE, // all live
    NO_CHILDREN,
};

static enum reaped reap_one(struct direct *direct, pid_t pid, struct progress *progress)
{
    int status;
    struct rusage usage;
    pid_t got;
    do
        got = wait4(pid, &status, WNOHANG, &usage);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got == 0 ? REAPED_NONE : NO_CHILDREN;
    if (progress == NULL)
        return REAPED_ONE;
    progress_count(progress, &usage);
    if (got == direct->command) {
        progress->command_gone = true;
        progress->status = status;
    } else {
        progress_note_orphan_signal(progress, status);
    }
    return REAPED_ONE;
}

// Reaps what has ended. *ret_left: the step has processes left.
static struct error *reap(struct direct *direct, struct progress *progress, bool *ret_left)
{
    if (direct->spared.count == 0) {
        enum reaped reaped;
        while ((reaped = reap_one(direct, -1, progress)) == REAPED_ONE)
            ;
        *ret_left = reaped == REAPED_NONE;
        return NULL;
    }
    pid_list children = {0};
    struct error *error = processes_children(&children);
    bool left = false;
    for (size_t i = 0; i < children.count; i++)
        if (!is_spared(direct, children.items[i]))
            left |= reap_one(direct, children.items[i], progress) != REAPED_ONE;
    ARRAY_DEINIT(&children);
    *ret_left = left;
    return error;
}

static struct error *direct_news(struct sandbox *sandbox, struct progress *progress)
{
    struct direct *direct = &sandbox->direct;
    if (direct->keeper >= 0) {
        struct pollfd watched = {direct->keeper, POLLIN, 0};
        if (poll(&watched, 1, 0) > 0) {
            TRY(keeper_news(direct->keeper, progress));
            progress->step_gone = true;
            forget_command(direct);
        }
        return NULL;
    }
    if (!progress->command_gone && reap_one(direct, direct->command, progress) != REAPED_ONE)
        return NULL;
    bool left;
    TRY(reap(direct, progress, &left));
    progress->step_gone = !left;
    forget_command(direct); // no descriptor tells of the others: we have to ask
    return NULL;
}

static struct error *kill_but(struct direct *direct, struct progress *progress)
{
    uint64_t deadline_ns = clock_ns() + KILL_WAIT_NS;
    for (;;) {
        size_t count = 0, refused = 0;
        TRY(processes_signal(SIGKILL, &direct->spared, &count, &refused));
        bool left;
        TRY(reap(direct, progress, &left));
        if (!left && count == 0)
            return NULL;
        if ((count != 0 && refused == count) || clock_ns() > deadline_ns)
            return error_new("%zu processes of the trial cannot be killed", count);
        if (left)
            clock_sleep(KILL_PAUSE_NS);
    }
}

static struct error *direct_kill_step(struct sandbox *sandbox, struct progress *progress)
{
    struct direct *direct = &sandbox->direct;
    if (direct->keeper >= 0) { // what the keeper keeps is the step
        direct->spared.count--;
        forget_command(direct);
    }
    return kill_but(direct, progress);
}

static struct error *direct_kill_all(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (direct->over)
        return NULL;
    forget_command(direct);
    direct->spared.count = direct->others;
    bool left;
    TRY(reap(direct, NULL, &left)); // nearly always none is left
    if (left)
        TRY(kill_but(direct, NULL));
    direct->over = true;
    return NULL;
}

static void direct_end(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (!direct->begun) // nothing was started, and we do not know whose the children are
        return;
    error_free(direct_kill_all(sandbox));
    if (!direct->was_reaper)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (direct->copy != NULL)
        error_free(remove_tree(direct->copy));
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
    const char *directory =
        sandbox->direct.copy != NULL ? sandbox->direct.copy : sandbox->directory;
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

static struct error *
direct_each_change(struct sandbox *sandbox, const char *const *ignored,
                   struct error *(*change)(void *, const struct sandbox_change *), void *data)
{
    struct direct *direct = &sandbox->direct;
    if (!direct->listed)
        return NULL;
    struct listing after;
    bool copied = direct->copy != NULL;
    TRY(listing_take(copied ? direct->copy : sandbox->directory, &direct->before, copied, &after));
    struct report report = {sandbox, ignored, change, data};
    struct error *error = compare(&report, &direct->before, &after);
    listing_deinit(&direct->after);
    direct->after = after;
    direct->after_ns = direct->over && !copied ? clock_ns() : 0;
    return error;
}

static const char *place_of_copies(void)
{
    const char *place = getenv("TMPDIR");
    return place != NULL && place[0] == '/' ? place : "/tmp";
}

struct error *direct_open(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (sandbox->kind != SANDBOX_COPY)
        return NULL;
    stale_each(place_of_copies(), COPIES, false, remove_stale);
    if (asprintf(&direct->copies, "%s/" COPIES "%s-XXXXXX", place_of_copies(), stale_owner()) < 0) {
        direct->copies = NULL;
        return error_no_memory();
    }
    if (mkdtemp(direct->copies) == NULL) {
        struct error *error = error_from_errno(errno, "cannot make a directory %s", direct->copies);
        free(TAKE(direct->copies));
        return error;
    }
    if (asprintf(&direct->copy, "%s/directory", direct->copies) < 0) {
        direct->copy = NULL;
        return error_no_memory();
    }
    if (path_below(direct->copies, sandbox->directory))
        return error_new("%s holds the place for copies, %s; set TMPDIR to another directory",
                         sandbox->directory, direct->copies);
    return NULL;
}

void direct_close(struct sandbox *sandbox)
{
    struct direct *direct = &sandbox->direct;
    if (direct->copies != NULL && sandbox->owner == getpid())
        error_free(remove_tree(direct->copies));
    free(direct->copies);
    free(direct->copy);
    ARRAY_DEINIT(&direct->spared);
    listing_deinit(&direct->before);
    listing_deinit(&direct->after);
}

const struct backend direct_backend = {
    .begin = direct_begin,
    .end = direct_end,
    .start = direct_start,
    .descriptor = direct_descriptor,
    .news = direct_news,
    .kill_step = direct_kill_step,
    .kill_all = direct_kill_all,
    .each_change = direct_each_change,
};

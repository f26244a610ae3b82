// SPDX-License-Identifier: GPL-3.0-or-later
// Adopts, ends and reaps the processes that killed job slots leave behind.
#include "engine/orphans.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

void orphans_adopt(struct orphans *orphans)
{
    if (prctl(PR_GET_CHILD_SUBREAPER, &orphans->were_adopted) < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return;
    struct error *error = processes_children(&orphans->children);
    orphans->known = error == NULL;
    if (error != NULL)
        prctl(PR_SET_CHILD_SUBREAPER, orphans->were_adopted);
    error_free(error);
}

void orphans_disown(struct orphans *orphans)
{
    if (orphans->known && orphans->were_adopted == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    ARRAY_DEINIT(&orphans->children);
    *orphans = (struct orphans){0};
}

static bool has(const pid_list *list, pid_t pid)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == pid)
            return true;
    return false;
}

static struct error *list_all_spared(const struct orphans *orphans, const pid_list *spared,
                                     pid_list *ret_all)
{
    const pid_list *const lists[] = {&orphans->children, spared};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < lists[i]->count; j++) {
            pid_t *pid = ARRAY_ADD(ret_all);
            if (pid == NULL)
                return error_no_memory();
            *pid = lists[i]->items[j];
        }
    return NULL;
}

// Kills and reaps once. *ret_left: there may be more. Whoever is not reaped yet may still have
// files and ports: the threads of a process end one after the other.
static struct error *kill_and_reap(const pid_list *spared, bool *ret_left)
{
    size_t count = 0, refused = 0, waiting = 0;
    pid_list now = {0};
    *ret_left = false;
    struct error *error = processes_signal(SIGKILL, spared, &count, &refused);
    if (error == NULL)
        error = processes_children(&now);
    for (size_t i = 0; i < now.count; i++)
        if (!has(spared, now.items[i]))
            waiting += waitpid(now.items[i], NULL, WNOHANG) != now.items[i];
    ARRAY_DEINIT(&now);
    *ret_left = error == NULL && (count > refused || waiting > refused);
    return error;
}

void orphans_end(const struct orphans *orphans, const pid_list *spared)
{
    if (!orphans->known)
        return;
    pid_list all = {0};
    uint64_t deadline_ns = clock_ns() + SLOT_FAREWELL_WAIT_NS;
    struct error *error = list_all_spared(orphans, spared, &all);
    for (bool left = true; error == NULL && left && clock_ns() < deadline_ns;) {
        error = kill_and_reap(&all, &left);
        if (left)
            clock_sleep(KILL_PAUSE_NS);
    }
    error_free(error);
    ARRAY_DEINIT(&all);
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses libraries in several threads. A library is begun when all libraries it needs are done.
// Then its thread only reads what belongs to others, and only the list of jobs has to be locked. If
// libraries need each other in a cycle, one of them is analysed while nothing else runs.
#include "profile/batch.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "profile/library-internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE };
struct job {
    uint32_t module;
    uint32_t item; // index, or FLOW_NONE if it is only needed by others
    uint32_t left; // libraries it needs that are not done
    uint64_t size; // of its file; large ones come first
    enum job_state state;
};

struct work {
    const struct batch *batch;
    struct batch_item *items;
    struct profile_set *set;
    ARRAY(struct job) jobs;
    size_t running, done;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

void batch_item_deinit(struct batch_item *item)
{
    profile_deinit(&item->profile);
    error_free(TAKE(item->error));
}

static void work_deinit(struct work *work)
{
    profile_set_free(work->set);
    ARRAY_DEINIT(&work->jobs);
    pthread_mutex_destroy(&work->lock);
    pthread_cond_destroy(&work->changed);
}

// ---- one library ----

static struct error *look_up(struct work *work, struct batch_item *item, bool *ret_found)
{
    _cleanup_(buffer_deinit) struct buffer key = {0};
    *ret_found = false;
    if (work->batch->cache == NULL)
        return NULL;
    TRY(profile_cache_key(work->batch->cache, work->set, item->module, &key));
    return profile_cache_load(work->batch->cache, &key, item->path, &item->profile, ret_found);
}

static struct error *keep(struct work *work, const struct batch_item *item)
{
    _cleanup_(buffer_deinit) struct buffer key = {0};
    if (work->batch->cache == NULL || (work->batch->incomplete != NULL &&
                                       __atomic_load_n(work->batch->incomplete, __ATOMIC_ACQUIRE)))
        return NULL;
    TRY(profile_cache_key(work->batch->cache, work->set, item->module, &key));
    // If the cache cannot be written, go on without.
    error_free(profile_cache_store(work->batch->cache, &key, &item->profile));
    return NULL;
}

static struct error *make_item(struct work *work, struct batch_item *item)
{
    TRY(profile_set_analyse(work->set, item->module));
    TRY(profile_make(work->set, item->module, &item->profile));
    TRY(profile_set_check(work->set));
    char *path = strdup(item->path); // the library may have been opened under another name
    if (path == NULL)
        return error_no_memory();
    free(item->profile.path);
    item->profile.path = path;
    return keep(work, item);
}

static void do_job(struct work *work, const struct job *job)
{
    if (job->item == FLOW_NONE) {
        profile_set_note(work->set, profile_set_analyse(work->set, job->module));
    } else {
        struct batch_item *item = &work->items[job->item];
        item->error = make_item(work, item);
    }
    profile_set_release(work->set, job->module);
}

// ---- what to do next ----

static struct job *choose(struct work *work)
{
    struct job *best = NULL, *nearest = NULL;
    for (size_t i = 0; i < work->jobs.count; i++) {
        struct job *job = &work->jobs.items[i];
        if (job->state != JOB_WAITING)
            continue;
        if (job->left == 0 && (best == NULL || job->size > best->size))
            best = job;
        if (nearest == NULL || job->left < nearest->left)
            nearest = job;
    }
    return best != NULL || work->running != 0 ? best : nearest;
}

static bool needs(const struct work *work, const struct job *job, uint32_t module)
{
    const struct module *needing = &work->set->modules.items[job->module];
    for (size_t i = 0; i < needing->scope.count; i++)
        if (needing->scope.items[i] == module)
            return true;
    return false;
}

static void finish(struct work *work, struct job *job)
{
    job->state = JOB_DONE;
    work->running--;
    work->done++;
    for (size_t i = 0; i < work->jobs.count; i++)
        if (work->jobs.items[i].state == JOB_WAITING &&
            needs(work, &work->jobs.items[i], job->module))
            work->jobs.items[i].left--;
    pthread_cond_broadcast(&work->changed);
}

static void *labour(void *data)
{
    struct work *work = data;
    pthread_mutex_lock(&work->lock);
    while (work->done + work->running < work->jobs.count) {
        struct job *job = choose(work);
        if (job == NULL) {
            pthread_cond_wait(&work->changed, &work->lock);
            continue;
        }
        job->state = JOB_RUNNING;
        work->running++;
        pthread_mutex_unlock(&work->lock);
        do_job(work, job);
        pthread_mutex_lock(&work->lock);
        finish(work, job);
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

// ---- the list ----

static struct job *find_job(struct work *work, size_t module)
{
    for (size_t i = 0; i < work->jobs.count; i++)
        if (work->jobs.items[i].module == module)
            return &work->jobs.items[i];
    return NULL;
}

static struct error *add_job(struct work *work, size_t module, size_t item)
{
    struct job *job = find_job(work, module);
    if (job == NULL) {
        struct stat status;
        job = ARRAY_ADD(&work->jobs);
        if (job == NULL)
            return error_no_memory();
        *job = (struct job){.module = (uint32_t)module, .item = FLOW_NONE};
        if (stat(work->set->modules.items[module].path, &status) == 0)
            job->size = (uint64_t)status.st_size;
    }
    if (item != FLOW_NONE && job->item == FLOW_NONE)
        job->item = (uint32_t)item;
    return NULL;
}

// Adds a job for a library and for each library it needs.
static struct error *add_jobs(struct work *work, size_t module, size_t item)
{
    TRY(add_job(work, module, item));
    for (size_t i = 0; i < work->set->modules.items[module].scope.count; i++) {
        size_t other = work->set->modules.items[module].scope.items[i];
        TRY(module_find_scope(work->set, other));
        TRY(add_job(work, other, FLOW_NONE));
    }
    return NULL;
}

static struct error *count_left(struct work *work)
{
    for (size_t i = 0; i < work->jobs.count; i++) {
        struct job *job = &work->jobs.items[i];
        const struct module *module = &work->set->modules.items[job->module];
        for (size_t j = 0; j < module->scope.count; j++)
            job->left += module->scope.items[j] != job->module &&
                         find_job(work, module->scope.items[j]) != NULL;
    }
    return NULL;
}

static struct error *start(struct work *work)
{
    unsigned count =
        work->batch->jobs < work->jobs.count ? work->batch->jobs : (unsigned)work->jobs.count;
    pthread_t threads[64];
    unsigned started = 0;
    if (count > 64)
        count = 64;
    while (started + 1 < count) {
        _cleanup_error_ struct error *error = thread_start(&threads[started], labour, work);
        if (error != NULL)
            break; // go on with fewer threads
        started++;
    }
    labour(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return NULL;
}

// ---- the whole ----

// Every library stays open until the end, so many files are needed.
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static struct error *add_items(struct work *work, size_t count, size_t *ret_open)
{
    for (size_t i = 0; i < count; i++) {
        struct batch_item *item = &work->items[i];
        bool found = false;
        item->error = profile_set_add(work->set, item->path, &item->module);
        if (item->error == NULL)
            item->error = look_up(work, item, &found);
        if (item->error != NULL || found)
            continue;
        item->profile.cached = false;
        *ret_open = i;
        TRY(add_jobs(work, item->module, i));
    }
    return NULL;
}

// A file that is given under two names is analysed once; the other item gets a copy.
static struct error *copy_duplicates(struct work *work, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct batch_item *item = &work->items[i];
        if (item->error != NULL || item->profile.path != NULL)
            continue;
        const struct batch_item *original = &work->items[find_job(work, item->module)->item];
        if (original->error != NULL)
            item->error = error_new("%s", error_message(original->error));
        else
            TRY(profile_copy(&original->profile, item->path, &item->profile));
    }
    return NULL;
}

struct error *profile_batch(const struct batch *batch, struct batch_item *items, size_t count)
{
    _cleanup_(work_deinit) struct work work = {.batch = batch,
                                               .items = items,
                                               .lock = PTHREAD_MUTEX_INITIALIZER,
                                               .changed = PTHREAD_COND_INITIALIZER};
    size_t open = 0;
    raise_file_limit();
    TRY(profile_set_new(&batch->options, &work.set));
    TRY(error_sets_share(&work.set->sets));
    TRY(add_items(&work, count, &open));
    if (count == 1 &&
        work.jobs.count != 0) // one library uses only some functions of those it needs
        items[open].error = make_item(&work, &items[open]);
    else {
        TRY(count_left(&work));
        TRY(start(&work));
    }
    return copy_duplicates(&work, count);
}

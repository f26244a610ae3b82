// SPDX-License-Identifier: GPL-3.0-or-later
// Answers targets' questions in two threads: reading a large program's debug information may take
// seconds, and a remote question should not wait for it. Both threads sleep on the same futex word.
#include "trial/resolver.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"
#include "scenario/resolve.h"
#include "trial/remote.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

struct worker {
    struct resolver *owner;
    void (*serve)(struct resolver *resolver);
    pthread_t thread;
    bool running;
};

struct resolver {
    struct region *region;
    const struct scenario *scenario;
    const char *root;
    const struct path_mapping *mapping;
    struct remote *remote;
    atomic_bool stopping;
    struct worker modules, remotes;
    // Only the thread for modules uses these while it runs.
    size_t answered;                       // modules
    bool *queries_found, *variables_found; // by number: found in some module
};

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void publish(uint32_t *state, uint32_t value)
{
    __atomic_store_n(state, value, __ATOMIC_RELEASE);
    wake(state);
}

static void note_found(struct resolver *resolver, const struct buffer *bytes)
{
    const struct wire_resolution *answer = (const struct wire_resolution *)bytes->data;
    const struct wire_range *ranges = (const struct wire_range *)(answer + 1);
    const struct wire_location *locations =
        (const struct wire_location *)(ranges + answer->range_count);
    for (uint32_t i = 0; i < answer->range_count; i++)
        resolver->queries_found[ranges[i].query] = true;
    for (uint32_t i = 0; i < answer->location_count; i++)
        resolver->variables_found[locations[i].variable] = true;
    resolver->answered++;
}

bool resolver_found_query(const struct resolver *resolver, size_t query)
{
    return resolver->answered == 0 || resolver->queries_found[query];
}

bool resolver_found_variable(const struct resolver *resolver, size_t variable)
{
    return resolver->answered == 0 || resolver->variables_found[variable];
}

static void answer_module(struct resolver *resolver, struct wire_module *module)
{
    char path[WIRE_MODULE_PATH];
    memcpy(path, module->path, sizeof path);
    path[sizeof path - 1] = '\0';
    _cleanup_(buffer_deinit) struct buffer bytes = {0};
    uint64_t offset = 0;
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s%s", path[0] == '/' ? resolver->root : "", path);
    path_mapping_apply(resolver->mapping, path, sizeof path);
    struct error *error = resolve_module(resolver->scenario, path, file, &bytes);
    if (error == NULL)
        note_found(resolver, &bytes);
    if (error == NULL)
        error = region_arena_put(resolver->region, bytes.data, bytes.size, &offset);
    if (error == NULL)
        module->resolution = offset;
    // The target writes a note that names the module.
    publish(&module->state, error == NULL ? WIRE_MODULE_RESOLVED : WIRE_MODULE_FAILED);
    error_free(error);
}

static void serve_modules(struct resolver *resolver)
{
    const struct region *region = resolver->region;
    struct wire_module *modules =
        (struct wire_module *)((char *)region->map + region->layout.modules);
    for (uint32_t i = 0; i < WIRE_MODULES; i++)
        if (load(&modules[i].state) == WIRE_MODULE_WANTED)
            answer_module(resolver, &modules[i]);
}

static void serve_remotes(struct resolver *resolver)
{
    const struct region *region = resolver->region;
    struct wire_remote *remotes =
        (struct wire_remote *)((char *)region->map + region->layout.remotes);
    for (uint32_t i = 0; i < WIRE_REMOTES; i++) {
        if (load(&remotes[i].state) != WIRE_REMOTE_ASKED)
            continue;
        remotes[i].answer = remote_ask(resolver->remote, &remotes[i]);
        publish(&remotes[i].state, WIRE_REMOTE_ANSWERED);
    }
}

static void *work(void *data)
{
    struct worker *worker = data;
    struct resolver *resolver = worker->owner;
    uint32_t *requests = &resolver->region->map->requests;
    uint32_t passed_on = load(requests);
    while (!resolver->stopping) {
        uint32_t seen = load(requests);
        // A target wakes one thread, and the question may be for the other one.
        if (seen != passed_on)
            wake(requests);
        passed_on = seen;
        worker->serve(resolver);
        const struct timespec pause = clock_timespec(RESOLVER_PAUSE_NS);
        if (syscall(SYS_futex, requests, FUTEX_WAIT, seen, &pause, NULL, 0) < 0 &&
            errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
            clock_sleep(RESOLVER_ERROR_PAUSE_NS);
    }
    return NULL;
}

bool resolver_needed(const struct wire_plan *plan)
{
    return plan->query_count != 0 || plan->variable_count != 0 || (plan->uses & WIRE_USE_REMOTE);
}

static struct error *worker_start(struct worker *worker, struct resolver *owner,
                                  void (*serve)(struct resolver *))
{
    worker->owner = owner;
    worker->serve = serve;
    TRY(thread_start(&worker->thread, work, worker));
    worker->running = true;
    return NULL;
}

struct error *resolver_start(const struct resolver_options *options, struct resolver **ret_resolver)
{
    struct resolver *resolver = calloc(1, sizeof *resolver);
    if (resolver == NULL)
        return error_no_memory();
    resolver->region = options->region;
    resolver->scenario = options->scenario;
    static const struct path_mapping nothing;
    resolver->root = options->root != NULL ? options->root : "";
    resolver->mapping = options->mapping != NULL ? options->mapping : &nothing;
    const struct wire_plan *plan = region_plan(options->region);
    struct error *error = NULL;
    resolver->queries_found = calloc(plan->query_count + 1, sizeof(bool));
    resolver->variables_found = calloc(plan->variable_count + 1, sizeof(bool));
    if (resolver->queries_found == NULL || resolver->variables_found == NULL)
        error = error_no_memory();
    if (error == NULL && (plan->query_count != 0 || plan->variable_count != 0))
        error = worker_start(&resolver->modules, resolver, serve_modules);
    if (error == NULL && plan->uses & WIRE_USE_REMOTE)
        error = remote_new(options->coordinator, options->node, options->region, &resolver->remote);
    if (error == NULL && plan->uses & WIRE_USE_REMOTE)
        error = worker_start(&resolver->remotes, resolver, serve_remotes);
    if (error != NULL) {
        resolver_free(resolver);
        return error;
    }
    *ret_resolver = resolver;
    return NULL;
}

void resolver_stop(struct resolver *resolver)
{
    if (resolver == NULL)
        return;
    resolver->stopping = true;
    uint32_t *requests = &resolver->region->map->requests;
    __atomic_add_fetch(requests, 1, __ATOMIC_RELEASE);
    wake(requests);
    if (resolver->modules.running)
        pthread_join(resolver->modules.thread, NULL);
    if (resolver->remotes.running)
        pthread_join(resolver->remotes.thread, NULL);
    resolver->modules.running = resolver->remotes.running = false;
}

void resolver_free(struct resolver *resolver)
{
    if (resolver == NULL)
        return;
    resolver_stop(resolver);
    remote_free(resolver->remote);
    free(resolver->queries_found);
    free(resolver->variables_found);
    free(resolver);
}

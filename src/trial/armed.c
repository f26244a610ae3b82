// SPDX-License-Identifier: GPL-3.0-or-later
// See armed.h. A region is used again for the next trial, since making a file costs about as much
// as running a small program; only where a process of the last trial may still write to it is it
// left behind.
#include "trial/armed.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "trial/forking.h"
#include "trial/program.h"
#include "trial/region.h"
#include "trial/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct armed {
    pid_t owner; // a forked child must leave its parent's region alone
    char *runtime, *preload, *root;
    char *command; // whose program is:
    struct region_program program;
    struct moved moved;
    char **environment;
    struct region region;
    struct region_copy copy; // of the region, if processes are left over that may write to it
    struct resolver *resolver;
    struct forking *forking;
    struct buffer plan;
    const struct scenario *scenario;
    const char *coordinator, *node;
    bool forks;
    bool ended, shared; // the last trial is over; somebody still maps its region
};

struct error *armed_new(struct armed **ret_armed)
{
    struct armed *armed = calloc(1, sizeof *armed);
    if (armed == NULL)
        return error_no_memory();
    armed->owner = getpid();
    armed->region.file = -1;
    struct error *error = program_runtime(&armed->runtime);
    if (error != NULL) {
        armed_free(armed);
        return error;
    }
    *ret_armed = armed;
    return NULL;
}

static void drop_region(struct armed *armed)
{
    if (armed->owner != getpid())
        region_forget(&armed->region);
    else
        region_close(&armed->region);
    armed->owner = getpid();
}

static void drop_results(struct armed *armed)
{
    if (armed->owner == getpid()) { // threads do not survive a fork
        resolver_free(armed->resolver);
        forking_free(armed->forking);
    }
    armed->resolver = NULL;
    armed->forking = NULL;
    region_copy_close(&armed->copy);
    program_environment_free(&armed->environment);
    armed->environment = NULL;
    free(TAKE(armed->preload));
    free(TAKE(armed->root));
    free(TAKE(armed->moved.from));
    free(TAKE(armed->moved.to));
    buffer_deinit(&armed->plan);
}

void armed_free(struct armed *armed)
{
    if (armed == NULL)
        return;
    drop_results(armed);
    drop_region(armed);
    program_forget(&armed->program);
    free(armed->command);
    free(armed->runtime);
    free(armed);
}

static struct error *prepare_region(struct armed *armed, const struct armed_options *options)
{
    const struct region_options place = {
        .journal_path = options->journal_path,
        .plan = armed->plan.data,
        .plan_size = armed->plan.size,
        .preload = armed->preload,
        .command = options->command,
        .journal_records = options->journal_records,
        .options = (options->catch_crashes ? WIRE_CATCH_CRASHES : 0u) |
                   (options->record_calls || options->record_stacks ? WIRE_RECORD_CALLS : 0u) |
                   (options->record_stacks ? WIRE_RECORD_STACKS : 0u) |
                   (options->forks ? WIRE_FORKS : 0u),
        .coverage = options->coverage,
        .program = &armed->program,
        .whole = !options->hurried,
    };
    bool renewable = armed->owner == getpid() && armed->region.map != NULL &&
                     options->journal_path == NULL && armed->region.directory != NULL &&
                     !armed->region.cut &&
                     !(armed->ended ? armed->shared : region_is_shared(&armed->region));
    armed->ended = false;
    struct error *error = renewable ? region_renew(&armed->region, &place) : NULL;
    if (renewable && error == NULL)
        return NULL;
    error_free(error); // a new one may be luckier
    drop_region(armed);
    return region_create(&place, &armed->region);
}

// Looked up once: a file that is another one by now is told by its fingerprint.
static struct error *foresee(struct armed *armed, const struct armed_options *options)
{
    const char *command = options->command[0];
    if (armed->command != NULL && strcmp(armed->command, command) == 0)
        return NULL;
    program_forget(&armed->program);
    free(armed->command);
    armed->command = strdup(command);
    if (armed->command == NULL)
        return error_no_memory();
    if (options->program != NULL) {
        armed->program = *options->program;
        *options->program = (struct region_program){0};
    } else {
        armed->program = program_foresee(command);
    }
    return NULL;
}

struct error *armed_prepare(struct armed *armed, const struct armed_options *options)
{
    drop_results(armed);
    armed->scenario = options->scenario;
    armed->coordinator = options->coordinator;
    armed->node = options->node;
    armed->forks = options->forks;
    TRY(scenario_compile(options->scenario, options->seed, &armed->plan));
    TRY(program_preload(options->scenario, armed->runtime, options->environment, &armed->preload));
    TRY(foresee(armed, options));
    TRY(prepare_region(armed, options));
    return program_environment(options->environment, armed->preload, armed->region.path,
                               &armed->environment);
}

char *const *armed_environment(const struct armed *armed)
{
    return armed->environment;
}

const char *armed_file(const struct armed *armed)
{
    return armed->region.path;
}

uint64_t armed_rules(const struct armed *armed)
{
    return armed->region.layout.rules;
}

uint64_t armed_plan_hash(const struct armed *armed)
{
    return wire_fingerprint(armed->plan.data, armed->plan.size);
}

struct region *armed_region(struct armed *armed)
{
    return &armed->region;
}

const struct resolver *armed_resolver(const struct armed *armed)
{
    return armed->resolver;
}

struct forking *armed_forking(const struct armed *armed)
{
    return armed->forking;
}

struct error *armed_moved(struct armed *armed, const char *from, const char *to)
{
    free(armed->moved.from);
    free(armed->moved.to);
    armed->moved = (struct moved){.from = strdup(from), .to = strdup(to)};
    return armed->moved.from != NULL && armed->moved.to != NULL ? NULL : error_no_memory();
}

struct error *armed_begin(struct armed *armed, const char *root)
{
    free(armed->root);
    armed->root = strdup(root);
    if (armed->root == NULL)
        return error_no_memory();
    if (resolver_needed(region_plan(&armed->region))) {
        const struct resolver_options answers = {.region = &armed->region,
                                                 .scenario = armed->scenario,
                                                 .coordinator = armed->coordinator,
                                                 .node = armed->node,
                                                 .root = armed->root,
                                                 .moved = &armed->moved};
        TRY(resolver_start(&answers, &armed->resolver));
    }
    region_start(&armed->region, clock_ns());
    return armed->forks ? forking_start(&armed->region, &armed->forking) : NULL;
}

// Nobody but us changes these by now: targets are gone or wait.
static void rename_modules(const struct moved *moved, const struct wire_view *view)
{
    struct wire_module *modules = (struct wire_module *)view->modules;
    for (size_t i = 0; moved->from != NULL && i < WIRE_MODULES; i++) {
        modules[i].path[sizeof modules[i].path - 1] = '\0';
        moved_rename(moved, modules[i].path, sizeof modules[i].path);
    }
}

struct error *armed_end(struct armed *armed, struct wire_view *ret_view)
{
    struct region *region = &armed->region;
    resolver_stop(armed->resolver);
    forking_free(TAKE(armed->forking));
    armed->shared = region_is_shared(region);
    armed->ended = true;
    region_mend(region);
    if (region->cut)
        return error_new("the target cut %s short, in which it is noted what happens to it",
                         region->path);
    if (armed->shared) {
        TRY(region_copy_take(region, &armed->copy));
        *ret_view = armed->copy.view;
    } else {
        region_restore(region, region->map);
        TRY(region_check(region->map, region->layout.arena, region->path, ret_view));
    }
    rename_modules(&armed->moved, ret_view);
    return NULL;
}

struct error *armed_end_branch(struct armed *armed, struct wire_view *ret_view)
{
    TRY(forking_view(armed->forking, ret_view));
    rename_modules(&armed->moved, ret_view);
    return NULL;
}

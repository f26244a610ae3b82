// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares the region and the environment of one trial after the other. The next trial uses the
// same region again, since making a file costs about as much as running a small program. It gets a
// new one only if a process of the last trial may still write to the old one.
#include "trial/runtime-session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "trial/cover-file.h"
#include "trial/forking.h"
#include "trial/program.h"
#include "trial/region.h"
#include "trial/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct runtime_session {
    pid_t owner; // a forked child must leave its parent's region alone
    char *runtime, *preload, *root;
    char *command;                 // that was prepared last
    struct region_program program; // what it executes
    struct path_mapping mapping;
    char **environment;
    struct region region;
    const struct cover_file *coverage; // or NULL
    struct cover_copy copied;          // of it, for targets
    struct region_copy copy; // of the region, if processes that are left over may write to it
    struct resolver *resolver;
    struct forking *forking;
    struct buffer plan;
    const struct scenario *scenario;
    const char *coordinator, *node;
    bool forks;
    bool ended, shared; // the last trial has ended; another process still mapped its region then
};

struct error *runtime_session_new(struct runtime_session **ret_session)
{
    struct runtime_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return error_no_memory();
    session->owner = getpid();
    session->region.file = -1;
    struct error *error = program_runtime(&session->runtime);
    if (error != NULL) {
        runtime_session_free(session);
        return error;
    }
    *ret_session = session;
    return NULL;
}

static void drop_region(struct runtime_session *session)
{
    if (session->owner != getpid())
        region_forget(&session->region);
    else
        region_close(&session->region);
    session->owner = getpid();
}

static void drop_results(struct runtime_session *session)
{
    if (session->owner == getpid()) { // threads do not survive a fork
        resolver_free(session->resolver);
        forking_free(session->forking);
    }
    session->resolver = NULL;
    session->forking = NULL;
    region_copy_close(&session->copy);
    program_environment_free(&session->environment);
    session->environment = NULL;
    free(TAKE(session->preload));
    free(TAKE(session->root));
    free(TAKE(session->mapping.from));
    free(TAKE(session->mapping.to));
    buffer_deinit(&session->plan);
}

void runtime_session_free(struct runtime_session *session)
{
    if (session == NULL)
        return;
    drop_results(session);
    drop_region(session);
    cover_copy_close(&session->copied);
    region_program_deinit(&session->program);
    free(session->command);
    free(session->runtime);
    free(session);
}

static struct error *prepare_region(struct runtime_session *session,
                                    const struct runtime_session_options *options)
{
    const struct region_options place = {
        .journal_path = options->journal_path,
        .plan = session->plan.data,
        .plan_size = session->plan.size,
        .preload = session->preload,
        .command = options->command,
        .journal_records = options->journal_records,
        .options = (options->catch_crashes ? WIRE_CATCH_CRASHES : 0u) |
                   (options->record_calls || options->record_stacks ? WIRE_RECORD_CALLS : 0u) |
                   (options->record_stacks ? WIRE_RECORD_STACKS : 0u) |
                   (options->record_inside ? WIRE_RECORD_INSIDE : 0u) |
                   (options->forks ? WIRE_FORKS : 0u),
        .coverage = options->coverage != NULL ? session->copied.path : NULL,
        .marks = options->coverage != NULL ? cover_file_marks(options->coverage) : 0,
        .stops = options->coverage != NULL ? cover_file_stops(options->coverage) : 0,
        .program = &session->program,
        .whole = !options->hurried,
    };
    bool renewable = session->owner == getpid() && session->region.map != NULL &&
                     options->journal_path == NULL && session->region.directory != NULL &&
                     !session->region.cut &&
                     !(session->ended ? session->shared : region_is_shared(&session->region));
    session->ended = false;
    struct error *error = renewable ? region_renew(&session->region, &place) : NULL;
    if (renewable && error == NULL)
        return NULL;
    error_free(error); // a new region may work
    drop_region(session);
    return region_create(&place, &session->region);
}

// Looks the program up once for each command. If the file is replaced later, targets notice that by
// its fingerprint.
static struct error *find_program(struct runtime_session *session,
                                  const struct runtime_session_options *options)
{
    const char *command = options->command[0];
    if (session->command != NULL && strcmp(session->command, command) == 0)
        return NULL;
    region_program_deinit(&session->program);
    free(session->command);
    session->command = strdup(command);
    if (session->command == NULL)
        return error_no_memory();
    if (options->program != NULL) {
        session->program = *options->program;
        *options->program = (struct region_program){0};
    } else {
        session->program = program_identify(command);
    }
    return NULL;
}

struct error *runtime_session_prepare(struct runtime_session *session,
                                      const struct runtime_session_options *options)
{
    drop_results(session);
    session->scenario = options->scenario;
    session->coordinator = options->coordinator;
    session->node = options->node;
    session->forks = options->forks;
    TRY(scenario_compile(options->scenario, options->seed, &session->plan));
    TRY(program_preload(options->scenario, session->runtime, options->environment,
                        &session->preload));
    TRY(find_program(session, options));
    session->coverage = options->coverage;
    if (options->coverage != NULL)
        TRY(cover_copy_make(&session->copied));
    TRY(prepare_region(session, options));
    return program_environment(options->environment, session->preload, session->region.path,
                               &session->environment);
}

char *const *runtime_session_environment(const struct runtime_session *session)
{
    return session->environment;
}

const char *runtime_session_file(const struct runtime_session *session)
{
    return session->region.path;
}

const char *runtime_session_coverage(const struct runtime_session *session)
{
    return session->coverage != NULL ? session->copied.path : NULL;
}

uint64_t runtime_session_rules(const struct runtime_session *session)
{
    return session->region.layout.rules;
}

uint64_t runtime_session_plan_hash(const struct runtime_session *session)
{
    return wire_fingerprint(session->plan.data, session->plan.size);
}

struct region *runtime_session_region(struct runtime_session *session)
{
    return &session->region;
}

const struct resolver *runtime_session_resolver(const struct runtime_session *session)
{
    return session->resolver;
}

struct forking *runtime_session_forking(const struct runtime_session *session)
{
    return session->forking;
}

struct error *runtime_session_map_path(struct runtime_session *session, const char *from,
                                       const char *to)
{
    free(session->mapping.from);
    free(session->mapping.to);
    session->mapping = (struct path_mapping){.from = strdup(from), .to = strdup(to)};
    return session->mapping.from != NULL && session->mapping.to != NULL ? NULL : error_no_memory();
}

struct error *runtime_session_begin(struct runtime_session *session, const char *root)
{
    free(session->root);
    session->root = strdup(root);
    if (session->root == NULL)
        return error_no_memory();
    if (resolver_needed(region_plan(&session->region))) {
        const struct resolver_options answers = {.region = &session->region,
                                                 .scenario = session->scenario,
                                                 .coordinator = session->coordinator,
                                                 .node = session->node,
                                                 .root = session->root,
                                                 .mapping = &session->mapping};
        TRY(resolver_start(&answers, &session->resolver));
    }
    if (session->coverage != NULL)
        TRY(cover_copy_write(&session->copied, session->coverage));
    region_start(&session->region, clock_ns());
    return session->forks ? forking_start(&session->region, &session->forking) : NULL;
}

// Gives modules the paths that the user knows. Nobody else writes to them now: targets have ended
// or wait, or the view is of a copy.
static void rename_modules(const struct path_mapping *mapping, const struct wire_view *view)
{
    struct wire_module *modules = (struct wire_module *)view->modules;
    for (size_t i = 0; mapping->from != NULL && i < WIRE_MODULES; i++) {
        modules[i].path[sizeof modules[i].path - 1] = '\0';
        path_mapping_apply(mapping, modules[i].path, sizeof modules[i].path);
    }
}

struct error *runtime_session_end(struct runtime_session *session, struct wire_view *ret_view)
{
    struct region *region = &session->region;
    resolver_stop(session->resolver);
    forking_free(TAKE(session->forking));
    session->shared = region_is_shared(region);
    session->ended = true;
    region_mend(region);
    if (region->cut)
        return error_new("the target cut %s short, in which it is noted what happens to it",
                         region->path);
    if (session->shared) {
        TRY(region_copy_take(region, &session->copy));
        *ret_view = session->copy.view;
    } else {
        region_restore(region, region->map);
        if (region->layout.counts != 0)
            region_add_counts(region->map, region->layout.arena,
                              (struct wire_counts *)((char *)region->map + region->layout.counts));
        TRY(region_check(region->map, region->layout.arena, region->path, ret_view));
    }
    rename_modules(&session->mapping, ret_view);
    return NULL;
}

struct error *runtime_session_end_branch(struct runtime_session *session,
                                         struct wire_view *ret_view)
{
    TRY(forking_view(session->forking, ret_view));
    rename_modules(&session->mapping, ret_view);
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command with the runtime, which patches modules when they are loaded, as in campaigns. So
// it also works for libraries, which are not loaded yet when a program starts.
#include "mutate/run/run.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "trial/runtime-session.h"

#include <unistd.h>

static void freep_session(struct runtime_session **session)
{
    runtime_session_free(*session);
}
static void freep_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

static struct error *run_with(const struct ir_run *run, const struct cover_file *file,
                              int *ret_status)
{
    _cleanup_(freep_session) struct runtime_session *session = NULL;
    _cleanup_(freep_scenario) struct scenario *nothing = NULL;
    struct wire_view view;
    TRY(scenario_new(&nothing));
    TRY(runtime_session_new(&session));
    const struct runtime_session_options options = {.scenario = nothing,
                                                    .command = run->command,
                                                    .environment = environ,
                                                    .catch_crashes = true, // installs handlers
                                                    .coverage = file};
    TRY(runtime_session_prepare(session, &options));
    TRY(runtime_session_begin(session, ""));
    int status = 0;
    const struct child child = {.command = run->command,
                                .environment = runtime_session_environment(session),
                                .silent = run->silent};
    struct error *error = child_run(&child, &status);
    struct error *other = runtime_session_end(session, &view);
    if (error == NULL)
        error = other;
    else
        error_free(other);
    if (error == NULL && (view.damage != WIRE_DAMAGE_NONE ||
                          !cover_file_add(file, view.marks, view.region->mark_count, 1)))
        error = error_new("%s damaged the shared memory in which it is noted what is executed",
                          run->command[0]);
    if (error == NULL)
        *ret_status = child_exit_status(status);
    return error;
}

static bool is_loaded(const struct ir_program *program, const struct cover_file *file)
{
    for (size_t i = 0; i <= program->others.count; i++)
        if (cover_file_loaded(file, i))
            return true;
    return false;
}

static struct error *run_blocks(const struct ir_run *run, struct ir_program *program,
                                const struct ir_blocks *blocks, struct cover_file *file,
                                int *ret_status)
{
    const struct ir_part part = {program, blocks};
    TRY(ir_file_create(&part, 1, file));
    struct error *error = run_with(run, file, ret_status);
    if (error == NULL && !is_loaded(program, file))
        error = error_new("%s does not load %s, or is statically linked; nothing was switched on",
                          run->command[0], program->path);
    if (error != NULL)
        cover_file_close(file);
    return error;
}

struct error *ir_run_profile(const struct ir_run *run, struct ir_program *program, int *ret_status)
{
    _cleanup_(ir_blocks_deinit) struct ir_blocks blocks = {0};
    struct cover_file file;
    TRY(ir_blocks_of_all(&program->image, &blocks));
    TRY(run_blocks(run, program, &blocks, &file, ret_status));
    for (size_t i = 0; i < blocks.items.count; i++)
        if (cover_file_reached(&file, i) != 0)
            ir_program_mark_executed(program, &blocks.items.items[i]);
    cover_file_close(&file);
    return NULL;
}

struct error *ir_run_faulty(const struct ir_run *run, struct ir_program *program,
                            const size_t *candidates, size_t count, int *ret_status)
{
    _cleanup_(ir_blocks_deinit) struct ir_blocks blocks = {0};
    struct cover_file file;
    TRY(ir_blocks_of_faults(&program->image, candidates, count, &blocks));
    TRY(run_blocks(run, program, &blocks, &file, ret_status));
    cover_file_close(&file);
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// See ir-run.h. The runtime does the work, as in campaigns; so it works in libraries, which are not
// loaded yet when a program starts.
#include "campaign/ir-run.h"

#include "base/cleanup.h"
#include "campaign/ir-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127

static void freep_armed(struct armed **armed)
{
    armed_free(*armed);
}
static void freep_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

_Noreturn static void become(const struct ir_run *run, char *const *environment)
{
    if (run->silent) {
        int nothing = open("/dev/null", O_WRONLY);
        if (nothing >= 0)
            dup2(nothing, STDOUT_FILENO);
    }
    execvpe(run->command[0], run->command, environment);
    _exit(CANNOT_START);
}

static struct error *start_and_wait(const struct ir_run *run, char *const *environment,
                                    int *ret_status)
{
    pid_t process = fork();
    int status;
    if (process < 0)
        return error_from_errno(errno, "cannot start %s", run->command[0]);
    if (process == 0)
        become(run, environment);
    void (*before)(int) = signal(SIGINT, SIG_IGN); // the command's to decide
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return error_from_errno(errno, "cannot wait for the command");
    signal(SIGINT, before);
    *ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return *ret_status != CANNOT_START ? NULL : error_new("cannot start %s", run->command[0]);
}

static struct error *run_with(const struct ir_run *run, const struct cover_file *file,
                              int *ret_status)
{
    _cleanup_(freep_armed) struct armed *armed = NULL;
    _cleanup_(freep_scenario) struct scenario *nothing = NULL;
    struct wire_view view;
    TRY(scenario_new(&nothing));
    TRY(armed_new(&armed));
    const struct armed_options options = {.scenario = nothing,
                                          .command = run->command,
                                          .environment = environ,
                                          .catch_crashes = true, // has the handlers
                                          .coverage = file->path};
    TRY(armed_prepare(armed, &options));
    TRY(armed_begin(armed, ""));
    struct error *error = start_and_wait(run, armed_environment(armed), ret_status);
    struct error *other = armed_end(armed, &view);
    if (error == NULL)
        error = other;
    else
        error_free(other);
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
    TRY(ir_file_create(program, blocks, file));
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
            ir_take_block(program, &blocks.items.items[i]);
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

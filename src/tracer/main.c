// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal-tracer FILE COMMAND [ARGUMENT]...: runs a command with the rules of a trial's region, or
// with the fault of a state file. Started by Ordeal only. Linked statically, so that what is
// preloaded into the command is not preloaded here. Ends as the command has ended.
#include "tracer/state.h"
#include "tracer/tracer.h"

#include "base/cleanup.h"
#include "wire/check.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct error *map_region(const char *path, struct trial_state *state)
{
    _cleanup_close_ int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0)
        return error_from_errno(errno, "cannot open the region %s", path);
    size_t size = (size_t)facts.st_size;
    void *map = size < sizeof(struct wire_region)
                    ? MAP_FAILED
                    : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map the region %s", path);
    struct wire_region *region = state->region = map;
    state->region_size = size;
    if (region->magic != WIRE_REGION_MAGIC || region->version != WIRE_VERSION ||
        region->plan >= size)
        return error_new("%s is no region of this version", path);
    state->plan = (const struct wire_plan *)((const char *)map + region->plan);
    if (wire_plan_check(state->plan, size - region->plan) != WIRE_CHECK_OK)
        return error_new("%s: its plan is damaged", path);
    const char *plan = (const char *)state->plan;
    state->rules = (const struct wire_rule *)(plan + state->plan->rules.offset);
    state->code = (const struct wire_instruction *)(plan + state->plan->code.offset);
    state->states = (struct wire_rule_state *)((char *)map + region->rules);
    return NULL;
}

static struct error *run_state(char **arguments, struct state_trial *trial, int *ret_status)
{
    struct tracer_handlers handlers = state_handlers;
    handlers.data = trial;
    if (trial->file->fault.moment_ns != 0)
        handlers.exits = state_exits;
    _cleanup_free_ unsigned char *stops = NULL;
    TRY(state_stops(trial, &stops));
    const struct tracer_options options = {
        .command = arguments + 2,
        .environment = environ,
        .stops = stops,
        .handlers = &handlers,
        .fixed_addresses = true}; // what a wrong address leads to depends on them
    return tracer_run(&options, ret_status);
}

static struct error *run(char **arguments, int *ret_status)
{
    _cleanup_(state_close) struct state_trial trial = {0};
    bool is_state;
    TRY(state_open(arguments[1], &trial, &is_state));
    if (is_state)
        return run_state(arguments, &trial, ret_status);
    _cleanup_(rules_release) struct trial_state state = {0};
    TRY(map_region(arguments[1], &state));
    elf_version(EV_CURRENT);
    TRY(rules_prepare(&state));
    struct tracer_handlers handlers = rules_handlers;
    handlers.data = &state;
    const struct tracer_options options = {.command = arguments + 2,
                                           .environment = environ,
                                           .stops = state.stops,
                                           .handlers = &handlers};
    return tracer_run(&options, ret_status);
}

// Dies of the same signal; the core file, if there is one, is the command's.
static int end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    signal(WTERMSIG(status), SIG_DFL);
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int main(int count, char **arguments)
{
    int status = 0;
    if (count < 3) {
        fprintf(stderr, "ordeal-tracer: started by Ordeal only\n");
        return 2;
    }
    struct error *error = run(arguments, &status);
    if (error == NULL)
        return end_like(status);
    fprintf(stderr, "ordeal: %s\n", error_message(error));
    error_free(error);
    return 127;
}

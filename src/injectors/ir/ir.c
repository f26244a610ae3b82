// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `ir`: switches on software faults that `ordeal cc` has put into a program or
// library, one or several per trial. The runtime does that in the memory of every process that
// loads the file; the files do not change. The first reference run executes the twins of all
// functions, without faults, and notes which blocks are executed.
#include "base/cleanup.h"
#include "injectors/ir/internal.h"
#include "trial/debug.h"

#include <stdlib.h>
#include <string.h>

static const struct injector_parameter parameters[] = {
    {"binaries", "FILE...", "programs and libraries with faults inside (auto)", false, true},
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"files", "GLOB...", "in these source files only", false, true},
    {"blocks", "executed|all",
     "only in code that the workload executes without faults, or in all (executed)", false, false},
    {"faults", "N", "so many faults in every trial, at most 16 (1)", false, false},
    {0},
};

#define AUTOMATIC "auto"

static void close_ir(void *data)
{
    struct ir *self = data;
    if (self == NULL)
        return;
    ir_shot_forget(self);
    runtime_session_free(self->session);
    scenario_free(self->no_rules);
    journal_reader_free(self->reader);
    ir_programs_deinit(&self->programs);
    free(self);
}

static struct error *find_programs(struct ir *self)
{
    const struct words *named = parameters_words(self->setup.parameters, "binaries");
    if (self->found)
        return NULL;
    if (named != NULL && named->count == 1 && strcmp(named->items[0], AUTOMATIC) == 0)
        named = NULL;
    TRY(ir_programs_find(self->setup.directory, self->setup.command, named, &self->programs));
    self->found = true;
    return NULL;
}

static struct error *read_faults_per_trial(struct ir *self)
{
    const struct parameter *parameter = parameters_find(self->setup.parameters, "faults");
    self->faults_per_trial = 1;
    if (parameter == NULL)
        return NULL;
    char *end;
    const char *text = parameter->values.items[0];
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > IR_MOST_FAULTS)
        return parameters_error(parameter, "'faults' takes a number from 1 to %d, not '%s'",
                                IR_MOST_FAULTS, text);
    self->faults_per_trial = number;
    return NULL;
}

static struct error *fill(struct ir *self)
{
    TRY(read_faults_per_trial(self));
    TRY(scenario_new(&self->no_rules));
    return journal_reader_new(&self->reader);
}

static struct error *open_ir(const struct injector_setup *setup, void **ret_self)
{
    struct ir *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    return injector_opened(fill(self), self, close_ir, ret_self);
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct ir *self = data;
    ir_shot_forget(self);
    TRY(find_programs(self));
    if (self->session == NULL)
        TRY(runtime_session_new(&self->session));
    bool may_profile = self->surveying || !self->setup.compares_behaviour;
    self->profiles = shot->spec == NULL && !self->profiled && may_profile;
    if (shot->spec != NULL || self->profiles || self->setup.compares_code)
        TRY(ir_shot_prepare(self, shot->spec));
    const struct runtime_session_options options = {
        .scenario = self->no_rules,
        .seed = shot->seed,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .coverage = self->has_file ? &self->file : NULL,
    };
    TRY(runtime_session_prepare(self->session, &options));
    self->visible[0] = runtime_session_file(self->session);
    self->visible[1] = runtime_session_coverage(self->session);
    shot->use_environment = runtime_session_environment(self->session);
    shot->visible = self->visible;
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    struct ir *self = data;
    if (self->has_file)
        cover_file_map_path(&self->file, from, to);
    return runtime_session_map_path(self->session, from, to);
}

static struct error *begin(void *data, const char *root)
{
    struct ir *self = data;
    return runtime_session_begin(self->session, root);
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct ir *self = data;
    struct wire_view view;
    TRY(journal_reader_end_session(self->reader, self->session, root, self->no_rules, &view,
                                   observation));
    if (self->has_file && observation->damage == WIRE_DAMAGE_NONE &&
        !cover_file_add(&self->file, view.marks, view.region->mark_count, 1))
        observation->damage = WIRE_DAMAGE_MARK;
    if (observation->damage != WIRE_DAMAGE_NONE)
        return self->profiles ? journal_reader_damage_error() : NULL;
    if (self->profiles)
        ir_shot_take_profile(self);
    return self->has_file ? ir_shot_take_hits(self, observation) : NULL;
}

static struct error *debug_command(void *data, const struct shot *shot, const char *input,
                                   bool batch, char ***ret_arguments, char ***ret_environment)
{
    const struct ir *self = data;
    const struct debug_options options = {
        .command = shot->command, .input = input, .batch = batch, .software_fault = true};
    return debug_words(self->session, &options, ret_arguments, ret_environment);
}

// Says how often the fault was hit, in all processes together.
static struct error *describe_stored(const struct store_injection *row, struct buffer *text)
{
    TRY(buffer_printf(text, "%s, hit %llu time%s", row->fault != NULL ? row->fault : "?",
                      (unsigned long long)row->occurrence, row->occurrence == 1 ? "" : "s"));
    if (row->symbol != NULL)
        TRY(buffer_printf(text, ", in %s", row->symbol));
    if (row->file != NULL)
        TRY(buffer_printf(text, " at %s:%u", row->file, row->line));
    return row->module != NULL ? buffer_printf(text, " (%s)", row->module) : NULL;
}

// What is executed is found out in the first reference run, unless it counts how long that takes.
static bool survey(void *data)
{
    struct ir *self = data;
    self->surveying = self->setup.compares_behaviour && !self->profiled;
    return self->surveying;
}

static const struct injector_debugger debugger = {.words = debug_command};
static const struct injector_stored stored = {.describe = describe_stored};

const struct injector injector_ir = {
    .name = "ir",
    .summary = "switches on software faults that 'ordeal cc' has put in",
    .parameters = parameters,
    .open = open_ir,
    .close = close_ir,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .survey = survey,
    .candidates = ir_candidates,
    .remarks = ir_remarks,
    .servers = true,
    .debugger = &debugger,
    .stored = &stored,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `syscall`: makes system calls fail, of programs of any kind. Between the sandbox and
// the command stands Ordeal's tracer (src/tracer). Reference runs record which calls are made from
// where; a candidate is a place and a fault, and its spec is a rule as in --inject.
#include "base/cleanup.h"
#include "injector/fault-text.h"
#include "injector/spec.h"
#include "injectors/syscall/internal.h"
#include "scenario/rule.h"
#include "scenario/tables.h"
#include "store/spec.h"
#include "trial/program.h"
#include "trial/system-call-rules.h"

#include <stdlib.h>
#include <string.h>

#define AUTOMATIC "auto" // as the only fault: faults are chosen

static const struct injector_parameter parameters[] = {
    {"faults", "SPEC...",
     "CALL=-1/ERRNO, and other actions of ordeal-scenario(5); calls may be globs; auto: whatever "
     "of what is called can really fail",
     true, true},
    {"at", "occurrence|site|stack",
     "what a candidate is: every single call, every place that calls, or every distinct call stack "
     "(occurrence)",
     false, false},
    {"mode", "transient|persistent", "fail once, or from then on (transient)", false, false},
    {"functions", "GLOB...", "of automatic faults: of these calls only", false, true},
    {"modules", "GLOB...", "likewise: in calls by these programs and libraries only", false, true},
    {"exclude", "GLOB...", "likewise: none of these calls, programs and libraries", false, true},
    {"errors", "realistic|all", "likewise: those that happen, or rare ones, too (realistic)", false,
     false},
    {0},
};

static const struct injector_option command_line[] = {
    {.name = "syscall",
     .parameter = "faults",
     .argument = "SPEC",
     .help = "a fault of system calls: CALL=-1/ERRNO, or auto; may be given again"},
    {.name = "syscalls",
     .test = true,
     .parameter = "faults",
     .value = AUTOMATIC,
     .help = "make system calls fail instead, also where library calls can be made to fail"},
    {0},
};

static const struct injector_setting test_settings[] = {{"faults", AUTOMATIC}, {0}};

bool system_calls_paranoid(const struct injector_setup *setup)
{
    return strcmp(parameters_value(setup->parameters, "errors", "realistic"), "all") == 0;
}

static void close_calls(void *data)
{
    struct system_calls *self = data;
    if (self == NULL)
        return;
    runtime_session_free(self->session);
    journal_reader_free(self->reader);
    scenario_free(self->plan.faults);
    scenario_free(self->watching);
    scenario_free(self->current);
    recording_deinit(&self->plan.recording);
    recording_deinit(&self->stacks);
    words_deinit(&self->command);
    free(self->plan.made);
    free(self->environment);
    free(self->tracer);
    free(self);
}

// Rules that name no library are about system calls here.
static struct error *add_rule(struct scenario *scenario, const char *rule)
{
    const char *other;
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    // A class has other calls than functions.
    TRY(buffer_printf(&spec, "%s%s", is_function_class(rule) ? WIRE_SYSTEM_CALLS ":" : "", rule));
    TRY(scenario_add_spec(scenario, spec.data));
    TRY(scenario_use_system_calls(scenario, system_call_is_named, &other));
    return other == NULL ? NULL : error_new("'%s' is not about a system call", other);
}

struct error *system_calls_scenario(const char *spec, struct scenario **ret_scenario)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    size_t size;
    const char *part;
    TRY(scenario_new(&scenario));
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *rule = strndup(part, size);
        if (rule == NULL)
            return error_no_memory();
        TRY(add_rule(scenario, rule));
    }
    *ret_scenario = TAKE(scenario);
    return NULL;
}

static struct error *add_watch(struct scenario *watching, const struct scenario_rule_view *rule)
{
    _cleanup_(buffer_deinit) struct buffer name = {0}, spec = {0};
    TRY(buffer_printf(&name, "%s:%s", rule->library, rule->function));
    TRY(spec_put_word(&spec, name.data, SPEC_PATTERN));
    TRY(buffer_printf(&spec, " watch"));
    return scenario_add_spec(watching, spec.data);
}

static struct error *add_faults(struct system_calls *self)
{
    const struct words *faults = parameters_words(self->setup.parameters, "faults");
    for (size_t i = 0; faults != NULL && i < faults->count; i++)
        TRY(add_rule(self->plan.faults, faults->items[i]));
    if (scenario_rule_count(self->plan.faults) == 0)
        return error_new("there is nothing to inject: 'faults' is empty");
    for (size_t i = 0; i < scenario_rule_count(self->plan.faults); i++) {
        struct scenario_rule_view rule = scenario_rule(self->plan.faults, i);
        if (strcmp(rule.action, "watch") == 0)
            return error_new("'%s' injects nothing", rule.text);
        TRY(add_watch(self->watching, &rule));
    }
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    TRY(scenario_compile(self->plan.faults, 0, &plan));
    return system_call_rules_check((const struct wire_plan *)plan.data);
}

// Some parameters go only with named faults, others only with automatic ones.
static struct error *check_together(const struct system_calls *self)
{
    static const char *const choosing[] = {"functions", "modules", "exclude", "errors", NULL};
    static const char *const given[] = {"at", "mode", NULL};
    const char *const *wrong = self->automatic ? given : choosing;
    TRY(parameters_check_classes(self->setup.parameters));
    for (; *wrong != NULL; wrong++)
        if (parameters_find(self->setup.parameters, *wrong) != NULL)
            return error_new(self->automatic ? "'%s' does not go with automatic faults"
                                             : "'%s' goes with 'faults: auto' only",
                             *wrong);
    if (self->automatic && self->setup.sweeps)
        return error_new("automatic faults cannot be swept");
    if (self->plan.sweep && self->plan.at != CALL_AT_OCCURRENCE)
        return error_new("a sweep goes from occurrence to occurrence");
    return NULL;
}

// Not if there is a setup command: it may build the program.
static struct error *check_program(const struct injector_setup *setup)
{
    if (setup->has_setup || setup->command->count == 0)
        return NULL;
    const char *name = setup->command->items[0];
    _cleanup_(buffer_deinit) struct buffer path = {0};
    if (strchr(name, '/') != NULL && name[0] != '/')
        TRY(buffer_printf(&path, "%s/", setup->directory));
    TRY(buffer_printf(&path, "%s", name));
    if (program_can_be_traced(path.data))
        return NULL;
    struct error *error = program_check(path.data);
    return error != NULL ? error
                         : error_new("%s cannot be traced: it gains privileges when started, or is "
                                     "for another machine",
                                     name);
}

static struct error *fill(struct system_calls *self)
{
    const struct parameters *given = self->setup.parameters;
    const struct words *faults = parameters_words(given, "faults");
    const char *at = parameters_value(given, "at", "occurrence");
    self->plan.at = strcmp(at, "site") == 0    ? CALL_AT_SITE
                    : strcmp(at, "stack") == 0 ? CALL_AT_STACK
                                               : CALL_AT_OCCURRENCE;
    self->plan.persistent = strcmp(parameters_value(given, "mode", "transient"), "persistent") == 0;
    self->plan.sweep = self->setup.sweeps;
    self->automatic =
        faults != NULL && faults->count == 1 && strcmp(faults->items[0], AUTOMATIC) == 0;
    TRY(check_together(self));
    TRY(scenario_new(&self->plan.faults));
    TRY(scenario_new(&self->watching));
    TRY(self->automatic ? system_calls_watch(self->watching, system_calls_paranoid(&self->setup))
                        : add_faults(self));
    TRY(check_program(&self->setup));
    TRY(program_tracer(&self->tracer));
    return journal_reader_new(&self->reader);
}

static struct error *open_calls(const struct injector_setup *setup, void **ret_self)
{
    struct system_calls *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    return injector_opened(fill(self), self, close_calls, ret_self);
}

static struct error *check_value(const char *parameter, const struct source *source)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    if (strcmp(parameter, "faults") != 0 ||
        (source->size == strlen(AUTOMATIC) && memcmp(source->text, AUTOMATIC, source->size) == 0))
        return NULL;
    TRY(scenario_new(&scenario));
    return spec_add(scenario, source, NULL);
}

// A Go program that panics prints and ends with status 2. With this variable it dies of SIGABRT
// after that, which shows that it crashed.
static struct error *make_environment(struct system_calls *self, char *const *environment)
{
    static const char variable[] = "GOTRACEBACK=crash";
    size_t count = 0, used = 0;
    while (environment[count] != NULL)
        count++;
    free(self->environment);
    self->environment = calloc(count + 2, sizeof *self->environment);
    if (self->environment == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        if (strncmp(environment[i], variable, strlen("GOTRACEBACK=")) != 0)
            self->environment[used++] = environment[i];
    self->environment[used] = variable;
    return NULL;
}

static struct error *make_command(struct system_calls *self, char *const *command)
{
    const char *file = runtime_session_file(self->session);
    words_deinit(&self->command);
    TRY(words_add(&self->command, self->tracer, strlen(self->tracer)));
    TRY(words_add(&self->command, file, strlen(file)));
    for (; *command != NULL; command++)
        TRY(words_add(&self->command, *command, strlen(*command)));
    return NULL;
}

// Of automatic faults, the second run tells stacks apart.
static bool tells_stacks(const struct system_calls *self)
{
    return self->automatic && self->plan.recording.runs == 1 && self->stacks.runs == 0;
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct system_calls *self = data;
    if (self->session == NULL)
        TRY(runtime_session_new(&self->session));
    self->is_reference = shot->spec == NULL;
    if (shot->spec != NULL) {
        _cleanup_(freep_scenario) struct scenario *scenario = NULL;
        TRY(system_calls_scenario(shot->spec, &scenario));
        scenario_free(self->current);
        self->current = TAKE(scenario);
    }
    const struct runtime_session_options options = {
        .scenario = self->is_reference ? self->watching : self->current,
        .seed = shot->seed,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .record_calls = self->is_reference,
        .record_stacks =
            self->is_reference && (self->plan.at == CALL_AT_STACK || tells_stacks(self)),
    };
    TRY(runtime_session_prepare(self->session, &options));
    TRY(make_command(self, shot->command));
    TRY(make_environment(self, shot->environment));
    self->visible[0] = runtime_session_file(self->session);
    shot->visible = self->visible;
    shot->use_command = self->command.items;
    shot->use_environment = (char *const *)self->environment;
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    struct system_calls *self = data;
    return runtime_session_map_path(self->session, from, to);
}

static struct error *begin(void *data, const char *root)
{
    struct system_calls *self = data;
    return runtime_session_begin(self->session, root);
}

static struct error *record(struct system_calls *self, const struct wire_view *view,
                            struct observation *observation)
{
    struct recording *recording = tells_stacks(self) ? &self->stacks : &self->plan.recording;
    uint64_t lost = recording->lost;
    observation->activations = 0; // watching is not injecting
    if (view->region->processes == 0)
        return error_new("the command was not started; the tracer of system calls says why on "
                         "stderr");
    TRY(recording_add(recording, view, self->reader));
    if (recording->lost != lost && observation->note == NULL)
        observation->note = strdup("a reference run makes more different calls than can be "
                                   "recorded: not all that could fail are candidates");
    return NULL;
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct system_calls *self = data;
    struct wire_view view;
    TRY(journal_reader_end_session(self->reader, self->session, root,
                                   self->is_reference ? self->watching : self->current, &view,
                                   observation));
    if (observation->damage != WIRE_DAMAGE_NONE)
        return self->is_reference ? journal_reader_damage_error() : NULL;
    observation->plan_hash = runtime_session_plan_hash(self->session);
    fault_text_note_errors(observation);
    return self->is_reference ? record(self, &view, observation) : NULL;
}

static struct error *candidates(void *data, candidate_add *add, void *add_data)
{
    struct system_calls *self = data;
    return self->automatic ? system_calls_choose(self, add, add_data)
                           : call_candidates(&self->plan, add, add_data);
}

static struct error *remarks(void *data, remark_add *add, void *add_data)
{
    const struct system_calls *self = data;
    for (size_t i = 0; !self->automatic && i < scenario_rule_count(self->plan.faults); i++) {
        bool stands_for_class;
        if (self->plan.made == NULL || self->plan.made[i] != 0 ||
            call_plan_is_idle_member(&self->plan, i, &stands_for_class))
            continue;
        const struct scenario_rule_view rule = scenario_rule(self->plan.faults, i);
        const struct store_remark remark = {
            .kind = REMARK_UNTESTED,
            .about = (char *)(stands_for_class ? rule.class_text : rule.text),
            .text = (char *)(stands_for_class ? "the workload makes no system call of this class"
                                              : "the workload does not make this system call"),
        };
        TRY(add(add_data, &remark));
    }
    return NULL;
}

static struct error *next(void *data, const struct candidate *last, struct candidate *ret_next)
{
    const struct system_calls *self = data;
    return call_candidates_next(&self->plan, last, ret_next);
}

static bool takes_ports(void *data)
{
    const struct recording *recording = &((const struct system_calls *)data)->plan.recording;
    for (size_t i = 0; i < recording->calls.count; i++)
        if (strcmp(recording->calls.items[i].function, "bind") == 0)
            return true;
    return false;
}

static const struct injector_sweep sweep = {.next = next};
static const struct injector_learning learning = {.takes_ports = takes_ports};

const struct injector injector_syscall = {
    .name = "syscall",
    .summary = "makes system calls fail, of static, Go and all other programs",
    .parameters = parameters,
    .options = command_line,
    .test_settings = test_settings,
    .check = check_value,
    .open = open_calls,
    .close = close_calls,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .candidates = candidates,
    .remarks = remarks,
    .describe = system_calls_describe,
    .reproduce = system_calls_reproduce,
    .reproduces_inside = true,
    .servers = true,
    .sweep = &sweep,
    .learning = &learning,
    .stored = &system_calls_stored,
};

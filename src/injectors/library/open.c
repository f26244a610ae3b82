// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the parameters of the injector `library` and checks that they go together.
#include "injectors/library/internal.h"

#include "base/cleanup.h"
#include "injector/parameters.h"
#include "injector/spec.h"
#include "injectors/library/first-run.h"
#include "scenario/rule.h"
#include "trial/program.h"
#include "trial/result-types.h"

#include <string.h>

#define AUTOMATIC "auto" // as the only fault: faults are chosen

struct error *library_put_plugin(const struct injector_setup *setup, const char *file,
                                 struct buffer *path)
{
    if (file[0] != '/')
        TRY(buffer_printf(path, "%s/", setup->directory));
    return buffer_printf(path, "%s", file);
}

struct error *library_add_plugins(const struct injector_setup *setup, struct scenario *scenario)
{
    const struct parameter *plugins = parameters_find(setup->parameters, "plugins");
    for (size_t i = 0; plugins != NULL && i < plugins->values.count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(library_put_plugin(setup, plugins->values.items[i], &path));
        TRY(scenario_add_plugin(scenario, path.data));
    }
    return NULL;
}

// Adds a rule that records calls of the fault's functions and injects nothing.
static struct error *add_watch(struct library *library, const struct scenario_rule_view *rule)
{
    _cleanup_(buffer_deinit) struct buffer name = {0}, spec = {0};
    if (rule->library != NULL)
        TRY(buffer_printf(&name, "%s:", rule->library));
    TRY(buffer_printf(&name, "%s", rule->function));
    TRY(spec_put_word(&spec, name.data, SPEC_PATTERN));
    TRY(buffer_printf(&spec, " watch"));
    return scenario_add_spec(library->watching, spec.data);
}

static struct error *add_faults(struct library *library)
{
    const struct parameter *faults = parameters_find(library->setup.parameters, "faults");
    if (faults == NULL)
        return error_new("there is nothing to inject: 'faults' is empty");
    for (size_t i = 0; i < faults->values.count; i++) {
        struct error *error = scenario_add_spec(library->plan.faults, faults->values.items[i]);
        if (error != NULL)
            return error == error_no_memory() || faults->line == 0
                       ? error
                       : error_prefix(error, "fault %zu", i + 1);
    }
    for (size_t i = 0; i < scenario_rule_count(library->plan.faults); i++) {
        struct scenario_rule_view rule = scenario_rule(library->plan.faults, i);
        if (strcmp(rule.action, "watch") == 0)
            return error_new("'%s' injects nothing", rule.text);
        TRY(add_watch(library, &rule));
    }
    if (scenario_names_sanitizers(library->plan.faults))
        scenario_include_sanitizers(library->watching);
    // Compiling finds errors that concern several rules, such as missing plug-ins.
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    return scenario_compile(library->plan.faults, 0, &plan);
}

static bool is_automatic(const struct injector_setup *setup)
{
    const struct parameter *faults = parameters_find(setup->parameters, "faults");
    return faults != NULL && faults->values.count == 1 &&
           strcmp(faults->values.items[0], AUTOMATIC) == 0;
}

bool library_is_paranoid(const struct injector_setup *setup)
{
    return strcmp(parameters_value(setup->parameters, "errors", "realistic"), "all") == 0;
}

// Some parameters go only with named faults, others only with automatic ones.
static struct error *check_together(const struct library *library)
{
    static const char *const choosing[] = {"functions", "modules",  "exclude", "errors",
                                           "depth",     "coverage", NULL};
    static const char *const given[] = {"at", "mode", "plugins", NULL};
    const char *const *wrong = library->automatic ? given : choosing;
    TRY(parameters_check_classes(library->setup.parameters));
    for (; *wrong != NULL; wrong++)
        if (parameters_find(library->setup.parameters, *wrong) != NULL)
            return error_new(library->automatic ? "'%s' does not go with automatic faults"
                                                : "'%s' goes with 'faults: auto' only",
                             *wrong);
    if (parameters_find(library->setup.parameters, "coverage") != NULL &&
        library->setup.references < 2)
        return error_new("coverage needs two fault-free runs at least: the first shows whose code "
                         "is to be measured");
    if (library->automatic && library->setup.sweeps)
        return error_new("automatic faults cannot be swept");
    const char *depth = parameters_value(library->setup.parameters, "depth", "1");
    if (strcmp(depth, "1") != 0 && strcmp(depth, "2") != 0)
        return error_new("depth: one fault or two in a trial, not '%s'", depth);
    return NULL;
}

struct error *library_check_value(const char *parameter, const struct source *source)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    if (strcmp(parameter, "faults") != 0 ||
        (source->size == strlen(AUTOMATIC) && memcmp(source->text, AUTOMATIC, source->size) == 0))
        return NULL;
    TRY(scenario_new(&scenario));
    return spec_add(scenario, source, NULL);
}

// Checks that the runtime can be put into the program. Not if there is a setup command: it may
// build the program.
static struct error *check_program(const struct injector_setup *setup,
                                   const struct scenario *faults)
{
    if (setup->has_setup || setup->command->count == 0)
        return NULL;
    const char *name = setup->command->items[0];
    _cleanup_(buffer_deinit) struct buffer path = {0};
    if (strchr(name, '/') != NULL && name[0] != '/')
        TRY(buffer_printf(&path, "%s/", setup->directory));
    TRY(buffer_printf(&path, "%s", name));
    TRY(program_check(path.data));
    return result_types_check(faults, path.data);
}

struct error *library_fill(struct library *library)
{
    const struct injector_setup *setup = &library->setup;
    const struct parameters *parameters = setup->parameters;
    const char *at = parameters_value(parameters, "at", "occurrence");
    library->plan.at = strcmp(at, "site") == 0    ? CALL_AT_SITE
                       : strcmp(at, "stack") == 0 ? CALL_AT_STACK
                                                  : CALL_AT_OCCURRENCE;
    library->plan.persistent =
        strcmp(parameters_value(parameters, "mode", "transient"), "persistent") == 0;
    library->plan.sweep = setup->sweeps;
    if (library->plan.sweep && library->plan.at != CALL_AT_OCCURRENCE)
        return error_new("a sweep goes from occurrence to occurrence; 'at: %s' cannot be swept",
                         at);
    TRY(scenario_new(&library->plan.faults));
    TRY(scenario_new(&library->watching));
    library->automatic = is_automatic(setup);
    TRY(check_together(library));
    TRY(library_add_plugins(setup, library->plan.faults));
    TRY(library->automatic ? first_run_watch(library->watching, library_is_paranoid(setup))
                           : add_faults(library));
    TRY(check_program(setup, library->plan.faults));
    return journal_reader_new(&library->reader);
}

struct choice_options library_choice_options(const struct library *library)
{
    return (struct choice_options){
        .functions = parameters_words(library->setup.parameters, "functions"),
        .modules = parameters_words(library->setup.parameters, "modules"),
        .excluded = parameters_words(library->setup.parameters, "exclude"),
        .paranoid = library_is_paranoid(&library->setup),
        .directory = library->setup.directory,
    };
}

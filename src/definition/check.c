// SPDX-License-Identifier: GPL-3.0-or-later
// Checks a definition before anything runs: programs, files, server, selection, injector.
#include "base/cleanup.h"
#include "definition/definition.h"
#include "definition/server-words.h"
#include "definition/weights.h"
#include "injector/injector.h"
#include "wire/region.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static struct error *is_program(const struct definition *definition, const char *path, size_t size,
                                const char *name, bool *ret_is)
{
    _cleanup_(buffer_deinit) struct buffer full = {0};
    if (size == 0 || path[0] != '/')
        TRY(buffer_printf(&full, "%s/", definition->directory));
    TRY(buffer_append(&full, path, size));
    TRY(buffer_printf(&full, "%s%s", size != 0 ? "/" : "", name));
    struct stat facts;
    *ret_is =
        access(full.data, X_OK) == 0 && stat(full.data, &facts) == 0 && S_ISREG(facts.st_mode);
    return NULL;
}

// Says why the program cannot be run.
static struct error *refuse_program(const struct definition *definition, const char *what,
                                    const char *name)
{
    _cleanup_(buffer_deinit) struct buffer full = {0};
    struct stat facts;
    if (name[0] != '/')
        TRY(buffer_printf(&full, "%s/", definition->directory));
    TRY(buffer_printf(&full, "%s", name));
    if (strchr(name, '/') == NULL || stat(full.data, &facts) != 0)
        return error_new("%s: there is no program '%s'", what, name);
    return error_new("%s: '%s' %s", what, name,
                     S_ISDIR(facts.st_mode)    ? "is a directory"
                     : !S_ISREG(facts.st_mode) ? "is not a regular file"
                                               : "is not executable");
}

// Looks for the program as execvp() would.
static struct error *check_program(const struct definition *definition, const struct words *command,
                                   const char *what)
{
    if (command->count == 0)
        return NULL;
    const char *name = command->items[0];
    bool found = false;
    if (strchr(name, '/') != NULL) {
        size_t size = name[0] == '/' ? 1 : 0;
        TRY(is_program(definition, name, size, name + size, &found));
    } else {
        const char *path = words_variable(&definition->environment, "PATH");
        for (path = path != NULL ? path : "/bin:/usr/bin"; !found;) {
            size_t size = strcspn(path, ":");
            TRY(is_program(definition, path, size, name, &found));
            path += size;
            if (*path++ == '\0')
                break;
        }
    }
    return found ? NULL : refuse_program(definition, what, name);
}

// A setup command may build the programs that are run after it.
static struct error *check_programs(const struct definition *definition)
{
    TRY(check_program(definition, &definition->setup, "setup"));
    if (definition->setup.count != 0)
        return NULL;
    TRY(check_program(definition, &definition->command, "command"));
    TRY(check_program(definition, &definition->service.load, "server.load"));
    TRY(check_program(definition, &definition->pretest, "pretest"));
    TRY(check_program(definition, &definition->posttest, "posttest"));
    TRY(check_program(definition, &definition->oracle.command, "oracle.command"));
    return check_program(definition, &definition->teardown, "teardown");
}

// "servers are led with the injectors 'library', 'ir' and 'syscall' only"
static struct error *refuse_server(void)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    const struct injector *last = NULL;
    for (size_t i = 0; injectors[i] != NULL; i++)
        last = injectors[i]->servers ? injectors[i] : last;
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const char *between = list.size == 0 ? "" : injectors[i] == last ? " and " : ", ";
        if (injectors[i]->servers)
            TRY(buffer_printf(&list, "%s'%s'", between, injectors[i]->name));
    }
    return error_new("servers are led with the injectors %s only", list.data);
}

static struct error *check_server_injector(const struct definition *definition)
{
    const struct injector *injector;
    TRY(definition_injector(definition, &injector));
    if (!injector->servers)
        return refuse_server();
    if (definition->service.long_lived && injector->switches == NULL)
        return error_new("the faults of '%s' cannot be switched in a server that runs: leave out "
                         "--long-lived (server.long_lived)",
                         injector->name);
    return NULL;
}

static struct error *check_service(const struct definition *definition)
{
    const struct service *service = &definition->service;
    struct ready ready;
    struct stop stop;
    if (service->ready == NULL && (service->load.count != 0 || service->long_lived))
        return error_new("when is the server ready? --ready 'port 8080' (server.ready)");
    if (service->ready == NULL && service->stop != NULL)
        return error_new("what is stopped? a server has --ready 'port 8080' (server.ready)");
    if (service->ready == NULL)
        return NULL;
    if (oracle_has_behaviour(&definition->oracle))
        return error_new("the behaviour of servers cannot be compared: leave out --behaviour "
                         "(oracle.behaviour)");
    if (definition->oracle.interface.count != 0)
        return error_new("the interfaces of servers cannot be compared: leave out --interface "
                         "(oracle.interface)");
    struct error *error = ready_parse(service->ready, &ready);
    if (error != NULL)
        return error_prefix(error, "server.ready");
    error = service->stop != NULL ? stop_parse(service->stop, &stop) : NULL;
    if (error != NULL)
        return error_prefix(error, "server.stop");
    if (service->long_lived && service->load.count == 0)
        return error_new("a long-lived server needs a load between faults: --load CMD "
                         "(server.load)");
    return definition->injector != NULL ? check_server_injector(definition) : NULL;
}

struct error *selection_check(const struct selection *selection)
{
    bool sampling = selection->kind == SELECT_SAMPLE;
    if (sampling && selection->sample == 0)
        return error_new("selection: a sample of how many? 'sample: 100'");
    if (!sampling && selection->per != NULL)
        return error_new("selection: 'per' says of what a sample is taken; add 'sample: N'");
    if (!sampling && selection->weights_file != NULL)
        return error_new("selection: 'weights' are those of a sample; add 'sample: N'");
    if (selection->kind == SELECT_SWEEP && selection->sample != 0)
        return error_new("selection: a sweep tries one occurrence after the other; 'sample' does "
                         "not go with it");
    if (selection->kind != SELECT_SWEEP && selection->most != 0)
        return error_new("selection: 'most' is the end of a sweep; add 'kind: sweep'");
    if (selection->until_activated && (selection->repeat < 2 || selection->kind == SELECT_SWEEP))
        return error_new("selection: 'until_activated' ends repeated trials; add 'repeat: 20'");
    if (selection->weights_file == NULL)
        return NULL;
    struct weights weights = {0};
    struct error *error = weights_read(selection->weights_file, &weights);
    weights_deinit(&weights);
    return error;
}

static struct error *check_files(const struct definition *definition)
{
    struct stat facts;
    if (definition->directory == NULL)
        return error_new("directory: its name is empty");
    if (stat(definition->directory, &facts) < 0)
        return error_from_errno(errno, "directory: %s", definition->directory);
    if (!S_ISDIR(facts.st_mode))
        return error_new("directory: %s is none", definition->directory);
    if (definition->input != NULL && definition->setup.count == 0 &&
        access(definition->input, R_OK) < 0)
        return error_from_errno(errno, "input: cannot read %s", definition->input);
    // Opening a pipe may block for ever, and it can be read only once.
    if (definition->input != NULL && stat(definition->input, &facts) == 0 &&
        !S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode))
        return error_new("input: %s is not a file", definition->input);
    return NULL;
}

static struct error *check_environment(const struct definition *definition)
{
    const char *missing = definition_missing_variable(definition, false);
    if (missing != NULL)
        return error_new("environment: %s has no value here: set it, or give NAME=VALUE", missing);
    for (size_t i = 0; i < definition->environment.count; i++) {
        const char *entry = definition->environment.items[i];
        const char *preload = "LD_PRELOAD=";
        if (strncmp(entry, preload, strlen(preload)) == 0 &&
            strstr(entry, WIRE_RUNTIME_NAME) != NULL)
            return error_new("this is a trial of another 'ordeal' already: LD_PRELOAD names its "
                             "library");
    }
    return NULL;
}

// "say what to inject: --inject SPEC, --signal NAME, or 'injector:' in the file"
static struct error *say_what(void)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const struct injector_option *option = injectors[i]->options;
        if (option != NULL && !option->test && option->argument != NULL)
            TRY(buffer_printf(&list, "--%s %s, ", option->name, option->argument));
    }
    return error_new("say what to inject: %sor 'injector:' in the file",
                     list.data != NULL ? list.data : "");
}

static struct error *check_inputs(const struct definition *definition,
                                  const struct injector *injector)
{
    const struct inputs *inputs = &definition->inputs;
    if (inputs_count(inputs) == 0)
        return NULL;
    if (inputs->commands.items.count != 0 && inputs->files.count != 0)
        return error_new("inputs: either commands or files; both are given");
    if (injector->input == NULL)
        return error_new("inputs: the injector '%s' takes one input only", injector->name);
    if (definition_is_server(definition))
        return error_new("inputs: a server has one input, its load");
    for (size_t i = 0; definition->setup.count == 0 && i < inputs->commands.items.count; i++)
        TRY(check_program(definition, &inputs->commands.items.items[i], "inputs.commands"));
    for (size_t i = 0; definition->setup.count == 0 && i < inputs->files.count; i++) {
        const char *name = inputs->files.items[i];
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(buffer_printf(&path, "%s%s%s", name[0] == '/' ? "" : definition->directory,
                          name[0] == '/' ? "" : "/", name));
        if (access(path.data, R_OK) < 0)
            return error_from_errno(errno, "inputs.files: cannot read %s", path.data);
    }
    return NULL;
}

static struct error *check_injector(const struct definition *definition)
{
    if (definition->injector == NULL)
        return say_what();
    const struct injector *injector;
    TRY(definition_injector(definition, &injector));
    TRY(parameters_check(&definition->parameters, injector));
    TRY(check_inputs(definition, injector));
    if (definition->selection.kind == SELECT_SWEEP && injector->sweep == NULL)
        return error_new("selection: injector '%s' cannot sweep; use 'all' or 'sample'",
                         injector->name);
    void *self = NULL;
    const struct injector_setup setup = definition_setup(definition);
    struct error *error = injector->open(&setup, &self);
    if (error != NULL)
        return error == error_no_memory() ? error
                                          : error_prefix(error, "injector '%s'", injector->name);
    injector->close(self);
    return NULL;
}

struct error *definition_check(const struct definition *definition)
{
    if (definition->command.count == 0)
        return error_new("no command is given: give the workload after '--', or 'command:' in the "
                         "file");
    TRY(check_service(definition));
    TRY(check_files(definition));
    TRY(check_programs(definition));
    TRY(check_environment(definition));
    TRY(selection_check(&definition->selection));
    if (oracle_has_behaviour(&definition->oracle) && definition->oracle.interface.count != 0)
        return error_new("behaviour and interfaces are recorded in different ways: leave out "
                         "--behaviour (oracle.behaviour) or --interface (oracle.interface)");
    if (definition->oracle.timeout_floor_ns == 0 && definition->oracle.timeout_factor <= 0)
        return error_new("oracle.timeout: without a time, a hang would last forever");
    return check_injector(definition);
}

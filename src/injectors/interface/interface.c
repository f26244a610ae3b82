// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `interface`: calls of a library return with errors that faults inside the library
// were seen to cause, or with classical ones at the same places. A spec is a rule as in --inject.
#include "base/choice.h"
#include "base/cleanup.h"
#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "injectors/interface/errors.h"
#include "trial/runtime-session.h"

#include <stdlib.h>
#include <string.h>

#define STREAM 0x696e74657266616cu
#define MODELS "measured|bit-flip|boundary|invalid-pointer"

static const struct injector_parameter parameters[] = {
    {"library", "NAME", "whose functions return with errors: libz, or a glob", true, false},
    {"profile", "FILE", "errors that were measured: of `ordeal report --profile`", true, false},
    {"model", MODELS, "those errors, or another kind of error at their places (measured)", false,
     false},
    {0},
};

struct interfaces {
    struct injector_setup setup;
    struct error_profiles profiles;
    enum error_model model;
    uint64_t left_out; // errors that cannot be injected
    uint64_t cut;      // of which only a part is
    struct runtime_session *session;
    struct journal_reader *reader;
    struct scenario *scenario; // of this shot; without rules in reference runs
    const char *visible[2];
};

static void close_interfaces(void *data)
{
    struct interfaces *self = data;
    if (self == NULL)
        return;
    error_profiles_deinit(&self->profiles);
    runtime_session_free(self->session);
    journal_reader_free(self->reader);
    scenario_free(self->scenario);
    free(self);
}

static struct error *fill(struct interfaces *self)
{
    const struct parameter *file = parameters_find(self->setup.parameters, "profile");
    const char *model = parameters_value(self->setup.parameters, "model", "measured");
    for (unsigned i = 0; i < ERROR_MODELS; i++)
        if (strcmp(error_model_names[i], model) == 0)
            self->model = i;
    _cleanup_free_ char *path = NULL;
    const char *name = file->values.items[0];
    if (asprintf(&path, "%s%s%s", *name == '/' ? "" : self->setup.directory,
                 *name == '/' ? "" : "/", name) < 0)
        return error_no_memory();
    struct error *error = error_profiles_read(path, &self->profiles);
    if (error != NULL)
        return error_prefix(error, "injector.interface.profile");
    return journal_reader_new(&self->reader);
}

static struct error *open_interfaces(const struct injector_setup *setup, void **ret_self)
{
    struct interfaces *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    return injector_opened(fill(self), self, close_interfaces, ret_self);
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct interfaces *self = data;
    if (self->session == NULL)
        TRY(runtime_session_new(&self->session));
    scenario_free(TAKE(self->scenario));
    TRY(scenario_new(&self->scenario));
    if (shot->spec != NULL)
        TRY(scenario_add_spec(self->scenario, shot->spec));
    const struct runtime_session_options options = {.scenario = self->scenario,
                                                    .seed = shot->seed,
                                                    .command = shot->command,
                                                    .environment = shot->environment,
                                                    .catch_crashes = true};
    TRY(runtime_session_prepare(self->session, &options));
    self->visible[0] = runtime_session_file(self->session);
    shot->use_environment = runtime_session_environment(self->session);
    shot->visible = self->visible;
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    return runtime_session_map_path(((struct interfaces *)data)->session, from, to);
}

static struct error *begin(void *data, const char *root)
{
    return runtime_session_begin(((struct interfaces *)data)->session, root);
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct interfaces *self = data;
    struct wire_view view;
    return journal_reader_end_session(self->reader, self->session, root, self->scenario, &view,
                                      observation);
}

static struct error *add_candidate(struct interfaces *self, const struct corruption *corruption,
                                   char *spec, candidate_add *add, void *add_data)
{
    struct candidate candidate = {.weight = 1, .spec = spec};
    candidate.type = strdup(error_model_names[self->model]);
    candidate.function = strdup(corruption->function);
    candidate.module = strdup(parameters_value(self->setup.parameters, "library", ""));
    struct error *error =
        candidate.type == NULL || candidate.function == NULL || candidate.module == NULL
            ? error_no_memory()
            : add(add_data, &candidate);
    candidate_deinit(&candidate);
    return error;
}

static struct error *candidates(void *data, candidate_add *add, void *add_data)
{
    struct interfaces *self = data;
    struct stats_random random = stats_random_start(self->setup.seed, STREAM);
    const char *library = parameters_value(self->setup.parameters, "library", "");
    self->left_out = self->cut = 0;
    for (size_t i = 0; i < self->profiles.items.count; i++) {
        const struct corruption *corruption = &self->profiles.items.items[i];
        char *spec = NULL;
        bool cut = false;
        TRY(error_spec(corruption, library, self->model, &random, &spec, &cut));
        if (spec != NULL)
            TRY(add_candidate(self, corruption, spec, add, add_data));
        self->left_out += spec == NULL;
        self->cut += cut;
    }
    return NULL;
}

static struct error *add_remark(const struct interfaces *self, uint64_t errors, const char *what,
                                remark_add *add, void *add_data)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (errors == 0)
        return NULL;
    TRY(buffer_printf(&text, "%llu of %zu errors of the profile %s", (unsigned long long)errors,
                      self->profiles.items.count, what));
    return add(add_data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
}

static struct error *remarks(void *data, remark_add *add, void *add_data)
{
    const struct interfaces *self = data;
    TRY(add_remark(self, self->left_out,
                   "cannot be injected like this: the call did not end, no pointer leads to what "
                   "was corrupted, or it is of another kind",
                   add, add_data));
    return add_remark(self, self->cut,
                      "are injected in part: no pointer leads to the rest, or it is too much for "
                      "one call",
                      add, add_data);
}

const struct injector injector_interface = {
    .name = "interface",
    .summary = "calls of a library return with errors that faults inside it cause",
    .parameters = parameters,
    .open = open_interfaces,
    .close = close_interfaces,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .candidates = candidates,
    .remarks = remarks,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `variable`: the workload starts with an environment variable that is missing, empty
// or huge. A spec reads "HOME missing". It is the example of docs/HOWTO-add-an-injector.md.
#include "base/choice.h"
#include "base/cleanup.h"
#include "base/shell.h"
#include "injector/injector.h"
#include "injector/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOW       "missing|empty|huge"
#define HUGE_SIZE 100000 // the kernel refuses a variable of 128 KiB

enum how { HOW_MISSING, HOW_EMPTY, HOW_HUGE, HOW_COUNT };

static const struct injector_parameter parameters[] = {
    {"names", "NAME...", "environment variables to spoil", true, true},
    {"how", HOW, "what becomes of them, may be given again (all three)", false, true},
    {0},
};

static const struct injector_option command_line[] = {
    {.name = "variable",
     .parameter = "names",
     .argument = "NAME",
     .help = "spoil this environment variable; may be given again"},
    {0},
};

struct variables {
    struct injector_setup setup;
    const struct words *names;
    bool *set; // of each name: whether the workload has this variable
    bool wanted[HOW_COUNT];
    // This shot's.
    char *spec;         // NULL: a reference run
    bool changed;       // the environment is not the workload's own
    char *spoilt;       // "NAME=VALUE", or NULL
    char **environment; // its strings are the shot's, and `spoilt`
};

// ---- Opening ----

static void forget_shot(struct variables *self)
{
    free(TAKE(self->spec));
    free(TAKE(self->spoilt));
    free(TAKE(self->environment));
    self->changed = false;
}

static void close_variables(void *data)
{
    struct variables *self = data;
    if (self == NULL)
        return;
    forget_shot(self);
    free(self->set);
    free(self);
}

static struct error *read_parameters(struct variables *self)
{
    const struct parameters *given = self->setup.parameters;
    const struct words *how = parameters_words(given, "how");
    self->names = parameters_words(given, "names");
    for (size_t i = 0; i < self->names->count; i++) {
        const char *name = self->names->items[i];
        if (*name == '\0' || name[strcspn(name, "= \t\n")] != '\0')
            return parameters_error(parameters_find(given, "names"),
                                    "'%s' is no name of a variable", name);
    }
    for (int i = 0; i < HOW_COUNT; i++)
        self->wanted[i] = how == NULL;
    for (size_t i = 0; how != NULL && i < how->count; i++)
        self->wanted[choice_find(HOW, how->items[i], strlen(how->items[i]))] = true;
    self->set = calloc(self->names->count, sizeof *self->set);
    return self->set != NULL ? NULL : error_no_memory();
}

static struct error *open_variables(const struct injector_setup *setup, void **ret_self)
{
    struct variables *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    struct error *error = read_parameters(self);
    if (error != NULL) {
        close_variables(self);
        return error;
    }
    *ret_self = self;
    return NULL;
}

// ---- Shots ----

// "HOME missing"; the name is the spec's first `ret_size` bytes.
static struct error *parse_spec(const char *spec, size_t *ret_size, enum how *ret_how)
{
    size_t size = strcspn(spec, " ");
    int how = spec[size] == ' ' ? choice_find(HOW, spec + size + 1, strlen(spec + size + 1)) : -1;
    if (size == 0 || how < 0)
        return error_new("'%s' is not of the form 'HOME missing'", spec);
    *ret_size = size;
    *ret_how = (enum how)how;
    return NULL;
}

static bool is_variable(const char *text, const char *name, size_t size)
{
    return strncmp(text, name, size) == 0 && text[size] == '=';
}

static struct error *make_spoilt(struct variables *self, size_t size, enum how how)
{
    size_t value = how == HOW_HUGE ? HUGE_SIZE : 0;
    if (how == HOW_MISSING)
        return NULL;
    self->spoilt = malloc(size + 1 + value + 1);
    if (self->spoilt == NULL)
        return error_no_memory();
    memcpy(self->spoilt, self->spec, size);
    self->spoilt[size] = '=';
    memset(self->spoilt + size + 1, 'x', value);
    self->spoilt[size + 1 + value] = '\0';
    return NULL;
}

static void look_at_reference(struct variables *self, char *const *environment)
{
    for (size_t i = 0; i < self->names->count; i++) {
        const char *name = self->names->items[i];
        self->set[i] = false;
        for (size_t k = 0; environment[k] != NULL; k++)
            self->set[i] |= is_variable(environment[k], name, strlen(name));
    }
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct variables *self = data;
    size_t size = 0, count = 0, used = 0;
    enum how how = HOW_MISSING;
    forget_shot(self);
    if (shot->spec == NULL) {
        look_at_reference(self, shot->environment);
        return NULL;
    }
    TRY(parse_spec(shot->spec, &size, &how));
    while (shot->environment[count] != NULL)
        count++;
    self->spec = strdup(shot->spec);
    self->environment = calloc(count + 2, sizeof *self->environment);
    if (self->spec == NULL || self->environment == NULL)
        return error_no_memory();
    TRY(make_spoilt(self, size, how));
    self->changed = self->spoilt != NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_variable(shot->environment[i], shot->spec, size))
            self->environment[used++] = shot->environment[i];
        else // one that is empty anyway cannot become empty
            self->changed = self->spoilt == NULL || strcmp(self->spoilt, shot->environment[i]) != 0;
    }
    self->environment[used] = self->spoilt;
    shot->use_environment = self->environment;
    return NULL;
}

static struct error *add_injection(const struct variables *self, struct observation *observation)
{
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    observation->activations = 1;
    injection->occurrence = injection->process = 1;
    injection->fault = strdup(self->spec);
    return injection->fault != NULL ? NULL : error_no_memory();
}

static struct error *observe(void *data, const char *root, struct observation *ret_observation)
{
    const struct variables *self = data;
    struct observation observation = {0};
    struct error *error = self->changed ? add_injection(self, &observation) : NULL;
    if (error != NULL)
        observation_deinit(&observation);
    else
        *ret_observation = observation;
    return error;
}

// ---- Candidates ----

static struct error *make_candidate(const char *name, enum how how, struct candidate *candidate)
{
    size_t size;
    const char *word = choice_word(HOW, how, &size);
    candidate->weight = 1;
    candidate->type = strndup(word, size);
    candidate->function = strdup(name);
    if (asprintf(&candidate->spec, "%s %.*s", name, (int)size, word) < 0)
        candidate->spec = NULL;
    return candidate->type != NULL && candidate->function != NULL && candidate->spec != NULL
               ? NULL
               : error_no_memory();
}

static struct error *candidates(void *data, candidate_add *add, void *add_data)
{
    const struct variables *self = data;
    for (size_t i = 0; i < self->names->count; i++)
        for (int how = 0; how < HOW_COUNT; how++) {
            struct candidate candidate = {0};
            if (!self->wanted[how] || (how == HOW_MISSING && !self->set[i]))
                continue;
            struct error *error = make_candidate(self->names->items[i], how, &candidate);
            if (error == NULL)
                error = add(add_data, &candidate);
            candidate_deinit(&candidate);
            if (error != NULL)
                return error;
        }
    return NULL;
}

static struct error *remarks(void *data, remark_add *add, void *add_data)
{
    const struct variables *self = data;
    for (size_t i = 0; i < self->names->count; i++) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        if (self->set[i] || !self->wanted[HOW_MISSING])
            continue;
        TRY(buffer_printf(&text, "the workload has no variable %s that could be missing",
                          self->names->items[i]));
        const struct store_remark remark = {.kind = REMARK_NOTE, .text = text.data};
        TRY(add(add_data, &remark));
    }
    return NULL;
}

// ---- Texts ----

// "HOME is missing"
static struct error *put_fault(const char *fault, struct buffer *text)
{
    size_t size = strcspn(fault, " ");
    return buffer_printf(text, "%.*s is %s", (int)size, fault,
                         fault[size] != '\0' ? fault + size + 1 : "spoilt");
}

static struct error *describe(void *self, const char *fault, const struct injection *injection,
                              struct buffer *text)
{
    return put_fault(fault, text);
}

static struct error *describe_stored(const struct store_injection *row, struct buffer *text)
{
    return put_fault(row->fault != NULL ? row->fault : "?", text);
}

// "cd /there && env -u HOME ./program </dev/null"
static struct error *put_command(const struct variables *self, const char *spec,
                                 uint64_t timeout_ns, struct buffer *text)
{
    size_t size = 0;
    enum how how = HOW_MISSING;
    TRY(parse_spec(spec, &size, &how));
    _cleanup_free_ char *name = strndup(spec, size);
    if (name == NULL)
        return error_no_memory();
    TRY(reproduce_put_place(text, &self->setup));
    if (timeout_ns != 0)
        TRY(buffer_printf(text, "timeout %.3f ", (double)timeout_ns / 1e9));
    TRY(buffer_printf(text, how == HOW_MISSING ? "env -u " : "env "));
    TRY(shell_put_word(text, name));
    if (how == HOW_EMPTY)
        TRY(buffer_printf(text, "="));
    if (how == HOW_HUGE)
        TRY(buffer_printf(text, "=\"$(printf '%%%ds' | tr ' ' x)\"", HUGE_SIZE));
    TRY(buffer_printf(text, " "));
    return reproduce_put_command(text, &self->setup);
}

static struct error *reproduce(void *self, const char *spec, uint64_t seed, uint64_t timeout_ns,
                               char **ret_command)
{
    struct buffer text = {0};
    struct error *error = put_command(self, spec, timeout_ns, &text);
    if (error != NULL)
        buffer_deinit(&text);
    else
        *ret_command = text.data;
    return error;
}

static const struct injector_stored stored = {.describe = describe_stored};

const struct injector injector_variable = {
    .name = "variable",
    .summary = "starts the workload with an environment variable gone bad",
    .parameters = parameters,
    .options = command_line,
    .open = open_variables,
    .close = close_variables,
    .prepare = prepare,
    .observe = observe,
    .candidates = candidates,
    .remarks = remarks,
    .describe = describe,
    .reproduce = reproduce,
    .stored = &stored,
};

// SPDX-License-Identifier: GPL-3.0-or-later
// Shots with files that have a fault: finding faults, changing the file, and breakpoints that tell
// what is executed.
#include "injector/mutant/mutants.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef ARRAY(struct wire_coverage_module) wire_modules;
typedef ARRAY(struct wire_coverage_block) wire_blocks;

struct error *mutants_open(const struct injector_setup *setup, struct mutants *self)
{
    self->setup = *setup;
    self->candidate = MUTANTS_NONE;
    if (setup->sandbox == NULL)
        return error_new("this injector gives files of the program another content, which needs a "
                         "sandbox");
    TRY(scenario_new(&self->no_rules));
    return journal_reader_new(&self->reader);
}

static void forget_shot(struct mutants *self)
{
    if (self->has_file)
        cover_file_close(&self->file);
    for (size_t i = 0; i < self->watched.count; i++)
        free(self->watched.items[i]);
    ARRAY_DEINIT(&self->watched);
    ARRAY_DEINIT(&self->watches);
    buffer_deinit(&self->content);
    self->content = (struct buffer){0};
    free(TAKE(self->changed));
    self->has_file = self->profiles = false;
    self->candidate = MUTANTS_NONE;
}

void mutants_close(struct mutants *self)
{
    forget_shot(self);
    runtime_session_free(self->session);
    scenario_free(self->no_rules);
    journal_reader_free(self->reader);
    mutate_set_deinit(&self->set);
    free(self->wanted);
    free(self->executed);
}

// ---- finding ----

static bool fits(const struct words *globs, const char *text, const char *other)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (fnmatch(globs->items[i], text, 0) == 0 || fnmatch(globs->items[i], other, 0) == 0)
            return true;
    return globs == NULL;
}

static struct error *choose(struct mutants *self)
{
    const struct words *types = parameters_words(self->setup.parameters, "types"),
                       *functions = parameters_words(self->setup.parameters, "functions");
    self->wanted = calloc(self->set.items.count + 1, sizeof *self->wanted);
    self->executed = calloc(self->set.items.count + 1, sizeof *self->executed);
    if (self->wanted == NULL || self->executed == NULL)
        return error_no_memory();
    for (size_t i = 0; i < self->set.items.count; i++) {
        const struct mutate_candidate *candidate = &self->set.items.items[i];
        const struct model_type *type = &model_types[candidate->kind];
        self->wanted[i] = fits(types, type->name, type->field) &&
                          fits(functions, candidate->function, candidate->function);
    }
    return NULL;
}

// Levels know files from the working directory of the process. `what` works in the campaign's.
static struct error *in_directory(struct mutants *self, struct error *(*what)(void *, void *),
                                  void *data)
{
    _cleanup_close_ int here = open(".", O_PATH | O_CLOEXEC);
    if (here < 0 || chdir(self->setup.directory) < 0)
        return error_from_errno(errno, "cannot go to %s", self->setup.directory);
    struct error *error = what(self, data);
    if (fchdir(here) < 0 && error == NULL)
        error = error_from_errno(errno, "cannot go back from %s", self->setup.directory);
    return error;
}

static struct error *find(void *data, void *request)
{
    struct mutants *self = data;
    return mutate_find(self->level, request, &self->set);
}

struct error *mutants_find(struct mutants *self, const struct mutate_level *level,
                           const struct mutate_request *request)
{
    if (self->found)
        return NULL;
    struct mutate_request copy = *request;
    self->level = level;
    TRY(in_directory(self, find, &copy));
    TRY(choose(self));
    self->found = true;
    return NULL;
}

// ---- before a run ----

struct error *mutants_begin_shot(struct mutants *self, const struct shot *shot)
{
    forget_shot(self);
    if (shot->spec != NULL)
        return mutant_find_spec(self, shot->spec, &self->candidate, &self->known);
    self->profiles = !self->profiled;
    return NULL;
}

static struct error *check(void *data, void *unused)
{
    struct mutants *self = data;
    return self->level->check(&self->set, self->wanted);
}

struct error *mutants_check(struct mutants *self)
{
    return self->level->check != NULL ? in_directory(self, check, NULL) : NULL;
}

static struct error *apply(void *data, void *unused)
{
    struct mutants *self = data;
    return self->level->apply(&self->set, self->candidate, &self->content);
}

struct error *mutants_change_file(struct mutants *self, struct shot *shot)
{
    const char *path = self->set.items.items[self->candidate].changed;
    TRY(in_directory(self, apply, NULL));
    if (asprintf(&self->changed, "%s%s%s", *path == '/' ? "" : self->setup.directory,
                 *path == '/' ? "" : "/", path) < 0) {
        self->changed = NULL;
        return error_no_memory();
    }
    self->change = (struct shot_file){self->changed, &self->content};
    shot->files = &self->change;
    shot->file_count = 1;
    return NULL;
}

static struct error *find_module(struct mutants *self, const char *file, size_t *ret_module)
{
    for (size_t i = self->watched.count; i-- > 0;)
        if (strcmp(self->watched.items[i], file) == 0) {
            *ret_module = i;
            return NULL;
        }
    char *copy = strdup(file), **slot = copy != NULL ? ARRAY_ADD(&self->watched) : NULL;
    if (slot == NULL) {
        free(copy);
        return error_no_memory();
    }
    *slot = copy;
    *ret_module = self->watched.count - 1;
    return NULL;
}

struct error *mutants_watch(struct mutants *self, const char *file, uint64_t address,
                            const unsigned char *code, size_t candidate)
{
    struct mutant_watch watch = {.address = address, .candidate = candidate};
    TRY(find_module(self, file, &watch.module));
    memcpy(&watch.code, code, sizeof watch.code);
    struct mutant_watch *slot = ARRAY_ADD(&self->watches);
    if (slot == NULL)
        return error_no_memory();
    *slot = watch;
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    const struct mutant_watch *first = a, *second = b;
    if (first->module != second->module)
        return first->module < second->module ? -1 : 1;
    return (first->address > second->address) - (first->address < second->address);
}

static struct error *add_blocks(struct mutants *self, size_t module, size_t *next,
                                wire_modules *modules, wire_blocks *blocks)
{
    struct wire_coverage_module *wire = ARRAY_ADD(modules);
    const char *path = self->watched.items[module];
    if (wire == NULL)
        return error_no_memory();
    if (strlen(path) >= sizeof wire->path)
        return error_new("%s: its path is too long", path);
    strcpy(wire->path, path);
    wire->first = (uint32_t)blocks->count;
    for (; *next < self->watches.count && self->watches.items[*next].module == module; ++*next) {
        struct mutant_watch *watch = &self->watches.items[*next];
        const struct wire_coverage_block *last =
            blocks->count > wire->first ? &blocks->items[blocks->count - 1] : NULL;
        if (last == NULL || last->address != watch->address) {
            struct wire_coverage_block *block = ARRAY_ADD(blocks);
            if (block == NULL)
                return error_no_memory();
            *block = (struct wire_coverage_block){.address = watch->address, .code = watch->code};
        }
        watch->block = blocks->count - 1;
    }
    wire->count = (uint32_t)blocks->count - wire->first;
    return NULL;
}

static struct error *make_file(struct mutants *self)
{
    wire_modules modules = {0};
    wire_blocks blocks = {0};
    struct error *error = NULL;
    size_t next = 0;
    if (self->watches.count == 0)
        return NULL;
    qsort(self->watches.items, self->watches.count, sizeof *self->watches.items, by_address);
    for (size_t i = 0; i < self->watched.count && error == NULL; i++)
        error = add_blocks(self, i, &next, &modules, &blocks);
    if (error == NULL)
        error = cover_file_create(modules.items, modules.count, blocks.items, blocks.count,
                                  &self->file);
    self->has_file = error == NULL;
    ARRAY_DEINIT(&modules);
    ARRAY_DEINIT(&blocks);
    return error;
}

struct error *mutants_prepare(struct mutants *self, struct shot *shot)
{
    if (self->session == NULL)
        TRY(runtime_session_new(&self->session));
    TRY(make_file(self));
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

struct error *mutants_moved(void *data, const char *from, const char *to)
{
    struct mutants *self = data;
    if (self->has_file)
        cover_file_map_path(&self->file, from, to);
    return runtime_session_map_path(self->session, from, to);
}

struct error *mutants_begin(void *data, const char *root)
{
    struct mutants *self = data;
    return runtime_session_begin(self->session, root);
}

// ---- after a run ----

// Whether a candidate's breakpoints were met: one is enough.
static void take_watches(const struct mutants *self, enum mutant_execution *executed)
{
    for (size_t i = 0; i < self->watches.count; i++) {
        const struct mutant_watch *watch = &self->watches.items[i];
        enum mutant_execution *slot = &executed[watch->candidate];
        if (cover_file_reached(&self->file, watch->block) != 0)
            *slot = MUTANT_EXECUTED;
        else if (*slot != MUTANT_EXECUTED)
            *slot = cover_file_loaded(&self->file, watch->module) ? MUTANT_NOT_EXECUTED
                                                                  : MUTANT_NOT_LOADED;
    }
}

static struct error *add_injection(const struct mutants *self, bool counted,
                                   struct observation *observation)
{
    const struct mutate_candidate *candidate = &self->set.items.items[self->candidate];
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    observation->activations = 1;
    injection->occurrence = counted;
    injection->process = 1;
    injection->line = candidate->line;
    injection->offset = candidate->address;
    injection->fault = strdup(model_types[candidate->kind].name);
    injection->symbol = *candidate->function != '\0' ? strdup(candidate->function) : NULL;
    injection->module = strdup(self->changed);
    injection->file = *candidate->file != '\0' ? strdup(mutants_name(self, candidate->file)) : NULL;
    const char *program = candidate->address != 0 ? self->changed : self->program;
    if (program != NULL && strstr(file_base_name(program), ".so") == NULL) // a library's user is
        injection->program = strdup(file_base_name(program));              // not known
    return injection->fault != NULL && injection->module != NULL &&
                   (injection->symbol != NULL || *candidate->function == '\0') &&
                   (injection->file != NULL || *candidate->file == '\0')
               ? NULL
               : error_no_memory();
}

// A shot's own breakpoint tells whether the fault was executed. Without one, what the reference run
// said of the place holds: up to the fault, both runs are the same.
static struct error *take_hit(struct mutants *self, struct observation *observation)
{
    enum mutant_execution executed = self->known;
    if (self->has_file) {
        self->executed[self->candidate] = MUTANT_NOT_EXECUTED;
        take_watches(self, self->executed);
        executed = self->executed[self->candidate];
    }
    if (executed == MUTANT_EXECUTED || executed == MUTANT_UNKNOWN)
        return add_injection(self, executed == MUTANT_EXECUTED, observation);
    if (executed != MUTANT_NOT_LOADED)
        return NULL;
    struct buffer note = {0};
    TRY(buffer_printf(&note, "no process that could be looked into has loaded %s",
                      self->changed != NULL ? self->changed : "the file"));
    free(observation->note);
    observation->note = note.data;
    return NULL;
}

struct error *mutants_observe(void *data, const char *root, struct observation *observation)
{
    struct mutants *self = data;
    struct wire_view view;
    TRY(journal_reader_end_session(self->reader, self->session, root, self->no_rules, &view,
                                   observation));
    if (self->has_file && observation->damage == WIRE_DAMAGE_NONE &&
        !cover_file_add(&self->file, view.marks, view.region->mark_count, 1))
        observation->damage = WIRE_DAMAGE_MARK;
    if (observation->damage != WIRE_DAMAGE_NONE)
        return self->profiles ? journal_reader_damage_error() : NULL;
    if (self->candidate != MUTANTS_NONE)
        return take_hit(self, observation);
    if (self->profiles) {
        if (self->has_file)
            take_watches(self, self->executed);
        self->profiled = true;
    }
    return NULL;
}

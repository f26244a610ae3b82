// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `ir`: one of the software faults that `ordeal cc` has put into a program or library
// is switched on. A spec reads "no-store@sum.c:12:5 in sum#17": type, place, file and number there.
// The runtime switches it on in the memory of every process that loads the file; files stay as they
// are. The first reference run goes through the faultless copies of all functions and notes which
// blocks are executed.
#include "base/cleanup.h"
#include "base/file.h"
#include "base/shell.h"
#include "campaign/definition-parameter.h"
#include "campaign/duration.h"
#include "campaign/injectors.h"
#include "campaign/ir-programs.h"
#include "campaign/reproduce.h"
#include "campaign/witness.h"
#include "trial/armed.h"
#include "trial/cover-file.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct injector_parameter parameters[] = {
    {"binaries", "FILE...", "programs and libraries with faults inside (auto)", false, true},
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"files", "GLOB...", "in these source files only", false, true},
    {"blocks", "executed|all",
     "only in code that the workload executes without faults, or in all (executed)", false, false},
    {0},
};

#define AUTOMATIC "auto"

struct ir {
    const struct definition *definition;
    struct ir_programs programs; // found for the first shot
    bool found, profiled;
    size_t not_executed, not_loaded; // candidates that were left out

    struct armed *armed;
    struct scenario *nothing;
    struct witness *witness;
    const char *visible[3];
    // This shot's.
    struct cover_file file;
    bool has_file, profiles;
    struct ir_blocks *blocks; // by program; of a fault: the one program's
    size_t block_lists;
    size_t program, candidate;
};

static void forget_shot(struct ir *self)
{
    if (self->has_file)
        cover_file_close(&self->file);
    for (size_t i = 0; i < self->block_lists; i++)
        ir_blocks_deinit(&self->blocks[i]);
    free(TAKE(self->blocks));
    self->block_lists = 0;
    self->has_file = self->profiles = false;
}

static void close_ir(void *data)
{
    struct ir *self = data;
    if (self == NULL)
        return;
    forget_shot(self);
    armed_free(self->armed);
    scenario_free(self->nothing);
    witness_free(self->witness);
    ir_programs_deinit(&self->programs);
    free(self);
}

static const definition_words *words_of(const struct ir *self, const char *parameter)
{
    const struct definition_parameter *found = parameters_find(self->definition, parameter);
    return found != NULL ? &found->values : NULL;
}

static struct error *find_programs(struct ir *self)
{
    const definition_words *named = words_of(self, "binaries");
    if (self->found)
        return NULL;
    if (named != NULL && named->count == 1 && strcmp(named->items[0], AUTOMATIC) == 0)
        named = NULL;
    TRY(ir_programs_find(self->definition, named, &self->programs));
    self->found = true;
    return NULL;
}

static struct error *fill(struct ir *self)
{
    TRY(scenario_new(&self->nothing));
    return witness_new(&self->witness);
}

static struct error *open_ir(const struct definition *definition, void **ret_self)
{
    struct ir *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->definition = definition;
    struct error *error = fill(self);
    if (error != NULL) {
        close_ir(self);
        return error;
    }
    *ret_self = self;
    return NULL;
}

// ---- specs ----

static const struct image_function *function_of(const struct image *image, size_t candidate)
{
    return &image->functions.items[image->candidates.items[candidate].function];
}

static struct error *put_spec(const struct ir_program *program, size_t number, struct buffer *text)
{
    const struct image_candidate *candidate = &program->image.candidates.items[number];
    TRY(buffer_printf(text, "%s@", candidate->type));
    if (*candidate->file == '\0')
        TRY(buffer_printf(text, "%s", function_of(&program->image, number)->name));
    else
        TRY(buffer_printf(text, "%s:%" PRIu32 ":%" PRIu32, file_base_name(candidate->file),
                          candidate->line, candidate->column));
    return buffer_printf(text, " in %s#%zu", program->name, number + 1);
}

static bool can_be_enabled(const struct image *image, size_t candidate)
{
    return !function_of(image, candidate)->again && image->candidates.items[candidate].copies != 0;
}

static struct error *find_spec(struct ir *self, const char *spec)
{
    const char *hash = strrchr(spec, '#');
    unsigned long long number = hash != NULL ? strtoull(hash + 1, NULL, 10) : 0;
    for (size_t i = 0; i < self->programs.items.count; i++) {
        const struct ir_program *program = &self->programs.items.items[i];
        _cleanup_(buffer_deinit) struct buffer text = {0};
        if (number == 0 || number > program->image.candidates.count ||
            !can_be_enabled(&program->image, number - 1))
            continue;
        TRY(put_spec(program, number - 1, &text));
        if (strcmp(text.data, spec) != 0)
            continue;
        self->program = i;
        self->candidate = number - 1;
        return NULL;
    }
    return error_new("there is no fault '%s'; was the program built anew since?", spec);
}

// ---- before a run ----

static struct error *make_blocks(struct ir *self, const char *spec)
{
    size_t count = spec != NULL ? 1 : self->programs.items.count;
    self->blocks = calloc(count, sizeof *self->blocks);
    if (self->blocks == NULL)
        return error_no_memory();
    self->block_lists = count;
    if (spec != NULL) {
        TRY(find_spec(self, spec));
        return ir_blocks_of_fault(&self->programs.items.items[self->program].image, self->candidate,
                                  &self->blocks[0]);
    }
    for (size_t i = 0; i < count; i++)
        TRY(ir_blocks_of_all(&self->programs.items.items[i].image, &self->blocks[i]));
    return NULL;
}

typedef ARRAY(struct wire_coverage_module) wire_modules;
typedef ARRAY(struct wire_coverage_block) wire_blocks;

static struct error *add_module(wire_modules *modules, const char *path, size_t first, size_t count)
{
    struct wire_coverage_module *module =
        strlen(path) < sizeof module->path ? ARRAY_ADD(modules) : NULL;
    if (module == NULL)
        return strlen(path) < sizeof module->path ? error_no_memory()
                                                  : error_new("%s: its path is too long", path);
    module->first = (uint32_t)first;
    module->count = (uint32_t)count;
    strcpy(module->path, path);
    return NULL;
}

// The file itself and links to it share blocks.
static struct error *add_program(const struct ir_program *program, const struct ir_blocks *list,
                                 wire_modules *modules, wire_blocks *blocks)
{
    size_t first = blocks->count;
    for (size_t i = 0; i < list->items.count; i++) {
        struct wire_coverage_block *block = ARRAY_ADD(blocks);
        if (block == NULL)
            return error_no_memory();
        *block = list->items.items[i].wire;
    }
    TRY(add_module(modules, program->path, first, list->items.count));
    for (size_t i = 0; i < program->others.count; i++)
        TRY(add_module(modules, program->others.items[i], first, list->items.count));
    return NULL;
}

static struct error *make_file(struct ir *self, bool one)
{
    wire_modules modules = {0};
    wire_blocks blocks = {0};
    struct error *error = NULL;
    for (size_t i = 0; error == NULL && i < self->block_lists; i++)
        error = add_program(&self->programs.items.items[one ? self->program : i], &self->blocks[i],
                            &modules, &blocks);
    if (error == NULL)
        error = cover_file_create(modules.items, modules.count, blocks.items, blocks.count,
                                  &self->file);
    self->has_file = error == NULL;
    ARRAY_DEINIT(&modules);
    ARRAY_DEINIT(&blocks);
    return error;
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct ir *self = data;
    if (shot->switched != NULL)
        return error_new("the faults of 'ir' cannot be switched in a server that runs");
    forget_shot(self);
    TRY(find_programs(self));
    if (self->armed == NULL)
        TRY(armed_new(&self->armed));
    self->profiles = shot->spec == NULL && !self->profiled;
    if (shot->spec != NULL || self->profiles) {
        TRY(make_blocks(self, shot->spec));
        TRY(make_file(self, shot->spec != NULL));
    }
    const struct armed_options options = {
        .scenario = self->nothing,
        .seed = shot->seed,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .coverage = self->has_file ? self->file.path : NULL,
    };
    TRY(armed_prepare(self->armed, &options));
    self->visible[0] = armed_file(self->armed);
    self->visible[1] = self->has_file ? self->file.path : NULL;
    shot->use_environment = armed_environment(self->armed);
    shot->visible = self->visible;
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    struct ir *self = data;
    if (self->has_file)
        cover_file_moved(&self->file, from, to);
    return armed_moved(self->armed, from, to);
}

static struct error *begin(void *data, const char *root)
{
    struct ir *self = data;
    return armed_begin(self->armed, root);
}

// ---- after a run ----

static void take_block(struct ir_program *program, const struct ir_block *block)
{
    if (block->marker == SIZE_MAX)
        return;
    const struct image_marker *marker = &program->image.markers.items[block->marker];
    for (size_t i = 0; i < marker->targets; i++)
        program->executed[image_target_candidate(
            &program->image, marker, &program->image.targets.items[marker->first_target + i])] =
            true;
}

static void take_profile(struct ir *self)
{
    size_t module = 0, number = 0;
    for (size_t i = 0; i < self->block_lists; i++) {
        struct ir_program *program = &self->programs.items.items[i];
        for (size_t j = 0; j <= program->others.count; j++)
            program->loaded |= cover_file_loaded(&self->file, module++);
        for (size_t j = 0; j < self->blocks[i].items.count; j++)
            if (cover_file_reached(&self->file, number++) != 0)
                take_block(program, &self->blocks[i].items.items[j]);
    }
    self->profiled = true;
}

static struct error *add_injection(const struct ir *self, struct observation *observation)
{
    const struct ir_program *program = &self->programs.items.items[self->program];
    const struct image_candidate *candidate = &program->image.candidates.items[self->candidate];
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    injection->occurrence = injection->process = 1;
    injection->line = candidate->line;
    injection->fault = strdup(candidate->type);
    injection->symbol = strdup(function_of(&program->image, self->candidate)->name);
    injection->module = strdup(program->path);
    injection->file = *candidate->file != '\0' ? strdup(candidate->file) : NULL;
    if (strstr(file_base_name(program->path), ".so") ==
        NULL) // of a library's user, nothing is known
        injection->program = strdup(file_base_name(program->path));
    return injection->fault != NULL && injection->symbol != NULL && injection->module != NULL &&
                   (injection->file != NULL || *candidate->file == '\0')
               ? NULL
               : error_no_memory();
}

// Threads that come at the same time may go past the end.
static uint32_t count_of(const struct ir *self, size_t block)
{
    uint32_t count = cover_file_reached(&self->file, block);
    return count < WIRE_BLOCK_MOST ? count : WIRE_BLOCK_MOST;
}

static struct error *look(struct ir *self, const char *root, struct observation *observation)
{
    struct wire_view view;
    TRY(armed_end(self->armed, &view));
    TRY(witness_begin(self->witness, root));
    TRY(witness_observe(self->witness, &view, self->nothing, observation));
    if (self->profiles) {
        take_profile(self);
        return NULL;
    }
    for (size_t i = 0; self->has_file && i < self->blocks[0].items.count; i++)
        if ((self->blocks[0].items.items[i].wire.flags & WIRE_BLOCK_COUNT) != 0)
            observation->activations += count_of(self, i);
    return observation->activations != 0 ? add_injection(self, observation) : NULL;
}

static struct error *observe(void *data, const char *root, struct observation *ret_observation)
{
    struct observation observation = {0};
    struct error *error = look(data, root, &observation);
    if (error != NULL)
        observation_deinit(&observation);
    else
        *ret_observation = observation;
    return error;
}

// ---- candidates ----

static bool fits(const definition_words *globs, const char *text)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (fnmatch(globs->items[i], text, 0) == 0 ||
            fnmatch(globs->items[i], file_base_name(text), 0) == 0)
            return true;
    return globs == NULL;
}

static bool is_wanted(const struct ir *self, const struct ir_program *program, size_t number)
{
    const struct image_candidate *candidate = &program->image.candidates.items[number];
    return can_be_enabled(&program->image, number) &&
           fits(words_of(self, "types"), candidate->type) &&
           fits(words_of(self, "functions"), function_of(&program->image, number)->name) &&
           fits(words_of(self, "files"), candidate->file);
}

static struct error *make_candidate(const struct ir_program *program, size_t number,
                                    struct candidate *candidate)
{
    const struct image_candidate *from = &program->image.candidates.items[number];
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(put_spec(program, number, &spec));
    const char *base = file_base_name(from->file);
    candidate->weight = 1;
    candidate->line = from->line;
    candidate->spec = TAKE(spec.data);
    candidate->type = strdup(from->type);
    candidate->function = strdup(function_of(&program->image, number)->name);
    candidate->module = strdup(program->path);
    candidate->file = strdup(from->file);
    candidate->component =
        base > from->file + 1 ? strndup(from->file, (size_t)(base - from->file) - 1) : strdup(".");
    return candidate->type != NULL && candidate->function != NULL && candidate->module != NULL &&
                   candidate->file != NULL && candidate->component != NULL
               ? NULL
               : error_no_memory();
}

static bool is_left_out(struct ir *self, const struct ir_program *program, size_t number)
{
    bool all = strcmp(parameters_value(self->definition, "blocks", "executed"), "all") == 0;
    if (program->executed[number] || (all && (program->loaded || !self->programs.automatic)))
        return false;
    // Of what nobody named and the workload does not use, nobody wants to hear.
    self->not_executed += program->loaded;
    self->not_loaded += !program->loaded && !self->programs.automatic;
    return true;
}

static struct error *candidates(void *data,
                                struct error *(*add)(void *data, struct candidate *candidate),
                                void *add_data)
{
    struct ir *self = data;
    self->not_executed = self->not_loaded = 0;
    for (size_t i = 0; i < self->programs.items.count; i++) {
        const struct ir_program *program = &self->programs.items.items[i];
        for (size_t j = 0; j < program->image.candidates.count; j++) {
            struct candidate candidate = {0};
            if (!is_wanted(self, program, j) || is_left_out(self, program, j))
                continue;
            struct error *error = make_candidate(program, j, &candidate);
            if (error == NULL)
                error = add(add_data, &candidate);
            candidate_deinit(&candidate);
            if (error != NULL)
                return error;
        }
    }
    return NULL;
}

static struct error *remarks(void *data, struct error *(*say)(void *data, const char *sentence),
                             void *say_data)
{
    const struct ir *self = data;
    _cleanup_(buffer_deinit) struct buffer executed = {0}, loaded = {0};
    if (self->not_executed != 0) {
        TRY(buffer_printf(&executed,
                          "%zu faults are in code that the first fault-free run does not execute, "
                          "and were left out ('blocks: all' takes them in)",
                          self->not_executed));
        TRY(say(say_data, executed.data));
    }
    if (self->not_loaded != 0) {
        TRY(buffer_printf(&loaded,
                          "%zu faults are in files that the workload does not load, and were left "
                          "out",
                          self->not_loaded));
        TRY(say(say_data, loaded.data));
    }
    if (self->programs.cut)
        TRY(say(say_data, "there are too many files below the working directory to look for faults "
                          "in all of them; name the files in 'binaries'"));
    return NULL;
}

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
    .candidates = candidates,
    .remarks = remarks,
};

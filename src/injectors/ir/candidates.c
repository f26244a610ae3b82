// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the candidates of the injector `ir`: one for each wanted fault in executed code. If a trial
// has several faults, others are drawn at random for each of them.
#include "injectors/ir/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "definition/weights.h"
#include "stats/stats.h"
#include "store/spec.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define TRIES  1000 // to draw one more fault that goes with the others
#define STREAM 0x69726661756c7473u

struct ir_candidate_builder {
    struct ir *self;
    struct ir_faults all;
    struct weights weights;
    double most; // the largest weight
    struct stats_random random;
};

static void ir_candidate_builder_deinit(struct ir_candidate_builder *builder)
{
    ARRAY_DEINIT(&builder->all.items);
    weights_deinit(&builder->weights);
}

// ---- which ----

static bool fits(const struct words *globs, const char *text)
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
    return ir_can_be_enabled(&program->image, number) &&
           fits(parameters_words(self->setup.parameters, "types"), candidate->type) &&
           fits(parameters_words(self->setup.parameters, "functions"),
                ir_function(&program->image, number)->name) &&
           fits(parameters_words(self->setup.parameters, "files"), candidate->file);
}

static bool is_left_out(struct ir *self, const struct ir_program *program, size_t number)
{
    bool all = strcmp(parameters_value(self->setup.parameters, "blocks", "executed"), "all") == 0;
    if (program->executed[number] || (all && (program->loaded || !self->programs.automatic)))
        return false;
    // Files that the user did not name and the workload does not load are not worth a remark.
    self->not_executed += program->loaded;
    self->not_loaded += !program->loaded && !self->programs.automatic;
    return true;
}

static struct error *find_all(struct ir *self, struct ir_faults *faults)
{
    self->not_executed = self->not_loaded = 0;
    for (size_t i = 0; i < self->programs.items.count; i++) {
        const struct ir_program *program = &self->programs.items.items[i];
        for (size_t j = 0; j < program->image.candidates.count; j++) {
            if (!is_wanted(self, program, j) || is_left_out(self, program, j))
                continue;
            struct ir_fault *fault = ARRAY_ADD(&faults->items);
            if (fault == NULL)
                return error_no_memory();
            *fault = (struct ir_fault){.program = i, .candidate = j};
        }
    }
    return NULL;
}

// ---- together ----

static double weight_of(const struct ir_candidate_builder *builder, const struct ir_fault *fault)
{
    const struct image *image = &builder->self->programs.items.items[fault->program].image;
    return weights_find(&builder->weights, image->candidates.items[fault->candidate].type);
}

static struct error *read_weights(struct ir_candidate_builder *builder)
{
    const char *file = builder->self->setup.weights_file;
    if (file != NULL)
        TRY(weights_read(file, &builder->weights));
    for (size_t i = 0; i < builder->all.items.count; i++) {
        double weight = weight_of(builder, &builder->all.items.items[i]);
        builder->most = weight > builder->most ? weight : builder->most;
    }
    return NULL;
}

static bool goes_with(const struct ir *self, const struct ir_fault *fault,
                      const struct ir_fault *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ir_exclude(self, fault, &others[i]))
            return false;
    return true;
}

// Draws one more fault, with a probability proportional to its weight. False if no other one was
// found.
static bool draw(struct ir_candidate_builder *builder, struct ir_fault *faults, size_t count)
{
    for (int i = 0; i < TRIES; i++) {
        const struct ir_fault *fault =
            &builder->all.items
                 .items[stats_random_below(&builder->random, builder->all.items.count)];
        if (stats_random_unit(&builder->random) * builder->most >= weight_of(builder, fault) ||
            !goes_with(builder->self, fault, faults, count))
            continue;
        faults[count] = *fault;
        return true;
    }
    return false;
}

static struct error *put_specs(struct ir_candidate_builder *builder, size_t first,
                               struct buffer *spec)
{
    struct ir_fault faults[IR_MOST_FAULTS] = {builder->all.items.items[first]};
    for (size_t i = 0; i < builder->self->faults_per_trial; i++) {
        if (i != 0 && !draw(builder, faults, i))
            return error_new("there are not %zu faults that can be enabled together; see "
                             "'injector.ir.faults'",
                             builder->self->faults_per_trial);
        if (i != 0)
            TRY(buffer_printf(spec, SPEC_THEN));
        TRY(ir_put_spec(&builder->self->programs.items.items[faults[i].program],
                        faults[i].candidate, spec));
    }
    return NULL;
}

// ---- candidates ----

static struct error *make_candidate(struct ir_candidate_builder *builder, size_t index,
                                    struct candidate *candidate)
{
    const struct ir_fault *fault = &builder->all.items.items[index];
    const struct ir_program *program = &builder->self->programs.items.items[fault->program];
    const struct image_candidate *from = &program->image.candidates.items[fault->candidate];
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(put_specs(builder, index, &spec));
    const char *base = file_base_name(from->file);
    candidate->weight = 1;
    candidate->line = from->line;
    candidate->spec = TAKE(spec.data);
    candidate->type = strdup(from->type);
    candidate->function = strdup(ir_function(&program->image, fault->candidate)->name);
    candidate->module = strdup(program->path);
    candidate->file = strdup(from->file);
    candidate->component =
        base > from->file + 1 ? strndup(from->file, (size_t)(base - from->file) - 1) : strdup(".");
    return candidate->type != NULL && candidate->function != NULL && candidate->module != NULL &&
                   candidate->file != NULL && candidate->component != NULL
               ? NULL
               : error_no_memory();
}

struct error *ir_candidates(void *data, candidate_add *add, void *add_data)
{
    struct ir *self = data;
    _cleanup_(ir_candidate_builder_deinit) struct ir_candidate_builder builder = {
        .self = self, .random = stats_random_start(self->setup.seed, STREAM)};
    TRY(find_all(self, &builder.all));
    if (self->faults_per_trial > 1)
        TRY(read_weights(&builder));
    for (size_t i = 0; i < builder.all.items.count; i++) {
        struct candidate candidate = {0};
        struct error *error = make_candidate(&builder, i, &candidate);
        if (error == NULL)
            error = add(add_data, &candidate);
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

static bool is_any_loaded(const struct ir *self)
{
    for (size_t i = 0; i < self->programs.items.count; i++)
        if (self->programs.items.items[i].loaded)
            return true;
    return self->programs.items.count == 0;
}

static struct error *note(remark_add *add, void *data, const char *sentence)
{
    return add(data, &(struct store_remark){.kind = REMARK_NOTE, .text = sentence});
}

struct error *ir_remarks(void *data, remark_add *add, void *add_data)
{
    const struct ir *self = data;
    _cleanup_(buffer_deinit) struct buffer executed = {0}, loaded = {0}, several = {0}, none = {0};
    if (self->faults_per_trial > 1) {
        TRY(buffer_printf(&several,
                          "each trial has %zu faults; groups of the report go by the first of them",
                          self->faults_per_trial));
        TRY(note(add, add_data, several.data));
    }
    if (self->not_executed != 0) {
        TRY(buffer_printf(&executed,
                          "%zu faults are in code that the first fault-free run does not execute, "
                          "and were left out ('blocks: all' takes them in)",
                          self->not_executed));
        TRY(note(add, add_data, executed.data));
    }
    if (self->not_loaded != 0) {
        TRY(buffer_printf(&loaded,
                          "%zu faults are in files that the workload does not load, and were left "
                          "out",
                          self->not_loaded));
        TRY(note(add, add_data, loaded.data));
    }
    if (!is_any_loaded(self)) {
        TRY(buffer_printf(&none,
                          "the workload loads nothing that has faults inside, not even %s; if that "
                          "is statically linked, link it dynamically: faults are switched on by "
                          "what is loaded into it",
                          self->programs.items.items[0].name));
        TRY(note(add, add_data, none.data));
    }
    if (self->programs.cut)
        TRY(note(add, add_data,
                 "there are too many files below the working directory to look for faults "
                 "in all of them; name the files in 'binaries'"));
    return NULL;
}

// SPDX-License-Identifier: GPL-3.0-or-later
#include "mutate/score/built-in.h"

#include "base/cleanup.h"
#include "mutate/image-level.h"
#include "mutate/run/programs.h"
#include "scenario/scenario.h"
#include "trial/runtime-session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct built_in {
    const struct mutate_set *set;
    struct ir_programs programs;
    ARRAY(size_t) program; // by candidate
    struct runtime_session *session;
    pid_t owner; // of the session
    struct scenario *no_rules;
    // of the run
    struct cover_file file;
    bool has_file;
    struct ir_blocks *blocks; // by program
    size_t number;
    const char *visible[3];
};

static void forget_run(struct built_in *mutants)
{
    if (mutants->has_file)
        cover_file_close(&mutants->file);
    for (size_t i = 0; mutants->blocks != NULL && i < mutants->programs.items.count; i++)
        ir_blocks_deinit(&mutants->blocks[i]);
    free(TAKE(mutants->blocks));
    mutants->has_file = false;
}

void built_in_free(struct built_in *mutants)
{
    if (mutants == NULL)
        return;
    forget_run(mutants);
    if (mutants->owner == getpid())
        runtime_session_free(mutants->session);
    scenario_free(mutants->no_rules);
    ir_programs_deinit(&mutants->programs);
    ARRAY_DEINIT(&mutants->program);
    free(mutants);
}

// Candidates of one file follow one another.
static struct error *add_program(struct built_in *mutants, size_t number)
{
    const struct mutate_candidate *items = mutants->set->items.items;
    bool same = number > 0 && strcmp(items[number].changed, items[number - 1].changed) == 0;
    if (!same) {
        struct ir_program *program = ARRAY_ADD(&mutants->programs.items);
        if (program == NULL)
            return error_no_memory();
        TRY(ir_program_open(items[number].changed, program));
    }
    size_t *slot = ARRAY_ADD(&mutants->program);
    if (slot == NULL)
        return error_no_memory();
    *slot = mutants->programs.items.count - 1;
    return NULL;
}

struct error *built_in_new(const struct mutate_set *set, struct built_in **ret_mutants)
{
    struct built_in *mutants = calloc(1, sizeof *mutants);
    if (mutants == NULL)
        return error_no_memory();
    mutants->set = set;
    struct error *error = scenario_new(&mutants->no_rules);
    for (size_t i = 0; i < set->items.count && error == NULL; i++)
        error = add_program(mutants, i);
    if (error != NULL)
        built_in_free(mutants);
    else
        *ret_mutants = mutants;
    return error;
}

struct error *built_in_content(struct built_in *mutants, size_t number, struct buffer *ret_content)
{
    struct image *image = &mutants->programs.items.items[mutants->program.items[number]].image;
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    _cleanup_free_ bool *enabled = calloc(image->candidates.count + 1, sizeof *enabled);
    if (enabled == NULL)
        return error_no_memory();
    size_t candidate = mutate_ir_candidate(mutants->set, number);
    if (candidate >= image->candidates.count)
        return error_new("%s has changed since it was looked at", image->path);
    enabled[candidate] = true;
    TRY(image_enable(image, enabled, &patches));
    struct error *error = buffer_append(ret_content, image->bytes.data, image->bytes.size);
    image_undo(image, &patches); // so that the next one finds the image without faults
    return error;
}

static struct error *make_file(struct built_in *mutants)
{
    size_t count = mutants->programs.items.count, used = 0;
    bool faulty = mutants->number != SIZE_MAX;
    _cleanup_free_ struct ir_part *parts = calloc(count + 1, sizeof *parts);
    mutants->blocks = calloc(count + 1, sizeof *mutants->blocks);
    if (parts == NULL || mutants->blocks == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        struct ir_program *program = &mutants->programs.items.items[i];
        if (faulty && mutants->program.items[mutants->number] != i)
            continue;
        size_t candidate = faulty ? mutate_ir_candidate(mutants->set, mutants->number) : 0;
        TRY(faulty ? ir_blocks_of_faults(&program->image, &candidate, 1, &mutants->blocks[i])
                   : ir_blocks_of_all(&program->image, &mutants->blocks[i]));
        parts[used++] = (struct ir_part){program, &mutants->blocks[i]};
    }
    TRY(ir_file_create(parts, used, &mutants->file));
    mutants->has_file = true;
    return NULL;
}

struct error *built_in_prepare(struct built_in *mutants, size_t number, char *const *command,
                               struct built_in_run *ret_run)
{
    forget_run(mutants);
    mutants->number = number;
    TRY(make_file(mutants));
    if (mutants->owner != getpid()) { // a parent's session is the parent's
        mutants->session = NULL;
        TRY(runtime_session_new(&mutants->session));
        mutants->owner = getpid();
    }
    const struct runtime_session_options options = {.scenario = mutants->no_rules,
                                                    .command = command,
                                                    .environment = environ,
                                                    .catch_crashes = true, // installs handlers
                                                    .coverage = &mutants->file};
    TRY(runtime_session_prepare(mutants->session, &options));
    mutants->visible[0] = runtime_session_file(mutants->session);
    mutants->visible[1] = runtime_session_coverage(mutants->session);
    *ret_run =
        (struct built_in_run){runtime_session_environment(mutants->session), mutants->visible};
    return NULL;
}

struct error *built_in_begin(struct built_in *mutants, const char *from, const char *to,
                             const char *root)
{
    if (strcmp(from, to) != 0) {
        cover_file_map_path(&mutants->file, from, to);
        TRY(runtime_session_map_path(mutants->session, from, to));
    }
    return runtime_session_begin(mutants->session, root);
}

static void take_profile(struct built_in *mutants)
{
    size_t module = 0, number = 0;
    for (size_t i = 0; i < mutants->programs.items.count; i++) {
        struct ir_program *program = &mutants->programs.items.items[i];
        for (size_t j = 0; j <= program->others.count; j++)
            program->loaded |= cover_file_loaded(&mutants->file, module++);
        for (size_t j = 0; j < mutants->blocks[i].items.count; j++)
            if (cover_file_reached(&mutants->file, number++) != 0)
                ir_program_mark_executed(program, &mutants->blocks[i].items.items[j]);
    }
}

struct error *built_in_end(struct built_in *mutants)
{
    struct wire_view view;
    TRY(runtime_session_end(mutants->session, &view));
    if (mutants->number != SIZE_MAX)
        return NULL;
    if (view.damage != WIRE_DAMAGE_NONE ||
        !cover_file_add(&mutants->file, view.marks, view.region->mark_count, 1))
        return error_new("the tests damaged the shared memory in which it is noted what they "
                         "execute");
    take_profile(mutants);
    return NULL;
}

bool built_in_loaded(const struct built_in *mutants)
{
    for (size_t i = 0; i < mutants->programs.items.count; i++)
        if (mutants->programs.items.items[i].loaded)
            return true;
    return false;
}

bool built_in_reached(const struct built_in *mutants, size_t number)
{
    return mutants->programs.items.items[mutants->program.items[number]]
        .executed[mutate_ir_candidate(mutants->set, number)];
}

void built_in_forget(struct built_in *mutants)
{
    for (size_t i = 0; i < mutants->programs.items.count; i++) {
        struct ir_program *program = &mutants->programs.items.items[i];
        memset(program->executed, 0, program->image.candidates.count * sizeof *program->executed);
    }
}

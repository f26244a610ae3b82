// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the coverage file that tells the runtime what to patch in a shot's processes, and reads
// from it afterwards what was executed.
#include "injectors/ir/internal.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void ir_shot_forget(struct ir *self)
{
    if (self->has_file)
        cover_file_close(&self->file);
    for (size_t i = 0; self->blocks != NULL && i < self->programs.items.count; i++)
        ir_blocks_deinit(&self->blocks[i]);
    free(TAKE(self->blocks));
    ARRAY_DEINIT(&self->faults.items);
    self->has_file = self->profiles = false;
}

// ---- before a run ----

static struct error *make_faulty(struct ir *self, size_t program)
{
    size_t candidates[IR_MOST_FAULTS], count = 0;
    for (size_t i = 0; i < self->faults.items.count && count < IR_MOST_FAULTS; i++)
        if (self->faults.items.items[i].program == program)
            candidates[count++] = self->faults.items.items[i].candidate;
    if (count == 0)
        return NULL;
    return ir_blocks_of_faults(&self->programs.items.items[program].image, candidates, count,
                               &self->blocks[program]);
}

// Counting takes time, which would not pass without the fault.
static void count_once(struct ir_blocks *blocks)
{
    for (size_t i = 0; i < blocks->items.count; i++)
        blocks->items.items[i].wire.flags &= ~(uint32_t)WIRE_BLOCK_COUNT;
}

static struct error *make_blocks(struct ir *self, const char *spec)
{
    size_t count = self->programs.items.count;
    self->blocks = calloc(count + 1, sizeof *self->blocks);
    if (self->blocks == NULL)
        return error_no_memory();
    if (spec != NULL)
        TRY(ir_find_spec(self, spec, &self->faults));
    if (self->faults.items.count > IR_MOST_FAULTS)
        return error_new("a trial can have at most %d software faults", IR_MOST_FAULTS);
    for (size_t i = 0; i < count; i++) {
        const struct image *image = &self->programs.items.items[i].image;
        if (spec != NULL)
            TRY(make_faulty(self, i));
        else if (self->profiles)
            TRY(ir_blocks_of_all(image, &self->blocks[i]));
        if (spec != NULL && self->setup.compares_behaviour)
            count_once(&self->blocks[i]);
        if (self->setup.compares_code && !self->profiles)
            TRY(ir_blocks_add_entries(image, &self->blocks[i]));
    }
    return NULL;
}

// In a shot with faults, only programs that have one of them are touched.
static bool takes_part(const struct ir *self, size_t program)
{
    return self->faults.items.count == 0 || self->blocks[program].items.count != 0;
}

static struct error *make_file(struct ir *self)
{
    size_t count = 0;
    _cleanup_free_ struct ir_part *parts = calloc(self->programs.items.count + 1, sizeof *parts);
    if (parts == NULL)
        return error_no_memory();
    for (size_t i = 0; i < self->programs.items.count; i++)
        if (takes_part(self, i))
            parts[count++] = (struct ir_part){&self->programs.items.items[i], &self->blocks[i]};
    TRY(ir_file_create(parts, count, &self->file));
    self->has_file = true;
    return NULL;
}

struct error *ir_shot_prepare(struct ir *self, const char *spec)
{
    TRY(make_blocks(self, spec));
    return make_file(self);
}

// ---- after a run ----

// If a file has several names and the workload started another one than the first, the program gets
// that name. Symbolic links do not count.
static void name_as_started(const struct ir *self, struct ir_program *program, size_t module)
{
    struct stat file;
    if (cover_file_loaded(&self->file, module))
        return;
    for (size_t i = 0; i < program->others.count; i++)
        if (cover_file_loaded(&self->file, module + 1 + i) &&
            lstat(program->others.items[i], &file) == 0 && S_ISREG(file.st_mode)) {
            ir_program_use_name(program, self->setup.directory, i);
            return;
        }
}

void ir_shot_take_profile(struct ir *self)
{
    size_t module = 0, number = 0;
    for (size_t i = 0; i < self->programs.items.count; i++) {
        struct ir_program *program = &self->programs.items.items[i];
        size_t first = module;
        for (size_t j = 0; j <= program->others.count; j++)
            program->loaded |= cover_file_loaded(&self->file, module++);
        for (size_t j = 0; j < self->blocks[i].items.count; j++)
            if (cover_file_reached(&self->file, number++) != 0)
                ir_program_mark_executed(program, &self->blocks[i].items.items[j]);
        name_as_started(self, program, first);
    }
    self->profiled = true;
}

// Whether the block's marker leads to the fault.
static bool is_of(const struct image *image, const struct ir_block *block, size_t candidate)
{
    if (block->marker == SIZE_MAX)
        return false;
    const struct image_marker *marker = &image->markers.items[block->marker];
    for (size_t i = 0; i < marker->targets; i++)
        if (image_target_candidate(image, marker,
                                   &image->targets.items[marker->first_target + i]) == candidate)
            return true;
    return false;
}

// Threads that count at the same time may exceed the highest count.
static uint32_t count_of(const struct ir *self, size_t block)
{
    uint32_t count = cover_file_reached(&self->file, block);
    return count < WIRE_BLOCK_MOST ? count : WIRE_BLOCK_MOST;
}

static uint64_t hits(const struct ir *self, const struct ir_fault *fault)
{
    const struct image *image = &self->programs.items.items[fault->program].image;
    uint64_t count = 0;
    size_t number = 0;
    for (size_t i = 0; i < fault->program; i++)
        number += self->blocks[i].items.count;
    for (size_t i = 0; i < self->blocks[fault->program].items.count; i++, number++)
        if (is_of(image, &self->blocks[fault->program].items.items[i], fault->candidate))
            count += count_of(self, number);
    return count;
}

static struct error *add_injection(const struct ir *self, size_t index, uint64_t count,
                                   struct observation *observation)
{
    const struct ir_fault *fault = &self->faults.items.items[index];
    const struct ir_program *program = &self->programs.items.items[fault->program];
    const struct image_candidate *candidate = &program->image.candidates.items[fault->candidate];
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    injection->occurrence = count;
    injection->process = 1;
    injection->rule = (uint32_t)index;
    injection->line = candidate->line;
    injection->fault = strdup(candidate->type);
    injection->symbol = strdup(ir_function(&program->image, fault->candidate)->name);
    injection->module = strdup(program->path);
    injection->file = *candidate->file != '\0' ? strdup(candidate->file) : NULL;
    if (strstr(file_base_name(program->path), ".so") == NULL) // a library's user is not known
        injection->program = strdup(file_base_name(program->path));
    return injection->fault != NULL && injection->symbol != NULL && injection->module != NULL &&
                   (injection->file != NULL || *candidate->file == '\0')
               ? NULL
               : error_no_memory();
}

struct error *ir_shot_take_hits(const struct ir *self, struct observation *observation)
{
    for (size_t i = 0; i < self->faults.items.count; i++) {
        uint64_t count = hits(self, &self->faults.items.items[i]);
        observation->activations += count;
        if (count != 0)
            TRY(add_injection(self, i, count, observation));
    }
    return NULL;
}

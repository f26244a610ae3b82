// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and reads specs of software faults. "no-store@sum.c:12:5 in sum#17" is type, place,
// program and the fault's number there. Several faults of one trial are joined as rules are.
#include "injectors/ir/internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "store/spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct image_function *ir_function(const struct image *image, size_t candidate)
{
    return &image->functions.items[image->candidates.items[candidate].function];
}

bool ir_can_be_enabled(const struct image *image, size_t candidate)
{
    return !ir_function(image, candidate)->again && image->candidates.items[candidate].copies != 0;
}

struct error *ir_put_spec(const struct ir_program *program, size_t number, struct buffer *text)
{
    const struct image_candidate *candidate = &program->image.candidates.items[number];
    TRY(buffer_printf(text, "%s@", candidate->type));
    if (*candidate->file == '\0')
        TRY(buffer_printf(text, "%s", ir_function(&program->image, number)->name));
    else
        TRY(buffer_printf(text, "%s:%" PRIu32 ":%" PRIu32, file_base_name(candidate->file),
                          candidate->line, candidate->column));
    return buffer_printf(text, " in %s#%zu", program->name, number + 1);
}

static struct error *has_spec(const struct ir_program *program, size_t number, const char *spec,
                              bool *ret_is)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(ir_put_spec(program, number, &text));
    *ret_is = strcmp(text.data, spec) == 0;
    return NULL;
}

// A spec has the name that the program was started under when candidates were made. Tries all names
// of the program, and keeps the one that fits.
static struct error *has_spec_under_any_name(const struct ir *self, struct ir_program *program,
                                             size_t number, const char *spec, bool *ret_is)
{
    TRY(has_spec(program, number, spec, ret_is));
    for (size_t i = 0; !*ret_is && i < program->others.count; i++) {
        ir_program_use_name(program, self->setup.directory, i);
        TRY(has_spec(program, number, spec, ret_is));
        if (!*ret_is)
            ir_program_use_name(program, self->setup.directory, i);
    }
    return NULL;
}

static struct error *find_one(const struct ir *self, const char *spec, struct ir_fault *ret_fault)
{
    const char *hash = strrchr(spec, '#');
    unsigned long long number = hash != NULL ? strtoull(hash + 1, NULL, 10) : 0;
    for (size_t i = 0; i < self->programs.items.count; i++) {
        struct ir_program *program = &self->programs.items.items[i];
        bool found;
        if (number == 0 || number > program->image.candidates.count ||
            !ir_can_be_enabled(&program->image, number - 1))
            continue;
        TRY(has_spec_under_any_name(self, program, number - 1, spec, &found));
        if (!found)
            continue;
        *ret_fault = (struct ir_fault){.program = i, .candidate = number - 1};
        return NULL;
    }
    return error_new("there is no fault '%s'; was the program built anew since?", spec);
}

struct error *ir_find_spec(const struct ir *self, const char *spec, struct ir_faults *ret_faults)
{
    const char *part;
    size_t size;
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *one = strndup(part, size);
        struct ir_fault fault;
        if (one == NULL)
            return error_no_memory();
        TRY(find_one(self, one, &fault));
        struct ir_fault *slot = ARRAY_ADD(&ret_faults->items);
        if (slot == NULL)
            return error_no_memory();
        *slot = fault;
    }
    return NULL;
}

bool ir_exclude(const struct ir *self, const struct ir_fault *one, const struct ir_fault *other)
{
    if (one->program != other->program)
        return false;
    const struct image *image = &self->programs.items.items[one->program].image;
    const struct image_candidate *first = &image->candidates.items[one->candidate],
                                 *second = &image->candidates.items[other->candidate];
    return first->function == second->function && first->block == second->block;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Enables faults in a kernel's file, and reads from QEMU's log which of them could be reached.
#include "guest/kernel.h"

#include "base/cleanup.h"
#include "guest/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct error *find_places(const struct image *image, size_t candidate,
                                 uint64_t ret_places[GUEST_MOST_PLACES], size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < image->markers.count; i++) {
        const struct image_marker *marker = &image->markers.items[i];
        for (size_t j = 0; j < marker->targets; j++) {
            const struct image_target *target = &image->targets.items[marker->first_target + j];
            if (image_target_candidate(image, marker, target) != candidate)
                continue;
            if (count == GUEST_MOST_PLACES)
                return error_new("fault %zu has more than %d copies: too many to watch",
                                 candidate + 1, GUEST_MOST_PLACES);
            ret_places[count++] = target->address;
        }
    }
    if (count == 0)
        return error_new("fault %zu has no code of its own that could be watched", candidate + 1);
    *ret_count = count;
    return NULL;
}

static struct error *enable(struct image *image, size_t candidate,
                            struct image_patches *ret_patches)
{
    _cleanup_free_ bool *enabled = calloc(image->candidates.count + 1, sizeof *enabled);
    if (enabled == NULL)
        return error_no_memory();
    enabled[candidate] = true;
    return image_enable(image, enabled, ret_patches);
}

struct error *guest_kernel_write_faulty(struct image *image, size_t candidate, const char *path,
                                        uint64_t ret_places[GUEST_MOST_PLACES], size_t *ret_count)
{
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    TRY(find_places(image, candidate, ret_places, ret_count));
    TRY(enable(image, candidate, &patches));
    struct error *error = image_write(image, path);
    image_undo(image, &patches);
    return error;
}

static struct error *add_patch(const struct image *image, const struct image_patch *from,
                               struct guest_patches *patches)
{
    for (size_t i = 0; i < image->segments.count; i++) {
        const struct image_segment *segment = &image->segments.items[i];
        uint64_t distance = from->address - segment->address;
        if (from->address < segment->address || distance >= segment->file_size)
            continue;
        struct guest_patch *patch = ARRAY_ADD(&patches->items);
        if (patch == NULL)
            return error_no_memory();
        *patch = (struct guest_patch){.physical = segment->physical + distance, .size = from->size};
        memcpy(patch->before, from->before, from->size);
        memcpy(patch->after, from->after, from->size);
        return NULL;
    }
    return error_new("%s: no segment has the address 0x%" PRIx64, image->path, from->address);
}

struct error *guest_kernel_find_patches(struct image *image, size_t candidate,
                                        uint64_t ret_places[GUEST_MOST_PLACES], size_t *ret_count,
                                        struct guest_patches *ret_patches)
{
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    struct error *error = NULL;
    TRY(find_places(image, candidate, ret_places, ret_count));
    TRY(enable(image, candidate, &patches));
    for (size_t i = 0; i < patches.items.count && error == NULL; i++)
        error = add_patch(image, &patches.items.items[i], ret_patches);
    image_undo(image, &patches);
    return error;
}

void guest_patches_deinit(struct guest_patches *patches)
{
    ARRAY_DEINIT(&patches->items);
}

struct error *guest_kernel_write_twins(struct image *image, const char *path)
{
    for (size_t i = 0; i < image->entries.count; i++)
        image_set_entry(image, &image->entries.items[i], true);
    struct error *error = image_write(image, path);
    for (size_t i = 0; i < image->entries.count; i++)
        image_set_entry(image, &image->entries.items[i], false);
    return error;
}

struct trace_marks {
    struct ir_program *program;
    struct ir_blocks blocks; // by address
    const struct guest_report *report;
    enum guest_phase phase, *phases;
    bool *known; // the phase is
};

// Whatever is marked now was first executed in this phase.
static void end_phase(struct trace_marks *marks)
{
    for (size_t i = 0; i < marks->program->image.candidates.count; i++)
        if (marks->program->executed[i] && !marks->known[i]) {
            marks->known[i] = true;
            marks->phases[i] = marks->phase;
        }
}

static void mark(void *data, uint64_t address, uint64_t at)
{
    struct trace_marks *marks = data;
    while (marks->phase < marks->report->phase &&
           at >= marks->report->trace_from[marks->phase + 1]) {
        end_phase(marks);
        marks->phase++;
    }
    size_t low = 0, high = marks->blocks.items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks->blocks.items.items[middle].wire.address < address)
            low = middle + 1;
        else
            high = middle;
    }
    for (;
         low < marks->blocks.items.count && marks->blocks.items.items[low].wire.address == address;
         low++)
        if (marks->blocks.items.items[low].marker != SIZE_MAX)
            ir_program_mark_executed(marks->program, &marks->blocks.items.items[low]);
}

struct error *guest_kernel_take_trace(struct ir_program *program, const char *trace,
                                      const struct guest_report *report,
                                      enum guest_phase *ret_phases)
{
    _cleanup_free_ bool *known = calloc(program->image.candidates.count + 1, sizeof *known);
    if (known == NULL)
        return error_no_memory();
    struct trace_marks marks = {
        .program = program, .report = report, .phases = ret_phases, .known = known};
    struct error *error = ir_blocks_of_all(&program->image, &marks.blocks);
    if (error == NULL)
        error = guest_trace_read(trace, mark, &marks);
    end_phase(&marks);
    ir_blocks_deinit(&marks.blocks);
    return error;
}

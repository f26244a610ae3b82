// SPDX-License-Identifier: GPL-3.0-or-later
// Enables and disables candidates in the bytes of an image. A marker jumps to a clone, or does
// nothing. An entry jumps to its twin if a fault is enabled in the function itself or in anything
// that may have been inlined into it.
#include "mutate/image.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void image_patches_deinit(struct image_patches *patches)
{
    ARRAY_DEINIT(&patches->items);
}

// ---- bytes ----

static uint64_t jump_target(const unsigned char *code, uint64_t address)
{
    int32_t distance;
    memcpy(&distance, code + 1, sizeof distance);
    return address + MARK_NOP_SIZE + (uint64_t)(int64_t)distance;
}

struct error *image_write_code(uint64_t address, unsigned char *code, const unsigned char *wanted,
                               size_t size, struct image_patches *patches)
{
    if (memcmp(code, wanted, size) == 0)
        return NULL;
    struct image_patch *patch = ARRAY_ADD(&patches->items);
    if (patch == NULL)
        return error_no_memory();
    patch->address = address;
    patch->size = size;
    memcpy(patch->before, code, size);
    memcpy(patch->after, wanted, size);
    memcpy(code, wanted, size);
    return NULL;
}

static struct error *changed(const struct image *image, uint64_t address)
{
    return error_new("%s: what is at 0x%" PRIx64 " is no marker: the file was changed", image->path,
                     address);
}

// Makes a marker jump to `target`. If `target` is 0, it does nothing again.
static struct error *set_jump(struct image *image, uint64_t address, uint64_t target,
                              struct image_patches *patches)
{
    unsigned char *code = image_code(image, address, MARK_NOP_SIZE);
    unsigned char wanted[MARK_NOP_SIZE];
    memcpy(wanted, mark_nop, sizeof wanted);
    bool leads = memcmp(code, mark_nop, sizeof wanted) != 0;
    if (!leads && target == 0)
        return NULL;
    if (leads && code[0] != JUMP)
        return changed(image, address);
    if (target != 0) {
        int32_t distance = (int32_t)(target - address - MARK_NOP_SIZE);
        wanted[0] = JUMP;
        memcpy(wanted + 1, &distance, sizeof distance);
    }
    return image_write_code(address, code, wanted, sizeof wanted, patches);
}

// A copy of the first bytes is for those who read the file later: no patch, since nothing executes
// it.
void image_set_entry(struct image *image, const struct image_entry *entry, bool leads)
{
    static const unsigned char nothing[2];
    memcpy(image_code(image, entry->address, MARK_NOP_SIZE), leads ? entry->leads : entry->idle,
           MARK_NOP_SIZE);
    if (entry->first != 0)
        memcpy(image_code(image, entry->first, 2),
               leads ? entry->idle + MARK_NOP_SIZE - 2 : nothing, 2);
}

static struct error *enable_entry(struct image *image, const struct image_entry *entry, bool leads,
                                  struct image_patches *patches)
{
    unsigned char *code = image_code(image, entry->address, MARK_NOP_SIZE);
    if (memcmp(code, entry->idle, MARK_NOP_SIZE) != 0 &&
        memcmp(code, entry->leads, MARK_NOP_SIZE) != 0)
        return changed(image, entry->begin);
    TRY(image_write_code(entry->address, code, leads ? entry->leads : entry->idle, MARK_NOP_SIZE,
                         patches));
    image_set_entry(image, entry, leads);
    return NULL;
}

// ---- which entries ----

struct callers {
    const struct image *image;
    bool *reached; // per function
    size_t *todo, count;
};

static void reach(struct callers *callers, size_t function)
{
    if (callers->reached[function])
        return;
    callers->reached[function] = true;
    callers->todo[callers->count++] = function;
}

// Adds the callers of a function. An edge names the callee by its id, or by its name if the callee
// is defined in another module.
static void reach_callers(struct callers *callers, size_t called)
{
    const struct image *image = callers->image;
    const struct image_function *wanted = &image->functions.items[called];
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct image_function *function = &image->functions.items[i];
        for (size_t j = 0; j < function->edges; j++) {
            uint64_t edge = image->edges.items[function->first_edge + j];
            if (edge == wanted->id || edge == wanted->name_key)
                reach(callers, i);
        }
        if (function->id == wanted->id)
            reach(callers, i);
    }
}

struct error *image_find_callers(const struct image *image, const bool *enabled, bool **ret_reached)
{
    size_t count = image->functions.count;
    _cleanup_free_ bool *reached = calloc(count + 1, sizeof *reached);
    _cleanup_free_ size_t *todo = calloc(count + 1, sizeof *todo);
    if (reached == NULL || todo == NULL)
        return error_no_memory();
    struct callers callers = {.image = image, .reached = reached, .todo = todo};
    const bool *end = enabled + image->candidates.count;
    for (const bool *at = enabled; at < end; at++) { // few of many
        at = memchr(at, true, (size_t)(end - at));
        if (at == NULL)
            break;
        reach(&callers, image->candidates.items[at - enabled].function);
    }
    while (callers.count != 0)
        reach_callers(&callers, todo[--callers.count]);
    *ret_reached = TAKE(reached);
    return NULL;
}

// ---- enabling ----

size_t image_target_candidate(const struct image *image, const struct image_marker *marker,
                              const struct image_target *target)
{
    return image->functions.items[marker->function].first_candidate + target->candidate;
}

static struct error *enable_marker(struct image *image, const struct image_marker *marker,
                                   const bool *enabled, struct image_patches *patches)
{
    uint64_t chosen = 0;
    for (size_t i = 0; i < marker->targets; i++) {
        const struct image_target *target = &image->targets.items[marker->first_target + i];
        if (!enabled[image_target_candidate(image, marker, target)])
            continue;
        if (chosen != 0 && chosen != target->address)
            return error_new("two faults are in the same block of %s; only one of them can be "
                             "enabled at a time",
                             image->functions.items[marker->function].name);
        chosen = target->address;
    }
    return set_jump(image, marker->address, chosen, patches);
}

static void forget_at(const struct image *image, const struct image_marker *marker,
                      size_t candidate, bool *enabled)
{
    const struct image_target *targets = &image->targets.items[marker->first_target];
    for (size_t i = 0; i < marker->targets; i++)
        for (size_t j = 0; j < marker->targets; j++)
            if (image_target_candidate(image, marker, &targets[i]) == candidate &&
                targets[j].address == targets[i].address)
                enabled[image_target_candidate(image, marker, &targets[j])] = false;
}

void image_forget(const struct image *image, size_t candidate, bool *enabled)
{
    enabled[candidate] = false;
    for (size_t i = 0; i < image->changes.items.count; i++)
        if (image_is_same_change(image, i, candidate))
            enabled[i] = false;
    for (size_t i = 0; i < image->markers.count; i++)
        if (image->markers.items[i].function == image->candidates.items[candidate].function)
            forget_at(image, &image->markers.items[i], candidate, enabled);
}

// The first candidate of a marker that has the same target address as this one; SIZE_MAX if the
// marker has no target for this one.
static size_t same_at(const struct image *image, const struct image_marker *marker,
                      size_t candidate)
{
    const struct image_target *targets = image->targets.items + marker->first_target;
    uint64_t address = 0;
    for (size_t i = 0; i < marker->targets && address == 0; i++)
        if (image_target_candidate(image, marker, &targets[i]) == candidate)
            address = targets[i].address;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < marker->targets && address != 0; i++) {
        size_t other = image_target_candidate(image, marker, &targets[i]);
        if (targets[i].address == address && other < first)
            first = other;
    }
    return first;
}

size_t image_same_code(const struct image *image, size_t candidate)
{
    size_t same = SIZE_MAX;
    for (size_t i = 0; i < image->changes.items.count; i++)
        if (image_is_same_change(image, i, candidate))
            return i;
    for (size_t i = 0; i < image->markers.count; i++) {
        if (image->markers.items[i].function != image->candidates.items[candidate].function)
            continue;
        size_t here = same_at(image, &image->markers.items[i], candidate);
        if (here != SIZE_MAX && same != SIZE_MAX && here != same)
            return candidate; // they are the same only in some copies of the code
        if (here != SIZE_MAX)
            same = here;
    }
    return same != SIZE_MAX ? same : candidate;
}

unsigned char *image_variable(const struct image *image)
{
    for (size_t i = 0; i < image->segments.count; i++) {
        const struct image_segment *segment = &image->segments.items[i];
        uint64_t inside = image->variable - segment->address;
        if (image->variable >= segment->address && inside < segment->file_size &&
            segment->file_size - inside >= sizeof(uint32_t))
            return (unsigned char *)image->bytes.data + segment->offset + inside;
    }
    return NULL;
}

static struct error *enable_variable(struct image *image, const bool *enabled,
                                     struct image_patches *patches)
{
    uint32_t key = UINT32_MAX;
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        if (!enabled[i])
            continue;
        if (key != UINT32_MAX)
            return error_new("with --decide variable one fault can be enabled at a time");
        key = map_key(image->functions.items[candidate->function].id, candidate->number);
    }
    unsigned char *bytes = image_variable(image);
    if (bytes == NULL)
        return error_new("%s does not have the variable that decides", image->path);
    return image_write_code(image->variable, bytes, (const unsigned char *)&key, sizeof key,
                            patches);
}

// If a linker dropped all entries, a fault would be enabled and never act.
static struct error *check_entries(const struct image *image, const bool *enabled)
{
    if (image->decide != MAP_WORLDS || image->entries.count != 0)
        return NULL;
    for (size_t i = 0; i < image->candidates.count; i++) {
        size_t function = image->candidates.items[i].function;
        if (enabled[i] && (image->functions.items[function].flags & MAP_IN_PLACE) == 0)
            return error_new("nothing leads to the faults of %s: the linker dropped the entries, "
                             "as gold does with --gc-sections. Use another linker or leave the "
                             "option out",
                             image->path);
    }
    return NULL;
}

static struct error *enable(struct image *image, const bool *enabled, struct image_patches *patches)
{
    if (image->plain)
        return image_change(image, enabled, patches);
    if (image->decide == MAP_VARIABLE)
        return enable_variable(image, enabled, patches);
    TRY(check_entries(image, enabled));
    _cleanup_free_ bool *reached = NULL;
    TRY(image_find_callers(image, enabled, &reached));
    for (size_t i = 0; i < image->markers.count; i++) {
        const struct image_marker *marker = &image->markers.items[i];
        TRY(reached[marker->function] ? enable_marker(image, marker, enabled, patches)
                                      : set_jump(image, marker->address, 0, patches));
    }
    for (size_t i = 0; i < image->entries.count; i++) {
        const struct image_entry *entry = &image->entries.items[i];
        TRY(enable_entry(image, entry, reached[entry->function], patches));
    }
    return NULL;
}

struct error *image_enable(struct image *image, const bool *enabled,
                           struct image_patches *ret_patches)
{
    struct image_patches patches = {0};
    struct error *error = enable(image, enabled, &patches);
    if (error != NULL)
        image_patches_deinit(&patches);
    else
        *ret_patches = patches;
    return error;
}

// Goes backwards: if a place was written twice, the first patch knows what was there before.
void image_undo(struct image *image, const struct image_patches *patches)
{
    for (size_t i = patches->items.count; i-- > 0;) {
        const struct image_patch *patch = &patches->items.items[i];
        unsigned char *bytes = image->decide == MAP_VARIABLE
                                   ? image_variable(image)
                                   : image_code(image, patch->address, patch->size);
        memcpy(bytes, patch->before, patch->size);
    }
}

// If the optimiser merged the clones of several candidates, all of them count as enabled.
struct error *image_enabled(const struct image *image, bool **ret_enabled)
{
    _cleanup_free_ bool *enabled = calloc(image->candidates.count + 1, sizeof *enabled);
    if (enabled == NULL)
        return error_no_memory();
    for (size_t i = 0; i < image->markers.count; i++) {
        const struct image_marker *marker = &image->markers.items[i];
        const unsigned char *code = image_code(image, marker->address, MARK_NOP_SIZE);
        for (size_t j = 0; j < marker->targets && code[0] == JUMP; j++) {
            const struct image_target *target = &image->targets.items[marker->first_target + j];
            if (target->address == jump_target(code, marker->address))
                enabled[image_target_candidate(image, marker, target)] = true;
        }
    }
    const unsigned char *bytes = image->decide == MAP_VARIABLE ? image_variable(image) : NULL;
    for (size_t i = 0; i < image->candidates.count && bytes != NULL; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        uint32_t key = map_key(image->functions.items[candidate->function].id, candidate->number);
        enabled[i] = memcmp(bytes, &key, sizeof key) == 0;
    }
    image_find_changed(image, enabled);
    *ret_enabled = TAKE(enabled);
    return NULL;
}

// Gives a file the owner and mode of the old one. If the owner cannot be set, drops set-user-ID and
// set-group-ID: a program that ran with its owner's rights must not run with ours.
static struct error *give_back(int descriptor, const char *name, const struct stat *file)
{
    bool owned = fchown(descriptor, file->st_uid, file->st_gid) == 0;
    if (fchmod(descriptor, file->st_mode & (owned ? 07777 : 0777)) < 0)
        return error_from_errno(errno, "cannot set the mode of %s", name);
    return NULL;
}

static struct error *write_content(const struct image *image, int descriptor, const char *name)
{
    _cleanup_free_ bool *enabled = NULL;
    _cleanup_(buffer_deinit) struct buffer note = {0};
    TRY(file_write(descriptor, name, &image->bytes));
    if (!image->plain)
        return NULL;
    TRY(image_enabled(image, &enabled));
    TRY(image_put_note(image, enabled, &note));
    return file_write(descriptor, name, &note);
}

// A symbolic link stays, and the file it points to is replaced.
struct error *image_write(const struct image *image, const char *path)
{
    struct stat file;
    if (stat(image->path, &file) < 0)
        return error_from_errno(errno, "cannot look at %s", image->path);
    _cleanup_free_ char *resolved = realpath(path, NULL); // NULL where there is nothing yet
    const char *place = resolved != NULL ? resolved : path;
    _cleanup_close_ int descriptor = -1;
    _cleanup_free_ char *temporary = NULL;
    TRY(file_beside(place, &descriptor, &temporary));
    struct error *error = write_content(image, descriptor, temporary);
    if (error == NULL)
        error = give_back(descriptor, temporary, &file);
    if (error == NULL && rename(temporary, place) < 0)
        error = error_from_errno(errno, "cannot replace %s", place);
    if (error != NULL)
        unlink(temporary);
    return error;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Areas get their numbers in the order of the trace, so every pass over it numbers them alike.
#include "interface/world.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

#define STACK_MOST (8u << 20) // below and above the stack pointer, where no mapping tells more

void world_deinit(struct world *world)
{
    arena_deinit(&world->texts);
    ARRAY_DEINIT(&world->areas);
    intervals_deinit(&world->live);
    ARRAY_DEINIT(&world->places);
    map_deinit(&world->place_of);
    ARRAY_DEINIT(&world->functions);
    map_deinit(&world->function_of);
    ARRAY_DEINIT(&world->stacks);
    map_deinit(&world->stack_of);
    map_deinit(&world->allocated);
    ARRAY_DEINIT(&world->counts);
    for (size_t i = 0; i < WORLD_THREADS; i++)
        ARRAY_DEINIT(&world->threads[i].frames);
    *world = (struct world){0};
}

const struct frame *world_frame(const struct world *world)
{
    const struct world_thread *thread = &world->threads[world->thread];
    return thread->frames.count == 0 ? NULL : &thread->frames.items[thread->frames.count - 1];
}

const struct frame *world_outermost(const struct world *world)
{
    const struct world_thread *thread = &world->threads[world->thread];
    return thread->frames.count == 0 ? NULL : &thread->frames.items[0];
}

static bool is_inside(const struct world *world)
{
    const struct frame *frame = world_frame(world);
    return frame != NULL && !frame->callback;
}

static struct error *copy_text(struct world *world, const struct event *event, unsigned index,
                               const char **ret_text)
{
    *ret_text = arena_copy(&world->texts, event->texts[index], event_text_size(event, index));
    return *ret_text == NULL ? error_no_memory() : NULL;
}

static struct error *add_area(struct world *world, const struct area *area, uint64_t size)
{
    if (world->areas.count == 0 && ARRAY_ADD(&world->areas) == NULL)
        return error_no_memory();
    struct area *added = ARRAY_ADD(&world->areas);
    if (added == NULL || world->areas.count > UINT32_MAX / 2)
        return error_no_memory();
    *added = *area;
    uint64_t end;
    // malloc(0) has an address of its own.
    if (__builtin_add_overflow(area->start, size == 0 ? 1 : size, &end))
        end = UINT64_MAX;
    return intervals_put(&world->live, area->start, end, (uint32_t)(world->areas.count - 1));
}

static struct error *add_stack(struct world *world, const struct event *event)
{
    struct call_stack *stack = ARRAY_ADD(&world->stacks);
    if (stack == NULL)
        return error_no_memory();
    bool has_line = false;
    *stack = (struct call_stack){.by_loader = true};
    for (uint64_t i = 0; i < event->numbers[1]; i++) {
        uint32_t index = map_find(&world->place_of, event->frames[i]);
        if (index == MAP_NONE)
            continue;
        const struct place *place = &world->places.items[index];
        stack->identity = hash_mix(stack->identity, place->identity);
        if (stack->place == 0 || (!has_line && place->line != 0)) {
            stack->place = index;
            has_line = place->line != 0;
        }
    }
    // The innermost frame of an allocation is Valgrind's, of a mapping the caller's.
    if (event->numbers[1] > 0)
        stack->by_loader = map_find(&world->place_of, event->frames[0]) == MAP_NONE;
    return map_put(&world->stack_of, event->numbers[0], (uint32_t)(world->stacks.count - 1));
}

static struct error *next_ordinal(struct world *world, uint64_t identity, uint32_t *ret_ordinal)
{
    uint32_t index = map_find(&world->allocated, identity);
    if (index == MAP_NONE) {
        index = (uint32_t)world->counts.count;
        if (ARRAY_ADD(&world->counts) == NULL)
            return error_no_memory();
        TRY(map_put(&world->allocated, identity, index));
    }
    *ret_ordinal = ++world->counts.items[index];
    return NULL;
}

static struct error *allocate(struct world *world, enum area_kind kind, enum area_owner owner,
                              uint64_t start, uint64_t size, uint64_t stack_number)
{
    uint32_t index = map_find(&world->stack_of, stack_number);
    struct call_stack stack = {0};
    if (index != MAP_NONE)
        stack = world->stacks.items[index];
    struct area area = {.start = start,
                        .kind = (uint8_t)kind,
                        .owner = (uint8_t)owner,
                        .place = stack.place,
                        .suspends = world->suspends};
    if (is_inside(world))
        area.call = world_outermost(world)->call;
    TRY(next_ordinal(world, hash_mix(stack.identity, kind), &area.ordinal));
    area.identity = hash_mix(hash_mix(stack.identity, kind), area.ordinal);
    return add_area(world, &area, size);
}

static struct error *heap_allocate(struct world *world, const struct event *event)
{
    const struct interval *old =
        event->numbers[3] == 0 ? NULL : intervals_find(&world->live, event->numbers[3]);
    uint32_t replaced = old == NULL ? 0 : old->area;
    TRY(allocate(world, AREA_HEAP, is_inside(world) ? OWNER_LIBRARY : OWNER_PROGRAM,
                 event->numbers[0], event->numbers[1], event->numbers[2]));
    if (replaced != 0 && world->areas.items[replaced].kind == AREA_HEAP)
        world->areas.items[replaced].replaced_by = (uint32_t)(world->areas.count - 1);
    return NULL;
}

static void heap_free(struct world *world, const struct event *event)
{
    const struct interval *interval = intervals_find(&world->live, event->numbers[0]);
    if (interval == NULL)
        return;
    struct area *area = &world->areas.items[interval->area];
    if (area->replaced_by == 0 && area->call != 0 && is_inside(world) &&
        area->call == world_outermost(world)->call && area->suspends == world->suspends)
        area->temporary = true;
}

static bool is_module(const struct world *world, const struct interval *interval)
{
    return interval != NULL && world->areas.items[interval->area].kind >= AREA_MODULE;
}

static struct error *note_library(struct world *world, const struct event *event)
{
    const char *path;
    if (event->numbers[4] != INTERFACE_ROLE_LIBRARY || event->numbers[6] == 0 ||
        world->library_count == WORLD_LIBRARIES)
        return NULL;
    TRY(copy_text(world, event, 0, &path));
    for (unsigned i = 0; i < world->library_count; i++)
        if (strcmp(world->libraries[i], path) == 0)
            return NULL;
    world->libraries[world->library_count++] = path;
    return NULL;
}

static struct error *map_memory(struct world *world, const struct event *event)
{
    // Parts of modules are known by their names already.
    if (is_module(world, intervals_find(&world->live, event->numbers[0])))
        return NULL;
    enum area_owner owner = is_inside(world) ? OWNER_LIBRARY : OWNER_PROGRAM;
    uint32_t stack = map_find(&world->stack_of, event->numbers[5]);
    if (stack == MAP_NONE || world->stacks.items[stack].by_loader)
        owner = OWNER_OTHER;
    return allocate(world, AREA_MAPPED, owner, event->numbers[0], event->numbers[1],
                    event->numbers[5]);
}

static struct error *add_module(struct world *world, const struct event *event)
{
    static const enum area_owner owners[] = {
        [INTERFACE_ROLE_LIBRARY] = OWNER_LIBRARY,
        [INTERFACE_ROLE_PROGRAM] = OWNER_PROGRAM,
        [INTERFACE_ROLE_HELPER] = OWNER_OTHER,
        [INTERFACE_ROLE_NONE] = OWNER_OTHER,
    };
    uint64_t role = event->numbers[2];
    struct area area = {.start = event->numbers[0],
                        .kind = AREA_MODULE,
                        .owner =
                            (uint8_t)(role > INTERFACE_ROLE_NONE ? OWNER_OTHER : owners[role])};
    TRY(copy_text(world, event, 0, &area.name));
    area.identity = hash_mix(hash_text(area.name), AREA_MODULE);
    TRY(add_area(world, &area, event->numbers[1]));
    world->module = (uint32_t)(world->areas.count - 1);
    return NULL;
}

static struct error *add_object(struct world *world, const struct event *event)
{
    struct area area = {.start = event->numbers[0], .kind = AREA_OBJECT, .owner = OWNER_LIBRARY};
    if (world->module == 0)
        return NULL;
    TRY(copy_text(world, event, 0, &area.name));
    area.identity = hash_mix(hash_text(area.name), world->areas.items[world->module].identity);
    return add_area(world, &area, event->numbers[1]);
}

static struct error *add_place(struct world *world, const struct event *event)
{
    struct place place = {.line = (unsigned)event->numbers[1]};
    TRY(copy_text(world, event, 0, &place.function));
    TRY(copy_text(world, event, 1, &place.file));
    place.identity = hash_mix(hash_text(place.file), place.line);
    if (world->places.count == 0 && ARRAY_ADD(&world->places) == NULL)
        return error_no_memory();
    uint32_t index = map_find(&world->place_of, event->numbers[0]);
    if (index == MAP_NONE) {
        index = (uint32_t)world->places.count;
        if (ARRAY_ADD(&world->places) == NULL)
            return error_no_memory();
        TRY(map_put(&world->place_of, event->numbers[0], index));
    }
    world->places.items[index] = place;
    return NULL;
}

static struct error *add_function(struct world *world, const struct event *event)
{
    struct function function = {.result = event->numbers[1] > INTERFACE_RESULT_VECTOR
                                              ? INTERFACE_RESULT_UNKNOWN
                                              : (enum interface_result)event->numbers[1],
                                .bytes = event->numbers[2] > 8 ? 8 : (unsigned)event->numbers[2],
                                .parameters = event->numbers[3] > INTERFACE_ARGUMENTS
                                                  ? INTERFACE_ARGUMENTS
                                                  : (unsigned)event->numbers[3]};
    TRY(copy_text(world, event, 0, &function.name));
    uint32_t index = map_find(&world->function_of, event->numbers[0]);
    if (index == MAP_NONE) {
        index = (uint32_t)world->functions.count;
        if (ARRAY_ADD(&world->functions) == NULL)
            return error_no_memory();
        TRY(map_put(&world->function_of, event->numbers[0], index));
    }
    function.calls = world->functions.items[index].calls;
    world->functions.items[index] = function;
    return NULL;
}

static void find_stack_end(struct world *world, uint64_t sp)
{
    const struct interval *above = intervals_above(&world->live, sp);
    uint64_t end = sp + STACK_MOST;
    if (above != NULL && (above->start <= sp || above->start - sp < STACK_MOST) &&
        !is_module(world, above))
        end = above->end;
    world->threads[world->thread].stack_end = end;
}

static struct error *enter(struct world *world, const struct event *event, bool callback)
{
    struct world_thread *thread = &world->threads[world->thread];
    struct frame *frame = ARRAY_ADD(&thread->frames);
    if (frame == NULL)
        return error_no_memory();
    frame->callback = callback;
    frame->sp = event->numbers[callback ? 0 : 1];
    world->suspends += callback;
    if (callback)
        return NULL;
    frame->call = ++world->calls;
    frame->return_address = event->numbers[2];
    memcpy(frame->arguments, &event->numbers[3], sizeof frame->arguments);
    frame->function = map_find(&world->function_of, event->numbers[0]);
    if (frame->function != MAP_NONE)
        frame->ordinal = ++world->functions.items[frame->function].calls;
    frame->by_loader = map_find(&world->place_of, event->numbers[2]) == MAP_NONE;
    if (thread->frames.count == 1)
        find_stack_end(world, frame->sp);
    return NULL;
}

void world_leave(struct world *world)
{
    struct world_thread *thread = &world->threads[world->thread];
    if (thread->frames.count == 0)
        return;
    world->left = *world_frame(world);
    world_stack(world, world->left_stack);
    thread->frames.count--;
}

struct error *world_update(struct world *world, const struct event *event)
{
    switch (event->kind) {
    case INTERFACE_MAP:
        TRY(note_library(world, event));
        return map_memory(world, event);
    case INTERFACE_UNMAP: {
        uint64_t end;
        if (__builtin_add_overflow(event->numbers[0], event->numbers[1], &end))
            end = UINT64_MAX;
        return intervals_cut(&world->live, event->numbers[0], end);
    }
    case INTERFACE_STACK:
        return add_stack(world, event);
    case INTERFACE_ALLOCATE:
        return heap_allocate(world, event);
    case INTERFACE_FREE:
        heap_free(world, event);
        return NULL;
    case INTERFACE_THREAD:
        world->thread = (uint32_t)(event->numbers[0] % WORLD_THREADS);
        return NULL;
    case INTERFACE_ENTER:
        return enter(world, event, false);
    case INTERFACE_SUSPEND:
        return enter(world, event, true);
    case INTERFACE_END:
        world->ended = true;
        world->exit_status = event->numbers[0];
        return NULL;
    case INTERFACE_MODULE:
        return add_module(world, event);
    case INTERFACE_OBJECT:
        return add_object(world, event);
    case INTERFACE_PLACE:
        return add_place(world, event);
    case INTERFACE_FUNCTION:
        return add_function(world, event);
    case INTERFACE_RETURN:
    case INTERFACE_ABANDON:
    case INTERFACE_RESUME:
    case INTERFACE_STORE:
    case INTERFACE_POINTER:
    case INTERFACE_EVENT_COUNT:
        break;
    }
    return NULL;
}

void world_stack(const struct world *world, uint64_t ret_stack[2])
{
    const struct frame *outermost = world_outermost(world);
    ret_stack[0] = outermost == NULL ? 0 : outermost->sp;
    ret_stack[1] = outermost == NULL ? 0 : world->threads[world->thread].stack_end;
}

static bool is_stack(const uint64_t stack[2], uint64_t address)
{
    return stack[1] != 0 && address + STACK_MOST >= stack[0] && address < stack[1] &&
           address >= STACK_MOST;
}

static struct meaning meaning_of(const struct world *world, const struct interval *interval,
                                 uint64_t address)
{
    if (interval == NULL)
        return (struct meaning){.kind = MEANING_NONE};
    const struct area *area = &world->areas.items[interval->area];
    return (struct meaning){
        .kind = MEANING_AREA, .area = interval->area, .offset = (int64_t)(address - area->start)};
}

struct meaning world_meaning(struct world *world, uint64_t address)
{
    uint64_t stack[2];
    world_stack(world, stack);
    if (is_stack(stack, address))
        return (struct meaning){.kind = MEANING_STACK, .offset = (int64_t)(address - stack[0])};
    const struct interval *interval = intervals_find(&world->live, address);
    // Programs keep addresses behind the last byte of a block, too.
    if (interval == NULL && (interval = intervals_find(&world->live, address - 1)) != NULL &&
        world->areas.items[interval->area].kind != AREA_HEAP)
        interval = NULL;
    return meaning_of(world, interval, address);
}

struct meaning world_meaning_at(const struct world *world, const uint64_t stack[2],
                                uint64_t address)
{
    if (is_stack(stack, address))
        return (struct meaning){.kind = MEANING_STACK, .offset = (int64_t)(address - stack[0])};
    const struct interval *interval = intervals_above(&world->live, address);
    return meaning_of(world, interval != NULL && interval->start <= address ? interval : NULL,
                      address);
}

uint64_t world_meaning_hash(const struct world *world, struct meaning meaning)
{
    uint64_t identity =
        meaning.kind == MEANING_AREA ? world->areas.items[meaning.area].identity : 0;
    return hash_mix(hash_mix(identity, (uint64_t)meaning.kind), (uint64_t)meaning.offset);
}

struct error *world_describe(const struct world *world, struct meaning meaning, struct buffer *text)
{
    static const char *const kinds[] = {[AREA_HEAP] = "HEAP",
                                        [AREA_MAPPED] = "MAP",
                                        [AREA_MODULE] = "DATA",
                                        [AREA_OBJECT] = "GLOBAL"};
    uint64_t size = meaning.offset < 0 ? -(uint64_t)meaning.offset : (uint64_t)meaning.offset;
    if (meaning.kind == MEANING_NONE)
        return buffer_printf(text, "nothing");
    if (meaning.kind == MEANING_STACK)
        return buffer_printf(text, "STACK%c%" PRIx64, meaning.offset < 0 ? '-' : '+', size);
    const struct area *area = &world->areas.items[meaning.area];
    TRY(buffer_printf(text, "%s-", kinds[area->kind]));
    if (area->name != NULL) {
        TRY(buffer_printf(text, "%s", area->name));
    } else if (area->place != 0) {
        const struct place *place = &world->places.items[area->place];
        TRY(buffer_printf(text, "%s", place->file));
        if (place->line != 0)
            TRY(buffer_printf(text, ":%u", place->line));
        if (area->ordinal > 1)
            TRY(buffer_printf(text, "#%" PRIu32, area->ordinal));
    } else {
        TRY(buffer_printf(text, "?"));
    }
    return buffer_printf(text, "+%" PRIx64, size);
}

const struct place *world_place(const struct world *world, uint64_t code)
{
    static const struct place unknown = {.function = "", .file = "?"};
    uint32_t index = map_find(&world->place_of, code);
    return index == MAP_NONE ? &unknown : &world->places.items[index];
}

const struct function *world_function(const struct world *world, uint64_t code)
{
    uint32_t index = map_find(&world->function_of, code);
    return index == MAP_NONE ? NULL : &world->functions.items[index];
}

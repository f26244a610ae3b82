// SPDX-License-Identifier: GPL-3.0-or-later
// Variables of the target: where the controller says they are, and reading them. Those of an
// unloaded module are passed over.
#include "runtime/evaluate.h"

#include "runtime/assembly/stubs.h"
#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/stack.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

struct variable_place {
    struct variable_place *next;
    const struct wire_location *location;
    const struct wire_step *steps;
};

// Where one module has a variable of that name.
struct module_variable {
    struct module_variable *next;
    const struct module *module;
    uint64_t low, high;            // range of code that has it as a local
    struct variable_place *locals; // each for a part of that range
    struct variable_place *global; // or NULL
};
static struct variable {
    struct module_variable *modules;
    bool has_locals; // in some module, now or before
} * variables;

bool variables_prepare(void)
{
    variables = arena_new((runtime.plan->variable_count + 1) * sizeof *variables);
    return variables != NULL;
}

static struct module_variable *module_variable_of(uint32_t variable, const struct module *module)
{
    struct module_variable *entry = variables[variable].modules;
    if (entry != NULL && entry->module == module)
        return entry; // a module's locations come one after the other
    entry = arena_new(sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = (struct module_variable){
        .next = variables[variable].modules, .module = module, .low = UINT64_MAX};
    atomic_store(&variables[variable].modules, entry);
    return entry;
}

bool variable_add(const struct module *module, const struct wire_location *location,
                  const struct wire_step *steps)
{
    struct module_variable *entry = module_variable_of(location->variable, module);
    struct variable_place *place = arena_new(sizeof *place);
    if (entry == NULL || place == NULL)
        return false;
    *place = (struct variable_place){NULL, location, steps};
    if (location->base == WIRE_BASE_STATIC) {
        atomic_store(&entry->global, place);
        return true;
    }
    uint64_t low = module->bias + location->lo, high = module->bias + location->hi;
    place->next = entry->locals;
    atomic_store(&entry->locals, place);
    entry->low = low < entry->low ? low : entry->low;
    entry->high = high > entry->high ? high : entry->high;
    atomic_store(&variables[location->variable].has_locals, true);
    return true;
}

// The number, in struct walk, of the register that a location is given by; or -1.
static int saved_number(const struct wire_location *location)
{
    static const signed char saved[16] = {-1, -1, -1, RBX, -1,  -1,  RBP, -1,
                                          -1, -1, -1, -1,  R12, R13, R14, R15};
    return location->reg < 16 ? saved[location->reg] : -1;
}

static bool frame_base(const struct wire_location *location, struct walk *walk, uint64_t *ret_base)
{
    if (location->base == WIRE_BASE_CFA)
        return walk_cfa(walk, ret_base);
    int index = saved_number(location);
    if (location->reg != 7 && index < 0)
        return false;
    *ret_base = location->reg == 7 ? walk->sp : walk->registers[index];
    return true;
}

static int64_t narrow(const struct wire_location *location, uint64_t value)
{
    uint32_t bits = location->bit_width != 0 ? location->bit_width : location->width * 8;
    if (location->bit_width != 0)
        value >>= location->bit_offset;
    if (bits == 0 || bits >= 64)
        return (int64_t)value;
    value <<= 64 - bits;
    return location->is_signed ? (int64_t)value >> (64 - bits) : (int64_t)(value >> (64 - bits));
}

// The part of the stack that may be read.
struct stack {
    uint64_t low, high;
};

static bool read_value(uint64_t address, uint32_t width, uint64_t *value)
{
    uint32_t failed = 0;
    if (width == 8)
        *value = guarded_load_8(address, &failed);
    else if (width == 4)
        *value = guarded_load_4(address, &failed);
    else
        failed = !guarded_copy(value, (const void *)address, width);
    return failed == 0;
}

__attribute__((noinline)) static bool ask_and_load(uint64_t address, uint32_t width,
                                                   uint64_t *value)
{
    bool readable = system_peek((const void *)address, value, width);
    if (readable)
        heap_learn(address, width);
    return readable;
}

static bool lies_in(uint64_t low, uint64_t high, uint64_t address, uint32_t width)
{
    return low <= address && address < high && high - address >= width;
}

// Data of the module is there as long as the module, the stack as long as its frame; both are read
// directly, and a fault is caught. Other addresses may be bad.
__attribute__((hot)) static bool load(const struct module *module, struct stack stack,
                                      uint64_t address, uint32_t width, uint64_t *value)
{
    bool in_module = lies_in(module->low, module->high, address, width);
    bool on_stack = lies_in(stack.low, stack.high, address, width);
    if (!in_module && !on_stack)
        return heap_read(address, width, value) || ask_and_load(address, width, value);
    return read_value(address, width, value);
}

__attribute__((hot)) static bool place_read(const struct variable_place *place,
                                            const struct module *module, uint64_t base,
                                            struct stack stack, int64_t *ret_value)
{
    const struct wire_location *location = place->location;
    uint64_t address = base + (uint64_t)location->offset, value = 0;
    bool in_register = location->base == WIRE_BASE_REGISTER_VALUE;
    for (uint32_t i = 0; i < location->step_count; i++) {
        const struct wire_step *step = &place->steps[location->first_step + i];
        if (step->load && !in_register && !load(module, stack, address, 8, &address))
            return false;
        if (step->load)
            in_register = false; // the register was the pointer
        address += (uint64_t)step->offset;
    }
    if (location->width == 0 || in_register)
        value = address;
    else if (!load(module, stack, address, location->width, &value))
        return false;
    *ret_value = narrow(location, value);
    return true;
}

// The place of a local that is alive in the frame at pc, or NULL.
static const struct variable_place *local_at(const struct module_variable *entry, uint64_t pc)
{
    uint64_t at = pc - entry->module->bias;
    for (const struct variable_place *place = entry->locals; place != NULL; place = place->next)
        if (at - place->location->lo < place->location->hi - place->location->lo)
            return place;
    return NULL;
}

static const struct variable_place *local_place(uint32_t variable, uint64_t pc,
                                                const struct module **ret_module)
{
    for (const struct module_variable *entry = variables[variable].modules; entry != NULL;
         entry = entry->next) {
        if (pc < entry->low || pc >= entry->high || !entry->module->alive)
            continue;
        const struct variable_place *place = local_at(entry, pc);
        *ret_module = entry->module;
        if (place != NULL)
            return place;
    }
    return NULL;
}

// Finds the local in the innermost frame that has it. Returns the frame's number, or their count.
// Most frames have none, which takes two comparisons.
static uint32_t find_local(uint32_t variable, const struct last_walk *last,
                           struct found_variable *found)
{
    const struct walk_step *frames = last->frames;
    uint32_t innermost = last->count;
    for (const struct module_variable *entry = variables[variable].modules; entry != NULL;
         entry = entry->next) {
        uint64_t low = entry->low, size = entry->high - low;
        if (entry->locals == NULL || !entry->module->alive)
            continue;
        for (uint32_t i = 0; i < innermost; i++) {
            const struct variable_place *place =
                frames[i].pc - 1 - low < size ? local_at(entry, frames[i].pc - 1) : NULL;
            if (place != NULL) {
                found->place = place;
                found->module = entry->module;
                innermost = i;
            }
        }
    }
    return innermost;
}

// If the program has a copy of a library's variable, that copy is in use.
static bool find_global(uint32_t variable, struct found_variable *found)
{
    found->kind = FOUND_NOWHERE;
    for (const struct module_variable *entry = variables[variable].modules; entry != NULL;
         entry = entry->next)
        if (entry->module->alive && entry->global != NULL &&
            (found->kind == FOUND_NOWHERE || entry->module->map->l_prev == NULL)) {
            found->kind = FOUND_AT_ADDRESS;
            found->place = entry->global;
            found->module = entry->module;
            found->base = entry->module->bias;
        }
    return found->kind != FOUND_NOWHERE;
}

// The word of struct call_frame that holds a register; numbers as in struct walk.
static uint64_t frame_word(unsigned number)
{
    static const uint8_t offsets[SAVED] = {
        offsetof(struct call_frame, rbx), offsetof(struct call_frame, rbp),
        offsetof(struct call_frame, r12), offsetof(struct call_frame, r13),
        offsetof(struct call_frame, r14), offsetof(struct call_frame, r15),
    };
    return offsets[number] / sizeof(uint64_t);
}

// Finds the variable in the frames of a simple walk. Registers are looked for when needed. False:
// it cannot be told.
static bool locate_in_frames(const struct last_walk *last, struct found_variable *found,
                             struct call_path *path)
{
    uint32_t at = find_local(found->variable, last, found);
    if (at == last->count && !last->whole)
        return false;
    if (at == last->count) {
        call_path_depends_on_all(path);
        find_global(found->variable, found);
        return true;
    }
    if (at + 1 >= last->count)
        return false;
    const struct wire_location *location = found->place->location;
    found->kind = FOUND_AT_ADDRESS;
    call_path_depends(path, last, at + 1);
    if (location->base == WIRE_BASE_CFA || location->reg == 7) {
        found->base = last->frames[location->base == WIRE_BASE_CFA ? at + 1 : at].sp;
        return true;
    }
    int index = saved_number(location);
    if (index < 0 || !last_walk_register(last, at, (unsigned)index, &found->base))
        return false;
    found->kind = found->base != 0 ? FOUND_IN_SAVED_REGISTER : FOUND_IN_REGISTER;
    if (found->kind == FOUND_IN_REGISTER)
        found->base = frame_word((unsigned)index);
    return true;
}

// Finds the variable and keeps it in the path. NULL: that is not possible.
__attribute__((noinline)) static const struct found_variable *
find_variable(struct call_path *path, uint32_t variable, const struct call *call)
{
    if (!call_path_is_whole(path, call) || path->local_count == CALL_PATH_LOCALS)
        return NULL;
    struct last_walk *last = last_walk_take(call);
    if (last == NULL)
        return NULL;
    struct found_variable *found = &path->locals[path->local_count];
    *found = (struct found_variable){.variable = variable};
    bool known = last_walk_is_simple(last) && locate_in_frames(last, found, path);
    last_walk_leave(last);
    path->local_count += known;
    return known ? found : NULL;
}

static inline const struct found_variable *
call_path_variable(struct call_path *path, uint32_t variable, const struct call *call)
{
    for (uint32_t i = 0; i < path->local_count; i++)
        if (path->locals[i].variable == variable)
            return &path->locals[i];
    return find_variable(path, variable, call);
}

static inline uint64_t found_base(const struct found_variable *found,
                                  const struct call_frame *frame)
{
    if (found->kind == FOUND_IN_SAVED_REGISTER)
        return *(const uint64_t *)found->base;
    return found->kind == FOUND_IN_REGISTER ? ((const uint64_t *)frame)[found->base] : found->base;
}

static bool read_global(uint32_t variable, int64_t *ret_value)
{
    struct found_variable found;
    return find_global(variable, &found) &&
           place_read(found.place, found.module, found.base, (struct stack){0, 0}, ret_value);
}

// For a stack that is not a simple one, or has many frames.
__attribute__((noinline)) static bool read_by_walk(uint32_t variable, const struct call *call,
                                                   uint32_t rule, int64_t *ret_value)
{
    struct walk walk;
    const struct module *module;
    walk_start(&walk, call->frame);
    for (uint32_t depth = 0; depth < WALK_FRAMES; depth++) {
        const struct variable_place *place =
            local_place(variable, walk.exact ? walk.pc : walk.pc - 1, &module);
        uint64_t base;
        if (place != NULL)
            return frame_base(place->location, &walk, &base) &&
                   place_read(place, module, base, (struct stack){walk.stack_low, walk.stack_high},
                              ret_value);
        if (!walk_next(&walk))
            break;
    }
    if (!walk.finished)
        rule_walk_unfinished(rule);
    return read_global(variable, ret_value);
}

__attribute__((hot)) bool variable_read(uint32_t variable, const struct call *call, uint32_t rule,
                                        int64_t *ret_value)
{
    if (variables == NULL)
        return false;
    if (!variables[variable].has_locals)
        return read_global(variable, ret_value);
    struct call_path *path = call_path_of(call);
    const struct found_variable *found =
        path != NULL ? call_path_variable(path, variable, call) : NULL;
    if (found == NULL)
        return read_by_walk(variable, call, rule, ret_value);
    return found->kind != FOUND_NOWHERE &&
           place_read(found->place, found->module, found_base(found, call->frame),
                      (struct stack){path->sp, path->end}, ret_value);
}

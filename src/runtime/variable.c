// SPDX-License-Identifier: GPL-3.0-or-later
// Variables of the target: where the controller says they are, and reading them. What belongs to an
// unloaded module is passed over.
#include "runtime/guarded.h"
#include "runtime/heap.h"
#include "runtime/path.h"

struct place {
    struct place *next;
    const struct wire_location *location;
    const struct wire_step *steps;
};

// What one module has of a variable.
struct holding {
    struct holding *next;
    const struct module *module;
    uint64_t low, high;   // where code is that has it as a local
    struct place *locals; // in all of that or parts of it
    struct place *global; // or NULL
};
static struct variable {
    struct holding *holdings;
    bool has_locals; // in some module, now or before
} * variables;

bool variables_prepare(void)
{
    variables = arena_new((runtime.plan->variable_count + 1) * sizeof *variables);
    return variables != NULL;
}

static struct holding *holding_of(uint32_t variable, const struct module *module)
{
    struct holding *holding = variables[variable].holdings;
    if (holding != NULL && holding->module == module)
        return holding; // a module's locations come one after the other
    holding = arena_new(sizeof *holding);
    if (holding == NULL)
        return NULL;
    *holding =
        (struct holding){.next = variables[variable].holdings, .module = module, .low = UINT64_MAX};
    atomic_store(&variables[variable].holdings, holding);
    return holding;
}

bool variable_add(const struct module *module, const struct wire_location *location,
                  const struct wire_step *steps)
{
    struct holding *holding = holding_of(location->variable, module);
    struct place *place = arena_new(sizeof *place);
    if (holding == NULL || place == NULL)
        return false;
    *place = (struct place){NULL, location, steps};
    if (location->base == WIRE_BASE_STATIC) {
        atomic_store(&holding->global, place);
        return true;
    }
    uint64_t low = module->bias + location->lo, high = module->bias + location->hi;
    place->next = holding->locals;
    atomic_store(&holding->locals, place);
    holding->low = low < holding->low ? low : holding->low;
    holding->high = high > holding->high ? high : holding->high;
    atomic_store(&variables[location->variable].has_locals, true);
    return true;
}

// Of the register that a location is given by, among those that struct walk keeps; or -1.
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

// Memory of the stack that a variable may be read from.
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

// A variable in a module's own data is there as long as the module, one on the stack as long as its
// frame (pointers may lead there, too, and to pages that were taken out); others may be bad.
__attribute__((hot)) static bool load(const struct module *module, struct stack stack,
                                      uint64_t address, uint32_t width, uint64_t *value)
{
    bool in_module = lies_in(module->low, module->high, address, width);
    bool on_stack = lies_in(stack.low, stack.high, address, width);
    if (!in_module && !on_stack)
        return heap_read(address, width, value) || ask_and_load(address, width, value);
    return read_value(address, width, value);
}

__attribute__((hot)) static bool place_read(const struct place *place, const struct module *module,
                                            uint64_t base, struct stack stack, int64_t *ret_value)
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
static const struct place *local_at(const struct holding *holding, uint64_t pc)
{
    uint64_t at = pc - holding->module->bias;
    for (const struct place *place = holding->locals; place != NULL; place = place->next)
        if (at - place->location->lo < place->location->hi - place->location->lo)
            return place;
    return NULL;
}

static const struct place *local_place(uint32_t variable, uint64_t pc,
                                       const struct module **ret_module)
{
    for (const struct holding *holding = variables[variable].holdings; holding != NULL;
         holding = holding->next) {
        if (pc < holding->low || pc >= holding->high || !holding->module->alive)
            continue;
        const struct place *place = local_at(holding, pc);
        *ret_module = holding->module;
        if (place != NULL)
            return place;
    }
    return NULL;
}

// The innermost frame's that has it; its number, or that of all. Most frames have none: two
// comparisons each.
static uint32_t find_local(uint32_t variable, const struct trail *trail, struct bearing *bearing)
{
    const struct trail_step *frames = trail->frames;
    uint32_t innermost = trail->count;
    for (const struct holding *holding = variables[variable].holdings; holding != NULL;
         holding = holding->next) {
        uint64_t low = holding->low, size = holding->high - low;
        if (holding->locals == NULL || !holding->module->alive)
            continue;
        for (uint32_t i = 0; i < innermost; i++) {
            const struct place *place =
                frames[i].pc - 1 - low < size ? local_at(holding, frames[i].pc - 1) : NULL;
            if (place != NULL) {
                bearing->place = place;
                bearing->module = holding->module;
                innermost = i;
            }
        }
    }
    return innermost;
}

// The program's own copy of a library's variable is the one in use.
static bool find_global(uint32_t variable, struct bearing *bearing)
{
    bearing->kind = BEARING_NOWHERE;
    for (const struct holding *holding = variables[variable].holdings; holding != NULL;
         holding = holding->next)
        if (holding->module->alive && holding->global != NULL &&
            (bearing->kind == BEARING_NOWHERE || holding->module->map->l_prev == NULL)) {
            bearing->kind = BEARING_ADDRESS;
            bearing->place = holding->global;
            bearing->module = holding->module;
            bearing->base = holding->module->bias;
        }
    return bearing->kind != BEARING_NOWHERE;
}

// Of the call's frame, with the value that a register had; numbers as struct walk has them.
static uint64_t own_word(unsigned number)
{
    static const uint8_t offsets[SAVED] = {
        offsetof(struct call_frame, rbx), offsetof(struct call_frame, rbp),
        offsetof(struct call_frame, r12), offsetof(struct call_frame, r13),
        offsetof(struct call_frame, r14), offsetof(struct call_frame, r15),
    };
    return offsets[number] / sizeof(uint64_t);
}

// From the frames of a plain trail; a register is looked for when it is needed. False: it cannot be
// told.
static bool take_bearing(const struct trail *trail, struct bearing *bearing, struct path *path)
{
    uint32_t at = find_local(bearing->variable, trail, bearing);
    if (at == trail->count) {
        path_depends_on_all(path);
        find_global(bearing->variable, bearing);
        return true;
    }
    if (at + 1 >= trail->count)
        return false;
    const struct wire_location *location = bearing->place->location;
    bearing->kind = BEARING_ADDRESS;
    path_depends(path, trail, at + 1);
    if (location->base == WIRE_BASE_CFA || location->reg == 7) {
        bearing->base = trail->frames[location->base == WIRE_BASE_CFA ? at + 1 : at].sp;
        return true;
    }
    int index = saved_number(location);
    if (index < 0 || !trail_register(trail, at, (unsigned)index, &bearing->base))
        return false;
    bearing->kind = bearing->base != 0 ? BEARING_SAVED : BEARING_OWN;
    if (bearing->kind == BEARING_OWN)
        bearing->base = own_word((unsigned)index);
    return true;
}

// What is not known of the path yet. NULL: nothing can be.
__attribute__((noinline)) static const struct bearing *
find_bearing(struct path *path, uint32_t variable, const struct call *call)
{
    if (!path_is_whole(path, call) || path->local_count == PATH_LOCALS)
        return NULL;
    struct trail *trail = trail_take(call);
    if (trail == NULL)
        return NULL;
    struct bearing *bearing = &path->locals[path->local_count];
    *bearing = (struct bearing){.variable = variable};
    bool known = trail_is_plain(trail) && take_bearing(trail, bearing, path);
    trail_leave(trail);
    path->local_count += known;
    return known ? bearing : NULL;
}

static inline const struct bearing *path_bearing(struct path *path, uint32_t variable,
                                                 const struct call *call)
{
    for (uint32_t i = 0; i < path->local_count; i++)
        if (path->locals[i].variable == variable)
            return &path->locals[i];
    return find_bearing(path, variable, call);
}

static inline uint64_t bearing_base(const struct bearing *bearing, const struct call_frame *frame)
{
    if (bearing->kind == BEARING_SAVED)
        return *(const uint64_t *)bearing->base;
    return bearing->kind == BEARING_OWN ? ((const uint64_t *)frame)[bearing->base] : bearing->base;
}

static bool read_global(uint32_t variable, int64_t *ret_value)
{
    struct bearing bearing;
    return find_global(variable, &bearing) &&
           place_read(bearing.place, bearing.module, bearing.base, (struct stack){0, 0}, ret_value);
}

// Where the stack is not a simple one.
__attribute__((noinline)) static bool read_by_walk(uint32_t variable, const struct call *call,
                                                   int64_t *ret_value)
{
    struct walk walk;
    const struct module *module;
    walk_start(&walk, call->frame);
    for (int depth = 0; depth < WIRE_FRAMES; depth++) {
        const struct place *place =
            local_place(variable, walk.exact ? walk.pc : walk.pc - 1, &module);
        uint64_t base;
        if (place != NULL)
            return frame_base(place->location, &walk, &base) &&
                   place_read(place, module, base, (struct stack){walk.stack_low, walk.stack_high},
                              ret_value);
        if (!walk_next(&walk))
            break;
    }
    return read_global(variable, ret_value);
}

__attribute__((hot)) bool variable_read(uint32_t variable, const struct call *call,
                                        int64_t *ret_value)
{
    if (variables == NULL)
        return false;
    if (!variables[variable].has_locals)
        return read_global(variable, ret_value);
    struct path *path = path_of(call);
    const struct bearing *bearing = path != NULL ? path_bearing(path, variable, call) : NULL;
    if (bearing == NULL)
        return read_by_walk(variable, call, ret_value);
    return bearing->kind != BEARING_NOWHERE &&
           place_read(bearing->place, bearing->module, bearing_base(bearing, call->frame),
                      (struct stack){path->sp, path->end}, ret_value);
}

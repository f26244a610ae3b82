// SPDX-License-Identifier: GPL-3.0-or-later
// Variables of the target: where the controller says they are, and reading them. What belongs to an
// unloaded module is passed over.
#include "runtime/unwind.h"

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
static struct holding **holdings; // by variable

bool variables_prepare(void)
{
    holdings = arena_new((runtime.plan->variable_count + 1) * sizeof *holdings);
    return holdings != NULL;
}

static struct holding *holding_of(uint32_t variable, const struct module *module)
{
    struct holding *holding = holdings[variable];
    if (holding != NULL && holding->module == module)
        return holding; // a module's locations come one after the other
    holding = arena_new(sizeof *holding);
    if (holding == NULL)
        return NULL;
    *holding = (struct holding){.next = holdings[variable], .module = module, .low = UINT64_MAX};
    atomic_store(&holdings[variable], holding);
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
    return true;
}

// Of the register that a location is given by, among those that struct walk keeps; or -1.
static int saved_number(const struct wire_location *location)
{
    static const signed char saved[16] = {-1, -1, -1, RBX, -1,  -1,  RBP, -1,
                                          -1, -1, -1, -1,  R12, R13, R14, R15};
    return location->reg < 16 ? saved[location->reg] : -1;
}

static bool base_address(const struct wire_location *location, struct walk *walk,
                         const struct module *module, uint64_t *ret_address)
{
    uint64_t base;
    if (location->base == WIRE_BASE_STATIC) {
        base = module->bias;
    } else if (location->base == WIRE_BASE_CFA) {
        if (!walk_cfa(walk, &base))
            return false;
    } else if (location->reg == 7) {
        base = walk->sp;
    } else {
        int index = saved_number(location);
        if (index < 0)
            return false;
        base = walk->registers[index];
    }
    *ret_address = base + (uint64_t)location->offset;
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

// A variable in a module's own data is there as long as the module, one on the stack as long as its
// frame; other pointers may be bad.
static bool load(const struct module *module, const struct walk *walk, uint64_t address,
                 uint32_t width, uint64_t *value)
{
    bool in_module = module->low <= address && address + width <= module->high;
    bool on_stack = walk->stack_low <= address && address + width <= walk->stack_high;
    if (!in_module && !on_stack)
        return system_peek((const void *)address, value, width);
    memcpy(value, (const void *)address, width);
    return true;
}

static bool place_read(const struct place *place, const struct module *module, struct walk *walk,
                       int64_t *ret_value)
{
    const struct wire_location *location = place->location;
    uint64_t address, value = 0;
    if (!base_address(location, walk, module, &address))
        return false;
    bool in_register = location->base == WIRE_BASE_REGISTER_VALUE;
    for (uint32_t i = 0; i < location->step_count; i++) {
        const struct wire_step *step = &place->steps[location->first_step + i];
        if (step->load && !in_register && !load(module, walk, address, 8, &address))
            return false;
        if (step->load)
            in_register = false; // the register was the pointer
        address += (uint64_t)step->offset;
    }
    if (location->width == 0 || in_register)
        value = address;
    else if (!load(module, walk, address, location->width, &value))
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
    for (const struct holding *holding = holdings[variable]; holding != NULL;
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

enum found { FOUND_NONE, FOUND_READ, FOUND_UNREADABLE, FOUND_UNKNOWN };

static enum found found(bool read)
{
    return read ? FOUND_READ : FOUND_UNREADABLE;
}

struct local {
    const struct place *place; // NULL: no frame has it
    const struct module *module;
    uint32_t at; // frame
};

// The innermost frame's that has it. Most frames have none: two comparisons each.
static struct local find_local(uint32_t variable, const struct trail_step *frames, uint32_t count)
{
    struct local local = {.place = NULL, .at = count};
    for (const struct holding *holding = holdings[variable]; holding != NULL;
         holding = holding->next) {
        uint64_t low = holding->low, size = holding->high - low;
        if (holding->locals == NULL || !holding->module->alive)
            continue;
        for (uint32_t i = 0; i < local.at; i++) {
            const struct place *place =
                frames[i].pc - 1 - low < size ? local_at(holding, frames[i].pc - 1) : NULL;
            if (place != NULL)
                local = (struct local){place, holding->module, i};
        }
    }
    return local;
}

// Goes there by the trail: a register is looked for when it is needed.
static enum found local_by_trail(uint32_t variable, const struct call *call, int64_t *ret_value)
{
    struct walk walk;
    struct trail *trail = trail_take(call);
    if (trail == NULL)
        return FOUND_UNKNOWN;
    bool plain = trail_is_plain(trail);
    struct local local = find_local(variable, trail->frames, plain ? trail->count : 0);
    enum found result = plain ? FOUND_NONE : FOUND_UNKNOWN;
    if (local.place != NULL) {
        const struct trail_step *frame = &trail->frames[local.at];
        walk_start(&walk, call->frame);
        walk.pc = frame->pc;
        walk.sp = frame->sp;
        walk.registers[RBP] = frame->rbp;
        int index = saved_number(local.place->location);
        bool known =
            local.place->location->base == WIRE_BASE_CFA || index < 0 ||
            trail_register(trail, call->frame, local.at, (unsigned)index, &walk.registers[index]);
        result = known ? FOUND_READ : FOUND_UNKNOWN;
    }
    trail_leave(trail);
    return result == FOUND_READ ? found(place_read(local.place, local.module, &walk, ret_value))
                                : result;
}

static enum found local_by_walk(uint32_t variable, const struct call *call, int64_t *ret_value)
{
    struct walk walk;
    const struct module *module;
    walk_start(&walk, call->frame);
    for (int depth = 0; depth < WIRE_FRAMES; depth++) {
        const struct place *place =
            local_place(variable, walk.exact ? walk.pc : walk.pc - 1, &module);
        if (place != NULL)
            return found(place_read(place, module, &walk, ret_value));
        if (!walk_next(&walk))
            break;
    }
    return FOUND_NONE;
}

bool variable_read(uint32_t variable, const struct call *call, int64_t *ret_value)
{
    bool has_locals = false;
    const struct holding *global = NULL;
    if (holdings == NULL)
        return false;
    for (const struct holding *holding = holdings[variable]; holding != NULL;
         holding = holding->next) {
        if (!holding->module->alive)
            continue;
        has_locals |= holding->locals != NULL;
        // The program's own copy of a library's variable is the one in use.
        if (holding->global != NULL && (global == NULL || holding->module->map->l_prev == NULL))
            global = holding;
    }
    if (has_locals) {
        enum found result = local_by_trail(variable, call, ret_value);
        if (result == FOUND_UNKNOWN)
            result = local_by_walk(variable, call, ret_value);
        if (result != FOUND_NONE)
            return result == FOUND_READ;
    }
    struct walk walk;
    walk_start(&walk, call->frame);
    return global != NULL && place_read(global->global, global->module, &walk, ret_value);
}

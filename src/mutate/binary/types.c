// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the types of variables when all functions of a module were read. What is handed
// to the same function as the same argument, and what the same function returns, has the same type
// in all functions. So faults that need types are decided at the end: another variable as an
// argument (WPFV), and what is a variable and what a member of a structure, whose address a
// function gets that uses the members.
#include "mutate/binary/internal.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESULT_SLOT 15

struct variable { // in a frame
    uint32_t type, seen;
    int64_t offset;
    uint8_t width;
    bool usable;
    bool any; // it got a pointer of any type
};
struct link { // the same, unless the first is of any type
    uint32_t slot, type;
};
struct wish { // for another variable
    size_t fault, variable, first, end;
    uint32_t call;
    uint8_t displacement, displacement_size; // in the bytes of the change
};
struct note { // of a function's variable
    size_t fault;
    uint32_t function, type; // type: FLOW_NONE if its size is known
    uint32_t size;
    int64_t offset;
};
enum looks { LOOKS_LIKE_BYTES = 1, LOOKS_LIKE_STRUCTURE = 2 };
struct types {
    const struct flow_image *image;
    struct map functions; // by the hash of their names
    struct map slots;     // arguments and results of functions, to types
    ARRAY(uint32_t) same; // by type: another one that is the same, or itself
    ARRAY(bool) any;      // by type: of an argument or result that may be of any type
    ARRAY(uint8_t) looks; // by type: what is pointed to (set of enum looks)
    ARRAY(struct link) links;
    ARRAY(uint32_t) size; // by type: how much of what such a pointer points to is used
    ARRAY(struct variable) variables;
    ARRAY(struct wish) wishes;
    ARRAY(struct note) changed; // faults that are about a variable
    ARRAY(struct note) handed;  // addresses of variables, and the type of the pointers
};

struct types *types_new(const struct flow_image *image)
{
    struct types *types = calloc(1, sizeof *types);
    struct error *error = NULL;
    if (types == NULL)
        return NULL;
    types->image = image;
    for (size_t i = 0; i < image->functions.count && error == NULL; i++) {
        const struct flow_function *function = &image->functions.items[i];
        if (function->name != NULL && function->owner == i)
            error = map_put(&types->functions, hash_bytes(function->name, function->name_size),
                            (uint32_t)i);
    }
    if (error != NULL) {
        error_free(error);
        types_free(types);
        return NULL;
    }
    return types;
}

void types_free(struct types *types)
{
    if (types == NULL)
        return;
    map_deinit(&types->functions);
    map_deinit(&types->slots);
    ARRAY_DEINIT(&types->same);
    ARRAY_DEINIT(&types->size);
    ARRAY_DEINIT(&types->any);
    ARRAY_DEINIT(&types->looks);
    ARRAY_DEINIT(&types->links);
    ARRAY_DEINIT(&types->variables);
    ARRAY_DEINIT(&types->wishes);
    ARRAY_DEINIT(&types->changed);
    ARRAY_DEINIT(&types->handed);
    free(types);
}

// ---- types ----

// FLOW_NONE when memory is short.
static uint32_t add_type(struct types *types)
{
    uint32_t *same = ARRAY_ADD(&types->same), *size = ARRAY_ADD(&types->size);
    bool *any = ARRAY_ADD(&types->any);
    uint8_t *looks = ARRAY_ADD(&types->looks);
    if (same == NULL || size == NULL || any == NULL || looks == NULL)
        return FLOW_NONE;
    *size = 0;
    *any = false;
    *looks = 0;
    return *same = (uint32_t)types->same.count - 1;
}

static uint32_t type_of(struct types *types, uint32_t type)
{
    uint32_t *same = types->same.items;
    while (same[type] != type)
        type = same[type] = same[same[type]];
    return type;
}

// A string is no structure: then one of them was cast.
static void unite(struct types *types, uint32_t a, uint32_t b)
{
    a = type_of(types, a);
    b = type_of(types, b);
    uint8_t *looks = types->looks.items;
    if ((looks[a] | looks[b]) == (LOOKS_LIKE_BYTES | LOOKS_LIKE_STRUCTURE))
        return;
    looks[a] |= looks[b];
    if (types->size.items[a] < types->size.items[b])
        types->size.items[a] = types->size.items[b];
    types->same.items[b] = a;
}

// ---- functions ----

// Arguments and results of the C library that point to any type: as bits, RESULT_SLOT is the
// result.
#define ANY(slot) (1u << (slot))
static const struct {
    const char *name;
    unsigned any;
} any_slots[] = {
    {"malloc", ANY(RESULT_SLOT)},
    {"calloc", ANY(RESULT_SLOT)},
    {"aligned_alloc", ANY(RESULT_SLOT)},
    {"alloca", ANY(RESULT_SLOT)},
    {"realloc", ANY(0) | ANY(RESULT_SLOT)},
    {"reallocarray", ANY(0) | ANY(RESULT_SLOT)},
    {"free", ANY(0)},
    {"posix_memalign", ANY(0)},
    {"memcpy", ANY(0) | ANY(1) | ANY(RESULT_SLOT)},
    {"__memcpy_chk", ANY(0) | ANY(1) | ANY(RESULT_SLOT)},
    {"memmove", ANY(0) | ANY(1) | ANY(RESULT_SLOT)},
    {"mempcpy", ANY(0) | ANY(1) | ANY(RESULT_SLOT)},
    {"memset", ANY(0) | ANY(RESULT_SLOT)},
    {"memcmp", ANY(0) | ANY(1)},
    {"memchr", ANY(0) | ANY(RESULT_SLOT)},
    {"memrchr", ANY(0) | ANY(RESULT_SLOT)},
    {"bcopy", ANY(0) | ANY(1)},
    {"bzero", ANY(0)},
    {"qsort", ANY(0)},
    {"bsearch", ANY(0) | ANY(1) | ANY(RESULT_SLOT)},
    {"fread", ANY(0)},
    {"fwrite", ANY(0)},
    {"read", ANY(1)},
    {"write", ANY(1)},
    {"pread", ANY(1)},
    {"pwrite", ANY(1)},
    {"pread64", ANY(1)},
    {"pwrite64", ANY(1)},
    {"recv", ANY(1)},
    {"send", ANY(1)},
    {"setsockopt", ANY(3)},
    {"mmap", ANY(0) | ANY(RESULT_SLOT)},
    {"munmap", ANY(0)},
    {"msync", ANY(0)},
    {"mlock", ANY(0)},
    {"madvise", ANY(0)},
    {"pthread_setspecific", ANY(1)},
    {"pthread_join", ANY(1)},
};

static bool is_any(const char *name, unsigned slot)
{
    for (size_t i = 0; i < sizeof any_slots / sizeof *any_slots; i++)
        if (strcmp(name, any_slots[i].name) == 0)
            return (any_slots[i].any & ANY(slot)) != 0;
    return false;
}

// What stands for the function that a call leads to; 0 if it is not known, or if *ret_any: it takes
// or returns pointers of any type there.
static uint64_t key_of(const struct types *types, const struct isa_insn *call, unsigned slot,
                       bool *ret_any)
{
    uint32_t callee =
        call->kind == ISA_CALL ? flow_callee_at(types->image, (uint64_t)call->value) : FLOW_NONE;
    *ret_any = false;
    if (callee == FLOW_NONE)
        return 0;
    if (!flow_callee_is_import(callee))
        return hash_mix(1, callee);
    const char *name = types->image->imports.items[flow_callee_import(callee)].name;
    *ret_any = name != NULL && is_any(name, slot);
    if (name == NULL || *ret_any)
        return 0;
    uint32_t own = map_find(&types->functions, hash_text(name));
    return own != MAP_NONE ? hash_mix(1, own) : hash_mix(2, hash_text(name));
}

// The type of a function's argument or result; FLOW_NONE when memory is short.
static uint32_t type_of_slot(struct types *types, uint64_t key, unsigned slot)
{
    uint64_t place = hash_mix(key, slot);
    uint32_t type = map_find(&types->slots, place);
    if (type != MAP_NONE)
        return type;
    type = add_type(types);
    struct error *error = type != FLOW_NONE ? map_put(&types->slots, place, type) : NULL;
    if (error != NULL) {
        error_free(error);
        return FLOW_NONE;
    }
    return type;
}

// ---- one function ----

// What a function only hands on to where any type will do is of any type itself.
static void pass_on(struct types *types, struct body *body, const struct local *local,
                    unsigned slot)
{
    if (local == NULL || local->reach != 0)
        return;
    uint32_t type = type_of_slot(types, hash_mix(1, body->function), slot);
    body->failed |= type == FLOW_NONE;
    if (type != FLOW_NONE)
        types->any.items[type] = true;
}

static void add_link(struct types *types, struct body *body, uint64_t key, unsigned slot,
                     uint32_t type)
{
    uint32_t of_slot = type_of_slot(types, key, slot);
    struct link *added = ARRAY_ADD(&types->links);
    body->failed |= of_slot == FLOW_NONE || added == NULL;
    if (added != NULL)
        *added = (struct link){of_slot, type};
}

static struct variable *variable_of(struct types *types, const struct body *body, size_t first,
                                    const struct local *local)
{
    return &types->variables.items[first + (size_t)(local - body->locals.items)];
}

size_t types_begin(struct types *types, struct body *body)
{
    size_t first = types->variables.count;
    uint32_t base = (uint32_t)types->same.count;
    for (size_t i = 0; i < body->locals.count; i++) {
        const struct local *local = &body->locals.items[i];
        struct variable *variable = ARRAY_ADD(&types->variables);
        uint32_t type = add_type(types);
        if (variable == NULL || type == FLOW_NONE) {
            body->failed = true;
            return first;
        }
        *variable = (struct variable){.type = type,
                                      .seen = local->seen,
                                      .offset = local->offset,
                                      .width = local->width,
                                      .usable = !local->temporary && !local->aggregate};
        types->size.items[type] = local->reach;
        types->looks.items[type] = local->structure && local->reach > 8 ? LOOKS_LIKE_STRUCTURE
                                   : local->pointer && !local->structure && local->pointed == 1
                                       ? LOOKS_LIKE_BYTES
                                       : 0;
    }
    for (size_t i = 0; i < body->locals.count; i++) {
        const struct local *local = &body->locals.items[i];
        unite(types, base + (uint32_t)i, base + local->alike);
        if (local->number == 0 || local->width != 8)
            continue;
        add_link(types, body, hash_mix(1, body->function), local->number - 1u, base + (uint32_t)i);
    }
    return first;
}

void types_note_argument(struct types *types, struct body *body, size_t first, uint32_t call,
                         unsigned number, uint32_t value, uint32_t size)
{
    const struct isa_insn *insn = insn_at(body, value);
    // How many vector registers there are is said to functions with any number of arguments.
    bool many = (use_at(body, call)->reads & ISA_USE_GENERAL(ISA_RETURN)) != 0, any = false;
    uint64_t key = many ? 0 : key_of(types, insn_at(body, call), number, &any);
    const struct local *local = local_of(body, insn);
    bool address = insn->kind == ISA_ADDRESS;
    if (local == NULL || (!address && (insn->kind != ISA_LOAD || local->width != 8)))
        return;
    if (any && !address && local->number != 0)
        pass_on(types, body, local, local->number - 1u);
    if (key == 0 && (!any || !address || size == 0))
        return;
    if (!address) {
        add_link(types, body, key, number, variable_of(types, body, first, local)->type);
        return;
    }
    struct note *note = ARRAY_ADD(&types->handed);
    uint32_t slot = key != 0 ? type_of_slot(types, key, number) : FLOW_NONE;
    body->failed |= note == NULL || (key != 0 && slot == FLOW_NONE);
    if (note != NULL)
        *note = (struct note){
            .function = body->function, .type = slot, .size = size, .offset = insn->displacement};
}

// The variable that gets what a call returns, or that is returned.
void types_note_result(struct types *types, struct body *body, size_t first, uint32_t insn)
{
    const struct isa_insn *what = insn_at(body, insn);
    const struct isa_insn *next = insn + 1 < body->end ? &what[1] : NULL;
    bool ends = next != NULL && body->tail.items[insn + 1 - body->start], any = false;
    if (insn_is_call(what) && next != NULL) {
        const struct local *local =
            next->kind == ISA_STORE && next->src == ISA_RETURN ? local_of(body, next) : NULL;
        uint64_t key =
            local != NULL && local->width == 8 ? key_of(types, what, RESULT_SLOT, &any) : 0;
        if (any)
            variable_of(types, body, first, local)->any = true;
        if (key != 0)
            add_link(types, body, key, RESULT_SLOT, variable_of(types, body, first, local)->type);
    } else if (what->kind == ISA_LOAD && what->dst == ISA_RETURN && ends) {
        const struct local *local = local_of(body, what);
        if (local == NULL || local->width != 8)
            return;
        if (variable_of(types, body, first, local)->any || local->number != 0)
            pass_on(types, body, local, RESULT_SLOT);
        if (local->number != 0)
            pass_on(types, body, local, local->number - 1u);
        add_link(types, body, hash_mix(1, body->function), RESULT_SLOT,
                 variable_of(types, body, first, local)->type);
    }
}

void types_wish(struct types *types, struct body *body, size_t first, size_t fault, uint32_t call,
                uint32_t load)
{
    const struct local *local = local_of(body, insn_at(body, load));
    const struct isa_use *use = use_at(body, load);
    struct wish *wish = ARRAY_ADD(&types->wishes);
    body->failed |= wish == NULL;
    if (wish != NULL)
        *wish = (struct wish){.fault = fault,
                              .variable = first + (size_t)(local - body->locals.items),
                              .first = first,
                              .end = first + body->locals.count,
                              .call = call,
                              .displacement = use->displacement,
                              .displacement_size = use->displacement_size};
}

void types_note_variable(struct types *types, struct body *body, size_t fault, int64_t offset)
{
    struct note *note = ARRAY_ADD(&types->changed);
    body->failed |= note == NULL;
    if (note != NULL)
        *note = (struct note){.fault = fault, .function = body->function, .offset = offset};
}

// ---- at the end ----

// The variable of the same type that was first used last before the call.
static const struct variable *find_other(struct types *types, const struct wish *wish)
{
    const struct variable *own = &types->variables.items[wish->variable], *best = NULL;
    for (size_t i = wish->first; i < wish->end; i++) {
        const struct variable *other = &types->variables.items[i];
        if (i != wish->variable && other->seen < wish->call && other->width == own->width &&
            other->usable &&
            (own->width != 8 || type_of(types, other->type) == type_of(types, own->type)) &&
            (best == NULL || other->seen > best->seen))
            best = other;
    }
    return best;
}

static bool grant(struct types *types, const struct wish *wish, struct binary_faults *faults)
{
    struct binary_fault *fault = &faults->items.items[wish->fault];
    const struct variable *other = find_other(types, wish);
    char text[32];
    fault->dropped = other == NULL;
    if (other == NULL)
        return true;
    int size = snprintf(text, sizeof text, "frame%+" PRId64, other->offset);
    fault->replacement = arena_copy(&faults->arena, text, (size_t)size);
    int32_t offset = (int32_t)other->offset;
    if (wish->displacement_size == 4 || (offset >= INT8_MIN && offset <= INT8_MAX))
        memcpy(fault->patch.after + wish->displacement, &offset, wish->displacement_size);
    else
        fault->patch.size = 0;
    return fault->replacement != NULL;
}

// Drops faults of variables that are members. Both lists are in the order of functions.
static void drop_members(struct types *types, struct binary_faults *faults)
{
    size_t first = 0;
    for (size_t i = 0; i < types->changed.count; i++) {
        const struct note *changed = &types->changed.items[i];
        while (first < types->handed.count &&
               types->handed.items[first].function < changed->function)
            first++;
        for (size_t j = first;
             j < types->handed.count && types->handed.items[j].function == changed->function; j++) {
            const struct note *handed = &types->handed.items[j];
            uint32_t size = handed->type == FLOW_NONE
                                ? handed->size
                                : types->size.items[type_of(types, handed->type)];
            if (size > 8 && changed->offset >= handed->offset &&
                changed->offset - handed->offset < size)
                faults->items.items[changed->fault].dropped = true;
        }
    }
}

bool types_end(struct types *types, struct binary_faults *faults)
{
    bool complete = true;
    for (size_t i = 0; i < types->links.count; i++)
        if (!types->any.items[types->links.items[i].slot])
            unite(types, types->links.items[i].slot, types->links.items[i].type);
    for (size_t i = 0; i < types->wishes.count; i++)
        complete &= grant(types, &types->wishes.items[i], faults);
    drop_members(types, faults);
    size_t kept = 0;
    for (size_t i = 0; i < faults->items.count; i++)
        if (!faults->items.items[i].dropped)
            faults->items.items[kept++] = faults->items.items[i];
    faults->items.count = kept;
    return complete;
}

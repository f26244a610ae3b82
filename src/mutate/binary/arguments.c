// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of arguments: another variable (WPFV), another operator (WAEP). An argument is followed
// back from its register to the instruction that made its value.
#include "mutate/binary/internal.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NOP        0x90
#define REX_PREFIX 0x40

static const uint8_t general[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9
#define VECTORS 8

struct argument {
    const struct step *step;
    uint32_t call, value; // instructions; `value` makes it
    uint64_t place;       // where it leaves its value
    unsigned number;      // from 1
    size_t variables;     // see types_begin()
};

// ---- where a value comes from ----

static uint32_t definition(const struct body *body, uint32_t first, uint32_t before, uint64_t place)
{
    for (uint32_t i = before; i-- > first;)
        if ((use_at(body, i)->writes & place) != 0)
            return i;
    return UINT32_MAX;
}

// The register that a temporary got its value from, before an instruction that reads it; 0 if that
// is not known. Goes on from the store.
static uint64_t stored_from(const struct body *body, const struct argument *argument, uint32_t *at)
{
    const struct isa_insn *load = insn_at(body, *at);
    const struct local *local = load->kind == ISA_LOAD ? local_of(body, load) : NULL;
    if (local == NULL || !local->temporary)
        return 0;
    for (uint32_t i = *at; i-- > argument->step->first;) {
        const struct isa_insn *store = insn_at(body, i);
        if (!insn_is_store(store) || local_of(body, store) != local)
            continue;
        uint64_t read = use_at(body, i)->reads & ~ISA_USE_GENERAL(ISA_FRAME);
        if (store->kind != ISA_STORE || read == 0 || (read & (read - 1)) != 0)
            return 0;
        *at = i;
        return read;
    }
    return 0;
}

// Follows copies, conversions and temporaries back.
static bool follow(const struct body *body, struct argument *argument, uint64_t place)
{
    uint32_t at = definition(body, argument->step->first, argument->call, place);
    for (int i = 0; i < 8 && at != UINT32_MAX; i++) {
        const struct isa_insn *insn = insn_at(body, at);
        uint64_t read = use_at(body, at)->reads & ~ISA_USE_GENERAL(ISA_FRAME);
        uint64_t stored = stored_from(body, argument, &at);
        bool moves = insn->kind == ISA_COPY ||
                     (insn->kind == ISA_OTHER && (insn->flags & ISA_MEMORY) == 0 &&
                      use_at(body, at)->computes == ISA_NO_OPERATOR &&
                      (use_at(body, at)->writes >> 16 & 0xffff) != 0); // movq, cvtss2sd
        if (stored != 0) {
            place = stored;
            at = definition(body, argument->step->first, at, place);
            continue;
        }
        argument->value = at;
        argument->place = place;
        if (!moves || read == 0 || (read & (read - 1)) != 0)
            return true;
        place = read;
        at = definition(body, argument->step->first, at, place);
    }
    return at != UINT32_MAX;
}

static const char *print_name(struct finding *finding, int64_t offset)
{
    char text[32];
    int size = snprintf(text, sizeof text, "frame%+" PRId64, offset);
    const char *copy = arena_copy(&finding->out->arena, text, (size_t)size);
    finding->body.failed |= copy == NULL;
    return copy != NULL ? copy : "";
}

// ---- another variable ----

// Which variable it becomes is decided when all functions were read.
static bool change_variable(struct finding *finding, const struct argument *argument)
{
    struct body *body = &finding->body;
    const struct isa_insn *load = insn_at(body, argument->value);
    const struct isa_use *use = use_at(body, argument->value);
    const struct local *local = local_of(body, load);
    bool loads =
        load->kind == ISA_LOAD || (load->kind == ISA_OTHER && use->computes == ISA_NO_OPERATOR &&
                                   (use->reads & argument->place) == 0);
    if (!loads || local == NULL || local->temporary || local->aggregate || local->width > 8)
        return false;
    struct binary_fault *fault = finding_add(finding, MODEL_WPFV, argument->value);
    const unsigned char *bytes = finding_bytes(finding, argument->value);
    if (fault == NULL || bytes == NULL)
        return true;
    fault->parameter = argument->number;
    fault->detail = print_name(finding, local->offset);
    patch_bytes(finding, fault, argument->value, use->displacement, bytes + use->displacement,
                use->displacement_size);
    types_wish(finding->types, body, argument->variables, finding->out->items.count - 1,
               argument->call, argument->value);
    return true;
}

// ---- another operator ----

struct change { // of an instruction's bytes
    unsigned char bytes[BINARY_PATCH];
    size_t size;
};

static bool is_exchanged(unsigned char opcode, unsigned char *ret_opcode)
{
    // register to operand, operand to register: or for add, add for sub; number to rax: sub for
    // add, add for sub
    static const unsigned char pairs[][2] = {{0x01, 0x09}, {0x03, 0x0b}, {0x05, 0x2d},
                                             {0x29, 0x01}, {0x2b, 0x03}, {0x2d, 0x05}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == opcode) {
            *ret_opcode = pairs[i][1];
            return true;
        }
    return false;
}

// Where the opcode begins, behind prefixes.
static size_t opcode_at(const unsigned char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && (bytes[at] == 0xf2 || bytes[at] == 0xf3 || bytes[at] == 0x66))
        at++;
    return at + (at < size && (bytes[at] & 0xf0) == REX_PREFIX);
}

static bool change_sum(struct change *change, size_t at)
{
    unsigned char *bytes = change->bytes;
    if (is_exchanged(bytes[at], &bytes[at]))
        return true;
    if (bytes[at] != 0x81 && bytes[at] != 0x83)
        return false;
    bytes[at + 1] ^= 5 << 3; // a number: sub for add, add for sub
    return true;
}

static bool change_product(struct change *change, size_t at)
{
    unsigned char *bytes = change->bytes;
    if (bytes[at] == 0x0f && bytes[at + 1] == 0xaf) { // imul to, operand
        memmove(bytes + 1, bytes, at); // operands relative to the instruction's end stay valid
        bytes[0] = NOP;
        bytes[at + 1] = 0x03;
        return true;
    }
    unsigned char modrm = bytes[at + 1];
    if ((bytes[at] != 0x69 && bytes[at] != 0x6b) || modrm >> 6 != 3 || (modrm & 7) == 4 ||
        (at > 0 && bytes[at - 1] == 0x66))
        return false;
    bool wide = bytes[at] == 0x69; // imul to, register, number: lea to, [register + number]
    bytes[at] = 0x8d;
    bytes[at + 1] = (unsigned char)((modrm & 0x3f) | (wide ? 0x80 : 0x40));
    return true;
}

static bool change_quotient(const struct argument *argument, struct change *change, size_t at)
{
    if (change->bytes[at] != 0xf7 || argument->place != ISA_USE_GENERAL(ISA_RETURN))
        return false;
    change->bytes[at] = 0x03; // add rax, operand
    change->bytes[at + 1] &= 0xc7;
    return true;
}

static bool change_float(enum isa_operator sign, struct change *change, size_t at)
{
    if (change->bytes[at] != 0x0f)
        return false;
    change->bytes[at + 1] = sign == ISA_FLOAT_PLUS ? 0x59 : 0x58;
    return true;
}

// lea to, [register + register * (factor - 1)]: a product, in three bytes. Returns the factor, or
// 0.
static unsigned factor_of(const struct isa_insn *insn, const unsigned char *bytes, size_t at)
{
    bool product = insn->kind == ISA_ADDRESS && insn->index == insn->base &&
                   insn->base < ISA_REGISTERS && bytes[at] == 0x8d && insn->length == at + 3;
    return product ? 1 + (1u << (bytes[at + 2] >> 6)) : 0;
}

// lea to, [register + number]
static bool change_address(const struct isa_use *use, const struct isa_insn *insn, unsigned factor,
                           size_t at, struct change *change)
{
    if (factor != 0 && (insn->base & 7) != 7) { // DWARF's number of rsp is 7
        change->bytes[at + 1] =
            (unsigned char)((change->bytes[at + 1] & 0x38) | 0x40 | (change->bytes[at + 2] & 7));
        change->bytes[at + 2] = (unsigned char)factor;
        if (at > 0 && (change->bytes[at - 1] & 0xf0) == REX_PREFIX)
            change->bytes[at - 1] &= (unsigned char)~2u; // there is no index
        return true;
    }
    if (insn->index != ISA_NONE || insn->base >= ISA_REGISTERS || insn->displacement == INT8_MIN ||
        use->displacement_size == 0)
        return false;
    int32_t number = (int32_t)-insn->displacement;
    memcpy(change->bytes + use->displacement, &number, use->displacement_size);
    return true;
}

// lea to, [base + index]: registers by the numbers of the instruction set.
struct sum {
    unsigned to, base, index;
    bool wide; // 8 bytes
};

static bool decode_sum(const unsigned char *bytes, size_t length, struct sum *ret_sum)
{
    size_t at = opcode_at(bytes, length);
    unsigned rex = at == 1 ? bytes[0] : 0;
    if (at > 1 || length != at + 3 || bytes[at] != 0x8d || bytes[at + 1] >> 6 != 0 ||
        bytes[at + 2] >> 6 != 0)
        return false;
    *ret_sum = (struct sum){.to = (bytes[at + 1] >> 3 & 7) | (rex & 4) << 1,
                            .base = (bytes[at + 2] & 7) | (rex & 1) << 3,
                            .index = (bytes[at + 2] >> 3 & 7) | (rex & 2) << 2,
                            .wide = (rex & 8) != 0};
    return true;
}

static void put_byte(struct change *change, unsigned byte)
{
    if (change->size < sizeof change->bytes)
        change->bytes[change->size] = (unsigned char)byte;
    change->size++; // too much is noticed by its size
}

// An instruction with two registers.
static void put_two(struct change *change, unsigned opcode, unsigned reg, unsigned rm, bool wide)
{
    unsigned rex = (wide ? 8 : 0) | reg >> 3 << 2 | rm >> 3;
    if (rex != 0)
        put_byte(change, REX_PREFIX | rex);
    put_byte(change, opcode);
    put_byte(change, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

// lea to, [rax + other]: or eax, other; xchg eax, to. Nobody reads rax later.
static bool change_sum_of_rax(const struct body *body, const struct argument *argument,
                              const struct sum *sum, struct change *change)
{
    size_t room = insn_at(body, argument->value)->length;
    if (sum->wide || (sum->base != 0 && sum->index != 0) || sum->to == 0 ||
        (body->live.items[argument->value - body->start] & ISA_USE_GENERAL(ISA_RETURN)) != 0)
        return false;
    *change = (struct change){.size = 0};
    put_two(change, 0x09, sum->base + sum->index, 0, false);
    if (sum->to >= 8)
        put_byte(change, REX_PREFIX | 1);
    put_byte(change, 0x90 | (sum->to & 7));
    while (change->size < room)
        put_byte(change, NOP);
    return change->size == room;
}

// mov second, operand; lea to, [first + second]: mov to, first; or to, operand. Nobody reads the
// second register later.
static bool change_two(const struct finding *finding, const struct argument *argument,
                       const struct sum *sum, struct change *change)
{
    const struct body *body = &finding->body;
    const struct isa_insn *lea = insn_at(body, argument->value), *before = &lea[-1];
    const struct isa_use *use = use_at(body, argument->value - 1);
    const unsigned char *load = argument->value > argument->step->first
                                    ? finding_bytes(finding, argument->value - 1)
                                    : NULL;
    size_t from = load != NULL ? opcode_at(load, before->length) : 0;
    unsigned rex = from == 1 ? load[0] : 0, second;
    if (load == NULL || from > 1 || load[from] != 0x8b || before->kind != ISA_LOAD ||
        body->labelled.items[argument->value - body->start] || (rex & 8) != (sum->wide ? 8 : 0) ||
        before->base == lea->dst || before->index == lea->dst ||
        (body->live.items[argument->value - body->start] & ISA_USE_GENERAL(before->dst)) != 0)
        return false;
    second = (load[from + 1] >> 3 & 7) | (rex & 4) << 1;
    if ((second != sum->base && second != sum->index) || second == sum->to)
        return false;
    size_t room = (size_t)before->length + lea->length;
    *change = (struct change){.size = 0};
    put_two(change, 0x8b, sum->to, second == sum->base ? sum->index : sum->base, sum->wide);
    rex = (rex & 3) | (sum->wide ? 8 : 0) | sum->to >> 3 << 2;
    if (rex != 0)
        put_byte(change, REX_PREFIX | rex);
    put_byte(change, 0x0b);
    put_byte(change, (load[from + 1] & 0xc7u) | (sum->to & 7) << 3);
    for (size_t i = from + 2; i < before->length; i++)
        put_byte(change, load[i]);
    if (change->size > room || room > BINARY_PATCH)
        return false;
    if (before->base == ISA_PC && use->displacement_size == 4) {
        int32_t distance;
        memcpy(&distance, load + use->displacement, sizeof distance);
        distance -= (int32_t)change->size - before->length;
        memcpy(change->bytes + change->size - sizeof distance, &distance, sizeof distance);
    }
    while (change->size < room)
        put_byte(change, NOP);
    return true;
}

// Whether a sum of 8 bytes is an address: then it is no arithmetic.
static bool is_address(const struct body *body, const struct argument *argument)
{
    const struct isa_insn *insn = insn_at(body, argument->value);
    if (insn->width != 8)
        return false;
    for (uint32_t i = argument->value; i-- > argument->step->first && i + 8 > argument->value;) {
        const struct isa_insn *other = insn_at(body, i);
        const struct local *local = local_of(body, other);
        if ((local != NULL && local->pointer) || other->kind == ISA_SHIFT_LEFT ||
            (other->kind == ISA_COPY && (other->flags & ISA_SIGNED) != 0) ||
            (other->kind == ISA_ADDRESS && other->index != ISA_NONE) ||
            (other->kind == ISA_LOAD && other->base != ISA_FRAME))
            return true;
    }
    return false;
}

// The operator that stands there instead (mutate/model.c). A negative number is subtracted.
static const char *replacement_for(const struct isa_insn *insn, const struct isa_use *use,
                                   unsigned factor)
{
    if (insn->kind == ISA_ADDRESS)
        return factor != 0 || insn->displacement < 0 ? "+" : insn->index != ISA_NONE ? "|" : "-";
    if (use->computes == ISA_FLOAT_PLUS)
        return "*";
    if (use->computes != ISA_PLUS || (use->immediate != 0 && insn->value < 0))
        return "+";
    return use->immediate != 0 ? "-" : "|";
}

static void change_operator(struct finding *finding, const struct argument *argument)
{
    const struct body *body = &finding->body;
    const struct isa_insn *insn = insn_at(body, argument->value);
    const struct isa_use *use = use_at(body, argument->value);
    const unsigned char *bytes = finding_bytes(finding, argument->value);
    bool sum = insn->kind == ISA_ADDRESS && insn->base < ISA_REGISTERS && insn->base != ISA_FRAME &&
               insn->base != ISA_STACK;
    if (bytes == NULL || (use->computes == ISA_NO_OPERATOR && !sum) || is_address(body, argument) ||
        insn->dst == ISA_STACK || (insn->kind == ISA_ADD && insn->src == insn->dst))
        return;
    struct change change = {.size = insn->length};
    memcpy(change.bytes, bytes, insn->length);
    size_t at = opcode_at(bytes, insn->length);
    bool fits = false;
    if (sum)
        fits = change_address(use, insn, factor_of(insn, bytes, at), at, &change);
    else if (use->computes == ISA_PLUS || use->computes == ISA_MINUS)
        fits = change_sum(&change, at);
    else if (use->computes == ISA_TIMES)
        fits = change_product(&change, at);
    else if (use->computes == ISA_DIVIDED)
        fits = change_quotient(argument, &change, at);
    else
        fits = change_float((enum isa_operator)use->computes, &change, at);
    struct binary_fault *fault = finding_add(finding, MODEL_WAEP, argument->value);
    if (fault == NULL)
        return;
    fault->parameter = argument->number;
    fault->replacement = replacement_for(insn, use, factor_of(insn, bytes, at));
    if (fits)
        patch_bytes(finding, fault, argument->value, 0, change.bytes, change.size);
    struct sum two;
    if (fits || !sum || !decode_sum(bytes, insn->length, &two) || two.base == two.index)
        return;
    if (change_sum_of_rax(body, argument, &two, &change))
        patch_code(finding, fault, argument->value, change.bytes, change.size);
    else if (change_two(finding, argument, &two, &change))
        patch_code(finding, fault, argument->value - 1, change.bytes, change.size);
}

// ---- calls ----

static void look_at_argument(struct finding *finding, struct argument *argument, uint64_t place)
{
    if (follow(&finding->body, argument, place) && !change_variable(finding, argument))
        change_operator(finding, argument);
}

static void look_at_call(struct finding *finding, const struct step *step, uint32_t call,
                         size_t variables)
{
    uint64_t reads = use_at(&finding->body, call)->reads;
    for (unsigned i = 0; i < sizeof general && (reads & ISA_USE_GENERAL(general[i])) != 0; i++)
        look_at_argument(
            finding,
            &(struct argument){.step = step, .call = call, .number = i + 1, .variables = variables},
            ISA_USE_GENERAL(general[i]));
    for (unsigned i = 0; i < VECTORS && (reads & ISA_USE_VECTOR(i)) != 0; i++)
        look_at_argument(
            finding,
            &(struct argument){.step = step, .call = call, .number = i + 1, .variables = variables},
            ISA_USE_VECTOR(i));
}

// What is handed to the same function as the same argument has the same type.
static struct error *unite_arguments(struct finding *finding, struct map *known,
                                     const struct step *step, uint32_t call)
{
    struct body *body = &finding->body;
    const struct isa_insn *insn = insn_at(body, call);
    uint64_t reads = use_at(body, call)->reads;
    if (insn->kind != ISA_CALL)
        return NULL;
    for (unsigned i = 0; i < sizeof general && (reads & ISA_USE_GENERAL(general[i])) != 0; i++) {
        struct argument argument = {.step = step, .call = call};
        if (!follow(body, &argument, ISA_USE_GENERAL(general[i])))
            continue;
        const struct isa_insn *load = insn_at(body, argument.value);
        const struct local *local = load->kind == ISA_LOAD ? local_of(body, load) : NULL;
        if (local == NULL)
            continue;
        uint64_t key = (uint64_t)insn->value << 3 | i;
        uint32_t other = map_find(known, key);
        if (other != MAP_NONE && body->locals.items[other].width == local->width)
            locals_unite(body, &body->locals.items[other], local);
        else if (other == MAP_NONE)
            TRY(map_put(known, key, (uint32_t)(local - body->locals.items)));
    }
    return NULL;
}

static bool is_call(const struct body *body, uint32_t insn)
{
    uint8_t kind = insn_at(body, insn)->kind;
    return kind == ISA_CALL || kind == ISA_CALL_INDIRECT;
}

static struct error *unite_all(struct finding *finding)
{
    const struct body *body = &finding->body;
    _cleanup_(map_deinit) struct map known = {0};
    for (size_t s = 0; s < body->steps.count; s++) {
        const struct step *step = &body->steps.items[s];
        for (uint32_t i = step->first; i < step->end; i++)
            if (step->kind != STEP_TAIL && is_call(body, i))
                TRY(unite_arguments(finding, &known, step, i));
    }
    return NULL;
}

// The third argument of a call, if it is a constant; or 0.
static uint32_t size_handed(const struct body *body, const struct step *step, uint32_t call)
{
    struct argument argument = {.step = step, .call = call};
    if ((use_at(body, call)->reads & ISA_USE_GENERAL(general[2])) == 0 ||
        !follow(body, &argument, ISA_USE_GENERAL(general[2])))
        return 0;
    const struct isa_insn *insn = insn_at(body, argument.value);
    bool constant = insn->kind == ISA_CONSTANT && insn->value > 0 && insn->value < INT16_MAX;
    return constant ? (uint32_t)insn->value : 0;
}

static void note_types(struct finding *finding, size_t variables)
{
    struct body *body = &finding->body;
    for (size_t s = 0; s < body->steps.count; s++) {
        const struct step *step = &body->steps.items[s];
        for (uint32_t i = step->first; i < step->end && step->kind != STEP_TAIL; i++) {
            types_note_result(finding->types, body, variables, i);
            uint64_t reads = is_call(body, i) ? use_at(body, i)->reads : 0;
            for (unsigned j = 0; j < sizeof general && (reads & ISA_USE_GENERAL(general[j])) != 0;
                 j++) {
                struct argument argument = {.step = step, .call = i};
                if (follow(body, &argument, ISA_USE_GENERAL(general[j])))
                    types_note_argument(finding->types, body, variables, i, j, argument.value,
                                        j < 2 ? size_handed(body, step, i) : 0);
            }
        }
    }
}

void find_arguments(struct finding *finding)
{
    struct body *body = &finding->body;
    struct error *error = unite_all(finding);
    body->failed |= error != NULL;
    error_free(error);
    size_t variables = types_begin(finding->types, body);
    if (body->failed)
        return;
    note_types(finding, variables);
    for (size_t s = 0; s < body->steps.count; s++) {
        const struct step *step = &body->steps.items[s];
        for (uint32_t i = step->first; i < step->end && step->kind != STEP_TAIL; i++)
            if (is_call(body, i))
                look_at_call(finding, step, i, variables);
    }
}

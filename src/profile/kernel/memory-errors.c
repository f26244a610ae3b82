// SPDX-License-Identifier: GPL-3.0-or-later
// Finds errors that travel through memory, as in a kernel's socket code. It does not check that
// what is read is what the function returns:
// - `socket = lookup(fd, &error); if (!socket) return error;` A function passes the address of a
//   variable to one that stores error numbers through a pointer, and reads the variable. It is
//   assumed to return them.
// - A socket keeps the error of its connection. Network functions that read it there are assumed to
//   return what other network functions store there.
#include "profile/kernel/walk.h"
#include "profile/place.h"

#include <errno.h>
#include <string.h>

#define MOST_SLOTS 8

static bool through_pointer(const struct isa_insn *insn)
{
    return insn->displacement == 0 && insn->index == ISA_NONE && insn->base < ISA_REGISTERS &&
           insn->base != ISA_STACK && insn->width == 4;
}

// The error numbers that a function stores through a pointer: constants, or, if it stores a
// register, all error numbers that it puts into registers.
static struct kernel_outcomes stored_errors(const struct flow_image *image, uint32_t function)
{
    struct kernel_outcomes stored = {0}, in_registers = {0};
    const struct flow_function *range = &image->functions.items[function];
    bool stores = false;
    for (uint32_t i = 0; i < range->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[range->first_insn + i];
        if (insn->kind == ISA_STORE_CONSTANT && through_pointer(insn) && insn->value < 0)
            kernel_outcomes_add(&stored, insn->value);
        else if (insn->kind == ISA_CONSTANT && insn->value < -1)
            kernel_outcomes_add(&in_registers, insn->value);
        stores |= insn->kind == ISA_STORE && through_pointer(insn) && insn->src != ISA_NONE;
    }
    for (unsigned i = 0; stores && i < ERROR_NUMBERS / 64; i++)
        stored.errors.bits[i] |= in_registers.errors.bits[i];
    if (stores)
        stored.codes |= in_registers.codes;
    return stored;
}

static bool is_argument(uint8_t reg)
{
    return reg < ISA_REGISTERS && (1u << reg & (1u << 5 | 1u << 4 | 1u << 1 | 1u << 2)) != 0;
}

// Variables whose address a block puts into argument registers.
static unsigned handed_out(const struct flow_image *image, const struct flow_block *block,
                           struct place *slots)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < block->count && count < MOST_SLOTS; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        if (insn->kind == ISA_ADDRESS && is_argument(insn->dst) &&
            place_of_memory(image, block, block->first + i, &slots[count]))
            count++;
    }
    return count;
}

static bool reads(const struct flow_image *image, uint32_t function, const struct place *slots,
                  unsigned count)
{
    const struct flow_function *range = &image->functions.items[function];
    for (uint32_t b = 0; b < range->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + b];
        for (uint32_t i = 0; i < block->count; i++) {
            const struct isa_insn *insn = &image->insns.items[block->first + i];
            struct place from;
            if (insn->kind != ISA_LOAD || insn->from != 4 ||
                !place_of_memory(image, block, block->first + i, &from))
                continue;
            for (unsigned s = 0; s < count; s++)
                if (place_equal(slots[s], from))
                    return true;
        }
    }
    return false;
}

static void add_handed_back(const struct flow_image *image,
                            const struct operation_targets *operations, uint32_t function,
                            struct kernel_outcomes *outcomes)
{
    const struct flow_function *range = &image->functions.items[function];
    for (uint32_t b = 0; b < range->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + b];
        struct place slots[MOST_SLOTS];
        uint32_t targets;
        const uint32_t *called = walk_targets(operations, &block->callee, &targets);
        unsigned count =
            block->end == FLOW_CALLS && targets != 0 ? handed_out(image, block, slots) : 0;
        if (count == 0 || !reads(image, function, slots, count))
            continue;
        for (uint32_t t = 0; t < targets; t++) {
            const struct kernel_outcomes stored = stored_errors(image, called[t]);
            for (unsigned i = 0; i < ERROR_NUMBERS / 64; i++)
                outcomes->errors.bits[i] |= stored.errors.bits[i];
            outcomes->codes |= stored.codes;
        }
    }
}

// ---- sockets ----

static bool is_network(const struct flow_function *function)
{
    static const char *const prefixes[] = {"tcp_", "udp",    "__udp", "inet", "__inet",  "unix_",
                                           "skb_", "__skb_", "sock_", "sk_",  "datagram"};
    for (size_t i = 0; function->name != NULL && i < sizeof prefixes / sizeof *prefixes; i++)
        if (function->name_size >= strlen(prefixes[i]) &&
            memcmp(function->name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_at(const struct isa_insn *insn, uint64_t where)
{
    return (insn->flags & ISA_MEMORY) != 0 && (uint64_t)insn->displacement == where &&
           insn->base < ISA_REGISTERS && insn->base != ISA_STACK && insn->index == ISA_NONE;
}

static bool is_network_error(int64_t number)
{
    return number == EPIPE || (number >= EDESTADDRREQ && number <= EHOSTUNREACH);
}

static bool stores_register(const struct flow_image *image, const struct flow_function *function,
                            uint64_t where)
{
    for (uint32_t i = 0; i < function->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
        if (insn->kind == ISA_STORE && is_at(insn, where))
            return true;
    }
    return false;
}

// Whether a function stores an error in a socket, itself or through a network function that it
// calls.
static bool sets_socket_error(const struct flow_image *image, const struct flow_function *function,
                              uint64_t where)
{
    if (stores_register(image, function, where))
        return true;
    for (uint32_t b = 0; b < function->block_count; b++) {
        uint32_t callee = image->blocks.items[function->first_block + b].callee;
        if (callee < image->functions.count && is_network(&image->functions.items[callee]) &&
            stores_register(image, &image->functions.items[callee], where))
            return true;
    }
    return false;
}

static void add_socket_errors(const struct flow_image *image, const struct flow_function *function,
                              uint64_t where, struct error_set *errors)
{
    bool sets = sets_socket_error(image, function, where);
    for (uint32_t i = 0; i < function->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
        bool stored = insn->kind == ISA_STORE_CONSTANT && is_at(insn, where);
        if ((stored || (sets && insn->kind == ISA_CONSTANT)) && is_network_error(insn->value))
            error_set_add(errors, (unsigned)insn->value);
    }
}

struct error_set walk_socket_errors(const struct flow_image *image, uint64_t where)
{
    struct error_set errors = {0};
    for (size_t i = 0; where != UINT64_MAX && i < image->functions.count; i++)
        if (is_network(&image->functions.items[i]))
            add_socket_errors(image, &image->functions.items[i], where, &errors);
    return errors;
}

static bool looks_into_socket(const struct flow_image *image, const struct flow_function *function,
                              uint64_t where)
{
    for (uint32_t i = 0; i < function->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
        if (insn->kind != ISA_STORE && insn->kind != ISA_STORE_CONSTANT &&
            insn->kind != ISA_COMPARE && is_at(insn, where))
            return true;
    }
    return false;
}

void walk_add_memory_errors(const struct flow_image *image,
                            const struct operation_targets *operations, uint32_t function,
                            struct kernel_outcomes *outcomes)
{
    const struct flow_function *range = &image->functions.items[function];
    add_handed_back(image, operations, function, outcomes);
    if (outcomes->other && operations->socket_error != UINT64_MAX && is_network(range) &&
        looks_into_socket(image, range, operations->socket_error))
        for (unsigned i = 0; i < ERROR_NUMBERS / 64; i++)
            outcomes->errors.bits[i] |= operations->socket_errors.bits[i];
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a fault as the text that parse.c reads. Campaigns write very many, so what all have in
// common is not printed by format.
#include "state/fault.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <inttypes.h>
#include <string.h>

static struct error *put(struct buffer *text, const char *word)
{
    return buffer_append(text, word, strlen(word));
}

static struct error *put_number(struct buffer *text, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    return buffer_append(text, digits + at, sizeof digits - at);
}

static struct error *put_offset(struct buffer *text, int64_t offset)
{
    if (offset == 0)
        return NULL;
    TRY(put(text, offset < 0 ? "-0x" : "+0x"));
    return put_number(text, offset < 0 ? -(uint64_t)offset : (uint64_t)offset, 16);
}

struct error *state_fault_format_target(const struct state_fault *fault, struct buffer *text)
{
    if (!fault->memory)
        return put(text, fault->reg->name);
    switch (fault->base) {
    case WIRE_STATE_ABSOLUTE:
        TRY(buffer_printf(text, "0x%" PRIx64, (uint64_t)fault->offset));
        break;
    case WIRE_STATE_MODULE:
        TRY(buffer_printf(text, "%s", fault->symbol));
        TRY(put_offset(text, fault->offset));
        break;
    default:
        TRY(buffer_printf(text, "[%s", fault->reg->name));
        if (fault->index != NULL)
            TRY(buffer_printf(text, "+%s*%u", fault->index->name, fault->scale));
        TRY(put_offset(text, fault->offset));
        TRY(buffer_printf(text, "]"));
    }
    return fault->size != 0 ? buffer_printf(text, ":%u", fault->size) : NULL;
}

static bool has_bit(const struct state_fault *fault, unsigned bit)
{
    return bit < STATE_BITS && (fault->bits[bit / 8] >> bit % 8 & 1) != 0;
}

static struct error *put_bit(const struct state_fault *fault, unsigned bit, struct buffer *text)
{
    bool flags = !fault->memory && fault->reg->class == WIRE_STATE_FLAGS;
    const char *name = flags ? state_flag_name(bit) : NULL;
    return name != NULL ? put(text, name) : put_number(text, bit, 10);
}

struct error *state_fault_format_change(const struct state_fault *fault, struct buffer *text)
{
    static const char *const words[] = {"flip", "zero", "set", "value"};
    TRY(put(text, words[fault->change]));
    if (fault->change == STATE_VALUE) {
        size_t used = WIRE_STATE_BYTES;
        while (used > 1 && fault->value[used - 1] == 0)
            used--;
        TRY(buffer_printf(text, " 0x%x", fault->value[used - 1]));
        while (--used != 0)
            TRY(buffer_printf(text, "%02x", fault->value[used - 1]));
        return NULL;
    }
    const char *between = " ";
    unsigned end = fault->memory ? STATE_BITS : 8u * fault->reg->size;
    for (unsigned bit = 0; !fault->all && bit < end; bit++) {
        if (fault->bits[bit / 8] == 0)
            bit |= 7; // the rest of the byte
        if (!has_bit(fault, bit))
            continue;
        unsigned last = bit;
        while (has_bit(fault, last + 1))
            last++;
        TRY(put(text, between));
        TRY(put_bit(fault, bit, text));
        if (last > bit) {
            TRY(put(text, ".."));
            TRY(put_bit(fault, last, text));
        }
        between = ",";
        bit = last;
    }
    return NULL;
}

// In the largest unit that makes it a whole number.
static struct error *put_moment(uint64_t ns, struct buffer *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
    size_t i = 0;
    while (ns % units[i].ns != 0)
        i++;
    return buffer_printf(text, "after %" PRIu64 "%s", ns / units[i].ns, units[i].name);
}

struct error *state_fault_format_place(const struct state_fault *fault, struct buffer *text)
{
    if (fault->place == STATE_AT_MOMENT)
        return put_moment(fault->moment_ns, text);
    TRY(put(text, "at "));
    if (fault->library != NULL)
        TRY(buffer_printf(text, "%s%s", fault->library,
                          fault->place == STATE_AT_ADDRESS ? "+" : ":"));
    switch (fault->place) {
    case STATE_AT_ADDRESS:
        TRY(put(text, "0x"));
        return put_number(text, fault->address, 16);
    case STATE_AT_LINE:
        return buffer_printf(text, "%s:%u", fault->name, fault->line);
    default:
        TRY(put(text, fault->name));
        return put_offset(text, (int64_t)fault->address);
    }
}

static struct error *put_condition(struct buffer *text, const char **joint, const char *before,
                                   uint64_t number, const char *after)
{
    TRY(buffer_printf(text, " %s %s%" PRIu64 "%s", *joint, before, number, after));
    *joint = "and";
    return NULL;
}

struct error *state_fault_format(const struct state_fault *fault, struct buffer *text)
{
    TRY(put(text, fault->memory ? "memory " : "register "));
    TRY(state_fault_format_target(fault, text));
    TRY(put(text, " "));
    TRY(state_fault_format_change(fault, text));
    TRY(put(text, " "));
    TRY(state_fault_format_place(fault, text));
    if (fault->permanent)
        TRY(buffer_printf(text, " permanent"));
    const char *joint = "when";
    if (fault->count != 1)
        TRY(put_condition(text, &joint, "count == ", fault->count, ""));
    if (fault->thread != 0)
        TRY(put_condition(text, &joint, "thread(", fault->thread, ")"));
    return fault->input != 0 ? put_condition(text, &joint, "input(", fault->input, ")") : NULL;
}

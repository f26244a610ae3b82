// SPDX-License-Identifier: GPL-3.0-or-later
// The table of registers.
#include "state/fault.h"

#include <string.h>

#define GENERAL(name, number)                                                                      \
    {                                                                                              \
        name, WIRE_STATE_GENERAL, number, 8                                                        \
    }
#define EIGHT(prefix, class, size)                                                                 \
    {prefix "0", class, 0, size}, {prefix "1", class, 1, size}, {prefix "2", class, 2, size},      \
        {prefix "3", class, 3, size}, {prefix "4", class, 4, size}, {prefix "5", class, 5, size},  \
        {prefix "6", class, 6, size},                                                              \
    {                                                                                              \
        prefix "7", class, 7, size                                                                 \
    }
#define VECTOR(prefix, size)                                                                       \
    EIGHT(prefix, WIRE_STATE_VECTOR, size), {prefix "8", WIRE_STATE_VECTOR, 8, size},              \
        {prefix "9", WIRE_STATE_VECTOR, 9, size}, {prefix "10", WIRE_STATE_VECTOR, 10, size},      \
        {prefix "11", WIRE_STATE_VECTOR, 11, size}, {prefix "12", WIRE_STATE_VECTOR, 12, size},    \
        {prefix "13", WIRE_STATE_VECTOR, 13, size}, {prefix "14", WIRE_STATE_VECTOR, 14, size},    \
    {                                                                                              \
        prefix "15", WIRE_STATE_VECTOR, 15, size                                                   \
    }
#define ZMM(number)                                                                                \
    {                                                                                              \
        "zmm" #number, WIRE_STATE_VECTOR, number, 64                                               \
    }

// General registers come first, in the order of their numbers; then the flags; then xmm.
static const struct state_register registers[] = {
    GENERAL("rax", 0),
    GENERAL("rdx", 1),
    GENERAL("rcx", 2),
    GENERAL("rbx", 3),
    GENERAL("rsi", 4),
    GENERAL("rdi", 5),
    GENERAL("rbp", 6),
    GENERAL("rsp", 7),
    GENERAL("r8", 8),
    GENERAL("r9", 9),
    GENERAL("r10", 10),
    GENERAL("r11", 11),
    GENERAL("r12", 12),
    GENERAL("r13", 13),
    GENERAL("r14", 14),
    GENERAL("r15", 15),
    {"flags", WIRE_STATE_FLAGS, 0, 8},
    VECTOR("xmm", 16),
    {"rip", WIRE_STATE_PC, 0, 8},
    {"mxcsr", WIRE_STATE_MXCSR, 0, 4},
    EIGHT("st", WIRE_STATE_X87, 10),
    EIGHT("k", WIRE_STATE_MASK, 8),
    VECTOR("ymm", 32),
    VECTOR("zmm", 64),
    ZMM(16),
    ZMM(17),
    ZMM(18),
    ZMM(19),
    ZMM(20),
    ZMM(21),
    ZMM(22),
    ZMM(23),
    ZMM(24),
    ZMM(25),
    ZMM(26),
    ZMM(27),
    ZMM(28),
    ZMM(29),
    ZMM(30),
    ZMM(31),
};
#define REGISTERS     (sizeof registers / sizeof *registers)
#define FLAGS_INDEX   16
#define VECTORS_INDEX 17

const struct state_register *state_register_find(const char *name, size_t size)
{
    for (size_t i = 0; i < REGISTERS; i++)
        if (strlen(registers[i].name) == size && memcmp(registers[i].name, name, size) == 0)
            return &registers[i];
    return NULL;
}

const struct state_register *state_register_general(unsigned number)
{
    return number < FLAGS_INDEX ? &registers[number] : NULL;
}

const struct state_register *state_register_vector(unsigned number)
{
    return number < 16 ? &registers[VECTORS_INDEX + number] : NULL;
}

const struct state_register *state_register_flags(void)
{
    return &registers[FLAGS_INDEX];
}

const struct state_register *state_register_next(const struct state_register *last)
{
    if (last == NULL)
        return registers;
    return last + 1 < registers + REGISTERS ? last + 1 : NULL;
}

// Those that programs can change.
static const struct flag {
    unsigned bit;
    const char *name;
} flags[] = {
    {0, "cf"}, {2, "pf"}, {4, "af"}, {6, "zf"}, {7, "sf"}, {10, "df"}, {11, "of"},
};

const char *state_flag_name(unsigned bit)
{
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].bit == bit)
            return flags[i].name;
    return NULL;
}

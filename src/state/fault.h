// SPDX-License-Identifier: GPL-3.0-or-later
// A fault in a register or in memory as a text that says all:
//   register rax flip 3 at save.c:22 when count == 2
//   memory total+4:4 zero at main+0x10 permanent
//   register rdx set at libc.so.6:write when count == 3 and thread(2)
//   register rdx flip 3 at main+0x10 when input(3)
//   register rbx flip 40 after 1200us
// The text is read here and written back the same way; what it means in a program, plan.h says.
#ifndef ORDEAL_STATE_FAULT_H
#define ORDEAL_STATE_FAULT_H

#include "base/array.h"
#include "base/error.h"
#include "scenario/source.h"
#include "wire/state.h"

#include <stdbool.h>
#include <stdint.h>

#define STATE_BITS (8 * WIRE_STATE_BYTES)

struct state_register {
    char name[8];
    uint8_t class;  // enum wire_state_class
    uint8_t number; // of that class; general registers have their DWARF numbers
    uint8_t size;   // bytes
};
// By name, or NULL.
const struct state_register *state_register_find(const char *name, size_t size);
// A general register by its DWARF number.
const struct state_register *state_register_general(unsigned number);
const struct state_register *state_register_vector(unsigned number); // xmm
const struct state_register *state_register_flags(void);
// The next register of the list after `last`, NULL at its end; NULL gives the first one.
const struct state_register *state_register_next(const struct state_register *last);
// The name of a condition flag by its bit, or NULL: "zf".
const char *state_flag_name(unsigned bit);

enum state_change { STATE_FLIP, STATE_ZERO, STATE_SET, STATE_VALUE };

enum state_place { STATE_AT_LINE, STATE_AT_FUNCTION, STATE_AT_ADDRESS, STATE_AT_MOMENT };

struct state_fault {
    bool memory;
    const struct state_register *reg; // of a register, or the base of memory
    // Of memory.
    uint8_t base;                       // enum wire_state_base; WIRE_STATE_MODULE: a symbol
    char *symbol;                       // or NULL
    const struct state_register *index; // or NULL
    unsigned scale;
    int64_t offset; // from the symbol or register; or the address
    uint32_t size;  // bytes; 0: those of the symbol, or 8
    // What becomes of it.
    uint8_t change; // enum state_change
    bool all;       // no bits are named: ZERO and SET change every one
    unsigned char bits[WIRE_STATE_BYTES];
    unsigned char value[WIRE_STATE_BYTES];
    // When.
    uint8_t place; // enum state_place
    char *library; // that the place is in, as the user wrote it; NULL: the program
    char *name;    // of the file or function
    unsigned line;
    uint64_t address;   // or the offset from the function's start
    uint64_t moment_ns; // of processor time
    bool permanent;
    uint64_t count;  // at least 1
    unsigned thread; // in which its executions count, by creation from 1; 0: in all
    unsigned input;  // of a campaign that it is tried with, from 1; 0: any
    // Where the parts are in the text, for errors.
    size_t target_at, change_at, place_at, input_at;
};
void state_fault_deinit(struct state_fault *fault);

// Whether a rule is such a fault and not one about a function.
bool state_fault_is(const char *text);
// Reads a text. An error points at the place in it.
_must_check_ struct error *state_fault_parse(const struct source *source,
                                             struct state_fault *ret_fault);
// Writes it; state_fault_parse() gives an equal fault of what is written.
_must_check_ struct error *state_fault_format(const struct state_fault *fault, struct buffer *text);
// The parts of it: "rax", "total+4"; "flip 3"; "at main+0x10", "after 12ms".
_must_check_ struct error *state_fault_format_target(const struct state_fault *fault,
                                                     struct buffer *text);
_must_check_ struct error *state_fault_format_change(const struct state_fault *fault,
                                                     struct buffer *text);
_must_check_ struct error *state_fault_format_place(const struct state_fault *fault,
                                                    struct buffer *text);

#endif

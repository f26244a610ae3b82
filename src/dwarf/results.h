// SPDX-License-Identifier: GPL-3.0-or-later
// How a function hands its result to its caller, by its declared type and the x86-64 ABI.
#ifndef ORDEAL_DWARF_RESULTS_H
#define ORDEAL_DWARF_RESULTS_H

#include "dwarf/module.h"

enum dwarf_result {
    DWARF_RESULT_UNKNOWN,      // the function, or its type, is not described
    DWARF_RESULT_NONE,         // void
    DWARF_RESULT_GENERAL,      // rax and perhaps rdx
    DWARF_RESULT_VECTOR,       // xmm0 and perhaps xmm1
    DWARF_RESULT_MIXED,        // rax and xmm0: a structure with integers and floating point numbers
    DWARF_RESULT_LONG_DOUBLE,  // st(0)
    DWARF_RESULT_COMPLEX_LONG, // st(0) and st(1)
    DWARF_RESULT_MEMORY,       // where the caller says, in its hidden first argument
};

// What declares or defines a function, by the symbol's name, as below. False: it is not described.
bool dwarf_function_declared(struct dwarf_module *module, const char *function, Dwarf_Die *ret_die);

// By the symbol's name: that of a C function, or a mangled one.
enum dwarf_result dwarf_result_of(struct dwarf_module *module, const char *function);

// The same, how large the result is and whether it is a pointer or reference: zeroed if the
// result is unknown. And how many registers have parameters.
struct dwarf_result_type {
    enum dwarf_result kind;
    uint64_t bytes;
    bool is_pointer;
    unsigned registers; // general ones with parameters: at most so many; 6 if that is not known
};
#define DWARF_PARAMETER_REGISTERS 6

struct dwarf_result_type dwarf_result_type_of(struct dwarf_module *module, const char *function);

#endif

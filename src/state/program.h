// SPDX-License-Identifier: GPL-3.0-or-later
// The program or library that faults are injected into: its symbols, lines and code, and by what
// ordeal-tracer recognises it in memory.
#ifndef ORDEAL_STATE_PROGRAM_H
#define ORDEAL_STATE_PROGRAM_H

#include "dwarf/module.h"
#include "flow/image.h"
#include "state/fault.h"

struct state_program {
    char *path;
    struct dwarf_module *module;
    struct flow_image *image;
    const struct elf_symbols *symbols;
    bool library;
    uint64_t fingerprint, headers, end; // as in struct wire_state
    uint32_t header_bytes;
};

// Opens the ELF file of a program and decodes its code.
_must_check_ struct error *state_program_open(const char *path, struct state_program *ret_program);
void state_program_close(struct state_program *program);
// The same for what a fault is in: the program at `path`, or a library, as that program finds it at
// its start or the loader would find it later.
_must_check_ struct error *state_program_open_for(const char *path, const struct state_fault *fault,
                                                  const struct source *source,
                                                  struct state_program *ret_program);
// A library by its name or path. `source` and `at` are for errors.
_must_check_ struct error *state_program_open_library(const char *path, const char *library,
                                                      const struct source *source, size_t at,
                                                      struct state_program *ret_program);

// Of the segment that an address is in, as in struct wire_state.
uint64_t state_program_code_shift(const struct state_program *program, uint64_t address);

// The bytes of an instruction.
const unsigned char *state_program_code(const struct state_program *program,
                                        const struct isa_insn *insn, size_t *ret_size);

// The fault as ordeal-tracer gets it. `source` is the fault's text, for errors: a function, line or
// symbol that the program does not have, an address inside an instruction, a bit beyond the end.
_must_check_ struct error *state_program_resolve(const struct state_program *program,
                                                 const struct state_fault *fault,
                                                 const struct source *source,
                                                 struct wire_state_fault *ret_fault);

// Writes a stop address so that state_program_resolve() finds it again: FUNCTION+0x10, or a number.
_must_check_ struct error *state_program_name_place(const struct state_program *program,
                                                    uint64_t address, struct state_fault *fault);
// Likewise for data: SYMBOL+4.
_must_check_ struct error *state_program_name_data(const struct state_program *program,
                                                   uint64_t address, struct state_fault *fault);

// Makes the stubs that count executions of an instruction; their size is 0 if that cannot be done.
void state_program_make_counters(const struct state_program *program, uint32_t insn,
                                 struct wire_state_fault *fault);

#endif

// SPDX-License-Identifier: GPL-3.0-or-later
// Translates addresses in module files to the names and lines that a person knows.
#ifndef ORDEAL_DWARF_SYMBOLIZER_H
#define ORDEAL_DWARF_SYMBOLIZER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

// Keeps the files it has opened; one per report.
struct dwarf_symbolizer;
_must_check_ struct error *dwarf_symbolizer_new(struct dwarf_symbolizer **ret_symbolizer);
void dwarf_symbolizer_free(struct dwarf_symbolizer *symbolizer);
// An error if a file could not be read, or memory was short, so that names or lines may be missing
// that the file has.
_must_check_ struct error *dwarf_symbolizer_check(const struct dwarf_symbolizer *symbolizer);

struct dwarf_position {
    const char *symbol; // demangled if C++ or Rust; NULL if unknown
    uint64_t symbol_offset;
    const char *file; // NULL if there is no line information
    unsigned line;
};
// `address` is a link-time address. Never fails: what is unknown is NULL. Strings belong to the
// symbolizer. For an inlined wrapper of a system header, the line is that of its call.
struct dwarf_position dwarf_symbolizer_find(struct dwarf_symbolizer *symbolizer,
                                            const char *module_path, uint64_t address);
// The innermost function that was inlined at the address, by its name in the source. NULL if there
// is none but such a wrapper. The string belongs to the symbolizer.
const char *dwarf_symbolizer_inlined(struct dwarf_symbolizer *symbolizer, const char *module_path,
                                     uint64_t address);
// Whether the programmer asked for that: with `inline`. Otherwise the compiler chose it.
bool dwarf_symbolizer_inline_asked(struct dwarf_symbolizer *symbolizer, const char *module_path,
                                   uint64_t address);
// Calls `found` with the file and line of every call whose function was inlined, and with whether
// the programmer asked for that.
typedef struct error *dwarf_call_found(void *context, const char *file, unsigned line, bool asked);
_must_check_ struct error *dwarf_symbolizer_inlined_calls(struct dwarf_symbolizer *symbolizer,
                                                          const char *module_path,
                                                          dwarf_call_found *found, void *context);

// A function by its code, for one without a name: a hash that is the same in another build if the
// code is, and where in the function the address is. False if the file's unwind tables do not have
// the address.
struct dwarf_code {
    uint32_t hash;
    uint64_t offset;
};
bool dwarf_symbolizer_code(struct dwarf_symbolizer *symbolizer, const char *module_path,
                           uint64_t address, struct dwarf_code *ret_code);

#endif

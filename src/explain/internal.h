// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this room share: modules that were read, and places in them.
#ifndef ORDEAL_EXPLAIN_INTERNAL_H
#define ORDEAL_EXPLAIN_INTERNAL_H

#include "callsite/follow.h"
#include "dwarf/naming.h"
#include "dwarf/symbolizer.h"
#include "explain/explain.h"
#include "flow/image.h"

struct code {
    char *path;
    struct elf_object *object;
    struct flow_image *image; // NULL: it cannot be read
    struct follower *follower;
    struct dwarf_module *dwarf; // or NULL
};

struct explainer {
    ARRAY(struct code *) modules;
    struct dwarf_symbolizer *symbolizer;
};

// code.c. *ret_code is NULL if the module is not known or cannot be read.
_must_check_ struct error *code_find(struct explainer *explainer, const char *path,
                                     struct code **ret_code);
// The block that ends with the call that returns to the address, and the block that contains it;
// FLOW_NONE if there is none.
uint32_t code_block_of_return(const struct flow_image *image, uint64_t address);
// The block that calls, or jumps to, a function outside the module, for a call that is still
// running and returns to the address; FLOW_NONE if that is not certain.
uint32_t code_library_call(const struct flow_image *image, uint64_t address);
uint32_t code_block_at(const struct flow_image *image, uint64_t address);
// Whether the path is that of the C library or the loader.
bool code_is_libc(const char *path);
// The number of the innermost frame outside of them; the number of frames if there is none.
size_t code_own_frame(const struct code_places *frames);
// The name of what is called; NULL if it is not known. It belongs to the image.
const char *code_callee_name(const struct flow_image *image, uint32_t callee, size_t *ret_size);

// Fills in where a consequence happens. With `returns`, the address is the one behind a call.
_must_check_ struct error *code_set_place(struct explainer *explainer, const char *module,
                                          uint64_t address, bool returns,
                                          struct explanation *explanation,
                                          struct store_consequence *consequence);
_must_check_ struct error *code_copy(struct explanation *explanation, const char *text, size_t size,
                                     const char **ret_copy);

// provenance.c: where a value comes from. Looks back in the block, and in those that always come
// before it, and stops at what it does not understand.
struct provenance {
    bool known;
    struct dwarf_place place;
    uint64_t pc; // where the base is read, if that is a register
};
// The place that the memory operand of an instruction means, and that of the value in a register
// right before an instruction. The latter is a place only if the value was read from memory.
struct provenance provenance_of_operand(const struct flow_image *image, uint32_t block,
                                        uint32_t insn);
struct provenance provenance_of_register(const struct flow_image *image, uint32_t block,
                                         uint32_t insn, uint8_t reg);

// A place that has a name in the source, or at least one that can be compared.
struct named_place {
    struct provenance provenance;
    struct dwarf_name name;
};
_must_check_ struct error *named_place_make(const struct code *code, struct provenance provenance,
                                            struct named_place *ret_place);
void named_place_deinit(struct named_place *place);
enum place_match {
    PLACE_OTHER,
    PLACE_SIMILAR, // the same member of a structure, of this or of another object
    PLACE_SAME,
};
enum place_match named_place_compare(const struct code *code, const struct named_place *place,
                                     const struct code *other_code,
                                     const struct named_place *other);

// crash.c: the pointer that the crash used, as the place that it was read from.
struct bad_pointer {
    const struct code *code;
    uint64_t address;                 // of the access, or of the call of the function that made it
    bool passed;                      // it was passed to a function outside the module
    ARRAY(struct named_place) places; // passed: of each argument that was read from memory
};
_must_check_ struct error *bad_pointer_find(struct explainer *explainer,
                                            const struct explain_crash *crash,
                                            struct bad_pointer *ret_pointer);
void bad_pointer_deinit(struct bad_pointer *pointer);

#endif

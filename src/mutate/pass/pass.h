// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of the compiler pass share. The pass runs inside clang on one module at a time. It
// ends the compiler when memory is short, as the compiler itself does.
#ifndef ORDEAL_MUTATE_PASS_PASS_H
#define ORDEAL_MUTATE_PASS_PASS_H

#include "base/array.h"
#include "base/map.h"
#include "mutate/fault.h"
#include "mutate/layout.h"

// The beginning of the section that twins share.
#define TWINS_LABEL ".Lot"
// So many small functions are few.
#define SMALL_FUNCTIONS 25
// Marks code that only runs when a fault is enabled.
#define TWIN_ATTRIBUTE "ordeal-twin"
// Marks symbols whose code or value is here only for the optimiser to see.
#define ELSEWHERE_ATTRIBUTE "ordeal-elsewhere"

struct pass_options {
    enum map_decide decide;
    unsigned clones_per_block; // 0: as many as the limit allows
    unsigned limit;            // instructions in the clones of one block, without twins
    unsigned budget;           // instructions in the copies of a twin, in percent of its own
    unsigned least_budget;     // for the smallest functions, as long as a module has few of them
    uint64_t seed;
    const char *skip;  // files to leave alone: parts of their names, separated by commas
    const char *loops; // functions that get markers in place, separated by commas
    char *text;        // owns the names
    bool lto;          // the optimiser will see other modules, too
    bool sections;     // each function has a section of its own
    bool scattered;    // the blocks of one function may get into several sections
    bool strip_debug;  // line tables were made for the map alone
    bool strip_names;  // names of values were kept for the map alone
    bool keep_ir;      // functions are needed after the next one has been compiled
    bool counters;
    bool fits;           // the file is to be no more than some times as large as without faults
    bool system_headers; // faults in functions of system headers, too
    const char *table;   // file with the faults of the source, or NULL
    ARRAY(const struct fault_type *) types;
};
// Text as `ordeal cc` makes it: "decide=worlds;clones=4;seed=1;lto". Ends the compiler if it is
// wrong.
void pass_options_parse(const char *text, struct pass_options *ret_options);
void pass_options_deinit(struct pass_options *options);

// Whether a list separated by commas has a name; a list that is NULL has none.
bool pass_is_named(const char *list, const char *name);
// What the faults of the source need besides an instruction.
struct pass_place {
    LLVMValueRef instruction;
    LLVMValueRef resume;      // where the code goes on instead; or NULL
    LLVMValueRef value;       // what is a constant instead; or NULL
    LLVMBasicBlockRef target; // the block that `resume` begins, in the code that is instrumented
    const char *other;        // name of another variable's memory; or NULL
    uint32_t how, flags;      // enum source_how, source_flag
    uint32_t number;          // of the mark on `resume`
};
// A fault of the source that is none in the module.
struct pass_left_out {
    uint32_t kind, reason; // enum model_kind, source_reason
    uint32_t file, detail; // strings of the map
    uint32_t line, column;
};

#define PASS_RANKS (1u << 20)

struct pass_candidate {
    const struct fault_type *type;
    uint32_t block, position; // of the function as it is before anything is changed
    uint32_t piece;           // of the twin, for its copies
    uint32_t line, column, file, detail;
    bool macro; // its code comes out of a macro
    unsigned loop_depth;
    bool chosen;
    bool idle;                // its mistake makes no difference
    uint32_t rank;            // of its copy: how much of the budget was used before, of PASS_RANKS
    LLVMValueRef instruction; // in the code that is instrumented
    struct pass_place place;  // of a fault of the source
};

// A candidate as the map lists it.
struct pass_listed {
    uint32_t block, position, line, column, file, detail;
    uint16_t type, loop_depth;
    bool macro, chosen, idle;
};

struct pass_function {
    LLVMValueRef function, twin; // twin NULL: markers in the function itself
    bool local, entry, skipped, in_place, declared_inline;
    bool foreign;            // of a system header: gets no faults
    bool header;             // of any header
    bool spared;             // gets neither faults nor a twin, for lack of room
    bool together;           // its twin shares a section with others
    bool untouchable;        // compiles only if the optimiser finds constants in it
    uint64_t needs_constant; // parameters that must be constant for that, as bits
    LLVMValueRef softened;   // a copy for twins, without calls that must be optimised away
    const char *reason;      // why skipped or in place
    uint64_t id, name_key;
    uint32_t name; // string of the map
    uint32_t blocks;
    ARRAY(struct pass_candidate) candidates;
    ARRAY(struct pass_listed) listed; // the same; then there are no candidates any more
    ARRAY(struct pass_left_out) left_out;
    ARRAY(uint64_t) edges;
};

struct pass_lookup {
    LLVMValueRef function;
    size_t index;
};

// A marker in a twin, and the copies that it may lead to.
struct pass_noted_marker {
    struct shim_handle *call;
    size_t function;
    size_t first, count; // of `noted`
};
struct pass_noted {
    uint32_t number, target; // candidate of the function, target of the marker
    uint32_t rank;
};

struct pass {
    struct pass *next; // of those that wait for the end of the optimiser
    LLVMModuleRef module;
    LLVMContextRef context;
    struct pass_options options;
    ARRAY(struct pass_function) functions;
    struct pass_lookup *sorted;
    size_t sorted_count;
    struct buffer strings;                   // of the map; offset 0 is the empty string
    struct map interned;                     // by a text's hash: offsets into `strings`
    struct source_rows *rows;                // faults of the source; NULL if nobody looked
    ARRAY(struct pass_noted_marker) markers; // what can be dropped to make the file fit
    ARRAY(struct pass_noted) noted;
};

// Ends the compiler on an error.
void pass_must(struct error *error);
uint64_t pass_hash(uint64_t hash, const void *data, size_t size);
uint64_t pass_hash_text(uint64_t hash, const char *text);
uint64_t pass_random(uint64_t state); // a well mixed number
uint32_t pass_intern(struct pass *pass, const char *text);

void pass_mark(struct pass *pass, LLVMValueRef function, const char *attribute);

// Finds the functions that can be instrumented, and their candidates.
void pass_find(struct pass *pass);
struct pass_function *pass_function_of(struct pass *pass, LLVMValueRef function); // or NULL
// Calls `found` for the functions that a constant leads to: itself, or through tables of pointers.
void pass_each_reached(struct pass *pass, LLVMValueRef constant, unsigned depth,
                       void (*found)(void *data, struct pass_function *function), void *data);
// Finds the functions that compile only if the optimiser finds constants in them.
void pass_find_constants(struct pass *pass);
bool pass_is_fixed(struct pass *pass, LLVMValueRef instruction); // no fault can be put there
// Calls that end the compilation unless they are optimised away: whether there are any; removes
// them.
bool pass_has_forbidden(LLVMValueRef function);
void pass_drop_forbidden(LLVMValueRef function);
// Describes what an instruction works on; an offset into the map's strings.
uint32_t pass_detail(struct pass *pass, LLVMValueRef instruction);
// Makes twins and redirects calls among them; then makes the entries that lead to them.
void pass_make_twins(struct pass *pass);
void pass_make_entries(struct pass *pass);
// Prepares a function for the faults of the source: blocks begin where they go on. Comes first of
// all changes to the code that is instrumented.
void pass_prepare_source(struct pass *pass, struct pass_function *subject, LLVMValueRef code);
// Gives variables that a fault may leave without a value one that the optimiser does not know.
void pass_set_unset(struct pass *pass, const struct pass_function *subject, LLVMValueRef code);
// Puts markers and faulty clones of blocks into a function's twin, or into the function.
void pass_instrument(struct pass *pass, struct pass_function *subject);
// The same for a twin, where only the instructions that a fault changes are copied.
void pass_splice(struct pass *pass, struct pass_function *subject);
size_t pass_block_size(LLVMBasicBlockRef block); // instructions
size_t pass_function_size(LLVMValueRef function);
// How many candidates, from `first` on, are in the same block.
size_t pass_in_one_block(const struct pass_function *subject, size_t first);
// Makes a candidate's mistake in a copy of its instruction.
void pass_apply(struct pass *pass, const struct pass_function *subject, size_t number,
                LLVMValueRef copy);

struct shim_mark_number;
struct pass_marker {
    LLVMBasicBlockRef next; // where it leads as long as no fault is enabled
    LLVMBasicBlockRef *targets;
    size_t target_count;
    const struct shim_mark_number *numbers; // of candidates, ascending, with the target of each
    size_t number_count;
};
// Builds a marker, which ends its block.
void pass_put_marker(struct pass *pass, const struct pass_function *subject,
                     const struct pass_marker *marker, LLVMBuilderRef builder);
// Builds what the markers of a twin refer to; at its beginning, once.
void pass_put_base(struct pass *pass, const struct pass_function *subject);
// Remembers a marker until it is known how large the file will be; then drops copies until the file
// fits.
void pass_note_marker(struct pass *pass, const struct pass_function *subject,
                      const struct pass_marker *marker, LLVMValueRef call);
void pass_fit(struct pass *pass);
// Whether anything but twins and rows refers to a value; after the optimiser.
bool pass_is_needed(LLVMValueRef value);
// The variable that decides in the variable mode.
LLVMValueRef pass_variable(struct pass *pass);
void pass_tell_variable(struct pass *pass, LLVMValueRef variable);
// Makes the list of candidates that the map has; nothing else is known of them afterwards. Comes
// before the optimiser, which removes functions.
void pass_list_candidates(struct pass *pass);
void pass_write_map(struct pass *pass);
size_t pass_map_size(struct pass *pass); // bytes
// Writes a section that is not loaded.
void pass_write_section(struct pass *pass, const char *name, const struct buffer *blob);

// Execution counters. What there is to count must be noted before blocks are cut; NULL when memory
// is short.
struct pass_counters;
struct pass_counters *pass_counters_new(struct pass *pass);
void pass_counters_free(struct pass_counters *counters);
void pass_counters_write(struct pass *pass, struct pass_counters *counters); // nothing with NULL

#endif
